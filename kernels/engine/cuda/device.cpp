// A simulator on a GPU: its memory and its launches, see device.hpp. The engine's own kernels are
// in records.cu, the choice among an environment's in choosing.cpp.
#include "engine/cuda/device.hpp"

#include <algorithm>

#include "engine/simulator/machine.hpp"
#include "engine/world/world.hpp"

namespace ge::cuda {

// ---- making a simulator

namespace {

/// Refuses devices that do not exist.
cudaDeviceProp properties_of(int device) {
  const int count = device_count();
  if (count == 0) throw Error(Fault::device, "no CUDA device can be used: " + device_problem());
  if (device < 0 || device >= count)
    throw Error(
        Fault::device,
        "there is no device cuda:" + std::to_string(device) + ": this machine has " +
            (count == 1 ? "one, cuda:0"
                        : std::to_string(count) + ", cuda:0 to cuda:" + std::to_string(count - 1)));
  cudaDeviceProp properties{};
  GE_CUDA(cudaGetDeviceProperties(&properties, device));
  return properties;
}

/// Throws the error of a request for a kernel.
void check_code(cudaError_t code, const cudaDeviceProp& properties) {
  if (code == cudaErrorNoKernelImageForDevice || code == cudaErrorInvalidDeviceFunction) {
    cudaGetLastError();
    const std::string major = std::to_string(properties.major),
                      minor = std::to_string(properties.minor);
    throw Error(Fault::device, std::string("this build has no code for ") + properties.name +
                                   " (compute capability " + major + "." + minor +
                                   "): rebuild with GPU_ENVS_CUDA_ARCHS=" + major + minor);
  }
  GE_CUDA(code);
}

DeviceMemory zeroed(int64_t bytes) {
  DeviceMemory memory(bytes);
  if (bytes > 0) GE_CUDA(cudaMemset(memory.as(), 0, size_t(bytes)));
  return memory;
}

}  // namespace

DeviceStore::DeviceStore(const std::string& id, int tier, const Config& config,
                         const Layout& layout, int lists, const Kernels& kernels)
    : id_(id),
      tier_(tier),
      config_(config),
      layout_(layout),
      kernels_(kernels),
      device_(config.device) {
  refuse_fork();
  examine();
  const DeviceGuard guard(device_);
  const int64_t list_bytes = int64_t{lists} * config.worlds * 4;
  // Checked before the first allocation, so that the error can say how many worlds would fit.
  size_t free = 0, total = 0;
  GE_CUDA(cudaMemGetInfo(&free, &total));
  layout.check_fits(int64_t(free), int64_t(total));
  records_ = zeroed(layout.shape.all_bytes(config.worlds));
  lists_ = zeroed(list_bytes);
  list_counts_ = zeroed(int64_t{lists} * 4);
  counters_ = zeroed(sizeof(Counters));
  // 0 where no column lies: such bytes are read as zeros and never written.
  std::vector<uint8_t> units(size_t(layout.shape.record_bytes), 0);
  for (const Segment& segment : layout.segments)
    std::fill_n(units.begin() + segment.offset, segment.bytes, uint8_t(segment.unit));
  units_ = DeviceMemory(layout.shape.record_bytes);
  GE_CUDA(cudaMemcpy(units_.as(), units.data(), units.size(), cudaMemcpyHostToDevice));
  draws_ = zeroed(sizeof(DrawCount));
  common_ = zeroed(layout.common_bytes);
  // The zeroes may still be on their way, and callers' streams do not wait for this one.
  finish(nullptr);
}

/// Looks at the device, refuses one that the environment or the engine has no machine code for, and
/// loads the engine's own kernels: with CUDA's lazy loading the first use of a kernel loads it,
/// which may allocate and wait, and a capture allows neither.
void DeviceStore::examine() {
  const cudaDeviceProp properties = properties_of(device_);
  const DeviceGuard guard(device_);
  architecture_ = properties.major * 10 + properties.minor;
  processors_ = properties.multiProcessorCount;
  shared_limit_ = int(properties.sharedMemPerBlockOptin);
  cudaFuncAttributes found{};
  for (const void* const own : own_kernels())
    check_code(cudaFuncGetAttributes(&found, own), properties);
  check_code(kernels_.attributes(device_, kernels_.one, &found), properties);
  // What a kernel may do follows from the architecture that it was compiled for, which may be older
  // than the device. Machine code without PTX beside it need not say which PTX it comes from; ours
  // is then of its own architecture's kind (architectures() in gpu_envs/building/toolchain.py).
  const int compiled_for = found.ptxVersion > 0 ? found.ptxVersion : found.binaryVersion;
  code_ = std::min(architecture_, compiled_for);
}

int64_t DeviceStore::memory_bytes() const {
  int64_t bytes = 0;
  for (const DeviceMemory* memory :
       {&records_, &list_counts_, &lists_, &slab_, &counters_, &units_, &seeds_, &draws_, &common_})
    bytes += memory->bytes();
  return bytes;
}

// ---- launching

void DeviceStore::load(const void* kernel) const {
  cudaFuncAttributes found{};
  GE_CUDA(kernels_.attributes(device_, kernel, &found));
}

bool DeviceStore::follows_kernel(cudaStream_t stream) const {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* before = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  size_t count = 0;
#if CUDART_VERSION >= 13000
  const cudaError_t code =
      cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &before, &edges, &count);
#else
  const cudaError_t code =
      cudaStreamGetCaptureInfo_v3(stream, &status, nullptr, nullptr, &before, &edges, &count);
#endif
  if (code == cudaSuccess && status == cudaStreamCaptureStatusNone) return true;
  cudaGraphNodeType type = cudaGraphNodeTypeMemcpy;
  const bool is_one =
      code == cudaSuccess && count == 1 && cudaGraphNodeGetType(before[0], &type) == cudaSuccess;
  // An error of the stream is reported by the launch.
  if (!is_one) cudaGetLastError();
  return is_one && type == cudaGraphNodeTypeKernel;
}

void DeviceStore::launch(const void* kernel, const LaunchShape& shape, void** arguments,
                         cudaStream_t stream) const {
  // With programmatic serialization a kernel may be set up while the one before it still runs; it
  // waits by itself before it touches anything (DeviceLanes::wait_for_previous).
  cudaLaunchAttribute early;
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(unsigned(shape.blocks));
  config.blockDim = dim3(unsigned(shape.threads));
  config.dynamicSmemBytes = size_t(shape.shared);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = shape.dependent ? 1 : 0;
  GE_CUDA(kernels_.launch(device_, kernel, config, arguments));
}

void DeviceStore::clear_transient(const Bound& out, const OutputShape* outputs,
                                  cudaStream_t stream) const {
  for (int o = 0; o < kOutputCount; ++o)
    if (has_trait(Output(o), kByAStep) && out.at[o] != nullptr)
      zero(out.at[o], outputs[o].bytes, stream);
}

// ---- seeds and counters

const uint64_t* DeviceStore::upload(std::span<const uint64_t> seeds, cudaStream_t stream) {
  if (seeds.size() < 2) return nullptr;
  if (is_capturing(stream))
    throw Error(Fault::runtime,
                "seed: a list of seeds cannot be captured into a CUDA graph, which would read it "
                "again at each replay: give one seed, or reset before the capture");
  const int64_t bytes = int64_t(seeds.size_bytes());
  // An earlier reset may still read the smaller list: its end waits for it.
  if (bytes > seeds_.bytes()) seeds_ = DeviceMemory(bytes);
  // From pageable memory: the runtime has copied the seeds when this returns.
  GE_CUDA(
      cudaMemcpyAsync(seeds_.as(), seeds.data(), size_t(bytes), cudaMemcpyHostToDevice, stream));
  return seeds_.as<uint64_t>();
}
void DeviceStore::settle(const char* call) const {
  refuse_capture(nullptr, call);
  finish(nullptr);
}
void DeviceStore::forget_common() const {
  if (common_.bytes() > 0) zero(common_.as(), common_.bytes(), nullptr);
}
void DeviceStore::take_counters(void* to, int64_t bytes) {
  const DeviceGuard guard(device_);
  const BesideCaptures beside;
  settle("check()");
  GE_CUDA(cudaMemcpy(to, counters_.as(), size_t(bytes), cudaMemcpyDeviceToHost));
  // Nothing runs between the copy and this: the caller has waited for its streams, and steps in no
  // other thread.
  GE_CUDA(cudaMemset(counters_.as(), 0, size_t(bytes)));
  // Callers' streams do not wait for this one.
  finish(nullptr);
}

}  // namespace ge::cuda
