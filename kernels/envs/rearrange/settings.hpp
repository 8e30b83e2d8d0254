// The parameters (Settings), the values that the rules read (Params), and levels by hand.
#pragma once

#include "engine/environment.hpp"
#include "voxel/layout.hpp"

namespace gpu_envs::envs::rearrange {

using namespace ge;
namespace voxel = ge::voxel;
using voxel::Cell;
using voxel::Span;

/// Most objects of an arrangement.
inline constexpr int kMostObjects = 9;
/// How far objects of an arrangement are from its middle, and where one can put them down [cells].
inline constexpr int kReach = 1, kWorkReach = 2, kHighest = 2;
/// Middles of the model and of the working area, which are on pedestals.
GE_FN constexpr Cell model_middle() {
  return {5, 8, 2};
}
GE_FN constexpr Cell work_middle() {
  return {13, 8, 2};
}
/// The room with its walls [cells].
inline constexpr int kLength = 19, kWidth = 14;

/// Whether a cell's column is at most `reach` from another's, along each axis.
GE_FN bool is_near(const Cell& a, const Cell& b, int reach) {
  return (a.x >= b.x - reach) & (a.x <= b.x + reach) & (a.y >= b.y - reach) & (a.y <= b.y + reach);
}

/// What may differ by world.
struct Varied {
  int32_t object_count_low = 2, object_count_high = 7;
  int32_t misplaced_low = 1, misplaced_high = kMostObjects;
  float hidden_walls = 0.5f;
  float match_reward = 1.0f, all_reward = 10.0f, lift_reward = 0.0f;
  float team_spirit = 0.0f;
  float episode_seconds = 60.0f;
  static constexpr auto describe();
};

/// Levels by hand are laid between the walls.
struct Settings : voxel::Settings, Varied {
  int32_t wall_low = 4, wall_high = 6;

  using Self = Settings;
  static constexpr auto describe() {
    return std::tuple_cat(
        fields(
            voxel::agents_field<Self>(),
            field("object_count_low", &Self::object_count_low, "fewest objects of an arrangement")
                .within(2, kMostObjects)
                .from_reset(),
            field("object_count_high", &Self::object_count_high, "most objects of an arrangement")
                .within(2, kMostObjects)
                .from_reset(),
            field("misplaced_low", &Self::misplaced_low,
                  "fewest objects of the copy that are out of place at the start")
                .within(1, kMostObjects)
                .from_reset(),
            field("misplaced_high", &Self::misplaced_high,
                  "most objects of the copy that are out of place at the start; no more than "
                  "there are")
                .within(1, kMostObjects)
                .from_reset(),
            field("wall_low", &Self::wall_low,
                  "lowest walls of a level, the floor's metre included")
                .in("m")
                .within(3, 10),
            field("wall_high", &Self::wall_high,
                  "highest walls of a level, the floor's metre included")
                .in("m")
                .within(3, 10),
            field("hidden_walls", &Self::hidden_walls, "probability that the walls cannot be seen")
                .within(0, 1)
                .from_reset()),
        fields(
            voxel::reward_field("match_reward", &Self::match_reward,
                                "reward when more objects are in place than ever before"),
            voxel::reward_field("all_reward", &Self::all_reward,
                                "reward when all objects are in place"),
            voxel::reward_field("lift_reward", &Self::lift_reward,
                                "reward for the first lift of an object, if it was out of place"),
            voxel::spirit_field<Self>(),
            voxel::limit_field(&Self::episode_seconds, "time of an episode")),
        voxel::view_fields<Self>());
  }
};

constexpr auto Varied::describe() {
  return fields_of<Varied>(Settings::describe());
}

struct Params : voxel::Params {
  Span wall;
};

inline constexpr voxel::Ends<Varied> kEnds[] = {
    {"object_count", &Varied::object_count_low, &Varied::object_count_high,
     "object_count_low is above object_count_high"},
    {"misplaced", &Varied::misplaced_low, &Varied::misplaced_high,
     "misplaced_low is above misplaced_high"}};

inline const char* problem_of(const Varied& v, const Params&) {
  return voxel::problem_of(v, kEnds);
}
inline Params resolve_settings(Settings& s) {
  voxel::check(s, kEnds);
  voxel::check_ends("wall", s.wall_low, s.wall_high);
  return {voxel::common_of(s), {s.wall_low, s.wall_high}};
}

}  // namespace gpu_envs::envs::rearrange
