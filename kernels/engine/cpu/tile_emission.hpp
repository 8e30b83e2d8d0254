// Stages of the tile that append rows to a List by a test, or empty it. The loop over indices is
// outside, that over worlds inside: the cheap test vectorises, and only hits are made. A hit's row
// is the number of hits before it, whichever thread tests them.
#pragma once

#include "engine/cpu/tile_worlds.hpp"

namespace ge {

/// One world. A crew counts first: then each member knows where its hits begin.
template <class T, class E, class Test, class Make>
GE_FN void emit_in(const Tile<E>& tile, const CellsOf<E>& cells, int count, Test test, Make make) {
  const Crew& crew = tile.crew;
  const Crew::Range mine = crew.share(count);
  int place = 0, hits = 0;
  if (crew.size > 1) {
    // Tested twice, and not kept: a test is cheap, and a list of hits has no bound. No row is made
    // before all members have counted, so both times find the same.
    for (int i = mine.begin; i < mine.end; ++i) hits += test(cells, i) ? 1 : 0;
    crew.counts[crew.member] = hits;
    crew.meet();
    hits = 0;
    for (int member = 0; member < crew.size; ++member) {
      place += member < crew.member ? crew.counts[member] : 0;
      hits += crew.counts[member];
    }
  }
  for (int i = mine.begin; i < mine.end; ++i) {
    if (!test(cells, i)) continue;
    if (place < cells.template room<T>()) make(cells, place, i);
    ++place;
  }
  crew.meet();
  if (crew.first()) close_list<T>(cells, crew.size > 1 ? hits : place);
  crew.meet();  // the next world's counts take the same places
}
/// The worlds of one block side by side.
template <class T, class E, class Test, class Make>
GE_FN void emit_in_block(const WorldFinder<typename E::Schema>& here, int block, int count,
                         Test test, Make make) {
  constexpr int B = Tile<E>::B;
  // Indices outside, worlds inside: each world still meets its hits in order.
  int hits[B] = {};
  for (int i = 0; i < count; ++i) {
    uint32_t hit[B];
    uint32_t any = 0;
    GE_INDEPENDENT
    for (int lane = 0; lane < B; ++lane) hit[lane] = test(here.at(block, lane), i) ? 1u : 0u;
    for (int lane = 0; lane < B; ++lane) any |= hit[lane];
    if (any == 0) continue;  // the common case; the reason why only the tests vectorise
    for (int lane = 0; lane < B; ++lane) {
      if (hit[lane] == 0) continue;
      const CellsOf<E> cells = here.at(block, lane);
      if (hits[lane] < cells.template room<T>()) make(cells, hits[lane], i);
      ++hits[lane];
    }
  }
  for (int lane = 0; lane < B; ++lane) close_list<T>(here.at(block, lane), hits[lane]);
}
/// All worlds of a set, each with the same number of indices.
template <class T, class E, class Test, class Make>
inline void emit(const Tile<E>& tile, const Set& set, int count, Test test, Make make) {
  static_assert(T::kind == Kind::list, "GE: Emit appends to a List");
  if (tile.crew.size > 1) {
    tile.walk_worlds(set,
                     [&](const CellsOf<E>& cells) { emit_in<T>(tile, cells, count, test, make); });
    return;
  }
  const WorldFinder<typename E::Schema> here = tile.finder();
  for (int k = 0; k < set.block_count; ++k)
    emit_in_block<T, E>(here, set.blocks[k], count, test, make);
  for (int k = 0; k < set.loose_count; ++k)
    emit_in<T>(tile, here.of(set.loose[k]), count, test, make);
}

template <class E, auto Count, auto Test, auto Make, class T>
inline void stage(Tile<E>& tile, Emit<Count, Test, Make, T>, const Set& set) {
  const auto test = [](const CellsOf<E>& cells, int i)
                        GE_LAMBDA { return bool(Test(World<typename E::Schema>(cells), i)); };
  const auto make = [](const CellsOf<E>& cells, int row, int i)
                        GE_LAMBDA { make_row<Make, T>(cells, row, i); };
  if constexpr (is_number<Count>) {
    emit<T>(tile, set, Count, test, make);
  } else {
    tile.walk_worlds(set, [&](const CellsOf<E>& cells) {
      emit_in<T>(tile, cells, ask<Count>(cells), test, make);
    });
  }
}

}  // namespace ge
