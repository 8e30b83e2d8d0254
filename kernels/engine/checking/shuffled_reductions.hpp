// Shuffled: Reduce. Every row's value alone, then the plain fold, whose target is a task.
#pragma once

#include "engine/checking/shuffled_tasks.hpp"
#include "engine/graph/reduction.hpp"

namespace ge {

template <class E, auto F, class Op, auto Into>
void stage(Trial<E>& trial, Reduce<F, Op, Into>) {
  using Tables = typename Trial<E>::Tables;
  using R = decltype(Op::identity());
  if constexpr (Served<F, Tables>::value) {
    for_each_type(matching<Components<F>, Tables>{}, [&](auto t) {
      using T = typename decltype(t)::type;
      for (const int row : live_rows<T>(trial))
        trial.template agreed<R>(
            [row](const CellsOf<E>& cells) { return R(value_of_row<F, T>(cells, row)); },
            row_name<T>(row));
    });
    const R total = trial.template agreed<R>(
        [](const CellsOf<E>& cells) { return reduce_world<F, Op>(cells); });
    // Into's first argument is the total, the others are singletons that it may write.
    using Rest = typename Tail<Arguments<Into>>::type;
    trial.rows({{[total](const CellsOf<E>& cells) { call_into<Into>(cells, total); }, "the world",
                 written_singles(trial, Rest{})}});
  }
}

}  // namespace ge
