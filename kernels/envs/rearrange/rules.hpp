// The rules of a step: bodies move (voxel/walk.hpp), then hands are used. An object that is put
// down in the working area is in place where the model has one of its shape and colour.
#pragma once

#include "envs/rearrange/level.hpp"
#include "voxel/pay.hpp"
#include "voxel/walk.hpp"

namespace gpu_envs::envs::rearrange {

using Yard = voxel::Yard<Game>;

GE_FN Cell operator-(const Cell& a, const Cell& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
/// Whether the model has such an object there, from the middle on. Twins may stand for each other.
GE_FN bool model_has(const Yard& yard, const voxel::Look& look, const Cell& at) {
  bool found = false;
  for (int row = 0; row < yard.crate_count(); ++row) {
    const voxel::Look other = get<Game::Crates, voxel::Look>(yard.w, row);
    found |= (other.fixed != 0) & (other.form == look.form) & (other.colour == look.colour) &
             (voxel::cell(yard.crates.get(row).cell) - model_middle() == at);
  }
  return found;
}
/// Whether an object lies where it belongs, or did before it was lifted.
GE_FN bool belongs(const Yard& yard, int row) {
  return model_has(yard, get<Game::Crates, voxel::Look>(yard.w, row),
                   voxel::cell(yard.crates.get(row).cell) - work_middle());
}
GE_FN int objects_in_place(const Yard& yard) {
  int count = 0;
  for (int row = 0; row < yard.crate_count(); ++row) {
    const bool is_fixed = get<Game::Crates, voxel::Look>(yard.w, row).fixed != 0;
    if (is_fixed | (yard.crates.get(row).carrier != voxel::kEmpty)) continue;
    count += belongs(yard, row) ? 1 : 0;
  }
  return count;
}
/// Objects that are in place at the start are not paid for.
GE_FN void begin_matches(const W& w, Matches& matches, voxel::BodyRows<Game> bodies,
                         voxel::HandRows<Game> hands, voxel::CrateRows<Game> crates) {
  const Yard yard{w, bodies, hands, crates};
  matches = {yard.crate_count() / 2, objects_in_place(yard), 0};
}
/// Which agents did what in this step, by bits.
struct Deeds {
  uint32_t match = 0, all = 0, lift = 0;
};
GE_FN void work(const Yard& yard, int agent, Matches& matches, voxel::Timer& timer, Deeds& deeds) {
  const voxel::Handled handled = voxel::use_hands(
      yard, agent, [](const Cell& at) GE_LAMBDA { return is_near(at, work_middle(), kWorkReach); });
  if ((handled.picked == voxel::kEmpty) & (handled.placed == voxel::kEmpty)) return;
  if (handled.picked != voxel::kEmpty) {
    const int32_t bit = 1 << handled.picked;
    if ((matches.lifted & bit) == 0 && !belongs(yard, handled.picked)) deeds.lift |= 1u << agent;
    matches.lifted |= bit;
  }
  const int in_place = objects_in_place(yard);
  if (in_place > matches.best) {
    deeds.match |= 1u << agent;
    matches.best = in_place;
  }
  if (in_place >= matches.objects && timer.solved == 0) {
    deeds.all |= 1u << agent;
    voxel::succeed(timer);
  }
}

/// One agent after the other: objects go to the first that reaches for them.
GE_FN void play(const World<Game::Schema>& w, voxel::Timer& timer, Matches& matches,
                Verdict& verdict, voxel::BodyRows<Game> bodies, voxel::HandRows<Game> hands,
                Rows<Players, Reward> rewards, Rows<Players, Parts> parts,
                voxel::CrateRows<Game> crates) {
  const Params& p = w.params();
  const Varied v = w.varied();
  const Yard yard{w, bodies, hands, crates};
  Deeds deeds;
  for (int agent = 0; agent < p.agent_count; ++agent) work(yard, agent, matches, timer, deeds);
  voxel::return_fallen(yard);
  for (int agent = 0; agent < p.agent_count; ++agent) {
    const auto share = [&](float reward, uint32_t doers) GE_LAMBDA {
      return voxel::share_of(reward, v.team_spirit, doers, agent, p.agent_count);
    };
    const Parts paid = {share(v.match_reward, deeds.match), share(v.all_reward, deeds.all),
                        share(v.lift_reward, deeds.lift)};
    parts.set(agent, paid);
    rewards.set(agent, {paid.match + paid.all + paid.lift});
  }
  if (voxel::pass(timer)) verdict.terminated = 1u;
}

/// 1: all objects were in place.
GE_FN float objective(const W& w, int) {
  return float(get<voxel::Timer>(w).solved);
}

}  // namespace gpu_envs::envs::rearrange
