// SortRows by the lanes of a group: they count keys and take places in any order, then each row
// finds its rank among those of its key, so that no result shows the order.
#pragma once

#include "engine/cuda/group_plan.hpp"
#include "engine/graph/sorting.hpp"

namespace ge {

template <class S, class T, class Order, class Starts, int G, class Service>
struct GroupSort {
  static_assert(can_sort<T, Order, Starts>());

  const Cells<S>& cells;
  const GroupPlace& place;

  template <auto Key>
  GE_FN void run(bool on) const {
    const int rows = on ? cells.template rows<T>() : 0;
    const int keys = cells.template rows<Starts>() - 1;
    const auto key_at = [&](int row) GE_LAMBDA { return key_of_row<Key, T>(cells, row, keys); };
    for (int k = place.lane; on && k <= keys; k += G)
      cells.template store<Starts, First>(k, First{0});
    sync();
    for (int row = place.lane; row < rows; row += G) Service::add(next_of(key_at(row)), 1);
    sync();
    sum_before(on, keys);
    sync();
    for (int row = place.lane; row < rows; row += G)
      cells.template store<Order, Sorted>(Service::add(next_of(key_at(row)), 1),
                                          Sorted{0, uint32_t(row)});
    sync();
    for (int at = place.lane; at < rows; at += G) {
      const uint32_t row = loose(at);
      const int key = key_at(int(row));
      store_rank(row, int(cells.template load<Starts, First>(key).place),
                 int(cells.template load<Starts, First>(key + 1).place));
    }
  }

 private:
  GE_FN void sync() const { sync_team<G, Service>(); }
  /// Starts is worked in one place further on: entry key + 1 first counts the rows of `key`, is
  /// then where they begin, and has moved to their end once all have taken places.
  GE_FN int32_t* next_of(int key) const {
    return reinterpret_cast<int32_t*>(cells.template at<Starts, First>(key + 1));
  }
  /// The second word of Sorted: a row as it came, while the first takes the sorted ones.
  GE_FN uint32_t loose(int at) const {
    const char* const word = cells.template at<Order, Sorted>(at) + 4 * cells.scratch_stride;
    GE_WATCH(word, 4, false);
    return *reinterpret_cast<const WordOf<4>::type*>(word);
  }
  /// A row among those in [begin, end): its place is the number of smaller ones.
  GE_FN void store_rank(uint32_t row, int begin, int end) const {
    int at = begin;
    for (int other = begin; other < end; ++other) at += loose(other) < row ? 1 : 0;
    char* const word = cells.template at<Order, Sorted>(at);
    GE_WATCH(word, 4, true);
    *reinterpret_cast<WordOf<4>::type*>(word) = row;
  }
  /// Exclusive prefix sums over rows 1 to `keys` of Starts. The first lanes of the group, a warp at
  /// most, take one row each at a time.
  GE_FN void sum_before(bool on, int keys) const {
    constexpr int W = G < 32 ? G : 32;
    const int lane = place.lane;
    if (lane >= W) return;  // whole warps
    int before = 0;
    GE_NO_UNROLL
    for (int first = 0; first < keys; first += W) {
      const int key = first + lane;
      const int own = on && key < keys ? int(cells.template load<Starts, First>(key + 1).place) : 0;
      int sum = own;
      GE_UNROLL
      for (int distance = 1; distance < W; distance *= 2) {
        const int other = Service::shuffle(sum, (place.team_lane - distance) & 31);
        sum += lane >= distance ? other : 0;
      }
      if (on && key < keys)
        cells.template store<Starts, First>(key + 1, First{uint32_t(before + sum - own)});
      before += Service::shuffle(sum, (place.team_lane & ~(W - 1) & 31) + W - 1);
    }
  }
};

}  // namespace ge
