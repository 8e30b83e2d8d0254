// The k nearest agents, by (squared distance, row): the same on every machine, even where agents
// coincide or lie at equal distances. One lane searches for one agent, in circles that grow until
// enough agents are inside: all agents nearer than the circle have then been seen.
#pragma once

#include "spatial/neighbours.hpp"

namespace ge::spatial {

/// The nearest first.
template <int kMost>
struct Nearest {
  uint32_t row[kMost];
  float squared[kMost];
  int count = 0;

  /// Keeps the `most` nearest of all that were offered.
  GE_FN void offer(uint32_t new_row, float new_squared, int most) {
    if (count == most) {
      if (!before(new_squared, new_row, squared[most - 1], row[most - 1])) return;
      --count;
    }
    int at = count++;
    for (; at > 0 && before(new_squared, new_row, squared[at - 1], row[at - 1]); --at)
      row[at] = row[at - 1], squared[at] = squared[at - 1];
    row[at] = new_row, squared[at] = new_squared;
  }

 private:
  static GE_FN bool before(float squared_a, uint32_t a, float squared_b, uint32_t b) {
    return squared_a < squared_b || (squared_a == squared_b && a < b);
  }
};

/// The `most` nearest to a point of the square among rows [first, end), without `me`; fewer if
/// there are fewer.
template <class M, int kMost>
GE_FN Nearest<kMost> find_nearest(const WorldOf<M>& w, int me, float x, float y, int most,
                                  int first = 0, int end = INT32_MAX) {
  const Grid& grid = M::grid(w.params());
  const float side = grid.square.side, everything = 1.5f * side;
  // A circle that would hold five more than wanted if agents were spread evenly.
  const float share = float(most + 5) / float(M::count(w.params()));
  float range = min(everything, side * sqrt(share * (1.0f / kPi)));
  for (;;) {
    Nearest<kMost> nearest;
    Look<M, kSomeRows> look(w, Squad(0, 1), me, x, y, range);
    look.only(first, end);
    for (Hits hits; look.fill(hits);)
      for (int k = 0; k < hits.count; ++k)
        nearest.offer(hits.row(k), hits.dx[k] * hits.dx[k] + hits.dy[k] * hits.dy[k], most);
    if (nearest.count == most || range >= everything) return nearest;
    range = min(everything, 2.0f * range);
  }
}

}  // namespace ge::spatial
