// The `cpu` machine: tiles over threads.
#pragma once

#include <chrono>
#include <memory>

#include "engine/cpu/pool.hpp"
#include "engine/cpu/tile.hpp"
#include "engine/host.hpp"

namespace ge {

template <class E>
class TileRunner {
 public:
  using S = typename E::Schema;
  static constexpr int B = kBlock<S>;

  using Params = typename S::Params;

  TileRunner(const Config& config, const Params& params)
      : tile_(config.tile), crew_(config.crew), params_(params) {
    const int available = available_threads();
    threads_ = config.threads > 0
                   ? (config.threads < available * 8 ? config.threads : available * 8)
                   : available;
    // A tile's records and scratch fill at most half of a usual second-level cache, together with
    // the arrays it writes.
    constexpr int64_t kTileBytes = 128 * 1024;
    const int64_t block = block_bytes<AllTables<S>, B>(params) + Tile<E>::scratch_block(params);
    int64_t blocks = kTileBytes / block;
    if (blocks < 1) blocks = 1;
    if (tile_ > 0) blocks = (tile_ + B - 1) / B;
    const int64_t all = (config.worlds + B - 1) / B;
    // Several tiles per thread, so that no thread waits long for the last.
    if (tile_ <= 0 && threads_ > 1) {
      const int64_t share = (all + threads_ * 4 - 1) / (threads_ * 4);
      if (blocks > share) blocks = share < 1 ? 1 : share;
    }
    blocks_ = int(blocks < all ? blocks : all);
    for (int t = 0; t < threads_; ++t) {
      spaces_.push_back(
          {memory_of(scratch_bytes()),
           std::unique_ptr<int32_t[]>(new int32_t[size_t(Tile<E>::index_count(blocks_))]), 0});
    }
  }

  int64_t memory_bytes() const {
    return int64_t(threads_) * (scratch_bytes() + 4 * Tile<E>::index_count(blocks_));
  }

  template <class Graph>
  void run(Graph graph, const Shared<S>& shared) {
    const int all = (shared.worlds + B - 1) / B;
    const int tiles = (all + blocks_ - 1) / blocks_;
    // Below this one thread is done before another has woken.
    constexpr double kWorthwhile = 40e-6;  // [s]
    const bool alone = threads_ == 1 || tiles == 1 || work_ < kWorthwhile;
    const int crew = crew_size(all);
    if (crew > 1 && run_as_crew(graph, shared, all, crew)) return;
    for (Space& space : spaces_) space.busy = 0;
    parallel_for(tiles, alone ? 1 : threads_, [&](int64_t tile, int worker) {
      const auto begin = Clock_::now();
      const int first = int(tile) * blocks_;
      Tile<E> executor(shared, spaces_[worker].scratch.get(), spaces_[worker].indices.get(), first);
      executor.run(graph, first + blocks_ <= all ? blocks_ : all - first);
      spaces_[worker].busy += seconds_since(begin);
    });
    double busy = 0;
    for (const Space& space : spaces_) busy += space.busy;
    note(busy);
  }

 private:
  using Clock_ = std::chrono::steady_clock;
  static double seconds_since(Clock_::time_point begin) {
    return std::chrono::duration<double>(Clock_::now() - begin).count();
  }

  // This only chooses how many threads the next step uses; the bits are the same with any number.
  // Less is believed at once, since being interrupted looks like work; more, slowly.
  void note(double busy) { work_ += busy < work_ ? busy - work_ : 0.25 * (busy - work_); }

  // A crew pays where there are fewer blocks than threads and each stage has rows enough to
  // outweigh a meeting.
  int crew_size(int blocks) const {
    if (crew_ > 0) return crew_;
    constexpr double kWorthwhile = 300e-6;  // [s]
    constexpr int kRows = 256;
    const bool large = largest_table(AllTables<S>{}) >= kRows;
    return large && blocks < threads_ && work_ > kWorthwhile ? threads_ : 1;
  }
  template <class... Ts>
  int64_t largest_table(Types<Ts...>) const {
    int64_t most = 0;
    ((most = room_of<Ts>(params_) > most ? room_of<Ts>(params_) : most), ...);
    return most;
  }
  template <class Graph>
  bool run_as_crew(Graph, const Shared<S>& shared, int blocks, int size) {
    // Members read what others wrote in the stage before, so one tile holds all blocks and one
    // scratch serves all.
    const int64_t indices = Tile<E>::index_count(blocks);
    if (crew_indices_.empty()) {
      crew_indices_.resize(size_t(size * indices));
      crew_counts_.resize(size_t(size));
      crew_parts_.resize(size_t(8) * size_t(chunks_of(params_, AllTables<S>{})));
      crew_scratch_ = memory_of(Tile<E>::scratch_bytes(params_, blocks) + 64);
    }
    const auto begin = Clock_::now();
    CrewBarrier barrier(size);
    auto member = [&](int64_t part, int) {
      const Crew crew{int(part), size, &barrier, crew_counts_.data(), crew_parts_.data()};
      Tile<E> executor(shared, crew_scratch_.get(), crew_indices_.data() + part * indices, 0, crew);
      executor.run(Graph{}, blocks);
    };
    const bool ran = run_crew(
        size,
        [](void* context, int64_t part, int worker) {
          (*static_cast<decltype(member)*>(context))(part, worker);
        },
        &member);
    if (ran) note(seconds_since(begin) * size);
    return ran;
  }

  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<char, Free>;
  struct Space {
    Memory scratch;
    std::unique_ptr<int32_t[]> indices;
    double busy = 0;  // [s] in this call
  };
  static Memory memory_of(int64_t bytes) {
    Memory memory(static_cast<char*>(std::aligned_alloc(64, size_t(bytes))));
    if (memory == nullptr)
      throw Error(Fault::memory,
                  "the system gave no " + std::to_string(bytes) + " bytes of scratch");
    std::memset(memory.get(), 0, size_t(bytes));
    return memory;
  }
  int64_t scratch_bytes() const { return Tile<E>::scratch_bytes(params_, blocks_) + 64; }

  int tile_;
  int crew_;
  const Params params_;
  int threads_;
  int blocks_;
  double work_ = 1.0;  // [s] of one thread, estimated
  std::vector<int32_t> crew_indices_, crew_counts_;
  std::vector<char> crew_parts_;
  Memory crew_scratch_;
  std::vector<Space> spaces_;
};

template <class E>
struct CpuFactory {
  static std::unique_ptr<Simulator> make(Plan<E> plan) {
    return std::make_unique<HostSimulator<E, TileRunner>>(std::move(plan));
  }
};

template <class B>
const Entry& cpu_entry() {
  return EntryOf<CpuFactory, B>::entry();
}

}  // namespace ge
