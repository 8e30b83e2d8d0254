// Patterns of surfaces: within their bounds, the same in each lane, with joints where they belong.
#include "cameras/patterns.hpp"

#include <cmath>

#include "test.hpp"

namespace ge::cameras {
namespace {

float kept_at(int32_t pattern, float u, float v) {
  return lane(kept_colour(pattern, spread(u), spread(v)), 0);
}

GE_TEST(patterns_keep_more_than_half_and_no_more_than_all) {
  for (int32_t pattern = 0; pattern < kPatterns; ++pattern) {
    float least = 2.0f, most = 0.0f;
    for (int k = 0; k < 40000; ++k) {
      const float u = float(k % 200) * 0.0137f - 1.3f, v = float(k / 200) * 0.0119f - 1.1f;
      const float kept = kept_at(pattern, u, v);
      least = min(least, kept), most = max(most, kept);
    }
    CHECK(least > 0.6f);
    CHECK(most <= 1.0f);
    CHECK((pattern == kPlain) == (least == most));
  }
}

GE_TEST(lanes_of_a_pack_are_alike) {
  for (int32_t pattern = 0; pattern < kPatterns; ++pattern)
    for (int first = -300; first < 300; first += kPack) {
      Floats u{}, v{};
      for (int k = 0; k < kPack; ++k)
        set_lane(u, k, 0.0173f * float(first + k)), set_lane(v, k, -0.0311f * float(first + k));
      const Floats kept = kept_colour(pattern, u, v);
      for (int k = 0; k < kPack; ++k)
        CHECK_EQ(lane(kept, k), kept_at(pattern, lane(u, k), lane(v, k)));
    }
}

GE_TEST(tiles_have_joints_every_thirty_centimetres_also_below_zero) {
  for (int k = -40; k < 40; ++k) {
    const double edge = 0.3 * k;
    CHECK_EQ(kept_at(kTiles, float(edge + 0.003), 0.1f), 0.76f);
    CHECK_EQ(kept_at(kTiles, 0.1f, float(edge + 0.003)), 0.76f);
    CHECK(kept_at(kTiles, float(edge + 0.15), 0.1f) >= 0.94f);
  }
}

GE_TEST(coordinates_lie_along_the_surface) {
  const Vecs at = all_lanes<Floats>(Vec3{1.234f, -0.777f, 0.453f});
  for (int32_t pattern = 0; pattern < kPatterns; ++pattern) {
    const auto kept = [&](Vec3 normal) { return lane(kept_colour(pattern, at, normal), 0); };
    CHECK_EQ(kept({0.0f, 0.0f, 1.0f}), kept_at(pattern, 1.234f, -0.777f));
    CHECK_EQ(kept({0.0f, 0.0f, -2.0f}), kept_at(pattern, 1.234f, -0.777f));
    CHECK_EQ(kept({3.0f, 0.1f, 0.2f}), kept_at(pattern, -0.777f, 0.453f));
    CHECK_EQ(kept({0.1f, -3.0f, 0.2f}), kept_at(pattern, 1.234f, 0.453f));
  }
}

}  // namespace
}  // namespace ge::cameras
