// Pictures of every size, and rooms of none and of very many solids.
// environment: gallery
#include "gallery_room.hpp"
#include "geometry/slow_shapes.hpp"

namespace ge::test {
namespace {

using namespace geometry;

void check_picture(Gallery& gallery) {
  for (int me = 0; me < gallery.visitors(); ++me) {
    const SlowPicture slow = slow_picture(gallery.room(0, me), gallery.picture());
    CHECK(gallery.layer(kColours, me) == slow.colours);
    CHECK(gallery.layer(kDepths, me) == slow.depths);
    CHECK(gallery.layer(kSegments, me) == slow.segments);
  }
}

GE_TEST(pictures_of_odd_sizes_are_those_of_brute_force) {
  for (const char* size :
       {"1x1", "1x300", "300x1", "2x3", "7x15", "9x17", "8x16", "31x47", "13x129"})
    for (const uint64_t seed : {1, 2, 3}) {
      Gallery gallery({{"resolution", std::string(size)},
                       {"observation", std::string("rgb+depth+segmentation")}});
      gallery.reset(seed);
      check_picture(gallery);
    }
}
// Larger than one region (31 x 31 tiles): pixels on both sides of where regions meet, and others.
GE_TEST(picture_of_700_by_900_is_that_of_brute_force_across_its_regions) {
  Gallery gallery({{"resolution", std::string("700x900")},
                   {"observation", std::string("depth+segmentation")},
                   {"thing_count", int64_t{40}},
                   {"visitors", int64_t{1}}});
  gallery.reset(8);
  const SlowRoom room = gallery.room(0, 0);
  const cameras::Picture picture = gallery.picture();
  const std::vector<float> depths = gallery.depths(0);
  const std::vector<int> segments = gallery.segments(0);
  int shown = 0;
  const auto check = [&](int row, int column) {
    const SlowHit hit =
        slow_cast(room, slow_direction(room, picture, float(2 * column + 1), float(2 * row + 1)));
    const auto k = size_t(row * 900 + column);
    CHECK_EQ(segments[k], hit.row + 1);
    CHECK_EQ(depths[k], hit.row < 0 ? 0.0f : hit.distance);
    shown += hit.row >= 0;
  };
  for (const int row : {0, 247, 248, 495, 496, 699})
    for (int column = 0; column < 900; ++column) check(row, column);
  for (const int column : {0, 495, 496, 899})
    for (int row = 0; row < 700; ++row) check(row, column);
  for (int row = 3; row < 700; row += 17)
    for (int column = 5; column < 900; column += 11) check(row, column);
  CHECK(shown > 2000);
}
GE_TEST(tile_with_2000_solids_is_that_of_brute_force) {
  constexpr int kMany = 2000;
  Gallery gallery({{"resolution", std::string("8x16")},
                   {"observation", std::string("rgb+depth+segmentation")},
                   {"hfov", 40.0},
                   {"thing_count", int64_t{kMany}},
                   {"visitors", int64_t{2}}});
  gallery.reset(1);
  Source source{6};
  std::vector<Solid> solids;
  for (int k = 0; k < kMany; ++k) {
    // From the farthest to the nearest, all in front, so that the last rows are seen.
    const float away = 40.0f - 0.018f * float(k);
    const Vec3 at = {source.within(-0.3f, 0.3f) * away, away, source.within(-0.15f, 0.15f) * away};
    solids.push_back(cameras::solid(k % 3 == 0 ? kSphere : kBox, {0.1f, 0.15f, 0.1f}, at,
                                    uint32_t(k) * 8191,
                                    k % 3 == 1 ? source.turn() : cameras::upright()));
  }
  gallery.lay(solids), gallery.stand({0, 0, 0}, 0, 0), gallery.look();
  check_picture(gallery);
  const std::vector<int> seen = gallery.segments(0);
  CHECK(*std::max_element(seen.begin(), seen.end()) > 1900);
  // One that hides all others, in the last row of the table.
  solids.back() = cameras::solid(kBox, {9, 0.1f, 9}, {0, 0.5f, 0}, 0xffffff);
  gallery.lay(solids), gallery.look();
  for (const int row : gallery.segments(0)) CHECK_EQ(row, kMany);
  CHECK(gallery->faults().tables.empty());  // nothing was dropped
}
GE_TEST(room_with_nothing_in_it_is_black_to_one_who_is_alone) {
  Gallery gallery({{"observation", std::string("rgb+depth+segmentation")},
                   {"thing_count", int64_t{0}},
                   {"visitors", int64_t{1}}});
  gallery.reset(1);
  for (int row = 0; row < 71; ++row)
    for (int column = 0; column < 128; ++column)
      CHECK(gallery.colour(0, row, column) == (std::vector<int>{0, 0, 0}));
  for (const float depth : gallery.depths(0)) CHECK_EQ(depth, 0.0f);
  for (const int segment : gallery.segments(0)) CHECK_EQ(segment, 0);
}

}  // namespace
}  // namespace ge::test
