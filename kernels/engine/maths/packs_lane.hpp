// A pack on lanes: one float. Documents each function for both forms of a pack; packs.hpp includes
// one of the two files.
#pragma once

#include "engine/maths/scalar.hpp"

namespace ge {

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
/// 0, 1, ... in the lanes of a pack.
GE_FN Floats lane_numbers() {
  return 0.0f;
}
/// Truncates numbers that fit an int32_t.
GE_FN Floats whole(Floats pack) {
  return static_cast<float>(static_cast<int32_t>(pack));
}
/// f(a, b) of whole numbers in the lanes of a mask; 0 in the others.
template <class F>
GE_FN Floats each_lane(Floats a, Floats b, Mask mask, const F& f) {
  return mask ? static_cast<float>(f(static_cast<int32_t>(a), static_cast<int32_t>(b))) : 0.0f;
}
GE_FN float lane(Floats pack, int) {
  return pack;
}
GE_FN void set_lane(Floats& pack, int, float value) {
  pack = value;
}
/// One value in every lane.
GE_FN Floats spread(float value) {
  return value;
}
/// Stores numbers from 0 to 255, rounded down, as bytes.
GE_FN void store_bytes(uint8_t* to, Floats numbers) {
  *to = static_cast<uint8_t>(static_cast<int32_t>(numbers));
}
GE_FN bool any_of(Mask mask) {
  return mask;
}
/// Lanes below `count`.
GE_FN Mask first_lanes(int count) {
  return count > 0;
}
/// Lanes whose bits differ from those of `word`.
GE_FN Mask differs(Floats pack, uint32_t word) {
  return __builtin_bit_cast(uint32_t, pack) != word;
}
/// Lanes whose bits, as a word, are in [first, end).
GE_FN Mask within(Floats pack, uint32_t first, uint32_t end) {
  return __builtin_bit_cast(uint32_t, pack) - first < end - first;
}

/// Sums whole numbers per lane of a pack; each lane's sum must stay below 2^31.
class WholeSum {
 public:
  GE_FN void add(Floats numbers, Mask mask) { sum_ += mask ? static_cast<int32_t>(numbers) : 0; }
  GE_FN int64_t total() const { return sum_; }

 private:
  int32_t sum_ = 0;
};

}  // namespace ge
