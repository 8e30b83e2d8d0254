// The parameters (Settings), and the values that the rules read (Params).
#pragma once

#include "engine/environment.hpp"
#include "voxel/settings.hpp"

namespace gpu_envs::envs::collect {

using namespace ge;
namespace voxel = ge::voxel;
using voxel::Span;

/// Longest side of the land and its highest hill [cells]; most diamonds and boxes.
inline constexpr int kSide = 41, kHighest = 20, kMostDiamonds = 96, kMostBoxes = 80;
/// Sides that noise is stretched over: one frequency is one wave along them.
inline constexpr float kWaves = 42.0f;

struct Settings : voxel::Settings {
  int32_t side_low = 8, side_high = kSide;
  float frequency_low = 0.1f, frequency_high = 9.9f;
  int32_t octaves_low = 1, octaves_high = 9;
  int32_t relief_low = 5, relief_high = 17;
  float ground_low = 0.2f, ground_high = 0.7f;
  float diamond_share = 0.05f, good_share = 0.7f;
  float box_share = 0.04f;
  int32_t box_count_low = 3;
  float good_reward = 1.0f, bad_reward = -1.0f, all_reward = 5.0f, fall_reward = -1.0f;
  float diamond_seconds = 2.0f;

  using Self = Settings;
  static constexpr auto describe_land() {
    return fields(
        voxel::agents_field<Self>(),
        field("side_low", &Self::side_low, "shortest side of the land").in("m").within(5, kSide),
        field("side_high", &Self::side_high, "longest side of the land").in("m").within(5, kSide),
        field("frequency_low", &Self::frequency_low, "fewest waves of hills along 42 m, in tenths")
            .within(0.1, 20),
        field("frequency_high", &Self::frequency_high, "most waves of hills along 42 m, in tenths")
            .within(0.1, 20),
        field("octaves_low", &Self::octaves_low,
              "fewest octaves of the noise that hills are made of")
            .within(1, 9),
        field("octaves_high", &Self::octaves_high,
              "most octaves of the noise that hills are made of")
            .within(1, 9),
        field("relief_low", &Self::relief_low,
              "least height of hills, from the lowest to the highest noise")
            .in("m")
            .within(0, kHighest),
        field("relief_high", &Self::relief_high,
              "greatest height of hills, from the lowest to the highest noise")
            .in("m")
            .within(0, kHighest),
        field("ground_low", &Self::ground_low,
              "least noise, from 0 to 1, up to which the land is flat")
            .within(0, 1),
        field("ground_high", &Self::ground_high,
              "greatest noise, from 0 to 1, up to which the land is flat")
            .within(0, 1));
  }
  static constexpr auto describe_things() {
    return fields(
        field("diamond_share", &Self::diamond_share,
              "diamonds at most, as a share of the land's cells; one more is possible")
            .within(0, 1),
        field("good_share", &Self::good_share,
              "probability that a diamond is green, else it is red; one is green in any case")
            .within(0, 1),
        field("box_share", &Self::box_share, "boxes to carry, as a share of the land's cells")
            .within(0, 1),
        field("box_count_low", &Self::box_count_low,
              "fewest boxes to carry; there are none where the land has no room for them")
            .within(0, kMostBoxes));
  }
  static constexpr auto describe_pay() {
    return fields(
        voxel::reward_field("good_reward", &Self::good_reward, "reward for a green diamond"),
        voxel::reward_field("bad_reward", &Self::bad_reward, "reward for a red diamond"),
        voxel::reward_field("all_reward", &Self::all_reward, "reward for the last green diamond"),
        voxel::reward_field("fall_reward", &Self::fall_reward,
                            "reward for a fall off the land; not divided"),
        voxel::spirit_field<Self>(),
        field("episode_seconds", &Self::episode_seconds,
              "time of an episode, without its diamonds'")
            .in("s")
            .within(1, 3600),
        field("diamond_seconds", &Self::diamond_seconds,
              "more time of an episode for each of its diamonds")
            .in("s")
            .within(0, 60));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_land(), describe_things(), describe_pay(),
                          voxel::view_fields<Self>());
  }
};

struct Params : voxel::Params {
  Span side, tenths, octaves, relief;
  float ground_low, ground_high;
  float diamond_share, good_share, box_share;
  int32_t box_count_low;
  float good_reward, bad_reward, all_reward, fall_reward, diamond_seconds;
};

/// Numbers of things on land of this many cells.
GE_FN int most_diamonds(const Params& p, int cells) {
  return to_int(floor(p.diamond_share * float(cells) + 0.5f)) + 1;
}
GE_FN int boxes_on(const Params& p, int cells) {
  return max(p.box_count_low, to_int(floor(p.box_share * float(cells))));
}

inline Span tenths(const Settings& s) {
  const auto whole = [](float x) { return to_int(floor(10.0f * x + 0.5f)); };
  if (s.frequency_low > s.frequency_high) voxel::refuse("frequency_low is above frequency_high");
  return {whole(s.frequency_low), whole(s.frequency_high)};
}
inline Params resolve_settings(Settings& s) {
  Params p{};
  static_cast<voxel::Params&>(p) = voxel::common_of(s);
  p.side = voxel::span("side", s.side_low, s.side_high);
  p.tenths = tenths(s);
  p.octaves = voxel::span("octaves", s.octaves_low, s.octaves_high);
  p.relief = voxel::span("relief", s.relief_low, s.relief_high);
  if (s.ground_low > s.ground_high) voxel::refuse("ground_low is above ground_high");
  p.ground_low = s.ground_low, p.ground_high = s.ground_high;
  p.diamond_share = s.diamond_share, p.good_share = s.good_share;
  p.box_share = s.box_share, p.box_count_low = s.box_count_low;
  p.good_reward = s.good_reward, p.bad_reward = s.bad_reward, p.all_reward = s.all_reward;
  p.fall_reward = s.fall_reward;
  p.diamond_seconds = s.diamond_seconds;
  const int cells = p.side.high * p.side.high;
  const auto require = [&](int most, int room, const char* what, const char* which) {
    if (most > room)
      voxel::refuse("land with side_high=" + std::to_string(p.side.high) + " and this " + which +
                    " can have " + std::to_string(most) + " " + what + ", at most " +
                    std::to_string(room) + " are possible; lower one of them");
  };
  require(most_diamonds(p, cells), kMostDiamonds, "diamonds", "diamond_share");
  require(boxes_on(p, cells), kMostBoxes, "boxes", "box_share");
  return p;
}

}  // namespace gpu_envs::envs::collect
