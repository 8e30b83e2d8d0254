// See device.hpp.
#include "ptx/runtime/device.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "ptx/runtime/runtime.hpp"

namespace ge::ptx {
namespace {

int attribute_of(const Runtime& runtime, cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return kMostThreads;
    case cudaDevAttrMaxBlockDimZ:
      return kMostBlockZ;
    case cudaDevAttrMaxGridDimX:
      return kMostGridX;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return kMostGridYZ;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return kPlainShared;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return int(runtime.shared);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return kAllShared;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return kKeptShared;
    case cudaDevAttrTotalConstantMemory:
      return kConstantBytes;
    case cudaDevAttrWarpSize:
      return kWarpThreads;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return kAllRegisters;
    case cudaDevAttrMultiProcessorCount:
      return runtime.multiprocessors;
    case cudaDevAttrL2CacheSize:
      return kCacheBytes;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return kAllThreads;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return kMostBlocks;
    case cudaDevAttrComputeCapabilityMajor:
      return kArchitecture / 10;
    case cudaDevAttrComputeCapabilityMinor:
      return kArchitecture % 10;
    case cudaDevAttrUnifiedAddressing:
      return 1;
    default:
      throw Refusal{cudaErrorNotSupported,
                    "cudaDeviceGetAttribute: the interpreter does not know attribute " +
                        std::to_string(int(attribute)) + " of cudaDeviceAttr"};
  }
}
void check_device(int device) {
  if (device != 0) throw Refusal{cudaErrorInvalidDevice, {}};
}

}  // namespace

int resident_blocks(int threads, int registers, int64_t shared_bytes) {
  if (threads < 1 || unsigned(threads) > kMostThreads) return 0;
  constexpr int kSchedulers = 4;
  const int warps = (threads + kWarpThreads - 1) / kWarpThreads;
  const auto of_warp = int(round_up(std::max(registers, 1) * int64_t{kWarpThreads}, 256));
  const int warps_by_registers = kAllRegisters / kSchedulers / of_warp * kSchedulers;
  const int64_t shared = round_up(shared_bytes + kKeptShared, 128);
  return std::min({kMostBlocks, kAllThreads / kWarpThreads / warps, warps_by_registers / warps,
                   int(kAllShared / shared)});
}

}  // namespace ge::ptx

using namespace ge::ptx;

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  return call([&](Runtime&) { *count = 1; });
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return call([&](Runtime&) {});
}
cudaError_t cudaSetDevice(int device) {
  return call([&](Runtime&) { check_device(device); });
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call([&](Runtime& runtime) {
    check_device(device);
    *value = attribute_of(runtime, attribute);
  });
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* to, int device) {
  return call([&](Runtime& runtime) {
    check_device(device);
    *to = {};
    std::strcpy(to->name, kDeviceName);
    to->totalGlobalMem = runtime.total;
    to->sharedMemPerBlock = size_t(kPlainShared);
    to->sharedMemPerBlockOptin = size_t(runtime.shared);
    to->sharedMemPerMultiprocessor = size_t(kAllShared);
    to->reservedSharedMemPerBlock = size_t(kKeptShared);
    to->totalConstMem = size_t(kConstantBytes);
    to->l2CacheSize = int(kCacheBytes);
    to->regsPerBlock = to->regsPerMultiprocessor = kAllRegisters;
    to->warpSize = kWarpThreads;
    to->maxThreadsPerBlock = int(kMostThreads);
    to->maxThreadsDim[0] = to->maxThreadsDim[1] = int(kMostThreads);
    to->maxThreadsDim[2] = int(kMostBlockZ);
    to->maxGridSize[0] = int(kMostGridX);
    to->maxGridSize[1] = to->maxGridSize[2] = int(kMostGridYZ);
    to->maxThreadsPerMultiProcessor = kAllThreads;
    to->maxBlocksPerMultiProcessor = kMostBlocks;
    to->multiProcessorCount = runtime.multiprocessors;
    to->major = kArchitecture / 10, to->minor = kArchitecture % 10;
    to->unifiedAddressing = 1;
  });
}
cudaError_t cudaDeviceSynchronize() {
  return call([](Runtime& runtime) { check(runtime.streams.wait_for_device()); });
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&](Runtime& runtime) {
    *free = runtime.total - std::min(runtime.used, runtime.total);
    *total = runtime.total;
  });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  return call([&](Runtime&) { *version = CUDART_VERSION; });
}
cudaError_t cudaDriverGetVersion(int* version) {
  return call([&](Runtime&) { *version = CUDART_VERSION; });
}
