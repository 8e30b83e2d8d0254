// The learner's native code on a GPU: a thread for each row.
#include <algorithm>

#include "engine/cuda/runtime.hpp"
#include "learning/actions.hpp"

namespace ge::learning {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    draw_kernel(const __grid_constant__ Space space, const __grid_constant__ Draw d) {
  for (int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x; i < d.count;
       i += int64_t(gridDim.x) * kThreads) {
    const Block<1> block{{i}, {d.rows == nullptr ? i : d.rows[i]}, 1};
    if (space.numbers) {
      keep(d, block, draw_numbers(space, d, block));
      continue;
    }
    Looked<1> categories(space, d.outputs, d.mask, block);
    keep(d, block, draw_categories(space, d, block, categories));
  }
}

__global__ void __launch_bounds__(kThreads)
    lose_kernel(const __grid_constant__ Space space, const __grid_constant__ Loss l) {
  const int64_t all = l.count * l.steps;
  for (int64_t b = int64_t(blockIdx.x) * kThreads + threadIdx.x; b < all;
       b += int64_t(gridDim.x) * kThreads) {
    const Block<1> block{{b}, {b / l.count * l.stride + l.index[b % l.count]}, 1};
    if (space.numbers) {
      lose_numbers(space, l, block);
      continue;
    }
    Looked<1> categories(space, l.outputs, l.mask, block);
    lose_categories(space, l, block, categories);
  }
}

unsigned blocks_of(int64_t rows) {
  return unsigned(std::min<int64_t>((rows + kThreads - 1) / kThreads, 1 << 16));
}

}  // namespace

void draw(const Space& space, const Draw& d, int device, void* stream) {
  if (d.count == 0) return;
  const cuda::DeviceGuard guard(device);
  draw_kernel<<<blocks_of(d.count), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(space, d);
  GE_CUDA(cudaGetLastError());
}
void lose(const Space& space, const Loss& l, int device, void* stream) {
  if (l.count == 0) return;
  const cuda::DeviceGuard guard(device);
  lose_kernel<<<blocks_of(l.count * l.steps), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      space, l);
  GE_CUDA(cudaGetLastError());
}

}  // namespace ge::learning
