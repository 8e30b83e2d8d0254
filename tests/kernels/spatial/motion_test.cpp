// Squares, movement and sums that do not depend on their order.
#include "spatial/motion.hpp"

#include <cmath>

#include "spatial/fixed.hpp"
#include "test.hpp"

namespace {

using namespace ge;
using namespace ge::spatial;

const Abilities kBoid{0.025f, 0.001f, 0.015f, 0.025f};

GE_TEST(shortest_differences_cross_the_seam_of_a_torus_only) {
  CHECK(std::abs(shortest(torus(1), 0.9f) + 0.1f) < 1e-6f);
  CHECK(std::abs(shortest(torus(1), -0.9f) - 0.1f) < 1e-6f);
  CHECK(shortest(torus(1), 0.25f) == 0.25f);
  CHECK(shortest(torus(1), 0.5f) == -0.5f);  // as floxs has it
  CHECK(shortest(torus(1), -0.5f) == 0.5f);
  CHECK(shortest(walled(1), 0.9f) == 0.9f);
}
GE_TEST(wrapped_coordinates_lie_below_the_side) {
  const Square square = torus(1);
  CHECK(wrapped(square, 0.25f) == 0.25f);
  CHECK(wrapped(square, 1.25f) == 0.25f);
  CHECK(wrapped(square, -0.25f) == 0.75f);
  CHECK(wrapped(square, 1.0f) == 0.0f);
  CHECK(wrapped(square, -1e-9f) == 0.0f);  // the sum rounds to a side
  CHECK(wrapped(square, 17.0f) == 0.0f);   // no agent moves so far
  CHECK(wrapped(square, quiet_nan<float>()) == 0.0f);
}
GE_TEST(steering_turns_and_accelerates_within_limits) {
  Course course{0.0f, 0.015f};
  steer(kBoid, course, -1.0f, 1.0f);
  CHECK(std::abs(course.heading - (kTurn - 0.025f * kPi)) < 1e-6f);
  CHECK(std::abs(course.speed - 0.016f) < 1e-8f);
  for (int k = 0; k < 20; ++k) steer(kBoid, course, 1.0f, 1.0f);
  CHECK(course.speed == 0.025f);
  for (int k = 0; k < 40; ++k) steer(kBoid, course, 0.0f, -1.0f);
  CHECK(course.speed == 0.015f);
}
GE_TEST(steering_directly_sets_the_speed) {
  const Abilities can{0.025f, 0.001f, 0.0f, 0.02f};
  Course course{1.0f, 0.01f};
  steer_directly(can, course, 0.0f, 1.0f);
  CHECK(course.speed == 0.02f && course.heading == 1.0f);
  steer_directly(can, course, 1.0f, -0.5f);
  CHECK(course.speed == 0.0f && course.heading > 1.0f);
}
GE_TEST(zero_actions_lead_back_along_an_axis) {
  const Square square = torus(1);
  Position at{0.3f, 0.7f};
  const Course course{0.0f, 0.02f};
  for (int k = 0; k < 50; ++k) advance(square, at, course);
  CHECK(std::abs(at.x - 0.3f) < 1e-5f && at.y == 0.7f);
}
GE_TEST(random_walks_stay_within_all_bounds) {
  const Square square = torus(1);
  Position at{0.0f, 0.99999994f};
  Course course{0.0f, 0.02f};
  for (uint32_t k = 0; k < 100'000; ++k) {
    const Draw d = draw(3, 0, 0, 0, k, 1, 0, 0);
    steer(kBoid, course, 2.0f * d.uniform(0) - 1.0f, 2.0f * d.uniform(1) - 1.0f);
    advance(square, at, course);
    const bool inside = at.x >= 0 && at.x < 1 && at.y >= 0 && at.y < 1;
    if (!inside || course.heading < 0 || course.heading >= kTurn || course.speed < 0.015f ||
        course.speed > 0.025f) {
      CHECK(inside);
      CHECK_EQ(course.heading, -1.0f);
      return;
    }
  }
}
GE_TEST(fixed_sums_do_not_depend_on_their_order) {
  int64_t up = 0, down = 0;
  for (uint32_t k = 0; k < 5000; ++k) {
    up += int32_t(fixed(draw(3, 0, 0, 0, k, 2, 0, 0).uniform(0)));
    down += int32_t(fixed(draw(3, 0, 0, 0, 4999 - k, 2, 0, 0).uniform(0)));
  }
  CHECK_EQ(from_fixed(up), from_fixed(down));
  CHECK_EQ(from_fixed(int64_t(fixed(1.0f))), 1.0f);
  CHECK(std::abs(from_fixed(int64_t(fixed(0.0067379f))) - 0.0067379f) < 0x1p-25f);
}

}  // namespace
