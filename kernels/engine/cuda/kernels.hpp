// How the engine reaches kernels that other objects hold. An environment's kernels are compiled
// into a shared object of their own, with its own copy of the CUDA runtime: nvcc registers a kernel
// with the copy it was linked with, and only that copy can launch or query it. So calls that take a
// kernel are made in the environment's object, through the pointers below, and calls that take
// memory, a stream or a device in the engine's (runtime.hpp, device.hpp).
//
// What the two copies share lies below them, in the driver:
//
//   context  "There exists a one to one relationship between CUDA devices in the CUDA Runtime API
//            and CUcontexts in the CUDA Driver API within a process": the device's primary context.
//            So an address or a stream of one copy is one of the other's.
//   current  "CUDA Runtime API calls operate on the CUDA Driver API CUcontext which is current to
//            the calling host thread", and cudaSetDevice makes a primary context current. So the
//            device that the engine has made current holds here too.
//
// Both are quoted from "Interactions with the CUDA Driver API" in NVIDIA's CUDA Runtime API. It
// does not say that no copy remembers a device of its own for the thread; hence `on_device`, which
// asks the copy that is about to be used.
#pragma once

#include <cuda_runtime.h>

namespace ge::cuda {

/// One per shared object, whatever else in the process defines the same function.
#define GE_OF_THIS_OBJECT __attribute__((visibility("hidden"))) inline

/// The calls of the runtime that take a kernel, for a device, as the object makes them that holds
/// the kernel.
struct Kernels {
  /// Any kernel of the object: all of them are compiled for the same architectures.
  const void* one;
  /// Also loads the kernel, which else happens where it is used for the first time.
  cudaError_t (*attributes)(int device, const void* kernel, cudaFuncAttributes* found);
  /// Dynamic shared memory that launches of the kernel may ask for.
  cudaError_t (*allow_shared)(int device, const void* kernel, int bytes);
  /// Blocks of this shape that a multiprocessor holds at once.
  cudaError_t (*resident)(int device, const void* kernel, int threads, int shared, int* blocks);
  cudaError_t (*launch)(int device, const void* kernel, const cudaLaunchConfig_t& config,
                        void** arguments);
};

/// Runs a call of this object's runtime on a device. The engine reports a failure; the runtime's
/// error is cleared here, or a later call would be blamed for it.
template <class Call>
GE_OF_THIS_OBJECT cudaError_t on_device(int device, const Call& call) {
  int current = -1;
  cudaError_t code = cudaGetDevice(&current);
  if (code == cudaSuccess && current != device) code = cudaSetDevice(device);
  if (code == cudaSuccess) code = call();
  if (code != cudaSuccess) cudaGetLastError();
  return code;
}

GE_OF_THIS_OBJECT Kernels kernels_of_this_object(const void* one) {
  return {
      one,
      [](int device, const void* kernel, cudaFuncAttributes* found) {
        return on_device(device, [&] { return cudaFuncGetAttributes(found, kernel); });
      },
      [](int device, const void* kernel, int bytes) {
        return on_device(device, [&] {
          return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        });
      },
      [](int device, const void* kernel, int threads, int shared, int* blocks) {
        return on_device(device, [&] {
          return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads,
                                                               size_t(shared));
        });
      },
      [](int device, const void* kernel, const cudaLaunchConfig_t& config, void** arguments) {
        return on_device(device, [&] { return cudaLaunchKernelExC(&config, kernel, arguments); });
      }};
}

}  // namespace ge::cuda
