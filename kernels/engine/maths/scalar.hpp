// Arithmetic on plain numbers that every rule needs: selects, minima, rounding, conversion to
// integers, square roots. Exact or correctly rounded, the same bits on every machine, NaN and -0
// included, and branch-free, so that loops over worlds vectorise. Elementary functions:
// engine/maths/math.hpp.
#pragma once

#include "engine/base/platform_numbers.hpp"

namespace ge {

// -------------------------------------------------------------------------- bits and selects

namespace detail {

/// The layout of a floating-point type, as wide integers of the same size: conversions between
/// lanes of different widths would halve the speed of a vectorised loop.
template <class T>
struct Layout;

template <>
struct Layout<float> {
  using Bits = uint32_t;
  static constexpr int kMantissa = 23;  // stored bits
  static constexpr Bits kBias = 127;
  static constexpr Bits kSign = 0x80000000u;
  static constexpr Bits kInfinity = 0x7f800000u;
  static constexpr Bits kSplit = 0xfffff000u;  // keeps 12 of 24 bits: products of halves are exact
};

template <>
struct Layout<double> {
  using Bits = uint64_t;
  static constexpr int kMantissa = 52;
  static constexpr Bits kBias = 1023;
  static constexpr Bits kSign = 0x8000000000000000u;
  static constexpr Bits kInfinity = 0x7ff0000000000000u;
  static constexpr Bits kSplit = 0xfffffffff8000000u;
};

template <class T>
using Bits = typename Layout<T>::Bits;

template <class T>
GE_FN Bits<T> to_bits(T x) {
  return __builtin_bit_cast(Bits<T>, x);
}

template <class T>
GE_FN T from_bits(Bits<T> bits) {
  return __builtin_bit_cast(T, bits);
}

}  // namespace detail

/// The NaN that every function here returns: 0x7fc00000 or 0x7ff8000000000000.
template <class T>
GE_FN T quiet_nan() {
  using L = detail::Layout<T>;
  return detail::from_bits<T>(L::kInfinity | (detail::Bits<T>{1} << (L::kMantissa - 1)));
}

template <class T>
GE_FN T infinity() {
  return detail::from_bits<T>(detail::Layout<T>::kInfinity);
}

/// One condition, two values already computed: the only shape that g++ turns into a vector blend
/// reliably. Combine conditions by selecting in sequence.
template <class T>
GE_FN T select(bool condition, T if_true, T if_false) {
  return condition ? if_true : if_false;
}

/// b where b < a, else a: a where either is NaN, and a where both are zeros. One instruction on
/// x86.
template <class T>
GE_FN T min(T a, T b) {
  return b < a ? b : a;
}

/// b where b > a, else a: a where either is NaN, and a where both are zeros.
template <class T>
GE_FN T max(T a, T b) {
  return b > a ? b : a;
}

/// Clamps x to [low, high], for low <= high: NaN becomes low, and a zero equal to a limit takes its
/// sign.
template <class T>
GE_FN T clamp(T x, T low, T high) {
  return min(high, max(low, x));
}

/// Clears the sign bit, of NaN too.
template <class T>
GE_FN T abs(T x) {
  return detail::from_bits<T>(detail::to_bits(x) & ~detail::Layout<T>::kSign);
}

/// The magnitude of the first with the sign bit of the second, NaN included.
template <class T>
GE_FN T copysign(T magnitude, T sign) {
  using L = detail::Layout<T>;
  return detail::from_bits<T>((detail::to_bits(magnitude) & ~L::kSign) |
                              (detail::to_bits(sign) & L::kSign));
}

// ------------------------------------------------------------------- roots, rounding, conversion

namespace detail {

/// An instruction makes or passes on a NaN whose bits depend on the machine.
template <class T>
GE_FN T same_nan(T x) {
  return select(x == x, x, quiet_nan<T>());
}

}  // namespace detail

/// a * b + c, rounded once. A slow call on x86-64-v2, where it also stops vectorisation: use it
/// where it was measured to pay.
GE_FN float fma(float a, float b, float c) {
  return detail::same_nan(detail::hardware_fma(a, b, c));
}
GE_FN double fma(double a, double b, double c) {
  return detail::same_nan(detail::hardware_fma(a, b, c));
}

/// Correctly rounded; sqrt(-0) is -0, below it NaN.
template <class T>
GE_FN T sqrt(T x) {
  return select(x >= T(0), detail::hardware_sqrt(x), quiet_nan<T>());
}

/// sqrt where x is known to be 0 or more, as a sum of squares of numbers is: the same bits, and no
/// question of NaN.
template <class T>
GE_FN T sqrt_bounded(T x) {
  return detail::hardware_sqrt(x);
}

/// The largest integer not above x; -0 and infinities stay themselves.
template <class T>
GE_FN T floor(T x) {
  return detail::same_nan(detail::hardware_floor(x));
}

/// The smallest integer not below x; above -1 and below 0 it is -0.
template <class T>
GE_FN T ceil(T x) {
  return detail::same_nan(-detail::hardware_floor(-x));
}

/// Rounds to nearest, ties to even, keeping the sign of x: adding 2^23 (2^52) leaves no room for a
/// fraction.
template <class T>
GE_FN T round_half_even(T x) {
  const T whole = T(detail::Bits<T>{1} << detail::Layout<T>::kMantissa);
  const T magnitude = abs(x);
  const T rounded = (magnitude + whole) - whole;
  return detail::same_nan(copysign(select(magnitude < whole, rounded, magnitude), x));
}

/// x - floor(x), in [0, 1]: exactly 1 where x is negative and closer to zero than half a unit in
/// the last place of 1. NaN for infinities.
template <class T>
GE_FN T fract(T x) {
  return detail::same_nan(x - detail::hardware_floor(x));
}

/// Truncates; saturates at the ends of int32_t, and NaN becomes 0.
GE_FN int32_t to_int(float x) {
  const int32_t whole = static_cast<int32_t>(clamp(x, -2147483648.0f, 2147483520.0f));
  const int32_t saturated = select(x >= 2147483648.0f, INT32_MAX, whole);
  return select(x == x, saturated, 0);
}
GE_FN int32_t to_int(double x) {
  const int32_t whole = static_cast<int32_t>(clamp(x, -2147483648.0, 2147483647.0));
  return select(x == x, whole, 0);
}

}  // namespace ge
