// See ties.hpp.
// environment: gallery
#include "ties.hpp"

namespace ge::test {
namespace {

GE_TEST(solids_in_one_place_show_the_first_from_every_side) {
  check_solids_in_one_place(12);
}
GE_TEST(boxes_that_share_faces_show_the_first_there) {
  check_boxes_that_share_faces(12);
}

}  // namespace
}  // namespace ge::test
