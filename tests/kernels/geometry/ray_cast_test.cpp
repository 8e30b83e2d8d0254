// Rays against a march in small steps through what is inside of a shape; lidar's packs, those of
// pictures and single rays against each other, bit by bit; and rays along sides, which divide by
// zero if anything does.
#include "geometry/ray_cast.hpp"

#include <functional>

#include "geometry/slow_shapes.hpp"
#include "physics/setup.hpp"
#include "physics/shapes.hpp"
#include "pictures/ray_cast.hpp"
#include "test.hpp"

namespace {

using namespace ge::geometry;
using namespace ge::test;

constexpr int32_t kShapes[6] = {kBox, kWedge, kSphere, kCapsule, kPlane, kFloor};
constexpr float kLimit = 4.0f;  // in directions, which are up to 1.5 m long

/// distance_to, with what it derives of a hull kept.
std::function<double(Point)> distance_from(const Placed& p) {
  if (!is_hull(p)) return [p](Point x) { return distance_to(p, x); };
  return [faces = half_spaces(corners(p))](Point x) { return outside(faces, x); };
}
Placed some_shape(Source& source, int32_t kind) {
  Placed p = random_shape(source, kind, 1.5f);
  if (kind == kPlane) p.half = source.direction();
  return p;
}
float hit(Vec3 from, Vec3 direction, const Placed& p, float limit = kLimit) {
  return hit_distance(Rays<float>{from, direction}, p, limit);
}
Point at(Vec3 from, Vec3 direction, double t) {
  return wide(from) - wide(direction) * -t;
}

GE_TEST(the_first_hit_is_where_a_march_enters) {
  Source source{1};
  int hits = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Placed p = some_shape(source, kShapes[trial % 6]);
    const Vec3 from = source.point(3.0f);
    const Vec3 aim = (p.at + source.point(1.0f) - from) * (1.0f / 3.0f);
    const Vec3 direction = trial & 1 ? aim : source.direction() * source.within(0.5f, 1.5f);
    const auto distance = distance_from(p);
    const float found = hit(from, direction, p);
    CHECK(found > 0 && found <= kLimit);
    if (distance(wide(from)) <= 0) {
      CHECK_EQ(found, kLimit);
      continue;
    }
    const int steps = 1000;
    double expected = kLimit;
    for (int i = 1; i < steps && expected == kLimit; ++i)
      if (distance(at(from, direction, kLimit * i / steps)) < 0) expected = kLimit * i / steps;
    if (found < kLimit) {
      ++hits;
      CHECK(std::abs(distance(at(from, direction, found))) < 1e-4);
      CHECK(found < expected + 1e-4);
    }
    if (expected < kLimit) CHECK(found > expected - kLimit / steps - 1e-4 && found <= expected);
  }
  CHECK(hits > 500);
}

void set(Vecs& pack, int i, Vec3 v) {
  ge::set_lane(pack.x, i, v.x), ge::set_lane(pack.y, i, v.y), ge::set_lane(pack.z, i, v.z);
}
Vec3 lane_of(const Vecs& pack, int i) {
  return {ge::lane(pack.x, i), ge::lane(pack.y, i), ge::lane(pack.z, i)};
}
Placed upright_or_turned(Source& source, int trial) {
  Placed p = some_shape(source, kShapes[trial % 6]);
  if (trial % 4 == 1) p.turn = identity();
  if (trial % 4 == 2) p.turn = matrix(yaw_quat(source.within(-3, 3)));
  return p;
}

GE_TEST(packs_give_the_bits_of_single_rays) {
  Source source{2};
  for (int trial = 0; trial < 600; ++trial) {
    const Placed p = upright_or_turned(source, trial);
    Rays<ge::Floats> fan;  // of one origin, as lidar's
    Rays<ge::Floats, ge::Floats> any;
    fan.origin = source.point(3.0f);
    for (int i = 0; i < ge::kPack; ++i) {
      Vec3 way = i == 0 ? Vec3{1, 0, 0} : source.direction();
      if (trial % 8 == 2) way.z = 0.0f;
      set(fan.direction, i, way);
      set(any.origin, i, source.point(3.0f));
    }
    any.direction = fan.direction;
    const ge::Floats limit = ge::spread(kLimit);
    const ge::Floats fanned = hit_distance(fan, p, limit), packed = hit_distance(any, p, limit);
    for (int i = 0; i < ge::kPack; ++i) {
      const Vec3 way = lane_of(fan.direction, i);
      CHECK_EQ(ge::lane(fanned, i), hit(fan.origin, way, p));
      CHECK_EQ(ge::lane(packed, i), hit(lane_of(any.origin, i), way, p));
    }
    if (trial % 8 == 2) {
      const ge::Floats flat = hit_distance<true>(fan, p, limit);
      for (int i = 0; i < ge::kPack; ++i)
        CHECK(std::abs(ge::lane(flat, i) - ge::lane(fanned, i)) < 1e-5f);
    }
  }
}

template <Shape... kNamed>
void check_named(Source& source) {
  for (const Shape shape : {kNamed...}) {
    for (int trial = 0; trial < 100; ++trial) {
      const Placed p = some_shape(source, shape);
      const Rays<float> ray{source.point(3.0f), source.direction()};
      CHECK_EQ((hit_distance<false, set_of_shapes(kNamed...)>(ray, p, kLimit)),
               hit_distance(ray, p, kLimit));
    }
  }
}
GE_TEST(a_cast_that_knows_which_shapes_there_are_has_the_bits_of_one_for_all) {
  Source source{5};
  check_named<kBox, kPlane>(source);
  check_named<kBox, kWedge, kSphere>(source);
  check_named<kCapsule, kFloor>(source);
}

ge::physics::Kind kind_of(const Placed& p) {
  using namespace ge::physics;
  if (p.shape == kWedge) return wedge_kind(p.half.x, p.half.y, p.half.z, 1);
  return shape_kind(Shape(p.shape), p.half.x, p.half.y, p.half.z);
}
ge::Solid solid_of(const Placed& p, Quat turn) {
  ge::Solid solid;
  solid.shape = p.shape;
  put(solid.half, p.half), put(solid.position, p.at), put(solid.orientation, turn);
  return solid;
}

/// What pictures see of those bodies, which they meet in that order.
ge::pictures::Hits nearest(const std::vector<ge::pictures::Body>& bodies,
                           const std::vector<int>& order, const ge::pictures::Rays& rays) {
  ge::pictures::Hits hits{spread(ge::pictures::kFar), spread(-1.0f)};
  for (const int k : order) ge::pictures::meet(bodies[size_t(k)], k, rays, hits);
  return hits;
}

GE_TEST(lidar_and_pictures_meet_the_same_bodies_at_the_same_distance) {
  Source source{3};
  int hits = 0;
  for (int trial = 0; trial < 1200; ++trial) {
    Placed p = some_shape(source, kShapes[trial % 6]);
    if (p.shape == kPlane) p.half = Vec3{trial % 12 == 4 ? 1.0f : -1.0f, 0, 0};
    const Quat turn = source.turn();
    p.turn = matrix(turn);
    const Vec3 eye = source.point(3.0f), aim = p.at + source.point(0.5f) - eye;
    const Vec3 way = trial & 1 ? normalized(aim) : source.direction();
    const auto distance = distance_from(p);
    const Placed body = ge::physics::placed(kind_of(p), p.at, p.turn);
    const float lidar =
        ge::lane(hit_distance(Rays<ge::Floats>{eye, spread(way)}, body, ge::spread(kLimit)), 0);
    const std::vector<ge::pictures::Body> bodies = {ge::pictures::body_of(solid_of(p, turn))};
    const auto seen = nearest(bodies, {0}, {spread(eye), spread(way)});
    const float depth = ge::lane(seen.depth, 0);
    CHECK_EQ(lidar, ge::min(depth, kLimit));
    CHECK_EQ(ge::lane(seen.body, 0), depth < ge::pictures::kFar ? 0.0f : -1.0f);
    if (lidar == kLimit) continue;
    ++hits;
    CHECK(std::abs(distance(at(eye, way, lidar))) < 1e-4);
    // The normal leads straight out, against the ray.
    const Vec3 point = eye + way * lidar, normal = normal_at(p, point);
    CHECK(std::abs(length(normal) - 1.0f) < 1e-4f);
    CHECK(dot(normal, way) < 1e-3f);
    CHECK(std::abs(distance(wide(point + normal * 0.1f)) - 0.1) < 1e-3);
  }
  CHECK(hits > 200);
}

GE_TEST(of_two_at_one_distance_pictures_show_the_first) {
  const ge::Solid box = solid_of(shape(kBox, {1, 1, 1}, {5, 0, 0}), {1, 0, 0, 0});
  const std::vector<ge::pictures::Body> bodies(3, ge::pictures::body_of(box));
  const auto seen = nearest(bodies, {1, 2, 0}, {spread(Vec3{0, 0, 0}), spread(Vec3{1, 0, 0})});
  CHECK_EQ(ge::lane(seen.body, 0), 1.0f);
  CHECK_EQ(ge::lane(seen.depth, 0), 4.0f);
}

GE_TEST(rays_along_an_axis_hit_what_stands_in_their_way) {
  const Placed box = shape(kBox, {1, 1, 1}, {5, 0, 0});
  CHECK_EQ(hit({0, 0, 0}, {1, 0, 0}, box, 10), 4.0f);
  CHECK_EQ(hit({0, 0, 0}, {-1, 0, 0}, box, 10), 10.0f);
  CHECK_EQ(hit({0, 1.5f, 0}, {1, 0, 0}, box, 10), 10.0f);
  CHECK_EQ(hit({0, 0, 1.5f}, {1, 0, 0}, box, 10), 10.0f);
  CHECK_EQ(hit({5, 0, 0}, {1, 0, 0}, box, 10), 10.0f);     // inside
  CHECK_EQ(hit({0, 0, 0}, {1, 0, 0}, box, 3), 3.0f);       // beyond the limit
  CHECK_EQ(hit({0, 1.0f, 0}, {1, 0, 0}, box, 10), 10.0f);  // along a side
  CHECK_EQ(hit({0, 0, 0}, {0, 0, 0}, box, 10), 10.0f);     // no direction
  const Placed wedge = shape(kWedge, {1, 3, 1.5f}, {0, 0, 0.5f});
  CHECK(std::abs(hit({0, 5, 0.5f}, {0, -1, 0}, wedge, 10) - 4.0f) < 1e-5f);   // its wall
  CHECK(std::abs(hit({0, -5, 0.75f}, {0, 1, 0}, wedge, 10) - 4.5f) < 1e-5f);  // half-way up
  CHECK(std::abs(hit({0, -0.5f, 5}, {0, 0, -1}, wedge, 10) - 4.25f) < 1e-5f);
  CHECK_EQ(hit({0, -5, -0.1f}, {0, 1, 0}, wedge, 10), 10.0f);
  const Placed capsule = shape(kCapsule, {0.5f, 0, 1}, {0, 0, 0});
  CHECK(std::abs(hit({0, 0, 5}, {0, 0, -1}, capsule, 10) - 3.5f) < 1e-5f);
  CHECK(std::abs(hit({5, 0, 0}, {-1, 0, 0}, capsule, 10) - 4.5f) < 1e-5f);
  CHECK_EQ(hit({5, 0, 2}, {-1, 0, 0}, capsule, 10), 10.0f);
  const Placed ground = shape(kFloor, {0, 0, 0});
  CHECK_EQ(hit({0, 0, 2}, {0, 0, -1}, ground, 10), 2.0f);
  CHECK_EQ(hit({0, 0, 2}, {1, 0, 0}, ground, 10), 10.0f);
  CHECK_EQ(hit({0, 0, -2}, {0, 0, -1}, ground, 10), 10.0f);
  CHECK_EQ(hit({0, 0, 1e-20f}, {1, 0, 1}, ground, 10), 10.0f);  // from the ground upwards
}

}  // namespace
