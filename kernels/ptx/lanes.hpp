// The lanes of a warp, as a handler sees them: registers of its frame, what it may touch, who else
// is there. Registers hold what PTX says (5.1, 6.2): integers of up to 32 bits have a word each,
// floats their bits, every NaN that an instruction makes is the same one (9.7.3, "canonical NaN").
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "ptx/instruction.hpp"
#include "ptx/memory.hpp"

namespace ge::ptx {

/// A kernel did something that a GPU would not do, or that has no defined result.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Generic addresses of shared and local memory lie where no allocation does.
inline constexpr uint64_t kSharedWindow = 0x5A00000000000000, kLocalWindow = 0x5B00000000000000,
                          kWindowBytes = uint64_t(1) << 40;

/// A warp while it runs.
struct Context {
  char* registers = nullptr;  // of the frame
  uint32_t alive = 0;         // lanes that have not ended
  Count* count = nullptr;     // of the instruction; null: nothing is counted
  const Memory* memory = nullptr;

  // The block.
  char* shared = nullptr;
  int64_t shared_bytes = 0;
  Touch* shared_touched = nullptr;
  bool looks_for_races = false;
  const char* params = nullptr;
  int64_t param_bytes = 0;
  uint32_t launch = 0, epoch = 0;  // barriers of the block so far, over all blocks
  int32_t block_thread = 0;        // number of the block's first thread in the grid
  int32_t block_threads = 0;
  bool is_dependent = false;  // launched before the kernel in front of it has ended

  // The warp.
  char* local = nullptr;    // of its lanes, one after the other
  int64_t local_bytes = 0;  // of a lane
  int64_t local_end = 0;    // what the function that runs may touch of them
  int warp = 0;
  int32_t first_thread = 0;
  uint32_t meeting = 0;  // of its lanes, so far
  uint32_t waited = 0;   // lanes that have executed griddepcontrol.wait
};

template <class T>
using Word = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

/// Reads an operand of a lane.
template <class T>
inline T get(const Context& context, uint32_t at, int lane) {
  const auto word = reinterpret_cast<const Word<T>*>(context.registers + at)[lane];
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<T>(word);
  else
    return T(word);
}
inline float canonical(float value) {
  return value != value ? std::bit_cast<float>(0x7fffffffu) : value;
}
inline double canonical(double value) {
  return value != value ? std::bit_cast<double>(uint64_t{0x7ff8000000000000}) : value;
}
/// Writes a result of a lane; integers of 8 and 16 bits fill their word with zeros.
template <class T>
inline void put(Context& context, uint32_t at, int lane, T value) {
  auto& word = reinterpret_cast<Word<T>*>(context.registers + at)[lane];
  if constexpr (std::is_floating_point_v<T>)
    word = std::bit_cast<Word<T>>(canonical(value));
  else
    word = Word<T>(std::make_unsigned_t<T>(value));
}
/// Writes a result into a register of 64 bits or less.
inline void put_whole(Context& context, const Instruction& i, int lane, uint64_t value) {
  if (i.wide_result)
    put<uint64_t>(context, i.d, lane, value);
  else
    put<uint32_t>(context, i.d, lane, uint32_t(value));
}

/// A predicate of all lanes.
inline uint32_t& predicate_at(Context& context, uint32_t at) {
  return *reinterpret_cast<uint32_t*>(context.registers + at);
}
inline void put_predicate(Context& context, uint32_t at, uint32_t lanes, uint32_t value) {
  uint32_t& word = predicate_at(context, at);
  word = (word & ~lanes) | (value & lanes);
}

/// Calls f(lane) for each of the lanes; a full warp is a loop that the compiler turns into vectors.
template <class F>
inline void each(uint32_t lanes, const F& f) {
  if (lanes == kAllLanes) {
    for (int lane = 0; lane < kLanes; ++lane) f(lane);
  } else {
    for (uint32_t left = lanes; left != 0; left &= left - 1) f(std::countr_zero(left));
  }
}

// ---- handlers by opcode; null: there is none for this type

/// Variants of setp: how the result is joined with another predicate, and whether its opposite is
/// wanted too.
enum : uint8_t { kJoinAnd = 1, kJoinOr = 2, kJoinXor = 3, kJoin = 3, kBoth = 4 };

Handler arithmetic_of(const Statement& statement, const std::string& type);
Handler comparison_of(const std::string& how, const std::string& type);
/// How many operands an arithmetic instruction has, with its result.
size_t operands_of(const Statement& statement);
/// Handler of `cvt`, whose source register has `source_bytes`.
Handler conversion_of(const Statement& statement, const std::string& to, const std::string& from,
                      int source_bytes, Instruction& made);

void select_word(Context&, const Instruction&, uint32_t lanes);
void select_long(Context&, const Instruction&, uint32_t lanes);
void copy_word(Context&, const Instruction&, uint32_t lanes);
void copy_long(Context&, const Instruction&, uint32_t lanes);
void pack(Context&, const Instruction&, uint32_t lanes);
void unpack(Context&, const Instruction&, uint32_t lanes);
void predicate_and(Context&, const Instruction&, uint32_t lanes);
void predicate_or(Context&, const Instruction&, uint32_t lanes);
void predicate_xor(Context&, const Instruction&, uint32_t lanes);
void predicate_not(Context&, const Instruction&, uint32_t lanes);
void predicate_copy(Context&, const Instruction&, uint32_t lanes);
void predicate_set(Context&, const Instruction&, uint32_t lanes);  // to the constant

void load(Context&, const Instruction&, uint32_t lanes);
void store(Context&, const Instruction&, uint32_t lanes);
void change_atomically(Context&, const Instruction&, uint32_t lanes);
void change_space(Context&, const Instruction&, uint32_t lanes);  // cvta, and addresses by mov

void nothing(Context&, const Instruction&, uint32_t lanes);
void wait_for_grid(Context&, const Instruction&, uint32_t lanes);
void warp_barrier(Context&, const Instruction&, uint32_t lanes);
void shuffle(Context&, const Instruction&, uint32_t lanes);
void vote(Context&, const Instruction&, uint32_t lanes);
void match(Context&, const Instruction&, uint32_t lanes);
void reduce(Context&, const Instruction&, uint32_t lanes);
void active_lanes(Context&, const Instruction&, uint32_t lanes);

/// Variants of shfl and vote.
enum : uint8_t { kShuffleTo, kShuffleUp, kShuffleDown, kShuffleAcross };
enum : uint8_t { kVoteAny, kVoteAll, kVoteAlike, kVoteBallot };
/// Variants of a barrier: of it alone, or with a predicate of all threads.
enum : uint8_t { kBarrier, kBarrierAny, kBarrierAll };
/// Opcodes of atom, red and redux, in the order of Instruction::variant.
inline constexpr const char* kChanges[] = {"add", "min", "max", "and",  "or",
                                           "xor", "inc", "dec", "exch", "cas"};
enum Change : uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor, kInc, kDec, kExchange, kCompareSwap };

}  // namespace ge::ptx
