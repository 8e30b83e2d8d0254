// The service of lanes_device.hpp on the CPU, for tests: what a kernel asks of its lanes, answered
// by the emulator whose lanes run on this thread (lane_emulator.hpp).
#pragma once

#include "engine/checking/lane_emulator.hpp"

namespace ge {

inline void watch(const void* address, int bytes, bool written) {
  if (LaneEmulator* const emulator = LaneEmulator::current())
    emulator->watch(address, bytes, written);
}

inline void meet_warp() {
  LaneEmulator::current()->meet(LaneEmulator::Meeting::barrier, 0);
}
// Every lane adds all values in the same order, so all have the same sum.
inline int64_t sum_of_warp(int64_t value) {
  LaneEmulator& here = *LaneEmulator::current();
  here.meet(LaneEmulator::Meeting::shuffle, uint64_t(value));
  uint64_t sum = 0;
  for (int lane = 0; lane < LaneEmulator::kWarp; ++lane) sum += here.brought(lane);
  return int64_t(sum);
}
inline int32_t count_of_warp(int32_t value) {
  return int32_t(sum_of_warp(int64_t{value}));
}
inline uint32_t bits_of_warp(uint32_t bits) {
  LaneEmulator& here = *LaneEmulator::current();
  here.meet(LaneEmulator::Meeting::shuffle, bits);
  uint64_t all = 0;
  for (int lane = 0; lane < LaneEmulator::kWarp; ++lane) all |= here.brought(lane);
  return uint32_t(all);
}
inline int32_t sum_to_lane(int32_t value) {
  LaneEmulator& here = *LaneEmulator::current();
  here.meet(LaneEmulator::Meeting::shuffle, uint64_t(value));
  uint64_t sum = 0;
  for (int lane = 0; lane <= here.thread() % LaneEmulator::kWarp; ++lane) sum += here.brought(lane);
  return int32_t(sum);
}
inline uint32_t word_of_lane(uint32_t word, int lane) {
  LaneEmulator& here = *LaneEmulator::current();
  here.meet(LaneEmulator::Meeting::shuffle, word);
  return uint32_t(here.brought(lane & (LaneEmulator::kWarp - 1)));
}
inline uint32_t votes_of_warp(bool mine) {
  LaneEmulator& here = *LaneEmulator::current();
  here.meet(LaneEmulator::Meeting::vote, mine ? 1 : 0);
  return uint32_t(here.brought(here.thread() % LaneEmulator::kWarp));
}

struct EmulatedLanes {
  using Meeting = LaneEmulator::Meeting;
  static LaneEmulator& here() { return *LaneEmulator::current(); }

  static int thread() { return here().thread(); }
  static int threads() { return here().threads(); }
  static int block() { return here().block(); }
  static int blocks() { return here().blocks(); }
  static char* shared() { return here().shared(); }

  static void sync_warp() { here().meet(Meeting::barrier, 0); }
  static void sync_block() { here().meet(Meeting::block_barrier, 0); }
  template <class Stage, bool kBlock>
  static void sync_after() {
    const std::string& skipped = LaneEmulator::options().skip_sync;
    if (!skipped.empty() && short_name<Stage>().substr(0, skipped.size()) == skipped) return;
    if (kBlock)
      sync_block();
    else
      sync_warp();
  }
  static uint32_t ballot(bool mine) { return votes_of_warp(mine); }
  static bool any(bool mine) { return ballot(mine) != 0; }
  template <class T>
  static T shuffle(T value, int lane) {
    static_assert(sizeof(T) <= sizeof(uint64_t));
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    here().meet(Meeting::shuffle, word);
    word = here().brought(lane & (LaneEmulator::kWarp - 1));
    std::memcpy(&value, &word, sizeof value);
    return value;
  }
  template <class T>
  static T shuffle_down(T value, int distance) {
    const int lane = thread() % LaneEmulator::kWarp;
    return shuffle(value, lane + distance < LaneEmulator::kWarp ? lane + distance : lane);
  }
  // Atomic as it is: no other lane runs meanwhile. Unwatched, since atomics may meet.
  static int32_t add(int32_t* counter, int32_t n) {
    const int32_t before = *counter;
    *counter = before + n;
    return before;
  }
  // Launches follow one another here; nothing of the one before is still under way.
  static void wait_for_previous() {}
  template <class Stage>
  static void enter() {
    here().enter(short_name<Stage>());
  }
  /// "Each<...>" without the engine's namespace.
  template <class Stage>
  static std::string_view short_name() {
    static const std::string_view name = [] {
      std::string_view text = type_name<Stage>();
      if (text.substr(0, 4) == "ge::") text.remove_prefix(4);
      return text;
    }();
    return name;
  }
};

}  // namespace ge
