// See runtime.hpp and simulator/machine.hpp: errors in words, forks, memory, and which devices
// there are.
#include "engine/cuda/runtime.hpp"

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

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
  // Clears an error that can be cleared; a lost context answers the next call with it again.
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
BesideCaptures::BesideCaptures() {
  is_changed_ = cudaThreadExchangeStreamCaptureMode(&mode_) == cudaSuccess;
}
BesideCaptures::~BesideCaptures() {
  if (is_changed_) cudaThreadExchangeStreamCaptureMode(&mode_);
}

namespace {

/// Memory that could not be freed because of a capture; freed at the next allocation or release.
struct Kept {
  std::mutex mutex;
  std::vector<void*> memory;
};
/// Never destroyed: simulators may outlive the objects of this file.
Kept& kept() {
  static Kept* const one = new Kept;
  return *one;
}

bool is_of_capture(cudaError_t code) {
  return code >= cudaErrorStreamCaptureUnsupported && code <= cudaErrorStreamCaptureWrongThread;
}

/// Whatever still uses the memory has ended when cudaFree returns: "cudaMalloc and cudaFree cause
/// the GPU to synchronize across all executing CUDA streams" (CUDA C++ Programming Guide, Stream
/// Ordered Memory Allocator). A captured stream executes nothing.
bool try_to_free(void* memory) noexcept {
  const BesideCaptures beside;
  const cudaError_t code = cudaFree(memory);
  // A failed device reports the error at the next call that can.
  if (code != cudaSuccess) cudaGetLastError();
  return !is_of_capture(code);
}
void free_kept() noexcept {
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.memory, try_to_free);
}
/// Frees memory; a forked child frees nothing, since the memory is the parent's.
void give_back(void* memory) noexcept {
  if (memory == nullptr || was_forked()) return;
  free_kept();
  if (try_to_free(memory)) return;
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  all.memory.push_back(memory);
}
cudaError_t take(void** at, int64_t bytes) {
  free_kept();
  const BesideCaptures beside;
  return cudaMalloc(at, size_t(bytes));
}

/// Whether a stream is being captured; the legacy stream is with every stream that waits for it.
bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t code = cudaStreamIsCapturing(stream, &status);
  if (code == cudaErrorStreamCaptureImplicit) {
    cudaGetLastError();
    return true;
  }
  GE_CUDA(code);
  return status != cudaStreamCaptureStatusNone;
}
/// Number of the capture that a stream takes part in; 0: none.
unsigned long long capture_of(cudaStream_t stream) {
  unsigned long long number = 0;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t code = cudaStreamGetCaptureInfo(stream, &status, &number);
  if (code == cudaErrorStreamCaptureImplicit) {
    cudaGetLastError();
    return 0;
  }
  GE_CUDA(code);
  return status == cudaStreamCaptureStatusNone ? 0 : number;
}

/// Makes one stream wait for another, within a scope; the wait outlives the event.
class Event {
 public:
  Event() { GE_CUDA(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

DeviceMemory::DeviceMemory(int64_t bytes) : bytes_(bytes) {
  if (bytes > 0) GE_CUDA(take(&at_, bytes));
}
DeviceMemory::~DeviceMemory() {
  give_back(at_);
}
void zero(void* at, int64_t bytes, cudaStream_t stream) {
  GE_CUDA(cudaMemsetAsync(at, 0, size_t(bytes), stream));
}
void finish(cudaStream_t stream) {
  const BesideCaptures beside;
  GE_CUDA(cudaStreamSynchronize(stream));
}
void refuse_capture(cudaStream_t stream, const char* call) {
  if (is_captured(stream))
    throw Error(Fault::runtime,
                std::string(call) +
                    " waits for the GPU, and a CUDA graph is being captured on its stream, or on "
                    "one that waits for the default stream: call it before or after the capture");
}
DeviceMemory uploaded(int device, std::span<const uint8_t> bytes) {
  const DeviceGuard guard(device);
  const BesideCaptures beside;
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
  const cudaError_t code = take(&memory, bytes < 1 ? 1 : bytes);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(Fault::memory, "cuda:" + std::to_string(device) + " has no " +
                                   std::to_string(bytes) + " bytes left");
  }
  GE_CUDA(code);
  return memory;
}
void release(void* memory) noexcept {
  give_back(memory);
}
void copy(int device, void* to, const void* from, int64_t bytes) {
  const DeviceGuard guard(device);
  refuse_capture(nullptr, "a copy");
  const BesideCaptures beside;
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
int device_of(const void* address) {
  cudaPointerAttributes found{};
  GE_CUDA(cudaPointerGetAttributes(&found, address));
  return found.type == cudaMemoryTypeDevice || found.type == cudaMemoryTypeManaged ? found.device
                                                                                   : -1;
}
bool is_capturing(void* stream) {
  return cuda::is_captured(static_cast<cudaStream_t>(stream));
}
void wait_for(int device, void* stream, const char* call) {
  const cuda::DeviceGuard guard(device);
  cuda::refuse_capture(static_cast<cudaStream_t>(stream), call);
  cuda::finish(static_cast<cudaStream_t>(stream));
}
void enqueue_copy(int device, void* to, const void* from, int64_t bytes, void* stream) {
  const cuda::DeviceGuard guard(device);
  const auto on = static_cast<cudaStream_t>(stream);
  cuda::refuse_capture(on, "a copy");
  const cuda::BesideCaptures beside;
  // Memory of the host is not pinned: the runtime has read it, or written it, as this returns.
  GE_CUDA(cudaMemcpyAsync(to, from, size_t(bytes), cudaMemcpyDefault, on));
}
void follow(int device, void* stream, void* other) {
  if (stream == other) return;
  const cuda::DeviceGuard guard(device);
  const auto late = static_cast<cudaStream_t>(stream), early = static_cast<cudaStream_t>(other);
  const unsigned long long own = cuda::capture_of(late), before = cuda::capture_of(early);
  // Found out here, since CUDA would end the capture with its refusal.
  if (own != before && (own != 0 || late == nullptr || late == cudaStreamLegacy))
    throw Error(Fault::runtime,
                own != 0 ? "stream: it is being captured, and the array library's current stream "
                           "is not captured with it: make it the current one"
                         : "stream: the default stream cannot take part in a capture");
  const cuda::Event event;
  GE_CUDA(cudaEventRecord(event.get(), early));
  GE_CUDA(cudaStreamWaitEvent(late, event.get(), 0));
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
