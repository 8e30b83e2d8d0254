// A GPU that is not there: CUDA's runtime for the engine's host code, on which whatever is enqueued
// happens at once and is written down. It knows what a real one would refuse: a call that may not
// be made during a capture fails, and ends the capture with it. Its memory is the host's.
// What streams, events, captures and graphs do, and what a capture forbids, is the same as below
// interpreted kernels: ptx/runtime/streams.hpp.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ptx/runtime/streams.hpp"

namespace ge::test {

/// One call that was made.
struct Call {
  std::string name;  // without "cuda": "Malloc", "LaunchKernelExC"
  cudaStream_t stream = nullptr;
  const void* what = nullptr;  // kernel, memory or event
  bool dependent = false;      // a launch that may overlap the one before it
};

struct FakeRuntime {
  /// The one of this process, and the same as it is at first.
  static FakeRuntime& get();
  static FakeRuntime& renew();

  // ---- what a test looks at
  std::vector<Call> calls;
  std::set<const void*> loaded;  // kernels
  std::set<void*> memory;        // that was given and not taken back
  int events = 0;                // created and not destroyed
  bool is_legacy_busy = false;   // has work that nobody has waited for
  std::vector<Call> named(const std::string& name) const;

  // ---- what a test sets
  size_t free_bytes = size_t{1} << 30, total_bytes = size_t{1} << 31;
  int devices = 1, ptx_version = 90, binary_version = 90;
  std::map<const void*, int> device_of;  // memory that is not this device's
  bool is_lost = false;                  // every call fails, as after an illegal address
  int refused_frees = 0;                 // how many of the next ones fail, in any mode

  cudaStream_t new_stream(bool is_blocking = false);
  std::shared_ptr<CUgraph_st> begin_capture(cudaStream_t stream);
  void end_capture(const std::shared_ptr<CUgraph_st>& graph);

  /// From here on a launch of the kernel runs it, thread by thread.
  template <class... P>
  void teach(void (*kernel)(P...)) {
    taught[reinterpret_cast<const void*>(kernel)] = [kernel](void** given) {
      return bound(kernel, given, std::index_sequence_for<P...>{});
    };
  }

  std::map<const void*, std::function<std::function<void()>(void**)>> taught;
  ptx::Streams streams;
  int device = 0;

 private:
  // Parameters are copied when the kernel is launched or captured.
  template <class... P, size_t... k>
  static std::function<void()> bound(void (*kernel)(P...), void** given,
                                     std::index_sequence<k...>) {
    return [kernel, own = std::tuple<P...>{*static_cast<P*>(given[k])...}] {
      std::apply(kernel, own);
    };
  }
};

}  // namespace ge::test
