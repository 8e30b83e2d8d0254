// What the group executor asks of the machine, on a GPU. The same service on fibres, for tests:
// lanes_emulated.hpp.
//
// Every collective of a warp names all 32 lanes and is reached by all of them: a mask known only at
// run time makes the compiler search for who takes part, with MATCH and WARPSYNC.COLLECTIVE, in the
// middle of a step.
#pragma once

#include <cuda_runtime.h>

#include "engine/base/platform.hpp"

// The functions are host functions too, since the executor around them is; on the host nothing ever
// calls them.
#if defined(__CUDA_ARCH__)
#define GE_ON_DEVICE(...) __VA_ARGS__
#else
#define GE_ON_DEVICE(...) __builtin_unreachable()
#endif

namespace ge {

struct DeviceLanes {
  // ---- where a thread is
  static GE_FN int thread() { GE_ON_DEVICE(return int(threadIdx.x)); }
  static GE_FN int threads() { GE_ON_DEVICE(return int(blockDim.x)); }
  static GE_FN int block() { GE_ON_DEVICE(return int(blockIdx.x)); }
  static GE_FN int blocks() { GE_ON_DEVICE(return int(gridDim.x)); }
  /// Memory of the block, aligned to 16 bytes.
  static GE_FN char* shared() {
#if defined(__CUDA_ARCH__)
    extern __shared__ __align__(16) char memory[];
    return memory;
#else
    __builtin_unreachable();
#endif
  }

  // ---- rendezvous
  static GE_FN void sync_warp() { GE_ON_DEVICE(__syncwarp()); }
  static GE_FN void sync_block() { GE_ON_DEVICE(__syncthreads()); }
  /// The barrier after a stage.
  template <class Stage, bool kBlock>
  static GE_FN void sync_after() {
    if constexpr (kBlock)
      sync_block();
    else
      sync_warp();
  }
  static GE_FN uint32_t ballot(bool mine) { GE_ON_DEVICE(return __ballot_sync(~0u, mine)); }
  static GE_FN bool any(bool mine) { GE_ON_DEVICE(return __any_sync(~0u, mine) != 0); }
  /// The value of another lane of the warp; of four or eight bytes.
  template <class T>
  static GE_FN T shuffle(T value, int lane) {
    GE_ON_DEVICE(return __shfl_sync(~0u, value, lane));
  }
  template <class T>
  static GE_FN T shuffle_down(T value, int distance) {
    GE_ON_DEVICE(return __shfl_down_sync(~0u, value, distance));
  }
  static GE_FN int32_t add(int32_t* counter, int32_t n) {
    GE_ON_DEVICE(return atomicAdd(counter, n));
  }

  // ---- launches
  /// With dependent launch this kernel may have started before the one before it ended: nothing may
  /// be read or written above this line. The kernel after it may begin to start now, since it waits
  /// here too.
  static GE_FN void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
    cudaTriggerProgrammaticLaunchCompletion();
#endif
  }
  /// Tells the emulation which stage a lane is in.
  template <class Stage>
  static GE_FN void enter() {}
};

}  // namespace ge
