// Arithmetic that every machine has as one instruction, under one name. The results are exact or
// correctly rounded, so equal everywhere but for the bits of a NaN; maths/scalar.hpp, which rules
// use, makes those equal too.
#pragma once

#include "engine/base/platform.hpp"

namespace ge {

#if defined(__CUDA_ARCH__)

/// Returns `number`, computed here: nvcc would repeat a sum in the loop that reads its result.
GE_FN int64_t settled(int64_t number) {
  asm("" : "+l"(number));
  return number;
}
GE_FN int count_bits(uint32_t word) {
  return __popc(word);
}
GE_FN int count_ones(uint64_t bits) {
  return __popcll(bits);
}
/// Position of the lowest set bit; the word must not be zero.
GE_FN int lowest_bit(uint32_t word) {
  return __ffs(int(word)) - 1;
}
GE_FN int lowest_one(uint64_t bits) {
  return __ffsll((long long)bits) - 1;
}

namespace detail {

/// Number of leading zero bits; the word must not be zero.
GE_FN int leading_zeros(uint64_t x) {
  return __clzll(static_cast<long long>(x));
}
GE_FN float hardware_sqrt(float x) {
  return __fsqrt_rn(x);
}
GE_FN double hardware_sqrt(double x) {
  return __dsqrt_rn(x);
}
GE_FN float hardware_floor(float x) {
  return ::floorf(x);
}
GE_FN double hardware_floor(double x) {
  return ::floor(x);
}
GE_FN float hardware_fma(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
GE_FN double hardware_fma(double a, double b, double c) {
  return __fma_rn(a, b, c);
}

}  // namespace detail

#else

GE_FN int64_t settled(int64_t number) {
  return number;
}
GE_FN int count_bits(uint32_t word) {
  return __builtin_popcount(word);
}
GE_FN int count_ones(uint64_t bits) {
  return __builtin_popcountll(bits);
}
GE_FN int lowest_bit(uint32_t word) {
  return __builtin_ctz(word);
}
GE_FN int lowest_one(uint64_t bits) {
  return __builtin_ctzll(bits);
}

namespace detail {

GE_FN int leading_zeros(uint64_t x) {
  return __builtin_clzll(x);
}
GE_FN float hardware_sqrt(float x) {
  return __builtin_sqrtf(x);
}
GE_FN double hardware_sqrt(double x) {
  return __builtin_sqrt(x);
}
GE_FN float hardware_floor(float x) {
  return __builtin_floorf(x);
}
GE_FN double hardware_floor(double x) {
  return __builtin_floor(x);
}
GE_FN float hardware_fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
GE_FN double hardware_fma(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}

}  // namespace detail

#endif

}  // namespace ge
