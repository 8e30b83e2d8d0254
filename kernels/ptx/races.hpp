// Races: two threads touch the same byte, one of them writes, and nothing orders them. A barrier of
// the block orders its warps, a meeting of the warp its lanes; blocks are never ordered. Only the
// last reader and writer of a byte are kept, so that one of three threads may be missed.
#pragma once

#include "ptx/lanes.hpp"

namespace ge::ptx {

/// Notes an access and throws a Fault where it races. `first`: of the bytes, in `touched`.
void note_access(const Context& context, Touch* touched, uint64_t first, const Instruction& i,
                 bool writes, int lane, bool is_global);

}  // namespace ge::ptx
