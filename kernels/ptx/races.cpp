#include "ptx/races.hpp"

namespace ge::ptx {

namespace {

constexpr uint32_t kMeetings = (1u << 29) - 1;  // of which a Side keeps the last bits

struct Access {
  const Context& context;
  int32_t thread;
  Use use;
  bool is_global;

  bool is_of_block(const Touch::Side& other) const {
    const int32_t in_block = other.thread - context.block_thread;
    return in_block >= 0 && in_block < context.block_threads;
  }
  bool is_of_warp(const Touch::Side& other) const {
    const int32_t in_warp = other.thread - context.first_thread;
    return in_warp >= 0 && in_warp < kLanes;
  }
  bool is_since_meeting(const Touch::Side& other) const {
    return other.meeting == (context.meeting & kMeetings);
  }

  bool is_unordered(const Touch::Side& other) const {
    if (other.who == Touch::kNobody) return false;
    if (other.who == Touch::kOne && other.thread == thread) return false;
    // Shared memory of another block is not this block's.
    if (other.who == Touch::kBlocks || !is_of_block(other)) return is_global;
    if (other.epoch != context.epoch) return false;
    return other.who == Touch::kWarps || !is_of_warp(other) || is_since_meeting(other);
  }
  /// Who has read a byte, or changed it, with this thread. Those that a barrier or a meeting orders
  /// before it need not be known any more.
  Touch::Who joined(const Touch::Side& others) const {
    if (others.who == Touch::kNobody) return Touch::kOne;
    if (others.who == Touch::kBlocks || !is_of_block(others)) return Touch::kBlocks;
    if (others.epoch != context.epoch) return Touch::kOne;
    if (others.who == Touch::kWarps || !is_of_warp(others)) return Touch::kWarps;
    if (!is_since_meeting(others)) return Touch::kOne;
    return others.who == Touch::kOne && others.thread == thread ? Touch::kOne : Touch::kLanes;
  }

  [[noreturn]] void fail(const Touch::Side& other, const char* what, uint64_t at) const {
    constexpr const char* kUses[] = {" reads", " writes", " changes", " reads"};
    throw Fault(std::string("race in ") + (is_global ? "global" : "shared") + " memory at byte " +
                std::to_string(at) + ": thread " + std::to_string(thread) + kUses[int(use)] +
                " what thread " + std::to_string(other.thread) +
                (other.who == Touch::kOne ? "" : " and others") + what);
  }
  void operator()(Touch& touch, uint64_t at) const {
    const Context& x = context;
    // Shared memory belongs to one block after the other: what came before its first barrier is of
    // another one.
    const bool is_old =
        touch.launch != x.launch || (!is_global && touch.wrote.epoch != x.epoch &&
                                     touch.read.epoch != x.epoch && touch.changed.epoch != x.epoch);
    if (is_old) touch = {x.launch, {}, {}, {}};
    if (is_unordered(touch.wrote)) fail(touch.wrote, " wrote", at);
    if (use == Use::look) return;
    if (use != Use::read && is_unordered(touch.read)) fail(touch.read, " read", at);
    if (use != Use::change && is_unordered(touch.changed)) fail(touch.changed, " changed", at);
    Touch::Side& mine = use == Use::read    ? touch.read
                        : use == Use::write ? touch.wrote
                                            : touch.changed;
    mine = {thread, x.epoch, x.meeting & kMeetings, use == Use::write ? Touch::kOne : joined(mine)};
  }
};

}  // namespace

void note_access(const Context& x, Touch* touched, uint64_t first, const Instruction& i, Use use,
                 int lane, bool is_global) {
  const Access access{x, x.first_thread + lane, use, is_global};
  const int bytes = i.size * i.count;
  for (int k = 0; k < bytes; ++k)
    // nvcc widens loads: bytes that nobody reads may be another thread's.
    if ((i.used >> k & 1) != 0) access(touched[first + uint64_t(k)], first + uint64_t(k));
}

}  // namespace ge::ptx
