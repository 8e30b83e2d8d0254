// Stages of the tile that write rows into the caller's arrays, and clear them. The forms of rows
// are graph/role_rows.hpp's and host_rows.hpp's. An array that the caller does not want is null,
// and its stage does nothing.
#pragma once

#include <cstring>

#include "engine/cpu/tile_worlds.hpp"
#include "engine/graph/host_rows.hpp"

namespace ge {

template <class E>
inline void stage(Tile<E>& tile, ClearFinal, const Set& set) {
  constexpr int B = Tile<E>::B;
  if (tile.crew.first()) {
    const auto clear = [&](int64_t first, int64_t worlds) {
      clear_final_observations<E>(tile.shared, first, worlds);
      clear_final_states<E>(tile.shared, first, worlds);
    };
    // The tile's set is whole here: contiguous blocks, then contiguous loose worlds.
    if (set.block_count > 0) clear(set.blocks[0] * B, set.block_count * B);
    if (set.loose_count > 0) clear(set.loose[0], set.loose_count);
  }
  tile.crew.meet();  // The other members also meet here, or the first would wait forever.
}

// ---- rows of a role's agents

/// Wide rows, each written where it belongs at once: no row passes through another place.
template <Output kOutput, auto F, class R, Wide Row, class E>
inline void rows_out(Tile<E>& tile, const Set& set, Output output) {
  using Agent = typename R::Agent;
  const WideTarget target = role_target<E, R, kOutput>(tile.shared, output);
  if (target.to == nullptr) return;
  const int agents = agents_in<R>(tile.shared.params);
  const bool final = tile.into_final;
  // A copy, as in WorldFinder: rows are stored between two looks at it.
  const auto params = tile.shared.params;
  tile.share_world(set, [&](const CellsOf<E>& cells) {
    HostWideRows<Row, typename E::Schema::Params> rows(target, params,
                                                       int64_t(cells.world) * agents);
    const Crew::Range mine = tile.crew.share(agents);
    for (int row = mine.begin; row < mine.end; ++row) {
      const RowFate fate = row_fate<Agent>(cells, row, final);
      if (fate.wanted)
        rows.put(row, fate.shows,
                 [&](auto& writer) GE_LAMBDA { write_row<F, Agent>(cells, row, writer); });
    }
  });
}
/// Rows of fixed length: each of all worlds of a block before the next, so that a line of the
/// record, which has a word of each of them, is still at hand.
template <auto F, class R, class Row, bool kFinal, class E>
inline void fixed_rows_out(Tile<E>& tile, const Set& set, char* to, const RowsAt& at) {
  tile.each_cell(set, agents_in<R>(tile.shared.params),
                 [to, at](const CellsOf<E>& cells, int row) GE_LAMBDA {
                   put_agent_row<F, typename R::Agent, Row, kFinal>(
                       cells, row, to + at.of(cells.world, row), at.tail);
                 });
}
template <Output kOutput, auto F, class R, class Row, class E>
inline void rows_out(Tile<E>& tile, const Set& set, Output output) {
  static_assert(std::is_same_v<Row, RowOf<F>>);
  char* const to = static_cast<char*>(tile.shared.bound.at[output]);
  if (to == nullptr) return;
  const RowsAt at = rows_at<E, R, kPlacedAs<kOutput>>(tile.shared, output);
  if (tile.into_final)
    fixed_rows_out<F, R, Row, true>(tile, set, to, at);
  else
    fixed_rows_out<F, R, Row, false>(tile, set, to, at);
}
/// Pictures, each as a whole; a crew shares the tiles of all of a world's.
template <Output, auto F, class R, AnyImage Row, class E>
inline void rows_out(Tile<E>& tile, const Set& set, Output) {
  const bool final = tile.into_final;
  const ImageTarget target = image_target<E, R>(tile.shared, final);
  if (!target.wanted()) return;
  const int agents = agents_in<R>(tile.shared.params);
  const int parts = tile.crew.size > 1 ? tiles_of(target.form) : 1;
  tile.share_world(set, [&](const CellsOf<E>& cells) {
    const Crew::Range mine = tile.crew.share(agents * parts);
    for (int k = mine.begin; k < mine.end; ++k) {
      const int row = k / parts;
      const Part part = parts > 1 ? tile_of(target.form, k % parts) : whole_of(target.form);
      put_part<F, typename R::Agent>(cells, row, int64_t(cells.world) * agents + row, target, part,
                                     final);
    }
  });
}

// ---- one row per world

template <auto F, class Row, class E>
inline void world_rows_out(Tile<E>& tile, const Set& set, Output output) {
  if constexpr (Wide<Row>) {
    const WideTarget target = wide_target<Row>(tile.shared, output);
    if (target.to == nullptr) return;
    tile.each_world(set, [target](const CellsOf<E>& cells) {
      HostWideRow<Row>::put(target, cells.world, true,
                            [&](auto& writer) GE_LAMBDA { write_state<F>(cells, writer); });
    });
  } else {
    auto* const to = static_cast<typename RowShape<Row>::Element*>(tile.shared.bound.at[output]);
    if (to == nullptr) return;
    tile.each_world(set, [to](const CellsOf<E>& cells) GE_LAMBDA {
      put_host_row(to + int64_t(cells.world) * RowShape<Row>::elements, state_row<F>(cells));
    });
  }
}

template <class E, Output kOutput, auto F, class R>
inline void stage(Tile<E>& tile, Show<kOutput, F, R>, const Set& set) {
  using Row = shown_row<E, kOutput, R>;
  if (!is_made<kOutput>(tile.into_final)) return;
  const Output output = output_for<E, R, kOutput>(tile.shared, tile.into_final);
  if constexpr (has_trait(kOutput, kOfAWorld))
    world_rows_out<F, Row>(tile, set, output);
  else
    rows_out<kOutput, F, R, Row>(tile, set, output);
}

}  // namespace ge
