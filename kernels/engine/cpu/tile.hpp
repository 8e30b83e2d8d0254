// The `cpu` executor: a thread takes a tile of worlds, small enough for its cache, and runs the
// graph stage by stage over it. Inside a stage the order is block, row, lane: the innermost loop
// runs over the B worlds of a block, whose words lie side by side, and vectorises because a
// system's arguments are local copies and rows are independent by contract.
//
//   Tile     where the tile's worlds are, and walks over them           tile_worlds.hpp
//   Set      which worlds of the tile a stage runs on: whole blocks (vectorised) and loose worlds
//            (one by one). A tile begins as its blocks plus the ragged end; When splits a set by
//            its predicate, a block staying whole where all of its worlds agree. Dead worlds beyond
//            the last never run.
//   stage    stage(tile, X{}, set) runs a stage X: one overload per kind, and one for all that are
//            row jobs (graph/row_jobs.hpp), found by the type of the tile when a graph is compiled
//
//            rows of tables, sorted ones, packs                          tile_rows.hpp
//            rows that pass a test                                       tile_emission.hpp
//            slots and handles                                           tile_pools.hpp
//            sums                                                        tile_reductions.hpp
//            conditions; others that hold stages: graph/host_walk.hpp    tile_control.hpp
//            worlds that a step leaves out                               tile_masks.hpp
//            rows of outputs                                             tile_outputs.hpp
//
// A crew is for worlds so large and so few that tiles cannot feed all threads: its members run the
// same graph over the same tile, each on its share of a stage's rows, and meet after every stage,
// as the lanes of a group do. What is serial inside a world (slots of a Pool, systems of EachWorld)
// is one member's.
//
// Which thread gets which tile is tile_threads.hpp's matter.
#pragma once

#include "engine/cpu/stage_clock.hpp"
#include "engine/cpu/tile_control.hpp"
#include "engine/cpu/tile_emission.hpp"
#include "engine/cpu/tile_masks.hpp"
#include "engine/cpu/tile_outputs.hpp"
#include "engine/cpu/tile_pools.hpp"
#include "engine/cpu/tile_reductions.hpp"
#include "engine/cpu/tile_rows.hpp"
#include "engine/cpu/tile_worlds.hpp"

namespace ge {

/// A function of its own, so that a stage that stands in several graphs, or several times in one,
/// is compiled once; and the clocks cost one look at a flag, not a second copy. The time of
/// stages that hold others is the sum of these.
template <class E, class X>
GE_NOINLINE void run_stage(Tile<E>& tile, X x, const Set& set) {
  if constexpr (InnerOf<X>::type::size > 0) {
    stage(tile, x, set);
  } else {
    const StageClock clock(type_text<X>());
    stage(tile, x, set);
  }
}
template <class E, class... X>
inline void run_stages(Tile<E>& tile, Types<X...>, const Set& set) {
  (run_stage(tile, X{}, set), ...);
}

/// Lists in scratch memory begin each phase empty; the rest of scratch is left as it is, since no
/// rule may read what its phase has not written (checking/shuffled.hpp).
template <class E, Name kName, class L, class... X>
inline void run_phase(Tile<E>& tile, Phase<kName, L, X...>, const Set& set) {
  tile.each_world(set, [](const CellsOf<E>& cells) GE_LAMBDA { clear_tables<true>(cells); });
  run_stages(tile, Types<X...>{}, set);
}
template <class E, auto P, class... Inner>
inline void run_phase(Tile<E>& tile, Rare<P, Inner...>, const Set& set) {
  run_within<P>(tile, set, [&](const Set& inner) { (run_phase(tile, Inner{}, inner), ...); });
}
/// Runs the phases of a graph over the tile.
template <class E, class... P>
inline void run_graph(Tile<E>& tile, Types<P...>) {
  const Set all = tile.whole();
  (run_phase(tile, P{}, all), ...);
}

}  // namespace ge
