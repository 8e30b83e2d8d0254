// Arithmetic of floats, against values from NVIDIA's "Parallel Thread Execution ISA" 9.0, whose
// sections stand beside them. Subnormals are kept, since nothing here has .ftz.
#include <cmath>
#include <limits>

#include "ptx/one_warp.hpp"

using ge::test::Bits;

namespace {

// A NaN that an instruction makes: 0x7fffffff is what 9.7.3 calls the canonical one.
constexpr unsigned kNan = 0x7fffffff;
constexpr uint64_t kNan64 = 0x7ff8000000000000;
constexpr unsigned kOtherNan = 0xffc12345u, kQuiet = 0x7f800001u;
constexpr uint64_t kOtherNan64 = 0xfff8000000012345;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kInf64 = std::numeric_limits<double>::infinity();
constexpr float kLeast = std::numeric_limits<float>::denorm_min();
constexpr double kLeast64 = std::numeric_limits<double>::denorm_min();
constexpr float kMost = std::numeric_limits<float>::max();

}  // namespace

GE_TEST(sums_of_floats) {  // 9.7.3.3, 9.7.3.4
  CHECK_PTX("add.rn.f32 w0, w1, w2;", {{1.0f, 2.0f}, 3.0f}, {{kInf, -kInf}, kNan},
            {{kInf, 1.0f}, kInf}, {{kOtherNan, 1.0f}, kNan}, {{1.0f, kQuiet}, kNan},
            {{kMost, kMost}, kInf}, {{-0.0f, -0.0f}, -0.0f}, {{-0.0f, 0.0f}, 0.0f},
            {{kLeast, kLeast}, 2 * kLeast},
            // Half a unit in the last place goes to the even one: 2^24 + 1, 2^24 + 3.
            {{16777216.0f, 1.0f}, 16777216.0f}, {{16777218.0f, 1.0f}, 16777220.0f});
  CHECK_PTX("add.rn.f64 l0, l1, l2;", {{1.0, 2.0}, 3.0}, {{kInf64, -kInf64}, kNan64},
            {{kOtherNan64, 1.0}, kNan64}, {{-0.0, 0.0}, 0.0}, {{kLeast64, kLeast64}, 2 * kLeast64},
            {{9007199254740992.0, 1.0}, 9007199254740992.0});
  CHECK_PTX("sub.rn.f32 w0, w1, w2;", {{1.0f, 2.0f}, -1.0f}, {{kInf, kInf}, kNan},
            {{0.0f, 0.0f}, 0.0f}, {{-0.0f, 0.0f}, -0.0f}, {{0x00800000u, kLeast}, 0x007fffffu},
            {{kOtherNan, 0.0f}, kNan});
  CHECK_PTX("sub.rn.f64 l0, l1, l2;", {{1.0, 2.0}, -1.0}, {{kInf64, kInf64}, kNan64},
            {{-0.0, 0.0}, -0.0});
  CHECK_PTX("add.rn.f32 w0, w1, 0f3F800000;", {{2.5f}, 3.5f});
  CHECK_PTX("add.rn.f64 l0, l1, 0d3FF0000000000000;", {{2.5}, 3.5});
}

GE_TEST(products_of_floats) {  // 9.7.3.5, 9.7.3.6
  CHECK_PTX("mul.rn.f32 w0, w1, w2;", {{3.0f, -0.5f}, -1.5f}, {{kInf, 0.0f}, kNan},
            {{-0.0f, 3.0f}, -0.0f}, {{kMost, 2.0f}, kInf}, {{kLeast, 0.5f}, 0.0f},
            {{3 * kLeast, 0.5f}, 2 * kLeast}, {{-kLeast, 0.5f}, -0.0f}, {{kOtherNan, 0.0f}, kNan},
            // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the last is half a unit, and goes.
            {{0x3f800800u, 0x3f800800u}, 0x3f801000u});
  CHECK_PTX("mul.rn.f64 l0, l1, l2;", {{3.0, -0.5}, -1.5}, {{kInf64, 0.0}, kNan64},
            {{kLeast64, 0.5}, 0.0});
  // One rounding: 2^-24 is what is left of the square.
  CHECK_PTX("fma.rn.f32 w0, w1, w2, w3;", {{0x3f800800u, 0x3f800800u, 0xbf801000u}, 0x33800000u},
            {{2.0f, 3.0f, 4.0f}, 10.0f}, {{kInf, 0.0f, 1.0f}, kNan}, {{kMost, 2.0f, -kMost}, kMost},
            {{kInf, 1.0f, -kInf}, kNan}, {{-1.0f, 0.0f, -0.0f}, -0.0f},
            {{1.0f, kOtherNan, 1.0f}, kNan});
  CHECK_PTX("fma.rn.f64 l0, l1, l2, l3;", {{2.0, 3.0, 4.0}, 10.0}, {{kInf64, 0.0, 1.0}, kNan64},
            {{1 + 0x1p-27, 1 + 0x1p-27, -(1 + 0x1p-26)}, 0x1p-54});
}

GE_TEST(quotients_of_floats) {  // 9.7.3.8, 9.7.3.13
  CHECK_PTX("div.rn.f32 w0, w1, w2;", {{1.0f, 3.0f}, 0x3eaaaaabu}, {{1.0f, 0.0f}, kInf},
            {{1.0f, -0.0f}, -kInf}, {{0.0f, 0.0f}, kNan}, {{kInf, kInf}, kNan},
            {{-1.0f, kInf}, -0.0f}, {{kLeast, 2.0f}, 0.0f}, {{3 * kLeast, 2.0f}, 2 * kLeast},
            {{kMost, 0.5f}, kInf}, {{1.0f, kOtherNan}, kNan});
  CHECK_PTX("div.rn.f64 l0, l1, l2;", {{1.0, 3.0}, 0x3fd5555555555555}, {{1.0, -0.0}, -kInf64},
            {{0.0, 0.0}, kNan64});
  CHECK_PTX("rcp.rn.f32 w0, w1;", {{3.0f}, 0x3eaaaaabu}, {{0.0f}, kInf}, {{-0.0f}, -kInf},
            {{-kInf}, -0.0f}, {{kLeast}, kInf}, {{kMost}, 0x00200000u}, {{kOtherNan}, kNan});
  CHECK_PTX("rcp.rn.f64 l0, l1;", {{3.0}, 0x3fd5555555555555}, {{-0.0}, -kInf64}, {{kInf64}, 0.0});
}

GE_TEST(roots) {  // 9.7.3.15
  CHECK_PTX("sqrt.rn.f32 w0, w1;", {{4.0f}, 2.0f}, {{2.0f}, 0x3fb504f3u}, {{-0.0f}, -0.0f},
            {{0.0f}, 0.0f}, {{-1.0f}, kNan}, {{kInf}, kInf}, {{-kInf}, kNan},
            {{kLeast}, 0x1a3504f3u}, {{kOtherNan}, kNan});
  CHECK_PTX("sqrt.rn.f64 l0, l1;", {{4.0}, 2.0}, {{2.0}, 0x3ff6a09e667f3bcd}, {{-0.0}, -0.0},
            {{-1.0}, kNan64});
}

GE_TEST(signs_of_floats) {  // 9.7.3.2, 9.7.3.9, 9.7.3.10
  CHECK_PTX("abs.f32 w0, w1;", {{-1.5f}, 1.5f}, {{-0.0f}, 0.0f}, {{-kInf}, kInf},
            {{-kLeast}, kLeast}, {{kOtherNan}, kNan});
  CHECK_PTX("abs.f64 l0, l1;", {{-1.5}, 1.5}, {{-0.0}, 0.0}, {{kOtherNan64}, kNan64});
  CHECK_PTX("neg.f32 w0, w1;", {{-1.5f}, 1.5f}, {{0.0f}, -0.0f}, {{-0.0f}, 0.0f},
            {{kLeast}, -kLeast}, {{kNan}, kNan});
  CHECK_PTX("neg.f64 l0, l1;", {{1.5}, -1.5}, {{0.0}, -0.0});
  // The sign of the first, all else of the second, bit by bit.
  CHECK_PTX("copysign.f32 w0, w1, w2;", {{-1.0f, 2.0f}, -2.0f}, {{1.0f, -2.0f}, 2.0f},
            {{-0.0f, 3.0f}, -3.0f}, {{-1.0f, kNan}, 0xffffffffu}, {{1.0f, kOtherNan}, 0x7fc12345u},
            {{kOtherNan, 1.0f}, -1.0f});
  CHECK_PTX("copysign.f64 l0, l1, l2;", {{-1.0, 2.0}, -2.0},
            {{1.0, kOtherNan64}, kOtherNan64 & ~(uint64_t{1} << 63)});
}

// 9.7.3.11, 9.7.3.12: without .NaN the other operand where one is NaN; -0 is less than +0.
GE_TEST(extremes_of_floats) {
  CHECK_PTX("min.f32 w0, w1, w2;", {{1.0f, 2.0f}, 1.0f}, {{2.0f, 1.0f}, 1.0f},
            {{0.0f, -0.0f}, -0.0f}, {{-0.0f, 0.0f}, -0.0f}, {{kOtherNan, 1.0f}, 1.0f},
            {{1.0f, kOtherNan}, 1.0f}, {{kOtherNan, kQuiet}, kNan}, {{-kInf, kOtherNan}, -kInf},
            {{kLeast, 0.0f}, 0.0f}, {{-kLeast, 0.0f}, -kLeast});
  CHECK_PTX("max.f32 w0, w1, w2;", {{1.0f, 2.0f}, 2.0f}, {{2.0f, 1.0f}, 2.0f},
            {{0.0f, -0.0f}, 0.0f}, {{-0.0f, 0.0f}, 0.0f}, {{kOtherNan, 1.0f}, 1.0f},
            {{1.0f, kOtherNan}, 1.0f}, {{kOtherNan, kQuiet}, kNan}, {{-0.0f, -0.0f}, -0.0f},
            {{kInf, kMost}, kInf});
  CHECK_PTX("min.f64 l0, l1, l2;", {{1.0, 2.0}, 1.0}, {{0.0, -0.0}, -0.0},
            {{kOtherNan64, 1.0}, 1.0}, {{kOtherNan64, kOtherNan64}, kNan64});
  CHECK_PTX("max.f64 l0, l1, l2;", {{1.0, 2.0}, 2.0}, {{-0.0, 0.0}, 0.0},
            {{1.0, kOtherNan64}, 1.0});
}

GE_TEST(floats_that_would_differ_are_refused) {
  CHECK_FAULT("add.f32 w0, w1, w2;", "without .rn");
  CHECK_FAULT("mul.f64 l0, l1, l2;", "without .rn");
  CHECK_FAULT("div.full.f32 w0, w1, w2;", "unknown modifier .full");
  CHECK_FAULT("sqrt.approx.f32 w0, w1;", "unknown modifier .approx");
  CHECK_FAULT("add.rn.ftz.f32 w0, w1, w2;", "unknown modifier .ftz");
  CHECK_FAULT("add.rz.f32 w0, w1, w2;", "unknown modifier .rz");
  CHECK_FAULT("add.rn.sat.f32 w0, w1, w2;", "unknown modifier .sat");
  CHECK_FAULT("mad.rn.f32 w0, w1, w2, w3;", "unknown");
  CHECK_FAULT("ex2.approx.f32 w0, w1;", "unknown opcode");
  CHECK_FAULT("rsqrt.approx.f32 w0, w1;", "unknown opcode");
  CHECK_FAULT("min.NaN.f32 w0, w1, w2;", "unknown modifier .NaN");
  CHECK_FAULT("add.rn.f16 h0, h1, h2;", "unknown type .f16");
}
