// See runtime.hpp and simulator/machine.hpp: errors in words, forks, memory, and which devices
// there are.
#include "engine/cuda/runtime.hpp"

#include <pthread.h>

#include <atomic>
#include <string>

#include "engine/cuda/device.hpp"
#include "engine/simulator/machine.hpp"

namespace ge::cuda {

// ---- errors, forks, memory

namespace {

std::atomic<bool> used{false}, forked{false};
constexpr const char* kForked =
    "CUDA cannot be used in a process that was forked from one that has used it: start workers "
    "with the 'spawn' or 'forkserver' method, or use CUDA in the workers alone";

/// From the first call of the runtime on, a fork makes the child's copy of it useless.
/// Registered once, however many threads come by.
void note_use() {
  if (used.exchange(true)) return;
  pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
}

}  // namespace

void fail(cudaError_t code, const char* call) {
  // What can be cleared is cleared; a lost context answers the next call with the same error.
  cudaGetLastError();
  const Fault kind = code == cudaErrorMemoryAllocation ? Fault::memory : Fault::device;
  throw Error(kind, std::string("CUDA: ") + cudaGetErrorString(code) + " (" +
                        cudaGetErrorName(code) + " from " + std::string(call).substr(0, 60) + ")");
}
bool was_forked() {
  return forked.load(std::memory_order_relaxed);
}
void refuse_fork() {
  if (was_forked()) throw Error(Fault::device, kForked);
}
DeviceGuard::DeviceGuard(int device) : device_(device) {
  refuse_fork();
  GE_CUDA(cudaGetDevice(&before_));
  if (before_ != device_) GE_CUDA(cudaSetDevice(device_));
}
DeviceGuard::~DeviceGuard() {
  if (before_ != device_) cudaSetDevice(before_);
}
DeviceMemory::DeviceMemory(int64_t bytes) : bytes_(bytes) {
  if (bytes > 0) GE_CUDA(cudaMalloc(&at_, size_t(bytes)));
}
/// Of a fork's copy nothing is freed: the memory is the parent's.
DeviceMemory::~DeviceMemory() {
  if (at_ != nullptr && !was_forked()) cudaFree(at_);
}
void zero(void* at, int64_t bytes, cudaStream_t stream) {
  GE_CUDA(cudaMemsetAsync(at, 0, size_t(bytes), stream));
}
void finish(cudaStream_t stream) {
  GE_CUDA(cudaStreamSynchronize(stream));
}
DeviceMemory uploaded(int device, std::span<const uint8_t> bytes) {
  const DeviceGuard guard(device);
  DeviceMemory memory(int64_t(bytes.size()));
  if (bytes.empty()) return memory;
  GE_CUDA(cudaMemcpy(memory.as(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  // The copy may still be on its way, and callers' streams do not wait for this one.
  finish(nullptr);
  return memory;
}

// ---- memory for callers without an array library

void* allocate(int device, int64_t bytes) {
  const DeviceGuard guard(device);
  void* memory = nullptr;
  const cudaError_t code = cudaMalloc(&memory, size_t(bytes < 1 ? 1 : bytes));
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(Fault::memory, "cuda:" + std::to_string(device) + " has no " +
                                   std::to_string(bytes) + " bytes left");
  }
  GE_CUDA(code);
  return memory;
}
void release(int device, void* memory) noexcept {
  if (was_forked()) return;
  try {
    const DeviceGuard guard(device);
    if (cudaFree(memory) != cudaSuccess) cudaGetLastError();
  } catch (const Error&) {
    // A device that has failed says so at the next call that can.
  }
}
void copy(int device, void* to, const void* from, int64_t bytes) {
  const DeviceGuard guard(device);
  GE_CUDA(cudaMemcpy(to, from, size_t(bytes), cudaMemcpyDefault));
}

}  // namespace ge::cuda

// ---- the machine

namespace ge {
namespace {

/// cudaGetDeviceCount with its error in words; works without a driver.
int count_devices(std::string* problem) {
  if (cuda::was_forked()) {
    if (problem != nullptr) *problem = cuda::kForked;
    return 0;
  }
  cuda::note_use();
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) return count;
  cudaGetLastError();
  if (problem != nullptr)
    *problem = code == cudaErrorInsufficientDriver
                   ? "there is no NVIDIA driver, or it is older than this build needs"
               : code == cudaSuccess || code == cudaErrorNoDevice
                   ? "this machine has no NVIDIA GPU, or it is hidden"
                   : cudaGetErrorString(code);
  return 0;
}

}  // namespace

int device_count() {
  return count_devices(nullptr);
}
std::string device_name(int device) {
  cudaDeviceProp properties{};
  const int count = device_count();
  if (device < 0 || device >= count)
    throw Error(Fault::device, "there is no device cuda:" + std::to_string(device) +
                                   ": this machine has " + std::to_string(count));
  GE_CUDA(cudaGetDeviceProperties(&properties, device));
  return properties.name;
}
void watch_stages(bool) {}
std::vector<std::pair<std::string, double>> stage_seconds() {
  return {};
}
std::string device_problem() {
  std::string problem;
  count_devices(&problem);
  return problem;
}

}  // namespace ge
