// Casts against positions sampled along the path: nothing overlaps before the time of impact, and
// there the shapes touch.
#include "physics/shape_cast.hpp"

#include "geometry/slow_shapes.hpp"
#include "test.hpp"

namespace {

using namespace ge::physics;
using namespace ge::test;

constexpr double kClose = 5e-4;  // detail::kTouch, and rounding of coordinates of some metres

GE_TEST(hulls_stop_where_they_first_touch) {
  Source source{1};
  int hits = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Placed a = random_shape(source, trial & 1 ? kWedge : kBox, 3.0f);
    const Placed b = random_shape(source, trial & 2 ? kWedge : kBox, 1.0f);
    const Vec3 path = b.at - a.at + source.point(3.0f), start = a.at;
    const float found = cast(a, path, b);
    CHECK(found >= 0 && found <= 1);
    const auto target = corners(b);
    const auto separation_at = [&](float time) {
      a.at = start + path * time;
      return separation_of(corners(a), target);
    };
    if (separation_at(0) < -kClose) CHECK_EQ(found, 0.0f);
    if (found == 0) continue;
    if (found < 1) {
      ++hits;
      CHECK(std::abs(separation_at(found)) < kClose);
      CHECK(separation_at(found + 1e-2f) < kClose);
    }
    for (int i = 0; i <= 20; ++i) CHECK(separation_at(found * i * 0.05f) > -kClose);
  }
  CHECK(hits > 150);
}

GE_TEST(round_shapes_stop_where_they_first_touch) {
  Source source{2};
  const int32_t kinds[5] = {kBox, kWedge, kSphere, kCapsule, kPlane};
  int hits = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    Placed a = random_shape(source, trial & 1 ? kSphere : kCapsule, 4.0f);
    Placed b = random_shape(source, kinds[trial / 2 % 5], 1.0f);
    if (b.shape == kPlane) b.half = source.direction();
    const Vec3 path = b.at - a.at + source.point(3.0f), start = a.at;
    const float found = cast(a, path, b);
    CHECK(found >= 0 && found <= 1);
    const auto separation_at = [&](float time) {
      a.at = start + path * time;
      return double(separation(a, b));
    };
    if (found == 0) {
      CHECK(separation_at(0) < kClose);
      continue;
    }
    if (found < 1) {
      ++hits;
      CHECK(std::abs(separation_at(found)) < kClose);
    } else {
      for (int i = 0; i <= 200; ++i) CHECK(separation_at(i * 0.005f) > -kClose);
    }
    for (int i = 0; i <= 20; ++i) CHECK(separation_at(found * i * 0.05f) > -kClose);
  }
  CHECK(hits > 300);
}

GE_TEST(separation_is_the_distance_of_sampled_points) {
  Source source{3};
  for (int trial = 0; trial < 60; ++trial) {
    Placed a = shape(trial & 2 ? kSphere : kCapsule, {0.3f, 0, 0.0f}, source.point(2.5f),
                     matrix(source.turn()));
    if (a.shape == kCapsule) a.half.z = source.within(0.2f, 1.0f);
    const Placed b = random_shape(source, trial & 1 ? kWedge : kBox, 0.1f);
    const double expected = slow_distance(a, b);
    if (expected < 0) continue;
    CHECK(std::abs(separation(a, b) - expected) < 5e-3);
    CHECK_EQ(separation(a, b), separation(b, a));
  }
}

GE_TEST(sliding_along_a_side_and_parting_are_no_hits) {
  const Placed low = shape(kBox, {1, 1, 0.5f}, {0, 0, 0.5f});
  Placed high = shape(kBox, {0.5f, 0.5f, 0.5f}, {0, 0, 1.5f});
  CHECK_EQ(cast(high, {3, 1, 0}, low), 1.0f);
  CHECK_EQ(cast(high, {0, 0, 2}, low), 1.0f);
  CHECK_EQ(cast(high, {0, 0, -1}, low), 0.0f);
  high.at.z = 2.5f;
  CHECK_EQ(cast(high, {0, 0, -2}, low), 0.5f);
  CHECK_EQ(cast(high, {0, 0, 0}, low), 1.0f);
  const Placed ball = shape(kSphere, {0.5f, 0, 0}, {0, 0, 3});
  CHECK(std::abs(cast(ball, {0, 0, -3}, low) - 0.5f) < 1e-4f);
  CHECK_EQ(cast(ball, {0, 0, 0}, low), 1.0f);
  const Placed resting = shape(kSphere, {0.5f, 0, 0}, {0, 0, 1.5f});
  CHECK_EQ(cast(resting, {1, 0, 0}, low), 1.0f);
  CHECK_EQ(cast(resting, {0, 0, 1}, low), 1.0f);
  CHECK_EQ(cast(resting, {0, 0, -1}, low), 0.0f);
  CHECK(std::abs(cast(ball, {0, 0, -5}, shape(kFloor, {0, 0, 0})) - 0.5f) < 1e-4f);
}

}  // namespace
