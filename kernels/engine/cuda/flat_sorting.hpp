// Flat: SortRows. A radix sort takes the rows of all worlds by (world, key) at once; it is stable,
// so rows of one key keep their order.
#pragma once

#include "engine/cuda/flat_walk.hpp"

namespace ge {

namespace flat {

template <class E, auto Key, class T, class Starts>
struct KeyJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    const FlatPlace at = work.place(i);
    const int keys = int(rows_of<Starts>(work.shared.params)) - 1;
    // Worlds that are left out get keys too: every world keeps its part of the sorted rows.
    const int key = key_of_row<Key, T>(work.cells(at.world), at.row, keys);
    work.memory.keys[i] = uint32_t(at.world) * uint32_t(keys) + uint32_t(key);
    work.memory.rows[i] = uint32_t(at.row);
  }
};
/// Scatters a world's part: the row at each place, and where each key begins. One job handles rows
/// of T and starts of keys, whichever are more.
template <class E, class T, class Order, class Starts>
struct PlaceJob {
  static GE_FN int64_t per_world(const typename SchemaOf<E>::Params& params) {
    const int64_t rows = rows_of<T>(params), starts = rows_of<Starts>(params);
    return rows > starts ? rows : starts;
  }
  static GE_FN void run(const Work<E>& work, int64_t i) {
    const auto& params = work.shared.params;
    const FlatPlace at = work.place(i);
    if (!work.on(at.world)) return;
    const int rows = int(rows_of<T>(params)), keys = int(rows_of<Starts>(params)) - 1;
    const auto cells = work.cells(at.world);
    const int64_t first = int64_t(at.world) * rows;
    if (at.row < rows)
      cells.template store<Order, Sorted>(at.row,
                                          Sorted{work.memory.sorted_rows[first + at.row], 0});
    if (at.row <= keys)
      cells.template store<Starts, First>(
          at.row, First{below(work.memory.sorted_keys + first, rows,
                              uint32_t(at.world) * uint32_t(keys) + uint32_t(at.row))});
  }

 private:
  /// The number of sorted keys below a key.
  static GE_FN uint32_t below(const uint32_t* sorted, int rows, uint32_t key) {
    int low = 0, high = rows;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (sorted[middle] < key)
        low = middle + 1;
      else
        high = middle;
    }
    return uint32_t(low);
  }
};

}  // namespace flat

template <class E, class M, auto Key, class T, class Order, class Starts>
void stage(FlatWalk<E, M>& walk, SortRows<Key, T, Order, Starts>) {
  static_assert(can_sort<T, Order, Starts>());
  const auto& params = walk.work.shared.params;
  enqueue_rows<flat::KeyJob<E, Key, T, Starts>>(walk, rows_of<T>(params));
  const int64_t keys = walk.work.shared.worlds * (rows_of<Starts>(params) - 1);
  // Only the bits of the largest (world, key): each bit that is left out shortens the sort.
  int bits = 1;
  while (keys > int64_t{1} << bits) ++bits;
  walk.machine.sort(walk.work.memory, walk.work.count, bits);
  using Place = flat::PlaceJob<E, T, Order, Starts>;
  enqueue_rows<Place>(walk, Place::per_world(params));
}

}  // namespace ge
