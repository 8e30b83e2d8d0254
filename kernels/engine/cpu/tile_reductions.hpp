// Reduce of the tile: bit for bit what graph/reduction.hpp says, in three ways. Small Fixed tables
// go side by side for the worlds of a block, a crew takes the chunks of one world in turn, all else
// runs the plain form.
#pragma once

#include <cstring>

#include "engine/cpu/tile_worlds.hpp"
#include "engine/graph/reduction.hpp"

namespace ge {

/// The members of a crew take chunks; the first folds their results.
template <auto F, class Op, auto Into, class E>
inline void reduce_shared(const Tile<E>& tile, const CellsOf<E>& cells) {
  using Matching = MatchingTables<F, typename E::Schema>;
  using R = decltype(Op::identity());
  static_assert(sizeof(R) <= 8);
  const Crew& crew = tile.crew;
  const int chunks = chunks_of(cells.shared->params, Matching{});
  // Who takes which chunk means nothing: parts are folded in the order of the chunks.
  for (int k = crew.member; k < chunks; k += crew.size) {
    const R part = reduce_kth_chunk<F, Op>(cells, k, Matching{});
    std::memcpy(crew.parts + 8 * k, &part, sizeof part);
  }
  crew.meet();
  if (crew.first()) {
    call_into<Into>(cells, fold_chunks<Op>(chunks, [&](int k) {
                      R part;
                      std::memcpy(&part, crew.parts + 8 * k, sizeof part);
                      return part;
                    }));
  }
  crew.meet();
}

/// Accumulators of all worlds of a block, W for each.
template <auto F, class Op, auto Into, class T, class E>
inline void reduce_blocks(const Tile<E>& tile, const Set& set) {
  using R = decltype(Op::identity());
  // One chunk of at most 64 rows, so that accumulators and halves are all of the canonical order.
  constexpr int W = reduce_width(T::capacity), B = Tile<E>::B;
  const WorldFinder<typename E::Schema> here = tile.finder();
  const int rows = int(rows_of<T>(tile.shared.params));
  for (int i = 0; i < set.block_count; ++i) {
    const int block = set.blocks[i];
    R sums[W][B];
    for (int k = 0; k < W; ++k)
      for (int lane = 0; lane < B; ++lane) sums[k][lane] = Op::identity();
    for (int row = 0; row < rows; ++row) {
      GE_INDEPENDENT
      for (int lane = 0; lane < B; ++lane)
        sums[row % W][lane] =
            Op::combine(sums[row % W][lane], value_of_row<F, T>(here.at(block, lane), row));
    }
    for (int half = W / 2; half > 0; half /= 2)
      for (int k = 0; k < half; ++k)
        for (int lane = 0; lane < B; ++lane)
          sums[k][lane] = Op::combine(sums[k][lane], sums[k + half][lane]);
    GE_INDEPENDENT
    for (int lane = 0; lane < B; ++lane) call_into<Into>(here.at(block, lane), sums[0][lane]);
  }
  for (int i = 0; i < set.loose_count; ++i) {
    const CellsOf<E> cells = here.of(set.loose[i]);
    call_into<Into>(cells, reduce_world<F, Op>(cells));
  }
}

/// The one table of a reduction, if it is small enough for its accumulators to stay in the first
/// cache, and of as many rows in every world; else void.
template <class List>
struct SmallTable {
  using type = void;
};
template <class T>
struct SmallTable<Types<T>> {
  using type = std::conditional_t<T::kind == Kind::fixed && T::capacity <= 64, T, void>;
};

template <class E, auto F, class Op, auto Into>
inline void stage(Tile<E>& tile, Reduce<F, Op, Into>, const Set& set) {
  using Matching = MatchingTables<F, typename E::Schema>;
  using Small = typename SmallTable<Matching>::type;
  if constexpr (!Served<F, typename Tile<E>::Tables>::value) {
    return;
  } else if constexpr (!std::is_void_v<Small> && Tile<E>::B > 1) {
    if (tile.crew.first()) reduce_blocks<F, Op, Into, Small>(tile, set);
    tile.crew.meet();
  } else if (tile.crew.size > 1 && !has_one_chunk<Matching>) {
    tile.walk_worlds(set,
                     [&](const CellsOf<E>& cells) { reduce_shared<F, Op, Into>(tile, cells); });
  } else {
    tile.each_world(set, [](const CellsOf<E>& cells)
                             GE_LAMBDA { call_into<Into>(cells, reduce_world<F, Op>(cells)); });
  }
}

}  // namespace ge
