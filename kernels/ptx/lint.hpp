// Rules for the PTX of our kernels, checked on the text alone: what must not be in it, since results
// would depend on the machine, or since a kernel does not do what its source says. Which findings are
// known and allowed, who calls this decides (scripts/checks/ptx_lint.py).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ptx/text.hpp"

namespace ge::ptx {

/// A place that a rule names.
struct Finding {
  const char* rule = "";
  std::string function;
  int line = 0;        // of the PTX; 0: the whole function
  std::string source;  // file:line, where the PTX has line information
  std::string text;
};

/// By function, in the order of the text. The rules:
///   approximate  an opcode with .approx, .ftz or .full
///   rounding     add, sub, mul, div, sqrt or rcp of floats without .rn: ptxas may contract it
///   fma          one that ge::fma has not made (engine/base/platform_numbers.hpp)
///   endless      a block from which no `ret` or `exit` is reached: nvcc makes one of a call of a
///                host function
///   empty        an entry that only returns
///   local        variables in local memory
///   loop-call    a call in a loop
///   recursion    functions that call themselves, also through others: no bound of local memory
std::vector<Finding> findings_in(const Module& module);

/// What a module consists of.
struct Inventory {
  std::map<std::string, long> opcodes;    // with all modifiers
  std::map<std::string, long> registers;  // special ones
  std::map<std::string, long> calls;      // of functions without a body: CUDA's own
  // What the decoder does not support: every statement whose opcode or modifier is unknown, and the
  // first one of each kernel for another reason.
  std::vector<Finding> unknown;
  int entries = 0;
};
/// Decodes every kernel of the module that the text describes.
Inventory inventory_of(const std::string& text);

}  // namespace ge::ptx

// For scripts, through the shared library (ctypes). Lines of words between tabs; the text is valid
// until the thread's next call. A text that cannot be read has one line: `unreadable`, then why.
extern "C" {

/// A line for each finding: rule, function, line, source, text. Before them `module`, entries, lines.
const char* ge_ptx_lint(const char* text);
/// Lines `opcode`, `register` and `call` with a name and how often, and `unknown` with the words of a
/// finding. Before them `module`, entries, lines.
const char* ge_ptx_inventory(const char* text);
}
