// The parameters of Sokoban-v0 (Settings) and the values that its rules read (Params).
#pragma once

#include "envs/sokoban/levels.hpp"
#include "voxel/settings.hpp"

namespace gpu_envs::envs::sokoban {

namespace voxel = ge::voxel;

/// What may differ by world.
struct Varied {
  int32_t pushes_low = 0, pushes_high = kMostPushes;
  float goal_reward = 1.0f, leave_reward = -1.0f, all_reward = 10.0f;
  float team_spirit = 0.0f;
  float episode_seconds = 80.0f;
  const char* problem() const { return level_problem(*this); }
  static constexpr auto describe();
};
struct Settings : voxel::Settings, LevelSettings, Varied {
  using Self = Settings;
  static constexpr auto describe() {
    return std::tuple_cat(fields(voxel::agents_field<Self>()), level_fields<Self>(),
                          fields(voxel::reward_field("goal_reward", &Self::goal_reward,
                                                     "reward for a box that comes onto a goal"),
                                 voxel::reward_field("leave_reward", &Self::leave_reward,
                                                     "reward for a box that leaves its goal"),
                                 voxel::reward_field("all_reward", &Self::all_reward,
                                                     "reward when all boxes are on goals"),
                                 voxel::spirit_field<Self>(),
                                 voxel::limit_field(&Self::episode_seconds, "time of an episode")),
                          voxel::view_fields<Self>());
  }
};
constexpr auto Varied::describe() {
  return fields_of<Varied>(Settings::describe());
}
struct Params : voxel::Params {
  int32_t symmetries;
};
inline Params resolve_settings(Settings& s) {
  return {voxel::common_of(s), s.symmetries};
}

}  // namespace gpu_envs::envs::sokoban
