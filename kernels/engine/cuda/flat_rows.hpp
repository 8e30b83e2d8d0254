// Flat: a thread per row, a warp per row of EachTogether, a thread per world. The host reads
// nothing back, lengths of lists neither: it enqueues for as many rows as fit, and those beyond a
// world's own do nothing.
#pragma once

#include "engine/cuda/flat_walk.hpp"

namespace ge {

namespace flat {

/// Whether a row is there is asked on the device, for the host does not know how long a list is.
template <class E, auto F, class T>
struct RowJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    const FlatPlace at = flat_place(i, int(room_of<T>(work.shared.params)));
    if (!work.on(at.world)) return;
    const auto cells = work.cells(at.world);
    if (at.row < cells.template rows<T>() && cells.template alive<T>(at.row))
      call_row<F, T>(cells, at.row);
  }
};
template <class E, auto F, class T>
struct TogetherJob {
  static GE_FN void run(const Work<E>& work, int64_t i, int lane) {
    const FlatPlace at = flat_place(i, int(room_of<T>(work.shared.params)));
    if (!work.on(at.world)) return;
    const auto cells = work.cells(at.world, lane, Squad::kLanes);
    if (at.row < cells.template rows<T>() && cells.template alive<T>(at.row))
      call_together<F, T>(cells, at.row);
  }
};

template <class E, auto F>
struct WorldJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    if (work.on(int(i))) call_world<F>(work.cells(int(i)));
  }
};
template <class E, bool kScratch>
struct ClearJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    if (work.on(int(i))) clear_tables<kScratch>(work.cells(int(i)));
  }
};

}  // namespace flat

template <class E, class M, auto F>
void stage(FlatWalk<E, M>& walk, Each<F>) {
  using Tables = typename FlatWalk<E, M>::Tables;
  if constexpr (Served<F, Tables>::value)
    for_each_type(matching<Components<F>, Tables>{}, [&](auto t) {
      using T = typename decltype(t)::type;
      enqueue_rows<flat::RowJob<E, F, T>>(walk, room_of<T>(walk.work.shared.params));
    });
}
template <class E, class M, auto F>
void stage(FlatWalk<E, M>& walk, EachTogether<F>) {
  using Tables = typename FlatWalk<E, M>::Tables;
  if constexpr (Served<F, Tables>::value)
    for_each_type(matching<Components<F>, Tables>{}, [&](auto t) {
      using T = typename decltype(t)::type;
      enqueue_squads<flat::TogetherJob<E, F, T>>(walk, room_of<T>(walk.work.shared.params));
    });
}
template <class E, class M, auto F>
void stage(FlatWalk<E, M>& walk, EachWorld<F>) {
  enqueue_worlds<flat::WorldJob<E, F>>(walk);
}
template <class E, class M>
void stage(FlatWalk<E, M>& walk, ClearTables) {
  if constexpr (has_dynamic<false>(typename FlatWalk<E, M>::Tables{}))
    enqueue_worlds<flat::ClearJob<E, false>>(walk);
}

}  // namespace ge
