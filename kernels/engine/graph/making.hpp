// Making rows of Lists and Pools: the function gets components that begin as zero and are stored as
// it leaves them. Executors choose the row and count the rows (tables.hpp).
#pragma once

#include "engine/graph/call.hpp"

namespace ge {

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

}  // namespace ge
