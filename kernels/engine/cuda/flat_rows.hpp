// Flat: a thread per row, a warp per row of EachTogether, a thread per world. The host reads
// nothing back, lengths of lists neither: it enqueues for as many rows as fit, and those beyond a
// world's own do nothing.
#pragma once

#include "engine/cuda/flat_walk.hpp"
#include "engine/graph/row_jobs.hpp"

namespace ge {

namespace flat {

/// Rows of T that threads are enqueued for in each world: all that live of a Fixed table, room for
/// the longest of others. Whether a row is there is asked on the device, for the host does not know
/// how long a list is.
template <class T, class Params>
GE_FN int64_t rows_enqueued(const Params& params) {
  if constexpr (T::kind == Kind::fixed)
    return rows_of<T>(params);
  else
    return room_of<T>(params);
}
/// A row job without addresses, on every row of every world.
template <class E, class Job>
struct RowJob {
  using T = typename Job::Table;
  static GE_FN void run(const Work<E>& work, int64_t i) {
    const FlatPlace at = work.place(i);
    if (!work.on(at.world)) return;
    const auto cells = work.cells(at.world);
    if (at.row < cells.template rows<T>() && cells.template alive<T>(at.row)) Job{}(cells, at.row);
  }
};
template <class E, auto F, class T>
struct TogetherJob {
  static GE_FN void run(const Work<E>& work, int64_t i, int lane) {
    const FlatPlace at = work.place(i);
    if (!work.on(at.world)) return;
    const auto cells = work.cells(at.world, lane, Squad::kLanes);
    if (at.row < cells.template rows<T>() && cells.template alive<T>(at.row))
      call_together<F, T>(cells, at.row);
  }
};

/// Empties the Lists and Pools of scratch memory.
template <class E>
struct ClearScratchJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    if (work.on(int(i))) clear_tables<true>(work.cells(int(i)));
  }
};

}  // namespace flat

template <class E, class M, class X>
  requires(IsLeaf<X> && is_row_stage<X>)
void stage(FlatWalk<E, M>& walk, X x) {
  const flat::OnHost enqueue{[&](auto job) {
    using Job = decltype(job);
    enqueue_rows<flat::RowJob<E, Job>>(
        walk, flat::rows_enqueued<typename Job::Table>(walk.work.shared.params));
  }};
  for_each_job<E>(x, walk.work.shared, enqueue);
}
template <class E, class M, auto F>
void stage(FlatWalk<E, M>& walk, EachTogether<F>) {
  using Tables = typename FlatWalk<E, M>::Tables;
  if constexpr (Served<F, Tables>::value)
    for_each_type(matching<Components<F>, Tables>{}, [&](auto t) {
      using T = typename decltype(t)::type;
      enqueue_squads<flat::TogetherJob<E, F, T>>(walk,
                                                 flat::rows_enqueued<T>(walk.work.shared.params));
    });
}

}  // namespace ge
