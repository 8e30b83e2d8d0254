// Calling a system: load the components that its signature names, call it, store those that it may
// write. Every executor runs rows through these few functions, so that a stage means the same
// everywhere; executors differ only in order and in the number of lanes. Values travel as locals:
// the compiler sees straight-line code, and a system cannot write what its signature does not
// grant.
//
// Beside it: making rows (making.hpp), tables that are filled and emptied (tables.hpp), sorting
// (sorting.hpp) and reductions (reduction.hpp), each in the plain form that executors must equal.
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

/// The value of a function that only reads one row of T.
template <auto F, class T, class S, class... Args>
GE_FN auto value_of_row(const Cells<S>& cells, int row, Types<Args...>) {
  static_assert((!is_written<Args> && ...),
                "GE: a function of Reduce or Destroy, or the first of EachWhere, only reads");
  const World<S> world(cells);
  return F(world, argument<T, Args>(cells, row)...);
}
template <auto F, class T, class S>
GE_FN auto value_of_row(const Cells<S>& cells, int row) {
  return value_of_row<F, T>(cells, row, Arguments<F>{});
}

/// A system over singletons; `first...` comes before the components (the total of Reduce).
template <auto F, class S, class... Args, class... First>
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

}  // namespace ge
