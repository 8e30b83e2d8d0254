// A level in 16 bytes, and sets of its cells. A board is 10 x 10 cells, the outermost of which are
// walls; the 64 inner ones are numbered row by row, 8 row + column, from the top left.
#pragma once

#include "engine/described/describe.hpp"

namespace gpu_envs::envs::sokoban {

using namespace ge;

inline constexpr int kSide = 8, kInner = kSide * kSide;
inline constexpr int kBoxes = 4;
inline constexpr int kMostPushes = 1023;

/// A set of inner cells, by bits.
using Cells = uint64_t;
GE_FN constexpr Cells bit_of(int cell) {
  return Cells{1} << cell;
}
GE_FN constexpr bool has(Cells cells, int cell) {
  return (cells >> cell & 1u) != 0;
}

/// North (a row up), south, west, east.
inline constexpr int kWays = 4;
GE_FN constexpr int opposite(int way) {
  return way ^ 1;
}
/// All cells of a set one cell further; those that leave the board are dropped.
GE_FN constexpr Cells moved(Cells cells, int way) {
  constexpr Cells kFirstColumn = 0x0101010101010101u, kLastColumn = kFirstColumn << 7;
  const Cells stay = way == 2 ? kFirstColumn : way == 3 ? kLastColumn : 0;
  const int up = way == 0 ? kSide : way == 2 ? 1 : 0, down = way == 1 ? kSide : way == 3 ? 1 : 0;
  return (cells & ~stay) >> up << down;
}
/// The cell next to a cell; beyond the edge of the board it is not one.
GE_FN constexpr int next_to(int cell, int way) {
  return cell + (way == 0 ? -kSide : way == 1 ? kSide : way == 2 ? -1 : 1);
}

/// A level of the bank in 16 bytes: two words for its walls, two for what else is there.
struct Level {
  uint32_t walls[2];
  uint32_t things[2];
  static constexpr auto describe() {
    return fields(field("walls", &Level::walls, "inner cells that are walls, by bits"),
                  field("things", &Level::things,
                        "cells of 4 boxes, of 4 goals and of the player, 6 bits each, then 10 bits "
                        "for the least number of pushes; 0: not known"));
  }
};
/// A level, unpacked.
struct Position {
  Cells walls, boxes, goals;
  int player, pushes;
};

namespace detail {
inline constexpr int kCellBits = 6;
inline constexpr int kGoalsAt = kCellBits * kBoxes, kPlayerAt = 2 * kGoalsAt,
                     kPushesAt = kPlayerAt + kCellBits;
}  // namespace detail

GE_FN Position position_of(const Level& level) {
  const auto word = [](const uint32_t (&halves)[2])
                        GE_LAMBDA { return uint64_t{halves[1]} << 32 | halves[0]; };
  const uint64_t things = word(level.things);
  const auto cell = [&](int at) GE_LAMBDA { return int(things >> at & uint64_t{kInner - 1}); };
  Position position = {word(level.walls), 0, 0, cell(detail::kPlayerAt),
                       int(things >> detail::kPushesAt)};
  for (int k = 0; k < kBoxes; ++k) {
    position.boxes |= bit_of(cell(detail::kCellBits * k));
    position.goals |= bit_of(cell(detail::kGoalsAt + detail::kCellBits * k));
  }
  return position;
}

/// The opposite of position_of. Boxes and goals are four each.
inline Level packed(const Position& position) {
  uint64_t things = 0;
  int at = 0;
  for (const Cells cells : {position.boxes, position.goals})
    for (int cell = 0; cell < kInner; ++cell)
      if (has(cells, cell)) {
        things |= uint64_t(cell) << at;
        at += detail::kCellBits;
      }
  things |= uint64_t(position.player) << detail::kPlayerAt;
  things |= uint64_t(position.pushes) << detail::kPushesAt;
  return {{uint32_t(position.walls), uint32_t(position.walls >> 32)},
          {uint32_t(things), uint32_t(things >> 32)}};
}

/// The eight symmetries of a square: 1: left and right are exchanged, 2: top and bottom, 4: rows
/// and columns, after these.
inline constexpr int kSymmetries = 8;
GE_FN constexpr int turned(int cell, int symmetry) {
  int row = cell / kSide, column = cell % kSide;
  if ((symmetry & 1) != 0) column = kSide - 1 - column;
  if ((symmetry & 2) != 0) row = kSide - 1 - row;
  return (symmetry & 4) != 0 ? kSide * column + row : kSide * row + column;
}
namespace detail {
/// Exchanges the bits of `mask` and those `by` places above them.
GE_FN constexpr Cells exchanged(Cells cells, Cells mask, int by) {
  const Cells differ = (cells ^ cells >> by) & mask;
  return cells ^ differ ^ differ << by;
}
}  // namespace detail
GE_FN constexpr Cells turned(Cells cells, int symmetry) {
  if ((symmetry & 1) != 0) {
    cells = detail::exchanged(cells, 0x5555555555555555u, 1);
    cells = detail::exchanged(cells, 0x3333333333333333u, 2);
    cells = detail::exchanged(cells, 0x0f0f0f0f0f0f0f0fu, 4);
  }
  if ((symmetry & 2) != 0) {
    cells = detail::exchanged(cells, 0x00ff00ff00ff00ffu, 8);
    cells = detail::exchanged(cells, 0x0000ffff0000ffffu, 16);
    cells = detail::exchanged(cells, 0x00000000ffffffffu, 32);
  }
  if ((symmetry & 4) != 0) {
    cells = detail::exchanged(cells, 0x00aa00aa00aa00aau, 7);
    cells = detail::exchanged(cells, 0x0000cccc0000ccccu, 14);
    cells = detail::exchanged(cells, 0x00000000f0f0f0f0u, 28);
  }
  return cells;
}
GE_FN Position turned(const Position& position, int symmetry) {
  return {turned(position.walls, symmetry), turned(position.boxes, symmetry),
          turned(position.goals, symmetry), turned(position.player, symmetry), position.pushes};
}

}  // namespace gpu_envs::envs::sokoban
