// Conditions of the tile, which split the set of worlds: the inner stages run on the part that has
// the condition, and the rest of the tile is not visited. Other stages that hold stages are
// graph/host_walk.hpp's.
#pragma once

#include "engine/cpu/tile_worlds.hpp"

namespace ge {

/// Index space that any subset of `set` fits in.
template <class E>
inline int64_t index_room(const Tile<E>&, const Set& set) {
  return int64_t{set.block_count} * (Tile<E>::B + 1) + set.loose_count + 1;
}

/// The worlds of `set` with P, in `space`. Compiled once for all stages that need it. Each member
/// of a crew makes the set for itself, in its own index space.
template <auto P, class E>
GE_NOINLINE Set subset(const Tile<E>& tile, const Set& set, int32_t* space) {
  constexpr int B = Tile<E>::B;
  const auto p = [](const CellsOf<E>& cells) GE_LAMBDA { return bool(ask<P>(cells)); };
  const WorldFinder<typename E::Schema> here = tile.finder();
  int32_t* const blocks = space;
  int32_t* const loose = space + set.block_count;
  int whole = 0, single = 0;
  for (int i = 0; i < set.block_count; ++i) {
    const int block = set.blocks[i];
    uint32_t yes[B];
    uint32_t count = 0;
    GE_INDEPENDENT
    for (int lane = 0; lane < B; ++lane) yes[lane] = p(here.at(block, lane)) ? 1u : 0u;
    for (int lane = 0; lane < B; ++lane) count += yes[lane];
    if (count == 0) continue;
    if (count == B) {
      blocks[whole++] = block;
    } else {
      // Every lane writes, and the next overwrites values that do not count: no branch per world.
      for (int lane = 0; lane < B; ++lane) {
        loose[single] = block * B + lane;
        single += int(yes[lane]);
      }
    }
  }
  for (int i = 0; i < set.loose_count; ++i) {
    loose[single] = set.loose[i];
    single += p(here.of(set.loose[i])) ? 1 : 0;
  }
  return {blocks, whole, loose, single};
}
/// Calls f with the worlds of `set` that have P, if there are any.
template <auto P, class E, class F>
inline void run_within(Tile<E>& tile, const Set& set, F&& f) {
  // Index space is a stack: an inner set's part is popped when its stages have run.
  int32_t* const mark = tile.free;
  tile.free += index_room(tile, set);
  const Set inner = subset<P>(tile, set, mark);
  tile.crew.meet();  // all have read what p asks for before anyone writes
  if (!inner.empty()) f(inner);
  tile.free = mark;
}

template <class E, auto P, class... X>
inline void stage(Tile<E>& tile, When<P, X...>, const Set& set) {
  run_within<P>(tile, set, [&](const Set& inner) { run_stages(tile, Types<X...>{}, inner); });
}

}  // namespace ge
