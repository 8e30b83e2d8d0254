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
  float match, all;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("match", &Parts::match, "reward for more objects in place than before"),
                  field("all", &Parts::all, "reward for all objects in place"));
  }
};
struct Matches {
  int32_t objects, best;
  static constexpr auto describe() {
    return fields(field("object_count", &Matches::objects, "objects of the arrangement")
                      .within(0, kMostObjects),
                  field("best", &Matches::best, "most objects that were in place at a time")
                      .within(0, kMostObjects));
  }
};

struct Players
    : Agents<voxel::kMostAgents, voxel::Act, voxel::Body, voxel::Hands, voxel::Home, Parts> {
  static constexpr const char* name = "agents";
  static GE_FN constexpr int count(const Params& params) { return params.agent_count; }
};
struct Task : Single<voxel::Counts, Matches, voxel::Timer> {
  static constexpr const char* name = "task";
};

struct Room {
  static constexpr int parts = 16, marks = 0, boxes = 2 * kMostObjects, diamonds = 0;
};
struct Game : voxel::Tables<Room, voxel::Look> {
  using Agents = Players;

  struct Schema {
    using Settings = rearrange::Settings;
    using Params = rearrange::Params;
    using Options = rearrange::Options;
    using ResetSettings = voxel::LayoutSettings;
    using Action = voxel::Act;
    using Agent = Agents;
    using tables = Types<Agents, Statics, Crates, Task, Canvas, Offcuts, Stock, Solids>;
    static constexpr Tuning tuning = voxel::kTuning;
    static Params resolve(Settings& settings) { return resolve_settings(settings); }
    static Options resolve_options(const ResetSettings& settings, const Params& params) {
      return read_layout(settings.layout, params);
    }
  };
  static GE_FN int fixture_count(const World<Schema>&) { return kFixtures; }
  static GE_FN voxel::Static fixture(const World<Schema>&, int k) { return rearrange::fixture(k); }
};
using W = World<Game::Schema>;

}  // namespace gpu_envs::envs::rearrange
