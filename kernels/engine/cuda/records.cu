// Records in canonical order, and actions drawn on the device: the engine's own kernels, and what
// launches them. The rest of device.hpp needs no compiler for a GPU.
#include <algorithm>
#include <type_traits>

#include "engine/cuda/device.hpp"
#include "engine/maths/sampling.hpp"

namespace ge::cuda {

// ---- records: a thread per four bytes of one

namespace {

/// Where the words of records lie; `units` has the word size of every byte, 0 between columns.
struct RecordMap {
  RecordPlace place;
  const uint8_t* units;
  __device__ int64_t words() const { return place.shape.record_bytes / 4; }
};

/// Address of byte `at` of a record, which lies in a word of `unit` bytes.
__device__ char* byte_address(const RecordMap& map, int64_t world, int64_t at, int unit) {
  return map.place.word(world, at - at % unit, unit) + at % unit;
}

/// Four bytes of a record into or out of `plain`; words of less than four bytes one by one.
template <bool kRead>
__device__ void move_word(const RecordMap& map, int64_t world, int64_t at, char* plain) {
  const int unit = map.units[at];
  // Four bytes of one word, or half of one of eight: aligned on both sides.
  if (unit >= 4) {
    auto* const stored = reinterpret_cast<uint32_t*>(byte_address(map, world, at, unit));
    auto* const word = reinterpret_cast<uint32_t*>(plain);
    if (kRead)
      *word = *stored;
    else
      *stored = *word;
    return;
  }
  for (int k = 0; k < 4; ++k) {
    const int own = map.units[at + k];
    if (own != 0) {
      char* const stored = byte_address(map, world, at + k, own);
      if (kRead)
        plain[k] = *stored;
      else
        *stored = plain[k];
    } else if (kRead) {
      plain[k] = 0;
    }
  }
}

template <bool kRead>
__global__ void __launch_bounds__(256)
    move_kernel(const RecordMap map, int64_t first, int64_t count, char* plain) {
  const int64_t words = map.words(), all = count * words;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < all;
       i += int64_t(gridDim.x) * blockDim.x)
    move_word<kRead>(map, first + i / words, i % words * 4, plain + i * 4);
}

/// Worlds into worlds; bytes [keep, keep + keep_bytes) stay the destination's.
__global__ void __launch_bounds__(256)
    copy_kernel(const RecordMap map, const int64_t* from, const int64_t* to, int64_t count,
                int keep, int keep_bytes) {
  const int64_t words = map.words(), all = count * words;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < all;
       i += int64_t(gridDim.x) * blockDim.x) {
    const int64_t at = i % words * 4;
    if (at >= keep && at < keep + keep_bytes) continue;
    // Through registers: source and destination may lie in different lanes of blocks.
    alignas(4) char word[4];
    move_word<true>(map, from[i / words], at, word);
    move_word<false>(map, to[i / words], at, word);
  }
}

constexpr int64_t kTransfer = 32 << 20;  // bytes of records on their way to or from the host
unsigned grid_of(int64_t threads) {
  return unsigned(std::min<int64_t>((threads + 255) / 256, 1 << 16));
}

// ---- actions

__global__ void __launch_bounds__(256)
    sample_kernel(const __grid_constant__ Sampling sampling, DrawCount* count, int32_t* to) {
  const uint32_t number = count->number;
  const int64_t groups = (sampling.rows + kSampledTogether - 1) / kSampledTogether;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < groups;
       i += int64_t(gridDim.x) * blockDim.x) {
    const Draw words = sampling_draw(sampling, number, i * kSampledTogether);
    GE_UNROLL
    for (int k = 0; k < kSampledTogether; ++k) {
      const int64_t row = i * kSampledTogether + k;
      if (row < sampling.rows)
        to[row * sampling.stride] = sampled_action(sampling, row, words.word[k]);
    }
  }
  // The last block to finish counts the draw: by then every thread has read its number.
  __syncthreads();
  if (threadIdx.x + 1 == blockDim.x) {
    __threadfence();
    if (atomicInc(&count->finished, gridDim.x - 1) == gridDim.x - 1) count->number = number + 1;
  }
}

/// Enqueues one of these kernels in `blocks` blocks of 256 threads, by the runtime that owns it.
template <class... P>
void launch_own(void (*kernel)(P...), unsigned blocks, cudaStream_t stream,
                std::type_identity_t<P>... given) {
  void* arguments[] = {const_cast<void*>(static_cast<const void*>(&given))...};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(256);
  config.stream = stream;
  GE_CUDA(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), arguments));
}

}  // namespace

std::array<const void*, 4> own_kernels() {
  return {reinterpret_cast<const void*>(&move_kernel<true>),
          reinterpret_cast<const void*>(&move_kernel<false>),
          reinterpret_cast<const void*>(&copy_kernel),
          reinterpret_cast<const void*>(&sample_kernel)};
}

// ---- launching them

template <bool kRead>
void DeviceStore::move_records(int64_t first, int64_t count, char* host) {
  if (count == 0) return;
  const DeviceGuard guard(device_);
  const BesideCaptures beside;
  settle("a look into the worlds");
  const int64_t record = layout_.shape.record_bytes,
                most = std::max<int64_t>(1, kTransfer / record);
  // On the device in canonical order, a part of the worlds at a time: one copy each way per part.
  const DeviceMemory plain(std::min(most, count) * record);
  const RecordMap map{records(), units_.as<uint8_t>()};
  for (int64_t done = 0; done < count; done += most) {
    const int64_t now = std::min(most, count - done), bytes = now * record;
    if (!kRead)
      GE_CUDA(cudaMemcpy(plain.as(), host + done * record, size_t(bytes), cudaMemcpyHostToDevice));
    launch_own(&move_kernel<kRead>, grid_of(bytes / 4), nullptr, map, first + done, now,
               plain.as());
    if (kRead)
      GE_CUDA(cudaMemcpy(host + done * record, plain.as(), size_t(bytes), cudaMemcpyDeviceToHost));
  }
  if (!kRead) forget_common();
  // Callers' streams do not wait for this one.
  finish(nullptr);
}
void DeviceStore::read_records(int64_t first, int64_t count, void* to) {
  move_records<true>(first, count, static_cast<char*>(to));
}
void DeviceStore::write_records(int64_t first, int64_t count, const void* from) {
  move_records<false>(first, count, static_cast<char*>(const_cast<void*>(from)));
}

void DeviceStore::copy_worlds(std::span<const int64_t> from, std::span<const int64_t> to,
                              bool reseed) {
  if (from.empty()) return;
  const DeviceGuard guard(device_);
  const BesideCaptures beside;
  settle("copy_worlds()");
  const int64_t count = int64_t(from.size());
  const DeviceMemory pairs(2 * count * 8);
  GE_CUDA(cudaMemcpy(pairs.as(), from.data(), from.size_bytes(), cudaMemcpyHostToDevice));
  GE_CUDA(cudaMemcpy(pairs.as() + count * 8, to.data(), to.size_bytes(), cudaMemcpyHostToDevice));
  const RecordMap map{records(), units_.as<uint8_t>()};
  launch_own(&copy_kernel, grid_of(count * layout_.shape.record_bytes / 4), nullptr, map,
             pairs.as<int64_t>(), pairs.as<int64_t>() + count, count, layout_.identity_offset,
             reseed ? layout_.identity_bytes : 0);
  forget_common();
  finish(nullptr);
}
void DeviceStore::sample_actions(const Sampling& sampling, int32_t* to, cudaStream_t stream) {
  const DeviceGuard guard(device_);
  const int64_t blocks = (sampling.rows / kSampledTogether + 256) / 256;
  launch_own(&sample_kernel, unsigned(std::min<int64_t>(blocks, 1 << 16)), stream, sampling,
             draws_.as<DrawCount>(), to);
}

}  // namespace ge::cuda
