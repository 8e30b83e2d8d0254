// Elementary functions with the same bits on every machine: plain IEEE operations in a fixed order,
// so that neither libm nor the CUDA library nor a contracted multiply-add can enter. Overloaded for
// float and double; rounding, selects and square roots, included here, are in
// engine/maths/scalar.hpp.
//
// Largest errors, in units in the last place of the result (0.5 is correct rounding). Floats of one
// argument: all 2^32 were tried; atan2 and doubles: millions, random and near-cancelling.
//
//   function                   float   double   arguments
//   sin                        0.821   0.81     all
//   cos                        0.814   0.80     all
//   sin, cos                   0.603   0.60     |x| < 0.45
//   exp                        0.771   0.78     all
//   log                        0.840   0.80     all
//   atan                       0.706   0.65     all
//   atan2                      0.75    0.75     all; up to 1.0 where the result is subnormal
//   sin_bounded, cos_bounded                    |x| <= kTrigBound, same bits; beyond, NaN
//   exp_bounded                                 |x| <= kExpBound, same bits; beyond, any number
//
// All but sin, cos and sincos are free of branches, so that a loop over worlds vectorises. A result
// that is NaN is quiet_nan<T>(): plain arithmetic would leave its sign and payload to the machine.
#pragma once

#include "engine/maths/scalar.hpp"

namespace ge {

// ------------------------------------------------------------------------------ sine, cosine

/// sin_bounded, cos_bounded and sincos_bounded are defined for |x| up to this [rad].
inline constexpr float kTrigBound = 4096;
/// exp_bounded is defined for |x| up to this.
inline constexpr float kExpBound = 87;

namespace detail {

/// c0 + c1 z + c2 z^2 + ..., innermost first.
template <class T>
GE_FN T polynomial(T, T c0) {
  return c0;
}
template <class T, class... Rest>
GE_FN T polynomial(T z, T c0, Rest... rest) {
  return c0 + z * polynomial(z, rest...);
}

/// x = quadrant * pi/2 + high + low, with |high| <= pi/4 (a little more at the seams) and low below
/// its last place.
template <class T>
struct Reduced {
  T high;
  T low;
  Bits<T> quadrant;  // modulo 4
};

// Cody and Waite: pi/2 is cut into pieces so short that quadrant * piece is exact for 0 <= x <=
// kTrigBound, and so is each difference until the last; no error but that of the tail of pi/2
// enters. Adding 1.5 * 2^23 (2^52) rounds to the nearest integer and leaves it in the low bits.
GE_FN Reduced<float> reduce_bounded(float x) {
  const float magic = 0x1.8p23f;
  const float shifted = x * 0x1.45f306p-1f + magic;
  const float k = shifted - magic;
  const float a = (x - k * 0x1.922p+0f) - k * -0x1.28p-18f;  // exact: multiples of 2^-24 below 1
  const float b = k * -0x1.778p-25f;
  const float high = a - b;
  const float low = ((a - high) - b) - k * 0x1.68c234p-39f;
  return {high, low, to_bits(shifted)};
}

GE_FN Reduced<double> reduce_bounded(double x) {
  const double magic = 0x1.8p52;
  const double shifted = x * 0x1.45f306dc9c883p-1 + magic;
  const double k = shifted - magic;
  const double a = x - k * 0x1.921fb54444p+0;  // exact: multiples of 2^-53 below 1
  const double b = k * -0x1.2e7b96767p-40;
  const double high = a - b;
  const double low = ((a - high) - b) - k * -0x1.9d747f23e32edp-79;
  return {high, low, to_bits(shifted)};
}

struct Wide {
  uint64_t high;
  uint64_t low;
};

GE_FN Wide multiply(uint64_t a, uint64_t b) {
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(a) * b;
  return {static_cast<uint64_t>(product >> 64), static_cast<uint64_t>(product)};
}

/// 2^exponent, for results in the normal range.
GE_FN double power_of_two(int exponent) {
  return from_bits<double>(static_cast<uint64_t>(1023 + exponent) << 52);
}

/// Payne and Hanek: mantissa * 2^exponent over pi/2, modulo 4, needs only those 192 bits of 2/pi
/// whose products have weights from 2 down to 2^-190. The nearest that a double comes to a multiple
/// of pi/2 is about 2^-62, so that at least 75 bits of the remainder are right. Out of line: it is
/// rare, and long.
GE_NOINLINE inline Reduced<double> reduce_large(uint64_t mantissa, int exponent) {
  // 2/pi in binary, after 64 zeros that serve negative exponents.
  static constexpr uint64_t two_over_pi[21] = {
      0x0000000000000000u, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u,
      0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu,
      0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu,
      0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
      0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu,
      0xf0cfbc209af4361du};
  const int first = 62 + exponent;  // the bit whose product with 2^exponent weighs 2
  uint64_t window[3];
  for (int i = 0; i < 3; ++i) {
    const int word = (first >> 6) + i, shift = first & 63;
    window[i] = two_over_pi[word] << shift;
    if (shift > 0) window[i] |= two_over_pi[word + 1] >> (64 - shift);
  }
  const Wide last = multiply(mantissa, window[2]);
  const Wide middle = multiply(mantissa, window[1]);
  uint64_t low = last.low;
  uint64_t mid = middle.low + last.high;
  uint64_t top = mantissa * window[0] + middle.high + (mid < middle.low ? 1 : 0);
  uint64_t quadrant = top >> 62;
  top = top << 2 | mid >> 62;
  mid = mid << 2 | low >> 62;
  low = low << 2;
  const bool negative = top >> 63 != 0;
  if (negative) {  // a fraction above one half counts down from the next quadrant
    quadrant += 1;
    low = ~low, mid = ~mid, top = ~top;  // all but the last of the 192 bits of a negation
  }
  const int zeros = leading_zeros(top | 1);
  if (zeros > 0) {
    top = top << zeros | mid >> (64 - zeros);
    mid = mid << zeros | low >> (64 - zeros);
  }
  // Times pi/2, the leading 128 bits of the product, of which high takes 53 and low the next 53.
  const Wide main = multiply(top, 0xc90fdaa22168c234u);
  const uint64_t carry_in = multiply(top, 0xc4c6628b80dc1cd1u).high;
  const uint64_t cross = multiply(mid, 0xc90fdaa22168c234u).high;
  const uint64_t sum = main.low + carry_in;
  const uint64_t angle_low = sum + cross;
  const uint64_t angle = main.high + (sum < main.low ? 1 : 0) + (angle_low < sum ? 1 : 0);
  const uint64_t rest = angle << 53 | angle_low >> 11;
  const double sign = negative ? -1.0 : 1.0;
  return {sign * (static_cast<double>(angle >> 11) * power_of_two(-52 - zeros)),
          sign * (static_cast<double>(rest >> 11) * power_of_two(-105 - zeros)), quadrant};
}

/// For kTrigBound < x < infinity.
template <class T>
GE_FN Reduced<T> reduce_large(T x) {
  using L = Layout<T>;
  const Bits<T> one = Bits<T>{1} << L::kMantissa;
  const Bits<T> bits = to_bits(x);
  const int exponent =
      static_cast<int>(bits >> L::kMantissa) - static_cast<int>(L::kBias) - L::kMantissa;
  const Reduced<double> wide = reduce_large((bits & (one - 1)) | one, exponent);
  const T high = static_cast<T>(wide.high);
  const T low = static_cast<T>((wide.high - static_cast<double>(high)) + wide.low);
  return {high, low, static_cast<Bits<T>>(wide.quadrant)};
}

// Minimax polynomials, fitted with each coefficient rounded before the next: sin r = r + r z S(z)
// and cos r = 1 - z/2 + z z C(z), with z = r r.
GE_FN float sine_tail(float z) {
  return polynomial(z, -0x1.555546p-3f, 0x1.110776p-7f, -0x1.9953p-13f);
}
GE_FN float cosine_tail(float z) {
  return polynomial(z, 0x1.55554ap-5f, -0x1.6c0c24p-10f, 0x1.99e5dcp-16f);
}
GE_FN double sine_tail(double z) {
  return polynomial(z, -0x1.5555555555548p-3, 0x1.111111110f753p-7, -0x1.a01a019bf03b5p-13,
                    0x1.71de355d02d37p-19, -0x1.ae5e52ac15cb9p-26, 0x1.5d8da61b14367p-33);
}
GE_FN double cosine_tail(double z) {
  return polynomial(z, 0x1.555555555554cp-5, -0x1.6c16c16c15219p-10, 0x1.a01a019cbe567p-16,
                    -0x1.27e4f811ae25dp-22, 0x1.1ee9f075eea56p-29, -0x1.8fb0ac28a7529p-37);
}

/// Sine and cosine of |x| from its reduction; the sine takes the sign of x. NaN unless valid.
template <class T>
GE_FN void finish_sincos(T x, const Reduced<T>& r, bool valid, T& sine, T& cosine) {
  const T z = r.high * r.high;
  const T half = T(0.5) * z;
  const T w = T(1) - half;
  const T s = r.high + (r.high * (z * sine_tail(z)) + r.low * w);
  const T c = w + (((T(1) - w) - half) + (z * (z * cosine_tail(z)) - r.high * r.low));
  const bool odd = (r.quadrant & 1) != 0;
  constexpr int kToSign = static_cast<int>(sizeof(T)) * 8 - 2;  // from bit 1 to the sign bit
  const Bits<T> flip_s = (r.quadrant & 2) << kToSign;
  const Bits<T> flip_c = ((r.quadrant + 1) & 2) << kToSign;
  const Bits<T> sign = to_bits(x) & Layout<T>::kSign;
  sine = select(valid, from_bits<T>(to_bits(select(odd, c, s)) ^ flip_s ^ sign), quiet_nan<T>());
  cosine = select(valid, from_bits<T>(to_bits(select(odd, s, c)) ^ flip_c), quiet_nan<T>());
}

}  // namespace detail

/// Both at once cost little more than one. Beyond kTrigBound both are NaN, which no contract test
/// overlooks: wrap angles that grow, or use sincos.
template <class T>
GE_FN void sincos_bounded(T x, T& sine, T& cosine) {
  const T magnitude = abs(x);
  detail::finish_sincos(x, detail::reduce_bounded(magnitude), magnitude <= T(kTrigBound), sine,
                        cosine);
}

template <class T>
GE_FN T sin_bounded(T x) {
  T sine, cosine;
  sincos_bounded(x, sine, cosine);
  return sine;
}

template <class T>
GE_FN T cos_bounded(T x) {
  T sine, cosine;
  sincos_bounded(x, sine, cosine);
  return cosine;
}

/// Defined for every x; NaN for infinities. Has branches, so a loop over it stays scalar.
template <class T>
GE_FN void sincos(T x, T& sine, T& cosine) {
  const T magnitude = abs(x);
  const bool finite = magnitude < infinity<T>();
  detail::Reduced<T> reduced = detail::reduce_bounded(magnitude);
  if (finite && magnitude > T(kTrigBound)) [[unlikely]]
    reduced = detail::reduce_large(magnitude);
  detail::finish_sincos(x, reduced, finite, sine, cosine);
}

template <class T>
GE_FN T sin(T x) {
  T sine, cosine;
  sincos(x, sine, cosine);
  return sine;
}

template <class T>
GE_FN T cos(T x) {
  T sine, cosine;
  sincos(x, sine, cosine);
  return cosine;
}

// -------------------------------------------------------------------- exponential, logarithm

namespace detail {

/// What exp and log need to know of a type: ln 2 in two pieces, the first short enough that a
/// multiple is exact.
template <class T>
struct Logarithm;

template <>
struct Logarithm<float> {
  static constexpr float kMagic = 0x1.8p23f, kLog2e = 0x1.715476p+0f;
  static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr float kExpLow = -104, kExpHigh = 89;  // 0 below, infinity above
  static constexpr uint32_t kRootHalf = 0x3f3504f3u;
};

template <>
struct Logarithm<double> {
  static constexpr double kMagic = 0x1.8p52, kLog2e = 0x1.71547652b82fep+0;
  static constexpr double kLn2High = 0x1.62e42fefa4p-1, kLn2Low = -0x1.8432a1b0e2634p-43;
  static constexpr double kExpLow = -746, kExpHigh = 710;
  static constexpr uint64_t kRootHalf = 0x3fe6a09e667f3bcdu;
};

// exp r = 1 + r + r r E(r) for |r| <= ln 2 / 2, and log((1 + s) / (1 - s)) = 2 s + s z L(z), where
// z = s s.
GE_FN float exp_tail(float r) {
  return polynomial(r, 0x1.fffffcp-2f, 0x1.555492p-3f, 0x1.5558bp-5f, 0x1.12398ep-7f,
                    0x1.6a4d78p-10f);
}
GE_FN double exp_tail(double r) {
  return polynomial(r, 0x1.000000000000ap-1, 0x1.55555555554ffp-3, 0x1.555555555069bp-5,
                    0x1.11111111267p-7, 0x1.6c16c18481d3cp-10, 0x1.a01a01316dacfp-13,
                    0x1.a019993bb33f2p-16, 0x1.71df156bf158dp-19, 0x1.28ae2151048c3p-22,
                    0x1.ad98c34cde3e8p-26);
}
GE_FN float log_tail(float z) {
  return polynomial(z, 0x1.55557ap-1f, 0x1.995edp-2f, 0x1.31e1a8p-2f);
}
GE_FN double log_tail(double z) {
  return polynomial(z, 0x1.5555555555593p-1, 0x1.999999997fa91p-2, 0x1.249249421cbd4p-2,
                    0x1.c71c51e5ad92bp-3, 0x1.746646640fce8p-3, 0x1.39a0f3f600912p-3,
                    0x1.2f0d77f10a0ddp-3);
}

}  // namespace detail

namespace detail {

/// y * 2^k, with k in the low bits of `shifted`, which is kMagic + k.
template <class T>
struct ScaledExp {
  T y, shifted;
};
template <class T>
GE_FN ScaledExp<T> scaled_exp(T x) {
  using C = Logarithm<T>;
  const T shifted = x * C::kLog2e + C::kMagic;
  const T k = shifted - C::kMagic;
  const T a = x - k * C::kLn2High;  // exact
  const T b = k * C::kLn2Low;
  const T r = a - b;
  const T r_low = (a - r) - b;
  const T one_r = T(1) + r;
  return {one_r + (((T(1) - one_r) + r) + (r_low + r * r * exp_tail(r))), shifted};
}

}  // namespace detail

/// Infinity where the result overflows, subnormal and then 0 where it underflows.
template <class T>
GE_FN T exp(T x) {
  using L = detail::Layout<T>;
  using C = detail::Logarithm<T>;
  const detail::ScaledExp<T> e = detail::scaled_exp(clamp(x, T(C::kExpLow), T(C::kExpHigh)));
  // 2^k in two factors, so that a subnormal result is rounded once and 2^128 (2^1024) need not be
  // representable.
  const detail::Bits<T> doubled =
      detail::to_bits(e.shifted) - detail::to_bits(T(C::kMagic)) + 2 * L::kBias;
  const detail::Bits<T> first = doubled >> 1;
  const T scaled = e.y * detail::from_bits<T>(first << L::kMantissa) *
                   detail::from_bits<T>((doubled - first) << L::kMantissa);
  return select(x == x, scaled, quiet_nan<T>());
}

/// exp for |x| up to kExpBound, where the result is normal: k is added to the exponent of y.
template <class T>
GE_FN T exp_bounded(T x) {
  using L = detail::Layout<T>;
  const detail::ScaledExp<T> e = detail::scaled_exp(x);
  return detail::from_bits<T>(detail::to_bits(e.y) + (detail::to_bits(e.shifted) << L::kMantissa));
}

/// -infinity at either zero, NaN below.
template <class T>
GE_FN T log(T x) {
  using L = detail::Layout<T>;
  using C = detail::Logarithm<T>;
  using Bits = detail::Bits<T>;
  const T two_m = T(Bits{1} << L::kMantissa);
  // Subnormal numbers borrow an exponent.
  const bool tiny = x < detail::from_bits<T>(Bits{1} << L::kMantissa);
  const T scaled = select(tiny, x * two_m, x);
  // x = 2^k m with m in [sqrt(1/2), sqrt(2)), then log m = f - f f / 2 + s (f f / 2 + z L(z)) with
  // f = m - 1. The biased k becomes a number through the low bits of 2^23 (2^52).
  const Bits bits = detail::to_bits(scaled) + ((L::kBias << L::kMantissa) - C::kRootHalf);
  const Bits exponent = bits >> L::kMantissa;
  const T m =
      detail::from_bits<T>(detail::to_bits(scaled) - ((exponent - L::kBias) << L::kMantissa));
  const T offset = select(tiny, two_m + T(L::kBias + L::kMantissa), two_m + T(L::kBias));
  const T k = detail::from_bits<T>(detail::to_bits(two_m) | exponent) - offset;
  const T f = m - T(1);
  const T s = f / (T(2) + f);
  const T z = s * s;
  const T half = T(0.5) * f * f;
  const T tail = s * (half + z * detail::log_tail(z)) + k * C::kLn2Low;
  T result = k * C::kLn2High - ((half - tail) - f);
  result = select(x == T(0), -infinity<T>(), result);
  result = select(x == infinity<T>(), x, result);
  return select(x >= T(0), result, quiet_nan<T>());
}

// ------------------------------------------------------------------------------- arc tangent

namespace detail {

// atan q = q + q z A(z) for |q| <= 1/2, with z = q q.
GE_FN float atan_tail(float z) {
  return polynomial(z, -0x1.55555p-2f, 0x1.99966ap-3f, -0x1.244070p-3f, 0x1.bf6f84p-4f,
                    -0x1.443ff6p-4f, 0x1.352af6p-5f);
}
GE_FN double atan_tail(double z) {
  return polynomial(z, -0x1.5555555555551p-2, 0x1.9999999998f1bp-3, -0x1.249249244a649p-3,
                    0x1.c71c71a7e0eedp-4, -0x1.745d133f66e5ap-4, 0x1.3b135b68b32c7p-4,
                    -0x1.110c34ddf77dep-4, 0x1.e17f250043144p-5, -0x1.ac5eacc35a030p-5,
                    0x1.77b2c6cb4f4b2p-5, -0x1.2f6f307745199p-5, 0x1.81c71eff98264p-6,
                    -0x1.0fedb73246219p-7);
}

/// pi/4 with two bits to spare, so that three times it is exact, and the rest.
template <class T>
struct QuarterPi;
template <>
struct QuarterPi<float> {
  static constexpr float kHigh = 0x1.921fb8p-1f, kLow = -0x1.5dde98p-24f;
};
template <>
struct QuarterPi<double> {
  static constexpr double kHigh = 0x1.921fb54442d18p-1, kLow = 0x1.1a62633145c07p-55;
};

/// num / (den + den_low) - quotient, given quotient = num / den, by Dekker's exact product.
template <class T>
GE_FN T quotient_error(T num, T den, T den_low, T quotient) {
  const T den_1 = from_bits<T>(to_bits(den) & Layout<T>::kSplit), den_2 = den - den_1;
  const T quo_1 = from_bits<T>(to_bits(quotient) & Layout<T>::kSplit), quo_2 = quotient - quo_1;
  const T product = quotient * den;
  const T error = ((quo_1 * den_1 - product) + quo_1 * den_2 + quo_2 * den_1) + quo_2 * den_2;
  return (((num - product) - error) - quotient * den_low) / den;
}

}  // namespace detail

/// The angle of (x, y) in [-pi, pi], with C's results at zeros and infinities: the signs of both
/// zeros count.
template <class T>
GE_FN T atan2(T y, T x) {
  using L = detail::Layout<T>;
  using Bits = detail::Bits<T>;
  const T abs_x = abs(x), abs_y = abs(y);
  const bool steep = abs_y > abs_x;
  T longer = select(steep, abs_y, abs_x), shorter = select(steep, abs_x, abs_y);
  // Infinities become the directions they stand for, and the longer leg a number in [1, 2): the
  // exact remainder of the division may then neither overflow nor vanish.
  const bool far = longer == infinity<T>();
  shorter = select(far, select(shorter == infinity<T>(), T(1), T(0)), shorter);
  longer = select(far, T(1), longer);
  const T least = detail::from_bits<T>(Bits{1} << L::kMantissa);
  const T most = detail::from_bits<T>((2 * L::kBias - 1) << L::kMantissa);
  const Bits exponent = detail::to_bits(clamp(longer, least, most)) >> L::kMantissa;
  const T scale = detail::from_bits<T>((2 * L::kBias - exponent) << L::kMantissa);
  longer = select(longer == T(0), T(1), longer * scale);
  shorter = shorter * scale;
  // Slopes above 1/2 are taken from the diagonal: atan(a/b) = pi/4 + atan((a - b) / (a + b)).
  const bool diagonal = shorter > T(0.5) * longer;
  const T sum = shorter + longer;
  const T num = select(diagonal, shorter - longer, shorter);
  const T den = select(diagonal, sum, longer);
  const T den_low = select(diagonal, shorter - (sum - longer), T(0));
  const T q = num / den;
  // Below this the remainder's parts go subnormal; the correction would not change the result's
  // last place there.
  const T representable = detail::from_bits<T>((L::kBias / 4) << L::kMantissa);
  const T q_low =
      select(abs(q) < representable, T(0), detail::quotient_error(num, den, den_low, q));
  const T z = q * q;
  const T small = q * (z * detail::atan_tail(z)) + q_low * (T(1) - z);
  // The angle is eighths * pi/4 + turn * (q + small).
  T eighths = select(diagonal, T(1), T(0)), turn = T(1);
  eighths = select(steep, T(2) - eighths, eighths);
  turn = select(steep, -turn, turn);
  const bool left = (detail::to_bits(x) & L::kSign) != 0;
  eighths = select(left, T(4) - eighths, eighths);
  turn = select(left, -turn, turn);
  const T base = eighths * detail::QuarterPi<T>::kHigh;
  const T main = base + turn * q;
  const T rest = ((base - main) + turn * q) + (turn * small + eighths * detail::QuarterPi<T>::kLow);
  const T angle = copysign(main + rest, y);
  return select(x == x, select(y == y, angle, quiet_nan<T>()), quiet_nan<T>());
}

/// In [-pi/2, pi/2].
template <class T>
GE_FN T atan(T x) {
  return atan2(x, T(1));
}

}  // namespace ge
