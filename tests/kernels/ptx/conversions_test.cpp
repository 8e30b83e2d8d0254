// cvt, against NVIDIA's "Parallel Thread Execution ISA" 9.0, 9.7.9.21.
#include <climits>
#include <limits>

#include "ptx/one_warp.hpp"

namespace {

constexpr unsigned kNan = 0x7fffffff, kOtherNan = 0xffc12345u;
constexpr uint64_t kNan64 = 0x7ff8000000000000, kOtherNan64 = 0xfff8000000012345;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kInf64 = std::numeric_limits<double>::infinity();
constexpr int64_t kLeast64 = INT64_MIN, kMost64 = INT64_MAX;
constexpr uint64_t kTop = uint64_t{1} << 63;

}  // namespace

// A narrow result fills its register by its own sign (9.4.1, table of relaxed destinations).
GE_TEST(whole_numbers_are_cut_and_extended) {
  CHECK_PTX("cvt.u16.u32 h0, w1;", {{0x12345678}, 0x5678});
  CHECK_PTX("cvt.s16.s32 h0, w1;", {{-1}, 0xffff});
  CHECK_PTX("cvt.u32.u16 w0, h1;", {{0xffff}, 0xffff});
  CHECK_PTX("cvt.s32.s16 w0, h1;", {{0xffff}, -1}, {{0x7fff}, 0x7fff});
  CHECK_PTX("cvt.u64.u32 l0, w1;", {{-1}, 0xffffffffu});
  CHECK_PTX("cvt.s64.s32 l0, w1;", {{-1}, -1}, {{INT_MAX}, INT_MAX});
  CHECK_PTX("cvt.u64.u16 l0, h1;", {{0xffff}, 0xffff});
  CHECK_PTX("cvt.s64.s16 l0, h1;", {{0x8000}, -0x8000});
  CHECK_PTX("cvt.u32.u64 w0, l1;", {{0x123456789abcdef0}, 0x9abcdef0u});
  CHECK_PTX("cvt.s32.s64 w0, l1;", {{int64_t{-5}}, -5});
  CHECK_PTX("cvt.u16.u64 h0, l1;", {{0x123456789abcdef0}, 0xdef0});
  // To 8 bits, which have no registers of their own.
  CHECK_PTX("cvt.u8.u32 w0, w1;", {{0x1ff}, 0xff}, {{0x100}, 0});
  CHECK_PTX("cvt.s8.s32 w0, w1;", {{0x1ff}, -1}, {{0x17f}, 0x7f}, {{0x80}, -128});
  CHECK_PTX("cvt.u8.u32 l0, w1;", {{-1}, 0xff});
  CHECK_PTX("cvt.s8.s32 l0, w1;", {{0x80}, -128});
  CHECK_PTX("cvt.s8.s32 h0, w1;", {{0x80}, 0xff80});
  CHECK_PTX("cvt.u8.u32 h0, w1;", {{0x180}, 0x80});
  CHECK_PTX("cvt.s16.s8 h0, h1;", {{0x80}, 0xff80}, {{0x7f}, 0x7f});
  CHECK_PTX("cvt.u16.u8 h0, h1;", {{0x1ff}, 0xff});
  // From the low bits of a wider register.
  CHECK_PTX("cvt.s32.s8 w0, w1;", {{0x180}, -128}, {{0x17f}, 127});
  CHECK_PTX("cvt.u32.u8 w0, w1;", {{0x1ff}, 0xff});
  CHECK_PTX("cvt.s64.s8 l0, l1;", {{0x1234567880}, -128});
  CHECK_PTX("cvt.u64.u8 l0, l1;", {{0x12345678ff}, 0xff});
  CHECK_PTX("cvt.s32.s16 w0, w1;", {{0x18000}, -0x8000});
  CHECK_PTX("cvt.s64.s32 l0, l1;", {{0x180000000}, INT_MIN});
  CHECK_PTX("cvt.u64.u32 l0, l1;", {{-1}, 0xffffffffu});
  // The sign is the source's, whatever the result's type is.
  CHECK_PTX("cvt.u64.s32 l0, w1;", {{-1}, -1});
  CHECK_PTX("cvt.s64.u32 l0, w1;", {{-1}, 0xffffffffu});
  CHECK_PTX("cvt.u32.s16 w0, h1;", {{0xffff}, -1});
  CHECK_PTX("cvt.u32.u32 w0, w1;", {{-1}, -1});
  // A guarded, a constant one.
  CHECK_PTX("cvt.s64.s32 l0, -7;", {{0}, -7});
  CHECK_PTX("cvt.u32.u16 w0, 65535;", {{0}, 65535});
}

GE_TEST(whole_numbers_are_clamped) {
  CHECK_PTX("cvt.sat.s8.s32 w0, w1;", {{200}, 127}, {{-200}, -128}, {{-7}, -7});
  CHECK_PTX("cvt.sat.u8.s32 w0, w1;", {{200}, 200}, {{256}, 255}, {{-1}, 0});
  CHECK_PTX("cvt.sat.u8.u32 w0, w1;", {{-1}, 255}, {{7}, 7});
  CHECK_PTX("cvt.sat.s16.s32 h0, w1;", {{40000}, 0x7fff}, {{-40000}, 0x8000}, {{-1}, 0xffff});
  CHECK_PTX("cvt.sat.u16.s32 h0, w1;", {{70000}, 0xffff}, {{-1}, 0});
  CHECK_PTX("cvt.sat.s32.s64 w0, l1;", {{kMost64}, INT_MAX}, {{kLeast64}, INT_MIN});
  CHECK_PTX("cvt.sat.u32.s64 w0, l1;", {{int64_t{-1}}, 0}, {{kMost64}, -1});
  CHECK_PTX("cvt.sat.s32.u32 w0, w1;", {{-1}, INT_MAX}, {{5}, 5});
  CHECK_PTX("cvt.sat.u32.s32 w0, w1;", {{-1}, 0}, {{5}, 5});
  CHECK_PTX("cvt.sat.s64.u64 l0, l1;", {{uint64_t(-1)}, kMost64});
  CHECK_PTX("cvt.sat.u64.s64 l0, l1;", {{int64_t{-1}}, 0});
}

GE_TEST(whole_numbers_become_floats) {  // .rn: to the nearest, half to even
  CHECK_PTX("cvt.rn.f32.s32 w0, w1;", {{-1}, -1.0f}, {{16777217}, 16777216.0f},
            {{16777219}, 16777220.0f}, {{INT_MIN}, -2147483648.0f}, {{INT_MAX}, 2147483648.0f},
            {{0}, 0.0f});
  CHECK_PTX("cvt.rn.f32.u32 w0, w1;", {{-1}, 4294967296.0f}, {{0x80000080u}, 2147483648.0f},
            {{0x80000081u}, 2147483904.0f}, {{0x80000180u}, 2147484160.0f}, {{3}, 3.0f});
  CHECK_PTX("cvt.rn.f32.s64 w0, l1;", {{kLeast64}, -9223372036854775808.0f},
            {{kMost64}, 9223372036854775808.0f},
            // One rounding, not two: 2^62 + 2^38 + 1 is above the half.
            {{(int64_t{1} << 62) + (int64_t{1} << 38) + 1}, 0x5e800001u},
            {{(int64_t{1} << 62) + (int64_t{1} << 38)}, 0x5e800000u});
  CHECK_PTX("cvt.rn.f32.u64 w0, l1;", {{uint64_t(-1)}, 18446744073709551616.0f},
            {{kTop + (uint64_t{1} << 39) + 1}, 0x5f000001u},
            {{kTop + (uint64_t{1} << 39)}, 0x5f000000u});
  CHECK_PTX("cvt.rn.f64.s32 l0, w1;", {{INT_MIN}, -2147483648.0}, {{-1}, -1.0});
  CHECK_PTX("cvt.rn.f64.u32 l0, w1;", {{-1}, 4294967295.0});
  CHECK_PTX("cvt.rn.f64.s64 l0, l1;", {{kMost64}, 9223372036854775808.0},
            {{9007199254740993}, 9007199254740992.0}, {{9007199254740995}, 9007199254740996.0});
  CHECK_PTX("cvt.rn.f64.u64 l0, l1;", {{uint64_t(-1)}, 18446744073709551616.0},
            {{kTop + 1024}, 9223372036854775808.0}, {{kTop + 1025}, 9223372036854777856.0});
  CHECK_PTX("cvt.rn.f32.s16 w0, h1;", {{0xffff}, -1.0f});
  CHECK_PTX("cvt.rn.f32.u16 w0, h1;", {{0xffff}, 65535.0f});
  CHECK_PTX("cvt.rn.f32.s8 w0, w1;", {{0x1ff}, -1.0f});
  CHECK_PTX("cvt.rn.f32.u8 w0, h1;", {{0x1ff}, 255.0f});
  CHECK_FAULT("cvt.rz.f32.s32 w0, w1;", "unknown modifier .rz");
  CHECK_FAULT("cvt.f32.s32 w0, w1;", "unknown type or modifier");
}

GE_TEST(floats_become_whole_numbers) {
  CHECK_PTX("cvt.rni.s32.f32 w0, w1;", {{2.5f}, 2}, {{3.5f}, 4}, {{-2.5f}, -2}, {{-0.5f}, 0},
            {{0.75f}, 1});
  CHECK_PTX("cvt.rzi.s32.f32 w0, w1;", {{2.75f}, 2}, {{-2.75f}, -2}, {{-0.5f}, 0});
  CHECK_PTX("cvt.rmi.s32.f32 w0, w1;", {{2.75f}, 2}, {{-2.25f}, -3}, {{-0.5f}, -1},
            {{0x80000001u}, -1});
  CHECK_PTX("cvt.rpi.s32.f32 w0, w1;", {{2.25f}, 3}, {{-2.75f}, -2}, {{0x00000001u}, 1});
  // Clamped to the range of the result; NaN is 0.
  CHECK_PTX("cvt.rzi.s32.f32 w0, w1;", {{2147483648.0f}, INT_MAX}, {{-2147483648.0f}, INT_MIN},
            {{3e9f}, INT_MAX}, {{-3e9f}, INT_MIN}, {{kInf}, INT_MAX}, {{-kInf}, INT_MIN},
            {{kNan}, 0}, {{kOtherNan}, 0}, {{2147483520.0f}, 2147483520});
  CHECK_PTX("cvt.rzi.u32.f32 w0, w1;", {{-1.0f}, 0}, {{-0.25f}, 0}, {{4294967296.0f}, -1},
            {{3e9f}, 3000000000u}, {{kInf}, -1}, {{-kInf}, 0}, {{kNan}, 0});
  CHECK_PTX("cvt.rni.u32.f32 w0, w1;", {{-0.5f}, 0}, {{1.5f}, 2});
  // Where one side has 64 bits NaN is the highest bit alone.
  CHECK_PTX("cvt.rzi.s64.f32 l0, w1;", {{-2.75f}, -2}, {{kInf}, kMost64}, {{-kInf}, kLeast64},
            {{kNan}, kTop}, {{9223372036854775808.0f}, kMost64});
  CHECK_PTX("cvt.rzi.u64.f32 l0, w1;", {{-1.0f}, 0}, {{kInf}, -1}, {{kNan}, kTop},
            {{1e19f}, 9999999980506447872ull});
  CHECK_PTX("cvt.rzi.s32.f64 w0, l1;", {{-2.75}, -2}, {{2147483647.5}, INT_MAX},
            {{2147483648.0}, INT_MAX}, {{-2147483648.5}, INT_MIN}, {{kInf64}, INT_MAX},
            {{kNan64}, INT_MIN}, {{kOtherNan64}, INT_MIN});
  CHECK_PTX("cvt.rzi.u32.f64 w0, l1;", {{-1.0}, 0}, {{4294967295.75}, -1}, {{1e10}, -1},
            {{kNan64}, INT_MIN});
  CHECK_PTX("cvt.rzi.s64.f64 l0, l1;", {{-2.75}, -2}, {{kInf64}, kMost64}, {{-kInf64}, kLeast64},
            {{kNan64}, kTop});
  CHECK_PTX("cvt.rzi.u64.f64 l0, l1;", {{-1.0}, 0},
            {{18446744073709549568.0}, 18446744073709549568ull}, {{18446744073709551616.0}, -1},
            {{kNan64}, kTop});
  CHECK_PTX("cvt.rni.s64.f64 l0, l1;", {{2.5}, 2}, {{-3.5}, -4});
  CHECK_PTX("cvt.rmi.s32.f64 w0, l1;", {{-0.25}, -1});
  CHECK_PTX("cvt.rpi.s32.f64 w0, l1;", {{0.25}, 1});
  // To narrow types, which are extended like other narrow results.
  CHECK_PTX("cvt.rzi.s16.f32 h0, w1;", {{-1.0f}, 0xffff}, {{40000.0f}, 0x7fff},
            {{-40000.0f}, 0x8000}, {{kNan}, 0});
  CHECK_PTX("cvt.rzi.u16.f32 h0, w1;", {{-1.0f}, 0}, {{70000.0f}, 0xffff}, {{255.5f}, 255});
  CHECK_PTX("cvt.rzi.s8.f32 w0, w1;", {{-1.0f}, -1}, {{200.0f}, 127}, {{-200.0f}, -128});
  CHECK_PTX("cvt.rzi.u8.f32 w0, w1;", {{-1.0f}, 0}, {{300.0f}, 255});
  CHECK_PTX("cvt.rzi.s16.f32 h1, w1;\ncvt.s32.s16 w0, h1;", {{-1.0f}, -1});
  CHECK_PTX("cvt.rzi.s16.f32 h1, w1;\ncvt.u32.u16 w0, h1;", {{-1.0f}, 0xffff});
  CHECK_PTX("cvt.rzi.sat.s32.f32 w0, w1;", {{3e9f}, INT_MAX});
  CHECK_FAULT("cvt.s32.f32 w0, w1;", "unknown type or modifier");
}

GE_TEST(floats_become_floats) {
  CHECK_PTX("cvt.f64.f32 l0, w1;", {{1.5f}, 1.5}, {{-0.0f}, -0.0}, {{0x00000001u}, 0x1p-149},
            {{kInf}, kInf64}, {{kOtherNan}, kNan64});
  CHECK_PTX("cvt.rn.f32.f64 w0, l1;", {{1.5}, 1.5f}, {{1 + 0x1p-24}, 1.0f},
            {{1 + 0x1.8p-23}, 1 + 0x1p-22f}, {{1e300}, kInf}, {{-1e-300}, -0.0f},
            {{0x1p-149}, 0x00000001u}, {{0x1p-150}, 0.0f}, {{0x1.8p-150}, 0x00000001u},
            {{kOtherNan64}, kNan}, {{-kInf64}, -kInf});
  CHECK_PTX("cvt.rni.f32.f32 w0, w1;", {{2.5f}, 2.0f}, {{3.5f}, 4.0f}, {{-0.5f}, -0.0f},
            {{-0.0f}, -0.0f}, {{0.5f}, 0.0f}, {{1.5f}, 2.0f}, {{kInf}, kInf}, {{kOtherNan}, kNan},
            {{8388609.0f}, 8388609.0f});
  CHECK_PTX("cvt.rzi.f32.f32 w0, w1;", {{2.75f}, 2.0f}, {{-2.75f}, -2.0f}, {{-0.75f}, -0.0f},
            {{1e30f}, 1e30f});
  CHECK_PTX("cvt.rmi.f32.f32 w0, w1;", {{2.75f}, 2.0f}, {{-2.25f}, -3.0f}, {{-0.0f}, -0.0f},
            {{0x80000001u}, -1.0f});
  CHECK_PTX("cvt.rpi.f32.f32 w0, w1;", {{2.25f}, 3.0f}, {{-2.75f}, -2.0f}, {{-0.75f}, -0.0f},
            {{0x00000001u}, 1.0f});
  CHECK_PTX("cvt.rni.f64.f64 l0, l1;", {{2.5}, 2.0}, {{-0.5}, -0.0}, {{kOtherNan64}, kNan64});
  CHECK_PTX("cvt.rzi.f64.f64 l0, l1;", {{-2.75}, -2.0});
  CHECK_PTX("cvt.rmi.f64.f64 l0, l1;", {{-2.25}, -3.0});
  CHECK_PTX("cvt.rpi.f64.f64 l0, l1;", {{2.25}, 3.0});
  CHECK_FAULT("cvt.sat.f32.f32 w0, w1;", "unknown type or modifier");
  CHECK_FAULT("cvt.rn.f16.f32 h0, w1;", "unknown type .f16");
}
