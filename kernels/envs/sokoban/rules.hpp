// The rules of a step: bodies move (voxel/walk.hpp), then hands push. Nothing is pushed by walking.
#pragma once

#include "envs/sokoban/room.hpp"
#include "voxel/pay.hpp"
#include "voxel/walk.hpp"

namespace gpu_envs::envs::sokoban {

using Yard = voxel::Yard<Game>;

/// The cells of all boxes within the room, by bits, as they stand in this step.
GE_FN Cells boxes_of(const Yard& yard) {
  return cells_of_boxes(yard.crate_count(),
                        [&](int row) GE_LAMBDA { return yard.crates.get(row); });
}
/// Which agents did what in this step, by bits.
struct Deeds {
  uint32_t goal = 0, leave = 0, all = 0;
};
GE_FN bool is_free(const Yard& yard, const Plan& plan, const Cell& at) {
  const int cell = board_of_cell(at);
  return cell >= 0 && !has(plan.walls, cell) && yard.crate_in(at) == voxel::kEmpty &&
         !yard.has_other(at, voxel::kEmpty);
}
/// Pushes the box at the spot by a cell, away from the agent, who stands beside it.
GE_FN void push(const Yard& yard, const Plan& plan, int agent, Deeds& deeds) {
  if (get<Players, voxel::Act>(yard.w, agent).interact == 0) return;
  const voxel::Body body = yard.bodies.get(agent);
  const Cell from = voxel::cell_of<Game>(body);
  const Cell at = voxel::cell_of<Game>(voxel::spot_of(voxel::eyes_of(body)));
  const Cell way = {at.x - from.x, at.y - from.y, at.z - from.z};
  const int row = yard.crate_in(at);
  const bool beside = way.x * way.x + way.y * way.y == 1 && way.z == 0;
  const Cell to = {at.x + way.x, at.y + way.y, at.z};
  if (row == voxel::kEmpty || !beside || !is_free(yard, plan, to)) return;
  voxel::Crate crate = yard.crates.get(row);
  voxel::put(crate.cell, to);
  yard.crates.set(row, crate);
  const int left = board_of_cell(at);
  if (left >= 0 && has(plan.goals, left)) deeds.leave |= 1u << agent;
  if (has(plan.goals, board_of_cell(to))) deeds.goal |= 1u << agent;
}

/// One agent after the other: a box goes where the first one pushes it.
GE_FN void play(const World<Game::Schema>& w, voxel::Timer& timer, Verdict& verdict,
                const Plan& plan, voxel::BodyRows<Game> bodies, voxel::HandRows<Game> hands,
                Rows<Players, Reward> rewards, Rows<Players, Parts> parts,
                voxel::CrateRows<Game> crates) {
  const int agents = w.params().agent_count;
  const Varied v = w.varied();
  const Yard yard{w, bodies, hands, crates};
  Deeds deeds;
  for (int agent = 0; agent < agents; ++agent) {
    push(yard, plan, agent, deeds);
    if (timer.solved == 0 && (plan.goals & ~boxes_of(yard)) == 0) {
      deeds.all |= 1u << agent;
      voxel::succeed(timer);
    }
  }
  voxel::return_fallen(yard);
  for (int agent = 0; agent < agents; ++agent) {
    const auto share = [&](float reward, uint32_t doers) GE_LAMBDA {
      return voxel::share_of(reward, v.team_spirit, doers, agent, agents);
    };
    const Parts paid = {share(v.goal_reward, deeds.goal), share(v.leave_reward, deeds.leave),
                        share(v.all_reward, deeds.all)};
    parts.set(agent, paid);
    rewards.set(agent, {paid.goal + paid.leave + paid.all});
  }
  if (voxel::pass(timer)) verdict.terminated = 1u;
}

/// 1: all boxes were on goals.
GE_FN float objective(const W& w, int) {
  return float(get<voxel::Timer>(w).solved);
}

}  // namespace gpu_envs::envs::sokoban
