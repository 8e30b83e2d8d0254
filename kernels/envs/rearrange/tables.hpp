// Components and tables of a world of Rearrange.
//
//   agents     the learners: body, hands, home
//   statics    the room and its pedestals
//   crates     objects: first those of the model, which nobody can lift, then their copies in the
//              same order
//   task       one row: the level's numbers, how many objects are in place, the time
//   canvas, offcuts, stock: scratch, of a level while it is made
#pragma once

#include "envs/rearrange/layout.hpp"
#include "voxel/game.hpp"
#include "voxel/levels.hpp"
#include "voxel/timing.hpp"

namespace gpu_envs::envs::rearrange {

struct Parts {
  float match, all, lift;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("match", &Parts::match, "reward for more objects in place than before"),
                  field("all", &Parts::all, "reward for all objects in place"),
                  field("lift", &Parts::lift, "reward for lifting objects out of place"));
  }
};
struct Matches {
  int32_t objects, best, lifted;
  static constexpr auto describe() {
    return fields(field("object_count", &Matches::objects, "objects of the arrangement")
                      .within(0, kMostObjects),
                  field("best", &Matches::best, "most objects that were in place at a time")
                      .within(0, kMostObjects),
                  field("lifted", &Matches::lifted,
                        "objects that were lifted in this episode, a bit for each row of `crates`")
                      .within(0, (1 << 2 * kMostObjects) - 1));
  }
};

using Players = voxel::PlayersOf<Params, Parts>;
struct Task : Single<voxel::Counts, Matches, voxel::Timer> {
  static constexpr const char* name = "task";
};

struct Room {
  static constexpr int parts = 16, marks = 0, boxes = 2 * kMostObjects, diamonds = 0;
};
struct Game : voxel::Tables<Room, voxel::Look> {
  using Agents = Players;

  struct Schema : voxel::SchemaOf<rearrange::Settings, rearrange::Params, rearrange::Varied,
                                  rearrange::Options, Players> {
    using tables = Types<Agents, Statics, Crates, Task, Canvas, Offcuts, Stock, Solids>;
  };
  static GE_FN int fixture_count(const World<Schema>&) { return kFixtures; }
  static GE_FN voxel::Static fixture(const World<Schema>&, int k) { return rearrange::fixture(k); }
};
using W = World<Game::Schema>;

}  // namespace gpu_envs::envs::rearrange
