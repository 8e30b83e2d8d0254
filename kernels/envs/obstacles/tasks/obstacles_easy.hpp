// ObstaclesEasy: one or two low obstacles between start and exit.
#pragma once

#include "envs/obstacles/obstacles.hpp"

namespace gpu_envs::envs::obstacles_easy {

using namespace ge;

struct Defaults {
  static constexpr voxel::Span kPlatforms = {1, 2}, kGap = {1, 2}, kLava = {1, 4}, kHeight = {1, 3};
  static constexpr bool has_small = true;  // a build with little room
  static constexpr const char* kDoc = "Over one or two obstacles to the exit, as a team.";
};
template <class T>
using Environment = obstacles::Environment<Defaults, T>;
using Builds = ge::Builds<
    Build<"ObstaclesEasy-v0", Environment<obstacles::Small>, Environment<obstacles::Large>>>;

}  // namespace gpu_envs::envs::obstacles_easy
