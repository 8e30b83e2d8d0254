// A decoded instruction: what runs it, and where in a warp's frame its operands lie. A frame is a
// struct of arrays: a register has a place of 32 words, of 4 bytes or of 8, and a predicate one
// word with a bit for each lane. Constants and special registers have places in front of the
// registers, so that operands are read in one way.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ptx/text.hpp"

namespace ge::ptx {

inline constexpr int kLanes = 32;
inline constexpr uint32_t kAllLanes = ~0u;

struct Context;
struct Instruction;
/// Runs an instruction for some lanes of a warp.
using Handler = void (*)(Context& context, const Instruction& instruction, uint32_t lanes);

/// What an instruction does to the order in which instructions run.
enum class Flow : uint8_t {
  plain,    // the next one follows
  branch,   // bra
  table,    // brx.idx
  leave,    // ret
  finish,   // exit
  call,     // call of a function with a body
  barrier,  // bar.sync, bar.red: the warp waits for its block
  refuse,   // not supported, or trap: the launch fails
};

/// What instructions are counted as.
enum class Class : uint8_t {
  integer,
  wide,  // of 64 bits, and addresses
  real,
  real64,
  divide,  // quotients and roots, many instructions of the machine each
  convert,
  select,
  move,
  predicate,
  load_global,
  store_global,
  shared,
  local,
  param,
  atomic,
  warp,  // shuffles, votes
  branch,
  barrier,
  other,
};
inline constexpr int kClasses = int(Class::other) + 1;
const char* name_of(Class counted);

/// The state spaces of an address (5.1).
enum class Space : uint8_t { generic, global, shared, local, param, frame };  // frame: of a call

/// Registers that the machine fills (10), and bases that the decoder needs.
enum class Special : uint8_t {
  thread_x,
  thread_y,
  thread_z,
  threads_x,
  threads_y,
  threads_z,
  block_x,
  block_y,
  block_z,
  blocks_x,
  blocks_y,
  blocks_z,
  lane,
  warp,
  lanes_below,
  lanes_to,
  lanes_above,
  lanes_from,
  lane_alone,
  zero,           // what no result may depend on: %smid, %clock
  local_base,     // of the frame, in local memory
  params,         // address of the entry's parameters
  dynamic_shared  // offset of dynamic shared memory
};

struct Instruction {
  Handler run = nullptr;
  uint32_t d = 0, a = 0, b = 0, c = 0;  // places in a frame [bytes]
  uint32_t more[4] = {};                // elements of a vector; further operands
  int64_t constant = 0;                 // added to an address; bits of lop3
  int32_t guard = -1;                   // place of a predicate; -1: none
  int32_t target = -1, join = -1;       // of a branch: where it goes, where lanes meet again
  int32_t side = -1;                    // of Code::calls or Code::tables; stride of a frame's param
  uint32_t used = ~0u;                  // bytes of a load that anybody reads
  Flow flow = Flow::plain;
  Class counted = Class::other;
  Space space = Space::generic;
  uint8_t size = 0, count = 1;  // bytes of an element, elements of a vector
  uint8_t variant = 0;          // of the opcode, as its handler numbers them
  bool is_negated = false;      // the guard
  bool is_signed = false;
  bool is_strong = false;    // an access that is .relaxed or .volatile, or an atomic
  bool wide_address = true;  // its register has 64 bits
  bool wide_result = false;  // its register, or a store's, has 64 bits
};

/// What an instruction has done so far.
struct Count {
  uint64_t warps = 0, lanes = 0;
  uint64_t sectors = 0;  // of 32 bytes, in global memory
  uint64_t waves = 0;    // passes through the banks of shared memory
  uint64_t splits = 0;   // branches whose lanes went different ways
};

struct Code;
/// A call: which parameters are copied to where. Bytes are those of a lane.
struct Call {
  struct Copy {
    uint32_t from, to, bytes;
  };
  Code* callee = nullptr;
  std::vector<Copy> in, out;
};

/// A decoded function.
struct Code {
  struct Filled {
    Special what;
    uint32_t at;
  };
  const Function* function = nullptr;
  std::vector<Instruction> instructions;  // one per statement, and a `ret` at the end
  std::vector<Count> counts;              // one per instruction
  std::vector<Call> calls;
  std::vector<std::vector<int>> tables;
  std::vector<char> image;  // of constants, at the front of each frame
  std::vector<Filled> specials;
  uint32_t frame_bytes = 0;
  int64_t local_bytes = 0;                 // of a lane, without those of its calls
  std::map<std::string, uint32_t> params;  // places of parameters and results

  /// Local memory up to the frame of a call.
  int64_t local_room() const { return (local_bytes + 15) / 16 * 16; }
};

/// An entry, with the functions that it calls.
struct Kernel {
  std::string name;
  const Module* module = nullptr;
  const Function* entry = nullptr;
  Code* code = nullptr;
  std::map<std::string, std::unique_ptr<Code>> codes;  // by the function's name
  size_t frame_bytes = 0;                              // with those of its calls
  int64_t local_bytes = 0;                             // of a lane, with its calls
  int64_t shared_bytes = 0;                            // static shared memory
  int64_t param_bytes = 0;
  std::vector<std::pair<int64_t, int64_t>> params;  // offset and bytes of each
  std::string refused;                              // the first statement that is not supported
  uint64_t launches = 0, blocks = 0, threads = 0;   // so far
};

/// The kernels of a module, decoded when they are first asked for. Its variables live as long as it.
class Program {
 public:
  explicit Program(const std::string& text);
  Program(const Program&) = delete;

  /// Null: the module has no such entry.
  Kernel* kernel(const std::string& name);
  std::vector<std::string> entries() const;
  const Module& module() const { return module_; }
  /// Where a variable of global or constant memory lies.
  char* address_of(const std::string& variable) const;
  /// Calls f(variable, address) for each of them.
  template <class F>
  void for_each_variable(const F& f) {
    for (const Variable& variable : module_.variables)
      if (const auto found = memory_.find(variable.name); found != memory_.end())
        f(variable, found->second.get());
  }

 private:
  struct Freed {
    void operator()(char* at) const { std::free(at); }
  };
  Module module_;
  std::map<std::string, std::unique_ptr<char, Freed>> memory_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace ge::ptx
