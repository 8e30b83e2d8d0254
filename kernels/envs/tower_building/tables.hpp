// Components and tables of a world of TowerBuilding.
//
//   agents     the learners: body, hands, home, what they have done
//   statics    floor and walls
//   marks      the building zone, drawn as a slab
//   crates     boxes to carry
//   site       one row: the level's numbers, the tower and the time
//   canvas, offcuts, stock, fields: scratch, of a level while it is made
#pragma once

#include "envs/tower_building/settings.hpp"
#include "voxel/game.hpp"
#include "voxel/levels.hpp"
#include "voxel/timing.hpp"

namespace gpu_envs::envs::tower_building {

/// What an agent has done for the first time in this episode.
struct Score {
  int32_t picked, visited;
  static constexpr auto describe() {
    return fields(
        field("picked", &Score::picked, "1: the agent has picked up a box").within(0, 1),
        field("visited", &Score::visited, "1: it has been in the zone with a box").within(0, 1));
  }
};
/// The parts of a step's reward.
struct Parts {
  float pick, visit, tower;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("pick", &Parts::pick, "reward for the first box picked up"),
                  field("visit", &Parts::visit, "reward for first visits to the zone with a box"),
                  field("tower", &Parts::tower, "reward for what the zone has gained in value"));
  }
};
struct Tower {
  int32_t worth;  // of the zone at the last placement, in twentieths
  int32_t highest;
  static constexpr auto describe() {
    return fields(
        field("worth", &Tower::worth, "20 times the value of the zone when a box was last put down")
            .within(-(1 << 28), 1 << 28),
        field("highest", &Tower::highest,
              "greatest height at which a box was put down in the zone; 1 on the floor")
            .within(0, 1 << 22));
  }
};

using Players = voxel::PlayersOf<Params, Score, Parts>;
struct Site : Single<voxel::Counts, Tower, voxel::Timer> {
  static constexpr const char* name = "site";
};

struct Room {
  static constexpr int parts = 24, marks = 8, boxes = kMostBoxes, diamonds = 0;
};

inline voxel::Laid read_layout(const std::string& text, const Params& p) {
  const voxel::Grammar grammar{
      .words = {"floor", "wall", "walls", "zone", "box", "agent", "seconds"},
      .marks = {{"zone", voxel::kZoneMark}},
      .marks_name = "zones",
      .boxes = voxel::kLaidBoxes};
  return voxel::Layout(grammar, p.agent_count).read(text);
}

struct Game : voxel::Tables<Room> {
  using Agents = Players;

  struct Schema : voxel::SchemaOf<tower_building::Settings, tower_building::Params,
                                  tower_building::Varied, voxel::Laid, Players> {
    using tables =
        Types<Agents, Statics, Marks, Crates, Site, Canvas, Offcuts, Fields, Stock, Solids>;
  };
};
using W = World<Game::Schema>;

}  // namespace gpu_envs::envs::tower_building
