// Minima over spans of a row: the core of a view. A span is a few contiguous elements and one
// value; each element of the row becomes the minimum of the values that cover it.
//
// On a GPU the lanes of a squad lower the elements of the row itself. On the CPU the row is on the
// stack until it is done, and a span is lowered by eight elements at a time, eight even if it is
// empty: spans differ in length so much that loops over their elements would be mispredicted. Spans
// take turns among several copies of the row, since a load that overlaps what was just stored waits
// until that has left the processor.
#pragma once

#include "engine/graph/wide_rows.hpp"
#include "engine/world/pack_reads.hpp"

namespace ge::spatial {

/// Elements first to last; none where last < first, but even then `first` is at most the row's end.
/// As many spans as kRoom.
template <int kRoom>
struct Spans {
  alignas(64) int32_t first[kRoom + kPack], last[kRoom + kPack];
  alignas(64) float value[kRoom + kPack];
  int count = 0;
};

/// The first `count` elements of a row, at most kMost; those behind are to be set after `finish`.
template <int kMost>
class SpanMinima {
 public:
  GE_FN SpanMinima(FloatRow& row, int count) : row_(row), count_(count) {
    if constexpr (kPack == 1) {
      row.change([](float) GE_LAMBDA { return infinity<float>(); });
    } else {
      const Floats far = spread(infinity<float>());
      for (int k = 0; k < count; k += kPack)
        for (auto& copy : cells_) store_pack(copy + k, far);
    }
  }
  template <int kRoom>
  GE_FN void lower(const Spans<kRoom>& spans) {
    if constexpr (kPack == 1) {
      if (spans.count > 0)  // a lane has one at a time
        row_.lower(spans.first[0], spans.last[0], spans.value[0]);
    } else {
      for (int k = 0; k < spans.count; ++k)
        lower_one(cells_[k % kCopies], spans.first[k], spans.last[k], spans.value[k]);
    }
  }
  /// Writes the row; elements that no span covered show `empty`.
  GE_FN void finish(float empty) {
    if constexpr (kPack == 1) {
      row_.change([empty](float seen) GE_LAMBDA { return shown(seen, empty); });
    } else {
      const float (*const cells)[kRow] = cells_;
      row_.fill(0, count_, [cells, empty](int k) GE_LAMBDA {
        float least = cells[0][k];
        for (int copy = 1; copy < kCopies; ++copy) least = min(least, cells[copy][k]);
        return shown(least, empty);
      });
    }
  }

 private:
  static GE_FN float shown(float seen, float empty) {
    return select(seen < infinity<float>(), seen, empty);
  }
  // Narrower than a pack: most spans are a few elements long, and the less two of them overlap, the
  // less often one waits for the other.
  typedef float Part __attribute__((vector_size(32)));
  typedef int32_t Places __attribute__((vector_size(32)));
  static constexpr int kPart = 8;
  static GE_FN void lower_one(float* cells, int first, int last, float value) {
    const Places places{0, 1, 2, 3, 4, 5, 6, 7};
    do {
      Part seen;
      __builtin_memcpy(&seen, cells + first, sizeof seen);
      const Part least = value < seen ? value - Part{} : seen;
      const Part lowered = places <= last - first ? least : seen;
      __builtin_memcpy(cells + first, &lowered, sizeof lowered);
      first += kPart;
    } while (first <= last);
  }

  FloatRow& row_;
  int count_;
  // A span that begins at the last element is a whole pack too.
  static constexpr int kCopies = 4, kRow = kPack == 1 ? 1
                                                      : int(round_up(kMost, kPack)) +
                                                            (kPack > kPart ? kPack : kPart);
  alignas(64) float cells_[kCopies][kRow];
};

}  // namespace ge::spatial
