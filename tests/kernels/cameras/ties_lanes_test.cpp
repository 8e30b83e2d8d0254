// See ties.hpp. From few sides, since emulated lanes are slow.
// environment: gallery
#include "ties.hpp"

namespace ge::test {
namespace {

GE_TEST(solids_in_one_place_show_the_first_from_every_side) {
  check_solids_in_one_place(2);
}
GE_TEST(boxes_that_share_faces_show_the_first_there) {
  check_boxes_that_share_faces(2);
}

}  // namespace
}  // namespace ge::test
