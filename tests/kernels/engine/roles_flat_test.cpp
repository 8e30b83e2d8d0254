// Rows of roles in both forms, as roles_test.cpp has them, on the flat executor.
// environment: troupe
#include "roles.hpp"

using namespace ge::test;

GE_TEST(rows_of_roles_split_are_the_padded_ones) {
  check_roles([](ge::Config& config) { config.worlds = 5; });
}
GE_TEST(an_action_of_another_role_is_illegal_and_not_refused) {
  check_actions_of_other_roles([](ge::Config& config) { config.worlds = 5; });
}
