// Packs of neighbouring rows: kPack rows of a component of one word at once, where they are
// contiguous (worlds that are not interleaved), else row by row. Also compaction: keeping the lanes
// of a pack that passed a test.
#pragma once

#include "engine/base/platform_compress.hpp"
#include "engine/maths/packs.hpp"
#include "engine/world/world.hpp"

namespace ge {

/// A column of components of one word, for loops that read many rows: its address, many products in
/// a table of any number of rows, is computed once.
template <class T, class C>
class WordColumn {
 public:
  template <class S>
  GE_FN explicit WordColumn(const World<S>& w)
      : base_(in_scratch<T, C> ? w.engine().scratch : w.engine().block),
        first_(settled(w.engine().template at<T, C>(0) - base_)),
        stride_(in_scratch<T, C> ? w.engine().scratch_stride : Cells<S>::B) {
    static_assert(sizeof(C) == 4, "GE: a column is of components of one word");
  }
  GE_FN C get(int row) const { return load_words<C>(address(row), stride_); }
  /// Rows first, first + 1, ... as floats of the same bits. All kPack of them must be rows of the
  /// table.
  GE_FN Floats pack(int first) const {
    if constexpr (kPack == 1) {
      return __builtin_bit_cast(Floats, get(first));
    } else {
      Floats pack{};
      if (stride_ == 1)
        __builtin_memcpy(&pack, address(first), sizeof pack);
      else
        for (int k = 0; k < kPack; ++k)
          set_lane(pack, k, __builtin_bit_cast(float, get(first + k)));
      return pack;
    }
  }

 private:
  GE_FN const char* address(int row) const {
    return base_ + (first_ + int64_t{row} * (4 * stride_));
  }

  const char* base_;
  int64_t first_;  // of row 0, from there
  int stride_;
};

/// How many lanes are in `mask`.
GE_FN int lanes_in(const Mask& mask) {
  if constexpr (kPack == 1)
    return any_of(mask) ? 1 : 0;
  else
    return count_lanes(mask);
}
/// Compacts the lanes of `pack` in `mask` into `to`, which has room for a whole pack.
GE_FN void keep(float* to, const Floats& pack, const Mask& mask) {
  if constexpr (kPack == 1) {
    if (any_of(mask)) *to = lane(pack, 0);
  } else {
    compress(to, pack, mask);
  }
}

}  // namespace ge
