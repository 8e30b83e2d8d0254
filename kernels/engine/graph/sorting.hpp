// SortRows of one world, the plain form. The result is the stable order by key, which is unique,
// whether lanes or radix sorts compute it (cuda/group_sort.hpp, cuda/flat_sorting.hpp).
#pragma once

#include "engine/graph/call.hpp"

namespace ge {

template <class T, class Order, class Starts>
consteval bool can_sort() {
  static_assert(T::kind == Kind::fixed && Order::kind == Kind::fixed && Starts::kind == Kind::fixed,
                "GE: SortRows is for Fixed tables");
  static_assert(Order::scratch && Starts::scratch, "GE: SortRows fills scratch tables");
  return true;
}
/// The key of a row, below `keys`.
template <auto Key, class T, class S>
GE_FN int key_of_row(const Cells<S>& cells, int row, int keys) {
  const uint32_t key = value_of_row<Key, T>(cells, row);
  return key < uint32_t(keys) ? int(key) : keys - 1;
}
/// Sorts one world, the plain form: a counting sort. Row k + 1 of Starts first counts the rows of
/// key k, then holds where the next of them goes; at the end that is where they end.
template <auto Key, class T, class Order, class Starts, class S>
GE_FN void sort_rows(const Cells<S>& cells) {
  static_assert(can_sort<T, Order, Starts>());
  const int rows = cells.template rows<T>(), keys = cells.template rows<Starts>() - 1;
  const auto next = [&](int key)
                        GE_LAMBDA { return cells.template load<Starts, First>(key + 1).place; };
  const auto set_next = [&](int key, uint32_t place) GE_LAMBDA {
    cells.template store<Starts, First>(key + 1, First{place});
  };
  for (int key = -1; key < keys; ++key) set_next(key, 0);
  for (int row = 0; row < rows; ++row) {
    const int key = key_of_row<Key, T>(cells, row, keys);
    set_next(key, next(key) + 1);
  }
  uint32_t before = 0;
  for (int key = 0; key < keys; ++key) {
    const uint32_t own = next(key);
    set_next(key, before);
    before += own;
  }
  for (int row = 0; row < rows; ++row) {
    const int key = key_of_row<Key, T>(cells, row, keys);
    const uint32_t place = next(key);
    set_next(key, place + 1);
    cells.template store<Order, Sorted>(int(place), Sorted{uint32_t(row), uint32_t(row)});
  }
}

}  // namespace ge
