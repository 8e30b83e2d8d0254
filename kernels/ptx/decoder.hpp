// Turns the statements of one function into instructions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ptx/known.hpp"
#include "ptx/lanes.hpp"
#include "ptx/layout.hpp"

namespace ge::ptx {

/// Shared variables of a kernel, one behind the other. Those without a size are the dynamic memory.
class SharedPlaces {
 public:
  explicit SharedPlaces(Kernel& kernel) : kernel_(kernel) {}

  /// The offset of a variable; -1: it is the dynamic memory.
  int64_t place_of(const std::string& owner, const Variable& variable) {
    if (variable.is_extern || variable.bytes == 0) return -1;
    const auto [found, is_new] = places_.try_emplace(owner + "/" + variable.name);
    if (!is_new) return found->second;
    int64_t& used = kernel_.shared_bytes;
    found->second = (used + variable.align - 1) / variable.align * variable.align;
    used = found->second + variable.bytes;
    return found->second;
  }

 private:
  Kernel& kernel_;
  std::map<std::string, int64_t> places_;
};

/// A module's symbol as an address: a place with its base, and what is added.
struct Symbol {
  uint32_t base = 0;
  int64_t offset = 0;
  Space space = Space::global;
};

class Functions;

/// Decodes one function.
class Decoder {
 public:
  Decoder(Functions& all, const Function& function, Code& code)
      : all_(all), function_(function), code_(code), layout_(code) {}

  void decode();

 private:
  struct Parameter {
    uint32_t at, bytes;
  };
  using Decode = void (Decoder::*)(const Statement&, Instruction&);

  void place_variables();
  void one(const Statement& s, Instruction& i);
  void finish_calls();

  // ---- operands
  const std::string& type_of(const Operand& o) const { return function_.type_of(o.text); }
  uint32_t register_at(const std::string& name);
  uint32_t predicate(const Operand& o);
  /// Where an operand of this many bytes is read.
  uint32_t read(const Operand& o, int bytes);
  /// Where a result of this many bytes is written; `_` drops it.
  uint32_t written(const Operand& o, int bytes);
  uint32_t sized(const Operand& o, int bytes);
  /// Two results, d|p: the second one is there or dropped.
  static const Operand& first_of(const Operand& o) {
    return o.kind == Operand::list ? o.parts.at(0) : o;
  }
  const Operand* second_of(const Operand& o) const {
    return o.kind == Operand::list && o.parts.at(1).text != "_" ? &o.parts[1] : nullptr;
  }
  Symbol symbol(const std::string& name);
  Symbol of_shared(const std::string& owner, const Variable& variable);
  void address(const Operand& o, Space given, Instruction& i);
  void elements(const Operand& o, Instruction& i, int bytes, bool is_source);
  int label(const std::string& name) const;

  // ---- statements by opcode
  void branch(const Statement& s, Instruction& i);
  void table(const Statement& s, Instruction& i);
  void call(const Statement& s, Instruction& i);
  void leave(const Statement& s, Instruction& i);
  void barrier(const Statement& s, Instruction& i);
  void order(const Statement& s, Instruction& i);
  void access(const Statement& s, Instruction& i);
  void atomic(const Statement& s, Instruction& i);
  void move(const Statement& s, Instruction& i);
  void move_vector(const Statement& s, Instruction& i);
  void move_predicate(const Statement& s, Instruction& i);
  void to_space(const Statement& s, Instruction& i);
  void convert(const Statement& s, Instruction& i);
  void compare(const Statement& s, Instruction& i);
  void select(const Statement& s, Instruction& i);
  void exchange(const Statement& s, Instruction& i);
  void ballot(const Statement& s, Instruction& i);
  void equal_lanes(const Statement& s, Instruction& i);
  void reduction(const Statement& s, Instruction& i);
  void active(const Statement& s, Instruction& i);
  void join_predicates(const Statement& s, Instruction& i);
  void compute(const Statement& s, Instruction& i);
  static void plain(Instruction& i, Handler run, Class counted) {
    if (run == nullptr) throw Unknown("unknown type or modifier");
    i.run = run, i.counted = counted;
  }

  Functions& all_;
  const Function& function_;
  Code& code_;
  Layout layout_;
  std::map<std::string, Parameter> params_;  // of calls, in the frame
  std::map<std::string, int64_t> local_places_;
};

/// All functions of a kernel.
class Functions {
 public:
  Functions(const Program& program, Kernel& kernel)
      : program(program), kernel(kernel), shared(kernel) {}

  Code* code_of(const Function& function) {
    auto& found = kernel.codes[function.name];
    if (found != nullptr) {
      if (found->counts.empty()) throw Unknown("a recursion");
      return found.get();
    }
    found = std::make_unique<Code>();
    Code* const code = found.get();
    code->function = &function;
    Decoder(*this, function, *code).decode();
    return code;
  }

  const Program& program;
  Kernel& kernel;
  SharedPlaces shared;
};

/// The type of a statement, the last one if it has several.
std::string type_in(const Statement& statement);
/// An operand; throws Unknown where there are fewer.
const Operand& operand(const Statement& statement, size_t k);
void require_count(const Statement& statement, size_t count);

}  // namespace ge::ptx
