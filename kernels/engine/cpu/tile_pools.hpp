// Stages of the tile that no shipped environment uses: slots of Pools that are taken and freed, and
// pairs of rows.
#pragma once

#include "engine/base/platform_numbers.hpp"
#include "engine/cpu/tile_emission.hpp"

namespace ge {

template <class E, auto Count, auto Make, class T>
inline void stage(Tile<E>& tile, Spawn<Count, Make, T>, const Set& set) {
  static_assert(T::kind == Kind::pool, "GE: Spawn fills a Pool");
  tile.each_world(set, [](const CellsOf<E>& cells) GE_LAMBDA {
    const int wanted = ask<Count>(cells);
    int made = 0;
    for (int word = 0; word < kLiveWords<T> && made < wanted; ++word) {
      uint32_t free = ~*cells.template header<T>(word);
      while (free != 0 && made < wanted) {
        const int row = word * 32 + lowest_bit(free);
        if (row >= T::capacity) break;
        free &= free - 1;
        *cells.template header<T>(word) |= 1u << (row & 31);
        make_row<Make, T>(cells, row, made++);
      }
    }
    count_overflow<T>(cells, T::capacity + wanted - made, T::capacity);
  });
}
/// All rows are judged before any dies: a test may look at others.
template <class E, auto Test, class T>
inline void stage(Tile<E>& tile, Destroy<Test, T>, const Set& set) {
  static_assert(T::kind == Kind::pool, "GE: Destroy empties slots of a Pool");
  tile.each_world(set, [](const CellsOf<E>& cells) GE_LAMBDA {
    // A bit per slot, set by the row's own test only.
    uint32_t dead[kLiveWords<T>] = {};
    for (int row = 0; row < T::capacity; ++row)
      if (cells.template alive<T>(row) && value_of_row<Test, T>(cells, row))
        dead[row >> 5] |= 1u << (row & 31);
    for (int row = 0; row < T::capacity; ++row)
      if (dead[row >> 5] >> (row & 31) & 1u) destroy_row<T>(cells, row);
  });
}

template <class T, class E>
inline int pair_rows(const Tile<E>& tile) {
  if constexpr (T::kind == Kind::fixed) return int(rows_of<T>(tile.shared.params));
  return T::capacity;
}
template <class E, class A, class C, auto Test, auto Make, class T>
inline void stage(Tile<E>& tile, EmitPairs<A, C, Test, Make, T>, const Set& set) {
  static_assert(A::kind != Kind::list && C::kind != Kind::list,
                "GE: EmitPairs walks Fixed and Pool tables; over a List use Emit with its count");
  constexpr bool same = std::is_same_v<A, C>;
  const int count_a = pair_rows<A>(tile), count_c = pair_rows<C>(tile);
  const int count = same ? pair_count(count_a) : count_a * count_c;
  const auto pair = [count_a, count_c](int i) {
    return same ? pair_at(i, count_a) : Pair{i / count_c, i % count_c};
  };
  emit<T>(
      tile, set, count,
      [pair](const CellsOf<E>& cells, int i) GE_LAMBDA {
        const Pair p = pair(i);
        return cells.template alive<A>(p.a) && cells.template alive<C>(p.b) &&
               bool(Test(World<typename E::Schema>(cells), p.a, p.b));
      },
      [pair](const CellsOf<E>& cells, int row, int i) GE_LAMBDA {
        const Pair p = pair(i);
        make_row<Make, T>(cells, row, p.a, p.b);
      });
}

}  // namespace ge
