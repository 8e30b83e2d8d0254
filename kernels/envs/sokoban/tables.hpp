// Components and tables of a world of Sokoban-v0, whose cells are cubes of 2 m.
//
//   agents     the learners: body, hands that stay empty, home
//   statics    the floor, and the walls, of which cameras draw the lowest part
//   marks      the goals
//   crates     the boxes, which are pushed and not lifted
//   task       one row: the level's numbers, its cells by bits, the time
//   canvas, offcuts, fields, stock: scratch, of a level while it is made
#pragma once

#include "envs/sokoban/settings.hpp"
#include "voxel/game.hpp"
#include "voxel/levels.hpp"
#include "voxel/timing.hpp"

namespace gpu_envs::envs::sokoban {

using voxel::Cell;

struct Parts {
  float goal, leave, all;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("goal", &Parts::goal, "reward for boxes that come onto goals"),
                  field("leave", &Parts::leave, "reward for boxes that leave their goals"),
                  field("all", &Parts::all, "reward for all boxes on goals"));
  }
};
/// What does not move, by bits of the inner cells.
struct Plan {
  uint64_t walls, goals;
  static constexpr auto describe() {
    return fields(
        field("walls", &Plan::walls, "inner cells that are walls: bit 8 row + column").any_value(),
        field("goals", &Plan::goals, "cells that are goals: bit 8 row + column").any_value());
  }
};

using Players = voxel::PlayersOf<Params, Parts>;
struct Task : Single<voxel::Counts, Plan, Chosen, voxel::Timer> {
  static constexpr const char* name = "task";
};

/// A floor, four walls around, and at most four runs of wall in each of eight rows.
struct Room {
  static constexpr int parts = 5 + kSide * kSide / 2, marks = kBoxes, boxes = kBoxes, diamonds = 0;
};
struct Game : voxel::Tables<Room> {
  using Agents = Players;
  static constexpr float kCellSide = 2.0f, kKerb = 0.7f;  // [m]
  static GE_FN voxel::Look look() { return {voxel::kPushForm, voxel::kDarkBlue, 1}; }

  struct Schema {
    using Settings = sokoban::Settings;
    using Params = sokoban::Params;
    using Varied = sokoban::Varied;
    using Options = LevelOptions;
    using Assets = LevelAssets;
    using Action = voxel::Act;
    using Agent = Players;
    using tables =
        Types<Agents, Statics, Marks, Crates, Task, Canvas, Offcuts, Fields, Stock, Solids>;
    static constexpr Tuning tuning = voxel::kTuning;
    static Params resolve(Settings& settings) { return resolve_settings(settings); }
    static Assets make_assets(const Settings& settings, const Params&, AssetMaker& make) {
      return make_levels(settings, make);
    }
  };
};
using W = World<Game::Schema>;

// ---- between the board and the world: rows go down, +y up

GE_FN Cell cell_of_board(int cell) {
  return {cell % kSide + 1, kSide - cell / kSide, 1};
}
/// The inner cell of a cell in the world, -1 where it is not one.
GE_FN int board_of_cell(const Cell& at) {
  const bool inside = (at.x >= 1) & (at.x <= kSide) & (at.y >= 1) & (at.y <= kSide) & (at.z == 1);
  return inside ? kSide * (kSide - at.y) + at.x - 1 : -1;
}
/// The cells of all boxes within the room, by bits. box(row): each of them.
template <class F>
GE_FN Cells cells_of_boxes(int count, const F& box) {
  Cells cells = 0;
  for (int row = 0; row < count; ++row) {
    const int cell = board_of_cell(voxel::cell(box(row).cell));
    cells |= cell < 0 ? 0 : bit_of(cell);
  }
  return cells;
}
GE_FN Cells cells_of_boxes(const W& w) {
  return cells_of_boxes(row_count<Game::Crates>(w),
                        [&](int row) GE_LAMBDA { return get<Game::Crates, voxel::Crate>(w, row); });
}

}  // namespace gpu_envs::envs::sokoban
