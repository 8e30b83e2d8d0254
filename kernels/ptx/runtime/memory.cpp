// Memory of the device, which is the host's: allocations are known to the interpreter to the byte,
// and every set and copy is held to them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ptx/runtime/runtime.hpp"

namespace ge::ptx {
namespace {

std::string text_of(const void* at, size_t bytes) {
  char address[32];
  std::snprintf(address, sizeof address, "%p", at);
  return std::to_string(bytes) + " bytes at " + address;
}
/// Refuses bytes that are not in one piece of the device's memory.
void check_device(const Runtime& runtime, const char* call, const void* at, size_t bytes) {
  const Memory& memory = runtime.machine.memory;
  if (memory.find(at, bytes) != nullptr) return;
  const Region* const begin = memory.find(at, 1);
  const std::string why = begin == nullptr
                              ? " are not in memory of the device"
                              : " reach beyond " + begin->name + " of " +
                                    std::to_string(begin->end - begin->begin) + " bytes";
  throw Refusal{cudaErrorInvalidValue, std::string(call) + ": " + text_of(at, bytes) + why};
}
/// Refuses bytes of the host that are the device's.
void check_host(const Runtime& runtime, const char* call, const void* at, size_t bytes) {
  const Memory& memory = runtime.machine.memory;
  const char* const last = static_cast<const char*>(at) + bytes - 1;
  if (at != nullptr && memory.find(at, 1) == nullptr && memory.find(last, 1) == nullptr) return;
  throw Refusal{cudaErrorInvalidValue, std::string(call) + ": " + text_of(at, bytes) +
                                           " are not the host's, as the kind of the copy says"};
}
void check_side(const Runtime& runtime, const char* call, const void* at, size_t bytes,
                bool is_known, bool is_device) {
  if (!is_known) is_device = runtime.machine.memory.find(at, 1) != nullptr;
  if (is_device)
    check_device(runtime, call, at, bytes);
  else
    check_host(runtime, call, at, bytes);
}
/// Refuses a copy whose kind is not that of its addresses.
void check_copy(const Runtime& runtime, const char* call, const void* to, const void* from,
                size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return;
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    throw Refusal{cudaErrorInvalidMemcpyDirection, {}};
  const bool is_known = kind != cudaMemcpyDefault;
  check_side(runtime, call, to, bytes, is_known,
             kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice);
  check_side(runtime, call, from, bytes, is_known,
             kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice);
}

void set(Runtime& runtime, const char* call, void* at, int value, size_t bytes) {
  if (bytes == 0) return;
  check_device(runtime, call, at, bytes);
  std::memset(at, value, bytes);
}
void copy(Runtime& runtime, const char* call, void* to, const void* from, size_t bytes,
          cudaMemcpyKind kind) {
  check_copy(runtime, call, to, from, bytes, kind);
  if (bytes > 0) std::memmove(to, from, bytes);
}

void* allocate(Runtime& runtime, size_t bytes) {
  if (bytes == 0) return nullptr;
  constexpr size_t kAlign = 256;
  if (bytes > runtime.total - std::min(runtime.used, runtime.total)) throw std::bad_alloc();
  // The room behind it belongs to nobody, so that two allocations never touch.
  const size_t whole = (bytes + kAlign - 1) / kAlign * kAlign + kAlign;
  auto* const made = static_cast<char*>(std::aligned_alloc(kAlign, whole));
  if (made == nullptr) throw std::bad_alloc();
  fill(made, whole, runtime.machine.settings.poison);
  runtime.allocated[made] = bytes;
  runtime.used += bytes;
  runtime.machine.memory.add(made, int64_t(bytes), true, "an allocation");
  return made;
}
void release(Runtime& runtime, void* at) {
  if (at == nullptr) return;
  const auto found = runtime.allocated.find(static_cast<char*>(at));
  if (found == runtime.allocated.end())
    throw Refusal{cudaErrorInvalidValue, "cudaFree: no allocation begins at this address"};
  const size_t bytes = found->second;
  runtime.used -= bytes;
  runtime.allocated.erase(found);
  runtime.machine.memory.remove(at);
  constexpr size_t kMostKept = size_t{16} << 20;
  runtime.freed.emplace_back(static_cast<char*>(at), bytes);
  runtime.freed_bytes += bytes;
  while (runtime.freed_bytes > kMostKept) {
    const auto [oldest, its_bytes] = runtime.freed.front();
    runtime.freed.pop_front();
    runtime.freed_bytes -= its_bytes;
    std::free(oldest);
  }
}

}  // namespace
}  // namespace ge::ptx

using namespace ge::ptx;

cudaError_t cudaMalloc(void** at, size_t bytes) {
  return call([&](Runtime& runtime) {
    check(runtime.streams.check_unsafe());
    *at = allocate(runtime, bytes);
  });
}
cudaError_t cudaFree(void* at) {
  return call([&](Runtime& runtime) {
    check(runtime.streams.check_unsafe());
    release(runtime, at);
  });
}
cudaError_t cudaMemset(void* at, int value, size_t bytes) {
  return call([&](Runtime& runtime) {
    check(runtime.streams.check_at_once());
    set(runtime, "cudaMemset", at, value, bytes);
  });
}
cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t stream) {
  return call([&](Runtime& runtime) {
    if (bytes > 0) check_device(runtime, "cudaMemsetAsync", at, bytes);
    check(runtime.streams.enqueue(stream, cudaGraphNodeTypeMemset, [=, &runtime](bool) {
      set(runtime, "cudaMemsetAsync", at, value, bytes);
      return cudaSuccess;
    }));
  });
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    check(runtime.streams.check_at_once());
    copy(runtime, "cudaMemcpy", to, from, bytes, kind);
  });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  // At a replay the memory of the host is read again, whatever is there by then.
  return call([&](Runtime& runtime) {
    check_copy(runtime, "cudaMemcpyAsync", to, from, bytes, kind);
    check(runtime.streams.enqueue(stream, cudaGraphNodeTypeMemcpy, [=, &runtime](bool) {
      copy(runtime, "cudaMemcpyAsync", to, from, bytes, kind);
      return cudaSuccess;
    }));
  });
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* to, const void* at) {
  return call([&](Runtime& runtime) {
    const bool is_ours = runtime.machine.memory.find(at, 1) != nullptr;
    *to = {};
    to->type = is_ours ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
    to->device = is_ours ? 0 : -1;
    if (is_ours)
      to->devicePointer = const_cast<void*>(at);
    else
      to->hostPointer = const_cast<void*>(at);
  });
}

// ---- variables of the device

cudaError_t cudaGetSymbolAddress(void** at, const void* symbol) {
  return call([&](Runtime& runtime) { *at = address_of(runtime, symbol, 0, 0); });
}
cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return call([&](Runtime& runtime) {
    address_of(runtime, symbol, 0, 0);
    *bytes = runtime.loaded.symbols.at(symbol).bytes;
  });
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    check(runtime.streams.check_at_once());
    copy(runtime, "cudaMemcpyToSymbol", address_of(runtime, symbol, offset, bytes), from, bytes,
         kind);
  });
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
  return call([&](Runtime& runtime) {
    check(runtime.streams.check_at_once());
    copy(runtime, "cudaMemcpyFromSymbol", to, address_of(runtime, symbol, offset, bytes), bytes,
         kind);
  });
}
