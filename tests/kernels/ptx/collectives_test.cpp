// Lanes together: shuffles, votes, matches, reductions, against NVIDIA's "Parallel Thread Execution
// ISA" 9.0, whose sections stand beside them.
#include "ptx/one_warp.hpp"

using ge::test::Lane;

namespace {

constexpr int kLanes = ge::ptx::kLanes;
constexpr uint64_t kAll = 0xffffffff;

/// Lane k has 100 + k, then what `more` gives it.
template <class F>
std::vector<Lane> run(const std::string& statements, const F& more, int count = kLanes) {
  std::vector<Lane> lanes(static_cast<size_t>(count));
  for (int k = 0; k < count; ++k) {
    Lane& lane = lanes[size_t(k)];
    lane.given[0] = uint64_t(100 + k);
    more(k, lane.given);
  }
  ge::test::run_lanes(statements, lanes);
  return lanes;
}
/// What a lane gets; and whether the source was in range.
struct Got {
  uint64_t from;
  bool in_range;
};
/// Runs a shuffle, and compares each lane with what `expected(lane)` says.
template <class F>
void check_shuffle(int line, const std::string& how, int by, int bounds, const F& expected) {
  const auto statements = "shfl.sync." + how + ".b32 w0|p5, w1, w2, w3, -1;";
  const auto lanes = run(
      statements, [&](int, auto& given) { given[1] = uint64_t(by), given[2] = uint64_t(bounds); });
  for (int k = 0; k < kLanes; ++k) {
    const Got want = expected(k);
    const Lane& lane = lanes[size_t(k)];
    if (lane.made[0] == 100 + want.from && (lane.made[1] != 0) == want.in_range) continue;
    ge::test::fail(__FILE__, line,
                   how + " in lane " + std::to_string(k) + ": " + std::to_string(lane.made[0]) +
                       ", " + std::to_string(lane.made[1]));
  }
}
#define CHECK_SHUFFLE(how, by, bounds, expected) \
  check_shuffle(__LINE__, how, by, bounds,       \
                []([[maybe_unused]] int lane) -> Got { return expected; })

}  // namespace

// 9.7.9.6. The third operand: where to stop in bits 0 to 4, the mask of a segment in bits 8 to 12.
GE_TEST(shuffles_of_a_warp) {
  CHECK_SHUFFLE("idx", 5, 0x1f, (Got{5, true}));
  CHECK_SHUFFLE("idx", 37, 0x1f, (Got{5, true}));  // five bits of it
  CHECK_SHUFFLE("up", 3, 0,
                lane >= 3 ? (Got{uint64_t(lane - 3), true}) : (Got{uint64_t(lane), false}));
  CHECK_SHUFFLE("up", 0, 0, (Got{uint64_t(lane), true}));
  CHECK_SHUFFLE("down", 3, 0x1f,
                lane <= 28 ? (Got{uint64_t(lane + 3), true}) : (Got{uint64_t(lane), false}));
  CHECK_SHUFFLE("bfly", 1, 0x1f, (Got{uint64_t(lane ^ 1), true}));
  CHECK_SHUFFLE("bfly", 16, 0x1f, (Got{uint64_t(lane ^ 16), true}));
}

GE_TEST(shuffles_of_segments) {
  // Segments of eight lanes: the mask 11000, as CUDA gives it for a width of 8.
  CHECK_SHUFFLE("idx", 5, 0x181f, (Got{uint64_t((lane & 24) | 5), true}));
  CHECK_SHUFFLE("idx", 13, 0x181f, (Got{uint64_t((lane & 24) | 5), true}));
  CHECK_SHUFFLE("up", 3, 0x1800,
                lane % 8 >= 3 ? (Got{uint64_t(lane - 3), true}) : (Got{uint64_t(lane), false}));
  CHECK_SHUFFLE("down", 3, 0x181f,
                lane % 8 <= 4 ? (Got{uint64_t(lane + 3), true}) : (Got{uint64_t(lane), false}));
  CHECK_SHUFFLE("bfly", 4, 0x181f, (Got{uint64_t(lane ^ 4), true}));
  // Across segments, up: into those below only.
  CHECK_SHUFFLE("bfly", 8, 0x181f,
                lane & 8 ? (Got{uint64_t(lane ^ 8), true}) : (Got{uint64_t(lane), false}));
  // Where to stop, within a segment: lanes above the fourth are out of range.
  CHECK_SHUFFLE("idx", 6, 0x1803, (Got{uint64_t(lane), false}));
  CHECK_SHUFFLE("idx", 2, 0x1803, (Got{uint64_t((lane & 24) | 2), true}));
  CHECK_SHUFFLE("down", 1, 0x1803,
                lane % 8 < 3 ? (Got{uint64_t(lane + 1), true}) : (Got{uint64_t(lane), false}));
  CHECK_SHUFFLE("up", 1, 0x1802,
                lane % 8 >= 3 ? (Got{uint64_t(lane - 1), true}) : (Got{uint64_t(lane), false}));
}

GE_TEST(a_shuffle_may_write_its_source) {
  const auto lanes =
      run("shfl.sync.bfly.b32 w1, w1, 1, 31, -1;\nmov.b32 w0, w1;", [](int, auto&) {});
  for (int k = 0; k < kLanes; ++k) CHECK_EQ(lanes[size_t(k)].made[0], uint64_t(100 + (k ^ 1)));
  // Lanes choose by a register, each its own.
  const auto turned = run("shfl.sync.idx.b32 w0, w1, w2, 31, -1;",
                          [](int k, auto& given) { given[1] = uint64_t(k + 7) & 31; });
  for (int k = 0; k < kLanes; ++k)
    CHECK_EQ(turned[size_t(k)].made[0], uint64_t(100 + ((k + 7) & 31)));
}

GE_TEST(votes) {  // 9.7.13.9
  struct Row {
    uint32_t ayes;
    bool any, all, alike;
  };
  for (const Row& row :
       {Row{0, false, false, true}, Row{~0u, true, true, true},
        Row{0x80000000u, true, false, false}, Row{0x7fffffffu, true, false, false}}) {
    const auto aye = [&](int k, auto& given) { given[1] = row.ayes >> k & 1; };
    const auto check = [&](const char* how, bool expected) {
      const auto lanes = run(std::string("vote.sync.") + how + ".pred p0, p2, -1;", aye);
      for (const Lane& lane : lanes) CHECK_EQ(lane.made[0] != 0, expected);
    };
    check("any", row.any), check("all", row.all), check("uni", row.alike);
    for (const Lane& lane : run("vote.sync.ballot.b32 w0, p2, -1;", aye))
      CHECK_EQ(lane.made[0], uint64_t(row.ayes));
    for (const Lane& lane : run("vote.sync.ballot.b32 w0, !p2, -1;", aye))
      CHECK_EQ(lane.made[0], uint64_t(~row.ayes));
    for (const Lane& lane : run("vote.sync.any.pred p0, !p2, -1;", aye))
      CHECK_EQ(lane.made[0] != 0, row.ayes != ~0u);
  }
}

GE_TEST(lanes_with_the_same_value) {  // 9.7.13.10
  const auto thirds = [](int k, auto& given) {
    given[1] = uint64_t(k % 3) << 32 | uint64_t(k % 2);
  };
  uint64_t of_two[2] = {}, of_six[6] = {};
  for (int k = 0; k < kLanes; ++k)
    of_two[k % 2] |= uint64_t{1} << k, of_six[k % 6] |= uint64_t{1} << k;
  const auto words = run("match.sync.any.b32 w0, w2, -1;", thirds);
  const auto longs = run("match.sync.any.b64 w0, l2, -1;", thirds);
  for (int k = 0; k < kLanes; ++k) {
    CHECK_EQ(words[size_t(k)].made[0], of_two[k % 2]);
    CHECK_EQ(longs[size_t(k)].made[0], of_six[k % 6]);
  }
}

GE_TEST(reductions) {  // 9.7.13.12
  const auto value = [](int k, auto& given) { given[1] = uint32_t(k - 16) * 3u; };
  const auto check = [&](const char* how, uint32_t expected) {
    const auto lanes = run(std::string("redux.sync.") + how + " w0, w2, -1;", value);
    for (const Lane& lane : lanes) CHECK_EQ(lane.made[0], uint64_t(expected));
  };
  check("add.s32", uint32_t(-48));
  check("add.u32", uint32_t(-48));
  check("min.s32", uint32_t(-48));
  check("max.s32", 45);
  check("min.u32", 0);
  check("max.u32", uint32_t(-3));
  uint32_t all = ~0u, any = 0, odd = 0;
  for (int k = 0; k < kLanes; ++k) {
    const uint32_t one = uint32_t(k - 16) * 3u;
    all &= one, any |= one, odd ^= one;
  }
  check("and.b32", all);
  check("or.b32", any);
  check("xor.b32", odd);
}

// Parts of a warp that run one statement together have a mask each, and results of their own.
GE_TEST(parts_of_a_warp) {
  const auto quarter = [](int k, auto& given) {
    given[1] = uint64_t{0xff} << (k & 24), given[2] = k == 3 || k == 9 ? 1 : 0;
  };
  const auto ballots = run("vote.sync.ballot.b32 w0, p3, w2;", quarter);
  const auto any = run("vote.sync.any.pred p0, p3, w2;", quarter);
  const auto alike = run("vote.sync.uni.pred p0, p3, w2;", quarter);
  const auto sums = run("redux.sync.add.s32 w0, w1, w2;", quarter);
  const auto same = run("match.sync.any.b32 w0, w3, w2;", quarter);
  for (int k = 0; k < kLanes; ++k) {
    const auto at = size_t(k);
    const uint64_t part = uint64_t{0xff} << (k & 24), ones = part & 0x208;
    CHECK_EQ(ballots[at].made[0], ones);
    CHECK_EQ(any[at].made[0] != 0, k < 16);
    CHECK_EQ(alike[at].made[0] != 0, k >= 16);
    CHECK_EQ(sums[at].made[0], uint64_t(8 * (100 + (k & 24)) + 28));
    CHECK_EQ(same[at].made[0], k == 3 || k == 9 ? ones : part & ~ones);
  }
}

GE_TEST(some_lanes_of_a_warp) {
  // Five threads: the others have never been there.
  for (const Lane& lane : run("vote.sync.ballot.b32 w0, p1, -1;", [](int, auto&) {}, 5))
    CHECK_EQ(lane.made[0], uint64_t{0x1f});
  for (const Lane& lane : run("vote.sync.all.pred p0, p1, -1;", [](int, auto&) {}, 5))
    CHECK_EQ(lane.made[0], uint64_t{1});
  for (const Lane& lane : run("activemask.b32 w0;", [](int, auto&) {}, 5))  // 9.7.13.11
    CHECK_EQ(lane.made[0], uint64_t{0x1f});
  const auto odd = [](int k, auto& given) { given[1] = uint64_t(k & 1); };
  const auto lanes =
      run("mov.u32 w0, 0;\n@p2 activemask.b32 w0;\n@p2 redux.sync.add.s32 w3, 1, 0xaaaaaaaa;\n"
          "@p2 add.s32 w0, w0, w3;",
          odd);
  for (int k = 0; k < kLanes; ++k)
    CHECK_EQ(lanes[size_t(k)].made[0], k % 2 == 1 ? uint64_t{0xaaaaaaba} : uint64_t{0});
}

GE_TEST(lanes_that_would_never_come) {
  CHECK_FAULT("@p1 bar.warp.sync -1;\nsetp.lt.u32 p0, lane, 8;\n@p0 bar.warp.sync -1;",
              "divergent collective: mask ffffffff names lanes ffffff00");
  CHECK_FAULT("bar.warp.sync 0xfffffffe;", "lane 0 is not in its mask fffffffe");
  CHECK_FAULT("setp.lt.u32 p0, lane, 8;\n@p0 vote.sync.any.pred p1, p0, -1;",
              "divergent collective");
  CHECK_FAULT("setp.lt.u32 p0, lane, 8;\n@p0 shfl.sync.idx.b32 w0, w1, 9, 31, 0xff;",
              "shuffle from lane 9, which is not here");
  // It runs the statement, but in another part.
  CHECK_FAULT(
      "setp.lt.u32 p0, lane, 8;\nselp.b32 w2, 0xff, 0xffffff00, p0;\n"
      "shfl.sync.idx.b32 w0, w1, 9, 31, w2;",
      "shuffle from lane 9, which is not here");
  CHECK_FAULT(
      "setp.lt.u32 p0, lane, 8;\nselp.b32 w2, 0xff, -1, p0;\nvote.sync.any.pred p1, p0, w2;",
      "have different masks");
  CHECK_EQ(ge::test::fault_of("bar.warp.sync -1;", 7), "");
}
