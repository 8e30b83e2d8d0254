// The machine that a binary's simulators run on, as functions that need no simulator. Each machine
// defines them once (cpu/machine.cpp, cuda/runtime.cpp); callers need not know which is linked.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ge {

int device_count();
std::string device_name(int device);
/// Empty where a device can be used, else one line that says why not.
std::string device_problem();
/// The device that an address belongs to; -1: the host. (GPU)
int device_of(const void* address);

// Streams of a GPU. A CPU has none: there these do nothing.

/// Whether a stream is being captured into a CUDA graph.
bool is_capturing(void* stream);
/// Makes later work of `stream` wait for the work that `other` has so far. Throws if only one of
/// them is being captured.
void follow(int device, void* stream, void* other);
/// Waits for all work of a stream on behalf of `call`; throws if the stream is being captured.
void wait_for(int device, void* stream, const char* call);

/// Copies between memory of the host and of a device, behind the work of a stream. What is read
/// from the host may change as soon as this returns; what is written there waits for wait_for.
void enqueue_copy(int device, void* to, const void* from, int64_t bytes, void* stream);

// Kernels and shapes for a GPU that need not be present.

namespace cuda {
struct LaunchList;
}  // namespace cuda

/// A kernel of an environment, as its symbol names it.
struct KernelName {
  const char* environment;  // the type, mangled
  int graph, launch, lanes;
  bool slab;
};
struct PaperGpu {
  int architecture;  // 90 for compute capability 9.0
  int processors;
  int64_t shared_limit;  // bytes that a block may use
  /// Blocks that a multiprocessor holds; 0: the kernel does not fit.
  std::function<int(const KernelName& kernel, int threads, int shared)> resident;
};
/// JSON list: every kernel in its best block for `worlds` worlds, and whether a simulator would run
/// it; kernels of the flat executor, whose blocks have fixed sizes, are left out. Throws on a CPU,
/// which has no kernels.
std::string kernels_on_paper(const cuda::LaunchList& list, int64_t worlds, int lanes,
                             const PaperGpu& gpu);

/// Turns clocks around the stages of a step on (from zero) or off, and reads them; a GPU has none.
void watch_stages(bool on);
std::vector<std::pair<std::string, double>> stage_seconds();

}  // namespace ge
