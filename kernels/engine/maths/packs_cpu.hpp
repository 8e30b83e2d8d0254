// A pack on the CPU: a vector as wide as a register (platform.hpp). No result depends on the width.
// packs_lane.hpp documents the functions; a set lane of a mask has all its bits set, so masks are
// combined by bits and counted by subtraction.
#pragma once

#include "engine/maths/scalar.hpp"

namespace ge {

inline constexpr int kPack = kVectorFloats;
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
GE_FN Floats whole(const Floats& pack) {
  return __builtin_convertvector(__builtin_convertvector(pack, Mask), Floats);
}
template <class F>
GE_FN Floats each_lane(const Floats& a, const Floats& b, const Mask& mask, const F& f) {
  Floats values{};
  for (int i = 0; i < kPack; ++i)
    if (mask[i] != 0) values[i] = static_cast<float>(f(int32_t(a[i]), int32_t(b[i])));
  return values;
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
/// Whole numbers from 0 to 255 as bytes.
GE_FN void store_bytes(uint8_t* to, const Floats& numbers) {
  typedef uint8_t Bytes __attribute__((vector_size(kPack)));
  const Bytes bytes = __builtin_convertvector(__builtin_convertvector(numbers, Mask), Bytes);
  __builtin_memcpy(to, &bytes, sizeof bytes);
}
GE_FN bool any_of(const Mask& mask) {
  return any_bit(mask);
}
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

}  // namespace ge
