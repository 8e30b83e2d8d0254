// The rules of a step: bodies move (voxel/walk.hpp), then hands are used, who fell returns home,
// and lava, the pad and diamonds look who is in their cells.
#pragma once

#include "envs/obstacles/level.hpp"
#include "voxel/things.hpp"
#include "voxel/walk.hpp"

namespace gpu_envs::envs::obstacles {

/// Which agents did what in this step, by bits.
struct Deeds {
  uint32_t exit = 0, diamond = 0, box = 0;
  bool all_exit = false;
};
/// One after the other, in the order of agents, since crates and diamonds are for the first.
template <class G>
GE_FN void play(const World<Schema<G>>& w, voxel::Timer& timer, Verdict& verdict,
                Rows<typename Model<G>::Agents, voxel::Body> bodies,
                Rows<typename Model<G>::Agents, voxel::Hands> hands,
                Rows<typename Model<G>::Agents, Score> scores,
                Rows<typename Model<G>::Agents, Reward> rewards,
                Rows<typename Model<G>::Agents, Parts> parts,
                Rows<typename Model<G>::Crates, voxel::Crate> crates,
                Rows<typename Model<G>::Diamonds, voxel::Diamond> diamonds) {
  using M = Model<G>;
  const Params& p = w.params();
  const int agents = p.agent_count;
  const voxel::Yard<M> yard{w, bodies, hands, crates};
  const auto home = [&](int agent) {
    return w.template get<typename M::Agents, voxel::Home>(agent);
  };
  for (int agent = 0; agent < agents; ++agent)
    voxel::use_hands(yard, agent, [](const voxel::Cell&) { return true; });
  for (int agent = 0; agent < agents; ++agent)
    if (voxel::place_of(bodies.get(agent)).z < voxel::kAbyss)
      voxel::send_home(yard, agent, home(agent));

  Deeds deeds;
  bool all = true;
  for (int agent = 0; agent < agents; ++agent) {
    const voxel::Cell at = voxel::cell_of(bodies.get(agent));
    const uint32_t bit = 1u << agent;
    Score score = scores.get(agent);
    score.at_exit = voxel::is_marked<M>(w, at, voxel::kPadMark) ? 1 : 0;
    all &= score.at_exit != 0;
    if (score.at_exit > score.reached_exit) {
      deeds.exit |= bit;
      if (hands.get(agent).crate != voxel::kEmpty) deeds.box |= bit;
      score.reached_exit = 1;
    } else if (score.at_exit == 0 && voxel::is_marked<M>(w, at, voxel::kLavaMark)) {
      // Without a penalty: else agents learn to keep away.
      voxel::send_home(yard, agent, home(agent));
    }
    if (voxel::take_diamond<M>(w, at, diamonds) != voxel::kEmpty) deeds.diamond |= bit;
    scores.set(agent, score);
  }
  deeds.all_exit = all & (timer.solved == 0);
  if (deeds.all_exit) voxel::succeed(timer);

  const auto share = [&](float reward, uint32_t who, int agent) {
    return voxel::team_share(reward, p.team_spirit, int(who >> agent & 1u), count_bits(who),
                             agents);
  };
  for (int agent = 0; agent < agents; ++agent) {
    const Parts paid = {
        share(p.exit_reward, deeds.exit, agent), deeds.all_exit ? p.all_exit_reward : 0.0f,
        share(p.diamond_reward, deeds.diamond, agent), share(p.box_reward, deeds.box, agent)};
    parts.set(agent, paid);
    rewards.set(agent, {paid.exit + paid.all_exit + paid.diamond + paid.box});
  }
  if (voxel::pass(timer)) verdict.terminated = 1u;
}

/// 1: all agents stood on the pad at once.
template <class G>
GE_FN float objective(const W<G>& w, int) {
  return float(w.template get<voxel::Timer>().solved);
}

}  // namespace gpu_envs::envs::obstacles
