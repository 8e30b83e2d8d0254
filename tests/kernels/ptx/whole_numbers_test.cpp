// Arithmetic of whole numbers, against values worked out from NVIDIA's "Parallel Thread Execution
// ISA" 9.0, whose sections stand beside them.
#include <climits>

#include "ptx/one_warp.hpp"

using ge::test::Bits;

namespace {

constexpr int64_t kLeast64 = INT64_MIN, kMost64 = INT64_MAX;
constexpr uint64_t kAll = ~uint64_t{0};

}  // namespace

GE_TEST(sums_wrap_around) {  // 9.7.1.1, 9.7.1.2
  CHECK_PTX("add.s16 h0, h1, h2;", {{1, 2}, 3}, {{0x7fff, 1}, 0x8000}, {{0xffff, 1}, 0});
  CHECK_PTX("add.u16 h0, h1, h2;", {{0xffff, 0xffff}, 0xfffe});
  CHECK_PTX("add.s32 w0, w1, w2;", {{INT_MAX, 1}, INT_MIN}, {{-1, 1}, 0}, {{-5, 3}, -2});
  CHECK_PTX("add.u32 w0, w1, w2;", {{0xffffffffu, 2}, 1}, {{7, 8}, 15});
  CHECK_PTX("add.s64 l0, l1, l2;", {{kMost64, 1}, kLeast64}, {{0xffffffffu, 1}, 0x100000000});
  CHECK_PTX("add.u64 l0, l1, l2;", {{kAll, 1}, 0});
  CHECK_PTX("sub.s16 h0, h1, h2;", {{0x8000, 1}, 0x7fff}, {{1, 2}, 0xffff});
  CHECK_PTX("sub.u16 h0, h1, h2;", {{0, 1}, 0xffff});
  CHECK_PTX("sub.s32 w0, w1, w2;", {{INT_MIN, 1}, INT_MAX}, {{3, 5}, -2});
  CHECK_PTX("sub.u32 w0, w1, w2;", {{0, 1}, 0xffffffffu});
  CHECK_PTX("sub.s64 l0, l1, l2;", {{kLeast64, 1}, kMost64}, {{0, 1}, -1});
  CHECK_PTX("sub.u64 l0, l1, l2;", {{0x100000000, 1}, 0xffffffffu});
}

GE_TEST(a_constant_is_an_operand) {  // 4.5.1
  CHECK_PTX("add.s32 w0, w1, -1;", {{0}, -1}, {{INT_MIN}, INT_MAX});
  CHECK_PTX("add.s64 l0, l1, -2147483648;", {{0}, int64_t{INT_MIN}}, {{1}, -2147483647});
  CHECK_PTX("add.s16 h0, h1, -3;", {{1}, 0xfffe});
  CHECK_PTX("and.b64 l0, l1, 0xFFFFFFFF00000000U;", {{kAll}, 0xffffffff00000000});
  CHECK_PTX("mul.lo.s32 w0, 7, w1;", {{-6}, -42});
}

GE_TEST(products_have_a_low_and_a_high_half) {  // 9.7.1.3
  CHECK_PTX("mul.lo.s16 h0, h1, h2;", {{0x7fff, 2}, 0xfffe}, {{0xffff, 0xffff}, 1});
  CHECK_PTX("mul.lo.u16 h0, h1, h2;", {{0xffff, 0xffff}, 1}, {{256, 256}, 0});
  CHECK_PTX("mul.lo.s32 w0, w1, w2;", {{INT_MIN, -1}, INT_MIN}, {{-3, 5}, -15});
  CHECK_PTX("mul.lo.u32 w0, w1, w2;", {{0x10001, 0x10001}, 0x20001});
  CHECK_PTX("mul.lo.s64 l0, l1, l2;", {{kLeast64, -1}, kLeast64}, {{-3, 5}, -15});
  CHECK_PTX("mul.lo.u64 l0, l1, l2;", {{0x100000001, 0x100000001}, 0x200000001});
  // -32768 * -32768 = 2^30; -1 * 1 = ~0; 65535^2 = 0xfffe0001.
  CHECK_PTX("mul.hi.s16 h0, h1, h2;", {{0x8000, 0x8000}, 0x4000}, {{0xffff, 1}, 0xffff});
  CHECK_PTX("mul.hi.u16 h0, h1, h2;", {{0xffff, 0xffff}, 0xfffe});
  CHECK_PTX("mul.hi.s32 w0, w1, w2;", {{INT_MIN, INT_MIN}, 0x40000000}, {{-1, 1}, -1},
            {{INT_MIN, INT_MAX}, 0xc0000000u}, {{65536, 65536}, 1});
  CHECK_PTX("mul.hi.u32 w0, w1, w2;", {{0xffffffffu, 0xffffffffu}, 0xfffffffeu}, {{-1, 1}, 0});
  CHECK_PTX("mul.hi.s64 l0, l1, l2;", {{kLeast64, kLeast64}, int64_t{1} << 62}, {{-1, 1}, -1});
  CHECK_PTX("mul.hi.u64 l0, l1, l2;", {{kAll, kAll}, kAll - 1}, {{uint64_t{1} << 63, 6}, 3});
  CHECK_PTX("mul.wide.s16 w0, h1, h2;", {{0x8000, 0x8000}, 0x40000000}, {{0xffff, 5}, -5});
  CHECK_PTX("mul.wide.u16 w0, h1, h2;", {{0xffff, 0xffff}, 0xfffe0001u});
  CHECK_PTX("mul.wide.s32 l0, w1, w2;", {{-1, 8}, -8}, {{INT_MIN, INT_MIN}, int64_t{1} << 62});
  CHECK_PTX("mul.wide.u32 l0, w1, w2;", {{-1, 8}, 0x7fffffff8}, {{-1, -1}, 0xfffffffe00000001});
  CHECK_PTX("mul.wide.s32 l0, w1, -4;", {{3}, -12});
}

GE_TEST(products_are_added) {  // 9.7.1.4
  CHECK_PTX("mad.lo.s16 h0, h1, h2, h3;", {{3, 5, 0xffff}, 14});
  CHECK_PTX("mad.lo.u16 h0, h1, h2, h3;", {{0xffff, 0xffff, 0xffff}, 0});
  CHECK_PTX("mad.lo.s32 w0, w1, w2, w3;", {{-3, 5, 1}, -14}, {{INT_MIN, -1, INT_MIN}, 0});
  CHECK_PTX("mad.lo.u32 w0, w1, w2, w3;", {{0x10000, 0x10000, 9}, 9});
  CHECK_PTX("mad.lo.s64 l0, l1, l2, l3;", {{-3, 5, 1}, -14});
  CHECK_PTX("mad.lo.u64 l0, l1, l2, l3;", {{kAll, kAll, kAll}, 0});
  CHECK_PTX("mad.hi.s32 w0, w1, w2, w3;", {{-1, 1, 1}, 0}, {{INT_MIN, INT_MIN, 5}, 0x40000005});
  CHECK_PTX("mad.hi.u32 w0, w1, w2, w3;", {{-1, -1, 3}, 1});
  CHECK_PTX("mad.hi.s16 h0, h1, h2, h3;", {{0xffff, 1, 2}, 1});
  CHECK_PTX("mad.hi.u16 h0, h1, h2, h3;", {{0xffff, 0xffff, 2}, 0});
  CHECK_PTX("mad.hi.s64 l0, l1, l2, l3;", {{-1, 1, 1}, 0});
  CHECK_PTX("mad.hi.u64 l0, l1, l2, l3;", {{kAll, kAll, 3}, 1});
  CHECK_PTX("mad.wide.s16 w0, h1, h2, w3;", {{0xffff, 5, 4}, -1});
  CHECK_PTX("mad.wide.u16 w0, h1, h2, w3;", {{0xffff, 0xffff, 0x1ffff}, 0});
  CHECK_PTX("mad.wide.s32 l0, w1, w2, l3;", {{-1, 8, kLeast64}, kMost64 - 7});
  CHECK_PTX("mad.wide.u32 l0, w1, w2, l3;", {{-1, -1, 0x1ffffffff}, 0});
}

GE_TEST(absolute_differences_are_added) {  // 9.7.1.7
  CHECK_PTX("sad.s32 w0, w1, w2, w3;", {{-3, 5, 10}, 18}, {{5, -3, 10}, 18},
            {{INT_MIN, INT_MAX, 1}, 0});
  CHECK_PTX("sad.u32 w0, w1, w2, w3;", {{-3, 5, 10}, 2}, {{5, 8, 1}, 4});
  CHECK_PTX("sad.s16 h0, h1, h2, h3;", {{0xfffd, 5, 10}, 18});
  CHECK_PTX("sad.u16 h0, h1, h2, h3;", {{0xfffd, 5, 10}, 2});
  CHECK_PTX("sad.s64 l0, l1, l2, l3;", {{-3, 5, 10}, 18});
  CHECK_PTX("sad.u64 l0, l1, l2, l3;", {{-3, 5, 10}, 2});
}

// 9.7.1.8, 9.7.1.9: quotients are cut off towards zero, a remainder has the dividend's sign. By
// zero the manual gives no value, and nothing may rest on it: here it only must not fail.
GE_TEST(quotients_and_remainders) {
  CHECK_PTX("div.s16 h0, h1, h2;", {{0xfff9, 2}, 0xfffd}, {{0x8000, 0xffff}, 0x8000});
  CHECK_PTX("div.u16 h0, h1, h2;", {{0xfff9, 2}, 0x7ffc});
  CHECK_PTX("div.s32 w0, w1, w2;", {{-7, 2}, -3}, {{7, -2}, -3}, {{INT_MIN, -1}, INT_MIN},
            {{INT_MIN, 1}, INT_MIN}, {{6, 7}, 0}, {{-7, -2}, 3});
  CHECK_PTX("div.u32 w0, w1, w2;", {{-7, 2}, 0x7ffffffc}, {{-1, -1}, 1}, {{INT_MIN, -1}, 0});
  CHECK_PTX("div.s64 l0, l1, l2;", {{kLeast64, -1}, kLeast64}, {{-7, 2}, -3});
  CHECK_PTX("div.u64 l0, l1, l2;", {{kAll, 10}, 0x1999999999999999});
  CHECK_PTX("rem.s16 h0, h1, h2;", {{0xfff9, 2}, 0xffff}, {{0x8000, 0xffff}, 0});
  CHECK_PTX("rem.u16 h0, h1, h2;", {{0xfff9, 16}, 9});
  CHECK_PTX("rem.s32 w0, w1, w2;", {{-7, 2}, -1}, {{7, -2}, 1}, {{INT_MIN, -1}, 0}, {{6, 7}, 6});
  CHECK_PTX("rem.u32 w0, w1, w2;", {{-7, 16}, 9}, {{-1, -1}, 0});
  CHECK_PTX("rem.s64 l0, l1, l2;", {{kLeast64, -1}, 0}, {{-7, 2}, -1});
  CHECK_PTX("rem.u64 l0, l1, l2;", {{kAll, 10}, 5});
  for (const char* const op : {"div.s32", "div.u32", "rem.s32", "rem.u32"})
    CHECK_EQ(ge::test::fault_of(std::string(op) + " w0, w1, 0;"), "");
}

GE_TEST(signs_and_extremes) {  // 9.7.1.10 to 9.7.1.13
  CHECK_PTX("abs.s16 h0, h1;", {{0x8000}, 0x8000}, {{0xffff}, 1}, {{5}, 5});
  CHECK_PTX("abs.s32 w0, w1;", {{INT_MIN}, INT_MIN}, {{-1}, 1}, {{0}, 0}, {{INT_MAX}, INT_MAX});
  CHECK_PTX("abs.s64 l0, l1;", {{kLeast64}, kLeast64}, {{-1}, 1});
  CHECK_PTX("neg.s16 h0, h1;", {{0x8000}, 0x8000}, {{1}, 0xffff});
  CHECK_PTX("neg.s32 w0, w1;", {{INT_MIN}, INT_MIN}, {{1}, -1}, {{0}, 0});
  CHECK_PTX("neg.s64 l0, l1;", {{kLeast64}, kLeast64}, {{-9}, 9});
  CHECK_PTX("min.s16 h0, h1, h2;", {{0xffff, 1}, 0xffff}, {{3, 2}, 2});
  CHECK_PTX("min.u16 h0, h1, h2;", {{0xffff, 1}, 1});
  CHECK_PTX("min.s32 w0, w1, w2;", {{-1, 1}, -1}, {{INT_MAX, INT_MIN}, INT_MIN});
  CHECK_PTX("min.u32 w0, w1, w2;", {{-1, 1}, 1});
  CHECK_PTX("min.s64 l0, l1, l2;", {{-1, 1}, -1});
  CHECK_PTX("min.u64 l0, l1, l2;", {{-1, 1}, 1});
  CHECK_PTX("max.s16 h0, h1, h2;", {{0xffff, 1}, 1}, {{3, 2}, 3});
  CHECK_PTX("max.u16 h0, h1, h2;", {{0xffff, 1}, 0xffff});
  CHECK_PTX("max.s32 w0, w1, w2;", {{-1, 1}, 1}, {{INT_MAX, INT_MIN}, INT_MAX});
  CHECK_PTX("max.u32 w0, w1, w2;", {{-1, 1}, -1});
  CHECK_PTX("max.s64 l0, l1, l2;", {{-1, 1}, 1});
  CHECK_PTX("max.u64 l0, l1, l2;", {{-1, 1}, -1});
}

GE_TEST(bits_are_counted_and_found) {  // 9.7.1.14 to 9.7.1.16
  CHECK_PTX("popc.b32 w0, w1;", {{0}, 0}, {{-1}, 32}, {{0x80000001u}, 2});
  CHECK_PTX("popc.b64 w0, l1;", {{0}, 0}, {{-1}, 64}, {{0x8000000000000001}, 2});
  CHECK_PTX("clz.b32 w0, w1;", {{0}, 32}, {{1}, 31}, {{-1}, 0}, {{0x00ffffff}, 8});
  CHECK_PTX("clz.b64 w0, l1;", {{0}, 64}, {{1}, 63}, {{-1}, 0}, {{0xffffffffu}, 32});
  CHECK_PTX("bfind.u32 w0, w1;", {{0}, -1}, {{1}, 0}, {{INT_MIN}, 31}, {{0x00ffffff}, 23});
  CHECK_PTX("bfind.s32 w0, w1;", {{0}, -1}, {{-1}, -1}, {{INT_MIN}, 30}, {{INT_MAX}, 30}, {{-2}, 0},
            {{1}, 0});
  CHECK_PTX("bfind.u64 w0, l1;", {{0}, -1}, {{kLeast64}, 63}, {{0x100000000}, 32});
  CHECK_PTX("bfind.s64 w0, l1;", {{-1}, -1}, {{kLeast64}, 62}, {{-2}, 0});
  CHECK_PTX("bfind.shiftamt.u32 w0, w1;", {{0}, -1}, {{1}, 31}, {{INT_MIN}, 0});
  CHECK_PTX("bfind.shiftamt.s32 w0, w1;", {{-1}, -1}, {{INT_MIN}, 1}, {{1}, 31});
  CHECK_PTX("bfind.shiftamt.u64 w0, l1;", {{0}, -1}, {{1}, 63}, {{kLeast64}, 0});
  CHECK_PTX("bfind.shiftamt.s64 w0, l1;", {{0}, -1}, {{kLeast64}, 1});
  CHECK_PTX("brev.b32 w0, w1;", {{1}, 0x80000000u}, {{0x12345678}, 0x1e6a2c48}, {{-1}, -1});  // .18
  CHECK_PTX("brev.b64 l0, l1;", {{1}, kLeast64}, {{0x12345678}, 0x1e6a2c4800000000});
}

GE_TEST(fields_are_taken_out) {  // 9.7.1.19
  const Bits word = 0x87654321u;
  CHECK_PTX("bfe.u32 w0, w1, w2, w3;", {{word, 4, 8}, 0x32}, {{word, 0, 32}, word.value},
            {{word, 28, 8}, 8}, {{word, 32, 8}, 0}, {{word, 0, 0}, 0}, {{word, 4, 255}, 0x8765432},
            {{word, 255, 255}, 0},
            // Both are of 8 bits: 0x104 is 4, 0x108 is 8.
            {{word, 0x104, 0x108}, 0x32});
  // The sign is the field's highest bit, or the operand's where the field reaches beyond it.
  CHECK_PTX("bfe.s32 w0, w1, w2, w3;", {{word, 4, 8}, 0x32}, {{word, 28, 4}, -8},
            {{word, 24, 8}, 0xffffff87u}, {{word, 28, 8}, -8}, {{word, 32, 8}, -1},
            {{word, 40, 1}, -1}, {{word, 0, 0}, 0}, {{word, 0, 1}, -1}, {{word, 1, 1}, 0},
            {{0x07654321, 32, 8}, 0}, {{word, 0, 32}, word.value}, {{word, 4, 255}, 0xf8765432u});
  const Bits wide = 0x8765432187654321;
  CHECK_PTX("bfe.u64 l0, l1, w2, w3;", {{wide, 60, 8}, 8}, {{wide, 64, 8}, 0},
            {{wide, 32, 32}, 0x87654321u}, {{wide, 0, 64}, wide.value},
            {{wide, 4, 40}, 0x1876543218765432 & 0xffffffffff});
  CHECK_PTX("bfe.s64 l0, l1, w2, w3;", {{wide, 60, 8}, -8}, {{wide, 64, 8}, -1},
            {{wide, 32, 32}, int64_t{int32_t(0x87654321u)}}, {{wide, 0, 0}, 0});
}

GE_TEST(fields_are_put_in) {  // 9.7.1.20
  CHECK_PTX("bfi.b32 w0, w1, w2, w3, w4;", {{0xff, 0, 4, 8}, 0xff0}, {{0, -1, 4, 8}, 0xfffff00fu},
            {{0xff, 0, 28, 8}, 0xf0000000u}, {{0xff, 7, 32, 8}, 7}, {{0xff, 7, 3, 0}, 7},
            {{0x12345678, 0, 0, 32}, 0x12345678}, {{0x12345678, 0, 0, 255}, 0x12345678},
            {{0x12345678, -1, 16, 255}, 0x5678ffff}, {{-1, 0, 0x104, 0x104}, 0xf0});
  CHECK_PTX("bfi.b64 l0, l1, l2, w3, w4;", {{0xff, 0, 36, 8}, 0xff000000000},
            {{0xff, 0, 60, 8}, 0xf000000000000000}, {{0xff, 7, 64, 8}, 7}, {{kAll, 0, 0, 64}, kAll},
            {{0, kAll, 0, 63}, kLeast64});
}

GE_TEST(masks_are_made) {  // 9.7.1.22
  CHECK_PTX("bmsk.clamp.b32 w0, w1, w2;", {{1, 2}, 6}, {{0, 32}, -1}, {{4, 0}, 0},
            {{31, 1}, INT_MIN}, {{28, 8}, 0xf0000000u}, {{32, 8}, 0}, {{4, 100}, 0xfffffff0u},
            {{0, 31}, INT_MAX}, {{-1, -1}, 0});
}

GE_TEST(logic_and_its_widths) {  // 9.7.8.1 to 9.7.8.5
  CHECK_PTX("and.b16 h0, h1, h2;", {{0xff0f, 0x0ff3}, 0x0f03});
  CHECK_PTX("and.b32 w0, w1, w2;", {{0xff00ff00u, 0x0ff00ff0}, 0x0f000f00});
  CHECK_PTX("and.b64 l0, l1, l2;", {{kAll, 0x1234567812345678}, 0x1234567812345678});
  CHECK_PTX("or.b16 h0, h1, h2;", {{0xf000, 0x000f}, 0xf00f});
  CHECK_PTX("or.b32 w0, w1, w2;", {{0xf0000000u, 0xf}, 0xf000000fu});
  CHECK_PTX("or.b64 l0, l1, l2;", {{kLeast64, 1}, 0x8000000000000001});
  CHECK_PTX("xor.b16 h0, h1, h2;", {{0xff0f, 0xffff}, 0x00f0});
  CHECK_PTX("xor.b32 w0, w1, w2;", {{-1, 0x12345678}, 0xedcba987u});
  CHECK_PTX("xor.b64 l0, l1, l2;", {{kAll, 1}, kAll - 1});
  CHECK_PTX("not.b16 h0, h1;", {{0x00ff}, 0xff00});
  CHECK_PTX("not.b32 w0, w1;", {{0}, -1}, {{INT_MIN}, INT_MAX});
  CHECK_PTX("not.b64 l0, l1;", {{0}, -1}, {{0xffffffffu}, 0xffffffff00000000});
  CHECK_PTX("cnot.b16 h0, h1;", {{0}, 1}, {{0x100}, 0});
  CHECK_PTX("cnot.b32 w0, w1;", {{0}, 1}, {{INT_MIN}, 0}, {{1}, 0});
  CHECK_PTX("cnot.b64 l0, l1;", {{0}, 1}, {{0x100000000}, 0});
}

GE_TEST(logic_of_three) {  // 9.7.8.6: the table's bit is a << 2 | b << 1 | c
  const Bits a = 0xf0, b = 0xcc, c = 0xaa;
  CHECK_PTX("lop3.b32 w0, w1, w2, w3, 0xf0;", {{a, b, c}, 0xf0});
  CHECK_PTX("lop3.b32 w0, w1, w2, w3, 0xcc;", {{a, b, c}, 0xcc});
  CHECK_PTX("lop3.b32 w0, w1, w2, w3, 0xaa;", {{a, b, c}, 0xaa});
  CHECK_PTX("lop3.b32 w0, w1, w2, w3, 0x80;", {{a, b, c}, 0x80}, {{-1, -1, 5}, 5});
  CHECK_PTX("lop3.b32 w0, w1, w2, w3, 0xfe;", {{a, b, c}, 0xfe}, {{1, 2, 4}, 7});
  CHECK_PTX("lop3.b32 w0, w1, w2, w3, 0x96;", {{a, b, c}, 0x96}, {{-1, 1, 2}, 0xfffffffcu});
  CHECK_PTX("lop3.b32 w0, w1, w2, w3, 0x1a;", {{a, b, c}, 0xffffff1au & 0x1a});
  CHECK_PTX("lop3.b32 w0, w1, w2, w3, 0x01;", {{a, b, c}, 0xffffff01u});
  CHECK_PTX("lop3.b32 w0, w1, w2, w3, 0;", {{-1, -1, -1}, 0});
  CHECK_PTX("lop3.b32 w0, w1, w2, w3, 0xff;", {{0, 0, 0}, -1});
}

GE_TEST(funnels) {  // 9.7.8.7: of b:a, by min(c, 32) or c & 31
  const Bits a = 0x89abcdefu, b = 0x01234567;
  CHECK_PTX("shf.l.clamp.b32 w0, w1, w2, w3;", {{a, b, 0}, b.value}, {{a, b, 8}, 0x23456789},
            {{a, b, 32}, a.value}, {{a, b, 33}, a.value}, {{a, b, -1}, a.value});
  CHECK_PTX("shf.l.wrap.b32 w0, w1, w2, w3;", {{a, b, 0}, b.value}, {{a, b, 8}, 0x23456789},
            {{a, b, 32}, b.value}, {{a, b, 40}, 0x23456789}, {{a, b, 31}, 0xc4d5e6f7u});
  CHECK_PTX("shf.r.clamp.b32 w0, w1, w2, w3;", {{a, b, 0}, a.value}, {{a, b, 8}, 0x6789abcd},
            {{a, b, 32}, b.value}, {{a, b, 99}, b.value});
  CHECK_PTX("shf.r.wrap.b32 w0, w1, w2, w3;", {{a, b, 0}, a.value}, {{a, b, 8}, 0x6789abcd},
            {{a, b, 32}, a.value}, {{a, b, 40}, 0x6789abcd}, {{a, b, 31}, 0x02468acfu});
}

GE_TEST(shifts_beyond_the_width) {  // 9.7.8.8, 9.7.8.9
  CHECK_PTX("shl.b16 h0, h1, w2;", {{0xffff, 15}, 0x8000}, {{0xffff, 16}, 0}, {{1, 0}, 1},
            {{1, -1}, 0});
  CHECK_PTX("shl.b32 w0, w1, w2;", {{-1, 31}, INT_MIN}, {{-1, 32}, 0}, {{1, 4}, 16}, {{1, 33}, 0},
            {{1, -1}, 0}, {{1, 0x10004}, 0});
  CHECK_PTX("shl.b64 l0, l1, w2;", {{1, 63}, kLeast64}, {{-1, 64}, 0}, {{1, 32}, 0x100000000});
  CHECK_PTX("shr.b16 h0, h1, w2;", {{0x8000, 15}, 1}, {{0x8000, 16}, 0});
  CHECK_PTX("shr.u16 h0, h1, w2;", {{0xffff, 4}, 0x0fff});
  CHECK_PTX("shr.s16 h0, h1, w2;", {{0x8000, 15}, 0xffff}, {{0x8000, 99}, 0xffff},
            {{0x7fff, 99}, 0}, {{0x8000, 1}, 0xc000});
  CHECK_PTX("shr.b32 w0, w1, w2;", {{INT_MIN, 31}, 1}, {{-1, 32}, 0});
  CHECK_PTX("shr.u32 w0, w1, w2;", {{-1, 4}, 0x0fffffff}, {{-1, 32}, 0}, {{-1, -1}, 0});
  CHECK_PTX("shr.s32 w0, w1, w2;", {{-1, 4}, -1}, {{INT_MIN, 31}, -1}, {{INT_MIN, 32}, -1},
            {{INT_MIN, -1}, -1}, {{INT_MAX, 32}, 0}, {{-17, 2}, -5});
  CHECK_PTX("shr.b64 l0, l1, w2;", {{-1, 63}, 1}, {{-1, 64}, 0});
  CHECK_PTX("shr.u64 l0, l1, w2;", {{-1, 60}, 15});
  CHECK_PTX("shr.s64 l0, l1, w2;", {{kLeast64, 63}, -1}, {{kLeast64, 64}, -1}, {{kMost64, 64}, 0});
  CHECK_PTX("shl.b32 w0, w1, 40;", {{1}, 0});
}

GE_TEST(bytes_are_permuted) {  // 9.7.9.7
  const Bits a = 0x83828180u, b = 0x07060504;
  CHECK_PTX("prmt.b32 w0, w1, w2, w3;", {{a, b, 0x3210}, a.value}, {{a, b, 0x7654}, b.value},
            {{a, b, 0x0123}, 0x80818283u}, {{a, b, 0x7531}, 0x07058381},
            // The nibble's high bit spreads the byte's sign.
            {{a, b, 0xba98}, -1}, {{a, b, 0xfedc}, 0}, {{a, b, 0x8888}, -1},
            {{a, b, 0xc0c0}, 0x00800080},
            // Only the low 16 bits count.
            {{a, b, 0x12343210}, a.value});
  CHECK_PTX("prmt.b32 w0, w1, w2, 0x5410;", {{0x1111, 0x22223333}, 0x33331111});
}
