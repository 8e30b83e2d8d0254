// The CUDA runtime as this engine calls it: every call is checked, memory is owned, and the
// caller's current device is left as it was. What stands here is the engine's own copy of the
// runtime, also where an environment's object calls it: see kernels.hpp.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <span>
#include <utility>

#include "engine/simulator/simulator.hpp"

namespace ge::cuda {

/// Throws Error(Fault::device) with CUDA's own words.
[[noreturn]] void fail(cudaError_t code, const char* call);
/// A process that was forked from one that used CUDA cannot use it.
void refuse_fork();
bool was_forked();

inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) fail(code, call);
}
/// The one wrapper around each call of the runtime; for the engine's own files.
#define GE_CUDA(call) ::ge::cuda::check((call), #call)

/// Makes a device current for the length of a scope.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;

 private:
  int device_, before_ = 0;
};

/// While it lives, this thread may call functions that CUDA forbids to all threads of a process
/// while a graph is captured, since they might belong to it: allocate, free, load a kernel, wait
/// for a stream that is not captured. None of ours does belong. Without it such a call fails, and
/// ends the capture.
class BesideCaptures {
 public:
  BesideCaptures();
  ~BesideCaptures();
  BesideCaptures(const BesideCaptures&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
  bool is_changed_;
};

/// Device memory that is freed with its owner, even while another thread captures.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(int64_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  // Swaps: the old memory is freed with `other`.
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  template <class T = char>
  T* as() const {
    return static_cast<T*>(at_);
  }
  int64_t bytes() const { return bytes_; }

 private:
  void* at_ = nullptr;
  int64_t bytes_ = 0;
};

/// Zeroes device memory in the order of a stream.
void zero(void* at, int64_t bytes, cudaStream_t stream);
/// Waits for a stream of ours, or for the legacy one.
void finish(cudaStream_t stream);
/// Throws where `call` would wait for work that a capture only records, before CUDA would end the
/// capture for it.
void refuse_capture(cudaStream_t stream, const char* call);
/// Copies host memory to a device; the copy is complete when this returns.
DeviceMemory uploaded(int device, std::span<const uint8_t> bytes);

}  // namespace ge::cuda
