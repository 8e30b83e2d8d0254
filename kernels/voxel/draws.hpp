// Draws from ranges, and of numbers that differ.
#pragma once

#include "engine/maths/random.hpp"
#include "voxel/settings.hpp"

namespace ge::voxel {

/// A number of a range, by word i of a draw; `low` where the range is empty.
GE_FN int between(const Draw& draw, int word, int low, int high) {
  return draw.between(word, low, high);
}
GE_FN int between(const Draw& draw, int word, const Span& span) {
  return between(draw, word, span.low, span.high);
}

/// Numbers that differ, of a range that begins at 0; at most N of them.
template <int N>
struct Distinct {
  int32_t taken[N];  // in ascending order
  int count = 0;

  /// The number at this place among those that are left.
  GE_FN int take(int place) {
    GE_ASSERT(count < N);
    int k = 0;
    for (; k < count && taken[k] <= place; ++k) ++place;
    for (int i = count; i > k; --i) taken[i] = taken[i - 1];
    taken[k] = place;
    ++count;
    return place;
  }
  /// One of those that are left, of `all`, by word i of a draw.
  GE_FN int take(const Draw& draw, int i, int all) {
    return take(int(draw.below(i, uint32_t(all - count))));
  }
};

}  // namespace ge::voxel
