// Reduce of the group: bit for bit what graph/reduction.hpp says. A lane has accumulators lane,
// lane + G, ...; the upper halvings stay within it, the lower are shuffles, so that lane 0 has the
// result.
#pragma once

#include "engine/cuda/group_lanes.hpp"
#include "engine/graph/reduction.hpp"

namespace ge {

/// Accumulator k of W after halving until kLeft are left: a tree of known size, which needs no
/// counter.
template <int W, class Op, int kLeft, class Leaf>
GE_FN auto fold_tree(const Leaf& leaf, int k) {
  if constexpr (kLeft == W)
    return leaf(k);
  else
    return Op::combine(fold_tree<W, Op, 2 * kLeft>(leaf, k),
                       fold_tree<W, Op, 2 * kLeft>(leaf, k + kLeft));
}
template <int W, class Op, class Leaf>
GE_FN auto fold_own(const Leaf& leaf) {
  constexpr int kFew = 8;  // more would repeat the code of a leaf too often
  if constexpr (W <= kFew)
    return fold_tree<W, Op, 1>(leaf, 0);
  else
    return fold_halves<Op>(W, leaf);
}
/// The chunk that begins at row `first`.
/// Lanes that are off or beyond W hold identities and shuffle along: every lane of the warp has to.
template <auto F, class Op, class T, AnyGroup Group>
GE_FN auto reduce_chunk(const Group& group, bool on, int first) {
  using R = decltype(Op::identity());
  constexpr int W = reduce_width(T::capacity), G = Group::kLanes;
  const auto& cells = group.cells;
  const int rows = on ? cells.template rows<T>() : 0;
  const int last = first + kReduceChunk < rows ? first + kReduceChunk : rows;
  R mine = fold_own<(W > G ? W / G : 1), Op>([&](int part) GE_LAMBDA {
    R sum = Op::identity();
    const int k = group.lane + part * G;
    if constexpr (T::capacity == 1) {
      if (k == 0 && last > 0 && cells.template alive<T>(0))
        sum = Op::combine(sum, R(value_of_row<F, T>(cells, 0)));
    } else if constexpr (T::capacity <= W) {  // an accumulator has a row, or none
      if (k < last && cells.template alive<T>(k))
        sum = Op::combine(sum, R(value_of_row<F, T>(cells, k)));
    } else {
      GE_UNROLL_ROWS
      for (int row = k < W ? first + k : last; row < last; row += W)
        if (cells.template alive<T>(row)) sum = Op::combine(sum, R(value_of_row<F, T>(cells, row)));
    }
    return sum;
  });
  GE_UNROLL
  for (int half = (W < G ? W : G) / 2; half > 0; half /= 2)
    mine = Op::combine(mine, Group::Service::shuffle_down(mine, half));
  return mine;
}
/// The k-th chunk, counted over the tables in order.
template <auto F, class Op, AnyGroup Group, class... Ts>
GE_FN auto reduce_kth_chunk(const Group& group, bool on, int k, Types<Ts...> tables) {
  decltype(Op::identity()) part = Op::identity();
  int first = 0;  // chunk of the table at hand
  for_each_type(tables, [&](auto t) GE_LAMBDA {
    using T = typename decltype(t)::type;
    const int own = chunks_of_rows(room_of<T>(group.cells.shared->params));
    if (k >= first && k < first + own)
      part = reduce_chunk<F, Op, T>(group, on, (k - first) * kReduceChunk);
    first += own;
  });
  return part;
}
/// All chunks of all tables.
template <auto F, class Op, AnyGroup Group, class... Ts>
GE_FN auto reduce_tables(const Group& group, bool on, Types<Ts...> tables) {
  using R = decltype(Op::identity());
  if constexpr (one_chunk<Ts...>) {
    return reduce_chunk<F, Op, typename Tail<Types<Ts...>>::first>(group, on, 0);
  } else {
    const int chunks = chunks_of(group.cells.shared->params, tables);
    const auto chunk_at = [&](int chunk) GE_LAMBDA {
      return reduce_kth_chunk<F, Op>(group, on, chunk, tables);
    };
    if (chunks == 1) return chunk_at(0);
    const int width = reduce_width(chunks);
    return fold_halves<Op>(width, [&](int k) GE_LAMBDA {
      R sum = Op::identity();
      GE_NO_UNROLL
      for (int chunk = k; chunk < chunks; chunk += width) sum = Op::combine(sum, chunk_at(chunk));
      return sum;
    });
  }
}

template <bool kFinal, AnyGroup Group, auto F, class Op, auto Into>
GE_FN void stage(Group& group, Reduce<F, Op, Into>, bool on) {
  if constexpr (Served<F, typename Group::Tables>::value) {
    const auto total = reduce_tables<F, Op>(group, on, MatchingTables<F, typename Group::S>{});
    if (group.leads(on)) call_into<Into>(group.cells, total);
  }
}

}  // namespace ge
