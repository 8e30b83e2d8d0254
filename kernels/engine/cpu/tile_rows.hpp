// Stages of the tile over the rows of tables: row jobs, lists of a known length, packs, rows in
// turns by colour, sorting. What happens to a row is graph/row_jobs.hpp's and call.hpp's.
#pragma once

#include "engine/cpu/tile_worlds.hpp"
#include "engine/graph/coloured.hpp"
#include "engine/graph/row_jobs.hpp"
#include "engine/graph/sorting.hpp"

namespace ge {

/// Rows of one stage are independent by contract, so neither their order nor the thread shows.
template <class Job, class E>
inline void run_rows(Tile<E>& tile, const Job& job, const Set& set) {
  using T = typename Job::Table;
  if constexpr (T::kind == Kind::fixed) {
    // As many rows in every world, all of them alive: nothing between the call and the vectors.
    tile.each_cell(set, int(rows_of<T>(tile.shared.params)),
                   [job](const CellsOf<E>& cells, int row) GE_LAMBDA { job(cells, row); });
  } else {
    // Every world has a length of its own.
    tile.share_world(set, [&tile, job](const CellsOf<E>& cells) GE_LAMBDA {
      const Crew::Range mine = tile.crew.share(cells.template rows<T>());
      for (int row = mine.begin; row < mine.end; ++row)
        if (cells.template alive<T>(row)) job(cells, row);
    });
  }
}
template <class E, class X>
  requires is_row_stage<X>
inline void stage(Tile<E>& tile, X x, const Set& set) {
  for_each_job<E>(x, tile.shared, [&](const auto& job) { run_rows(tile, job, set); });
}

// ---- lists of a length that is known before

/// A walk of its own: all members of a crew make a world's rows, one of them sets the length. The
/// count is computed again instead of stored for every world.
template <auto Count, class T, class E>
inline void close_lists(Tile<E>& tile, const Set& set) {
  tile.each_world(set, [](const CellsOf<E>& cells) GE_LAMBDA {
    const int wanted = ask<Count>(cells);
    close_list<T>(cells, wanted < 0 ? 0 : wanted);
  });
}
template <class E, auto Count, auto F, class T>
inline void stage(Tile<E>& tile, For<Count, F, T>, const Set& set) {
  static_assert(T::kind == Kind::list, "GE: For fills a List");
  if constexpr (is_number<Count>) {
    static_assert(Count <= T::capacity, "GE: For has more rows than its table");
    // The count is equal for all worlds and fits: a vector store.
    tile.each_cell(set, 1, [](const CellsOf<E>& cells, int) GE_LAMBDA {
      *cells.template header<T>(0) = uint32_t(Count);
    });
    tile.each_cell(set, Count, [](const CellsOf<E>& cells, int row) GE_LAMBDA {
      make_row<F, T>(cells, row, row);
    });
  } else {
    tile.share_world(set, [&tile](const CellsOf<E>& cells) GE_LAMBDA {
      const int wanted = ask<Count>(cells);
      const int room = cells.template room<T>();
      const Crew::Range mine = tile.crew.share(wanted < room ? wanted : room);
      for (int row = mine.begin; row < mine.end; ++row) make_row<F, T>(cells, row, row);
    });
    close_lists<Count, T>(tile, set);
  }
}
/// Vectorised inside a world: the rules compute with packs.
template <class E, auto Count, auto F, class T>
inline void stage(Tile<E>& tile, ForPacks<Count, F, T>, const Set& set) {
  tile.share_world(set, [&tile](const CellsOf<E>& cells) GE_LAMBDA {
    const int wanted = ask<Count>(cells);
    const int room = cells.template room<T>();
    const int count = wanted < room ? wanted : room;
    const Crew::Range mine = tile.crew.share((count + kPack - 1) / kPack);
    for (int pack = mine.begin; pack < mine.end; ++pack)
      make_pack<F, T>(cells, pack * kPack, count);
  });
  close_lists<Count, T>(tile, set);
}

template <class E, auto Count, auto P, auto F, class T>
inline void stage(Tile<E>& tile, ForPacksWhere<Count, P, F, T>, const Set& set) {
  stage(tile, ForPacks<Count, F, T>{}, set);
}

// ---- rows in an order

/// World by world: worlds have different numbers of colours, and their colours are independent.
template <class E, auto Count, auto F>
inline void stage(Tile<E>& tile, Coloured<Count, F>, const Set& set) {
  using T = typename ColouredTable<F, typename Tile<E>::Tables>::type;
  tile.share_world(set, [&tile](const CellsOf<E>& cells) GE_LAMBDA {
    const int colours = ask<Count>(cells);
    const Crew::Range mine = tile.crew.share(cells.template rows<T>());
    for (int colour = 0; colour < colours; ++colour) {
      for (int row = mine.begin; row < mine.end; ++row)
        if (cells.template load<T, Colour>(row).value == uint32_t(colour))
          call_coloured<F, T>(cells, row);
      tile.crew.meet();  // the next colour may write the same rows
    }
  });
}
template <class E, auto Key, class T, class Order, class Starts>
inline void stage(Tile<E>& tile, SortRows<Key, T, Order, Starts>, const Set& set) {
  tile.each_world(
      set, [](const CellsOf<E>& cells) GE_LAMBDA { sort_rows<Key, T, Order, Starts>(cells); });
}

}  // namespace ge
