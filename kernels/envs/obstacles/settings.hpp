// The parameters (SettingsOf a task's defaults), the values that the rules read (Params), and the
// room that worlds need.
#pragma once

#include "engine/environment.hpp"
#include "voxel/settings.hpp"

namespace gpu_envs::envs::obstacles {

using namespace ge;
namespace voxel = ge::voxel;
using voxel::Span;

inline constexpr int kMostPlatforms = 7;
/// A lava platform is at most 11 long, and has a cell of floor at either end.
inline constexpr int kLongestLava = 9;

/// D has the defaults of a task: `kPlatforms`, `kGap`, `kLava` and `kHeight`.
template <class D>
struct SettingsOf : voxel::Settings {
  int32_t platform_count_low = D::kPlatforms.low, platform_count_high = D::kPlatforms.high;
  int32_t gap_low = D::kGap.low, gap_high = D::kGap.high;
  int32_t lava_low = D::kLava.low, lava_high = D::kLava.high;
  int32_t height_low = D::kHeight.low, height_high = D::kHeight.high;
  int32_t hardest_count = 1;
  bool walls = true, lava = true, steps = true, gaps = true;
  float hidden_walls = 0.5f;
  float extra_boxes = 0.5f;
  int32_t stray_boxes = 1;
  float diamonds = 0.5f;
  float exit_reward = 1.0f, all_exit_reward = 5.0f, diamond_reward = 0.5f, box_reward = 0.0f;
  float platform_seconds = 35.0f, box_seconds = 1.0f;

  using Self = SettingsOf;
  static constexpr auto describe_course() {
    return fields(
        voxel::agents_field<Self>(),
        field("platform_count_low", &Self::platform_count_low,
              "fewest obstacles between start and exit")
            .within(1, kMostPlatforms),
        field("platform_count_high", &Self::platform_count_high,
              "most obstacles between start and exit")
            .within(1, kMostPlatforms),
        field("gap_low", &Self::gap_low, "shortest gap in the floor").in("m").within(1, 4),
        field("gap_high", &Self::gap_high, "longest gap, where the platform has room")
            .in("m")
            .within(1, 4),
        field("lava_low", &Self::lava_low, "shortest field of lava").in("m").within(1, 10),
        field("lava_high", &Self::lava_high, "longest field of lava; more than 9 never fit")
            .in("m")
            .within(1, 10),
        field("height_low", &Self::height_low, "lowest wall or step").in("m").within(1, 5),
        field("height_high", &Self::height_high, "highest wall or step").in("m").within(1, 5),
        field("hardest_count", &Self::hardest_count,
              "most walls and steps of height_high and fields of lava_high in one level; 0 allows "
              "none. One too many is drawn again, up to 32 times: a level has more where nothing "
              "smaller can be drawn")
            .within(0, kMostPlatforms));
  }
  static constexpr auto describe_kinds() {
    return fields(field("walls", &Self::walls, "levels have walls to climb"),
                  field("lava", &Self::lava, "levels have fields of lava"),
                  field("steps", &Self::steps, "levels have steps up"),
                  field("gaps", &Self::gaps, "levels have gaps in the floor"),
                  field("hidden_walls", &Self::hidden_walls,
                        "probability that the walls beside all platforms cannot be seen")
                      .within(0, 1),
                  field("extra_boxes", &Self::extra_boxes,
                        "most spare boxes, as a share of the boxes that are needed")
                      .within(0, 1),
                  field("stray_boxes", &Self::stray_boxes,
                        "most spare boxes on each platform, besides extra_boxes")
                      .within(0, 3),
                  field("diamonds", &Self::diamonds,
                        "probability of a green diamond on each platform between start and exit")
                      .within(0, 1));
  }
  static constexpr auto describe_pay() {
    return fields(
        voxel::reward_field("exit_reward", &Self::exit_reward,
                            "reward for an agent's first step on the exit's pad"),
        voxel::reward_field("all_exit_reward", &Self::all_exit_reward,
                            "reward for every agent, when all stand on the pad at once"),
        voxel::reward_field("diamond_reward", &Self::diamond_reward, "reward for a diamond"),
        voxel::reward_field("box_reward", &Self::box_reward,
                            "reward for a box in hands at the first step on the pad"),
        voxel::spirit_field<Self>(),
        field("episode_seconds", &Self::episode_seconds, "shortest time limit of an episode")
            .in("s")
            .within(1, 3600),
        field("platform_seconds", &Self::platform_seconds,
              "time per obstacle; the limit of an episode is the larger of episode_seconds and "
              "platform_seconds * obstacles + box_seconds * boxes")
            .in("s")
            .within(0, 600),
        field("box_seconds", &Self::box_seconds,
              "time per box to carry; the limit of an episode is the larger of episode_seconds and "
              "platform_seconds * obstacles + box_seconds * boxes")
            .in("s")
            .within(0, 60));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_course(), describe_kinds(), describe_pay(),
                          voxel::view_fields<Self>());
  }
};

enum Kind : int32_t {
  kWall,
  kLava,
  kStepUp,
  kGap,
  kObstacles,
  kStart = kObstacles,
  kExit,
  kCorner
};

struct Params : voxel::Params {
  Span platforms, gap, lava, height;
  int32_t hardest_count;
  int32_t kinds[kObstacles], kind_count;  // of Kind, those that levels have
  float hidden_walls, extra_boxes, diamonds;
  int32_t stray_boxes;
  float exit_reward, all_exit_reward, diamond_reward, box_reward;
  float platform_seconds, box_seconds;
};

// ---- boxes that an obstacle needs

GE_FN constexpr int stairs(int steps) {
  return steps > 0 ? steps * (steps + 1) / 2 : 0;
}
/// `size`: height of a wall or step, length of lava or of a gap.
GE_FN constexpr int boxes_needed(int kind, int size) {
  if (kind == kWall || kind == kStepUp) return stairs(size - 1);
  if (kind == kLava) return size > 2 ? size - 1 : 1;
  return kind == kGap ? stairs(size - 2) : 0;
}

// ---- room

/// Platforms of a level: start, exit, and for each obstacle one, perhaps with a corner.
constexpr int platforms_with(int obstacles) {
  return 2 + 2 * obstacles;
}
/// Boxes of start and exit, of obstacles and their corners, before any are merged.
constexpr int parts_with(int obstacles) {
  return 8 + 8 * obstacles;
}
inline int most_boxes(const Params& p) {
  int needed = 0;
  for (int k = 0; k < p.kind_count; ++k) {
    const int kind = p.kinds[k];
    const int size = kind == kGap    ? p.gap.high
                     : kind == kLava ? min(p.lava.high, int32_t{kLongestLava})
                                     : p.height.high;
    needed = max(needed, boxes_needed(kind, size));
  }
  const int all = needed * p.platforms.high, platforms = platforms_with(p.platforms.high);
  // Rounding adds at most half a box per platform.
  return all + to_int(p.extra_boxes * float(all) + 0.5f * float(platforms)) +
         p.stray_boxes * platforms;
}

template <int kPlatforms_, int kBoxes_>
struct Tier {
  static constexpr int obstacles = kPlatforms_, platforms = platforms_with(kPlatforms_);
  static constexpr int boxes = kBoxes_;
  // Hand-laid levels have a few diamonds and marks more.
  static constexpr int parts = parts_with(kPlatforms_) + (kPlatforms_ < 4 ? 8 : 0);
  static constexpr int diamonds = kPlatforms_ < 4 ? 8 : 2 * kPlatforms_, marks = 8;
  static bool fits(const Params& p) {
    return p.platforms.high <= obstacles && most_boxes(p) <= boxes;
  }
};
using Small = Tier<2, 24>;
using Large = Tier<kMostPlatforms, 112>;

// ---- from settings to parameters

/// From the settings of any task.
inline Params resolve_settings(auto& s) {
  Params p{};
  static_cast<voxel::Params&>(p) = voxel::common_of(s);
  p.platforms = voxel::span("platform_count", s.platform_count_low, s.platform_count_high);
  p.gap = voxel::span("gap", s.gap_low, s.gap_high);
  p.lava = voxel::span("lava", s.lava_low, s.lava_high);
  p.height = voxel::span("height", s.height_low, s.height_high);
  p.hardest_count = s.hardest_count;
  const bool wanted[] = {s.walls, s.lava, s.steps, s.gaps};
  for (int kind = 0; kind < kObstacles; ++kind)
    if (wanted[kind]) p.kinds[p.kind_count++] = kind;
  if (p.kind_count == 0) voxel::refuse("one of walls, lava, steps and gaps must be true");
  p.hidden_walls = s.hidden_walls, p.extra_boxes = s.extra_boxes, p.diamonds = s.diamonds;
  p.stray_boxes = s.stray_boxes;
  p.exit_reward = s.exit_reward, p.all_exit_reward = s.all_exit_reward;
  p.diamond_reward = s.diamond_reward, p.box_reward = s.box_reward;
  p.platform_seconds = s.platform_seconds, p.box_seconds = s.box_seconds;
  if (most_boxes(p) > Large::boxes)
    voxel::refuse("levels with platform_count_high=" + std::to_string(s.platform_count_high) +
                  " obstacles of these sizes can need " + std::to_string(most_boxes(p)) +
                  " boxes, at most " + std::to_string(Large::boxes) +
                  " are possible; lower it, or height_high, lava_high, extra_boxes, stray_boxes");
  return p;
}

}  // namespace gpu_envs::envs::obstacles
