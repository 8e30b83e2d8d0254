// The state row, for critics. The pictures that agents see: voxel::DrawSights.
#pragma once

#include "envs/obstacles/rules.hpp"
#include "voxel/state.hpp"

namespace gpu_envs::envs::obstacles {

// ---- the world's row

inline constexpr int kTimeColumns = 2, kAgentColumns = voxel::kBodyColumns + 2;

/// The state row of game G.
template <class G>
struct Views {
  using W = World<typename G::Schema>;

  struct State : WideRow<float> {
    static GE_FN constexpr int elements_with(int agents) {
      return kTimeColumns + agents * kAgentColumns + voxel::thing_elements<G>();
    }
    static constexpr int capacity = elements_with(kMostAgents);
    static GE_FN int elements(const Params& p) { return elements_with(p.agent_count); }
    static std::vector<FieldInfo> describe(const Params& p) {
      const std::string agents =
          std::string(voxel::kBodyDoc) + ", 1 on the pad, 1 after its first step there";
      std::vector<FieldInfo> all = {
          wide_field("time", {kTimeColumns}, "share of the episode that is left, 1: solved", 0, 1),
          voxel::table_field("agents", p.agent_count, kAgentColumns, agents.c_str())};
      voxel::append_thing_fields<G>(all);
      return all;
    }
  };

  static GE_FN void show_state(const W& w, FloatRow& row, const Squad& squad) {
    const int agents = w.params().agent_count;
    if (squad.lane() == 0) {
      const voxel::Timer timer = get<voxel::Timer>(w);
      row.set(0, voxel::time_left(timer));
      row.set(1, float(timer.solved));
    }
    for (int k = squad.lane(); k < agents; k += squad.size()) {
      const Score score = get<typename G::Agents, Score>(w, k);
      voxel::Pen pen{row, kTimeColumns + k * kAgentColumns};
      voxel::show_body<G>(w, pen, k);
      pen.put(float(score.at_exit));
      pen.put(float(score.reached_exit));
    }
    voxel::show_things<G>(w, row, squad, kTimeColumns + agents * kAgentColumns);
  }
};

}  // namespace gpu_envs::envs::obstacles
