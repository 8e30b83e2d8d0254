// The closed forms of capsule and box against small steps and dense points, which know no formula
// but the distance to a box.
#include "voxel/rounded.hpp"

#include <algorithm>
#include <cmath>

#include "engine/maths/random.hpp"
#include "test.hpp"

namespace {

using namespace ge;
using namespace ge::test;
using namespace ge::voxel;

constexpr int kTrials = 4000, kParts = 2000;

struct Source {
  uint32_t number = 0;
  float between(float low, float high) {
    return low + (high - low) * draw(7, 0, 0, 0, 0, 0, number++, 0).uniform(0);
  }
  Vec3 point(float reach) {
    return {between(-reach, reach), between(-reach, reach), between(-reach, reach)};
  }
  Rounded shape() {
    Rounded r{point(1), {between(0, 1), between(0, 1), between(0, 1)}, between(0.1f, 0.7f)};
    if (number % 5 == 0) r.half = {0, 0, r.half.z};  // a capsule
    return r;
  }
};

/// How far outside of the rounded box; negative inside. In doubles, by the distance alone.
double distance(const Rounded& r, double x, double y, double z) {
  const double dx = std::max(std::fabs(x - r.at.x) - r.half.x, 0.0);
  const double dy = std::max(std::fabs(y - r.at.y) - r.half.y, 0.0);
  const double dz = std::max(std::fabs(z - r.at.z) - r.half.z, 0.0);
  return std::sqrt(dx * dx + dy * dy + dz * dz) - r.radius;
}

}  // namespace

GE_TEST(level_ways_end_where_small_steps_end) {
  Source source;
  int met = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Rounded r = source.shape();
    Vec3 from = source.point(3);
    from.z = source.between(-1, 1);
    const Flat way = {source.between(-4, 4), source.between(-4, 4)};
    if (distance(r, from.x, from.y, from.z) < 0) continue;
    double first = 2;
    for (int k = 0; k <= kParts && first > 1; ++k) {
      const double t = double(k) / kParts;
      if (distance(r, from.x + way.x * t, from.y + way.y * t, from.z) < 0) first = t;
    }
    const Meeting meeting = meet(r, from, way, 0);
    met += first <= 1;
    const double deepest = [&] {  // how far inside the way leads: grazing is a matter of rounding
      double least = 1;
      for (int k = 0; k <= kParts; ++k) {
        const double t = double(k) / kParts;
        least = std::min(least, distance(r, from.x + way.x * t, from.y + way.y * t, from.z));
      }
      return least;
    }();
    if (std::fabs(deepest) < 1e-3) continue;
    if (first > 1) {
      CHECK(meeting.time > 1);
      continue;
    }
    CHECK(std::fabs(meeting.time - first) <= 1.0 / kParts + 1e-3);
    const double x = from.x + double(way.x) * meeting.time,
                 y = from.y + double(way.y) * meeting.time;
    CHECK(std::fabs(distance(r, x, y, from.z)) < 1e-4);
    // The normal leads out: along it the distance grows.
    CHECK(distance(r, x + 1e-3 * meeting.normal.x, y + 1e-3 * meeting.normal.y, from.z) > 0);
    CHECK(dot(meeting.normal, way) < 0);
  }
  CHECK(met > kTrials / 20);
}

GE_TEST(points_inside_may_leave_but_not_go_deeper) {
  Source source;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Rounded r = source.shape();
    const Vec3 p =
        r.at + Vec3{source.between(-1, 1) * r.half.x, source.between(-1, 1) * r.half.y, 0};
    const Flat way = {source.between(-1, 1), source.between(-1, 1)};
    const Meeting meeting = meet(r, p, way, 0);
    const Meeting back = meet(r, p, way * -1.0f, 0);
    CHECK((meeting.time == 0) != (back.time == 0));
  }
}

GE_TEST(caps_are_where_upright_lines_leave) {
  Source source;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Rounded r = source.shape();
    const Vec3 p = source.point(2);
    const float height = cap(r, p);
    double top = -100;
    for (int k = -kParts; k <= kParts; ++k) {
      const double z = r.at.z + 3.0 * k / kParts;
      if (distance(r, p.x, p.y, z) < 0) top = z;
    }
    if (top < -50) {
      CHECK(height < 0.05f);  // less than a step of the search
    } else {
      CHECK(height >= 0);
      CHECK(std::fabs(r.at.z + r.half.z + height - top) < 3.0 / kParts + 1e-4);
    }
  }
}

GE_TEST(shortest_ways_out_reach_the_surface) {
  Source source;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Rounded r = source.shape();
    const Vec3 p = r.at + source.point(1);
    const Depth depth = depth_of(r, p);
    const double found = distance(r, p.x, p.y, p.z);
    const Vec3 out = p + depth.out * depth.depth;
    CHECK(std::fabs(distance(r, out.x, out.y, out.z)) < 1e-5);
    CHECK(std::fabs(geometry::length(depth.out) - 1) < 1e-5f);
    // Outside of the box proper the depth is the distance; within it, no way out is shorter.
    if (found > -r.radius + 1e-4) {
      CHECK(std::fabs(depth.depth + found) < 1e-5);
      continue;
    }
    for (int axis = 0; axis < 6; ++axis) {
      const double d = depth.depth * 0.99 * (axis % 2 == 0 ? 1 : -1);
      CHECK(distance(r, p.x + (axis / 2 == 0) * d, p.y + (axis / 2 == 1) * d,
                     p.z + (axis / 2 == 2) * d) < 0);
    }
  }
}

// ---- turned about z

namespace {

Turned turned_shape(Source& source) {
  const float angle = source.between(-3, 3);
  return {source.shape(), {std::cos(angle), std::sin(angle)}};
}
double distance_of_turned(const Turned& r, double x, double y, double z) {
  const double dx = x - r.at.x, dy = y - r.at.y;
  return distance(r, r.at.x + dx * r.along.x + dy * r.along.y,
                  r.at.y + dy * r.along.x - dx * r.along.y, z);
}

}  // namespace

GE_TEST(turned_shapes_are_met_where_small_steps_meet_them) {
  Source source;
  int met = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Turned r = turned_shape(source);
    Vec3 from = source.point(3);
    from.z = source.between(-1, 1);
    const Flat way = {source.between(-4, 4), source.between(-4, 4)};
    if (distance_of_turned(r, from.x, from.y, from.z) < 0) continue;
    double first = 2, least = 1;
    for (int k = 0; k <= kParts; ++k) {
      const double t = double(k) / kParts;
      const double now = distance_of_turned(r, from.x + way.x * t, from.y + way.y * t, from.z);
      least = std::min(least, now);
      if (now < 0) first = std::min(first, t);
    }
    if (std::fabs(least) < 1e-3) continue;
    const Meeting meeting = meet(r, from, way, 0);
    CHECK_EQ(meeting.time <= 1, first <= 1);
    if (first > 1) continue;
    ++met;
    CHECK(std::fabs(meeting.time - first) <= 1.0 / kParts + 1e-3);
    const double x = from.x + double(way.x) * meeting.time,
                 y = from.y + double(way.y) * meeting.time;
    CHECK(std::fabs(distance_of_turned(r, x, y, from.z)) < 1e-4);
    CHECK(distance_of_turned(r, x + 1e-3 * meeting.normal.x, y + 1e-3 * meeting.normal.y, from.z) >
          0);
    CHECK(std::fabs(dot(meeting.normal, meeting.normal) - 1) < 1e-5f);
    CHECK(dot(meeting.normal, way) < 0);
  }
  CHECK(met > kTrials / 20);
}

GE_TEST(turned_shapes_are_left_by_the_shortest_way_and_by_what_is_beside) {
  Source source;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Turned r = turned_shape(source);
    const Vec3 p = r.at + source.point(1.5f);
    const Depth depth = depth_of(r, p);
    const Vec3 out = p + depth.out * depth.depth;
    CHECK(std::fabs(distance_of_turned(r, out.x, out.y, out.z)) < 1e-5);
    CHECK(std::fabs(geometry::length(depth.out) - 1) < 1e-5f);
    CHECK(std::fabs(cap(r, p) - cap(r.upright(), r.into(p))) == 0);
    // From p, less what it is beside, the way down leads through the box proper.
    const Flat aside = beside(r, p);
    const double below =
        distance_of_turned(r, p.x - double(aside.x), p.y - double(aside.y), r.at.z);
    CHECK(below < 1e-5 - r.radius);
  }
}

GE_TEST(ways_along_a_turned_side_meet_nothing) {
  Source source;
  for (int trial = 0; trial < kTrials; ++trial) {
    Turned r = turned_shape(source);
    r.half.x = 100;
    const Flat out = {-r.along.y, r.along.x};
    const float side = source.between(-1, 1) < 0 ? -1.0f : 1.0f;
    // A point that touches the side, and a way without its part across the side.
    const float away = side * (r.half.y + r.radius);
    const Vec3 p = {r.at.x + out.x * away, r.at.y + out.y * away, r.at.z};
    Flat way = {source.between(-0.3f, 0.3f), source.between(-0.3f, 0.3f)};
    const Flat normal = {out.x * side, out.y * side};
    way = way - normal * dot(way, normal);
    CHECK(meet(r, p, way, 0).time > 1);
  }
}
