// The rules of a step: bodies move (voxel/walk.hpp), then hands are used, those who fell return
// home and pay, and each agent collects the diamond in its cell.
#pragma once

#include "envs/collect/level.hpp"
#include "voxel/pay.hpp"
#include "voxel/things.hpp"
#include "voxel/walk.hpp"

namespace gpu_envs::envs::collect {

using Yard = voxel::Yard<Game>;
using DiamondRows = Rows<Game::Diamonds, voxel::Diamond>;

/// Which agents did what in this step, by bits.
struct Deeds {
  uint32_t good = 0, bad = 0, all = 0, fall = 0;
};
GE_FN void collect_at(const Yard& yard, int agent, const DiamondRows& diamonds, Harvest& harvest,
                      voxel::Timer& timer, Deeds& deeds) {
  const voxel::Cell at = voxel::cell_of<Game>(yard.bodies.get(agent));
  const int row = voxel::take_diamond<Game>(yard.w, at, diamonds);
  if (row == voxel::kEmpty) return;
  const uint32_t bit = 1u << agent;
  if (diamonds.get(row).colour == voxel::kRed) {
    deeds.bad |= bit;
    return;
  }
  deeds.good |= bit;
  harvest.good_left = max(harvest.good_left - 1, 0);
  if (harvest.good_left > 0 || timer.solved != 0) return;
  deeds.all |= bit;
  voxel::succeed(timer);
}
GE_FN Parts pay_of(const W& w, const Deeds& deeds, int agent) {
  const Varied v = w.varied();
  const auto share = [&](float reward, uint32_t doers) GE_LAMBDA {
    return voxel::share_of(reward, v.team_spirit, doers, agent, w.params().agent_count);
  };
  return {share(v.good_reward, deeds.good), share(v.bad_reward, deeds.bad),
          share(v.all_reward, deeds.all), float(deeds.fall >> agent & 1u) * v.fall_reward};
}

/// One agent after the other: boxes and diamonds go to the first that reaches them.
GE_FN void play(const World<Game::Schema>& w, voxel::Timer& timer, Harvest& harvest,
                Verdict& verdict, voxel::BodyRows<Game> bodies, voxel::HandRows<Game> hands,
                Rows<Players, Reward> rewards, Rows<Players, Parts> parts,
                voxel::CrateRows<Game> crates, DiamondRows diamonds) {
  const Params& p = w.params();
  const Yard yard{w, bodies, hands, crates};
  for (int agent = 0; agent < p.agent_count; ++agent)
    voxel::use_hands(yard, agent, [](const voxel::Cell&) GE_LAMBDA { return true; });
  Deeds deeds;
  deeds.fall = voxel::return_fallen(yard);
  for (int agent = 0; agent < p.agent_count; ++agent)
    collect_at(yard, agent, diamonds, harvest, timer, deeds);
  for (int agent = 0; agent < p.agent_count; ++agent) {
    const Parts paid = pay_of(w, deeds, agent);
    parts.set(agent, paid);
    rewards.set(agent, {paid.good + paid.bad + paid.all + paid.fall});
  }
  if (voxel::pass(timer)) verdict.terminated = 1u;
}

/// 1: all green diamonds were collected.
GE_FN float objective(const W& w, int) {
  return float(get<voxel::Timer>(w).solved);
}

}  // namespace gpu_envs::envs::collect
