// Rows of roles in both forms, as roles_test.cpp has them, on the lanes executor.
// environment: troupe
#include "roles.hpp"

using namespace ge::test;

GE_TEST(rows_of_roles_split_are_the_padded_ones) {
  for (const int lanes : {1, 2, 8, 32, 64})
    check_roles([lanes](ge::Config& config) {
      config.lanes = lanes;
      config.worlds = lanes > 8 ? 5 : 37;
      config.shuffle_seed = uint64_t(lanes);
    });
}
GE_TEST(an_action_of_another_role_is_illegal_and_not_refused) {
  check_actions_of_other_roles([](ge::Config& config) { config.lanes = 8, config.worlds = 5; });
}
