// What lanes that run at once do to one word, and how those of a warp meet. Nothing here may let a
// result show in which order they came: counts, extremes, sums of whole numbers. The barriers and
// votes of the executors are a service of their own (cuda/lanes_device.hpp).
#pragma once

#include "engine/base/platform.hpp"

namespace ge {

/// Lanes of a warp, and of a squad (world/squad.hpp).
inline constexpr int kWarp = 32;

#if defined(__CUDA_ARCH__)

GE_FN void count_add(unsigned long long* counter, unsigned long long n) {
  atomicAdd(counter, n);
}
GE_FN void count_max(unsigned long long* counter, unsigned long long n) {
  atomicMax(counter, n);
}
/// Makes a float the smaller of itself and a value. Both sign bits are clear: the bits of such
/// floats are ordered as they are.
GE_FN void lower_float(float* at, float value) {
  atomicMin(reinterpret_cast<unsigned*>(at), __float_as_uint(value));
}
/// Sets the bits of a word that are set in `bits`.
GE_FN void set_bits(uint32_t* at, uint32_t bits) {
  atomicOr(at, bits);
}
/// Makes what any lane of the warp wrote before visible to all its lanes after.
GE_FN void meet_warp() {
  __syncwarp();
}
/// Warp-wide sum, returned to every lane.
GE_FN int64_t sum_of_warp(int64_t value) {
  GE_UNROLL
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(~0u, value, distance);
  return value;
}
/// Warp-wide sum of non-negative counts; the total must fit in 31 bits.
GE_FN int32_t count_of_warp(int32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0u, value);
#else
  GE_UNROLL
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(~0u, value, distance);
  return value;
#endif
}
/// The bits that any lane of the warp has, returned to every lane.
GE_FN uint32_t bits_of_warp(uint32_t bits) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(~0u, bits);
#else
  GE_UNROLL
  for (int distance = kWarp / 2; distance > 0; distance /= 2)
    bits |= __shfl_xor_sync(~0u, bits, distance);
  return bits;
#endif
}
/// Warp-wide inclusive prefix sum.
GE_FN int32_t sum_to_lane(int32_t value) {
  GE_UNROLL
  for (int distance = 1; distance < kWarp; distance *= 2)
    // The predicate of the shuffle reports whether a lane that far below exists.
    asm volatile(
        "{ .reg .pred there; .reg .s32 below; shfl.sync.up.b32 below|there, %0, %1, 0, -1; "
        "@there add.s32 %0, %0, below; }"
        : "+r"(value)
        : "r"(distance));
  return value;
}
/// Warp shuffle: reads the word of lane `lane`, which may differ from lane to lane.
GE_FN uint32_t word_of_lane(uint32_t word, int lane) {
  return __shfl_sync(~0u, word, lane);
}
/// Warp-wide ballot: the lowest lane's vote in the lowest bit.
GE_FN uint32_t votes_of_warp(bool mine) {
  return __ballot_sync(~0u, mine);
}

#else

// Threads of the CPU count at once too.
GE_FN void count_add(unsigned long long* counter, unsigned long long n) {
  __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}
GE_FN void count_max(unsigned long long* counter, unsigned long long n) {
  unsigned long long seen = __atomic_load_n(counter, __ATOMIC_RELAXED);
  while (seen < n && !__atomic_compare_exchange_n(counter, &seen, n, true, __ATOMIC_RELAXED,
                                                  __ATOMIC_RELAXED)) {
  }
}
// Emulated lanes are fibres: one at a time.
GE_FN void lower_float(float* at, float value) {
  *at = value < *at ? value : *at;
}
GE_FN void set_bits(uint32_t* at, uint32_t bits) {
  *at |= bits;
}
#if defined(GE_CUDA_LAYOUT) && !defined(__CUDACC__)
void meet_warp();  // checking/lanes_emulated.hpp
int64_t sum_of_warp(int64_t value);
int32_t count_of_warp(int32_t value);
uint32_t bits_of_warp(uint32_t bits);
int32_t sum_to_lane(int32_t value);
uint32_t word_of_lane(uint32_t word, int lane);
uint32_t votes_of_warp(bool mine);
#else
// A warp of one lane has nothing to wait for.
GE_FN void meet_warp() {}
GE_FN int64_t sum_of_warp(int64_t value) {
  return value;
}
GE_FN int32_t count_of_warp(int32_t value) {
  return value;
}
GE_FN uint32_t bits_of_warp(uint32_t bits) {
  return bits;
}
GE_FN int32_t sum_to_lane(int32_t value) {
  return value;
}
GE_FN uint32_t word_of_lane(uint32_t word, int) {
  return word;
}
GE_FN uint32_t votes_of_warp(bool mine) {
  return mine ? 1 : 0;
}
#endif

#endif

}  // namespace ge
