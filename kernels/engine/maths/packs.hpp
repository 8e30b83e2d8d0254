// Packs: several floats at once. On the CPU a pack is a vector of kPack floats, in CUDA code (and on
// emulated lanes) it is one float, whose neighbours are other lanes. Code written over `Floats`
// computes rays side by side on both, with the same bits, since every operation is one IEEE
// operation per float. ForPacks (graph.hpp) fills the rows of a list by packs.
#pragma once

#include "engine/maths/scalar.hpp"

namespace ge {

#if defined(__CUDACC__) || defined(GE_CUDA_LAYOUT)

inline constexpr int kPack = 1;
using Floats = float;
using Mask = bool;

GE_FN Mask both(Mask a, Mask b) {
  return a & b;
}
GE_FN Mask either(Mask a, Mask b) {
  return a | b;
}
GE_FN Mask is_not(Mask a) {
  return !a;
}
GE_FN Floats lane_numbers() {
  return 0.0f;
}
GE_FN float lane(Floats pack, int) {
  return pack;
}
GE_FN void set_lane(Floats& pack, int, float value) {
  pack = value;
}
GE_FN Floats spread(float value) {
  return value;
}
GE_FN bool any_of(Mask mask) {
  return mask;
}

#else

// As wide as a register: of wider vectors g++ 12 compares and selects element by element, 15 times
// slower. No result depends on it.
#if defined(__AVX512F__)
inline constexpr int kPack = 16;
#elif defined(__AVX2__)
inline constexpr int kPack = 8;
#else
inline constexpr int kPack = 4;
#endif
typedef float Floats __attribute__((vector_size(4 * kPack)));
typedef int32_t Mask __attribute__((vector_size(4 * kPack)));

GE_FN Mask both(const Mask& a, const Mask& b) {
  return a & b;
}
GE_FN Mask either(const Mask& a, const Mask& b) {
  return a | b;
}
GE_FN Mask is_not(const Mask& a) {
  return ~a;
}
GE_FN Floats select(const Mask& condition, const Floats& if_true, const Floats& if_false) {
  return condition ? if_true : if_false;
}
GE_FN Floats min(const Floats& a, const Floats& b) {
  return b < a ? b : a;
}
GE_FN Floats max(const Floats& a, const Floats& b) {
  return b > a ? b : a;
}
GE_FN Floats lane_numbers() {
  Floats numbers{};
  for (int i = 0; i < kPack; ++i) numbers[i] = static_cast<float>(i);
  return numbers;
}
GE_FN float lane(const Floats& pack, int i) {
  return pack[i];
}
GE_FN void set_lane(Floats& pack, int i, float value) {
  pack[i] = value;
}
GE_FN Floats spread(float value) {
  return value - Floats{};  // keeps -0
}
GE_FN bool any_of(const Mask& mask) {
  int32_t any = 0;
  for (int i = 0; i < kPack; ++i) any |= mask[i];
  return any != 0;
}

#endif

}  // namespace ge
