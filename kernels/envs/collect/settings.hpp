// The parameters (Settings), and the values that the rules read (Params).
#pragma once

#include "engine/environment.hpp"
#include "voxel/settings.hpp"

namespace gpu_envs::envs::collect {

using namespace ge;
namespace voxel = ge::voxel;

/// Longest side of the land and its highest hill [cells]; most diamonds and boxes.
inline constexpr int kSide = 41, kHighest = 20, kMostDiamonds = 96, kMostBoxes = 80;
/// Sides that noise is stretched over: one frequency is one wave along them.
inline constexpr float kWaves = 42.0f;

/// What may differ by world.
struct Varied {
  int32_t side_low = 8, side_high = kSide;
  float frequency_low = 0.1f, frequency_high = 9.9f;
  int32_t octaves_low = 1, octaves_high = 9;
  int32_t relief_low = 5, relief_high = 17;
  float ground_low = 0.2f, ground_high = 0.7f;
  float diamond_share = 0.05f, good_share = 0.7f;
  float box_share = 0.04f;
  int32_t box_count_low = 3;
  float good_reward = 1.0f, bad_reward = -1.0f, all_reward = 5.0f, fall_reward = -1.0f;
  float team_spirit = 0.0f;
  float episode_seconds = 60.0f, diamond_seconds = 2.0f;
  static constexpr auto describe();
};

struct Settings : voxel::Settings, Varied {
  using Self = Settings;
  static constexpr auto describe_land() {
    return fields(
        voxel::agents_field<Self>(),
        field("side_low", &Self::side_low, "shortest side of the land")
            .in("m")
            .within(5, kSide)
            .from_reset(),
        field("side_high", &Self::side_high, "longest side of the land")
            .in("m")
            .within(5, kSide)
            .from_reset(),
        field("frequency_low", &Self::frequency_low, "fewest waves of hills along 42 m, in tenths")
            .within(0.1, 20)
            .from_reset(),
        field("frequency_high", &Self::frequency_high, "most waves of hills along 42 m, in tenths")
            .within(0.1, 20)
            .from_reset(),
        field("octaves_low", &Self::octaves_low,
              "fewest octaves of the noise that hills are made of")
            .within(1, 9)
            .from_reset(),
        field("octaves_high", &Self::octaves_high,
              "most octaves of the noise that hills are made of")
            .within(1, 9)
            .from_reset(),
        field("relief_low", &Self::relief_low,
              "least height of hills, from the lowest to the highest noise")
            .in("m")
            .within(0, kHighest)
            .from_reset(),
        field("relief_high", &Self::relief_high,
              "greatest height of hills, from the lowest to the highest noise")
            .in("m")
            .within(0, kHighest)
            .from_reset(),
        field("ground_low", &Self::ground_low,
              "least noise, from 0 to 1, up to which the land is flat")
            .within(0, 1)
            .from_reset(),
        field("ground_high", &Self::ground_high,
              "greatest noise, from 0 to 1, up to which the land is flat")
            .within(0, 1)
            .from_reset());
  }
  static constexpr auto describe_things() {
    return fields(
        field("diamond_share", &Self::diamond_share,
              "diamonds at most, as a share of the land's cells; one more is possible")
            .within(0, 1)
            .from_reset(),
        field("good_share", &Self::good_share,
              "probability that a diamond is green, else it is red; one is green in any case")
            .within(0, 1)
            .from_reset(),
        field("box_share", &Self::box_share, "boxes to carry, as a share of the land's cells")
            .within(0, 1)
            .from_reset(),
        field("box_count_low", &Self::box_count_low,
              "fewest boxes to carry; there are none where the land has no room for them")
            .within(0, kMostBoxes)
            .from_reset());
  }
  static constexpr auto describe_pay() {
    return fields(
        voxel::reward_field("good_reward", &Self::good_reward, "reward for a green diamond"),
        voxel::reward_field("bad_reward", &Self::bad_reward, "reward for a red diamond"),
        voxel::reward_field("all_reward", &Self::all_reward, "reward for the last green diamond"),
        voxel::reward_field("fall_reward", &Self::fall_reward,
                            "reward for a fall off the land; not divided"),
        voxel::spirit_field<Self>(),
        voxel::limit_field(&Self::episode_seconds, "time of an episode, without its diamonds'"),
        field("diamond_seconds", &Self::diamond_seconds,
              "more time of an episode for each of its diamonds")
            .in("s")
            .within(0, 60)
            .from_reset());
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_land(), describe_things(), describe_pay(),
                          voxel::view_fields<Self>());
  }
};

constexpr auto Varied::describe() {
  return fields_of<Varied>(Settings::describe());
}

struct Params : voxel::Params {};

/// Numbers of things on land of this many cells.
GE_FN int most_diamonds(const Varied& v, int cells) {
  return to_int(floor(v.diamond_share * float(cells) + 0.5f)) + 1;
}
GE_FN int boxes_on(const Varied& v, int cells) {
  return max(v.box_count_low, to_int(floor(v.box_share * float(cells))));
}

inline constexpr voxel::Ends<Varied> kEnds[] = {
    {"side", &Varied::side_low, &Varied::side_high, "side_low is above side_high"},
    {"octaves", &Varied::octaves_low, &Varied::octaves_high, "octaves_low is above octaves_high"},
    {"relief", &Varied::relief_low, &Varied::relief_high, "relief_low is above relief_high"}};

/// What does not go together.
inline const char* problem_of(const Varied& v, const Params&) {
  const int cells = v.side_high * v.side_high;
  if (const char* const problem = voxel::problem_of(v, kEnds)) return problem;
  if (v.frequency_low > v.frequency_high) return "frequency_low is above frequency_high";
  if (v.ground_low > v.ground_high) return "ground_low is above ground_high";
  if (most_diamonds(v, cells) > kMostDiamonds)
    return "land of side_high with this diamond_share can have more diamonds than are possible";
  return boxes_on(v, cells) > kMostBoxes
             ? "land of side_high with this box_share can have more boxes than are possible"
             : nullptr;
}
inline Params resolve_settings(Settings& s) {
  const Params p{voxel::common_of(s)};
  voxel::check(s, kEnds);
  const int cells = s.side_high * s.side_high;
  const auto require = [&](int most, int room, const char* what, const char* which) {
    if (most > room)
      voxel::refuse("land with side_high=" + std::to_string(s.side_high) + " and this " + which +
                    " can have " + std::to_string(most) + " " + what + ", at most " +
                    std::to_string(room) + " are possible; lower one of them");
  };
  require(most_diamonds(s, cells), kMostDiamonds, "diamonds", "diamond_share");
  require(boxes_on(s, cells), kMostBoxes, "boxes", "box_share");
  if (const char* const problem = problem_of(s, p)) voxel::refuse(problem);
  return p;
}

}  // namespace gpu_envs::envs::collect
