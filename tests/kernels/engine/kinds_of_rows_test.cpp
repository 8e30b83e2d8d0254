// Roles of which one sees a picture, one a wide row and one a row of fixed length, on the tile
// executor.
// environment: fair
// runs always: threads meet in another order each time
#include "kinds_of_rows.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(each_role_sees_rows_of_its_own_kind) {
  check_kinds_of_rows(21, [](Config&) {});
  check_kinds_of_rows(5, [](Config& config) { config.threads = 2, config.crew = 2; });
}
