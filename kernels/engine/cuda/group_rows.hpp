// Stages of the group over the rows of tables: row jobs, lists of a known length, rows in turns by
// colour, sorting. What happens to a row is graph/row_jobs.hpp's and call.hpp's.
#pragma once

#include "engine/cuda/group_lanes.hpp"
#include "engine/cuda/group_sort.hpp"
#include "engine/graph/coloured.hpp"
#include "engine/graph/row_jobs.hpp"

namespace ge {

template <AnyGroup Group, class Job>
GE_FN void run_rows(Group& group, const Job& job, bool on) {
  using T = typename Job::Table;
  const auto& cells = group.cells;
  my_rows<T::capacity>(group, on, on ? cells.template rows<T>() : 0, [&](int row) GE_LAMBDA {
    if (cells.template alive<T>(row)) job(cells, row);
  });
}
template <bool kFinal, AnyGroup Group, class X>
  requires is_row_stage<X>
GE_FN void stage(Group& group, X x, bool on) {
  for_each_job<typename Group::Environment>(
      x, *group.cells.shared, [&](const auto& job) GE_LAMBDA { run_rows(group, job, on); });
}
/// Position of the k-th lowest set bit, from 0; the word has more than k.
GE_FN int place_of_bit(uint32_t word, int k) {
  for (; k > 0; --k) word &= word - 1;
  return lowest_bit(word);
}
/// Finds the rows that the job wants, 32 at a time and a bit each; the k-th of them is then lane
/// k's. Where they are few, one turn does for all.
template <AnyGroup Group, class Job>
GE_FN void run_chosen(Group& group, const Job& job, bool on) {
  using T = typename Job::Table;
  constexpr int G = Group::kLanes, kAtOnce = T::capacity < 32 ? T::capacity : 32;
  if constexpr (G == 1 || G > 32 || T::capacity <= G) {
    run_rows(group, job, on);
  } else {
    const auto& cells = group.cells;
    const int rows = on ? cells.template rows<T>() : 0;
    for (int first = 0; T::capacity <= 32 ? first == 0 : group.any(first < rows); first += 32) {
      uint32_t wanted = 0;
      GE_UNROLL
      for (int k = 0; k < kAtOnce; k += G) {
        const int row = first + k + group.lane;
        const bool is_there = row < rows && cells.template alive<T>(row);
        wanted |= group.votes(is_there && job.wants(cells, row)) << k;
      }
      const int found = count_bits(wanted);
      GE_NO_UNROLL
      for (int k = group.lane; k < found; k += G) job.run(cells, first + place_of_bit(wanted, k));
    }
  }
}
template <bool kFinal, AnyGroup Group, auto P, auto F>
GE_FN void stage(Group& group, EachWhere<P, F> x, bool on) {
  for_each_job<typename Group::Environment>(
      x, *group.cells.shared, [&](const auto& job) GE_LAMBDA { run_chosen(group, job, on); });
}
/// Fewer lanes than a squad take a row each, and as many as one where rows are worked on abreast: a
/// squad's sums do not depend on the number of parts.
template <bool kFinal, AnyGroup Group, auto F>
GE_FN void stage(Group& group, EachTogether<F>, bool on) {
  using Tables = typename Group::Tables;
  if constexpr (Group::kLanes < Squad::kLanes || kTuning<typename Group::S>.abreast)
    stage<kFinal>(group, Each<F>{}, on);
  else if constexpr (Served<F, Tables>::value)
    for_each_type(matching<Components<F>, Tables>{}, [&](auto t) GE_LAMBDA {
      using T = typename decltype(t)::type;
      squad_rows(group, on, on ? group.cells.template rows<T>() : 0,
                 [&](const auto& cells, int row) GE_LAMBDA {
                   if (cells.template alive<T>(row)) call_together<F, T>(cells, row);
                 });
    });
}

// ---- lists of a length that is known before

template <bool kFinal, AnyGroup Group, auto Count, auto F, class T>
GE_FN void stage(Group& group, For<Count, F, T>, bool on) {
  static_assert(T::kind == Kind::list, "GE: For fills a List");
  const auto& cells = group.cells;
  const int wanted = on ? int(ask<Count>(cells)) : 0;
  const int room = cells.template room<T>();
  const int count = wanted < room ? wanted : room;
  if constexpr (is_number<Count>)
    static_assert(Count <= T::capacity, "GE: For has more rows than its table");
  else
    group.settle();  // all have asked before anyone writes
  my_rows<T::capacity>(group, on, count,
                       [&](int row) GE_LAMBDA { make_row<F, T>(cells, row, row); });
  close_list<T>(group, on, count, wanted);
}
template <bool kFinal, AnyGroup Group, auto Count, auto F, class T>
GE_FN void stage(Group& group, ForPacks<Count, F, T>, bool on) {
  static_assert(kPack == 1);
  const auto& cells = group.cells;
  const int wanted = on ? int(ask<Count>(cells)) : 0;
  const int room = cells.template room<T>();
  const int count = wanted < room ? wanted : room;
  if constexpr (!is_number<Count>) group.settle();
  my_rows<T::capacity>(group, on, count,
                       [&](int row) GE_LAMBDA { make_pack<F, T>(cells, row, count); });
  close_list<T>(group, on, count, wanted);
}

/// Rows with P wait until there is one for each lane: the lanes from `waiting` on take those of the
/// next turn, and what is left over begins the next wait.
template <bool kFinal, AnyGroup Group, auto Count, auto P, auto F, class T>
GE_FN void stage(Group& group, ForPacksWhere<Count, P, F, T>, bool on) {
  using C = typename OneFloat<T, typename T::components>::type;
  constexpr int G = Group::kLanes;
  if constexpr (G == 1 || G > 32) {
    stage<kFinal>(group, ForPacks<Count, F, T>{}, on);
  } else {
    static_assert(kPack == 1);
    const auto& cells = group.cells;
    const int asked = on ? int(ask<Count>(cells)) : 0;
    const int room = cells.template room<T>();
    const int count = asked < room ? asked : room;
    if constexpr (!is_number<Count>) group.settle();
    int waiting = 0, row = 0;
    for (int first = 0; group.any(first < count); first += G) {
      const int own = first + group.lane;
      const bool wanted = own < count && P(World<typename Group::S>(cells), own);
      if (own < count && !wanted) cells.template store<T, C>(own, C{});
      const uint32_t hits = group.votes(wanted);
      const int found = count_bits(hits), mine = group.lane - waiting;
      if (mine >= 0 && mine < found) row = first + place_of_bit(hits, mine);
      waiting += found;
      if (waiting < G) continue;
      make_pack<F, T>(cells, row, count);
      waiting -= G;
      if (group.lane < waiting) row = first + place_of_bit(hits, mine + G);
    }
    if (group.lane < waiting) make_pack<F, T>(cells, row, count);
    close_list<T>(group, on, count, asked);
  }
}

// ---- rows in an order

/// Worlds of a team have numbers of colours of their own: a vote says whether any of them goes on.
template <bool kFinal, AnyGroup Group, auto Count, auto F>
GE_FN void stage(Group& group, Coloured<Count, F>, bool on) {
  using T = typename ColouredTable<F, typename Group::Tables>::type;
  constexpr int G = Group::kLanes;
  const auto& cells = group.cells;
  const int colours = on ? int(ask<Count>(cells)) : 0;
  // Asked once: a system of Coloured may write rows, not lengths.
  const int rows = on ? cells.template rows<T>() : 0;
  group.settle();
  GE_NO_UNROLL
  for (int colour = 0; G == 1 || G > 32 ? colour < colours : group.any(colour < colours);
       ++colour) {
    my_rows<T::capacity>(group, on && colour < colours, rows, [&](int row) GE_LAMBDA {
      if (cells.template load<T, Colour>(row).value == uint32_t(colour))
        call_coloured<F, T>(cells, row);
    });
    group.settle();  // the next colour may write the same rows
  }
}
template <bool kFinal, AnyGroup Group, auto Key, class T, class Order, class Starts>
GE_FN void stage(Group& group, SortRows<Key, T, Order, Starts>, bool on) {
  if constexpr (Group::kLanes == 1) {
    if (on) sort_rows<Key, T, Order, Starts>(group.cells);
  } else {
    using Sort =
        GroupSort<typename Group::S, T, Order, Starts, Group::kLanes, typename Group::Service>;
    Sort{group.cells, group.place}.template run<Key>(on);
  }
}

}  // namespace ge
