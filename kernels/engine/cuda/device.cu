// See device.hpp and machine.hpp.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>

#include "engine/cuda/device.hpp"
#include "engine/cuda/tuning_table.hpp"
#include "engine/maths/sampling.hpp"
#include "engine/simulator/machine.hpp"
#include "engine/world/world.hpp"

namespace ge::cuda {

// ---- errors

namespace {

std::atomic<bool> used{false}, forked{false};
constexpr const char* kForked =
    "CUDA cannot be used in a process that was forked from one that has used it: start workers "
    "with the 'spawn' or "
    "'forkserver' method, or use CUDA in the workers alone";

/// From the first call of the runtime on, a fork makes the child's copy of it useless.
void note_use() {
  if (used.exchange(true)) return;
  pthread_atfork(nullptr, nullptr, [] { forked.store(true); });
}

}  // namespace

void fail(cudaError_t code, const char* call) {
  cudaGetLastError();  // what can be cleared is cleared; a lost context answers the next call with
                       // the same error
  const Fault kind = code == cudaErrorMemoryAllocation ? Fault::memory : Fault::device;
  throw Error(kind, std::string("CUDA: ") + cudaGetErrorString(code) + " (" +
                        cudaGetErrorName(code) + " from " + std::string(call).substr(0, 60) + ")");
}
void refuse_fork() {
  if (forked.load(std::memory_order_relaxed)) throw Error(Fault::device, kForked);
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
DeviceMemory::~DeviceMemory() {
  if (at_ != nullptr && !forked.load()) cudaFree(at_);
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

// ---- records in canonical order: a thread per four bytes of a record

namespace {

/// Where the words of records lie; `units` has the word size of every byte, 0 between columns.
struct RecordMap {
  char* records;
  const uint8_t* units;
  int64_t record_bytes, block_bytes;
  int block;
};

/// Address of the word that has byte `at`, and of that byte in it.
__device__ char* byte_address(const RecordMap& map, int64_t world, int64_t at, int unit) {
  char* const block = map.records + world / map.block * map.block_bytes;
  return block + (at - at % unit) * map.block + world % map.block * unit + at % unit;
}

/// Four bytes of a record into or out of `plain`; words of less than four bytes one by one.
template <bool kRead>
__device__ void move_word(const RecordMap& map, int64_t world, int64_t at, char* plain) {
  const int unit = map.units[at];
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
  const int64_t words = map.record_bytes / 4, all = count * words;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < all;
       i += int64_t(gridDim.x) * blockDim.x)
    move_word<kRead>(map, first + i / words, i % words * 4, plain + i * 4);
}

/// Worlds into worlds; bytes [keep, keep + keep_bytes) stay the destination's.
__global__ void __launch_bounds__(256)
    copy_kernel(const RecordMap map, const int64_t* from, const int64_t* to, int64_t count,
                int keep, int keep_bytes) {
  const int64_t words = map.record_bytes / 4, all = count * words;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < all;
       i += int64_t(gridDim.x) * blockDim.x) {
    const int64_t at = i % words * 4;
    if (at >= keep && at < keep + keep_bytes) continue;
    alignas(4) char word[4];
    move_word<true>(map, from[i / words], at, word);
    move_word<false>(map, to[i / words], at, word);
  }
}

constexpr int64_t kTransfer = 32 << 20;  // bytes of records on their way to or from the host
unsigned grid_of(int64_t threads) {
  return unsigned(std::min<int64_t>((threads + 255) / 256, 1 << 16));
}

}  // namespace

// ---- actions drawn on the device

namespace {

__global__ void __launch_bounds__(256)
    sample_kernel(const __grid_constant__ Sampling sampling, int32_t* to) {
  const int64_t groups = (sampling.rows + kSampledTogether - 1) / kSampledTogether;
  for (int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < groups;
       i += int64_t(gridDim.x) * blockDim.x) {
    const Draw words = sampling_draw(sampling, i * kSampledTogether);
    GE_UNROLL
    for (int k = 0; k < kSampledTogether; ++k) {
      const int64_t row = i * kSampledTogether + k;
      if (row < sampling.rows) to[row] = sampled_action(sampling, row, words.word[k]);
    }
  }
}

}  // namespace

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

/// Throws what asking for a kernel has failed with.
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
  const int64_t blocks = (config.worlds + layout.block - 1) / layout.block;
  const int64_t record_bytes = blocks * layout.block_bytes,
                list_bytes = int64_t{lists} * config.worlds * 4;
  size_t free = 0, total = 0;
  GE_CUDA(cudaMemGetInfo(&free, &total));
  layout.check_fits(int64_t(free), int64_t(total));
  records_ = zeroed(record_bytes);
  lists_ = zeroed(list_bytes);
  list_counts_ = zeroed(int64_t{lists} * 4);
  counters_ = zeroed(sizeof(Counters));
  std::vector<uint8_t> units(size_t(layout.record_bytes), 0);
  for (const Segment& segment : layout.segments)
    std::fill_n(units.begin() + segment.offset, segment.bytes, uint8_t(segment.unit));
  units_ = DeviceMemory(layout.record_bytes);
  GE_CUDA(cudaMemcpy(units_.as(), units.data(), units.size(), cudaMemcpyHostToDevice));
  seeds_ = DeviceMemory(64);
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
  for (const void* const own :
       {reinterpret_cast<const void*>(&move_kernel<true>),
        reinterpret_cast<const void*>(&move_kernel<false>),
        reinterpret_cast<const void*>(&copy_kernel), reinterpret_cast<const void*>(&sample_kernel)})
    check_code(cudaFuncGetAttributes(&found, own), properties);
  check_code(kernels_.attributes(device_, kernels_.one, &found), properties);
  // What a kernel may do follows from the architecture that it was compiled for, which may be older
  // than the device.
  code_ = std::min(architecture_, found.ptxVersion);
}

DeviceStore::~DeviceStore() {
  if (forked.load()) return;
  // Work on any stream may still use the memory. A failed device answers here too; there is nobody
  // left to tell.
  int before = 0;
  if (cudaGetDevice(&before) == cudaSuccess && cudaSetDevice(device_) == cudaSuccess) {
    cudaDeviceSynchronize();
    cudaSetDevice(before);
  }
  cudaGetLastError();
}

int64_t DeviceStore::memory_bytes() const {
  int64_t bytes = 0;
  for (const DeviceMemory* memory :
       {&records_, &list_counts_, &lists_, &slab_, &counters_, &units_, &seeds_})
    bytes += memory->bytes();
  return bytes;
}

// ---- choosing kernels

namespace {

constexpr int kThreads = 128;

const Tuning* find_tuning(const std::string& environment, int tier, const std::string& phase,
                          int architecture) {
  for (const Tuning& tuning : kTuning)
    if (environment == tuning.environment && tier == tuning.tier && phase == tuning.phase &&
        architecture == tuning.architecture)
      return &tuning;
  return nullptr;
}

int64_t shared_bytes(const KernelVariant& variant, int threads) {
  return variant.counts +
         threads / variant.team * (variant.stage + (variant.slab ? 0 : variant.scratch));
}

}  // namespace

bool DeviceStore::fits(const KernelVariant& variant, int threads) const {
  return shared_bytes(variant, threads) <= shared_limit_;
}

PreparedLaunch DeviceStore::choose(const LaunchChoice& choice) const {
  const Tuning* const tuning = find_tuning(id_, tier_, choice.phase, architecture_);
  int lanes = config_.lanes > 0 ? config_.lanes : tuning != nullptr ? tuning->lanes : 0;
  const auto has = [&](const KernelVariant& variant) { return variant.lanes == lanes; };
  if (std::none_of(choice.variants.begin(), choice.variants.end(), has))
    lanes = choice.variants.front().lanes;
  // Shared memory before the slab, and a smaller block before a slab.
  for (const KernelVariant& variant : choice.variants) {
    if (variant.lanes != lanes) continue;
    int threads = config_.block > 0   ? config_.block
                  : tuning != nullptr ? tuning->threads
                                      : kThreads;
    threads = std::min(threads, variant.threads);
    if (variant.lanes > 32) threads = variant.lanes;
    while (threads > variant.team && !fits(variant, threads)) threads /= 2;
    if (!fits(variant, threads)) continue;
    const int groups = threads / variant.team * variant.worlds;
    const int all = int((config_.worlds + groups - 1) / groups);
    const int shared = int(shared_bytes(variant, threads));
    // The most that may be asked for, not what this simulator asks: others share the kernel.
    GE_CUDA(kernels_.allow_shared(device_, variant.function, shared_limit_));
    int resident = 0;
    GE_CUDA(kernels_.resident(device_, variant.function, threads, shared, &resident));
    if (resident < 1)
      throw Error(Fault::device, id_ + ": no block of phase '" + choice.phase + "' with " +
                                     std::to_string(threads) + " threads fits on this GPU");
    int grid = choice.empty ? 1 : all;
    if (variant.slab) grid = std::min(all, resident * processors_);
    if (choice.from_list) grid = std::min(all, std::min(resident, 4) * processors_);
    const int64_t slab =
        variant.slab ? int64_t{grid} * (threads / variant.team) * variant.scratch : 0;
    const bool early = dependent() && (tuning == nullptr || tuning->dependent);
    return {choice.phase, variant.function, lanes, {grid, threads, shared, early}, slab};
  }
  throw Error(Fault::device,
              id_ + ": phase '" + choice.phase + "' needs more shared memory than the " +
                  std::to_string(shared_limit_) + " bytes that this GPU gives a block");
}

std::vector<PreparedLaunch> DeviceStore::prepare(const std::vector<LaunchChoice>& choices) {
  const DeviceGuard guard(device_);
  const int block = config_.block;
  if (block != 0 && block != 32 && block != 64 && block != 128 && block != 256)
    throw Error(Fault::value,
                "block must be 32, 64, 128 or 256 threads, or 0 for the tuned choice, got " +
                    std::to_string(block));
  std::vector<PreparedLaunch> made;
  int64_t slab = 0;
  for (const LaunchChoice& choice : choices) {
    made.push_back(choose(choice));
    load(made.back().function);
    slab = std::max(slab, made.back().slab_bytes);
  }
  if (slab > slab_.bytes()) slab_ = DeviceMemory(slab);
  return made;
}

void DeviceStore::check_lanes(const std::vector<LaunchChoice>& choices,
                              const std::vector<PreparedLaunch>& step) const {
  const int wanted = config_.lanes;
  if (wanted == 0) return;
  for (const PreparedLaunch& launch : step)
    if (launch.lanes == wanted) return;
  std::set<int> compiled, listed;
  for (const LaunchChoice& choice : choices) {
    listed.insert(choice.lanes.begin(), choice.lanes.end());
    for (const KernelVariant& variant : choice.variants) compiled.insert(variant.lanes);
  }
  std::string known;
  for (const int lanes : compiled) known += (known.empty() ? "" : ", ") + std::to_string(lanes);
  std::string message = "lanes must be one of " + known + " for " + id_ +
                        ", or 0 for the tuned choice, got " + std::to_string(wanted);
  if (listed.contains(wanted))
    message += "; a build with GPU_ENVS_CUDA_LANES=all has " + std::to_string(wanted) + " as well";
  throw Error(Fault::value, message);
}

void DeviceStore::load(const void* kernel) const {
  cudaFuncAttributes found{};
  GE_CUDA(kernels_.attributes(device_, kernel, &found));
}

void DeviceStore::launch(const void* kernel, const LaunchShape& shape, void** arguments,
                         cudaStream_t stream) const {
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
    if (is_of_a_step(Output(o)) && out.at[o] != nullptr) zero(out.at[o], outputs[o].bytes, stream);
}

std::string describe(const std::vector<PreparedLaunch>& launches) {
  std::string text = "[";
  for (const PreparedLaunch& launch : launches) {
    if (text.size() > 1) text += ", ";
    text += "{\"phase\": \"" + launch.phase + "\", \"lanes\": " + std::to_string(launch.lanes) +
            ", \"threads\": " + std::to_string(launch.shape.threads) +
            ", \"blocks\": " + std::to_string(launch.shape.blocks) +
            ", \"shared_bytes\": " + std::to_string(launch.shape.shared) +
            ", \"slab_bytes\": " + std::to_string(launch.slab_bytes) +
            ", \"dependent\": " + (launch.shape.dependent ? "true" : "false") + "}";
  }
  return text + "]";
}

// ---- records, seeds, counters

const uint64_t* DeviceStore::upload(std::span<const uint64_t> seeds, cudaStream_t stream) {
  if (seeds.empty()) return nullptr;
  const int64_t bytes = int64_t(seeds.size_bytes());
  if (bytes > seeds_.bytes()) {
    GE_CUDA(cudaDeviceSynchronize());  // an earlier reset may still read the smaller list
    seeds_ = DeviceMemory(bytes);
  }
  // From pageable memory: the runtime has copied the seeds away when this returns.
  GE_CUDA(
      cudaMemcpyAsync(seeds_.as(), seeds.data(), size_t(bytes), cudaMemcpyHostToDevice, stream));
  return seeds_.as<uint64_t>();
}

template <bool kRead>
void DeviceStore::move_records(int64_t first, int64_t count, char* host) {
  if (count == 0) return;
  const DeviceGuard guard(device_);
  GE_CUDA(cudaDeviceSynchronize());
  const int64_t record = layout_.record_bytes, most = std::max<int64_t>(1, kTransfer / record);
  const DeviceMemory plain(std::min(most, count) * record);
  const RecordMap map{records_.as(), units_.as<uint8_t>(), record, layout_.block_bytes,
                      layout_.block};
  for (int64_t done = 0; done < count; done += most) {
    const int64_t now = std::min(most, count - done), bytes = now * record;
    if (!kRead)
      GE_CUDA(cudaMemcpy(plain.as(), host + done * record, size_t(bytes), cudaMemcpyHostToDevice));
    move_kernel<kRead><<<grid_of(bytes / 4), 256>>>(map, first + done, now, plain.as());
    GE_CUDA(cudaGetLastError());
    if (kRead)
      GE_CUDA(cudaMemcpy(host + done * record, plain.as(), size_t(bytes), cudaMemcpyDeviceToHost));
  }
  GE_CUDA(cudaDeviceSynchronize());
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
  GE_CUDA(cudaDeviceSynchronize());
  const int64_t count = int64_t(from.size());
  const DeviceMemory pairs(2 * count * 8);
  GE_CUDA(cudaMemcpy(pairs.as(), from.data(), from.size_bytes(), cudaMemcpyHostToDevice));
  GE_CUDA(cudaMemcpy(pairs.as() + count * 8, to.data(), to.size_bytes(), cudaMemcpyHostToDevice));
  const RecordMap map{records_.as(), units_.as<uint8_t>(), layout_.record_bytes,
                      layout_.block_bytes, layout_.block};
  copy_kernel<<<grid_of(count * layout_.record_bytes / 4), 256>>>(
      map, pairs.as<int64_t>(), pairs.as<int64_t>() + count, count, layout_.identity_offset,
      reseed ? layout_.identity_bytes : 0);
  GE_CUDA(cudaGetLastError());
  GE_CUDA(cudaDeviceSynchronize());
}

void DeviceStore::take_counters(void* to, int64_t bytes) {
  const DeviceGuard guard(device_);
  GE_CUDA(cudaDeviceSynchronize());
  GE_CUDA(cudaMemcpy(to, counters_.as(), size_t(bytes), cudaMemcpyDeviceToHost));
  GE_CUDA(cudaMemset(counters_.as(), 0, size_t(bytes)));
  // Callers' streams do not wait for this one.
  finish(nullptr);
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
  if (forked.load()) return;
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

void sample_actions(int device, const Sampling& sampling, int32_t* to, cudaStream_t stream) {
  const DeviceGuard guard(device);
  const int64_t blocks = (sampling.rows / kSampledTogether + 256) / 256;
  sample_kernel<<<unsigned(std::min<int64_t>(blocks, 1 << 16)), 256, 0, stream>>>(sampling, to);
  GE_CUDA(cudaGetLastError());
}

}  // namespace ge::cuda

// ---- the machine

namespace ge {
namespace {

/// cudaGetDeviceCount with its error in words; works without a driver.
int count_devices(std::string* problem) {
  if (cuda::forked.load()) {
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
