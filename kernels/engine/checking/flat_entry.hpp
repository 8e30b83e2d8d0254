// The `flat` machine, for tests: the flat executor's own jobs over host memory. Jobs of one lane
// run row by row in a scattered order; squads and blocks are fibres (lanes_emulated.hpp).
#pragma once

#include "engine/checking/lanes_emulated.hpp"
//
#include <algorithm>
#include <numeric>

#include "engine/cuda/flat.hpp"
#include "engine/simulator/host.hpp"

namespace ge {

/// Replaces the device's grid of flat_walk.hpp: loops instead of threads, so that a debugger can
/// step through a job.
class EmulatedGrid {
 public:
  using Service = EmulatedLanes;

  // Not in the order of rows, which a GPU does not promise either.
  template <class Job, class Work>
  void rows(const Work& work) {
    int64_t i = 0;
    const int64_t step = scattered(work.count);
    for (int64_t k = 0; k < work.count; ++k) {
      Job::run(work, i);
      i = (i + step) % work.count;
    }
  }
  template <class Job, class Work>
  void squads(const Work& work) {
    constexpr int kEach = 2;  // of a block, so that neither can rely on the other
    for (int64_t first = 0; first < work.count; first += kEach)
      emulator_.run_block(kEach * Squad::kLanes, 0, 1, 64, [&] {
        const int64_t i = first + Service::thread() / Squad::kLanes;
        if (i < work.count) Job::run(work, i, Service::thread() % Squad::kLanes);
      });
  }
  template <class Job, class Work>
  void teams(const Work& work) {
    for (int world = 0; world < int(work.count); ++world)
      emulator_.run_block(kFlatTeam, world, int(work.count), Job::shared_bytes,
                          [&] { Job::run(work, world); });
  }
  void zero(void* at, int64_t bytes) { std::memset(at, 0, size_t(bytes)); }
  // Stable, as the radix sort of the device is: rows of one key keep their order.
  void sort(const FlatMemory& memory, int64_t count, int) {
    std::vector<int64_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return memory.keys[a] < memory.keys[b]; });
    for (int64_t i = 0; i < count; ++i) {
      memory.sorted_keys[i] = memory.keys[order[size_t(i)]];
      memory.sorted_rows[i] = memory.rows[order[size_t(i)]];
    }
  }

 private:
  /// A stride through `count` indices that visits every index once: any stride coprime to count
  /// does; 5/8 keeps neighbours apart.
  static int64_t scattered(int64_t count) {
    int64_t step = count * 5 / 8 + 1;
    while (std::gcd(step, count) != 1) ++step;
    return step;
  }
  LaneEmulator emulator_;
};

template <class E>
class FlatRunner {
 public:
  using S = typename E::Schema;
  using Sizes = FlatSizes<E, StepGraph<E>, ResetGraph<E>>;

  FlatRunner(const Config& config, const held_of<S>& params) {
    const int64_t worlds = config.worlds, rows = Sizes::sort(params).rows * worlds;
    // In words of 8 bytes, so that every column is aligned; every world has scratch of its own,
    // since a stage runs over all of them before the next begins.
    scratch_.resize(size_t(Sizes::scratch_bytes(params) * worlds / 8));
    masks_.resize(size_t(kFlatLevels * worlds));
    parts_.resize(size_t(Sizes::chunks(params) * worlds));
    sorting_.resize(size_t(4 * rows));
    memory_ = {reinterpret_cast<char*>(scratch_.data()),
               Sizes::scratch_bytes(params),
               masks_.data(),
               parts_.data(),
               sorting_.data(),
               sorting_.data() + rows,
               sorting_.data() + 2 * rows,
               sorting_.data() + 3 * rows};
  }
  int64_t memory_bytes() const { return int64_t(scratch_.size() * 8 + masks_.size()); }

  template <class Graph>
  void run(Graph graph, const Shared<S>& shared) {
    // Poison: a value that its phase has not written must not reach a result.
    std::fill(scratch_.begin(), scratch_.end(), 0xa5a5a5a5a5a5a5a5u);
    run_flat(FlatWalk<E, EmulatedGrid>(grid_, shared, memory_), graph);
  }

 private:
  std::vector<uint64_t> scratch_, parts_;
  std::vector<uint8_t> masks_;
  std::vector<uint32_t> sorting_;
  FlatMemory memory_{};
  EmulatedGrid grid_;
};

template <class E>
struct FlatFactory {
  static std::unique_ptr<Simulator> make(Plan<E> plan) {
    return std::make_unique<HostSimulator<E, FlatRunner>>(std::move(plan));
  }
};

template <class B>
const Entry& flat_entry() {
  return EntryOf<FlatFactory, B>::entry();
}

}  // namespace ge
