// Packs of neighbouring rows: kPack rows of a component of one word at once, where they lie side by
// side (worlds that are not interleaved), row by row where they do not. And how the lanes of a pack
// that passed a test are kept.
#pragma once

#include "engine/base/platform_compress.hpp"
#include "engine/maths/packs.hpp"
#include "engine/world/world.hpp"

namespace ge {

/// Rows first, first + 1, ... of component C of T, as floats of the same bits. All kPack of them
/// must be rows of the table.
template <class T, class C, class S>
GE_FN Floats read_pack(const World<S>& w, int first) {
  static_assert(sizeof(C) == 4, "GE: a pack is of components of one word");
  if constexpr (kPack == 1) {
    return __builtin_bit_cast(Floats, w.template get<T, C>(first));
  } else {
    const Cells<S>& cells = w.engine();
    const int stride = in_scratch<T, C> ? cells.scratch_stride : Cells<S>::B;
    Floats pack{};
    if (stride == 1)
      __builtin_memcpy(&pack, cells.template at<T, C>(first), sizeof pack);
    else
      for (int k = 0; k < kPack; ++k)
        set_lane(pack, k, __builtin_bit_cast(float, w.template get<T, C>(first + k)));
    return pack;
  }
}

/// How many lanes are in `mask`.
GE_FN int lanes_in(const Mask& mask) {
  if constexpr (kPack == 1)
    return any_of(mask) ? 1 : 0;
  else
    return count_lanes(mask);
}
/// The lanes of `pack` in `mask`, one behind the other; `to` has room for a whole pack.
GE_FN void keep(float* to, const Floats& pack, const Mask& mask) {
  if constexpr (kPack == 1) {
    if (any_of(mask)) *to = lane(pack, 0);
  } else {
    compress(to, pack, mask);
  }
}

}  // namespace ge
