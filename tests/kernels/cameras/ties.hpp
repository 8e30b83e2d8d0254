// Faces that coincide, from every side: the first of the list is seen. Run by every executor.
#pragma once

#include "gallery_room.hpp"
#include "geometry/slow_shapes.hpp"

namespace ge::test {

/// Places around `middle`, on `sides` sides, that look at it.
inline std::vector<Stand> stands_around(Vec3 middle, float distance, int sides) {
  std::vector<Stand> stands;
  for (int i = 0; i < sides; ++i)
    for (const float pitch : {-1.1f, -0.3f, 0.2f, 0.9f}) {
      const float yaw = 6.2831853f * float(i) / float(sides) + 0.1f;
      const Eye eye = cameras::eye_at({0, 0, 0}, yaw, pitch);
      stands.push_back({middle - eye.forward * distance, yaw, pitch});
    }
  return stands;
}

/// What is seen of `solids` from around: how many pixels show each row of the list, and whether
/// every pixel's colour is that of its row.
inline std::vector<int> shares_of(const std::vector<Solid>& solids, float distance, int sides) {
  const std::vector<Stand> around = stands_around({1, 2, 0.5f}, distance, sides);
  Gallery gallery({{"resolution", std::string("16x24")},
                   {"observation", std::string("rgb+segmentation")},
                   {"hfov", 60.0},
                   {"visitors", int64_t{1}}},
                  int64_t(around.size()));
  gallery.reset(1);
  const size_t each = gallery.get<float>("visitors.yaw").size() / around.size();
  std::vector<Stand> stands;
  for (const Stand& s : around) stands.insert(stands.end(), each, s);
  gallery.lay(solids), gallery.stand_each(stands), gallery.look();
  std::vector<int> shares(solids.size());
  for (int64_t world = 0; world < gallery->worlds(); ++world) {
    const std::vector<int> seen = gallery.segments(world);
    for (int k = 0; k < 15 * 24; ++k) {  // above the bar
      if (seen[size_t(k)] == 0) continue;
      const auto row = size_t(seen[size_t(k)] - 1);
      CHECK(row < solids.size());
      if (row >= solids.size()) return shares;
      ++shares[row];
      const std::vector<int> colour = gallery.colour(world, k / 24, k % 24);
      for (int c = 0; c < 3; ++c)
        CHECK_EQ(colour[size_t(c)], int(solids[row].colour >> (16 - 8 * c) & 255));
    }
  }
  return shares;
}

inline constexpr uint32_t kRed = 0xff0000 | Solid::kUnlit, kBlue = 0x0000ff | Solid::kUnlit;

inline void check_solids_in_one_place(int sides) {
  using namespace geometry;
  const Quat turns[] = {cameras::upright(), yaw_quat(0.7f),
                        normalized(Quat{0.8f, 0.3f, -0.4f, 0.2f})};
  for (int32_t shape = kBox; shape <= kCone; ++shape) {
    if (shape == kWedge) continue;
    for (const Quat& turn : turns)
      for (const bool swapped : {false, true}) {
        const auto made = [&](uint32_t colour) {
          return cameras::solid(shape, {0.7f, 0.5f, 0.6f}, {1, 2, 0.5f}, colour, turn);
        };
        const std::vector<int> shares =
            shares_of({made(swapped ? kBlue : kRed), made(swapped ? kRed : kBlue)}, 4, sides);
        CHECK(shares[0] > 25 * sides);
        CHECK_EQ(shares[1], 0);
      }
  }
}

/// A small box that shares all of its faces but one, then all but its top, with a larger one: where
/// they coincide the first is seen, and only where the second stands out, the second.
inline void check_boxes_that_share_faces(int sides) {
  using namespace geometry;
  const Solid large = cameras::solid(kBox, {1, 1, 1}, {1, 2, 0.5f}, kRed);
  // Its faces lie in five of the larger one's.
  const Solid half = cameras::solid(kBox, {1, 1, 0.5f}, {1, 2, 0}, kBlue);
  // In three of them: a corner.
  const Solid corner = cameras::solid(kBox, {0.5f, 0.25f, 0.5f}, {0.5f, 1.25f, 0}, kBlue);
  for (const Solid& small : {half, corner}) {
    CHECK_EQ(shares_of({large, small}, 6, sides)[1], 0);
    const std::vector<int> shares = shares_of({small, large}, 6, sides);
    CHECK(shares[0] > 8 * sides && shares[1] > 33 * sides);
    CHECK_EQ(shares[0] + shares[1], shares_of({large}, 6, sides)[0]);
  }
  // Tops alone coincide: a mark on a floor, as high as the floor.
  const Solid floor = cameras::solid(kBox, {4, 4, 0.5f}, {1, 2, 0}, kRed);
  const Solid mark = cameras::solid(kBox, {0.5f, 0.5f, 0.125f}, {1, 2, 0.375f}, kBlue);
  CHECK_EQ(shares_of({floor, mark}, 7, sides)[1], 0);
  CHECK(shares_of({mark, floor}, 7, sides)[0] > 3 * sides);
}

}  // namespace ge::test
