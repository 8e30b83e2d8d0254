// Which opcodes and modifiers are known. A modifier that nobody reads would be a wrong result, so a
// statement with an unknown one is refused by name.
#pragma once

#include <stdexcept>
#include <string>

#include "ptx/instruction.hpp"

namespace ge::ptx {

/// A statement that is not supported, and why.
struct Unknown : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws Unknown unless opcode and all modifiers are known, and the result is the same on every
/// machine: no approximation, no flushed subnormals, no sum or product that may be contracted.
void require_known(const Statement& statement);

/// Whether a modifier is a type: b8 to b128, u, s, f, pred.
bool is_type(const std::string& modifier);
/// Bytes of a type; 1 of a predicate.
int width_of(const std::string& type);

/// The state space of an access.
Space space_of(const Statement& statement);

}  // namespace ge::ptx
