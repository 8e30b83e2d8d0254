// How Coloured calls a system: as on a row (call.hpp), but the system may also write rows of other
// tables, because no two rows of one colour write the same row. Executors run colour by colour.
#pragma once

#include "engine/graph/call.hpp"

namespace ge {

/// One argument of a Coloured system on a row of T: it may also be rows of another table.
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

}  // namespace ge
