// Maps of characters and numbers of texts: what lies on an edge or beyond, and numbers that are
// huge or none.
#include "pictures/text.hpp"

#include <cmath>

#include "test.hpp"

namespace ge {
namespace {

const float kNaN = std::nanf("");

GE_TEST(a_plane_is_drawn_with_its_highest_row_first) {
  PlaneText map(4, 2, {-1, 0}, {1, 1});
  map.mark(-0.9f, 0.1f, 'a');
  map.mark(0.9f, 0.9f, 'b');
  CHECK_EQ(map.text(), "   b\na\n");
  CHECK_EQ(map.framed(), "+----+\n|   b|\n|a   |\n+----+\n");
}

GE_TEST(what_lies_outside_is_drawn_at_the_edge_and_nan_in_the_lowest_corner) {
  PlaneText map(3, 3, {0, 0}, {3, 3});
  map.mark(3e38f, 3, 'r');
  map.mark(-3e38f, 1.5f, 'l');
  map.mark(kNaN, kNaN, 'n');
  map.mark(INFINITY, -INFINITY, 'i');
  CHECK_EQ(map.text(), "  r\nl\nn i\n");
}

GE_TEST(a_plane_without_an_extent_takes_marks) {
  PlaneText map(2, 1, {0, 0}, {0, 0});
  map.mark(0, 0, 'a');
  map.mark(1, 1, 'b');
  CHECK_EQ(map.text(), "ab\n");
}

GE_TEST(a_cover_is_of_all_cells_that_it_touches) {
  PlaneText map(5, 3, {0, 0}, {5, 3});
  map.cover({1.9f, 1.2f}, {3.1f, 1.3f}, '#');
  map.cover({4, 9}, {4, -9}, 'x');  // the wrong way round: nothing
  CHECK_EQ(map.text(), "\n ###\n\n");
  map.cover({kNaN, kNaN}, {INFINITY, INFINITY}, '.');
  CHECK_EQ(map.text(), ".....\n.....\n.....\n");
}

GE_TEST(marks_beside_a_map_are_left_out) {
  MapText map(2, 2);
  for (const int at : {-1, 2, -2147483647, 2147483647}) map.put(at, 0, 'x'), map.put(0, at, 'x');
  CHECK_EQ(map.text(), "\n\n");
}

GE_TEST(decimals_are_rounded_and_padded) {
  CHECK_EQ(in_decimals(3.25, 1), "3.3");
  CHECK_EQ(in_decimals(-0.125, 2), "-0.13");
  CHECK_EQ(in_decimals(2.003, 2), "2.00");
  CHECK_EQ(in_decimals(0.0625, 3), "0.063");
  CHECK_EQ(in_decimals(-0.004, 2), "0.00");
  CHECK_EQ(in_decimals(9.999, 2), "10.00");
  CHECK_EQ(in_decimals(-7.6, 0), "-8");
}

GE_TEST(numbers_that_are_huge_or_none_are_words) {
  CHECK_EQ(in_decimals(1e9, 4), "1000000000.0000");
  CHECK_EQ(in_decimals(1e300, 2), "above 1000000000");
  CHECK_EQ(in_decimals(-INFINITY, 2), "below -1000000000");
  CHECK_EQ(in_decimals(double(kNaN), 2), "no number");
}

GE_TEST(steps_without_a_limit_have_none) {
  std::string text;
  add_steps(text, 3, 500);
  add_steps(text, 4, 0);
  CHECK_EQ(text, "step 3 of 500step 4");
}
GE_TEST(numbers_stand_between_what_is_before_and_behind) {
  std::string text = "pole";
  add_number(text, ": ", degrees(3.14159265), 0, " degrees");
  add_number(text, ", ", -0.5, 2);
  CHECK_EQ(text, "pole: 180 degrees, -0.50");
}

}  // namespace
}  // namespace ge
