// Roles of which one sees a picture, one a wide row and one a row of fixed length, on the shuffled
// executor.
// environment: fair
#include "kinds_of_rows.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(each_role_sees_rows_of_its_own_kind) {
  check_kinds_of_rows(3, [](Config& config) { config.shuffle_seed = 3; });
}
