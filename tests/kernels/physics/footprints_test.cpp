// Bounds of shapes on the floor, against corners worked out by hand.
#include "physics/footprints.hpp"

#include <cmath>

#include "physics/setup.hpp"
#include "test.hpp"

using namespace ge;
using namespace ge::physics;

namespace {

constexpr float kHalfPi = 1.5707963f;

void check_bounds(const Footprint& found, float x0, float y0, float x1, float y1) {
  CHECK(std::fabs(found.low[0] - x0) < 1e-5f && std::fabs(found.low[1] - y0) < 1e-5f);
  CHECK(std::fabs(found.high[0] - x1) < 1e-5f && std::fabs(found.high[1] - y1) < 1e-5f);
}

}  // namespace

GE_TEST(box_is_bounded_by_its_turned_corners) {
  const physics::Kind kind = box_kind(2, 1, 0.5, 1);
  check_bounds(footprint_of(kind, 10, 20, 0), 8, 19, 12, 21);
  check_bounds(footprint_of(kind, 10, 20, kHalfPi), 9, 18, 11, 22);
  const float reach = 3 * std::sqrt(0.5f);
  check_bounds(footprint_of(kind, 0, 0, 0.5f * kHalfPi), -reach, -reach, reach, reach);
}

GE_TEST(wedge_reaches_farther_behind_its_centre_of_mass_than_ahead) {
  const physics::Kind kind =
      wedge_kind(1, 3, 2, 1);  // its centre of mass is 1 m before the high end
  const Footprint print = footprint_of(kind, 0, 0, 0);
  CHECK(std::fabs(print.high[1] - print.low[1] - 3) < 1e-5f);
  CHECK(std::fabs(std::fabs(print.high[1] + print.low[1]) - 1) < 1e-5f);
  check_bounds(print, -1, print.low[1], 1, print.high[1]);
}

GE_TEST(sphere_has_the_same_bounds_at_every_yaw) {
  const physics::Kind kind = sphere_kind(0.5, 1);
  for (const float yaw : {0.0f, 0.3f, 2.0f})
    check_bounds(footprint_of(kind, 1, 1, yaw), 0.5f, 0.5f, 1.5f, 1.5f);
}

GE_TEST(footprints_that_touch_do_not_overlap) {
  Static wall{};
  wall.centre[0] = 5, wall.half[0] = 1, wall.half[1] = 3;
  const Footprint one = footprint_of(wall);
  check_bounds(one, 4, -3, 6, 3);
  CHECK(!overlap(one, {{6, -3}, {8, 3}}));
  CHECK(overlap(one, {{5.9f, 2.9f}, {8, 8}}));
}
