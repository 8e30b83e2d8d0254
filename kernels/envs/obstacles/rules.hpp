// The rules of a step: bodies move (voxel/walk.hpp), then hands are used, those who fell return
// home, and each agent's cell is looked up: the pad, lava, diamonds.
#pragma once

#include "envs/obstacles/level.hpp"
#include "voxel/pay.hpp"
#include "voxel/things.hpp"
#include "voxel/walk.hpp"

namespace gpu_envs::envs::obstacles {

/// Which agents did what in this step, by bits.
struct Deeds {
  uint32_t exit = 0, diamond = 0, box = 0;
  bool all_exit = false;
};

/// The rules of game G.
template <class G>
struct Rules {
  using W = World<typename G::Schema>;
  using Agents = typename G::Agents;
  using Yard = voxel::Yard<G>;
  using Scores = Rows<Agents, Score>;
  using DiamondRows = Rows<typename G::Diamonds, voxel::Diamond>;

  /// Applies the marks and the diamond of an agent's cell; returns its new score.
  static GE_FN Score enter_cell(const Yard& yard, int agent, Score score,
                                const DiamondRows& diamonds, Deeds& deeds) {
    const voxel::Cell at = voxel::cell_of<G>(yard.bodies.get(agent));
    const uint32_t bit = 1u << agent;
    score.at_exit = voxel::is_marked<G>(yard.w, at, voxel::kPadMark) ? 1 : 0;
    if (score.at_exit > score.reached_exit) {
      deeds.exit |= bit;
      if (yard.hands.get(agent).crate != voxel::kEmpty) deeds.box |= bit;
      score.reached_exit = 1;
    } else if (score.at_exit == 0 && voxel::is_marked<G>(yard.w, at, voxel::kLavaMark)) {
      voxel::send_home(yard, agent);  // without a penalty, or agents learn to keep away
    }
    if (voxel::take_diamond<G>(yard.w, at, diamonds) != voxel::kEmpty) deeds.diamond |= bit;
    return score;
  }
  static GE_FN Parts pay_of(const W& w, const Deeds& deeds, int agent) {
    const Varied v = w.varied();
    const auto share = [&](float reward, uint32_t doers) {
      return voxel::share_of(reward, v.team_spirit, doers, agent, w.params().agent_count);
    };
    return {share(v.exit_reward, deeds.exit), deeds.all_exit ? v.all_exit_reward : 0.0f,
            share(v.diamond_reward, deeds.diamond), share(v.box_reward, deeds.box)};
  }

  /// One agent after the other: crates and diamonds go to the first that reaches for them.
  static GE_FN void play(const World<typename G::Schema>& w, voxel::Timer& timer, Verdict& verdict,
                         voxel::BodyRows<G> bodies, voxel::HandRows<G> hands, Scores scores,
                         Rows<Agents, Reward> rewards, Rows<Agents, Parts> parts,
                         voxel::CrateRows<G> crates, DiamondRows diamonds) {
    const Params& p = w.params();
    const Yard yard{w, bodies, hands, crates};
    for (int agent = 0; agent < p.agent_count; ++agent)
      voxel::use_hands(yard, agent, [](const voxel::Cell&) { return true; });
    voxel::return_fallen(yard);

    Deeds deeds;
    bool all = true;
    for (int agent = 0; agent < p.agent_count; ++agent) {
      const Score score = enter_cell(yard, agent, scores.get(agent), diamonds, deeds);
      all &= score.at_exit != 0;
      scores.set(agent, score);
    }
    deeds.all_exit = all & (timer.solved == 0);
    if (deeds.all_exit) voxel::succeed(timer);

    for (int agent = 0; agent < p.agent_count; ++agent) {
      const Parts paid = pay_of(w, deeds, agent);
      parts.set(agent, paid);
      rewards.set(agent, {paid.exit + paid.all_exit + paid.diamond + paid.box});
    }
    if (voxel::pass(timer)) verdict.terminated = 1u;
  }

  /// 1: all agents stood on the pad at once.
  static GE_FN float objective(const W& w, int) { return float(get<voxel::Timer>(w).solved); }
};

}  // namespace gpu_envs::envs::obstacles
