// What the maker and the solver of levels share: sets of cells that a player can reach. Host only.
#pragma once

#include <bit>

#include "envs/sokoban/position.hpp"

namespace gpu_envs::envs::sokoban {

inline int lowest(Cells cells) {
  return std::countr_zero(cells);
}
/// All cells of `free` that can be walked to from `start`, which is one of them.
inline Cells reached(Cells start, Cells free) {
  for (Cells seen = start;;) {
    Cells next = seen;
    for (int way = 0; way < kWays; ++way) next |= moved(seen, way) & free;
    if (next == seen) return seen;
    seen = next;
  }
}
/// Calls f(cell) for each cell, the lowest number first.
template <class F>
void each(Cells cells, const F& f) {
  for (; cells != 0; cells &= cells - 1) f(lowest(cells));
}

/// Boxes in ascending order, and a cell of the player: 30 bits.
inline uint32_t packed(Cells boxes, int player) {
  uint32_t key = uint32_t(player);
  each(boxes, [&](int cell) { key = key << 6 | uint32_t(cell); });
  return key;
}

}  // namespace gpu_envs::envs::sokoban
