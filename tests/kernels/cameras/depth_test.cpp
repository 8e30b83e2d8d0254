// Depths against closed forms in double, and silhouettes against those of solids a little larger
// and a little smaller.
// environment: gallery
#include "closed_forms.hpp"
#include "gallery_room.hpp"
#include "geometry/slow_shapes.hpp"

namespace ge::test {
namespace {

using namespace geometry;

constexpr int kPoses = 200, kRows = 12, kColumns = 16;
constexpr double kHfov = 40;
// A float has 6e-8; a ray that grazes a surface makes more of that.
constexpr double kTolerance = 1e-5, kLeastSlant = 0.1;
// How much larger or smaller a solid may look at its rim.
constexpr double kRim = 1e-4;

struct Range {
  float nearest, farthest;  // [m]
};

Stand facing(Source& source, Vec3 at, Vec3 to) {
  const Vec3 way = to - at;
  const float level = std::sqrt(way.x * way.x + way.y * way.y);
  return {at, std::atan2(-way.x, way.y) + source.within(-0.1f, 0.1f),
          std::atan2(way.z, level) + source.within(-0.1f, 0.1f)};
}

/// Solids made by `make(source)`, each seen from somewhere around it.
template <class F>
void check_depths(uint64_t seed, const Range& range, const F& make) {
  Source source{seed};
  std::vector<std::vector<Solid>> rooms;
  std::vector<Stand> stands;
  for (int pose = 0; pose < kPoses; ++pose) {
    const Solid s = make(source);
    rooms.push_back({s});
    const Vec3 way = source.direction();
    stands.push_back(
        facing(source, vec(s.at) + way * source.within(range.nearest, range.farthest), vec(s.at)));
  }
  Gallery gallery({{"resolution", std::string("12x16")},
                   {"hfov", kHfov},
                   {"visitors", int64_t{1}},
                   {"observation", std::string("depth")}},
                  kPoses);
  gallery.reset(1);
  const size_t each = gallery.get<float>("visitors.yaw").size() / kPoses;
  std::vector<Stand> all;
  for (const Stand& s : stands) all.insert(all.end(), each, s);
  gallery.lay_each(rooms), gallery.stand_each(all), gallery.look();
  int hits = 0, misses = 0;
  for (int pose = 0; pose < kPoses; ++pose) {
    const Stand& stand = stands[size_t(pose)];
    const Solid& s = rooms[size_t(pose)][0];
    const RealEye eye(stand.at, stand.yaw, stand.pitch);
    const RealSolid as_it_is(s), larger(s, 1 + kRim), smaller(s, 1 - kRim);
    const std::vector<float> depths = gallery.depths(pose);
    for (int k = 0; k < kRows * kColumns; ++k) {
      const Real3 direction =
          eye.direction(k / kColumns + 0.5, k % kColumns + 0.5, kRows, kColumns, kHfov);
      const float depth = depths[size_t(k)];
      if (!meet(larger, eye.at, direction).meets()) CHECK_EQ(depth, 0.0f);
      if (meet(smaller, eye.at, direction).meets()) CHECK(depth > 0);
      const RealHit hit = meet(as_it_is, eye.at, direction);
      if (!hit.meets() || depth == 0) {
        ++misses;
      } else if (hit.slant < kLeastSlant) {
        CHECK(std::abs(depth / hit.distance - 1) < 1e-2);
      } else {
        ++hits;
        const double error = std::abs(depth / hit.distance - 1);
        if (!(error <= kTolerance))
          fail(__FILE__, __LINE__,
               "shape " + std::to_string(s.shape) + ": depth " + std::to_string(depth) +
                   " is off by " + std::to_string(error * 1e6) + "e-6, pose " +
                   std::to_string(pose));
      }
    }
  }
  CHECK(hits > 1000 && misses > 200);
}
Vec3 some_half(Source& source) {
  return {source.within(0.2f, 1.0f), source.within(0.2f, 1.0f), source.within(0.2f, 1.0f)};
}
auto free_shape(int32_t shape) {
  return [shape](Source& source) {
    return cameras::solid(shape, some_half(source), source.point(5), 0xffffff, source.turn());
  };
}
constexpr Range kNear = {2.5f, 9};

GE_TEST(depths_of_a_plane_at_3_m_are_3) {
  Gallery gallery({{"observation", std::string("depth")}, {"visitors", int64_t{1}}});
  gallery.reset(1);
  gallery.lay({cameras::solid(kBox, {50, 1, 50}, {0, 4, 0}, 0xffffff)});
  gallery.stand({0, 0, 0}, 0, 0), gallery.look();
  for (const float depth : gallery.depths(0)) CHECK(std::abs(depth - 3.0) <= 1e-6 * 3);
}

GE_TEST(depths_of_planes_are_those_of_the_closed_form) {
  Source source{3};
  Gallery gallery({{"observation", std::string("depth")},
                   {"visitors", int64_t{1}},
                   {"resolution", std::string("9x16")}});
  gallery.reset(1);
  int checked = 0;
  for (int pose = 0; pose < kPoses; ++pose) {
    // The face that looks back along -y is 2 to 9 m away, tilted by up to 35 degrees.
    Solid wall = cameras::solid(
        kBox, {200, 1, 200}, {0, 0, 0}, 0xffffff,
        pose % 2 == 1 ? normalized(Quat{1, source.within(-0.3f, 0.3f), source.within(-0.3f, 0.3f),
                                        source.within(-0.3f, 0.3f)})
                      : cameras::upright());
    put(wall.at, matrix(quat(wall.turn)).y * source.within(3, 10));
    const Stand stand = {{0, 0, 0}, source.within(-0.3f, 0.3f), source.within(-0.3f, 0.3f)};
    gallery.lay({wall}), gallery.stand(stand.at, stand.yaw, stand.pitch), gallery.look();
    const RealEye eye(stand.at, stand.yaw, stand.pitch);
    const std::vector<float> depths = gallery.depths(0);
    for (int k = 0; k < 9 * 16; ++k) {
      const RealHit hit =
          meet(RealSolid(wall), eye.at, eye.direction(k / 16 + 0.5, k % 16 + 0.5, 9, 16, 100));
      if (!hit.meets() || hit.slant < kLeastSlant || hit.distance > 110) continue;
      CHECK(std::abs(depths[size_t(k)] / hit.distance - 1) <= kTolerance);
      ++checked;
    }
  }
  CHECK(checked > 100 * kPoses);
}
GE_TEST(depths_of_boxes_along_the_axes_are_those_of_the_closed_form) {
  check_depths(11, kNear, [](Source& source) {
    return cameras::solid(kBox, some_half(source), source.point(5), 0xffffff);
  });
}
GE_TEST(depths_of_boxes_turned_about_z_are_those_of_the_closed_form) {
  check_depths(12, kNear, [](Source& source) {
    return cameras::solid(kBox, some_half(source), source.point(5), 0xffffff,
                          yaw_quat(source.within(-3, 3)));
  });
}
GE_TEST(depths_of_boxes_turned_freely_are_those_of_the_closed_form) {
  check_depths(13, kNear, free_shape(kBox));
}
GE_TEST(depths_of_spheres_are_those_of_the_closed_form) {
  check_depths(14, kNear, free_shape(kSphere));
}
GE_TEST(depths_of_ellipsoids_are_those_of_the_closed_form) {
  check_depths(15, kNear, free_shape(kEllipsoid));
}
GE_TEST(depths_of_capsules_are_those_of_the_closed_form) {
  check_depths(16, kNear, free_shape(kCapsule));
}
GE_TEST(depths_of_pills_are_those_of_the_closed_form) {
  check_depths(17, kNear, free_shape(kPill));
}
GE_TEST(depths_of_cylinders_are_those_of_the_closed_form) {
  check_depths(18, kNear, free_shape(kCylinder));
}
GE_TEST(depths_of_cones_are_those_of_the_closed_form) {
  check_depths(19, kNear, free_shape(kCone));
}
GE_TEST(depths_of_far_shapes_are_those_of_the_closed_form) {
  for (const int32_t shape : {kBox, kSphere, kEllipsoid, kCapsule, kPill, kCylinder, kCone})
    check_depths(20, {20, 110}, [shape](Source& source) {
      return cameras::solid(shape, some_half(source) * 5.0f, source.point(5), 0xffffff,
                            source.turn());
    });
}

}  // namespace
}  // namespace ge::test
