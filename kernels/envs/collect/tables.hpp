// Components and tables of a world of Collect.
//
//   agents     the learners: body, hands, home
//   columns    the hills, by which bodies are stopped
//   hills      the same as few boxes, for cameras
//   statics    the floor
//   crates     boxes to carry
//   diamonds   green ones are good, red ones bad
//   land       one row: the level's numbers, what is left to collect, the time
//   canvas, offcuts, stock, gems, raw_hills, cover, places, permutation: scratch, of a level while
//   it is made
#pragma once

#include "envs/collect/settings.hpp"
#include "voxel/game.hpp"
#include "voxel/hills.hpp"
#include "voxel/levels.hpp"
#include "voxel/timing.hpp"

namespace gpu_envs::envs::collect {

struct Parts {
  float good, bad, all, fall;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("good", &Parts::good, "reward for green diamonds"),
                  field("bad", &Parts::bad, "reward for red diamonds"),
                  field("all", &Parts::all, "reward for the last green diamond"),
                  field("fall", &Parts::fall, "reward for falls off the land"));
  }
};
/// How the hills of a level are drawn.
struct Land {
  int32_t side_x, side_y;  // cells along x and y
  int32_t tenths, octaves, relief;
  float ground;
  uint32_t hill_colour, floor_colour;
  int32_t hills;
  static constexpr auto describe() {
    return fields(
        field("side_x", &Land::side_x, "cells along x; 0: laid by hand").within(0, kSide),
        field("side_y", &Land::side_y, "cells along y; 0: laid by hand").within(0, kSide),
        field("tenths", &Land::tenths, "tenths of waves along 42 m").within(0, 200),
        field("octaves", &Land::octaves, "octaves of the noise").within(0, 9),
        field("relief", &Land::relief, "height of hills").in("m").within(0, kHighest),
        field("ground", &Land::ground, "noise up to which the land is flat"),
        field("hill_colour", &Land::hill_colour, "colour of hills as 0xRRGGBB").any_value(),
        field("floor_colour", &Land::floor_colour, "colour of the floor as 0xRRGGBB").any_value(),
        field("hill_count", &Land::hills, "boxes that the hills are drawn as")
            .within(0, voxel::Counts::kMost));
  }
};
struct Harvest {
  int32_t good_left;
  static constexpr auto describe() {
    return fields(
        field("good_left", &Harvest::good_left, "green diamonds that nobody has collected")
            .within(0, kMostDiamonds));
  }
};
/// A cell in which something may be put: x * kSide + y.
struct Place {
  uint16_t cell;
  static constexpr auto describe() { return fields(field("cell", &Place::cell, "x * 41 + y")); }
};
struct Number {
  uint8_t value;
  static constexpr auto describe() { return fields(field("value", &Number::value, "0 to 255")); }
};

using Players = voxel::PlayersOf<Params, Parts>;
struct LandRow : Single<Land, voxel::Counts, Harvest, voxel::Timer> {
  static constexpr const char* name = "land";
};
struct Places : Fixed<(kSide - 2) * (kSide - 2), Place> {
  static constexpr const char* name = "places";
  static constexpr bool scratch = true;
};
struct Permutation : Fixed<256, Number> {
  static constexpr const char* name = "permutation";
  static constexpr bool scratch = true;
};

struct Room {
  static constexpr int parts = 24, marks = 0, boxes = kMostBoxes, diamonds = kMostDiamonds;
};
inline voxel::Laid read_layout(const std::string& text, const Params& p) {
  const voxel::Grammar grammar{
      .words = {"floor", "wall", "walls", "hill", "box", "diamond", "agent", "seconds"},
      .boxes = voxel::kLaidBoxes,
      .diamonds = voxel::kLaidDiamonds,
      .hill_side = kSide,
      .hill_height = kHighest,
      .red = true};
  return voxel::Layout(grammar, p.agent_count).read(text);
}

struct Game : voxel::Tables<Room> {
  using Agents = Players;
  using Columns = voxel::Columns<kSide>;
  // Each column begins one box at most; land that is drawn takes some 70.
  static constexpr int kMostHills = Places::capacity;
  using Hills = voxel::Hills<kMostHills>;
  using RawHills = voxel::RawHills<kMostHills>;
  using Cover = voxel::Cover<kSide>;
  static constexpr bool kDiamondColours = true;
  static GE_FN voxel::DiamondForm diamond_form() { return {0.17f, 0.45f, 0.8f}; }

  struct Schema
      : voxel::SchemaOf<collect::Settings, collect::Params, collect::Varied, voxel::Laid, Players> {
    using tables = Types<Agents, Columns, Hills, Statics, Crates, Diamonds, LandRow, Canvas,
                         Offcuts, Stock, Gems, RawHills, Cover, Places, Permutation, Solids>;
  };
  static GE_FN uint32_t hill_colour(const World<Schema>& w) { return get<Land>(w).hill_colour; }
};
using W = World<Game::Schema>;

}  // namespace gpu_envs::envs::collect
