// What a course adds to the terminal text of its world. Host only.
#pragma once

#include "envs/obstacles/observe.hpp"
#include "voxel/text.hpp"

namespace gpu_envs::envs::obstacles {

template <class G>
struct Notes {
  using W = World<typename G::Schema>;
  static constexpr const char* legend = "~ lava, E the exit's pad, ";
  static std::string note(const W& w, int agent) {
    return get<typename G::Agents, Score>(w, agent).at_exit != 0 ? ", on the pad" : "";
  }
  static std::string summary(const W&) { return ""; }
};

}  // namespace gpu_envs::envs::obstacles
