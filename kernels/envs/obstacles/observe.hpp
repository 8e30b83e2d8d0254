// The state row, for critics. The pictures that agents see: voxel::DrawSights.
#pragma once

#include "envs/obstacles/rules.hpp"
#include "voxel/state.hpp"

namespace gpu_envs::envs::obstacles {

/// What a course adds to an agent's part of the state.
template <class G>
struct OwnState {
  static constexpr int columns = 2, numbers = 0;
  static constexpr const char* doc = ", 1 on the pad, 1 after its first step there";
  static GE_FN void show(const World<typename G::Schema>& w, voxel::Pen& pen, int agent) {
    const Score score = get<typename G::Agents, Score>(w, agent);
    pen.put(float(score.at_exit));
    pen.put(float(score.reached_exit));
  }
};

}  // namespace gpu_envs::envs::obstacles
