// Packs of neighbouring rows: kPack rows of a component of one word at once, where they lie side by
// side (worlds that are not interleaved), row by row where they do not. And how the lanes of a pack
// that passed a test are kept.
#pragma once

#include "engine/world/world.hpp"

#if defined(__AVX512F__) && !defined(__CUDACC__) && !defined(GE_CUDA_LAYOUT)
#include <immintrin.h>
#endif

namespace ge {

/// Floats that lie side by side.
GE_FN Floats load_pack(const float* from) {
  Floats pack;
  __builtin_memcpy(&pack, from, sizeof pack);
  return pack;
}
GE_FN void store_pack(float* to, const Floats& pack) {
  __builtin_memcpy(to, &pack, sizeof pack);
}

/// Rows first, first + 1, ... of component C of T, as floats of the same bits. All kPack of them
/// must be rows of the table.
template <class T, class C, class S>
GE_FN Floats read_pack(const World<S>& w, int first) {
  static_assert(sizeof(C) == 4, "GE: a pack is of components of one word");
#if defined(__CUDACC__) || defined(GE_CUDA_LAYOUT)
  return __builtin_bit_cast(float, w.template get<T, C>(first));
#else
  const Cells<S>& cells = w.engine();
  const int stride = in_scratch<T, C> ? cells.scratch_stride : Cells<S>::B;
  Floats pack{};
  if (stride == 1)
    __builtin_memcpy(&pack, cells.template at<T, C>(first), sizeof pack);
  else
    for (int k = 0; k < kPack; ++k)
      set_lane(pack, k, __builtin_bit_cast(float, w.template get<T, C>(first + k)));
  return pack;
#endif
}

#if defined(__CUDACC__) || defined(GE_CUDA_LAYOUT)

/// Lanes below `count`.
GE_FN Mask first_lanes(int count) {
  return count > 0;
}
/// Lanes whose bits are not those of `word`.
GE_FN Mask differs(Floats pack, uint32_t word) {
  return __builtin_bit_cast(uint32_t, pack) != word;
}
/// Lanes whose bits are those of a word from first to end - 1.
GE_FN Mask within(Floats pack, uint32_t first, uint32_t end) {
  return __builtin_bit_cast(uint32_t, pack) - first < end - first;
}
GE_FN int lanes_in(Mask mask) {
  return mask ? 1 : 0;
}
/// Adds up whole numbers, in each lane of a pack those that came there; fewer than 2^31 in a lane.
class WholeSum {
 public:
  GE_FN void add(Floats numbers, Mask mask) { sum_ += mask ? static_cast<int32_t>(numbers) : 0; }
  GE_FN int64_t total() const { return sum_; }

 private:
  int32_t sum_ = 0;
};
/// The lanes of `pack` in `mask`, one behind the other; `to` has room for a whole pack.
GE_FN void keep(float* to, Floats pack, Mask mask) {
  if (mask) *to = pack;
}

#else

GE_FN Mask first_lanes(int count) {
  Mask numbers{};
  for (int k = 0; k < kPack; ++k) numbers[k] = k;
  return numbers < count;
}
GE_FN Mask differs(const Floats& pack, uint32_t word) {
  return __builtin_bit_cast(Mask, pack) != int32_t(word);
}
GE_FN Mask within(const Floats& pack, uint32_t first, uint32_t end) {
  typedef uint32_t Words __attribute__((vector_size(4 * kPack)));
  return __builtin_bit_cast(Words, pack) - first < end - first;
}
class WholeSum {
 public:
  GE_FN void add(const Floats& numbers, const Mask& mask) {
    sums_ += __builtin_convertvector(numbers, Mask) & mask;
  }
  GE_FN int64_t total() const {
    int64_t total = 0;
    for (int k = 0; k < kPack; ++k) total += sums_[k];
    return total;
  }

 private:
  Mask sums_{};
};
#if defined(__AVX512F__)
GE_FN int lanes_in(const Mask& mask) {
  return __builtin_popcount(_mm512_movepi32_mask(__builtin_bit_cast(__m512i, mask)));
}
// Through a register: compressing into memory is slow on some processors.
GE_FN void keep(float* to, const Floats& pack, const Mask& mask) {
  const __mmask16 bits = _mm512_movepi32_mask(__builtin_bit_cast(__m512i, mask));
  _mm512_storeu_ps(to, _mm512_maskz_compress_ps(bits, __builtin_bit_cast(__m512, pack)));
}
#else
GE_FN int lanes_in(const Mask& mask) {
  int32_t count = 0;
  for (int k = 0; k < kPack; ++k) count -= mask[k];
  return count;
}
GE_FN void keep(float* to, const Floats& pack, const Mask& mask) {
  int place = 0;
  for (int k = 0; k < kPack; ++k) {
    to[place] = pack[k];
    place -= mask[k];
  }
}
#endif
GE_FN void keep(int32_t* to, const Mask& pack, const Mask& mask) {
  float kept[kPack];
  keep(kept, __builtin_bit_cast(Floats, pack), mask);
  __builtin_memcpy(to, kept, sizeof kept);
}

#endif

}  // namespace ge
