// A PTX module as its text says it: functions, variables, statements. Nothing is judged here but
// the grammar; what an opcode means, decode.cpp knows. Numbers of sections are those of NVIDIA's
// "Parallel Thread Execution ISA", version 9.0.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ge::ptx {

/// The text is not PTX as it is known here.
struct Unreadable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An operand of a statement.
struct Operand {
  enum Kind { name, number, address, list };
  Kind kind = name;
  std::string text;            // name, or an address's register or symbol; empty: absolute
  uint64_t value = 0;          // number, or the offset of an address
  bool is_negated = false;     // !%p1
  std::vector<Operand> parts;  // of {a, b}, (a, b) and d|p
};

/// An instruction with its guard and operands.
struct Statement {
  std::string guard;  // predicate; empty: none
  bool is_negated = false;
  std::string opcode;  // up to the first dot
  std::vector<std::string> modifiers;
  std::vector<Operand> operands;
  int line = 0;         // of the text
  int source_line = 0;  // of the last .loc, 0: none
  int source_file = 0;  // its number in Module::files
  uint32_t used = ~0u;  // bytes of a widened load that anybody reads (.pragma used_bytes_mask)

  bool has(const char* modifier) const;
  /// The opcode with its modifiers.
  std::string whole() const;
};

/// A variable in a state space, a parameter or a result.
struct Variable {
  std::string space;  // global, const, shared, local, param
  std::string name, type;
  int64_t align = 1, bytes = 0;
  bool is_extern = false;
  std::vector<uint8_t> data;  // initial values; shorter than `bytes`: zeros follow
};

/// An entry or a device function.
struct Function {
  std::string name;
  bool is_entry = false, has_body = false;
  std::vector<Variable> results, params;
  std::map<std::string, std::string> registers;                 // type by name
  std::map<std::string, std::pair<std::string, int>> numbered;  // type and count by prefix
  std::vector<Variable> variables;  // local, shared and param ones inside
  std::vector<Statement> code;
  std::map<std::string, int> labels;                        // index into the code
  std::map<std::string, std::vector<std::string>> targets;  // labels of a .branchtargets
  int max_threads = 1024;                                   // .maxntid or .reqntid

  /// The type of a register; empty where there is none of that name.
  const std::string& type_of(const std::string& wanted) const;
};

struct Module {
  std::string target;                // sm_90
  std::map<int, std::string> files;  // of .loc, by number
  std::vector<Variable> variables;
  std::vector<std::unique_ptr<Function>> functions;

  /// The function of that name which has a body; null: there is none.
  const Function* find(const std::string& name) const;
};

/// Reads a module; raises Unreadable, with the line, where it cannot.
Module read_module(const std::string& text);

}  // namespace ge::ptx
