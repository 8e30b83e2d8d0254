// ObstaclesHard: two to seven obstacles, for whose heights and lengths boxes have to be carried.
#pragma once

#include "envs/obstacles/obstacles.hpp"

namespace gpu_envs::envs::obstacles_hard {

using namespace ge;

struct Defaults {
  static constexpr voxel::Span kPlatforms = {2, 7}, kGap = {2, 3}, kLava = {3, 10},
                               kHeight = {2, 4};
  static constexpr bool has_small = false;
  static constexpr const char* kDoc = "Over up to seven obstacles to the exit, as a team.";
};
using Environment = obstacles::Environment<Defaults, obstacles::Large>;
using Builds = ge::Builds<Build<"ObstaclesHard-v0", Environment>>;

}  // namespace gpu_envs::envs::obstacles_hard
