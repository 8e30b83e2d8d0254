// What the lanes of a squad tell one another, on emulated lanes: two squads at once.
#include <vector>

#include "engine/checking/lanes_emulated.hpp"
#include "engine/world/squad.hpp"
#include "test.hpp"

namespace {

using namespace ge;

GE_TEST(squads_bring_sums_words_and_votes_of_their_own_lanes) {
  std::vector<int64_t> sums(64), up_to(64), small(64);
  std::vector<float> words(64);
  std::vector<uint32_t> votes(64), bits(64);
  LaneEmulator().run_block(64, 0, 1, 64, [&] {
    const int thread = EmulatedLanes::thread();
    const Squad squad(thread % 32, 32);
    const auto at = size_t(thread);
    sums[at] = squad.sum(int64_t{thread} << 40);
    small[at] = squad.count(-thread);
    up_to[at] = squad.sum_so_far(thread);
    words[at] = squad.from(0.5f * float(thread), squad.lane() + 1);
    votes[at] = squad.votes(thread >= 62);
    bits[at] = squad.bits(uint32_t(thread) & 0x36u);
    if (squad.any(thread == 3) != (thread < 32)) votes[at] = 7;
  });
  CHECK_EQ(sums[9], int64_t{496} << 40);
  CHECK_EQ(small[40], -(496 + 32 * 32));
  CHECK_EQ(up_to[3], 6);
  CHECK_EQ(up_to[34], 32 + 33 + 34);
  CHECK_EQ(words[5], 3.0f);
  CHECK_EQ(words[31], 0.0f);  // around
  CHECK_EQ(words[63], 16.0f);
  CHECK_EQ(bits[7], 0x16u);
  CHECK_EQ(bits[33], 0x36u);
  CHECK_EQ(votes[1], 0u);
  CHECK_EQ(votes[50], 3u << 30);
}
GE_TEST(squad_of_one_lane_asks_nobody) {
  const Squad alone(0, 1);
  CHECK_EQ(alone.sum(7), 7);
  CHECK_EQ(alone.count(7), 7);
  CHECK_EQ(alone.sum_so_far(7), 7);
  CHECK_EQ(alone.from(7u, 5), 7u);
  CHECK_EQ(alone.votes(true), 1u);
  CHECK_EQ(alone.bits(6u), 6u);
  CHECK(!alone.any(false));
}

}  // namespace
