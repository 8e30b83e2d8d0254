// Races: two threads touch the same byte, one of them writes, and nothing orders them. A barrier of
// the block orders its warps, a meeting of the warp its lanes; blocks are never ordered. Strong
// accesses (atomics, .relaxed, .volatile) race only with weak ones (chapter 8, "Memory Consistency
// Model"). A weak store behind a strong load of another thread is not seen.
#pragma once

#include "ptx/lanes.hpp"

namespace ge::ptx {

/// What an access does. Strong ones: `change` is an atomic or a store, `look` a load.
enum class Use : uint8_t { read, write, change, look };

/// Notes an access and throws a Fault where it races. `first`: of the bytes, in `touched`.
void note_access(const Context& context, Touch* touched, uint64_t first, const Instruction& i,
                 Use use, int lane, bool is_global);

}  // namespace ge::ptx
