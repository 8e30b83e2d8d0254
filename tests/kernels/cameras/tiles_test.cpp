// A tile never drops a solid that one of its rays meets, and drops most of the others.
#include "cameras/tiles.hpp"

#include "geometry/slow_shapes.hpp"
#include "test.hpp"

namespace ge::test {
namespace {

using cameras::Eye;
using cameras::Lens;
using namespace geometry;

constexpr int32_t kShapes[] = {kBox, kBox, kSphere, kCapsule, kPill, kEllipsoid, kCylinder, kCone};

Placed some_solid(Source& source, int trial) {
  const float size = trial % 5 == 0 ? 6.0f : 1.0f;
  const Vec3 half = {size * source.within(0.02f, 1), size * source.within(0.02f, 1),
                     size * source.within(0.02f, 1)};
  const Quat turn = trial % 3 == 0 ? Quat{1, 0, 0, 0} : source.turn();
  return cameras::placed(
      cameras::solid(kShapes[trial % 8], half, source.point(trial % 7 == 0 ? 60 : 8), 0, turn));
}
bool meets(const Eye& eye, Vec3 direction, const Placed& p) {
  const Rays<float> ray{eye.at, direction};
  return (is_scaled(p) ? hit_scaled(ray, p, 1000.0f) : hit_distance(ray, p, 1000.0f)) < 1000.0f;
}
Vec3 through(const Eye& eye, const Lens& lens, float right, float down) {
  return eye.forward + eye.up * lens.to_top(down) + eye.right * lens.to_right(right);
}

GE_TEST(tiles_show_every_solid_that_their_rays_meet) {
  Source source{1};
  int met = 0, dropped = 0, tiles = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const Placed p = some_solid(source, trial);
    const Eye eye =
        cameras::eye_at(source.point(3), source.within(-4, 4), source.within(-1.5f, 1.5f));
    const Lens lens = {1 + source.below(50), 1 + source.below(90), source.within(0.002f, 0.05f)};
    const cameras::Outline o = cameras::outline(eye, p);
    for (int k = 0; k < 6; ++k) {
      const int row = source.below(lens.rows), column = source.below(lens.columns);
      const Part part = {row, column, 1 + source.below(std::min(8, lens.rows - row)),
                         1 + source.below(std::min(16, lens.columns - column))};
      const bool shown = cameras::may_show(o, cameras::edges_of(lens, part));
      ++tiles, dropped += !shown;
      for (int ray = 0; ray < 24; ++ray) {
        // Anywhere in the part; the first ones along its very edges.
        const float i = ray < 4 ? float(ray & 1) : source.within(0, 1),
                    j = ray < 4 ? float(ray >> 1) : source.within(0, 1);
        const Vec3 way = through(eye, lens, 2 * (float(part.column) + i * float(part.columns)),
                                 2 * (float(part.row) + j * float(part.rows)));
        if (!meets(eye, way, p)) continue;
        ++met;
        CHECK(shown);
      }
    }
  }
  CHECK(met > 5000);
  CHECK(dropped > tiles / 2);
}
// Corners and rims are what a box that is too small would lose: tiles of one pixel that hold them.
GE_TEST(tiles_show_every_solid_whose_rim_they_hold) {
  Source source{2};
  int met = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Placed p = some_solid(source, trial % 7 == 0 ? trial + 1 : trial);
    Vec3 rim = p.half * 0.9999f;
    if (is_hull(p)) {
      rim = {source.below(2) ? rim.x : -rim.x, source.below(2) ? rim.y : -rim.y,
             source.below(2) ? rim.z : -rim.z};
    } else {
      // Where a ray comes out of it that comes in from the far side.
      const Vec3 way = source.direction();
      const Vec3 from = p.at + way * 40.0f;
      rim =
          to_body(p.turn, way * (40.0f - 0.9999f * hit_scaled(Rays<float>{from, -way}, p, 40.0f)));
    }
    const Vec3 point = to_world(p, rim);
    const Vec3 at = point + source.direction() * source.within(1, 9);
    const Vec3 way = point - at;
    const Eye eye = cameras::eye_at(
        at, std::atan2(-way.x, way.y) + source.within(-0.4f, 0.4f),
        std::atan2(way.z, std::sqrt(way.x * way.x + way.y * way.y)) + source.within(-0.3f, 0.3f));
    if (!meets(eye, way, p)) continue;  // it was inside, or passed by
    const Lens lens = {600, 800, 0.0025f};
    const Vec3 seen = cameras::seen_from(eye, way);
    const float right = seen.x / (seen.z * lens.slope) + 800,
                down = 600 - seen.y / (seen.z * lens.slope);
    const Part pixel = {int(0.5f * down), int(0.5f * right), 1, 1};
    ++met;
    CHECK(cameras::may_show(cameras::outline(eye, p), cameras::edges_of(lens, pixel)));
  }
  CHECK(met > 8000);
}
// The eye looks along +y from the origin; a box 10 m ahead reaches from -1 to 1 across.
GE_TEST(outlines_are_beyond_before_or_across_a_line_of_the_picture) {
  const Eye eye = cameras::eye_at({0, 0, 0}, 0, 0);
  const auto side = [&](Vec3 at, float slope, bool up) {
    const cameras::Outline o =
        cameras::outline(eye, cameras::placed(cameras::solid(kBox, {1, 1, 1}, at, 0)));
    return up ? cameras::side_of<true>(o, slope) : cameras::side_of<false>(o, slope);
  };
  CHECK_EQ(side({0, 10, 0}, 0.0f, false), 0);
  CHECK_EQ(side({3, 10, 0}, 0.0f, false), 1);
  CHECK_EQ(side({-3, 10, 0}, 0.0f, false), -1);
  CHECK_EQ(side({0, 10, 3}, 0.0f, true), 1);
  CHECK_EQ(side({0, 10, -3}, 0.0f, true), -1);
  // Its near edge at 9 m: slopes beyond 1 / 9 pass it, and those just within do not.
  CHECK_EQ(side({0, 10, 0}, 0.1112f, false), -1);
  CHECK_EQ(side({0, 10, 0}, 0.1110f, false), 0);
  CHECK_EQ(side({0, 10, 0}, -0.1112f, true), 1);
  CHECK_EQ(side({0, 10, 0}, -0.1110f, true), 0);
}
GE_TEST(outlines_behind_the_eye_are_not_before_it) {
  const Eye eye = cameras::eye_at({0, 0, 0}, 0, 0);
  const auto before = [&](float y) {
    return cameras::is_before(
        cameras::outline(eye, cameras::placed(cameras::solid(kBox, {1, 1, 1}, {0, y, 0}, 0))));
  };
  CHECK(before(5) && before(0) && before(-0.9f));
  CHECK(!before(-1.1f) && !before(-50));
  CHECK(!before(__builtin_nanf("")) && !before(__builtin_inff()) && !before(-__builtin_inff()));
}

}  // namespace
}  // namespace ge::test
