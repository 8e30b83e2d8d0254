#include "ptx/races.hpp"

namespace ge::ptx {

namespace {

struct Access {
  const Context& context;
  int32_t thread;
  bool writes, is_global;

  bool is_unordered(const Touch::Side& other) const {
    const Context& x = context;
    if (other.thread == Touch::kNobody || other.thread == thread) return false;
    const bool since_barrier = other.epoch == x.epoch, since_meeting = other.meeting == x.meeting;
    if (other.thread == Touch::kSeveral) return since_barrier && since_meeting;
    const int32_t in_block = other.thread - x.block_thread;
    // A thread of another block: shared memory was that block's before.
    if (in_block < 0 || in_block >= x.block_threads) return is_global;
    const int32_t in_warp = other.thread - x.first_thread;
    const bool same_warp = in_warp >= 0 && in_warp < kLanes;
    return since_barrier && (!same_warp || since_meeting);
  }

  void operator()(Touch& touch, uint64_t at) const {
    const Context& x = context;
    // Shared memory belongs to one block after the other: what came before its first barrier is of
    // another one.
    const bool is_old = touch.launch != x.launch ||
                        (!is_global && touch.wrote.epoch != x.epoch && touch.read.epoch != x.epoch);
    if (is_old) touch = {x.launch, {}, {}};
    const bool after_write = is_unordered(touch.wrote);
    if (after_write || (writes && is_unordered(touch.read))) {
      const int32_t other = after_write ? touch.wrote.thread : touch.read.thread;
      throw Fault(
          std::string("race in ") + (is_global ? "global" : "shared") + " memory at byte " +
          std::to_string(at) + ": thread " + std::to_string(thread) +
          (writes ? " writes" : " reads") + " what " +
          (other == Touch::kSeveral ? "several threads" : "thread " + std::to_string(other)) +
          (after_write ? " wrote" : " read"));
    }
    Touch::Side& mine = writes ? touch.wrote : touch.read;
    const bool joins = !writes && mine.thread != Touch::kNobody && mine.thread != thread &&
                       mine.epoch == x.epoch && mine.meeting == x.meeting;
    mine = {joins ? Touch::kSeveral : thread, x.epoch, x.meeting};
  }
};

}  // namespace

void note_access(const Context& x, Touch* touched, uint64_t first, const Instruction& i,
                 bool writes, int lane, bool is_global) {
  const Access access{x, x.first_thread + lane, writes, is_global};
  const int bytes = i.size * i.count;
  for (int k = 0; k < bytes; ++k)
    // nvcc widens loads: bytes that nobody reads may be another thread's.
    if ((i.used >> k & 1) != 0) access(touched[first + uint64_t(k)], first + uint64_t(k));
}

}  // namespace ge::ptx
