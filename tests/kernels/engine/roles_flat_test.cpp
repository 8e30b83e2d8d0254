// Rows of roles in both forms, as roles_test.cpp has them, on the flat executor.
#include "roles.hpp"

using namespace ge::test;

GE_TEST(rows_of_roles_split_are_the_padded_ones) {
  check_roles([](ge::Config& config) { config.worlds = 5; });
}
