// Components and tables of a world of the obstacle courses.
//
//   agents     the learners: body, hands, home, what they have reached
//   statics    floors, obstacles and walls, merged into few boxes
//   marks      lava and the exit's pad: cells in which rules look, drawn as slabs
//   crates     boxes to carry; diamonds
//   course     one row: the level's numbers and the time
//   plan, canvas, offcuts, stock, gems, fields: scratch, of a level while it is made
#pragma once

#include "envs/obstacles/layout.hpp"
#include "voxel/game.hpp"
#include "voxel/timing.hpp"

namespace gpu_envs::envs::obstacles {

/// Where an agent stands and has stood.
struct Score {
  int32_t at_exit, reached_exit;
  static constexpr auto describe() {
    return fields(field("at_exit", &Score::at_exit, "1: the agent stands on the pad").within(0, 1),
                  field("reached_exit", &Score::reached_exit, "1: the agent has stood on the pad")
                      .within(0, 1));
  }
};
/// The parts of a step's reward.
struct Parts {
  float exit, all_exit, diamond, box;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("exit", &Parts::exit, "reward for first steps on the pad"),
                  field("all_exit", &Parts::all_exit, "reward for all on the pad at once"),
                  field("diamond", &Parts::diamond, "reward for diamonds"),
                  field("box", &Parts::box, "reward for boxes carried to the pad"));
  }
};

/// More than any level has of anything; things without room in a table are counted too.
inline constexpr int kMostParts = 1 << 16;

struct Level {
  int32_t obstacles;  // that were drawn
  int32_t attempts;   // levels drawn until no platforms met, or until there were no more tries
  int32_t conflict;   // 1: platforms meet after the last attempt
  int32_t walls_shown;
  int32_t hardest;                // obstacles of the greatest height, or with the longest lava
  int32_t kinds[kMostPlatforms];  // of Kind, -1 behind the last
  int32_t parts, pieces, boxes, diamonds, marks;
  static constexpr auto describe() {
    return fields(
        field("obstacle_count", &Level::obstacles, "obstacles between start and exit")
            .within(0, kMostPlatforms),
        field("attempts", &Level::attempts, "levels drawn until no two platforms met").any_value(),
        field("conflict", &Level::conflict, "1: two platforms meet, after the last attempt")
            .within(0, 1),
        field("walls_shown", &Level::walls_shown, "1: walls beside platforms can be seen")
            .within(0, 1),
        field("hardest", &Level::hardest, "obstacles of the greatest height or longest lava")
            .within(0, kMostPlatforms),
        field("kinds", &Level::kinds,
              "kinds of the obstacles: 0 wall, 1 lava, 2 step, 3 gap; -1 after the last")
            .within(-1, 3),
        field("part_count", &Level::parts, "boxes of the level before any were merged")
            .within(0, kMostParts),
        field("piece_count", &Level::pieces, "static boxes").within(0, kMostParts),
        field("box_count", &Level::boxes, "boxes to carry").within(0, kMostParts),
        field("diamond_count", &Level::diamonds, "diamonds at the start").within(0, kMostParts),
        field("mark_count", &Level::marks, "fields of lava, and the pad").within(0, kMostParts));
  }
};

/// A platform of the plan. Its own frame: `a` counts cells along it, `c` cells across, from its
/// left edge to the right; z from its floor, whose cells have 0.
struct Platform {
  int32_t kind;                   // Kind
  int32_t length, width, height;  // of walls: height
  int32_t first, size;            // cells along it that the obstacle takes; of a step: its edge
  int32_t rise;                   // height of a wall or a step
  int32_t sides;                  // bits of Side: where walls stand
  int32_t at[3];                  // where a and c are 0: a corner of cells
  int32_t ahead;                  // quarter turns from +x to the left
  int32_t boxes;                  // that are to stand on it
  int32_t low[3], high[3];        // bounds in the world
  static constexpr auto describe() {
    return fields(
        field("kind", &Platform::kind, "wall, lava, step, gap, start, exit, corner"),
        field("length", &Platform::length, "cells along it"),
        field("width", &Platform::width, "cells across"),
        field("height", &Platform::height, "height of its walls"),
        field("first", &Platform::first, "cells before its obstacle"),
        field("size", &Platform::size, "cells of the obstacle"),
        field("rise", &Platform::rise, "height of the obstacle"),
        field("sides", &Platform::sides, "bits: walls at the near end, far end, left, right"),
        field("at", &Platform::at, "corner from which it is counted"),
        field("ahead", &Platform::ahead, "quarter turns from +x to the left"),
        field("boxes", &Platform::boxes, "boxes to carry on it"),
        field("low", &Platform::low, "lowest cell"),
        field("high", &Platform::high, "highest cell + 1"));
  }
};
enum Side : int32_t { kNear = 1, kFar = 2, kLeft = 4, kRight = 8 };

// ---- tables

using Players = voxel::PlayersOf<Params, Score, Parts>;
struct Course : Single<Level, voxel::Timer> {
  static constexpr const char* name = "course";
};

/// The game of a task with defaults D in a build with room for T, as the rules of voxel games see
/// it (voxel/tables.hpp).
template <class D_, class T_>
struct Game : voxel::Tables<T_> {
  using D = D_;
  using T = T_;
  using Base = voxel::Tables<T>;

  using Agents = Players;
  struct Plan : Fixed<T::platforms, Platform> {
    static constexpr const char* name = "plan";
    static constexpr bool scratch = true;
  };
  static GE_FN voxel::DiamondForm diamond_form() { return {0.8f * 0.17f, 0.8f * 0.45f, 0.7f}; }

  struct Schema
      : voxel::SchemaOf<SettingsOf<D>, obstacles::Params, obstacles::Varied, voxel::Laid, Players> {
    using tables = Types<Agents, typename Base::Statics, typename Base::Marks,
                         typename Base::Crates, typename Base::Diamonds, Course, Plan,
                         typename Base::Canvas, typename Base::Offcuts, typename Base::Fields,
                         typename Base::Stock, typename Base::Gems, typename Base::Solids>;
  };
};

}  // namespace gpu_envs::envs::obstacles
