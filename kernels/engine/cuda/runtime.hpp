// The CUDA runtime as this engine calls it: every call is checked, memory is owned, and the
// caller's current device is left as it was.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "engine/simulator.hpp"

namespace ge::cuda {

/// Throws Error(Fault::device) with CUDA's own words.
[[noreturn]] void fail(cudaError_t code, const char* call);
/// A process that was forked from one that used CUDA cannot use it.
void refuse_fork();

inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) fail(code, call);
}
/// The one wrapper around each call of the runtime.
#define GE_CUDA(call) ::ge::cuda::check((call), #call)

/// Makes a device current for the length of a scope.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) : device_(device) {
    refuse_fork();
    GE_CUDA(cudaGetDevice(&before_));
    if (before_ != device_) GE_CUDA(cudaSetDevice(device_));
  }
  ~DeviceGuard() {
    if (before_ != device_) cudaSetDevice(before_);
  }
  DeviceGuard(const DeviceGuard&) = delete;

 private:
  int device_, before_ = 0;
};

/// Device memory that ends with its owner.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(int64_t bytes) : bytes_(bytes) {
    if (bytes > 0) GE_CUDA(cudaMalloc(&at_, size_t(bytes)));
  }
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
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

}  // namespace ge::cuda
