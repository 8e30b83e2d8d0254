// Calling a system: load what its signature names, call, store what it may write. Every executor
// runs rows through these few functions, so that a stage means the same everywhere.
#pragma once

#include "engine/graph/graph.hpp"
#include "engine/world/world.hpp"

namespace ge {

/// One argument of a system over rows of T.
template <class T, class Arg, class S>
GE_FN bare<Arg> argument(const Cells<S>& cells, int row) {
  if constexpr (is_slot<Arg>)
    return Slot{row};
  else if constexpr (is_squad<Arg>)
    return Squad{cells.squad_lane, cells.squad_size};
  else
    return cells.template load<T, bare<Arg>>(row);
}
template <class T, class Arg, class S>
GE_FN void give_back(const Cells<S>& cells, int row, const bare<Arg>& value) {
  if constexpr (is_written<Arg>) cells.template store<T, bare<Arg>>(row, value);
}

/// One argument of a system that runs once per world: a component of a singleton, or Rows.
template <class Arg, class S>
GE_FN bare<Arg> world_argument(const Cells<S>& cells) {
  using A = bare<Arg>;
  if constexpr (is_rows<A>) {
    using T = typename A::Table;
    using C = typename A::Component;
    const int stride = in_scratch<T, C> ? cells.scratch_stride : Cells<S>::B;
    return A(cells.template at<T, C>(0), stride, int(sizeof(C)) * stride);
  } else {
    return cells.template load<single_of<A, typename Cells<S>::Tables>, A>(0);
  }
}
template <class Arg, class S>
GE_FN void give_back_world(const Cells<S>& cells, const bare<Arg>& value) {
  if constexpr (is_written<Arg>)
    cells.template store<single_of<bare<Arg>, typename Cells<S>::Tables>, bare<Arg>>(0, value);
}

/// A system on one row of T.
template <auto F, class T, class S, class... Args>
GE_FN void call_row(const Cells<S>& cells, int row, Types<Args...>) {
  static_assert((!is_rows<bare<Args>> && ...), "GE: Rows are for systems of EachWorld");
  const World<S> world(cells);
  [&](bare<Args>... values) __attribute__((always_inline)) {
    F(world, values...);
    (give_back<T, Args>(cells, row, values), ...);
  }(argument<T, Args>(cells, row)...);
}
template <auto F, class T, class S>
GE_FN void call_row(const Cells<S>& cells, int row) {
  call_row<F, T>(cells, row, Arguments<F>{});
}

/// A system on one row of T, run by the lanes of a squad, all of which arrive at the same values.
template <auto F, class T, class S, class... Args>
GE_FN void call_together(const Cells<S>& cells, int row, Types<Args...>) {
  const World<S> world(cells);
  const Squad squad{cells.squad_lane, cells.squad_size};
  [&](bare<Args>... values) __attribute__((always_inline)) {
    F(world, values...);
    squad.meet();  // all lanes have read the row
    if (squad.lane() == 0) (give_back<T, Args>(cells, row, values), ...);
  }(argument<T, Args>(cells, row)...);
}
template <auto F, class T, class S>
GE_FN void call_together(const Cells<S>& cells, int row) {
  call_together<F, T>(cells, row, Arguments<F>{});
}

/// A system of Coloured on one row of T: it may also write rows of other tables.
template <class T, class Arg, class S>
GE_FN bare<Arg> coloured_argument(const Cells<S>& cells, int row) {
  if constexpr (is_rows<bare<Arg>>)
    return world_argument<Arg>(cells);
  else
    return argument<T, Arg>(cells, row);
}
template <auto F, class T, class S, class... Args>
GE_FN void call_coloured(const Cells<S>& cells, int row, Types<Args...>) {
  const World<S> world(cells);
  [&](bare<Args>... values) __attribute__((always_inline)) {
    F(world, values...);
    (give_back<T, Args>(cells, row, values), ...);
  }(coloured_argument<T, Args>(cells, row)...);
}
template <auto F, class T, class S>
GE_FN void call_coloured(const Cells<S>& cells, int row) {
  call_coloured<F, T>(cells, row, Arguments<F>{});
}
/// The one table that a system of Coloured runs on.
template <auto F, class Tables>
struct ColouredTable {
  using found = matching<concat<Components<F>, Types<Colour>>, Tables>;
  static_assert(found::size == 1,
                "GE: Coloured wants exactly one table with the components of its system and a "
                "Colour");
  template <class L>
  struct First;
  template <class A, class... Rest>
  struct First<Types<A, Rest...>> {
    using type = A;
  };
  using type = typename First<found>::type;
};

/// ForPacks: rows [first, first + kPack) of T, but none from `count` on.
template <class T, class List>
struct OneFloat;
template <class T, class C>
struct OneFloat<T, Types<C>> {
  static_assert(T::kind == Kind::list && sizeof(C) == 4 && (is_any<T> || T::capacity % 16 == 0),
                "GE: ForPacks fills a List of one component of one float, its capacity a multiple "
                "of 16");
  using type = C;
};
template <auto F, class T, class S>
GE_FN void make_pack(const Cells<S>& cells, int first, int count) {
  using C = typename OneFloat<T, typename T::components>::type;
  Floats values{};
  F(World<S>(cells), first, values);
  GE_UNROLL
  for (int k = 0; k < kPack; ++k)
    if (first + k < count)
      cells.template store<T, C>(first + k, __builtin_bit_cast(C, lane(values, k)));
}

/// The value of a function that only reads one row of T.
template <auto F, class T, class S, class... Args>
GE_FN auto value_of_row(const Cells<S>& cells, int row, Types<Args...>) {
  static_assert((!is_written<Args> && ...), "GE: a function of Reduce or Destroy only reads");
  const World<S> world(cells);
  return F(world, argument<T, Args>(cells, row)...);
}
template <auto F, class T, class S>
GE_FN auto value_of_row(const Cells<S>& cells, int row) {
  return value_of_row<F, T>(cells, row, Arguments<F>{});
}

/// A system over singletons; `first...` comes before the components (the total of Reduce).
template <auto F, class S, class... Skip, class... Args, class... First>
GE_FN void call_world(const Cells<S>& cells, Types<Args...>, const First&... first) {
  const World<S> world(cells);
  [&](bare<Args>... values) __attribute__((always_inline)) {
    F(world, first..., values...);
    (give_back_world<Args>(cells, values), ...);
  }(world_argument<Args>(cells)...);
}
template <auto F, class S>
GE_FN void call_world(const Cells<S>& cells) {
  call_world<F>(cells, Arguments<F>{});
}

template <class T>
struct Tail;
template <class First, class... Rest>
struct Tail<Types<First, Rest...>> {
  using type = Types<Rest...>;
  using first = First;
};

/// Reduce's target.
template <auto Into, class S, class R>
GE_FN void call_into(const Cells<S>& cells, const R& total) {
  call_world<Into>(cells, typename Tail<Arguments<Into>>::type{}, total);
}

/// A predicate or count over singletons.
template <auto F, class S, class... Args>
GE_FN auto ask(const Cells<S>& cells, Types<Args...>) {
  using Tables = typename Cells<S>::Tables;
  static_assert((!is_written<Args> && ...), "GE: a predicate or count only reads");
  const World<S> world(cells);
  return F(world, argument<single_of<bare<Args>, Tables>, Args>(cells, 0)...);
}
template <auto F, class S>
GE_FN auto ask(const Cells<S>& cells) {
  if constexpr (std::is_integral_v<decltype(F)>)
    return F;
  else
    return ask<F>(cells, Arguments<F>{});
}
template <auto F>
inline constexpr bool is_number = std::is_integral_v<decltype(F)>;

/// make(World, index..., C&...) into a row of T whose components begin as zero.
template <auto Make, class T, class S, class... Cs, class... Index>
GE_FN void make_row(const Cells<S>& cells, int row, Types<Cs...>, Index... index) {
  const World<S> world(cells);
  [&](Cs... values) __attribute__((always_inline)) {
    Make(world, index..., values...);
    (cells.template store<T, Cs>(row, values), ...);
  }(Cs{}...);
}
template <auto Make, class T, class S, class... Index>
GE_FN void make_row(const Cells<S>& cells, int row, Index... index) {
  make_row<Make, T>(cells, row, typename T::components{}, index...);
}

template <class T, class S, class... Cs>
GE_FN void zero_row(const Cells<S>& cells, int row, Types<Cs...>) {
  (cells.template store<T, Cs>(row, Cs{}), ...);
}

// ---- rows of tables that come and go

/// The slot becomes free: components zero, handles stale.
template <class T, class S>
GE_FN void destroy_row(const Cells<S>& cells, int row) {
  uint32_t* const live = cells.template header<T>(row >> 5);
  *live = *live & ~(1u << (row & 31));
  uint32_t* const generation = cells.template generation<T>(row);
  *generation = *generation + 1;
  zero_row<T>(cells, row, typename T::components{});
}

/// Empties the Lists and Pools in one of the two memories.
template <bool kScratch, class T, class S>
GE_FN void clear_table(const Cells<S>& cells) {
  if constexpr (T::scratch == kScratch && T::kind == Kind::list) {
    *cells.template header<T>(0) = 0;
  } else if constexpr (T::scratch == kScratch && T::kind == Kind::pool) {
    for (int row = 0; row < T::capacity; ++row) {
      if constexpr (kScratch)
        *cells.template header<T>(row >> 5) = 0, *cells.template generation<T>(row) = 0;
      else if (cells.template alive<T>(row))
        destroy_row<T>(cells, row);
    }
  }
}
template <bool kScratch, class S, class... Ts>
GE_FN void clear_tables(const Cells<S>& cells, Types<Ts...>) {
  (clear_table<kScratch, Ts>(cells), ...);
}
template <bool kScratch, class S>
GE_FN void clear_tables(const Cells<S>& cells) {
  clear_tables<kScratch>(cells, AllTables<S>{});
}
template <bool kScratch, class... Ts>
consteval bool has_dynamic(Types<Ts...>) {
  return ((Ts::scratch == kScratch && Ts::kind != Kind::fixed) || ...);
}

// ---- sorting by key

template <class T, class Order, class Starts>
consteval bool can_sort() {
  static_assert(T::kind == Kind::fixed && Order::kind == Kind::fixed && Starts::kind == Kind::fixed,
                "GE: SortRows is for Fixed tables");
  static_assert(Order::scratch && Starts::scratch, "GE: SortRows fills scratch tables");
  return true;
}
/// The key of a row, below `keys`.
template <auto Key, class T, class S>
GE_FN int key_of_row(const Cells<S>& cells, int row, int keys) {
  const uint32_t key = value_of_row<Key, T>(cells, row);
  return key < uint32_t(keys) ? int(key) : keys - 1;
}
/// One world, the plain form: a counting sort. Row k + 1 of Starts first counts the rows of key k,
/// then says where the next of them goes; in the end that is where they end, as it should.
template <auto Key, class T, class Order, class Starts, class S>
GE_FN void sort_rows(const Cells<S>& cells) {
  static_assert(can_sort<T, Order, Starts>());
  const int rows = cells.template rows<T>(), keys = cells.template rows<Starts>() - 1;
  const auto next = [&](int key)
                        GE_LAMBDA { return cells.template load<Starts, First>(key + 1).place; };
  const auto set_next = [&](int key, uint32_t place) GE_LAMBDA {
    cells.template store<Starts, First>(key + 1, First{place});
  };
  for (int key = -1; key < keys; ++key) set_next(key, 0);
  for (int row = 0; row < rows; ++row) {
    const int key = key_of_row<Key, T>(cells, row, keys);
    set_next(key, next(key) + 1);
  }
  uint32_t before = 0;
  for (int key = 0; key < keys; ++key) {
    const uint32_t own = next(key);
    set_next(key, before);
    before += own;
  }
  for (int row = 0; row < rows; ++row) {
    const int key = key_of_row<Key, T>(cells, row, keys);
    const uint32_t place = next(key);
    set_next(key, place + 1);
    cells.template store<Order, Sorted>(int(place), Sorted{uint32_t(row), uint32_t(row)});
  }
}

// ---- the canonical order of a reduction: the plain form that every executor must equal

/// What remains of `width` accumulators, 32 at most, when k is combined with k + width / 2, then
/// k + width / 4, ... They are asked for in bit-reversed order and carried like the digits of a
/// binary counter: on a GPU an array of them would lie in local memory.
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

/// Chunks that the tables of a reduction can have at most.
GE_FN constexpr int chunks_of_rows(int64_t rows) {
  return int((rows + kReduceChunk - 1) / kReduceChunk);
}
template <class Params, class... Ts>
GE_FN constexpr int chunks_of([[maybe_unused]] const Params& params, Types<Ts...>) {
  return (0 + ... + chunks_of_rows(room_of<Ts>(params)));
}
/// Whether there is one chunk whatever the parameters.
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

/// Position of a type in a list: the number of a table in the counters.
template <class T, class List>
struct IndexOf;
template <class T, class... Ts>
struct IndexOf<T, Types<Ts...>> {
  static constexpr int value = [] {
    int at = 0, found = -1;
    ((found = std::is_same_v<T, Ts> ? at : found, ++at), ...);
    return found;
  }();
};

/// A full table: the rows beyond were dropped; say how many and what would have fitted.
template <class T, class S>
GE_FN void count_overflow(const Cells<S>& cells, int needed, int capacity) {
  constexpr int table = IndexOf<T, AllTables<S>>::value;
  static_assert(table < Counters::kTables);
  if (needed <= capacity) return;
  count_add(&cells.shared->counters->dropped[table], (unsigned long long)(needed - capacity));
  count_max(&cells.shared->counters->needed[table], (unsigned long long)needed);
}

}  // namespace ge
