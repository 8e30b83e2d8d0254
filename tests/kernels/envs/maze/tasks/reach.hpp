// Reach: a task of the maze family. One walker is paid for every cell by its worth, and the episode
// ends in the far corner.
#pragma once

#include "../maze.hpp"

namespace gpu_envs::envs::reach {

using namespace ge;

struct Walker : Agents<1, maze::Place, maze::Go> {
  static constexpr const char* name = "walker";
};
struct Board : Single<maze::Chosen> {
  static constexpr const char* name = "board";
};
struct Schema {
  using Params = maze::Params;
  using Action = maze::Go;
  using Agent = Walker;
  using Assets = maze::Assets;
  using tables = Types<Walker, Board>;
  static Assets make_assets(const Params& params, AssetMaker& make) {
    return maze::make_assets(params, make);
  }
};
using W = World<Schema>;

GE_FN void pay(const W& w, Reward& reward, Ending& ending, const maze::Place& at) {
  reward.value = maze::worth_of(w, at);
  ending.terminated = (at.x == maze::kSide - 1) & (at.y == maze::kSide - 1) ? 1u : 0u;
}

struct Environment {
  using Schema = reach::Schema;
  using Observation = maze::View;
  using Reset = Stages<EachWorld<&maze::choose<Schema>>, Each<&maze::begin<Schema>>>;
  using Step = Stages<Each<&maze::walk<Schema>>, Each<&pay>>;
  using Observe = Stages<ge::Observe<&maze::look<Schema>>>;
  static constexpr Card card{.doc = "A test: out of a maze.", .max_episode_steps = 40};
};
using Builds = ge::Builds<Build<"Reach-v0", Environment>>;

}  // namespace gpu_envs::envs::reach
