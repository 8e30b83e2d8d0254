// engine/maths/scalar.hpp against the C library, bit by bit; every float with GE_EXHAUSTIVE=1.
#include "engine/maths/scalar.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "test.hpp"

namespace {

using ge::detail::from_bits;
using ge::detail::to_bits;

constexpr float kInf32 = std::numeric_limits<float>::infinity();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr uint32_t kNanBits32 = 0x7fc00000u;
constexpr uint64_t kNanBits = 0x7ff8000000000000u;

uint64_t stride() {
  const char* value = std::getenv("GE_EXHAUSTIVE");
  return value != nullptr && value[0] == '1' ? 1 : 4099;
}

/// Counts the arguments for which f differs from the reference, NaN apart, whose bits must be the
/// promised ones.
template <class F, class Reference>
void same_bits(const char* name, F f, Reference reference) {
  uint64_t wrong = 0;
  const auto compare = [&](auto x) {
    auto expected = reference(x);
    if (expected != expected) expected = ge::quiet_nan<decltype(x)>();
    wrong += to_bits(f(x)) != to_bits(expected) ? 1 : 0;
  };
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += stride())
    compare(from_bits<float>(static_cast<uint32_t>(bits)));
  uint64_t bits = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    compare(from_bits<double>(bits));
    compare(static_cast<double>(static_cast<int64_t>(bits)) * 0x1p-44);  // everyday sizes
    compare(static_cast<double>(i - 500'000) * 0.5);                     // halves
    bits += 0x9e3779b97f4a7c15u;
  }
  if (wrong > 0) ge::test::fail(__FILE__, __LINE__, std::string(name) + ": wrong bits");
}

GE_TEST(rounding_any_argument_same_bits_as_c) {
  same_bits("floor", [](auto x) { return ge::floor(x); }, [](auto x) { return std::floor(x); });
  same_bits("ceil", [](auto x) { return ge::ceil(x); }, [](auto x) { return std::ceil(x); });
  same_bits(
      "round_half_even", [](auto x) { return ge::round_half_even(x); },
      [](auto x) { return std::nearbyint(x); });
  same_bits("fract", [](auto x) { return ge::fract(x); }, [](auto x) { return x - std::floor(x); });
}

GE_TEST(sqrt_any_argument_same_bits_as_c) {
  same_bits("sqrt", [](auto x) { return ge::sqrt(x); }, [](auto x) { return std::sqrt(x); });
}

GE_TEST(to_int_any_argument_truncates_and_saturates) {
  const auto converted = [](auto x) { return static_cast<double>(ge::to_int(x)); };
  same_bits(
      "to_int", [&](auto x) { return static_cast<decltype(x)>(converted(x)); },
      [](auto x) {
        const double wide = x;
        const double limited = std::clamp(wide, -0x1p31, 0x1p31 - 1);
        return static_cast<decltype(x)>(wide != wide ? 0.0 : std::trunc(limited) + 0.0);
      });
}

GE_TEST(to_int_at_its_ends_exact) {
  CHECK_EQ(ge::to_int(-1.9f), -1);
  CHECK_EQ(ge::to_int(1.9), 1);
  CHECK_EQ(ge::to_int(2147483520.0f), 2147483520);
  CHECK_EQ(ge::to_int(2147483648.0f), INT32_MAX);
  CHECK_EQ(ge::to_int(2147483646.5), INT32_MAX - 1);
  CHECK_EQ(ge::to_int(-2147483648.5), INT32_MIN);
  CHECK_EQ(ge::to_int(-kInf32), INT32_MIN);
  CHECK_EQ(ge::to_int(kInf), INT32_MAX);
  CHECK_EQ(ge::to_int(kNan), 0);
  CHECK_EQ(ge::to_int(from_bits<float>(0xffc00001u)), 0);
}

GE_TEST(rounding_of_halves_and_zeros_keeps_sign) {
  CHECK_EQ(to_bits(ge::ceil(-0.25f)), to_bits(-0.0f));
  CHECK_EQ(to_bits(ge::round_half_even(-0.5)), to_bits(-0.0));
  CHECK_EQ(to_bits(ge::floor(-0.0)), to_bits(-0.0));
  CHECK_EQ(to_bits(ge::sqrt(-0.0f)), to_bits(-0.0f));
  CHECK_EQ(ge::round_half_even(2.5f), 2.0f);
  CHECK_EQ(ge::round_half_even(3.5), 4.0);
  CHECK_EQ(ge::fract(-0.25f), 0.75f);
  CHECK_EQ(ge::fract(-0x1p-60), 1.0);
}

GE_TEST(nan_results_have_fixed_bits) {
  const float nan32 = from_bits<float>(0xffa00001u);  // signalling, with a payload and a sign
  const double nan64 = from_bits<double>(0xfff4000000000001u);
  CHECK_EQ(to_bits(ge::sqrt(-1.0)), kNanBits);
  CHECK_EQ(to_bits(ge::sqrt(nan32)), kNanBits32);
  CHECK_EQ(to_bits(ge::floor(nan64)), kNanBits);
  CHECK_EQ(to_bits(ge::ceil(nan32)), kNanBits32);
  CHECK_EQ(to_bits(ge::round_half_even(nan32)), kNanBits32);
  CHECK_EQ(to_bits(ge::fract(-kInf)), kNanBits);
  CHECK_EQ(to_bits(ge::fma(kInf, 0.0, 1.0)), kNanBits);
  CHECK_EQ(to_bits(ge::fma(1.0f, nan32, 1.0f)), kNanBits32);
}

GE_TEST(abs_and_copysign_touch_the_sign_bit_alone) {
  CHECK_EQ(to_bits(ge::abs(from_bits<float>(0xffa00001u))), 0x7fa00001u);
  CHECK_EQ(ge::abs(-kInf), kInf);
  CHECK_EQ(ge::copysign(2.0, -0.0), -2.0);
  CHECK_EQ(to_bits(ge::copysign(-0.0f, 1.0f)), 0u);
}

GE_TEST(fma_rounds_once) {
  CHECK_EQ(ge::fma(0x1.001p0f, 0x1.001p0f, -0x1.002p0f), 0x1p-24f);
  CHECK_EQ(ge::fma(0x1.0000002p0, 0x1.0000002p0, -0x1.0000004p0), 0x1p-54);
}

GE_TEST(min_max_clamp_keep_their_rules) {
  CHECK_EQ(ge::min(2, 1), 1);
  CHECK_EQ(ge::max(-2, 1), 1);
  CHECK_EQ(ge::min(1.0, kNan), 1.0);
  CHECK_EQ(ge::max(1.0f, static_cast<float>(kNan)), 1.0f);
  CHECK(std::isnan(ge::min(kNan, 1.0)));
  CHECK(std::isnan(ge::max(kNan, 1.0)));
  CHECK_EQ(to_bits(ge::min(0.0, -0.0)), to_bits(0.0));
  CHECK_EQ(to_bits(ge::max(-0.0f, 0.0f)), to_bits(-0.0f));
  CHECK_EQ(ge::clamp(kNan, -1.0, 1.0), -1.0);
  CHECK_EQ(ge::clamp(7, 0, 3), 3);
  CHECK_EQ(to_bits(ge::clamp(-0.0f, 0.0f, 1.0f)), to_bits(0.0f));
  CHECK_EQ(ge::clamp(kInf, -1.0, 1.0), 1.0);
  CHECK_EQ(ge::select(true, 3, 4), 3);
}

}  // namespace
