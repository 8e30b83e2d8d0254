// Gather: a task of the maze family. Walkers are paid for each cell that they are the first to
// enter, by its worth.
#pragma once

#include "../maze.hpp"

namespace gpu_envs::envs::gather {

using namespace ge;

inline constexpr int kWalkers = 3;

/// Bit x of row y: somebody was there.
struct Seen {
  uint32_t rows[maze::kSide];
  static constexpr auto describe() {
    return fields(field("rows", &Seen::rows, "cells that were entered, by bits").any_value());
  }
};
struct Walkers : Agents<kWalkers, maze::Place, maze::Go> {
  static constexpr const char* name = "walkers";
};
struct Board : Single<maze::Chosen, Seen> {
  static constexpr const char* name = "board";
};
struct Schema {
  using Params = maze::Params;
  using Action = maze::Go;
  using Agent = Walkers;
  using Assets = maze::Assets;
  using tables = Types<Walkers, Board>;
  static Assets make_assets(const Params& params, AssetMaker& make) {
    return maze::make_assets(params, make);
  }
};
using W = World<Schema>;

GE_FN void forget(const W&, Seen& seen) {
  seen = Seen{};
}
// One after the other, since a cell pays once.
GE_FN void gather(const W& w, Seen& seen, const Rows<Walkers, maze::Place>& places,
                  const Rows<Walkers, Reward>& rewards) {
  for (int walker = 0; walker < kWalkers; ++walker) {
    const maze::Place at = places.get(walker);
    const uint32_t bit = 1u << at.x;
    const bool first = (seen.rows[at.y] & bit) == 0;
    seen.rows[at.y] |= bit;
    rewards.set(walker, Reward{first ? maze::worth_of(w, at) : 0.0f});
  }
}

struct Environment {
  using Schema = gather::Schema;
  using Observation = maze::View;
  using Reset =
      Stages<EachWorld<&maze::choose<Schema>>, EachWorld<&forget>, Each<&maze::begin<Schema>>>;
  using Step = Stages<Each<&maze::walk<Schema>>, EachWorld<&gather>>;
  using Observe = Stages<ge::Observe<&maze::look<Schema>>>;
  static constexpr Card card{
      .doc = "A test: cells of a maze.", .max_episode_steps = 30, .agents = "3"};
};
using Builds = ge::Builds<Build<"Gather-v0", Environment>>;

}  // namespace gpu_envs::envs::gather
