// Stages of the tile that meet the caller's arrays: actions come in, numbers and rows go out. The
// forms of both are graph/channels.hpp's and host_rows.hpp's. An array that the caller does not
// want is null, and its stage does nothing.
#pragma once

#include <cstring>

#include "engine/cpu/tile_worlds.hpp"
#include "engine/graph/host_rows.hpp"

namespace ge {

/// They were judged, and became the rules' own type, before any world moved (simulator/host.hpp).
template <class E>
inline void stage(Tile<E>& tile, TakeActions, const Set& set) {
  using From = typename ActionShape<typename E::Schema::Action>::Element;
  const int agents = agents_of(tile.shared);
  tile.each_cell(set, agents, [agents](const CellsOf<E>& cells, int row) GE_LAMBDA {
    take_action<E, From, false>(cells, row, agents);
  });
}
template <class E, Output O, auto F>
inline void stage(Tile<E>& tile, Write<O, F>, const Set& set) {
  using V = typename Signature<decltype(F)>::Result;
  using Agent = typename Tile<E>::Agent;
  V* const to = static_cast<V*>(tile.shared.bound.at[O]);
  if (to == nullptr) return;
  const int agents = agents_of(tile.shared);
  if constexpr (Agent::capacity == 1) {
    // Worlds of a block lie side by side in the caller's array too: one vector store.
    tile.each_cell(set, 1, [to](const CellsOf<E>& cells, int row) GE_LAMBDA {
      to[cells.world] = value_of_row<F, Agent>(cells, row);
    });
  } else {
    tile.each_cell(set, agents, [to, agents](const CellsOf<E>& cells, int row) GE_LAMBDA {
      to[int64_t(cells.world) * agents + row] = value_of_row<F, Agent>(cells, row);
    });
  }
}
template <class E, class R>
inline void stage(Tile<E>& tile, TakeActionsOf<R>, const Set& set) {
  using From = typename ActionShape<typename R::Action>::Element;
  tile.each_cell(set, agents_in<R>(tile.shared.params),
                 [](const CellsOf<E>& cells, int row)
                     GE_LAMBDA { take_role_action<E, R, From, false>(cells, row); });
}
template <class E, Output O, auto F, class R>
inline void stage(Tile<E>& tile, Write<O, F, R>, const Set& set) {
  using V = typename Signature<decltype(F)>::Result;
  V* const to = static_cast<V*>(tile.shared.bound.at[O]);
  if (to == nullptr) return;
  V* const first = to + agent_index<R>(tile.shared, 0, 0);
  const int64_t agents = agents_of(tile.shared);
  tile.each_cell(set, agents_in<R>(tile.shared.params),
                 [first, agents](const CellsOf<E>& cells, int row) GE_LAMBDA {
                   first[cells.world * agents + row] =
                       value_of_row<F, typename R::Agent>(cells, row);
                 });
}
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
  tile.crew.meet();  // also whoever is not the first, or it would wait for ever
}

// ---- rows of agents

/// Wide rows, each written where it belongs at once: no row passes through another place.
template <auto F, Wide Row, class E>
inline void rows_out(Tile<E>& tile, const Set& set, Output output) {
  using Agent = typename Tile<E>::Agent;
  const WideTarget target = wide_target<Row>(tile.shared, output);
  if (target.to == nullptr) return;
  const int agents = agents_of(tile.shared);
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
template <auto F, class Row, class E>
inline void rows_out(Tile<E>& tile, const Set& set, Output output) {
  static_assert(std::is_same_v<Row, RowOf<F>>);
  using Agent = typename Tile<E>::Agent;
  using Element = typename RowShape<Row>::Element;
  constexpr int elements = RowShape<Row>::elements;
  Element* const to = static_cast<Element*>(tile.shared.bound.at[output]);
  if (to == nullptr) return;
  const int agents = agents_of(tile.shared);
  if (tile.into_final) {
    // Few worlds: one by one.
    tile.share_world(set, [&](const CellsOf<E>& cells) GE_LAMBDA {
      const Crew::Range mine = tile.crew.share(agents);
      for (int row = mine.begin; row < mine.end; ++row) {
        bool wanted;
        const Row values = observe_row<F, Agent>(cells, row, true, wanted);
        if (wanted) put_host_row(to + (int64_t(cells.world) * agents + row) * elements, values);
      }
    });
  } else {
    tile.each_cell(set, agents, [to, agents](const CellsOf<E>& cells, int row) GE_LAMBDA {
      bool wanted;
      const Row values = observe_row<F, Agent>(cells, row, false, wanted);
      const int64_t at = Agent::capacity == 1 ? cells.world : int64_t(cells.world) * agents + row;
      put_host_row(to + at * elements, values);
    });
  }
}

/// Rows of a role: each of all worlds of a block before the next, so that a line of the record,
/// which has a word of each of them, is still at hand.
template <Output kOutput, auto F, class R, class E>
inline void role_rows_out(Tile<E>& tile, const Set& set, Output output) {
  using Row = role_row<R, kOutput>;
  static_assert(std::is_same_v<Row, RowOf<F>>);
  using Element = typename RowShape<Row>::Element;
  Element* const to = static_cast<Element*>(tile.shared.bound.at[output]);
  if (to == nullptr) return;
  const RowsAt at = rows_at<kOutput, R>(tile.shared);
  const int agents = agents_in<R>(tile.shared.params);
  const bool final = tile.into_final;
  tile.each_cell(set, agents, [at, to, final](const CellsOf<E>& cells, int row) GE_LAMBDA {
    make_role_row<F, typename R::Agent, Row>(cells, row, final, to + at.of(cells.world, row),
                                             at.tail);
  });
}

// ---- pictures of agents

/// Each as a whole; a crew shares the tiles of all of a world's.
template <auto F, AnyImage Row, class E>
inline void rows_out(Tile<E>& tile, const Set& set, Output) {
  using Agent = typename Tile<E>::Agent;
  const bool final = tile.into_final;
  const ImageTarget target = image_target<Row>(tile.shared, final);
  if (!target.wanted()) return;
  const int agents = agents_of(tile.shared);
  const int parts = tile.crew.size > 1 ? tiles_of(target.form) : 1;
  tile.share_world(set, [&](const CellsOf<E>& cells) {
    const Crew::Range mine = tile.crew.share(agents * parts);
    for (int k = mine.begin; k < mine.end; ++k) {
      const int row = k / parts;
      const Part part = parts > 1 ? tile_of(target.form, k % parts) : whole_of(target.form);
      put_part<F, Agent>(cells, row, int64_t(cells.world) * agents + row, target, part, final);
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

template <class E, Output kOutput, auto F>
inline void stage(Tile<E>& tile, Show<kOutput, F>, const Set& set) {
  using Row = row_of<E, kOutput>;
  if (!is_made<kOutput>(tile.into_final)) return;
  if constexpr (has_trait(kOutput, kOfAWorld))
    world_rows_out<F, Row>(tile, set, target_of<kOutput>(tile.into_final));
  else
    rows_out<F, Row>(tile, set, target_of<kOutput>(tile.into_final));
}
template <class E, Output kOutput, auto F, class R>
inline void stage(Tile<E>& tile, Show<kOutput, F, R>, const Set& set) {
  if (is_made<kOutput>(tile.into_final))
    role_rows_out<kOutput, F, R>(tile, set, target_of<kOutput>(tile.into_final));
}

}  // namespace ge
