// See fixed.hpp.
// environment: gallery
#include "fixed.hpp"

namespace ge::test {
namespace {

GE_TEST(pictures_of_fixed_things_are_those_of_brute_force) {
  check_rooms_with_fixed_things(12);
}
GE_TEST(fixed_things_look_like_listed_ones_and_have_numbers_behind_them) {
  check_fixed_things_look_like_listed_ones(12);
}
GE_TEST(fixed_things_lose_ties_against_rows_of_the_table) {
  check_ties_of_fixed_things();
}

}  // namespace
}  // namespace ge::test
