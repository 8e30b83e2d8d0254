// Roles of which one sees a picture, one a wide row and one a row of fixed length, on the lanes
// executor.
// environment: fair
#include "kinds_of_rows.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(each_role_sees_rows_of_its_own_kind) {
  for (const int lanes : {0, 1, 8})
    check_kinds_of_rows(5,
                        [lanes](Config& config) { config.lanes = lanes, config.shuffle_seed = 2; });
}
