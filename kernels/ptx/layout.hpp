// Where the parts of a frame lie: constants and special registers first, whose values are known when
// the frame is opened, then registers and the parameters of calls. Which of the first there are is
// known only at the end of a function: until then their places carry a mark, and `settle` moves all.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "ptx/instruction.hpp"

namespace ge::ptx {

class Layout {
 public:
  explicit Layout(Code& code) : code_(code) {}

  /// A place of this many bytes for each lane.
  uint32_t take(uint32_t bytes) {
    const uint32_t at = used_;
    used_ += bytes * kLanes;
    return at;
  }
  /// A constant, the same in all lanes.
  uint32_t constant(uint64_t value, bool is_wide);
  /// A special register.
  uint32_t special(Special what);
  /// The register of this name and type.
  uint32_t register_at(const std::string& name, const std::string& type);

  /// Moves all places of the function to where they are for good.
  void settle();

 private:
  static constexpr uint32_t kFront = 1u << 31;  // mark of a place in front

  uint32_t in_front(uint32_t bytes);

  Code& code_;
  uint32_t used_ = 0;
  std::map<std::pair<uint64_t, bool>, uint32_t> constants_;
  std::map<std::string, uint32_t> registers_;
};

/// Finds where the lanes that a branch parts meet again, for each branch of the function.
void find_meetings(Code& code);

}  // namespace ge::ptx
