// The functions of engine/maths/math.hpp against the C library in wider arithmetic, at their edges,
// and against one hash that every compiler, instruction set and optimisation level must reproduce.
// With GE_EXHAUSTIVE=1 every float is tried and the largest errors are printed, as they stand in
// the header's table; that takes some minutes.
#include "engine/maths/math.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <thread>

#include "split_mix.hpp"
#include "test.hpp"

namespace {

using ge::detail::from_bits;
using ge::detail::to_bits;

constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr uint32_t kNanBits = 0x7fc00000u;
constexpr uint64_t kNanBits64 = 0x7ff8000000000000u;

bool exhaustive() {
  const char* value = std::getenv("GE_EXHAUSTIVE");
  return value != nullptr && value[0] == '1';
}

struct Source : ge::test::SplitMix {
  /// In [-1, 1).
  double signed_unit() { return static_cast<double>(static_cast<int64_t>(next())) * 0x1p-63; }
};

/// The distance in units in the last place that T has at the expected value: 0 where the result is
/// correctly rounded, huge where only one of the two is NaN or where its bits are not the promised
/// ones. Overflow counts as the next power of two.
template <class T, class Wide>
double ulp_error(T got, Wide expected) {
  using Limits = std::numeric_limits<T>;
  if (expected != expected) return to_bits(got) == to_bits(ge::quiet_nan<T>()) ? 0 : 1e30;
  if (got != got) return 1e30;
  if (got == static_cast<T>(expected))
    return 0;  // correctly rounded, the usual case: skip the rest
  const Wide top = std::ldexp(Wide(1), Limits::max_exponent);
  const Wide limited = std::clamp(expected, -top, top);
  const Wide value = std::clamp(static_cast<Wide>(got), -top, top);
  if (value == limited) return 0;
  const int exponent =
      limited == 0 ? Limits::min_exponent : std::max(std::ilogb(limited) + 1, Limits::min_exponent);
  const int limit = std::min(exponent, Limits::max_exponent);
  return static_cast<double>(std::abs(value - limited) *
                             std::ldexp(Wide(1), Limits::digits - limit));
}

struct Worst {
  double error = 0;
  double argument = 0;
  void take(double e, double x) {
    if (e > error) error = e, argument = x;
  }
  void take(const Worst& other) { take(other.error, other.argument); }
};

void report(const char* name, const Worst& worst, double bound) {
  if (exhaustive()) std::printf("%-16s %.4f ulp at %a\n", name, worst.error, worst.argument);
  if (worst.error > bound) std::printf("%s: %.4f ulp at %a\n", name, worst.error, worst.argument);
  CHECK(worst.error <= bound);
}

/// Tries every stride-th float in [first, 2^32), in blocks so that the function under test is
/// vectorised.
template <class F, class Reference>
Worst float_range(F f, Reference reference, uint64_t first, uint64_t stride) {
  constexpr int kBlock = 1024;
  Worst worst;
  float in[kBlock], out[kBlock];
  for (uint64_t bits = first; bits < (uint64_t{1} << 32); bits += kBlock * stride) {
    for (int i = 0; i < kBlock; ++i)
      in[i] = from_bits<float>(static_cast<uint32_t>(bits + static_cast<uint64_t>(i) * stride));
    GE_INDEPENDENT
    for (int i = 0; i < kBlock; ++i) out[i] = f(in[i]);
    for (int i = 0; i < kBlock; ++i)
      worst.take(ulp_error(out[i], reference(static_cast<double>(in[i]))), in[i]);
  }
  return worst;
}

/// Every float with GE_EXHAUSTIVE, else one in 4,099: a prime, so that all patterns of low bits
/// occur.
template <class F, class Reference>
void all_floats(const char* name, double bound, F f, Reference reference) {
  if (!exhaustive()) return report(name, float_range(f, reference, 0, 4099), bound);
  const unsigned count = std::max(1u, std::thread::hardware_concurrency());
  std::vector<Worst> worst(count);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; ++t)
    threads.emplace_back([&, t] { worst[t] = float_range(f, reference, t, count); });
  for (std::thread& thread : threads) thread.join();
  for (unsigned t = 1; t < count; ++t) worst[0].take(worst[t]);
  report(name, worst[0], bound);
}

template <class F>
auto within(double limit, F f) {
  return [limit, f](auto x) { return std::abs(x) <= limit ? f(x) : kNan; };
}

// Glibc's double functions err by less than one unit in 2^53, far below what is measured here.
GE_TEST(float_sin_any_argument_within_bound) {
  all_floats(
      "sin", 0.821, [](float x) { return ge::sin(x); }, [](double x) { return std::sin(x); });
}

GE_TEST(float_cos_any_argument_within_bound) {
  all_floats(
      "cos", 0.814, [](float x) { return ge::cos(x); }, [](double x) { return std::cos(x); });
}

GE_TEST(float_sin_bounded_within_bound_and_nan_beyond) {
  all_floats(
      "sin_bounded", 0.821, [](float x) { return ge::sin_bounded(x); },
      within(4096, [](double x) { return std::sin(x); }));
}

GE_TEST(float_cos_bounded_within_bound_and_nan_beyond) {
  all_floats(
      "cos_bounded", 0.814, [](float x) { return ge::cos_bounded(x); },
      within(4096, [](double x) { return std::cos(x); }));
}

GE_TEST(float_sin_of_small_angles_nearly_correctly_rounded) {
  all_floats(
      "sin < 0.45", 0.603, [](float x) { return ge::abs(x) < 0.45f ? ge::sin_bounded(x) : 0; },
      [](double x) { return std::abs(x) < 0.45f ? std::sin(x) : 0; });
  all_floats(
      "cos < 0.45", 0.564, [](float x) { return ge::abs(x) < 0.45f ? ge::cos_bounded(x) : 0; },
      [](double x) { return std::abs(x) < 0.45f ? std::cos(x) : 0; });
}

GE_TEST(exp_and_sqrt_bounded_same_bits_as_unbounded) {
  // Floats 251 apart, up to the bound; doubles between two of them.
  for (uint32_t bits = 0; from_bits<float>(bits) <= ge::kExpBound; bits += 251)
    for (const float x : {from_bits<float>(bits), -from_bits<float>(bits)}) {
      CHECK_EQ(to_bits(ge::exp_bounded(x)), to_bits(ge::exp(x)));
      CHECK_EQ(to_bits(ge::exp_bounded(1.0000000001 * double(x))),
               to_bits(ge::exp(1.0000000001 * double(x))));
      if (x >= 0) CHECK_EQ(to_bits(ge::sqrt_bounded(x)), to_bits(ge::sqrt(x)));
    }
  for (const float x : {-ge::kExpBound, ge::kExpBound})
    CHECK_EQ(to_bits(ge::exp_bounded(x)), to_bits(ge::exp(x)));
}
GE_TEST(float_exp_any_argument_within_bound) {
  all_floats(
      "exp", 0.771, [](float x) { return ge::exp(x); }, [](double x) { return std::exp(x); });
}

GE_TEST(float_log_any_argument_within_bound) {
  all_floats(
      "log", 0.840, [](float x) { return ge::log(x); },
      [](double x) { return x < 0 ? kNan : std::log(x); });
}

GE_TEST(float_atan_any_argument_within_bound) {
  all_floats(
      "atan", 0.706, [](float x) { return ge::atan(x); }, [](double x) { return std::atan(x); });
}

/// Arguments of doubles: every exponent, angles of everyday size, and neighbours of multiples of
/// pi/2 and of 1, where leading digits cancel.
double argument(Source& source, int64_t i) {
  const uint64_t bits = source.next();
  switch (i % 6) {
    case 0: {
      const double any = from_bits<double>(bits);
      return any == any ? any : 0.0;
    }
    case 1:
      return source.signed_unit() * 0.45;
    case 2:
      return source.signed_unit() * 800;
    case 3:
      return source.signed_unit() * 4096;
    case 4: {
      const double multiple =
          static_cast<double>(bits >> (12 + source.next() % 52)) * 0x1.921fb54442d18p+0;
      return from_bits<double>(to_bits(multiple) + source.next() % 5 - 2);
    }
    default:
      return 1 + source.signed_unit() * std::ldexp(1.0, -static_cast<int>(bits % 50));
  }
}

template <class F, class Reference>
void many_doubles(const char* name, double bound, F f, Reference reference) {
  Source source{0x5eed};
  Worst worst;
  const int64_t count = exhaustive() ? 20'000'000 : 300'000;
  for (int64_t i = 0; i < count; ++i) {
    const double x = argument(source, i);
    worst.take(ulp_error(f(x), reference(static_cast<long double>(x))), x);
  }
  report(name, worst, bound);
}

GE_TEST(double_functions_any_argument_within_bound) {
  using Wide = long double;
  many_doubles(
      "sin64", 0.81, [](double x) { return ge::sin(x); },
      [](Wide x) { return std::isinf(x) ? Wide(kNan) : std::sin(x); });
  many_doubles(
      "cos64", 0.80, [](double x) { return ge::cos(x); },
      [](Wide x) { return std::isinf(x) ? Wide(kNan) : std::cos(x); });
  many_doubles(
      "sin64 < 0.45", 0.60, [](double x) { return ge::abs(x) < 0.45 ? ge::sin_bounded(x) : 0; },
      [](Wide x) { return std::abs(x) < Wide(0.45) ? std::sin(x) : 0; });
  many_doubles(
      "cos64 < 0.45", 0.57, [](double x) { return ge::abs(x) < 0.45 ? ge::cos_bounded(x) : 0; },
      [](Wide x) { return std::abs(x) < Wide(0.45) ? std::cos(x) : 0; });
  many_doubles(
      "exp64", 0.78, [](double x) { return ge::exp(x); }, [](Wide x) { return std::exp(x); });
  many_doubles(
      "log64", 0.80, [](double x) { return ge::log(x); },
      [](Wide x) { return x < 0 ? Wide(kNan) : std::log(x); });
  many_doubles(
      "atan64", 0.65, [](double x) { return ge::atan(x); }, [](Wide x) { return std::atan(x); });
}

template <class T, class Wide>
void take_atan2(T y, T x, Worst& normal, Worst& subnormal) {
  const Wide expected = std::atan2(static_cast<Wide>(y), static_cast<Wide>(x));
  const bool tiny = std::abs(expected) < std::numeric_limits<T>::min();
  (tiny ? subnormal : normal).take(ulp_error(ge::atan2(y, x), expected), y);
}

GE_TEST(atan2_any_pair_within_bound) {
  Source source{0xa7a2};
  Worst normal32, subnormal32, normal64, subnormal64;
  const int64_t count = exhaustive() ? 60'000'000 : 300'000;
  for (int64_t i = 0; i < count; ++i) {
    double y = argument(source, i), x = argument(source, source.next() % 6);
    if (i % 2 == 0) x = y * (1 + source.signed_unit());
    if (i % 4 == 1) x = source.signed_unit() * 2, y = source.signed_unit() * 2;
    take_atan2<double, long double>(y, x, normal64, subnormal64);
    float y32 = static_cast<float>(y), x32 = static_cast<float>(x);
    if (i % 3 == 0) y32 = from_bits<float>(static_cast<uint32_t>(source.next()) & 0xff7fffffu);
    take_atan2<float, double>(y32, x32, normal32, subnormal32);
  }
  report("atan2", normal32, 0.75);
  report("atan2 64", normal64, 0.75);
  report("atan2 subnormal", subnormal32, 1.0);
  report("atan2 64 subnormal", subnormal64, 1.0);
}

/// Hundreds of bits of 2/pi: the worst cases of Kahan and McDonald, and the ends of the range.
GE_TEST(sin_of_hard_arguments_correct) {
  for (const double x : {0x1.6ac5b262ca1ffp+849, 0x1.fffffffffffffp+1023, 0x1.0000000000001p+12,
                         1e22, 0x1.921fb54442d18p+1, 0x1.1475cc9eedf01p+5}) {
    CHECK(ulp_error(ge::sin(x), std::sin(static_cast<long double>(x))) < 0.6);
    CHECK(ulp_error(ge::cos(x), std::cos(static_cast<long double>(x))) < 0.6);
    CHECK(ulp_error(ge::sin(-x), -std::sin(static_cast<long double>(x))) < 0.6);
  }
}

GE_TEST(bounded_within_bound_same_bits_as_unbounded) {
  Source source{0xb0};
  for (int i = 0; i < 100'000; ++i) {
    const double x = source.signed_unit() * 4096;
    CHECK_EQ(to_bits(ge::sin(x)), to_bits(ge::sin_bounded(x)));
    CHECK_EQ(to_bits(ge::cos(x)), to_bits(ge::cos_bounded(x)));
    const float y = static_cast<float>(x);
    CHECK_EQ(to_bits(ge::sin(y)), to_bits(ge::sin_bounded(y)));
    CHECK_EQ(to_bits(ge::cos(y)), to_bits(ge::cos_bounded(y)));
  }
}

GE_TEST(special_values_follow_c) {
  const double zeros[] = {0.0, -0.0};
  for (const double zero : zeros) {
    const float zero32 = static_cast<float>(zero);
    CHECK_EQ(to_bits(ge::sin(zero)), to_bits(zero));
    CHECK_EQ(to_bits(ge::sin_bounded(zero32)), to_bits(zero32));
    CHECK_EQ(to_bits(ge::atan(zero)), to_bits(zero));
    CHECK_EQ(ge::cos(zero), 1.0);
    CHECK_EQ(ge::exp(zero), 1.0);
    CHECK_EQ(ge::log(zero), -kInf);
  }
  CHECK_EQ(ge::exp(kInf), kInf);
  CHECK_EQ(ge::exp(-kInfF), 0.0f);
  CHECK_EQ(ge::exp(-740.0), std::exp(-740.0));  // subnormal
  CHECK_EQ(ge::log(kInfF), kInfF);
  CHECK_EQ(ge::log(0x1p-1074), std::log(0x1p-1074));
}

GE_TEST(atan2_zeros_and_infinities_follow_c) {
  for (const double y : {0.0, -0.0, 1.0, -1.0, kInf, -kInf, 5e-324})
    for (const double x : {0.0, -0.0, 1.0, -1.0, kInf, -kInf, 5e-324}) {
      CHECK_EQ(to_bits(ge::atan2(y, x)), to_bits(std::atan2(y, x)));
      const float y32 = static_cast<float>(y), x32 = static_cast<float>(x);
      const double expected = std::atan2(static_cast<double>(y32), static_cast<double>(x32));
      CHECK_EQ(to_bits(ge::atan2(y32, x32)), to_bits(static_cast<float>(expected)));
    }
}

GE_TEST(nan_results_have_fixed_bits) {
  const float nan32 = from_bits<float>(0xffa00001u);  // signalling, with a payload and a sign
  const double nan64 = from_bits<double>(0xfff4000000000001u);
  for (const float x : {nan32, kInfF, -kInfF}) {
    CHECK_EQ(to_bits(ge::sin(x)), kNanBits);
    CHECK_EQ(to_bits(ge::cos_bounded(x)), kNanBits);
  }
  CHECK_EQ(to_bits(ge::sin_bounded(5000.0f)), kNanBits);
  for (const double x : {nan64, -1.0, -kInf}) {
    CHECK_EQ(to_bits(ge::log(x)), kNanBits64);
  }
  CHECK_EQ(to_bits(ge::exp(nan64)), kNanBits64);
  CHECK_EQ(to_bits(ge::exp(nan32)), kNanBits);
  CHECK_EQ(to_bits(ge::atan2(nan32, 1.0f)), kNanBits);
  CHECK_EQ(to_bits(ge::atan2(1.0, nan64)), kNanBits64);
}

template <class T>
uint64_t hash_functions(T x, T y) {
  uint64_t hash = 0xcbf29ce484222325u;
  T sine, cosine;
  ge::sincos_bounded(x, sine, cosine);
  for (const T value : {sine, cosine, ge::sin(x), ge::cos(x), ge::exp(x), ge::log(x),
                        ge::log(ge::abs(x)), ge::atan(x), ge::atan2(x, y), ge::sqrt(ge::abs(x)),
                        ge::floor(x), ge::ceil(x), ge::round_half_even(x), ge::fract(x),
                        ge::fma(x, y, T(1)), ge::min(x, y), ge::max(x, y), ge::clamp(x, T(-1), y)})
    hash = (hash ^ to_bits(value)) * 0x100000001b3u;
  return (hash ^ static_cast<uint32_t>(ge::to_int(x))) * 0x100000001b3u;
}

/// What any machine must compute, g++ and nvcc, with or without optimisation: a difference here
/// means that results of environments differ too.
GE_TEST(all_functions_same_bits_everywhere) {
  uint64_t hash32 = 0, hash64 = 0;
  Source source{1};
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 65'521) {
    const float y = from_bits<float>(static_cast<uint32_t>(source.next()));
    hash32 = hash32 * 31 + hash_functions(from_bits<float>(static_cast<uint32_t>(bits)), y);
  }
  for (int i = 0; i < 60'000; ++i) {
    const double x = argument(source, i);
    hash64 = hash64 * 31 + hash_functions(x, argument(source, i / 6));
  }
  CHECK_EQ(hash32, 6404002106405345898u);
  CHECK_EQ(hash64, 12748824499852697624u);
}

}  // namespace
