// See fake_runtime.hpp.
#include "engine/cuda/fake_runtime.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/base/platform_lanes.hpp"
#include "engine/cuda/flat_memory.hpp"

thread_local dim3 blockIdx, threadIdx, blockDim, gridDim;

namespace ge::test {

FakeRuntime& FakeRuntime::get() {
  static FakeRuntime one;
  return one;
}
FakeRuntime& FakeRuntime::renew() {
  for (void* const left : get().memory) std::free(left);  // on a device that was lost
  return get() = FakeRuntime{};
}
std::vector<Call> FakeRuntime::named(const std::string& name) const {
  std::vector<Call> found;
  for (const Call& call : calls)
    if (call.name == name) found.push_back(call);
  return found;
}
cudaStream_t FakeRuntime::new_stream(bool is_blocking) {
  return streams.create(is_blocking);
}
std::shared_ptr<CUgraph_st> FakeRuntime::begin_capture(cudaStream_t stream) {
  streams.begin(stream, cudaStreamCaptureModeGlobal);
  return stream->capture;
}
void FakeRuntime::end_capture(const std::shared_ptr<CUgraph_st>& graph) {
  streams.close(graph);
}

namespace {

thread_local cudaError_t last = cudaSuccess;

FakeRuntime& fake() {
  return FakeRuntime::get();
}
cudaError_t with(cudaError_t code) {
  if (code != cudaSuccess) last = code;
  return code;
}
/// Writes a call down; what it fails with.
cudaError_t note(const Call& call) {
  fake().calls.push_back(call);
  return fake().is_lost ? with(cudaErrorIllegalAddress) : cudaSuccess;
}
/// A call that a capture forbids, unless this thread's mode is relaxed.
cudaError_t note_unsafe(const Call& call) {
  const cudaError_t code = note(call);
  return code != cudaSuccess ? code : with(fake().streams.check_unsafe());
}
cudaError_t enqueue(const Call& call, cudaGraphNodeType type, std::function<void()> work) {
  if (const cudaError_t code = note(call); code != cudaSuccess) return code;
  return with(fake().streams.enqueue(
      call.stream, type,
      [stream = call.stream, work = std::move(work)](bool) {
        if (stream == nullptr) fake().is_legacy_busy = true;
        work();
        return cudaSuccess;
      },
      call.dependent));
}
cudaError_t enqueue_at_once(const char* name, void* at, const std::function<void()>& work) {
  if (const cudaError_t code = note({name, nullptr, at}); code != cudaSuccess) return code;
  if (const cudaError_t code = with(fake().streams.check_at_once()); code != cudaSuccess)
    return code;
  // As copies from pageable memory and sets may: they return before the device is through.
  fake().is_legacy_busy = true;
  work();
  return cudaSuccess;
}

}  // namespace
}  // namespace ge::test

using namespace ge::test;

// ---- errors and devices

cudaError_t cudaGetLastError() {
  return std::exchange(last, fake().is_lost ? cudaErrorIllegalAddress : cudaSuccess);
}
const char* cudaGetErrorString(cudaError_t) {
  return "words of a runtime";
}
const char* cudaGetErrorName(cudaError_t code) {
  static char name[16];
  std::snprintf(name, sizeof name, "error %d", int(code));
  return name;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = fake().devices;
  return note({"GetDeviceCount"});
}
cudaError_t cudaGetDevice(int* device) {
  *device = fake().device;
  return fake().is_lost ? with(cudaErrorIllegalAddress) : cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  fake().device = device;
  return note({"SetDevice"});
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "a GPU on paper");
  properties->major = 9, properties->minor = 0, properties->multiProcessorCount = 132;
  properties->sharedMemPerBlockOptin = 227 * 1024;
  return note({"GetDeviceProperties"});
}
cudaError_t cudaDeviceSynchronize() {
  const cudaError_t code = note({"DeviceSynchronize"});
  if (code != cudaSuccess) return code;
  const cudaError_t forbidden = with(fake().streams.wait_for_device());
  if (forbidden == cudaSuccess) fake().is_legacy_busy = false;
  return forbidden;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *free = fake().free_bytes, *total = fake().total_bytes;
  return note({"MemGetInfo"});
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* at) {
  const auto found = fake().device_of.find(at);
  const bool known = found != fake().device_of.end();
  *attributes = {};
  attributes->type = known ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
  attributes->device = known ? found->second : -1;
  return note({"PointerGetAttributes", nullptr, at});
}

// ---- memory

cudaError_t cudaMalloc(void** at, size_t bytes) {
  if (const cudaError_t code = note_unsafe({"Malloc"}); code != cudaSuccess) return code;
  if (bytes > fake().free_bytes) return with(cudaErrorMemoryAllocation);
  *at = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*at, 0xcd, bytes);
  fake().memory.insert(*at);
  return cudaSuccess;
}
cudaError_t cudaFree(void* at) {
  if (const cudaError_t code = note_unsafe({"Free", nullptr, at}); code != cudaSuccess) return code;
  if (fake().refused_frees > 0) {
    --fake().refused_frees;
    return with(cudaErrorStreamCaptureUnsupported);
  }
  if (fake().memory.erase(at) == 0) return with(cudaErrorInvalidValue);
  std::free(at);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* at, int value, size_t bytes) {
  return enqueue_at_once("Memset", at, [=] { std::memset(at, value, bytes); });
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return enqueue_at_once("Memcpy", to, [=] { std::memcpy(to, from, bytes); });
}
cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t stream) {
  return enqueue({"MemsetAsync", stream, at}, cudaGraphNodeTypeMemset,
                 [=] { std::memset(at, value, bytes); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  // At a replay the memory of the host is read again, whatever is there by then.
  return enqueue({"MemcpyAsync", stream, to}, cudaGraphNodeTypeMemcpy,
                 [=] { std::memcpy(to, from, bytes); });
}

// ---- streams, events, captures

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (const cudaError_t code = note({"StreamSynchronize", stream}); code != cudaSuccess)
    return code;
  const cudaError_t code = with(fake().streams.wait_for(stream));
  if (code == cudaSuccess && stream == nullptr) fake().is_legacy_busy = false;
  return code;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (const cudaError_t code = note({"StreamWaitEvent", stream, event}); code != cudaSuccess)
    return code;
  return with(fake().streams.wait_for(stream, event));
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const cudaError_t code = with(fake().streams.status_of(stream, status));
  return code == cudaSuccess && fake().is_lost ? with(cudaErrorIllegalAddress) : code;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** before,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  const cudaError_t code =
      with(fake().streams.describe(stream, {status, id, graph, before, edges, count}));
  return code == cudaSuccess && fake().is_lost ? with(cudaErrorIllegalAddress) : code;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* other) {
  ge::ptx::Streams::exchange_mode(other);
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = node->type;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  ++fake().events;
  return note({"EventCreate"});
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const cudaError_t code = note({"EventRecord", stream, event});
  return code != cudaSuccess ? code : with(fake().streams.record(event, stream));
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  --fake().events;
  delete event;
  return note({"EventDestroy"});
}

// ---- kernels

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* found, const void* kernel) {
  *found = {};
  found->ptxVersion = fake().ptx_version, found->binaryVersion = fake().binary_version;
  fake().loaded.insert(kernel);
  return note_unsafe({"FuncGetAttributes", nullptr, kernel});
}
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int) {
  return note_unsafe({"FuncSetAttribute", nullptr, kernel});
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, size_t) {
  *blocks = 4;
  return note({"Occupancy"});
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* kernel,
                                void** arguments) {
  std::function<void()> work = [] {};
  if (const auto found = fake().taught.find(kernel); found != fake().taught.end())
    work = [grid = config->gridDim, block = config->blockDim, run = found->second(arguments)] {
      gridDim = grid, blockDim = block;
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x) run();
    };
  const bool dependent = config->numAttrs > 0;
  return enqueue({"LaunchKernelExC", config->stream, kernel, dependent}, cudaGraphNodeTypeKernel,
                 std::move(work));
}

// ---- instead of CUB, and of lanes, which never run here

namespace ge {
void watch(const void*, int, bool) {}
void meet_warp() {}
int64_t sum_of_warp(int64_t value) {
  return value;
}
}  // namespace ge
namespace ge::cuda {

int64_t sort_bytes(int64_t count);
void sort_pairs(const FlatMemory& memory, int64_t count, int bits, void* space, int64_t space_bytes,
                cudaStream_t stream);

int64_t sort_bytes(int64_t count) {
  return 8 * count;
}
void sort_pairs(const FlatMemory& memory, int64_t, int, void*, int64_t, cudaStream_t stream) {
  enqueue({"sort", stream, memory.keys}, cudaGraphNodeTypeKernel, [] {});
}

}  // namespace ge::cuda
