// A warp on its way through a kernel: frames of its calls, and in each the ways its lanes have gone.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ptx/machine.hpp"

namespace ge::ptx {

using Dice = std::mt19937_64;

/// Lanes that go together, up to where they meet others.
struct Way {
  static constexpr int kNowhere = -1;
  int at, meeting;
  uint32_t lanes;
};
/// A function while it runs. The last of its ways goes on, the others wait for it.
struct Frame {
  Code* code;
  size_t begin;        // in the warp's registers
  int64_t local_base;  // in each lane's local memory
  const Call* call;    // by which we came; null: the entry's
  std::vector<Way> ways;
};

class Warp {
 public:
  Context context;
  Extent block;  // its place in the grid
  const Launch* launch = nullptr;
  const Settings* settings = nullptr;
  Dice* dice = nullptr;       // null: the first side of a branch is the one that falls through
  int64_t static_shared = 0;  // where dynamic shared memory begins

  /// Begins a kernel with these lanes.
  void begin(Code& code, char* registers, uint32_t lanes);
  /// Runs to the next barrier of the block, or to the end.
  void run();
  bool is_done() const { return context.alive == 0; }
  /// The barrier at which it waits.
  const Instruction& barrier() const { return *barrier_; }
  /// Whether any of its lanes has the barrier's predicate, and whether all have.
  uint32_t predicate() const;
  void pass_barrier(bool is_true);
  /// Where it is, for a message.
  std::string where(const Module& module) const;

 private:
  void open(Frame& frame);
  void look_at(const Frame& frame);
  uint32_t special(Special what, int lane) const;
  void split(Frame& frame, const Instruction& i, uint32_t taken);
  void choose(Frame& frame, const Instruction& i, uint32_t lanes);
  void enter(const Instruction& i, uint32_t lanes);
  void leave(uint32_t lanes);
  void end(uint32_t lanes);
  void close_finished();
  static void drop(Frame& frame, uint32_t lanes);

  std::vector<Frame> frames_;
  char* registers_ = nullptr;
  const Instruction* barrier_ = nullptr;
  uint64_t left_ = 0;  // instructions, to the limit
};

}  // namespace ge::ptx
