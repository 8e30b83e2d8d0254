// Loads, stores and atomics, against NVIDIA's "Parallel Thread Execution ISA" 9.0, whose sections
// stand beside them. `from` is the address of a lane's operands, `to` of its results.
#include <climits>

#include "ptx/one_warp.hpp"

using ge::test::fault_of;

namespace {

const std::string kShared = ".shared .align 16 .b8 room[512];\n";
/// w5: a place of 16 bytes for each lane, in shared memory.
const std::string kPlace = "mov.u32 w5, room;\nshl.b32 w6, lane, 4;\nadd.s32 w5, w5, w6;\n";

std::string shared_made(const std::string& statements, uint64_t given, uint64_t expected) {
  std::vector<ge::test::Lane> lanes(ge::ptx::kLanes);
  for (ge::test::Lane& lane : lanes) lane.given[0] = given;
  ge::test::run_lanes(kPlace + statements, lanes, kShared);
  for (const ge::test::Lane& lane : lanes)
    if (lane.made[0] != (expected & ge::test::mask_of(statements)))
      return statements + ": " + ge::test::hex(lane.made[0]);
  return "";
}

}  // namespace

GE_TEST(loads_are_extended) {  // 9.7.9.8, 9.4.1
  CHECK_PTX("ld.global.u8 w0, [from];", {{0x1ff}, 0xff}, {{0x80}, 0x80});
  CHECK_PTX("ld.global.s8 w0, [from];", {{0x1ff}, -1}, {{0x7f}, 0x7f});
  CHECK_PTX("ld.global.b8 w0, [from];", {{0x1ff}, 0xff});
  CHECK_PTX("ld.global.u8 h0, [from];", {{0x1ff}, 0xff});
  CHECK_PTX("ld.global.s8 h0, [from];", {{0x180}, 0xff80});
  CHECK_PTX("ld.global.s8 l0, [from];", {{0x180}, -128});
  CHECK_PTX("ld.global.u8 l0, [from];", {{0x180}, 0x80});
  CHECK_PTX("ld.global.u16 h0, [from];", {{0x12345}, 0x2345});
  CHECK_PTX("ld.global.u16 w0, [from];", {{0x18000}, 0x8000});
  CHECK_PTX("ld.global.s16 w0, [from];", {{0x18000}, -0x8000});
  CHECK_PTX("ld.global.s16 l0, [from];", {{0x18000}, -0x8000});
  CHECK_PTX("ld.global.s32 l0, [from];", {{0x180000000}, INT_MIN});
  CHECK_PTX("ld.global.u32 l0, [from];", {{0x180000000}, 0x80000000u});
  CHECK_PTX("ld.global.f32 w0, [from];", {{0xffc12345u}, 0xffc12345u});  // all bits of a NaN
  CHECK_PTX("ld.global.b64 l0, [from];", {{0x123456789abcdef0}, 0x123456789abcdef0});
  CHECK_PTX("ld.global.f64 l0, [from];", {{-1.5}, -1.5});
  CHECK_PTX("ld.global.nc.u32 w0, [from+8];", {{1, 2}, 2});
  CHECK_PTX("ld.volatile.global.u32 w0, [from];", {{3}, 3});
  CHECK_PTX("ld.relaxed.gpu.global.u32 w0, [from];", {{3}, 3});
  CHECK_PTX("add.s64 l1, from, 16;\nld.global.u32 w0, [l1+-8];", {{1, 2}, 2});
  CHECK_PTX("ld.u32 w0, [from];", {{9}, 9});  // generic
}

GE_TEST(vectors_are_loaded_and_stored) {
  CHECK_PTX("ld.global.v2.u32 {w1, w0}, [from];", {{0x200000001}, 2});
  CHECK_PTX("ld.global.v4.u32 {w1, w2, w3, w0}, [from];", {{0x200000001, 0x400000003}, 4});
  CHECK_PTX("ld.global.v2.u64 {l1, l0}, [from];", {{5, 6}, 6});
  CHECK_PTX("ld.global.v4.u16 {h1, h0, h2, h3}, [from];", {{0x0004000300020001}, 2});
  CHECK_PTX("ld.global.v4.u8 {h1, h2, h3, h0}, [from];", {{0x84030201u}, 0x84});
  CHECK_PTX("ld.global.v2.s8 {w1, w0}, [from];", {{0x80ff}, -128});
  CHECK_PTX("ld.global.v4.u32 {_, _, w0, _}, [from];", {{0x200000001, 0x400000003}, 3});
  // The address may be a result.
  CHECK_PTX("mov.b64 l1, from;\nld.global.v2.u64 {l1, l0}, [l1];", {{5, 6}, 6});
  const std::string back = "\nld.global.u64 l0, [to+16];";
  CHECK_PTX("st.global.v2.u32 [to+16], {w1, w2};" + back, {{1, 2}, 0x200000001});
  CHECK_PTX("st.global.v4.u16 [to+16], {h1, h2, h3, h4};" + back,
            {{1, 2, 3, 4}, 0x0004000300020001});
  CHECK_PTX("st.global.v2.u64 [to+16], {l1, l2};\nld.global.u64 l0, [to+24];", {{1, 2}, 2});
  CHECK_PTX("st.global.v4.u32 [to+16], {w1, w2, w3, 7};\nld.global.u64 l0, [to+24];",
            {{1, 2, 3}, 0x700000003});
}

GE_TEST(stores_keep_to_their_bytes) {  // 9.7.9.11
  const std::string back = "\nld.global.u64 l0, [to+16];", first = "st.global.u64 [to+16], -1;\n";
  CHECK_PTX(first + "st.global.u8 [to+17], w1;" + back, {{0x1200}, 0xffffffffffff00ff});
  CHECK_PTX(first + "st.global.b16 [to+18], h1;" + back, {{0x51234}, 0xffffffff1234ffff});
  CHECK_PTX(first + "st.global.u32 [to+20], w1;" + back, {{0}, 0xffffffffu});
  CHECK_PTX(first + "st.global.u32 [to+16], l1;" + back,
            {{0x1234567800000005}, 0xffffffff00000005});
  CHECK_PTX("st.global.f64 [to+16], l1;" + back, {{1.5}, 1.5});
  CHECK_PTX(first + "@p1 st.global.u64 [to+16], 0;" + back, {{1}, 0}, {{0}, -1});
  // Where lanes store to one place, one of them is seen.
  std::vector<ge::test::Lane> lanes(ge::ptx::kLanes);
  ge::test::run_lanes(
      "sub.s64 l1, to, by;\nst.global.u32 [l1+32], lane;\nld.global.u32 w0, [l1+32];", lanes);
  for (const auto& lane : lanes) CHECK(lane.made[0] < 32 && lane.made[0] == lanes[0].made[0]);
}

GE_TEST(shared_and_local_memory) {
  CHECK_EQ(shared_made("st.shared.u32 [w5], w1;\nld.shared.u32 w0, [w5];", 77, 77), "");
  CHECK_EQ(shared_made("st.shared.u32 [w5], w1;\nadd.s32 w6, w5, -1024;\n"
                       "ld.shared.u32 w0, [w6+1024];",
                       77, 77),
           "");  // the register holds less than nothing
  CHECK_EQ(shared_made("st.shared.v2.u64 [w5], {l1, l1};\nld.shared.s8 w0, [w5+8];", 0x1ff,
                       ~uint64_t{0}),
           "");
  // A generic address leads to the same place (9.7.9.20).
  CHECK_EQ(shared_made("st.shared.u32 [w5], w1;\ncvt.u64.u32 l2, w5;\ncvta.shared.u64 l2, l2;\n"
                       "ld.u32 w0, [l2];",
                       78, 78),
           "");
  CHECK_EQ(shared_made("cvt.u64.u32 l2, w5;\ncvta.shared.u64 l2, l2;\nst.u32 [l2], w1;\n"
                       "cvta.to.shared.u64 l3, l2;\nld.shared.u32 w0, [l3];",
                       79, 79),
           "");
  // What another lane stored, behind a barrier.
  std::vector<ge::test::Lane> lanes(ge::ptx::kLanes);
  ge::test::run_lanes(kPlace +
                          "st.shared.u32 [w5], lane;\nbar.sync 0;\nxor.b32 w6, w6, 0x1f0;\n"
                          "mov.u32 w7, room;\nadd.s32 w6, w6, w7;\nld.shared.u32 w0, [w6];",
                      lanes, kShared, true);
  for (size_t k = 0; k < lanes.size(); ++k) CHECK_EQ(lanes[k].made[0], 31 - k);
  const std::string local = ".local .align 8 .b8 depot[16];\nmov.u64 l5, depot;\n";
  CHECK_PTX(local + "st.local.u64 [l5+8], l1;\nld.local.u64 l0, [l5+8];", {{1}, 1}, {{2}, 2},
            {{3}, 3});
  CHECK_PTX(local + "cvta.local.u64 l6, l5;\nst.u64 [l6], l1;\nld.local.u64 l0, [l5];", {{4}, 4},
            {{5}, 5});
}

GE_TEST(atomics_return_what_was_there) {  // 9.7.13.5
  const std::string put = "st.global.u64 [to+16], l1;\n", back = "\nld.global.u32 w0, [to+16];";
  const std::string back64 = "\nld.global.u64 l0, [to+16];";
  const auto made = [&](const std::string& how) {
    return put + "atom.global." + how + " w3, [to+16], w2;" + back;
  };
  const auto made64 = [&](const std::string& how) {
    return put + "atom.global." + how + " l3, [to+16], l2;" + back64;
  };
  CHECK_PTX(put + "atom.global.add.u32 w0, [to+16], w2;", {{5, 3}, 5});
  CHECK_PTX(put + "atom.global.add.u64 l0, [to+16], l2;", {{0x500000000, 3}, 0x500000000});
  CHECK_PTX(made("add.u32"), {{5, 3}, 8}, {{-1, 1}, 0});
  CHECK_PTX(made("add.s32"), {{INT_MAX, 1}, INT_MIN});
  CHECK_PTX(made("min.s32"), {{5, -3}, -3}, {{-5, 3}, -5});
  CHECK_PTX(made("min.u32"), {{5, -3}, 5}, {{5, 3}, 3});
  CHECK_PTX(made("max.s32"), {{5, -3}, 5}, {{-5, 3}, 3});
  CHECK_PTX(made("max.u32"), {{5, -3}, -3});
  CHECK_PTX(made("and.b32"), {{0xff0f, 0x0ff3}, 0x0f03});
  CHECK_PTX(made("or.b32"), {{0xf000, 0x000f}, 0xf00f});
  CHECK_PTX(made("xor.b32"), {{0xff0f, 0xffff}, 0x00f0});
  CHECK_PTX(made("exch.b32"), {{5, 3}, 3});
  // inc: 0 where the old one is b or more; dec: b where it is 0 or above b.
  CHECK_PTX(made("inc.u32"), {{5, 7}, 6}, {{7, 7}, 0}, {{9, 7}, 0}, {{0, 0}, 0});
  CHECK_PTX(made("dec.u32"), {{5, 7}, 4}, {{0, 7}, 7}, {{9, 7}, 7}, {{7, 7}, 6});
  CHECK_PTX(put + "atom.global.cas.b32 w3, [to+16], w2, w4;" + back, {{5, 5, 0, 9}, 9},
            {{5, 6, 0, 9}, 5});
  CHECK_PTX(put + "atom.global.cas.b32 w0, [to+16], w2, w4;", {{5, 5, 0, 9}, 5}, {{5, 6, 0, 9}, 5});
  CHECK_PTX(made64("add.u64"), {{0xffffffffu, 1}, 0x100000000});
  CHECK_PTX(made64("min.s64"), {{5, -3}, -3});
  CHECK_PTX(made64("max.u64"), {{5, -3}, -3});
  CHECK_PTX(made64("and.b64"), {{-1, 0x100000000}, 0x100000000});
  CHECK_PTX(made64("or.b64"), {{1, 0x100000000}, 0x100000001});
  CHECK_PTX(made64("xor.b64"), {{-1, 1}, -2});
  CHECK_PTX(made64("exch.b64"), {{5, 0x300000000}, 0x300000000});
  CHECK_PTX(put + "atom.global.cas.b64 l3, [to+16], l2, l4;" + back64,
            {{5, 5, 0, 0x900000000}, 0x900000000}, {{0x100000005, 5, 0, 9}, 0x100000005});
  CHECK_PTX(put + "red.global.add.u32 [to+16], w2;" + back, {{5, 3}, 8});  // 9.7.13.6
  CHECK_PTX(put + "red.global.or.b32 [to+16], w2;" + back, {{5, 8}, 13});
  CHECK_PTX(put + "red.global.max.s32 [to+16], w2;" + back, {{-5, 3}, 3});
  CHECK_PTX(put + "red.relaxed.gpu.global.add.u64 [to+16], l2;" + back64,
            {{0xffffffffu, 1}, 0x100000000});
  CHECK_FAULT("atom.global.add.f32 w0, [to], w1;", "unknown type of an atomic");
  CHECK_FAULT("red.global.add.f64 [to], l1;", "unknown type of an atomic");
}

GE_TEST(lanes_change_one_place_one_after_the_other) {
  std::vector<ge::test::Lane> lanes(ge::ptx::kLanes);
  ge::test::run_lanes(
      "mov.u32 w5, room;\nst.shared.u32 [w5], 100;\nbar.sync 0;\n"
      "atom.shared.add.u32 w0, [w5], 2;",
      lanes, kShared);
  uint64_t seen = 0;
  for (const auto& lane : lanes) {
    CHECK(lane.made[0] >= 100 && lane.made[0] < 164 && lane.made[0] % 2 == 0);
    seen |= uint64_t{1} << (lane.made[0] - 100) / 2;
  }
  CHECK_EQ(seen, uint64_t{0xffffffff});
}

GE_TEST(constants_of_a_module) {  // 5.1.3, 5.4.4
  const std::string table =
      ".const .align 4 .b8 table[8] = {1, 2, 3, 4, 255, 255, 255, 255};\n"
      ".global .align 8 .u64 counter = 7;\n.global .f32 half = 0f3F000000;\n"
      ".global .s16 numbers[3] = {-1, 2};\n";
  const auto made = [&](const std::string& statements) {
    std::vector<ge::test::Lane> lanes(1);
    ge::test::run_lanes(statements, lanes, table);
    return lanes[0].made[0];
  };
  CHECK_EQ(made("ld.const.u32 w0, [table];"), uint64_t{0x04030201});
  CHECK_EQ(made("ld.const.s32 w0, [table+4];"), uint64_t{0xffffffff});
  CHECK_EQ(made("mov.u64 l1, table;\nld.const.u8 w0, [l1+2];"), uint64_t{3});
  CHECK_EQ(made("ld.global.u64 l0, [counter];"), uint64_t{7});
  CHECK_EQ(made("atom.global.add.u64 l1, [counter], 5;\nld.global.u64 l0, [counter];"),
           uint64_t{12});
  CHECK_EQ(made("cvta.global.u64 l1, half;\nld.f32 w0, [l1];"), uint64_t{0x3f000000});
  CHECK_EQ(made("ld.global.s16 w0, [numbers];"), uint64_t{0xffffffff});
  CHECK_EQ(made("ld.global.s16 w0, [numbers+4];"), uint64_t{0});
  CHECK(fault_of("st.global.u8 [table], w1;", 1, table).find("illegal store") != std::string::npos);
}

GE_TEST(addresses_are_checked_to_the_byte) {
  CHECK_FAULT("ld.global.u32 w0, [from+2];", "misaligned access: lane 0, 4 bytes");
  CHECK_FAULT("ld.global.v2.u32 {w0, w1}, [from+4];", "misaligned access");
  CHECK_FAULT("ld.global.u32 w0, [0];", "illegal load");
  CHECK_FAULT("ld.global.u32 w0, [from+4096];", "illegal load");
  CHECK_FAULT("st.global.u32 [to+4096], w1;", "illegal store");
  CHECK_FAULT("setp.eq.u32 p0, lane, 31;\n@p0 ld.global.v2.u64 {l0, l1}, [to+64];",
              "illegal load: lane 31");
  CHECK_FAULT(".shared .b32 word;\nld.shared.u32 w0, [word+16];", "load outside of shared memory");
  CHECK_FAULT(".shared .b32 word;\nst.shared.u32 [word+16], w0;", "store outside of shared memory");
  CHECK_FAULT(".local .b32 word;\nmov.u64 l1, word;\nld.local.u32 w0, [l1+16];",
              "outside of local memory");
  CHECK_FAULT("ld.param.u64 l0, [made+8];", "illegal load");
}

// nvcc widens loads, and says which bytes somebody reads (11.5, "used_bytes_mask").
GE_TEST(bytes_that_nobody_reads_are_no_race) {
  const std::string load = kPlace + "xor.b32 w6, w5, 16;\nst.shared.u32 [w5+4], w1;\n";
  const std::string word = "ld.shared.v2.u32 {w0, w1}, [w6];";
  CHECK(fault_of(load + word, 32, kShared, true).find("race in shared memory") !=
        std::string::npos);
  CHECK_EQ(fault_of(load + ".pragma \"used_bytes_mask 0xf\";\n" + word, 32, kShared, true), "");
  // It is about one load.
  CHECK(
      fault_of(load + ".pragma \"used_bytes_mask 0xf\";\n" + word + "\n" + word, 32, kShared, true)
          .find("race in shared memory") != std::string::npos);
}
