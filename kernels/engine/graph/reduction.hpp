// The canonical order of a reduction, on which the bits of a sum of floats depend: the plain form
// that every executor must equal.
//
//   row      of a chunk of 1,024 goes to accumulator (row mod W), in order of rows; W is a power
//            of two up to 32, by the table's capacity (reduce_width)
//   halves   accumulator k takes in k + W / 2, then k + W / 4, ...: what lanes that shuffle do
//   chunks   of all tables, counted in order, are folded as rows are
//
// Nothing in it depends on lanes, threads or blocks, so that none of them can choose another order.
#pragma once

#include "engine/graph/call.hpp"

namespace ge {

/// Combines `width` accumulators, 32 at most: k with k + width / 2, then k + width / 4, ... They
/// are asked for in bit-reversed order and carried like the digits of a binary counter, because a
/// GPU would keep an array of them in local memory.
GE_EITHER_MACHINE
template <class Op, class Leaf>
GE_FN auto fold_halves(int width, const Leaf& leaf) {
  using R = decltype(Op::identity());
  constexpr int most = 5;
  R held[most], carry = Op::identity();
  GE_UNROLL
  for (int level = 0; level < most; ++level) held[level] = Op::identity();
  GE_NO_UNROLL
  for (int n = 0; n < width; ++n) {
    int k = 0;
    GE_UNROLL
    for (int level = 0; level < most; ++level) k |= ((n >> level) & 1) * (width >> (level + 1));
    carry = leaf(k);
    bool rises = true;
    GE_UNROLL
    for (int level = 0; level < most; ++level) {
      const bool full = ((n >> level) & 1) != 0;
      if (rises && full) carry = Op::combine(held[level], carry);
      if (rises && !full) held[level] = carry;
      rises = rises && full;
    }
  }
  return carry;
}

/// Rows [first, last) of T, W accumulators, folded by halves.
template <auto F, class Op, class T, class S>
auto reduce_chunk(const Cells<S>& cells, int first, int last) {
  using R = decltype(Op::identity());
  constexpr int W = reduce_width(T::capacity);
  R sums[W];
  for (R& sum : sums) sum = Op::identity();
  for (int row = first; row < last; ++row)
    if (cells.template alive<T>(row))
      sums[(row - first) % W] =
          Op::combine(sums[(row - first) % W], R(value_of_row<F, T>(cells, row)));
  for (int half = W / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) sums[k] = Op::combine(sums[k], sums[k + half]);
  return sums[0];
}

/// Most chunks that the tables of a reduction can have.
GE_FN constexpr int chunks_of_rows(int64_t rows) {
  return int((rows + kReduceChunk - 1) / kReduceChunk);
}
template <class Params, class... Ts>
GE_FN constexpr int chunks_of([[maybe_unused]] const Params& params, Types<Ts...>) {
  return (0 + ... + chunks_of_rows(room_of<Ts>(params)));
}
/// Whether there is exactly one chunk for all parameters.
template <class... Ts>
inline constexpr bool one_chunk = (0 + ... + (is_any<Ts> ? 2 : chunks_of_rows(Ts::capacity))) == 1;
template <class List>
inline constexpr bool has_one_chunk = false;
template <class... Ts>
inline constexpr bool has_one_chunk<Types<Ts...>> = one_chunk<Ts...>;

/// The k-th chunk of 1,024 rows, counted over the tables in order.
template <auto F, class Op, class S, class... Ts>
auto reduce_kth_chunk(const Cells<S>& cells, int k, Types<Ts...> tables) {
  decltype(Op::identity()) part = Op::identity();
  for_each_type(tables, [&](auto t) {
    using T = typename decltype(t)::type;
    const int chunks = chunks_of_rows(room_of<T>(cells.shared->params));
    if (k >= 0 && k < chunks) {
      const int rows = cells.template rows<T>();
      const int first = k * kReduceChunk;
      part = reduce_chunk<F, Op, T>(cells, first,
                                    first + kReduceChunk < rows ? first + kReduceChunk : rows);
    }
    k -= chunks;
  });
  return part;
}

/// The results of all chunks, `part(k)`, folded as rows are.
GE_EITHER_MACHINE
template <class Op, class F>
GE_FN auto fold_chunks(int chunks, F&& part) {
  using R = decltype(Op::identity());
  if (chunks == 1) return R(part(0));
  const int width = reduce_width(chunks);
  return fold_halves<Op>(width, [&](int first) GE_LAMBDA {
    R sum = Op::identity();
    for (int k = first; k < chunks; k += width) sum = Op::combine(sum, R(part(k)));
    return sum;
  });
}

template <auto F, class S>
using MatchingTables = matching<Components<F>, AllTables<S>>;

/// All rows that F matches.
template <auto F, class Op, class S>
auto reduce_world(const Cells<S>& cells) {
  using Tables = MatchingTables<F, S>;
  return fold_chunks<Op>(chunks_of(cells.shared->params, Tables{}),
                         [&](int k) { return reduce_kth_chunk<F, Op>(cells, k, Tables{}); });
}

}  // namespace ge
