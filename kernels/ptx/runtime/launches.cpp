// Kernels: their attributes, how many blocks of one a multiprocessor holds, and launches, with what
// a GPU refuses of them.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ptx/runtime/device.hpp"
#include "ptx/runtime/runtime.hpp"

namespace ge::ptx {
namespace {

/// A launch as the host asks for it.
struct Request {
  dim3 grid, block;
  size_t dynamic_shared;
  cudaStream_t stream;
  bool may_overlap = false;
};

std::string text_of(const dim3& shape) {
  return std::to_string(shape.x) + " x " + std::to_string(shape.y) + " x " +
         std::to_string(shape.z);
}
[[noreturn]] void refuse(cudaError_t code, const Entry& entry, const std::string& why) {
  throw Refusal{code, "launch of " + entry.name + ": " + why};
}

void check_shape(const Runtime& runtime, const Entry& entry, const Request& asked) {
  const dim3 &grid = asked.grid, &block = asked.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > kMostGridX || grid.y > kMostGridYZ ||
      grid.z > kMostGridYZ)
    refuse(cudaErrorInvalidConfiguration, entry, "a grid of " + text_of(grid) + " blocks");
  const uint64_t threads = uint64_t{block.x} * block.y * block.z;
  if (block.x > kMostThreads || block.y > kMostThreads || block.z > kMostBlockZ || threads == 0 ||
      threads > kMostThreads)
    refuse(cudaErrorInvalidConfiguration, entry, "a block of " + text_of(block) + " threads");
  const int most = entry.kernel->entry->max_threads;
  if (threads > uint64_t(most))
    refuse(cudaErrorInvalidValue, entry,
           "a block of " + std::to_string(threads) +
               " threads, its launch bounds (.maxntid) allow " + std::to_string(most));
  const int registers = registers_of(runtime, *entry.binary, entry.name);
  if (resident_blocks(int(threads), registers, 0) == 0)
    refuse(cudaErrorLaunchOutOfResources, entry,
           std::to_string(threads) + " threads of " + std::to_string(registers) +
               " registers are more than a multiprocessor has");
}
/// The limit, with static shared memory, is at most what a block has: see cudaFuncSetAttribute.
void check_shared(const Entry& entry, size_t bytes) {
  const auto asked = int64_t(bytes);
  if (asked < 0 || asked > entry.dynamic_limit)
    refuse(cudaErrorInvalidValue, entry,
           std::to_string(bytes) + " bytes of dynamic shared memory, allowed are " +
               std::to_string(entry.dynamic_limit) +
               " (cudaFuncAttributeMaxDynamicSharedMemorySize)");
}

/// The parameters of a launch as PTX lays them out, copied from where the host's lie.
std::shared_ptr<char> parameters_of(const Kernel& kernel, void** arguments) {
  constexpr size_t kAlign = 256;
  const size_t bytes = (size_t(kernel.param_bytes) + kAlign) / kAlign * kAlign;
  std::shared_ptr<char> made(static_cast<char*>(std::aligned_alloc(kAlign, bytes)),
                             [](char* at) { std::free(at); });
  if (made == nullptr) throw std::bad_alloc();
  std::memset(made.get(), 0, bytes);
  for (size_t k = 0; k < kernel.params.size(); ++k) {
    const auto [offset, size] = kernel.params[k];
    std::memcpy(made.get() + offset, arguments[k], size_t(size));
  }
  return made;
}

void launch(Runtime& runtime, const void* function, const Request& asked, void** arguments) {
  Entry& entry = entry_of(runtime, function);
  Kernel& kernel = *entry.kernel;
  check_shape(runtime, entry, asked);
  check_shared(entry, asked.dynamic_shared);
  if (!kernel.refused.empty())
    refuse(cudaErrorNotSupported, entry, "the interpreter does not support " + kernel.refused);
  Launch shape;
  shape.grid = {asked.grid.x, asked.grid.y, asked.grid.z};
  shape.block = {asked.block.x, asked.block.y, asked.block.z};
  shape.dynamic_shared = int64_t(asked.dynamic_shared);
  const auto run = [&runtime, &kernel, shape, program = entry.binary->program,
                    parameters = parameters_of(kernel, arguments)](bool is_dependent) {
    Launch own = shape;
    own.is_dependent = is_dependent;
    try {
      runtime.machine.run(kernel, own, parameters.get());
    } catch (const Fault& fault) {
      lose(fault.what());
    }
    return cudaSuccess;
  };
  check(runtime.streams.enqueue(asked.stream, cudaGraphNodeTypeKernel, run, asked.may_overlap));
}

// ---- attributes of launches

const char* name_of_attribute(int id) {
  constexpr const char* kNames[] = {"Ignore",
                                    "AccessPolicyWindow",
                                    "Cooperative",
                                    "SynchronizationPolicy",
                                    "ClusterDimension",
                                    "ClusterSchedulingPolicyPreference",
                                    "ProgrammaticStreamSerialization",
                                    "ProgrammaticEvent",
                                    "Priority",
                                    "MemSyncDomainMap",
                                    "MemSyncDomain",
                                    "PreferredClusterDimension",
                                    "LaunchCompletionEvent",
                                    "DeviceUpdatableKernelNode",
                                    "PreferredSharedMemoryCarveout"};
  return id >= 0 && size_t(id) < std::size(kNames) ? kNames[id] : "";
}
bool may_overlap(const cudaLaunchConfig_t& config) {
  bool found = false;
  for (unsigned k = 0; k < config.numAttrs; ++k) {
    const cudaLaunchAttribute& one = config.attrs[k];
    if (one.id != cudaLaunchAttributeProgrammaticStreamSerialization)
      throw Refusal{cudaErrorNotSupported,
                    "the interpreter does not support attribute " + std::to_string(int(one.id)) +
                        " of a launch (cudaLaunchAttribute" + name_of_attribute(int(one.id)) + ")"};
    found = one.val.programmaticStreamSerializationAllowed != 0;
  }
  return found;
}

/// Shapes between <<<>>> and the stub that launches.
thread_local std::vector<Request> pushed;

}  // namespace
}  // namespace ge::ptx

using namespace ge::ptx;

// ---- what the host code of nvcc calls

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream);

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  pushed.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (pushed.empty()) return note(cudaErrorInvalidConfiguration, {});
  const Request last = pushed.back();
  pushed.pop_back();
  *grid = last.grid, *block = last.block, *shared = last.dynamic_shared;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}
/// The handle of a kernel is the address of its host function.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared,
                          stream);
}

}  // extern "C"

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    launch(runtime, function, {grid, block, shared, stream}, arguments);
  });
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return call([&](Runtime& runtime) {
    launch(runtime, function,
           {config->gridDim, config->blockDim, config->dynamicSmemBytes, config->stream,
            may_overlap(*config)},
           arguments);
  });
}

// ---- kernels

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* to, const void* function) {
  return call([&](Runtime& runtime) {
    check(runtime.streams.check_unsafe());
    const Entry& entry = entry_of(runtime, function);
    const Module& module = entry.binary->program->module();
    *to = {};
    to->ptxVersion = std::atoi(module.target.c_str() + std::strlen("sm_"));
    to->binaryVersion = kArchitecture;
    to->numRegs = registers_of(runtime, *entry.binary, entry.name);
    to->sharedSizeBytes = size_t(entry.kernel->shared_bytes);
    to->localSizeBytes = size_t(entry.kernel->local_bytes);
    for (const Variable& variable : module.variables)
      if (variable.space == "const") to->constSizeBytes += size_t(variable.bytes);
    to->maxThreadsPerBlock = entry.kernel->entry->max_threads;
    while (to->maxThreadsPerBlock > 0 &&
           resident_blocks(to->maxThreadsPerBlock, to->numRegs, 0) == 0)
      to->maxThreadsPerBlock = std::max(0, to->maxThreadsPerBlock - kWarpThreads);
    to->maxDynamicSharedSizeBytes = int(entry.dynamic_limit);
    to->preferredShmemCarveout = -1;
  });
}
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call([&](Runtime& runtime) {
    check(runtime.streams.check_unsafe());
    Entry& entry = entry_of(runtime, function);
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize)
      throw Refusal{cudaErrorNotSupported,
                    "cudaFuncSetAttribute: the interpreter does not know attribute " +
                        std::to_string(int(attribute)) + " of cudaFuncAttribute"};
    if (value < 0 || value + entry.kernel->shared_bytes > runtime.shared)
      throw Refusal{cudaErrorInvalidValue,
                    entry.name + ": " + std::to_string(value) + " bytes of dynamic and " +
                        std::to_string(entry.kernel->shared_bytes) +
                        " of static shared memory, a block has " + std::to_string(runtime.shared)};
    entry.dynamic_limit = value;
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* function,
                                                                   int threads, size_t shared,
                                                                   unsigned) {
  return call([&](Runtime& runtime) {
    const Entry& entry = entry_of(runtime, function);
    const bool fits = threads <= entry.kernel->entry->max_threads &&
                      int64_t(shared) + entry.kernel->shared_bytes <= runtime.shared;
    *blocks = fits ? resident_blocks(threads, registers_of(runtime, *entry.binary, entry.name),
                                     int64_t(shared) + entry.kernel->shared_bytes)
                   : 0;
  });
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared,
                                                                0);
}
