// What a simulator on a GPU needs that no environment changes: its memory, records in canonical
// order, the choice of a kernel and its shape for each launch, and the launches. The part that is
// compiled per environment is entry.hpp.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/kernels.hpp"
#include "engine/cuda/runtime.hpp"
#include "engine/cuda/shapes.hpp"
#include "engine/simulator/simulator.hpp"
#include "engine/world/record.hpp"

namespace ge::cuda {

/// A launch of a graph before its kernel is chosen.
struct LaunchChoice {
  const char* phase;
  int graph, launch;       // by which its kernels are named
  bool from_list;          // walks a worklist, so its grid is fixed
  bool empty;              // only does the bookkeeping of lists
  std::vector<int> lanes;  // lane counts that the phase lists; not all are compiled
  std::vector<KernelVariant> variants;
};

/// All launches of a simulator before a device is known, by graph.
struct LaunchList {
  std::string id;
  int tier;
  const char* environment;  // the type, as the symbols of its kernels name it
  bool flat;                // it runs none of these, but the flat executor's kernels
  std::vector<LaunchChoice> graphs[2];
};

/// Grid and block of a launch.
struct LaunchShape {
  int64_t blocks;
  int threads, shared;  // shared: bytes of dynamic shared memory
  bool dependent;       // may start before the launch before it has ended
};

/// A launch as it is enqueued in each step.
struct PreparedLaunch {
  std::string phase;
  const void* function;
  int lanes;
  LaunchShape shape;
  int64_t slab_bytes;
  int resident_warps;  // of a multiprocessor, at most
};

/// JSON list of launches: what runs in a step, for tools that measure.
std::string describe(const std::vector<PreparedLaunch>& launches);

/// Number of draws that a simulator has made, in device memory: a captured draw differs at every
/// replay.
struct DrawCount {
  uint32_t number;
  uint32_t finished;  // blocks of the draw that is running
};

/// Records of one simulator in the memory of one device, and everything around them.
class DeviceStore {
 public:
  struct Layout {
    std::vector<Segment> segments;
    RecordShape shape;
    int identity_offset, identity_bytes;
    int64_t common_bytes;  // of Common (common.hpp), of all blocks
    /// Throws where `free` or `total` bytes are too few.
    std::function<void(int64_t free, int64_t total)> check_fits;
  };
  /// The kernels are those of the environment.
  DeviceStore(const std::string& id, int tier, const Config& config, const Layout& layout,
              int lists, const Kernels& kernels);
  DeviceStore(const DeviceStore&) = delete;

  int device() const { return device_; }
  /// Whether launches may begin before the ones before them have ended.
  bool dependent() const { return code_ >= 90 && config_.dependent_launch; }
  RecordPlace records() const {
    return {layout_.shape, records_.as(), records_.as() + layout_.shape.aside_of(config_.worlds)};
  }
  int32_t* list_counts() const { return list_counts_.as<int32_t>(); }
  int32_t* lists() const { return lists_.as<int32_t>(); }
  char* slab() const { return slab_.as(); }
  void* common() const { return common_.as(); }
  void* counters() const { return counters_.as(); }
  int64_t memory_bytes() const;

  /// Chooses a variant and a shape for each launch, loads its kernel, and makes room for the
  /// largest slab.
  std::vector<PreparedLaunch> prepare(const std::vector<LaunchChoice>& choices);
  /// Refuses a lane count that no launch of a step has. A phase without it runs with its own
  /// default.
  void check_lanes(const std::vector<LaunchChoice>& choices,
                   const std::vector<PreparedLaunch>& step) const;
  /// A step must not be the first to use a kernel, since it may be captured.
  void load(const void* kernel) const;
  /// Whether the next launch on a stream may overlap the work before it, which must be a kernel.
  /// Eagerly the attribute only concerns "the previous kernel" and is safe behind anything else; in
  /// a capture it becomes an edge between two nodes, which only kernels can have.
  bool follows_kernel(cudaStream_t stream) const;
  /// Enqueues a launch. Allocates nothing and waits for nothing. The device is current:
  /// DeviceGuard.
  void launch(const void* kernel, const LaunchShape& shape, void** arguments,
              cudaStream_t stream) const;

  /// Clears the outputs that only a step fills, for calls other than a step.
  void clear_transient(const Bound& out, const OutputShape* outputs, cudaStream_t stream) const;
  /// Seeds in device memory, for a reset on this stream; null for a single seed, which is passed
  /// with the launch. Throws for a list in a capture.
  const uint64_t* upload(std::span<const uint64_t> seeds, cudaStream_t stream);
  void read_records(int64_t first, int64_t count, void* to);
  void write_records(int64_t first, int64_t count, const void* from);
  void copy_worlds(std::span<const int64_t> from, std::span<const int64_t> to, bool reseed);
  /// Copies the counters, then zeroes them.
  void take_counters(void* to, int64_t bytes);
  /// Draws actions, and counts the draw where a replay counts it too.
  void sample_actions(const Sampling& sampling, int32_t* to, cudaStream_t stream);

 private:
  /// This simulator's work on the legacy stream waits for work enqueued there; callers that enqueue
  /// on other streams have waited (simulator/machine.hpp). Throws where a capture is in the way.
  void settle(const char* call) const;
  /// Resets the common facts after records were written other than by launches of the environment.
  void forget_common() const;
  template <bool kRead>
  void move_records(int64_t first, int64_t count, char* host);
  void examine();
  PreparedLaunch choose(const LaunchChoice& choice) const;

  std::string id_;
  int tier_;
  Config config_;
  Layout layout_;
  Kernels kernels_;
  // architecture_ is the device's, code_ the one that the kernels were compiled for; 90 for 9.0.
  int device_, architecture_ = 0, code_ = 0, processors_ = 0, shared_limit_ = 0;
  // units_: the word size of each byte of a record, for the kernels that move records (records.cu).
  DeviceMemory records_, list_counts_, lists_, slab_, counters_, units_, seeds_, draws_, common_;
};

/// The engine's own kernels: a step must not be the first to use one, since it may be captured.
std::array<const void*, 4> own_kernels();

/// Memory for callers without an array library. `release` is called by destructors and ignores
/// errors.
void* allocate(int device, int64_t bytes);
void release(void* memory) noexcept;
void copy(int device, void* to, const void* from, int64_t bytes);

}  // namespace ge::cuda
