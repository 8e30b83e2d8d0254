// Memory of a flat simulator besides its records: what its jobs (flat_walk.hpp) work in.
#pragma once

#include <cstdint>

namespace ge {

struct FlatMemory {
  char* scratch;
  int64_t scratch_bytes;                              // of a world
  uint8_t* masks;                                     // of levels 1, 2, ...: a byte per world
  uint64_t* parts;                                    // of reductions: one per world and chunk
  uint32_t *keys, *sorted_keys, *rows, *sorted_rows;  // of SortRows: one per world and row
};

}  // namespace ge
