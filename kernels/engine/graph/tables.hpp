// Tables whose rows come and go: the length of a List, rows that did not fit, and clearing at the
// beginning of a phase (scratch) or of a reset (the record). The plain form, one world at a time.
#pragma once

#include "engine/graph/call.hpp"
#include "engine/graph/pools.hpp"

namespace ge {

/// Position of a type in a list: the number of a table in the counters.
template <class T, class List>
struct IndexOf;
template <class T, class... Ts>
struct IndexOf<T, Types<Ts...>> {
  static constexpr int value = [] {
    int at = 0, found = -1;
    ((found = std::is_same_v<T, Ts> ? at : found, ++at), ...);
    return found;
  }();
};

/// Counts a full table's dropped rows, and keeps the number of rows that would have fitted.
template <class T, class S>
GE_FN void count_overflow(const Cells<S>& cells, int needed, int capacity) {
  constexpr int table = IndexOf<T, AllTables<S>>::value;
  static_assert(table < Counters::kTables);
  if (needed <= capacity || !is_stepped(cells)) return;
  count_add(&cells.shared->counters->dropped[table], (unsigned long long)(needed - capacity));
  count_max(&cells.shared->counters->needed[table], (unsigned long long)needed);
}

/// Sets a List's length to the number of rows made, clamped to its capacity.
template <class T, class S>
GE_FN void close_list(const Cells<S>& cells, int made) {
  const int room = cells.template room<T>();
  *cells.template header<T>(0) = uint32_t(made < room ? made : room);
  count_overflow<T>(cells, made, room);
}

/// Empties the Lists and Pools in one of the two memories.
template <bool kScratch, class T, class S>
GE_FN void clear_table(const Cells<S>& cells) {
  if constexpr (T::scratch == kScratch && T::kind == Kind::list)
    *cells.template header<T>(0) = 0;
  else if constexpr (T::scratch == kScratch && T::kind == Kind::pool)
    clear_pool<T>(cells);
}
template <bool kScratch, class S, class... Ts>
GE_FN void clear_tables(const Cells<S>& cells, Types<Ts...>) {
  (clear_table<kScratch, Ts>(cells), ...);
}
template <bool kScratch, class S>
GE_FN void clear_tables(const Cells<S>& cells) {
  clear_tables<kScratch>(cells, AllTables<S>{});
}
template <bool kScratch, class... Ts>
consteval bool has_dynamic(Types<Ts...>) {
  return ((Ts::scratch == kScratch && Ts::kind != Kind::fixed) || ...);
}

}  // namespace ge
