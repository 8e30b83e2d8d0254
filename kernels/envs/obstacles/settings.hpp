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

/// What may differ by world. Not among them: the most obstacles, which size the tables.
struct Varied {
  // The defaults depend on the task.
  int32_t platform_count_low, gap_low, gap_high, lava_low, lava_high, height_low, height_high;
  int32_t hardest_count = 1;
  float hidden_walls = 0.5f;
  float extra_boxes = 0.5f;
  int32_t stray_boxes = 1;
  float diamonds = 0.5f;
  float exit_reward = 1.0f, all_exit_reward = 5.0f, diamond_reward = 0.5f, box_reward = 0.0f;
  float team_spirit = 0.0f;
  float episode_seconds = 60.0f, platform_seconds = 35.0f, box_seconds = 1.0f;
  static constexpr auto describe();
};

/// D has the defaults of a task: `kPlatforms`, `kGap`, `kLava` and `kHeight`.
template <class D>
struct SettingsOf : voxel::Settings, Varied {
  int32_t platform_count_high = D::kPlatforms.high;
  bool walls = true, lava = true, steps = true, gaps = true;
  SettingsOf() {
    platform_count_low = D::kPlatforms.low;
    gap_low = D::kGap.low, gap_high = D::kGap.high;
    lava_low = D::kLava.low, lava_high = D::kLava.high;
    height_low = D::kHeight.low, height_high = D::kHeight.high;
  }

  using Self = SettingsOf;
  static constexpr auto describe_course() {
    return fields(
        voxel::agents_field<Self>(),
        field("platform_count_low", &Self::platform_count_low,
              "fewest obstacles between start and exit")
            .within(1, kMostPlatforms)
            .from_reset(),
        field("platform_count_high", &Self::platform_count_high,
              "most obstacles between start and exit")
            .within(1, kMostPlatforms),
        field("gap_low", &Self::gap_low, "shortest gap in the floor")
            .in("m")
            .within(1, 4)
            .from_reset(),
        field("gap_high", &Self::gap_high, "longest gap, where the platform has room")
            .in("m")
            .within(1, 4)
            .from_reset(),
        field("lava_low", &Self::lava_low, "shortest field of lava")
            .in("m")
            .within(1, 10)
            .from_reset(),
        field("lava_high", &Self::lava_high, "longest field of lava; more than 9 never fit")
            .in("m")
            .within(1, 10)
            .from_reset(),
        field("height_low", &Self::height_low, "lowest wall or step")
            .in("m")
            .within(1, 5)
            .from_reset(),
        field("height_high", &Self::height_high, "highest wall or step")
            .in("m")
            .within(1, 5)
            .from_reset(),
        field("hardest_count", &Self::hardest_count,
              "most walls and steps of height_high and fields of lava_high in one level; 0 allows "
              "none. One too many is drawn again, up to 32 times: a level has more where nothing "
              "smaller can be drawn")
            .within(0, kMostPlatforms)
            .from_reset());
  }
  static constexpr auto describe_kinds() {
    return fields(field("walls", &Self::walls, "levels have walls to climb"),
                  field("lava", &Self::lava, "levels have fields of lava"),
                  field("steps", &Self::steps, "levels have steps up"),
                  field("gaps", &Self::gaps, "levels have gaps in the floor"),
                  field("hidden_walls", &Self::hidden_walls,
                        "probability that the walls beside all platforms cannot be seen")
                      .within(0, 1)
                      .from_reset(),
                  field("extra_boxes", &Self::extra_boxes,
                        "most spare boxes, as a share of the boxes that are needed")
                      .within(0, 1)
                      .from_reset(),
                  field("stray_boxes", &Self::stray_boxes,
                        "most spare boxes on each platform, besides extra_boxes")
                      .within(0, 3)
                      .from_reset(),
                  field("diamonds", &Self::diamonds,
                        "probability of a green diamond on each platform between start and exit")
                      .within(0, 1)
                      .from_reset());
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
        voxel::limit_field(&Self::episode_seconds, "shortest time limit of an episode"),
        field("platform_seconds", &Self::platform_seconds,
              "time per obstacle; the limit of an episode is the larger of episode_seconds and "
              "platform_seconds * obstacles + box_seconds * boxes")
            .in("s")
            .within(0, 600)
            .from_reset(),
        field("box_seconds", &Self::box_seconds,
              "time per box to carry; the limit of an episode is the larger of episode_seconds and "
              "platform_seconds * obstacles + box_seconds * boxes")
            .in("s")
            .within(0, 60)
            .from_reset());
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_course(), describe_kinds(), describe_pay(),
                          voxel::view_fields<Self>());
  }
};

/// Tasks differ in defaults alone.
struct AnyDefaults {
  static constexpr Span kPlatforms = {1, 1}, kGap = {1, 1}, kLava = {1, 1}, kHeight = {1, 1};
};
constexpr auto Varied::describe() {
  return fields_of<Varied>(SettingsOf<AnyDefaults>::describe());
}

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
  int32_t most_platforms;
  int32_t kinds[kObstacles], kind_count;  // of Kind, those that levels have
  int32_t boxes;                          // that levels may need
  int32_t room;                           // for boxes
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
inline int most_boxes(const Varied& v, const Params& p) {
  int needed = 0;
  for (int k = 0; k < p.kind_count; ++k) {
    const int kind = p.kinds[k];
    const int size = kind == kGap    ? v.gap_high
                     : kind == kLava ? min(v.lava_high, int32_t{kLongestLava})
                                     : v.height_high;
    needed = max(needed, boxes_needed(kind, size));
  }
  const int all = needed * p.most_platforms, platforms = platforms_with(p.most_platforms);
  // Rounding adds at most half a box per platform.
  return all + to_int(v.extra_boxes * float(all) + 0.5f * float(platforms)) +
         v.stray_boxes * platforms;
}

template <int kPlatforms_, int kBoxes_>
struct Tier {
  static constexpr int obstacles = kPlatforms_, platforms = platforms_with(kPlatforms_);
  static constexpr int boxes = kBoxes_;
  // Hand-laid levels have a few diamonds and marks more.
  static constexpr int parts = parts_with(kPlatforms_) + (kPlatforms_ < 4 ? 8 : 0);
  static constexpr int diamonds = kPlatforms_ < 4 ? 8 : 2 * kPlatforms_, marks = 8;
  static bool fits(const Params& p) { return p.most_platforms <= obstacles && p.boxes <= boxes; }
};
using Small = Tier<2, 24>;
using Large = Tier<kMostPlatforms, 112>;

// ---- from settings to parameters

inline constexpr voxel::Ends<Varied> kEnds[] = {
    {"gap", &Varied::gap_low, &Varied::gap_high, "gap_low is above gap_high"},
    {"lava", &Varied::lava_low, &Varied::lava_high, "lava_low is above lava_high"},
    {"height", &Varied::height_low, &Varied::height_high, "height_low is above height_high"}};

/// What does not go together.
inline const char* problem_of(const Varied& v, const Params& p) {
  if (v.platform_count_low > p.most_platforms)
    return "platform_count_low is above platform_count_high";
  if (const char* const problem = voxel::problem_of(v, kEnds)) return problem;
  return most_boxes(v, p) > p.room
             ? "obstacles of these sizes can need more boxes than the simulator has room for: give "
               "the greatest sizes where it is made"
             : nullptr;
}
template <class D>
Params resolve_settings(SettingsOf<D>& s) {
  Params p{};
  static_cast<voxel::Params&>(p) = voxel::common_of(s);
  voxel::check_ends("platform_count", s.platform_count_low, s.platform_count_high);
  voxel::check(s, kEnds);
  p.most_platforms = s.platform_count_high;
  const bool wanted[] = {s.walls, s.lava, s.steps, s.gaps};
  for (int kind = 0; kind < kObstacles; ++kind)
    if (wanted[kind]) p.kinds[p.kind_count++] = kind;
  if (p.kind_count == 0) voxel::refuse("one of walls, lava, steps and gaps must be true");
  p.boxes = most_boxes(s, p);
  if (p.boxes > Large::boxes)
    voxel::refuse("levels with platform_count_high=" + std::to_string(s.platform_count_high) +
                  " obstacles of these sizes can need " + std::to_string(p.boxes) +
                  " boxes, at most " + std::to_string(Large::boxes) +
                  " are possible; lower it, or height_high, lava_high, extra_boxes, stray_boxes");
  p.room = D::has_small && Small::fits(p) ? Small::boxes : Large::boxes;
  return p;
}

}  // namespace gpu_envs::envs::obstacles
