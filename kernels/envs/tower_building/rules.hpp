// The rules of a step: bodies move (voxel/walk.hpp), then hands are used. Boxes can be put down in
// the zone alone; what they are worth there grows with their height.
#pragma once

#include "envs/tower_building/level.hpp"
#include "voxel/pay.hpp"
#include "voxel/things.hpp"
#include "voxel/walk.hpp"

namespace gpu_envs::envs::tower_building {

using Yard = voxel::Yard<Game>;

/// How high a cell of the zone is, 1 on its floor; 0 outside.
GE_FN int32_t height_in_zone(const W& w, const voxel::Cell& at) {
  const int zone = voxel::zone_at<Game>(w, at);
  if (zone == voxel::kEmpty) return 0;
  return max(at.z - get<Game::Marks, voxel::Mark>(w, zone).low[2] + 1, int32_t{0});
}
/// Twentieths that a box is worth: 0.05 h + min(0.05 * 2^h, 20). Whole numbers, so that their sum
/// has no order.
GE_FN int32_t worth_at(int32_t height) {
  constexpr int32_t kMost = 400, kHighest = 9;
  if (height <= 0) return 0;
  return height + min(int32_t{1} << min(height, kHighest), kMost);
}
GE_FN int32_t worth_of_zone(const Yard& yard) {
  int32_t sum = 0;
  for (int row = 0; row < yard.crate_count(); ++row) {
    const voxel::Crate crate = yard.crates.get(row);
    if (crate.carrier == voxel::kEmpty)
      sum += worth_at(height_in_zone(yard.w, voxel::cell(crate.cell)));
  }
  return sum;
}
/// What lies there at the start is not paid for.
GE_FN void begin_tower(const W& w, Tower& tower, voxel::BodyRows<Game> bodies,
                       voxel::HandRows<Game> hands, voxel::CrateRows<Game> crates) {
  tower = {worth_of_zone({w, bodies, hands, crates}), 0};
}

/// Which agents did what in this step, by bits, and what the zone has gained by all of them.
struct Deeds {
  uint32_t pick = 0, visit = 0;
  int32_t gain = 0;
};
/// Uses an agent's hands; returns what the zone has gained.
GE_FN int32_t build(const Yard& yard, int agent, Tower& tower, Deeds& deeds) {
  const W& w = yard.w;
  const voxel::Handled handled =
      voxel::use_hands(yard, agent, [&](const voxel::Cell& at) GE_LAMBDA {
        return voxel::zone_at<Game>(w, at) != voxel::kEmpty;
      });
  if (handled.picked != voxel::kEmpty) deeds.pick |= 1u << agent;
  if (handled.placed == voxel::kEmpty) return 0;
  const voxel::Cell at = voxel::cell(yard.crates.get(handled.placed).cell);
  tower.highest = max(tower.highest, height_in_zone(w, at));
  const int32_t before = tower.worth;
  tower.worth = worth_of_zone(yard);
  return tower.worth - before;
}
GE_FN Parts pay_of(const W& w, const Deeds& deeds, int agent, int32_t gain) {
  constexpr float kUnit = 0.05f;
  const Varied v = w.varied();
  const int agents = w.params().agent_count;
  return {float(deeds.pick >> agent & 1u) * v.pick_reward,
          voxel::share_of(v.visit_reward, v.team_spirit, deeds.visit, agent, agents),
          voxel::team_share(v.tower_reward * kUnit, v.team_spirit, gain, deeds.gain, agents)};
}

/// One agent after the other: boxes go to the first that reaches for them.
GE_FN void play(const World<Game::Schema>& w, voxel::Timer& timer, Tower& tower, Verdict& verdict,
                voxel::BodyRows<Game> bodies, voxel::HandRows<Game> hands,
                Rows<Players, Score> scores, Rows<Players, Reward> rewards,
                Rows<Players, Parts> parts, voxel::CrateRows<Game> crates) {
  const Params& p = w.params();
  const Yard yard{w, bodies, hands, crates};
  Deeds deeds;
  for (int agent = 0; agent < p.agent_count; ++agent) {
    const int32_t gain = build(yard, agent, tower, deeds);
    deeds.gain += gain;
    parts.set(agent, {0.0f, 0.0f, float(gain)});  // until all have built
  }
  voxel::return_fallen(yard);
  for (int agent = 0; agent < p.agent_count; ++agent) {
    const Score before = scores.get(agent);
    const bool visits =
        (hands.get(agent).crate != voxel::kEmpty) &&
        voxel::zone_at<Game>(w, voxel::cell_of<Game>(bodies.get(agent))) != voxel::kEmpty;
    const uint32_t bit = 1u << agent;
    if (before.picked != 0) deeds.pick &= ~bit;
    if (visits && before.visited == 0) deeds.visit |= bit;
    scores.set(agent, {before.picked | int32_t(deeds.pick >> agent & 1u),
                       before.visited | int32_t(visits)});
  }
  for (int agent = 0; agent < p.agent_count; ++agent) {
    const Parts paid = pay_of(w, deeds, agent, to_int(parts.get(agent).tower));
    parts.set(agent, paid);
    rewards.set(agent, {paid.pick + paid.visit + paid.tower});
  }
  if (voxel::pass(timer)) verdict.terminated = 1u;
}

/// The greatest height at which a box was put down.
GE_FN float objective(const W& w, int) {
  return float(get<Tower>(w).highest);
}

}  // namespace gpu_envs::envs::tower_building
