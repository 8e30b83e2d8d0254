// The radix sort of the flat executor, from CUB: kernels of the engine for keys of any table. See
// flat_device.hpp.
#include <cub/device/device_radix_sort.cuh>

#include "engine/cuda/flat_memory.hpp"
#include "engine/cuda/runtime.hpp"

namespace ge::cuda {

/// Without memory CUB only returns the size it wants; for all 32 bits, which is the most.
int64_t sort_bytes(int64_t count) {
  size_t bytes = 0;
  const uint32_t* const none = nullptr;
  GE_CUDA(cub::DeviceRadixSort::SortPairs(nullptr, bytes, none, static_cast<uint32_t*>(nullptr),
                                          none, static_cast<uint32_t*>(nullptr), count, 0, 32));
  return int64_t(bytes);
}

void sort_pairs(const FlatMemory& memory, int64_t count, int bits, void* space, int64_t space_bytes,
                cudaStream_t stream) {
  size_t bytes = size_t(space_bytes);
  const uint32_t *const keys = memory.keys, *const rows = memory.rows;
  GE_CUDA(cub::DeviceRadixSort::SortPairs(space, bytes, keys, memory.sorted_keys, rows,
                                          memory.sorted_rows, count, 0, bits, stream));
}

}  // namespace ge::cuda
