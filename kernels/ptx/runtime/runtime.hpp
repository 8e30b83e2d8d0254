// The CUDA runtime over the interpreter: what all of its calls share. It exports the C functions of
// libcudart that the engine, the bindings, CUB and the host code of nvcc call, is built as a shared
// library against NVIDIA's cuda_runtime.h, and is linked in place of libcudart.
//
//   fat_binary, registration   the code of objects that are loaded: PTX, variables, registers
//   launches                   kernels, their attributes, occupancy, launches
//   memory                     allocations, sets, copies
//   streams, stream_calls      streams, events, captures, graphs
//   device, errors             the device, its limits; what calls fail with
//   report, edits, tools       counters as JSON; planted faults; functions for tests and tools
//
// One mutex guards it all: calls of several threads run one after the other, kernels included.
#pragma once

#include <cuda_runtime.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "ptx/machine.hpp"
#include "ptx/runtime/device.hpp"
#include "ptx/runtime/edits.hpp"
#include "ptx/runtime/errors.hpp"
#include "ptx/runtime/registration.hpp"
#include "ptx/runtime/streams.hpp"

namespace ge::ptx {

struct Runtime {
  Machine machine{Settings{}};
  Streams streams;
  Loaded loaded;
  Edits edits;
  std::map<const void*, std::unique_ptr<CUevent_st>> events;
  std::map<std::string, uint64_t> calls;       // of each exported function, by its name
  std::map<const char*, size_t> allocated;     // bytes by address
  std::deque<std::pair<char*, size_t>> freed;  // kept, so that no other use hides a late access
  size_t freed_bytes = 0;
  size_t used = 0, total = size_t{8} << 30;  // bytes of device memory
  int registers = 64;                        // of a thread, where no machine code says how many
  int64_t shared = kMostShared;              // bytes of shared memory that a block may ask for
  int multiprocessors = kMultiprocessors;

  /// Never destroyed: other objects unregister their code at the end of the process.
  static Runtime& get();

 private:
  Runtime();
};

/// Held by each exported function.
class Lock {
 public:
  Lock() : lock_(mutex()) {}

 private:
  static std::mutex& mutex();
  std::lock_guard<std::mutex> lock_;
};

/// Runs the body of an exported function: under the mutex, counted, not after a fault, and with a
/// refusal as its result.
template <class Body>
cudaError_t call(const Body& body, const char* name = __builtin_FUNCTION()) {
  const Lock lock;
  try {
    Runtime& runtime = Runtime::get();
    ++runtime.calls[name];
    if (fault_of_process() != nullptr) throw Refusal{cudaErrorLaunchFailure, {}};
    body(runtime);
  } catch (const Refusal& refusal) {
    return note(refusal.code, refusal.text);
  } catch (const std::bad_alloc&) {
    return note(cudaErrorMemoryAllocation, {});
  }
  return cudaSuccess;
}

}  // namespace ge::ptx
