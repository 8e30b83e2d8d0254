// Places, directions and solids that are not finite disturb nothing else, and rays along faces hit
// the nearest solid.
// environment: gallery
#include <cmath>
#include <limits>

#include "gallery_room.hpp"
#include "geometry/slow_shapes.hpp"

namespace ge::test {
namespace {

using namespace geometry;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(),
                kInfinite = std::numeric_limits<float>::infinity();
const Values kAllLayers = {{"resolution", std::string("17x30")},
                           {"observation", std::string("rgb+depth+segmentation")},
                           {"visitors", int64_t{2}}};

std::vector<Solid> some_solids(int count) {
  Source source{3};
  std::vector<Solid> solids;
  for (int k = 0; k < count; ++k) {
    constexpr int32_t kShapes[] = {kBox, kSphere, kPill, kCylinder, kCone, kEllipsoid, kCapsule};
    solids.push_back(cameras::solid(
        kShapes[k % 7], {source.within(0.2f, 0.6f), source.within(0.2f, 0.6f), 0.5f},
        {source.within(-3, 3), source.within(2, 6), source.within(-1, 1)},
        uint32_t(source.below(1 << 24)), k % 2 == 0 ? cameras::upright() : source.turn()));
  }
  return solids;
}
std::string picture_of_all(Gallery& gallery, int64_t row) {
  return gallery.layer(kColours, row) + gallery.layer(kDepths, row) + gallery.layer(kSegments, row);
}
void place(Gallery& gallery, size_t row, const Stand& stand) {
  std::vector<Stand> stands(gallery.get<float>("visitors.yaw").size(), Stand{{0, 0, 0}, 0.1f, 0});
  stands[row] = stand;
  gallery.stand_each(stands), gallery.look();
}

GE_TEST(eye_that_is_nowhere_sees_black_and_disturbs_nobody) {
  Gallery gallery(kAllLayers, 3);
  gallery.reset(1);
  gallery.lay(some_solids(20));
  const size_t each = gallery.get<float>("visitors.yaw").size() / 3;
  const size_t row = each;  // the first visitor of the second world
  place(gallery, row, {{0, -3000, 0}, 0, 0});
  std::vector<std::string> before;
  for (int64_t k = 0; k < 6; ++k) before.push_back(picture_of_all(gallery, k));
  CHECK_EQ(gallery->faults().lost_views, 0);
  for (const float bad : {kNan, kInfinite, -kInfinite})
    for (int which = 0; which < 5; ++which) {
      Stand stand = {{0, 0, 0}, 0, 0};
      float* const numbers[] = {&stand.at.x, &stand.at.y, &stand.at.z, &stand.yaw, &stand.pitch};
      *numbers[which] = bad;
      // With a place, others see him there: out of their sight, as before.
      if (which > 2) stand.at = {0, -3000, 0};
      place(gallery, row, stand);
      const std::string seen = picture_of_all(gallery, 2);
      CHECK(seen == std::string(seen.size(), '\0'));
      for (int64_t k = 0; k < 6; ++k)
        if (k != 2) CHECK(picture_of_all(gallery, k) == before[size_t(k)]);
      const FaultReport report = gallery->faults();
      CHECK_EQ(report.lost_views, 1);
      CHECK_EQ(report.first_lost_world, 1);
      CHECK_EQ(report.first_lost_agent, 0);
    }
}
GE_TEST(solid_that_is_none_is_not_seen_and_disturbs_no_other) {
  Gallery gallery(kAllLayers);
  gallery.reset(1);
  const std::vector<Solid> sound = some_solids(20);
  place(gallery, 0, {{0, 0, 0}, 0, 0});
  std::vector<Solid> solids = sound;
  solids.push_back(cameras::solid(kBox, {1, 1, 1}, {0, -900, 0}, 0));
  gallery.lay(solids), gallery.look();
  const std::string before = picture_of_all(gallery, 0);
  for (int32_t shape = kBox; shape <= kCone; ++shape) {
    if (shape == kWedge) continue;
    for (const bool turned : {false, true})
      for (const float bad : {kNan, kInfinite})
        for (int which = 0; which < 10; ++which) {
          Solid& odd = solids.back();
          odd =
              cameras::solid(shape, {0.8f, 0.8f, 0.8f}, {0, 1.5f, 0}, 0xffffff,
                             turned ? normalized(Quat{1, 0.2f, 0.3f, -0.4f}) : cameras::upright());
          float* const numbers[] = {&odd.at[0],   &odd.at[1],   &odd.at[2],   &odd.half[0],
                                    &odd.half[1], &odd.half[2], &odd.turn[0], &odd.turn[1],
                                    &odd.turn[2], &odd.turn[3]};
          // Balls have one measure, capsules two.
          if ((shape == kSphere && (which == 4 || which == 5)) || (shape == kCapsule && which == 4))
            continue;
          *numbers[which] = bad;
          gallery.lay(solids), gallery.look();
          if (picture_of_all(gallery, 0) != before)
            fail(__FILE__, __LINE__,
                 "shape " + std::to_string(shape) + (turned ? ", turned" : "") + " shows with " +
                     std::to_string(bad) + " in number " + std::to_string(which));
        }
  }
}
GE_TEST(solid_without_size_is_not_seen_and_disturbs_no_other) {
  Gallery gallery(kAllLayers);
  gallery.reset(1);
  place(gallery, 0, {{0, 0, 0}, 0, 0});
  std::vector<Solid> solids = some_solids(20);
  solids.push_back(cameras::solid(kBox, {1, 1, 1}, {0, -900, 0}, 0));
  gallery.lay(solids), gallery.look();
  const std::string before = picture_of_all(gallery, 0);
  for (int32_t shape = kBox; shape <= kCone; ++shape)
    for (const bool turned : {false, true}) {
      if (shape == kWedge) continue;
      solids.back() =
          cameras::solid(shape, {0, 0, 0}, {0.125f, 1.5f, 0}, 0xffffff,
                         turned ? normalized(Quat{1, 0.2f, 0.3f, -0.4f}) : cameras::upright());
      gallery.lay(solids), gallery.look();
      CHECK(picture_of_all(gallery, 0) == before);
    }
}
GE_TEST(solids_behind_the_eye_are_not_seen) {
  Gallery gallery(kAllLayers);
  gallery.reset(1);
  for (int32_t shape = kBox; shape <= kCone; ++shape) {
    if (shape == kWedge) continue;
    gallery.lay({cameras::solid(shape, {0.9f, 0.9f, 0.9f}, {0, -2, 0}, 0xffffff)});
    place(gallery, 1, {{0, -900, 0}, 0, 0});
    for (const int segment : gallery.segments(0)) CHECK_EQ(segment, 0);
  }
}

/// A picture of which the middle row and column look exactly along axes.
struct Straight {
  Gallery gallery{{{"resolution", std::string("9x15")},
                   {"observation", std::string("depth+segmentation")},
                   {"visitors", int64_t{1}}}};
  Straight(const std::vector<Solid>& solids, Vec3 at) {
    gallery.reset(1);
    gallery.lay(solids), gallery.stand(at, 0, 0), gallery.look();
  }
  int segment(int row, int column) { return gallery.segments(0)[size_t(row * 15 + column)]; }
  float depth(int row, int column) { return gallery.depths(0)[size_t(row * 15 + column)]; }
};
GE_TEST(rays_along_axes_meet_what_is_in_front) {
  for (int32_t shape = kBox; shape <= kCone; ++shape) {
    if (shape == kWedge) continue;
    for (const Quat& turn : {cameras::upright(), yaw_quat(0.3f)}) {
      Straight straight({cameras::solid(shape, {1, 1, 1}, {0, 5, 0}, 0xffffff, turn)}, {0, 0, 0});
      CHECK_EQ(straight.segment(4, 7), 1);
      CHECK(straight.depth(4, 7) > 3.5f && straight.depth(4, 7) < 4.6f);
    }
  }
}
// The middle column runs in the plane where two boxes touch: it shows one of them, and no gap.
GE_TEST(rays_along_a_common_face_show_no_gap) {
  const auto left = cameras::solid(kBox, {1, 1, 1}, {-1, 5, 0}, 0xffffff),
             right = cameras::solid(kBox, {1, 1, 1}, {1, 5, 0}, 0xffffff);
  Straight straight({left, right}, {0, 0, 0});
  for (int row = 3; row <= 5; ++row) {
    CHECK(straight.segment(row, 7) == 1 || straight.segment(row, 7) == 2);
    CHECK_EQ(straight.depth(row, 7), 4.0f);
    CHECK_EQ(straight.segment(row, 6), 1);
    CHECK_EQ(straight.segment(row, 8), 2);
  }
}
// The eye in the plane of a box's side or top, which the ray does not enter: what is behind shows.
GE_TEST(rays_along_the_side_of_a_box_find_a_number) {
  const auto wall = cameras::solid(kBox, {50, 1, 50}, {0, 9, 0}, 0x808080);
  for (const Vec3 at : {Vec3{1, 5, 0}, Vec3{-1, 5, 0}, Vec3{0, 5, 1}, Vec3{0, 5, -1}}) {
    Straight straight({cameras::solid(kBox, {1, 1, 1}, at, 0xffffff), wall}, {0, 0, 0});
    for (int row = 0; row < 9; ++row)
      for (int column = 0; column < 15; ++column) {
        const float depth = straight.depth(row, column);
        CHECK(depth == 4.0f || std::abs(depth - 8.0f) < 1e-5f || (depth > 4.0f && depth < 6.1f));
        CHECK_EQ(straight.segment(row, column), depth < 7.0f ? 1 : 2);
      }
  }
}

}  // namespace
}  // namespace ge::test
