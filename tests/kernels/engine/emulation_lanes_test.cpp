// The emulation of lanes: a barrier that is missing is found and named, and so are lanes that part.
// environment: arena
#include "engine/emulated_runs.hpp"
#include "golden.hpp"

using namespace ge;
using namespace ge::test;

namespace {

/// The message of a block of 64 threads in which every thread runs `body(thread)`.
template <class F>
std::string message_of_block(F body) {
  LaneEmulator emulator;
  try {
    emulator.run_block(64, 0, 1, 256, [&] { body(EmulatedLanes::thread()); });
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

GE_TEST(faults_on_emulated_lanes_are_counted_once) {
  for (const int parts : {1, 2}) CHECK_EQ(faults_of_arena(parts), kFaultsOfArena);
}

GE_TEST(numbers_of_lanes_that_were_not_compiled_are_refused) {
  CHECK_THROWS(make_simulator("Arena-v0", config_of(3, 0)), Error,
               "lanes must be 1, 2, 8, 32 or 64");
}

// ---- planted faults

GE_TEST(missing_barrier_after_each_is_named) {
  for (const int lanes : {2, 8, 32, 64}) {
    const Emulation planted("Each<", true);
    const std::string message = outcome("Arena-v0", config_of(lanes, 1));
    if (!has(message, "hazard: thread") || !has(message, "Each<") ||
        !has(message, "with no barrier between"))
      fail("Arena-v0", lanes, "the missing barrier was not named: " + message);
  }
}

GE_TEST(missing_barrier_after_each_changes_the_hashes) {
  const std::string right = outcome("Arena-v0", config_of(8, 1));
  for (const int lanes : {2, 8, 32, 64}) {
    const Emulation planted("Each<", false);
    int differing = 0;
    for (const uint64_t seed : {1, 2, 3})
      differing += outcome("Arena-v0", config_of(lanes, seed)) != right;
    if (differing == 0) fail("Arena-v0", lanes, "no order of lanes gave another result");
  }
}

GE_TEST(missing_barrier_after_other_stages_is_named) {
  for (const char* stage : {"EachWorld<", "For<", "EmitPairs<", "Spawn<", "Destroy<", "Reduce<"}) {
    const Emulation planted(stage, true);
    const std::string message = outcome("Arena-v0", config_of(8, 1));
    if (!has(message, "hazard: thread") || !has(message, stage))
      fail(stage, 0, "not named: " + message);
  }
}

// ---- the emulation itself

GE_TEST(lanes_that_meet_at_different_places_are_named) {
  const std::string message = message_of_block([](int thread) {
    LaneEmulator::current()->enter("the stage");
    if (thread == 3)
      EmulatedLanes::ballot(true);
    else
      EmulatedLanes::sync_warp();
  });
  CHECK(has(message, "divergence: thread 0 waits at the barrier of the stage"));
  CHECK(has(message, "thread 3 waits at a vote of the stage"));
}

GE_TEST(lane_that_has_left_is_named) {
  const std::string message = message_of_block([](int thread) {
    if (thread != 40) EmulatedLanes::sync_block();
  });
  CHECK(has(message, "thread 40 has left the kernel"));
  CHECK(has(message, "thread 0 waits at the barrier of the block"));
}

GE_TEST(warps_do_not_wait_for_one_another_at_a_warp_barrier) {
  CHECK_EQ(message_of_block([](int thread) {
             if (thread < 32) EmulatedLanes::sync_warp();
           }),
           "");
}

GE_TEST(votes_and_shuffles_bring_what_the_lanes_of_the_warp_gave) {
  std::vector<uint32_t> votes(64);
  std::vector<double> values(64), below(64);
  CHECK_EQ(message_of_block([&](int thread) {
             votes[size_t(thread)] = EmulatedLanes::ballot(thread % 3 == 0);
             values[size_t(thread)] = EmulatedLanes::shuffle(0.5 * thread, 7);
             below[size_t(thread)] = EmulatedLanes::shuffle_down(0.5 * thread, 16);
           }),
           "");
  uint32_t expected = 0;
  for (int lane = 0; lane < 32; ++lane) expected |= lane % 3 == 0 ? 1u << lane : 0u;
  CHECK_EQ(votes[5], expected);
  CHECK_EQ(values[20], 3.5);
  CHECK_EQ(values[50], 0.5 * 39);
  CHECK_EQ(below[2], 9.0);
}

GE_TEST(write_then_read_by_another_lane_needs_a_barrier) {
  const auto exchange = [](bool barrier) {
    return message_of_block([=](int thread) {
      auto* const word = reinterpret_cast<int32_t*>(EmulatedLanes::shared()) + thread / 32;
      if (thread % 32 == 0) watch(word, 4, true);
      if (barrier)
        EmulatedLanes::sync_warp();
      else
        EmulatedLanes::ballot(true);  // a vote orders no memory
      watch(word, 4, false);
    });
  };
  CHECK_EQ(exchange(true), "");
  CHECK(has(exchange(false), "with no barrier between"));
}

GE_TEST(read_then_write_by_another_lane_needs_a_meeting) {
  const auto exchange = [](bool meeting) {
    return message_of_block([=](int thread) {
      auto* const word = reinterpret_cast<int32_t*>(EmulatedLanes::shared()) + thread / 32;
      watch(word, 4, false);
      if (meeting) EmulatedLanes::ballot(true);  // who has voted has read
      if (thread % 32 == 0) watch(word, 4, true);
    });
  };
  CHECK_EQ(exchange(true), "");
  CHECK(has(exchange(false), "has read, with no barrier between"));
}
