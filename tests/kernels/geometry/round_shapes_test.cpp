// Round shapes: normals against gradients in double, boxes around them, packs against single rays,
// and rays from inside. Where rays meet them, cameras/depth_test.cpp holds against closed forms.
#include "geometry/round_shapes.hpp"

#include <cmath>

#include "geometry/slow_shapes.hpp"
#include "test.hpp"

namespace {

using namespace ge::geometry;
using namespace ge::test;

constexpr int32_t kRound[] = {kSphere, kCapsule, kEllipsoid, kPill, kCylinder, kCone};
constexpr float kLimit = 50.0f;

Placed some_round(Source& source, int trial) {
  return random_shape(source, kRound[trial % 6], 2.0f);
}
Vec3 in_body(const Placed& p, Vec3 v) {
  return to_body(p.turn, v - p.at);
}
float hit(const Placed& p, Vec3 from, Vec3 direction, float limit = kLimit) {
  return hit_scaled(Rays<float>{from, direction}, p, limit);
}

/// How far out of the shape a point of its own frame is, in a measure that is 0 on its surface: the
/// definitions of measures.hpp.
double out_of(const Placed& p, double x, double y, double z) {
  const double a = p.half.x, b = p.half.y, c = p.half.z;
  const auto beyond = [](double v, double most) {
    return v - std::fmin(most, std::fmax(-most, v));
  };
  switch (p.shape) {
    case kSphere:
      return std::sqrt(x * x + y * y + z * z) / a - 1;
    case kCapsule:
      return std::hypot(std::hypot(x, y), beyond(z, c)) / a - 1;
    case kEllipsoid:
      return std::sqrt(x * x / (a * a) + y * y / (b * b) + z * z / (c * c)) - 1;
    case kPill:
      return std::hypot(std::hypot(x / a, y / b), beyond(z, c) / c) - 1;
    case kCylinder:
      return std::fmax(std::hypot(x / a, y / b) - 1, std::fabs(z) / c - 1);
    default:
      return std::fmax(std::hypot(x / a, y / b) - (1 - z / c) / 2, -z / c - 1);
  }
}

GE_TEST(normals_are_gradients_where_rays_meet_the_surface) {
  Source source{1};
  int met[10] = {};
  for (int trial = 0; trial < 6000; ++trial) {
    const Placed p = some_round(source, trial);
    const Vec3 from = source.direction() * source.within(6, 12);
    const Vec3 direction = (p.at + source.point(1.0f) - from) * source.within(0.05f, 0.4f);
    const float t = hit(p, from, direction);
    if (t == kLimit) continue;
    const Vec3 point = from + direction * t, at = in_body(p, point);
    CHECK(std::fabs(out_of(p, at.x, at.y, at.z)) < 1e-4);
    const double step = 1e-5;
    double gradient[3];
    for (int k = 0; k < 3; ++k) {
      const double dx = k == 0 ? step : 0, dy = k == 1 ? step : 0, dz = k == 2 ? step : 0;
      gradient[k] =
          out_of(p, at.x + dx, at.y + dy, at.z + dz) - out_of(p, at.x - dx, at.y - dy, at.z - dz);
    }
    const double size = std::hypot(std::hypot(gradient[0], gradient[1]), gradient[2]);
    const Vec3 normal = normal_of_scaled(p, point), n = to_body(p.turn, normal);
    CHECK(std::fabs(length(normal) - 1) < 1e-5);
    CHECK(dot(normal, direction) < 1e-4f * length(direction));  // towards where the ray came from
    // At a rim two surfaces meet, and a difference takes from both.
    if ((p.shape == kCylinder || p.shape == kCone)) {
      const double side = std::hypot(at.x / p.half.x, at.y / p.half.y) -
                          (p.shape == kCone ? (1 - at.z / p.half.z) / 2 : 1);
      const double end = (p.shape == kCone ? -at.z : std::fabs(at.z)) / p.half.z - 1;
      if (std::fabs(side - end) < 1e-3) continue;
    }
    for (int k = 0; k < 3; ++k) CHECK(std::fabs(component(n, k) - gradient[k] / size) < 2e-3);
    ++met[p.shape];
  }
  for (const int32_t shape : kRound) CHECK(met[shape] > 200);
}

GE_TEST(reach_covers_what_rays_meet_and_no_more) {
  Source source{2};
  for (const int32_t shape : kRound)
    for (int trial = 0; trial < 20; ++trial) {
      const Placed p = random_shape(source, shape, 2.0f);
      const Vec3 reach = reach_of(p);
      float most[3] = {};
      for (int ray = 0; ray < 4000; ++ray) {
        const Vec3 from = source.direction() * 12.0f;
        const Vec3 direction =
            p.at +
            p.turn * (Vec3{reach.x * source.within(-1, 1), reach.y * source.within(-1, 1),
                           reach.z * source.within(-1, 1)}) -
            from;
        const float t = hit(p, from, direction);
        if (t == kLimit) continue;
        const Vec3 at = abs(in_body(p, from + direction * t));
        for (int k = 0; k < 3; ++k) {
          CHECK(component(at, k) < component(reach, k) + 2e-5f);
          most[k] = std::fmax(most[k], component(at, k));
        }
      }
      for (int k = 0; k < 3; ++k) CHECK(most[k] > 0.75f * component(reach, k));
    }
}

GE_TEST(packs_give_the_bits_of_single_rays) {
  Source source{3};
  int met = 0;
  for (int trial = 0; trial < 1200; ++trial) {
    const Placed p = some_round(source, trial);
    const Vec3 from = source.point(5.0f);
    ge::Floats limits{};
    Vecs directions{};
    Vec3 ways[ge::kPack];
    for (int i = 0; i < ge::kPack; ++i) {
      Vec3& way = ways[i];
      way = trial % 2 == 0 ? (p.at + source.point(1.0f) - from) * 0.2f : source.direction();
      if (trial % 9 == 0) way = unit_axis(i % 3);  // with parts that are exactly 0
      ge::set_lane(directions.x, i, way.x), ge::set_lane(directions.y, i, way.y);
      ge::set_lane(directions.z, i, way.z), ge::set_lane(limits, i, i % 3 == 0 ? 4.0f : kLimit);
    }
    const ge::Floats hits = hit_scaled(Rays<ge::Floats>{from, directions}, p, limits);
    const Vecs normals = normal_of_scaled(p, directions * hits + from);
    for (int i = 0; i < ge::kPack; ++i) {
      const float limit = ge::lane(limits, i);
      const float one = hit(p, from, ways[i], limit);
      CHECK_EQ(ge::lane(hits, i), one);
      CHECK(one > 0 && one <= limit);
      if (one == limit) continue;
      ++met;
      const Vec3 normal = normal_of_scaled(p, ways[i] * one + from);
      CHECK(ge::lane(normals.x, i) == normal.x && ge::lane(normals.y, i) == normal.y &&
            ge::lane(normals.z, i) == normal.z);
    }
  }
  CHECK(met > 300);
}

GE_TEST(rays_that_start_inside_ignore_the_shape) {
  Source source{4};
  for (int trial = 0; trial < 1200; ++trial) {
    const Placed p = some_round(source, trial);
    const Vec3 reach = reach_of(p);
    const Vec3 at = {0.4f * reach.x * source.within(-1, 1), 0.4f * reach.y * source.within(-1, 1),
                     -0.3f * reach.z * source.within(0, 1)};
    if (out_of(p, at.x, at.y, at.z) > -1e-3) continue;
    CHECK_EQ(hit(p, to_world(p, at), source.direction()), kLimit);
  }
}

}  // namespace
