// Comparisons, selections, moves and predicates, against NVIDIA's "Parallel Thread Execution ISA"
// 9.0, whose sections stand beside them.
#include <climits>
#include <limits>

#include "ptx/one_warp.hpp"

using ge::test::Bits;
using ge::test::Made;

namespace {

constexpr unsigned kNan = 0xffc00001u;
constexpr uint64_t kNan64 = 0x7ff8000000000001;
constexpr float kInf = std::numeric_limits<float>::infinity();

std::string setp(const std::string& how, const std::string& type) {
  const std::string kind = type[1] == '1' ? "h" : type[1] == '3' ? "w" : "l";
  return "setp." + how + "." + type + " p0|p5, " + kind + "1, " + kind + "2;";
}
/// A comparison, and its opposite in the second predicate.
Made is(Bits a, Bits b, bool found) {
  return {{a, b}, found ? 1 : 0, found ? 0 : 1};
}

}  // namespace

GE_TEST(whole_numbers_are_compared) {  // 9.7.6.2
  for (const char* const type : {"s16", "s32", "s64"}) {
    CHECK_PTX(setp("eq", type), is(-1, -1, true), is(1, 2, false));
    CHECK_PTX(setp("ne", type), is(-1, -1, false), is(1, 2, true));
    CHECK_PTX(setp("lt", type), is(-1, 1, true), is(1, -1, false), is(1, 1, false));
    CHECK_PTX(setp("le", type), is(-1, 1, true), is(1, -1, false), is(1, 1, true));
    CHECK_PTX(setp("gt", type), is(-1, 1, false), is(1, -1, true), is(1, 1, false));
    CHECK_PTX(setp("ge", type), is(-1, 1, false), is(1, -1, true), is(1, 1, true));
  }
  for (const char* const type : {"u16", "u32", "u64"}) {
    CHECK_PTX(setp("eq", type), is(-1, -1, true), is(1, 2, false));
    CHECK_PTX(setp("ne", type), is(-1, -1, false), is(1, 2, true));
    for (const char* const how : {"lt", "lo"})
      CHECK_PTX(setp(how, type), is(-1, 1, false), is(1, -1, true), is(1, 1, false));
    for (const char* const how : {"le", "ls"})
      CHECK_PTX(setp(how, type), is(-1, 1, false), is(1, -1, true), is(1, 1, true));
    for (const char* const how : {"gt", "hi"})
      CHECK_PTX(setp(how, type), is(-1, 1, true), is(1, -1, false), is(1, 1, false));
    for (const char* const how : {"ge", "hs"})
      CHECK_PTX(setp(how, type), is(-1, 1, true), is(1, -1, false), is(1, 1, true));
  }
  for (const char* const type : {"b16", "b32", "b64"}) {
    CHECK_PTX(setp("eq", type), is(-1, -1, true), is(1, 2, false));
    CHECK_PTX(setp("ne", type), is(-1, -1, false), is(1, 2, true));
  }
  // Each width has its own extremes, and no bits beyond.
  CHECK_PTX(setp("lt", "s16"), is(0x8000, 0x7fff, true), is(0x18000, 0x8000, false));
  CHECK_PTX(setp("lt", "s32"), is(INT_MIN, INT_MAX, true), is(0x180000000, 0x80000000u, false));
  CHECK_PTX(setp("lt", "s64"), is(LLONG_MIN, LLONG_MAX, true), is(0x80000000u, 1, false));
  CHECK_PTX(setp("eq", "u32"), is(0x100000001, 1, true));
  CHECK_PTX("setp.gt.s32 p0, w1, -1;", {{0}, 1}, {{-1}, 0});
}

GE_TEST(floats_are_compared_ordered_and_unordered) {  // 9.7.6.2, 9.3.1
  struct Row {
    const char* how;
    bool less, equal, more, unordered;
  };
  constexpr Row rows[] = {
      {"eq", false, true, false, false}, {"ne", true, false, true, false},
      {"lt", true, false, false, false}, {"le", true, true, false, false},
      {"gt", false, false, true, false}, {"ge", false, true, true, false},
      {"equ", false, true, false, true}, {"neu", true, false, true, true},
      {"ltu", true, false, false, true}, {"leu", true, true, false, true},
      {"gtu", false, false, true, true}, {"geu", false, true, true, true},
      {"num", true, true, true, false},  {"nan", false, false, false, true},
  };
  for (const Row& row : rows) {
    CHECK_PTX(setp(row.how, "f32"), is(1.0f, 2.0f, row.less), is(2.0f, 1.0f, row.more),
              is(1.5f, 1.5f, row.equal), is(0.0f, -0.0f, row.equal), is(-0.0f, 0.0f, row.equal),
              is(kNan, 1.0f, row.unordered), is(1.0f, kNan, row.unordered),
              is(kNan, kNan, row.unordered), is(kInf, kInf, row.equal), is(-kInf, kInf, row.less),
              is(kInf, kNan, row.unordered),
              // The least subnormals differ from zero.
              is(0u, 1u, row.less), is(0x80000001u, 0u, row.less));
    CHECK_PTX(setp(row.how, "f64"), is(1.0, 2.0, row.less), is(2.0, 1.0, row.more),
              is(1.5, 1.5, row.equal), is(0.0, -0.0, row.equal), is(kNan64, 1.0, row.unordered),
              is(1.0, kNan64, row.unordered), is(kNan64, kNan64, row.unordered),
              is(uint64_t{0}, uint64_t{1}, row.less));
  }
}

GE_TEST(comparisons_are_joined) {  // 9.7.6.2: p = (a < b) op c, q = !(a < b) op c
  CHECK_PTX("setp.lt.and.s32 p0|p5, w1, w2, p3;", {{1, 2, 1}, 1, 0}, {{1, 2, 0}, 0, 0},
            {{2, 1, 1}, 0, 1}, {{2, 1, 0}, 0, 0});
  CHECK_PTX("setp.lt.or.s32 p0|p5, w1, w2, p3;", {{1, 2, 1}, 1, 1}, {{1, 2, 0}, 1, 0},
            {{2, 1, 1}, 1, 1}, {{2, 1, 0}, 0, 1});
  CHECK_PTX("setp.lt.xor.s32 p0|p5, w1, w2, p3;", {{1, 2, 1}, 0, 1}, {{1, 2, 0}, 1, 0},
            {{2, 1, 1}, 1, 0}, {{2, 1, 0}, 0, 1});
  CHECK_PTX("setp.gt.and.f32 p0, w1, w2, p3;", {{2.0f, 1.0f, 1}, 1}, {{kNan, 1.0f, 1}, 0});
  // The result may be an operand.
  CHECK_PTX("mov.pred p0, p3;\nsetp.lt.and.s32 p0, w1, w2, p0;", {{1, 2, 1}, 1}, {{1, 2, 0}, 0});
  CHECK_PTX("setp.eq.s32 _|p5, w1, w2;\nmov.pred p0, p1;", {{1, 1}, 1, 0}, {{1, 2}, 1, 1});
  CHECK_PTX("setp.eq.s32 p0|_, w1, w2;", {{1, 1}, 1, 0}, {{1, 2}, 0, 0});
  CHECK_PTX("setp.lt.and.s32 p0|p5, w1, w2, !p3;", {{1, 2, 1}, 0, 0}, {{1, 2, 0}, 1, 0},
            {{2, 1, 0}, 0, 1});
}

GE_TEST(one_of_two_is_selected) {  // 9.7.6.3
  CHECK_PTX("selp.b16 h0, h1, h2, p3;", {{5, 6, 1}, 5}, {{5, 6, 0}, 6});
  for (const char* const type : {"b32", "u32", "s32", "f32"})
    CHECK_PTX(std::string("selp.") + type + " w0, w1, w2, p3;", {{-5, 6, 1}, -5}, {{-5, 6, 0}, 6},
              {{kNan, 6, 1}, kNan});
  for (const char* const type : {"b64", "u64", "s64", "f64"})
    CHECK_PTX(std::string("selp.") + type + " l0, l1, l2, p3;", {{-5, 6, 1}, -5}, {{-5, 6, 0}, 6});
  CHECK_PTX("selp.b32 w0, -1, 0, p1;", {{1}, -1}, {{0}, 0});
}

GE_TEST(bits_are_moved) {  // 9.7.9.3
  CHECK_PTX("mov.b16 h0, h1;", {{0x1ffff}, 0xffff});
  CHECK_PTX("mov.u16 h0, h1;", {{7}, 7});
  CHECK_PTX("mov.b32 w0, w1;", {{kNan}, kNan});
  CHECK_PTX("mov.f32 w0, w1;", {{kNan}, kNan});  // all bits of a NaN
  CHECK_PTX("mov.b64 l0, l1;", {{kNan64}, kNan64});
  CHECK_PTX("mov.u32 w0, -1;", {{0}, -1});
  CHECK_PTX("mov.b64 l0, -1;", {{0}, -1});
  CHECK_PTX("mov.f64 l0, 0dBFF0000000000000;", {{0}, -1.0});
  CHECK_PTX("mov.b32 w0, 0fBF800000;", {{0}, -1.0f});
  CHECK_PTX("mov.pred p0, p1;", {{1}, 1}, {{0}, 0});
  CHECK_PTX("mov.pred p0, 1;", {{0}, 1});
  CHECK_PTX("mov.pred p0, -1;", {{0}, 1});
  CHECK_PTX("mov.pred p0, 0;", {{1}, 0});
}

GE_TEST(vectors_are_packed_lowest_first) {  // 9.7.9.4
  CHECK_PTX("mov.b32 w0, {h1, h2};", {{0x11234, 0xabcd}, 0xabcd1234u});
  CHECK_PTX("mov.b64 l0, {w1, w2};", {{0x11234, -1}, 0xffffffff00011234});
  CHECK_PTX("mov.b64 l0, {h1, h2, h3, h4};", {{1, 2, 3, 0x8004}, 0x8004000300020001});
  CHECK_PTX("mov.b64 l0, {w1, 7};", {{5}, 0x700000005});
  CHECK_PTX("mov.b32 {h1, h0}, w1;", {{0x12345678}, 0x1234});
  CHECK_PTX("mov.b32 {h0, h1}, w1;", {{0x12345678}, 0x5678});
  CHECK_PTX("mov.b64 {w0, w1}, l1;", {{0x123456789abcdef0}, 0x9abcdef0u});
  CHECK_PTX("mov.b64 {w1, w0}, l1;", {{0x123456789abcdef0}, 0x12345678});
  CHECK_PTX("mov.b64 {_, w0}, l1;", {{0x123456789abcdef0}, 0x12345678});
  CHECK_PTX("mov.b64 {h1, h2, h3, h0}, l1;", {{0x123456789abcdef0}, 0x1234});
  // The halves of a register change places.
  CHECK_PTX("mov.b64 {w1, w2}, l1;\nmov.b64 l0, {w2, w1};",
            {{0x123456789abcdef0}, 0x9abcdef012345678});
}

GE_TEST(predicates_are_joined) {  // 9.7.8.1 to 9.7.8.4
  CHECK_PTX("and.pred p0, p1, p2;", {{0, 0}, 0}, {{0, 1}, 0}, {{1, 0}, 0}, {{1, 1}, 1});
  CHECK_PTX("or.pred p0, p1, p2;", {{0, 0}, 0}, {{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 1});
  CHECK_PTX("xor.pred p0, p1, p2;", {{0, 0}, 0}, {{0, 1}, 1}, {{1, 0}, 1}, {{1, 1}, 0});
  CHECK_PTX("not.pred p0, p1;", {{0}, 1}, {{1}, 0});
}

GE_TEST(guards_choose_lanes) {  // 9.3
  CHECK_PTX("mov.u32 w0, 5;\n@p1 mov.u32 w0, 6;", {{0}, 5}, {{1}, 6});
  CHECK_PTX("mov.u32 w0, 5;\n@!p1 mov.u32 w0, 6;", {{0}, 6}, {{1}, 5});
  CHECK_PTX("mov.pred p0, p2;\n@p1 not.pred p0, p0;", {{0, 1}, 1}, {{1, 1}, 0}, {{1, 0}, 1},
            {{0, 0}, 0});
  CHECK_PTX("mov.pred p0, p2;\n@!p1 setp.eq.s32 p0|p5, w1, w1;", {{0, 0}, 1, 0}, {{1, 0}, 0, 0});
}
