// The machine that a binary's simulators run on, in questions that need no simulator. Each machine
// defines these once (cpu/machine.cpp, cuda/runtime.cpp); who asks need not know which is linked.
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
/// The device that has an address; -1: none, it is the host's. (GPU)
int device_of(const void* address);

// Streams of a GPU. A CPU has none: there these do nothing.

/// Whether a stream is being captured into a CUDA graph.
bool is_capturing(void* stream);
/// Lets later work of a stream wait for what another one has so far. Throws where a capture has the
/// one and not the other.
void follow(int device, void* stream, void* other);
/// Waits for all work of a stream, for the sake of `call`; throws if it is being captured.
void wait_for(int device, void* stream, const char* call);

// A GPU that need not be there: which kernels it would run, in which shape.

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
  int64_t shared_limit;  // bytes that a block may have
  /// Blocks that a multiprocessor holds; 0: the kernel does not fit.
  std::function<int(const KernelName& kernel, int threads, int shared)> resident;
};
/// JSON list: every kernel in the block that suits it best for so many worlds, and whether it is
/// the one that a simulator would run; those of the flat executor, in blocks of fixed sizes, are
/// not among them. Throws on a CPU, which has none.
std::string kernels_on_paper(const cuda::LaunchList& list, int64_t worlds, int lanes,
                             const PaperGpu& gpu);

/// Turns clocks around the stages of a step on (from zero) or off, and reads them; a GPU has none.
void watch_stages(bool on);
std::vector<std::pair<std::string, double>> stage_seconds();

}  // namespace ge
