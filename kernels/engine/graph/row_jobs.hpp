// Row jobs: a stage that only calls one function per row of a table becomes a small value that
// every executor runs in its own order.
//
//   job(cells, row)    what happens to one row; a copy travels with the loop or the lanes
//   Job::Table         whose rows: all of them that live, in every world
//
// Rows of a job are independent by contract, and a job keeps addresses of the caller's arrays only.
// So a new stage of this kind is said here once, and executors differ in how they walk the rows.
#pragma once

#include "engine/graph/role_rows.hpp"
#include "engine/graph/tables.hpp"

namespace ge {

/// Runs a system on each live row of T.
template <auto F, class T>
struct SystemJob {
  using Table = T;
  template <class S>
  GE_FN void operator()(const Cells<S>& cells, int row) const {
    call_row<F, T>(cells, row);
  }
};
/// Runs a system on each live row of T with P.
template <auto P, auto F, class T>
struct ChosenJob {
  using Table = T;
  template <class S>
  GE_FN bool wants(const Cells<S>& cells, int row) const {
    return bool(value_of_row<P, T>(cells, row));
  }
  template <class S>
  GE_FN void run(const Cells<S>& cells, int row) const {
    call_row<F, T>(cells, row);
  }
  template <class S>
  GE_FN void operator()(const Cells<S>& cells, int row) const {
    if (wants(cells, row)) run(cells, row);
  }
};
/// Runs a system once per world.
template <auto F>
struct WorldSystemJob {
  using Table = EpisodeTable;
  template <class S>
  GE_FN void operator()(const Cells<S>& cells, int) const {
    call_world<F>(cells);
  }
};
/// Takes the actions of the agents of R, which the caller gives as elements of type From. The CPU
/// checked them before any world moved (simulator/host.hpp); lanes count bad ones as they come.
template <class R, class From>
struct ActionJob {
  using Table = typename R::Agent;
  template <class S>
  GE_FN void operator()(const Cells<S>& cells, int row) const {
    take_action<R, From, kReadsCallersType>(cells, row);
  }
};
/// Writes a value of an output for each agent of R.
template <class E, Output O, auto F, class R>
struct ValueJob {
  using Table = typename R::Agent;
  void* to;
  template <class S>
  GE_FN void operator()(const Cells<S>& cells, int row) const {
    put_value<E, R, O>(*cells.shared, to, cells.world, row, value_of_row<F, Table>(cells, row));
  }
};
/// Empties the persistent Lists and Pools of a world.
struct EmptyTablesJob {
  using Table = EpisodeTable;
  template <class S>
  GE_FN void operator()(const Cells<S>& cells, int) const {
    clear_tables<false>(cells);
  }
};

/// Calls f(job) for each job of a stage; for none if the caller does not want its output.
GE_EITHER_MACHINE
template <class E, auto F, class S, class Do>
GE_FN void for_each_job(Each<F>, const Shared<S>&, const Do& f) {
  if constexpr (Served<F, AllTables<S>>::value)
    for_each_type(matching<Components<F>, AllTables<S>>{},
                  [&f](auto t) GE_LAMBDA { f(SystemJob<F, typename decltype(t)::type>{}); });
}
GE_EITHER_MACHINE
template <class E, auto P, auto F, class S, class Do>
GE_FN void for_each_job(EachWhere<P, F>, const Shared<S>&, const Do& f) {
  if constexpr (Served<F, AllTables<S>>::value)
    for_each_type(matching<Components<F>, AllTables<S>>{},
                  [&f](auto t) GE_LAMBDA { f(ChosenJob<P, F, typename decltype(t)::type>{}); });
}
/// A squad of one lane: EachTogether runs like Each.
GE_EITHER_MACHINE
template <class E, auto F, class S, class Do>
GE_FN void for_each_job(EachTogether<F>, const Shared<S>& shared, const Do& f) {
  for_each_job<E>(Each<F>{}, shared, f);
}
GE_EITHER_MACHINE
template <class E, auto F, class S, class Do>
GE_FN void for_each_job(EachWorld<F>, const Shared<S>&, const Do& f) {
  f(WorldSystemJob<F>{});
}
GE_EITHER_MACHINE
template <class E, class R, class S, class Do>
GE_FN void for_each_job(TakeActions<R>, const Shared<S>& shared, const Do& f) {
  with_action_type<S, R>(shared.action_type, [&f](auto type) GE_LAMBDA {
    f(ActionJob<R, typename decltype(type)::type>{});
  });
}
GE_EITHER_MACHINE
template <class E, Output O, auto F, class R, class S, class Do>
GE_FN void for_each_job(Write<O, F, R>, const Shared<S>& shared, const Do& f) {
  if (shared.bound.at[O] != nullptr) f(ValueJob<E, O, F, R>{shared.bound.at[O]});
}
GE_EITHER_MACHINE
template <class E, class S, class Do>
GE_FN void for_each_job(ClearTables, const Shared<S>&, const Do& f) {
  if constexpr (has_dynamic<false>(AllTables<S>{})) f(EmptyTablesJob{});
}

/// Whether a stage becomes row jobs. An executor may still have a form of its own for one.
template <class X>
inline constexpr bool is_row_stage = false;
template <auto F>
inline constexpr bool is_row_stage<Each<F>> = true;
template <auto P, auto F>
inline constexpr bool is_row_stage<EachWhere<P, F>> = true;
template <auto F>
inline constexpr bool is_row_stage<EachTogether<F>> = true;
template <auto F>
inline constexpr bool is_row_stage<EachWorld<F>> = true;
template <class R>
inline constexpr bool is_row_stage<TakeActions<R>> = true;
template <Output O, auto F, class R>
inline constexpr bool is_row_stage<Write<O, F, R>> = true;
template <>
inline constexpr bool is_row_stage<ClearTables> = true;

}  // namespace ge
