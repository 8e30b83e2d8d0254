// The machine of flat.hpp on a GPU: a stream to which jobs are launched, and the memory of a flat
// simulator. The radix sort is CUB's (flat_sort.cu); everything else is ours.
#pragma once

#include "engine/cuda/device.hpp"
#include "engine/cuda/flat.hpp"
#include "engine/cuda/lanes_device.hpp"

namespace ge {

namespace cuda {

/// Bytes of temporary memory for a sort of `count` keys.
int64_t sort_bytes(int64_t count);
/// Stable sort of memory.keys and memory.rows by key into the sorted ones; only the low `bits` of
/// the keys are compared.
void sort_pairs(const FlatMemory& memory, int64_t count, int bits, void* space, int64_t space_bytes,
                cudaStream_t stream);

inline constexpr int kFlatThreads = 256;

}  // namespace cuda

template <class Job, class Work>
__global__ void __launch_bounds__(cuda::kFlatThreads)
    flat_rows_kernel(const __grid_constant__ Work work) {
  DeviceLanes::wait_for_previous();
  const int64_t i = int64_t(DeviceLanes::block()) * DeviceLanes::threads() + DeviceLanes::thread();
  if (i < work.count) Job::run(work, i);
}
template <class Job, class Work>
__global__ void __launch_bounds__(cuda::kFlatThreads)
    flat_squads_kernel(const __grid_constant__ Work work) {
  DeviceLanes::wait_for_previous();
  // Blocks are of whole squads, and all numbers are below 2^31.
  const auto thread = unsigned(DeviceLanes::thread());
  const int64_t i = int64_t(DeviceLanes::block()) * (DeviceLanes::threads() / Squad::kLanes) +
                    thread / Squad::kLanes;
  if (i < work.count) Job::run(work, i, int(thread % Squad::kLanes));
}
template <class Job, class Work>
__global__ void __launch_bounds__(kFlatTeam) flat_teams_kernel(const __grid_constant__ Work work) {
  DeviceLanes::wait_for_previous();
  Job::run(work, DeviceLanes::block());
}

class DeviceGrid {
 public:
  using Service = DeviceLanes;

  DeviceGrid(const cuda::DeviceStore& store, void* sorting, int64_t sorting_bytes)
      : store_(store), sorting_(sorting), sorting_bytes_(sorting_bytes) {}
  // The kernel before the first job is not ours, and does not signal when the next may start.
  void begin(cudaStream_t stream) { stream_ = stream, first_ = true; }
  /// While it is on, kernels are loaded rather than launched: a step must not be the first to ask
  /// for one, since it may be captured.
  void set_loading(bool loading) { loading_ = loading; }

  template <class Job, class Work>
  void rows(const Work& work) {
    launch(&flat_rows_kernel<Job, Work>, blocks_of(work.count), cuda::kFlatThreads, 0, work);
  }
  template <class Job, class Work>
  void squads(const Work& work) {
    launch(&flat_squads_kernel<Job, Work>, blocks_of(work.count * Squad::kLanes),
           cuda::kFlatThreads, 0, work);
  }
  template <class Job, class Work>
  void teams(const Work& work) {
    launch(&flat_teams_kernel<Job, Work>, work.count, kFlatTeam, Job::shared_bytes, work);
  }
  void zero(void* at, int64_t bytes) {
    if (!loading_) cuda::zero(at, bytes, stream_);
    first_ = true;
  }
  void sort(const FlatMemory& memory, int64_t count, int bits) {
    cuda::sort_pairs(memory, count, bits, sorting_, sorting_bytes_, stream_);
    first_ = true;
  }

 private:
  static int64_t blocks_of(int64_t threads) {
    return (threads + cuda::kFlatThreads - 1) / cuda::kFlatThreads;
  }
  /// A kernel may start before its predecessor has ended if that one signals it: ours do.
  template <class Kernel, class Work>
  void launch(Kernel* kernel, int64_t blocks, int threads, int shared, const Work& work) {
    const auto* const function = reinterpret_cast<const void*>(kernel);
    if (loading_) return store_.load(function);
    void* arguments[] = {const_cast<Work*>(&work)};
    store_.launch(function, {blocks, threads, shared, store_.dependent() && !first_}, arguments,
                  stream_);
    first_ = false;
  }

  const cuda::DeviceStore& store_;
  bool first_ = true, loading_ = false;
  void* sorting_;
  int64_t sorting_bytes_;
  cudaStream_t stream_ = nullptr;
};

/// The flat half of a simulator on a GPU.
template <class E>
class DeviceFlat {
 public:
  using S = typename E::Schema;
  using Params = held_of<S>;
  using Sizes = FlatSizes<E, StepGraph<E>, ResetGraph<E>>;

  DeviceFlat(const cuda::DeviceStore& store, const Config& config, const Params& params)
      : rows_(Sizes::sort(params).rows * config.worlds),
        scratch_(Sizes::scratch_bytes(params) * config.worlds),
        masks_(kFlatLevels * config.worlds),
        parts_(8 * Sizes::chunks(params) * config.worlds),
        // Keys and rows, sorted and not: four words of four bytes for each.
        sorting_(16 * rows_),
        space_(rows_ > 0 ? cuda::sort_bytes(rows_) : 0),
        grid_(store, space_.as(), space_.bytes()) {
    // The radix sort takes world and key in one word (KeyJob).
    if (Sizes::sort(params).keys * config.worlds >= int64_t{1} << 32)
      throw Error(Fault::value,
                  "too many worlds to sort at once: worlds times cells must be below "
                  "2^32");
    uint32_t* const sorting = sorting_.template as<uint32_t>();
    memory_ = {scratch_.as(),
               Sizes::scratch_bytes(params),
               masks_.template as<uint8_t>(),
               parts_.template as<uint64_t>(),
               sorting,
               sorting + rows_,
               sorting + 2 * rows_,
               sorting + 3 * rows_};
  }
  /// Loads every kernel of these graphs: with the actions of each type, since a kernel takes one,
  /// and with every output. The sorts that run meanwhile have no meaning.
  template <class... Graphs>
  void load(Shared<S> shared) {
    for (void*& output : shared.bound.at) output = masks_.as();
    shared.bound.final_rows = FinalRows::clear_ended;  // the one way that is a kernel
    shared.step_mask = masks_.template as<uint8_t>();
    if (sorting_.bytes() > 0) cuda::zero(sorting_.as(), sorting_.bytes(), nullptr);
    grid_.set_loading(true);
    for (const Type type : {Type::uint8, Type::int32, Type::int64, Type::float32, Type::float64}) {
      shared.action_type = type;
      (run(Graphs{}, shared, nullptr), ...);
    }
    grid_.set_loading(false);
    cuda::finish(nullptr);
  }
  /// Bytes that each world takes besides its record; a radix sort needs about as much as it sorts.
  static int64_t world_bytes(const Params& params) {
    return Sizes::scratch_bytes(params) + 8 * Sizes::chunks(params) + kFlatLevels +
           24 * Sizes::sort(params).rows;
  }
  int64_t memory_bytes() const {
    return scratch_.bytes() + masks_.bytes() + parts_.bytes() + sorting_.bytes() + space_.bytes();
  }
  template <class Graph>
  void run(Graph graph, const Shared<S>& shared, cudaStream_t stream) {
    grid_.begin(stream);
    run_flat(FlatWalk<E, DeviceGrid>(grid_, shared, memory_), graph);
  }

 private:
  int64_t rows_;
  cuda::DeviceMemory scratch_, masks_, parts_, sorting_, space_;
  FlatMemory memory_{};
  DeviceGrid grid_;
};

}  // namespace ge
