// Stages of the group that append rows to a List by a test, or empty tables. Each round tests G
// indices; a hit's row is the number of hits before it, so the order is that of a single lane.
#pragma once

#include "engine/cuda/group_lanes.hpp"

namespace ge {

/// kSame: the count is that of every world.
/// No barrier between the tests and the makers: a test may not read the list that it fills, whose
/// old rows are overwritten while other lanes still test.
template <class T, bool kSame, AnyGroup Group, class Test, class Make>
GE_FN void emit(Group& group, bool on, int count, const Test& test, const Make& make) {
  static_assert(T::kind == Kind::list, "GE: Emit appends to a List");
  constexpr int G = Group::kLanes;
  const int room = group.cells.template room<T>();
  int hits = 0;
  if constexpr (G == 1) {
    GE_UNROLL_ROWS
    for (int i = 0; on && i < count; ++i) {
      if (!test(i)) continue;
      if (hits < room) make(hits, i);
      ++hits;
    }
  } else {
    GE_NO_UNROLL
    for (int first = 0; kSame || G > 32 ? first < count : group.any(first < count); first += G) {
      const int i = first + group.lane;
      const bool hit = on && i < count && test(i);
      const auto rank = group.rank_of(hit);
      const int row = hits + rank.before;
      if (hit && row < room) make(row, i);
      hits += rank.all;
    }
  }
  close_list<T>(group, on, hits < room ? hits : room, hits);
}

template <bool kFinal, AnyGroup Group, auto Count, auto Test, auto Make, class T>
GE_FN void stage(Group& group, Emit<Count, Test, Make, T>, bool on) {
  const auto& cells = group.cells;
  const auto test = [&](int i) GE_LAMBDA { return bool(Test(World<typename Group::S>(cells), i)); };
  const auto make = [&](int row, int i) GE_LAMBDA { make_row<Make, T>(cells, row, i); };
  if constexpr (is_number<Count>) {
    emit<T, true>(group, on, Count, test, make);
  } else {
    const int count = on ? int(ask<Count>(cells)) : 0;
    group.settle();
    emit<T, false>(group, on, count, test, make);
  }
}

/// Empties a table of one of the two memories.
template <bool kScratch, class T, AnyGroup Group>
GE_FN void clear_table(const Group& group, bool on) {
  if constexpr (T::scratch == kScratch && T::kind == Kind::list) {
    if (group.leads(on)) set_header<T>(group, 0, 0);
  } else if constexpr (T::scratch == kScratch && T::kind == Kind::pool) {
    clear_pool<T>(group, on);
  }
}
template <bool kScratch, AnyGroup Group, class... Ts>
GE_FN void clear_tables(const Group& group, bool on, Types<Ts...>) {
  (clear_table<kScratch, Ts>(group, on), ...);
}
template <bool kFinal, AnyGroup Group>
GE_FN void stage(Group& group, ClearTables, bool on) {
  clear_tables<false>(group, on, typename Group::Tables{});
}

}  // namespace ge
