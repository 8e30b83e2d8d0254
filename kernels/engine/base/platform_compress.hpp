// Two services of vectors (maths/packs_cpu.hpp) for which some CPUs have an instruction. A file of
// its own: <immintrin.h> takes 0.3 s to read, and few need it.
#pragma once

#include "engine/base/platform.hpp"

#if defined(__AVX512F__) && !GE_LANES
#include <immintrin.h>
#endif

namespace ge {

#if defined(__AVX512F__) && !GE_LANES

/// How many lanes of a mask are set.
template <class Mask>
GE_FN int count_lanes(const Mask& mask) {
  return __builtin_popcount(_mm512_movepi32_mask(__builtin_bit_cast(__m512i, mask)));
}
/// Compacts the lanes of a vector that are in the mask; `to` has room for all of them.
template <class Floats, class Mask>
GE_FN void compress(float* to, const Floats& vector, const Mask& mask) {
  const __mmask16 bits = _mm512_movepi32_mask(__builtin_bit_cast(__m512i, mask));
  // Through a register: compressing into memory is slow on some processors.
  _mm512_storeu_ps(to, _mm512_maskz_compress_ps(bits, __builtin_bit_cast(__m512, vector)));
}

#else

template <class Mask>
GE_FN int count_lanes(const Mask& mask) {
  int32_t count = 0;
  for (int k = 0; k < kVectorFloats; ++k) count -= mask[k];
  return count;
}
template <class Floats, class Mask>
GE_FN void compress(float* to, const Floats& vector, const Mask& mask) {
  int place = 0;
  for (int k = 0; k < kVectorFloats; ++k) {
    to[place] = vector[k];
    place -= mask[k];
  }
}

#endif

}  // namespace ge
