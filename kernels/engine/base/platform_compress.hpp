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

#elif defined(__wasm_simd128__)

namespace detail {

typedef int8_t Bytes __attribute__((vector_size(16)));
typedef int32_t Quad __attribute__((vector_size(16)));

/// For each set of four lanes the bytes that move to the front, in order; -1 elsewhere.
struct Moves {
  Bytes of[16];
};
constexpr Moves make_moves() {
  Moves moves{};
  for (int set = 0; set < 16; ++set) {
    int to = 0;
    for (int lane = 0; lane < 4; ++lane)
      for (int byte = 0; byte < 4 && (set >> lane & 1) != 0; ++byte)
        moves.of[set][to++] = int8_t(4 * lane + byte);
    while (to < 16) moves.of[set][to++] = -1;
  }
  return moves;
}
inline constexpr Moves kMoves = make_moves();

/// The set of lanes of quarter `part` of a mask.
template <class Mask>
GE_FN int lanes_of(const Mask& mask, int part) {
  Quad four;
  __builtin_memcpy(&four, reinterpret_cast<const char*>(&mask) + 16 * part, sizeof four);
  return __builtin_wasm_bitmask_i32x4(four);
}

}  // namespace detail

template <class Mask>
GE_FN int count_lanes(const Mask& mask) {
  int bits = 0;
  for (int part = 0; part < kVectorFloats / 4; ++part)
    bits = bits << 4 | detail::lanes_of(mask, part);
  return __builtin_popcount(bits);
}
template <class Floats, class Mask>
GE_FN void compress(float* to, const Floats& vector, const Mask& mask) {
  for (int part = 0; part < kVectorFloats / 4; ++part) {
    const int set = detail::lanes_of(mask, part);
    detail::Bytes four;
    __builtin_memcpy(&four, reinterpret_cast<const char*>(&vector) + 16 * part, sizeof four);
    const detail::Bytes front = __builtin_wasm_swizzle_i8x16(four, detail::kMoves.of[set]);
    __builtin_memcpy(to, &front, sizeof front);
    to += __builtin_popcount(set);
  }
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
