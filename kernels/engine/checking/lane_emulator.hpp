// Runs the threads of one block on the CPU, for tests: fibres of one thread, in random order from
// one rendezvous to the next. What a GPU would do silently and rarely becomes an error that names
// the stages:
//
//   divergence   lanes that wait at different rendezvous, or of which one has left
//   hazard       two lanes touch a word, one of them writing, with no barrier between (GE_WATCH in
//                record.hpp tells)
//
// A vote or shuffle lets a write follow a read, since a lane that has voted has read; it orders
// nothing else. So there are two clocks: of barriers, which order every access, and of meetings,
// which order a write after a read.
#pragma once

#include <ucontext.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#include <bit>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/types.hpp"
#include "engine/simulator/simulator.hpp"

namespace ge {

/// Sectors of memory, numbered by address, that lanes have read and written outside of their own
/// stacks.
struct Traffic {
  static constexpr uintptr_t kSector = 32;  // [bytes]
  std::unordered_set<uintptr_t> read, written;
};

/// Options that tests vary.
struct EmulationOptions {
  uint64_t seed = 0;           // of the order of lanes
  bool watched = true;         // look for hazards
  Traffic* traffic = nullptr;  // where sectors are noted
  std::string
      skip_sync;  // leaves out the barrier after stages whose name begins so: a planted fault
};

class LaneEmulator {
 public:
  static constexpr int kWarp = 32;

  /// Options of the whole process: tests set them before they make a simulator.
  static EmulationOptions& options() {
    static EmulationOptions all;
    return all;
  }
  /// The emulator whose lanes run on this thread, for free functions that rules call; else null.
  static LaneEmulator*& current() {
    static thread_local LaneEmulator* emulator = nullptr;
    return emulator;
  }

  /// Runs `body` on the threads of block `block` of `blocks`; throws Error on a divergence or
  /// hazard.
  void run_block(int threads, int block, int blocks, int64_t shared_bytes,
                 std::function<void()> body) {
    threads_ = threads, block_ = block, blocks_ = blocks;
    body_ = std::move(body);
    random_ = options().seed * 0x9e3779b97f4a7c15u + uint64_t(block) + 1;
    // Poison instead of zeros: a real block finds values that the one before it left.
    shared_.assign(size_t(shared_bytes) / 16 + 1, Vector{});
    std::memset(shared_.data(), 0xcd, shared_.size() * sizeof(Vector));
    forget_touches();
    problem_.clear();
    meetings_.assign(size_t(threads / kWarp), 0);
    barriers_.assign(size_t(threads / kWarp), 0);
    block_barriers_ = 0;
    // Kept from block to block for their stacks, on which they go on.
    while (int(lanes_.size()) < threads) lanes_.push_back(std::make_unique<Lane>());
    // Restored on every exit: an Error of a lane leaves through here while other lanes are
    // suspended; their stacks are restarted.
    LaneEmulator* const outer = current();
    current() = this;
    for (int t = 0; t < threads; ++t) start(t);
    try {
      schedule();
    } catch (...) {
      current() = outer;
      throw;
    }
    current() = outer;
  }

  // ---- called by lanes

  int thread() const { return running_; }
  int threads() const { return threads_; }
  int block() const { return block_; }
  int blocks() const { return blocks_; }
  char* shared() { return reinterpret_cast<char*>(shared_.data()); }
  void enter(std::string_view stage) {
    lanes_[size_t(running_)]->stage = stage;
    now_ = kNever;
  }
  std::string_view stage() const { return lanes_[size_t(running_)]->stage; }

  enum class Meeting { barrier, block_barrier, vote, shuffle };

  /// Waits until every lane of the warp (of the block) is at the same place; `value` is seen by
  /// all.
  void meet(Meeting kind, uint64_t value) {
    Lane& lane = *lanes_[size_t(running_)];
    lane.kind = kind, lane.value = value, lane.state = State::waiting;
    change(lane.place, scheduler_);
  }
  /// The value that lane `lane` of this warp gave to the last meeting; after a vote, all votes, a
  /// bit each. Reads `result`, not `value`: a lane that goes on may be at its next meeting already.
  uint64_t brought(int lane) const {
    return lanes_[size_t(running_ / kWarp * kWarp + lane)]->result;
  }

  void watch(const void* address, int bytes, bool written) {
    if (running_ < 0) return;
    const auto first = reinterpret_cast<uintptr_t>(address);
    if (Traffic* const traffic = options().traffic) {
      const auto stack = reinterpret_cast<uintptr_t>(lanes_[size_t(running_)]->stack.get());
      if (first - stack >= Lane::kStack)
        for (uintptr_t sector = first / Traffic::kSector;
             sector <= (first + uintptr_t(bytes) - 1) / Traffic::kSector; ++sector)
          (written ? traffic->written : traffic->read).insert(sector);
    }
    if (options().watched) touch(first, first + uintptr_t(bytes), written);
  }

 private:
  // As wide as the widest load of a kernel.
  struct alignas(16) Vector {
    char byte[16];
  };
  enum class State { ready, waiting, done };
  // The point at which a fibre resumes. Only its first entry uses ucontext, whose every switch is a
  // system call, and a test switches millions of times.
  struct Place {
    void* registers[5];
    const void* stack = nullptr;  // lowest address, for the address sanitizer
    size_t size = 0;
  };
  struct Lane {
    static constexpr size_t kStack = 256 * 1024;
    Place place;
    ucontext_t context;
    bool begun = false;
    std::unique_ptr<char[]> stack{new char[kStack]};
    State state;
    Meeting kind;
    uint64_t value, result;
    std::string_view stage;
  };
  // Identifies an access: a stretch of a lane between two meetings and stages.
  struct Stretch {
    int lane;
    uint32_t barrier, meeting, block_barrier;
    std::string_view stage;
  };
  // The last write of a byte, and the last reads by two different lanes: one of them is another's
  // than any writer's. Stretches, by numbers that grow; what is below `first_` is of another block.
  struct Shadow {
    uint64_t write = kNever, read = kNever, other_read = kNever;
  };
  static constexpr uint64_t kNever = 0;
  static constexpr uintptr_t kPage = 64;
  // Per word, recorded at its first byte, until an access narrower than a word.
  struct Page {
    static constexpr uintptr_t kWord = 4;
    Shadow at[kPage];
    uintptr_t step = kWord;
    void split() {
      for (uintptr_t k = 0; k < kPage; ++k) at[k] = at[k / kWord * kWord];
      step = 1;
    }
  };
  struct Found {
    uintptr_t key = 0;
    Page* page = nullptr;
  };
  static constexpr size_t kFound = 1024;
  static constexpr size_t kMostPages = size_t{1} << 16;

  // A fibre never returns: when its block is done it waits for the next one.
  static void trampoline() {
    LaneEmulator& self = *current();
    arrive(nullptr, &self.scheduler_);
    for (;;) {
      self.body_();
      Lane& lane = *self.lanes_[size_t(self.running_)];
      lane.state = State::done;
      change(lane.place, self.scheduler_);
    }
  }
  // Not inlined, and neither are the next two: setjmp and its longjmp may not share a frame. Not
  // sanitized: a jump is taken for an end of all frames of a stack, which is cleared then.
  [[noreturn]] __attribute__((noinline, no_sanitize_address)) static void jump(Place& to) {
    __builtin_longjmp(to.registers, 1);
  }
  __attribute__((noinline, no_sanitize_address)) static void change(Place& from, Place& to) {
    void* kept = nullptr;
    leave(&kept, to);
    if (__builtin_setjmp(from.registers) == 0) jump(to);
    arrive(kept, nullptr);
  }
  __attribute__((noinline, no_sanitize_address)) static void begin(Place& from, Lane& lane) {
    void* kept = nullptr;
    leave(&kept, lane.place);
    if (__builtin_setjmp(from.registers) == 0) setcontext(&lane.context);
    arrive(kept, nullptr);
  }
  // The address sanitizer has to know on which stack it is.
#if defined(__SANITIZE_ADDRESS__)
  static void leave(void** kept, const Place& to) {
    __sanitizer_start_switch_fiber(kept, to.stack, to.size);
  }
  static void arrive(void* kept, Place* from) {
    __sanitizer_finish_switch_fiber(kept, from != nullptr ? &from->stack : nullptr,
                                    from != nullptr ? &from->size : nullptr);
  }
#else
  static void leave(void**, const Place&) {}
  static void arrive(void*, Place*) {}
#endif

  void start(int t) {
    Lane& lane = *lanes_[size_t(t)];
    if (lane.begun && lane.state != State::done) lane.begun = false;  // an Error left it half-way
    if (!lane.begun) {
      getcontext(&lane.context);
      lane.context.uc_stack.ss_sp = lane.stack.get();
      lane.context.uc_stack.ss_size = Lane::kStack;
      lane.context.uc_link = nullptr;
      makecontext(&lane.context, &trampoline, 0);
      lane.place.stack = lane.stack.get();
      lane.place.size = Lane::kStack;
    }
    lane.state = State::ready;
    lane.stage = "the beginning of the kernel";
  }

  /// Runs one lane at a time, picked at random among the runnable ones, up to its next meeting. If
  /// none is runnable and some are not done, they wait for each other: a deadlock.
  void schedule() {
    std::vector<int> ready(static_cast<size_t>(threads_));
    for (int t = 0; t < threads_; ++t) ready[size_t(t)] = t;
    int done = 0;
    while (done < threads_) {
      if (ready.empty()) refuse_divergence();
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      const size_t pick = size_t((random_ >> 33) % ready.size());
      running_ = ready[pick];
      now_ = kNever;
      ready[pick] = ready.back();
      ready.pop_back();
      Lane& lane = *lanes_[size_t(running_)];
      if (std::exchange(lane.begun, true))
        change(scheduler_, lane.place);
      else
        begin(scheduler_, lane);
      // -1 outside of lanes: what the scheduler itself touches is not watched.
      const int ran = running_;
      running_ = -1;
      if (!problem_.empty()) throw Error(Fault::runtime, problem_);
      if (lanes_[size_t(ran)]->state == State::done)
        ++done;
      else
        release(ran, ready);
    }
  }
  /// Wakes the lanes that waited for this one, if it was the last.
  void release(int ran, std::vector<int>& ready) {
    const bool whole = lanes_[size_t(ran)]->kind == Meeting::block_barrier;
    const int first = whole ? 0 : ran / kWarp * kWarp, last = whole ? threads_ : first + kWarp;
    const Lane& one = *lanes_[size_t(ran)];
    for (int t = first; t < last; ++t) {
      const Lane& lane = *lanes_[size_t(t)];
      if (lane.state != State::waiting || lane.kind != one.kind) return;
      if (lane.stage.data() != one.stage.data() && lane.stage != one.stage) return;
    }
    uint64_t votes = 0;
    for (int t = last; t-- > first;) votes = votes << 1 | (lanes_[size_t(t)]->value & 1);
    for (int t = first; t < last; ++t) {
      Lane& lane = *lanes_[size_t(t)];
      lane.result = one.kind == Meeting::vote ? votes : lane.value;
      lane.state = State::ready;
      ready.push_back(t);
    }
    // A barrier of the block is one of each of its warps too.
    const bool orders = one.kind == Meeting::barrier || whole;
    for (int warp = first / kWarp; warp < last / kWarp; ++warp) {
      ++meetings_[size_t(warp)];
      barriers_[size_t(warp)] += orders ? 1 : 0;
    }
    block_barriers_ += whole ? 1 : 0;
  }
  [[noreturn]] void refuse_divergence() const {
    const char* const names[] = {"the barrier", "the barrier of the block", "a vote", "a shuffle"};
    std::string text = "divergence:";
    std::string seen;
    for (int t = 0; t < threads_; ++t) {
      const Lane& lane = *lanes_[size_t(t)];
      std::string where = lane.state == State::done
                              ? " has left the kernel"
                              : " waits at " + std::string(names[int(lane.kind)]) + " of " +
                                    std::string(lane.stage);
      if (where == seen) continue;
      seen = where;
      text += (t > 0 ? ", thread " : " thread ") + std::to_string(t) + where;
    }
    throw Error(Fault::runtime, text);
  }

  void forget_touches() {
    first_ += stretches_.size();
    stretches_.clear();
    now_ = kNever;
    if (pages_.size() > kMostPages) {
      pages_.clear();
      found_.assign(kFound, {});
    }
  }
  const Stretch* known(uint64_t number) const {
    return number < first_ ? nullptr : &stretches_[size_t(number - first_)];
  }
  /// Begins a stretch of the lane that runs.
  void begin_stretch() {
    const size_t warp = size_t(running_ / kWarp);
    now_ = first_ + stretches_.size();
    stretches_.push_back({running_, barriers_[warp], meetings_[warp], block_barriers_, stage()});
  }
  /// Whether nothing orders an earlier access by another lane before this one.
  static bool races(const Stretch& earlier, const Stretch& later, bool write_after_read) {
    if (earlier.lane == later.lane) return false;
    // Between warps only a barrier of the block orders accesses.
    if (earlier.lane / kWarp != later.lane / kWarp)
      return earlier.block_barrier == later.block_barrier;
    return write_after_read ? earlier.meeting == later.meeting : earlier.barrier == later.barrier;
  }
  Page& page(uintptr_t key) {
    Found& found = found_[key % kFound];
    if (found.key != key || found.page == nullptr) found = {key, &pages_[key]};
    return *found.page;
  }
  void touch(uintptr_t first, uintptr_t last, bool written) {
    if (now_ == kNever) begin_stretch();
    while (first < last) {
      const uintptr_t key = first / kPage, begin = first % kPage;
      const uintptr_t end = last - first < kPage - begin ? begin + (last - first) : kPage;
      Page& here = page(key);
      if ((begin | end) % here.step != 0) here.split();
      for (uintptr_t k = begin; k < end; k += here.step) {
        if (written)
          note_write(here.at[k]);
        else
          note_read(here.at[k]);
      }
      first += end - begin;
    }
  }
  void note_write(Shadow& shadow) {
    check(shadow.write, false, "written", "writes");
    check(shadow.read, true, "read", "writes");
    check(shadow.other_read, true, "read", "writes");
    shadow.write = now_;
  }
  void note_read(Shadow& shadow) {
    check(shadow.write, false, "written", "reads");
    if (shadow.read == now_) return;
    const Stretch* const read = known(shadow.read);
    if (read == nullptr || read->lane != running_) shadow.other_read = shadow.read;
    shadow.read = now_;
  }
  void check(uint64_t earlier, bool write_after_read, const char* did, const char* does) {
    if (earlier == now_) return;
    const Stretch* const one = known(earlier);
    if (one != nullptr && races(*one, *known(now_), write_after_read))
      report(*one, *known(now_), did, does);
  }
  void report(const Stretch& earlier, const Stretch& later, const char* did, const char* does) {
    // Only noted here: an exception may not leave a fibre, so the scheduler throws it.
    if (!problem_.empty()) return;
    problem_ = "hazard: thread " + std::to_string(later.lane) + " in " + std::string(later.stage) +
               " " + does + " what thread " + std::to_string(earlier.lane) + " in " +
               std::string(earlier.stage) + " has " + did + ", with no barrier between";
  }

  int threads_ = 0, block_ = 0, blocks_ = 0, running_ = -1;
  std::function<void()> body_;
  uint64_t random_ = 1;
  std::vector<Vector> shared_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Place scheduler_;
  std::vector<uint32_t> meetings_, barriers_;  // of each warp
  uint32_t block_barriers_ = 0;
  std::vector<Stretch> stretches_;  // of this block
  uint64_t first_ = 1, now_ = kNever;
  std::unordered_map<uintptr_t, Page> pages_;
  std::vector<Found> found_ = std::vector<Found>(kFound);
  std::string problem_;
};

}  // namespace ge
