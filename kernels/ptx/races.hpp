// Races: two threads touch the same byte, one of them writes, and nothing orders them. A barrier of
// the block orders its warps, a meeting of the warp its lanes; blocks are never ordered. An atomic
// races with every other access, but not with another atomic.
#pragma once

#include "ptx/lanes.hpp"

namespace ge::ptx {

enum class Use : uint8_t { read, write, change };  // change: an atomic

/// Notes an access and throws a Fault where it races. `first`: of the bytes, in `touched`.
void note_access(const Context& context, Touch* touched, uint64_t first, const Instruction& i,
                 Use use, int lane, bool is_global);

}  // namespace ge::ptx
