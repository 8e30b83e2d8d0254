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

  explicit TileRunner(const Config& config) : tile_(config.tile) {
    const int available = available_threads();
    threads_ = config.threads > 0 ? (config.threads < available * 8 ? config.threads : available * 8) : available;
    // A tile's records and scratch fill at most half of a usual second-level cache, together with the arrays it writes.
    constexpr int64_t kTileBytes = 128 * 1024;
    const int64_t block = kBlockBytes<AllTables<S>, B> + Tile<E>::kScratchBlock;
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
      spaces_.push_back({Memory(static_cast<char*>(std::aligned_alloc(64, size_t(scratch_bytes())))),
                         std::unique_ptr<int32_t[]>(new int32_t[size_t(Tile<E>::index_count(blocks_))])});
      if (scratch_bytes() > 0 && spaces_.back().scratch == nullptr) throw std::bad_alloc();
      std::memset(spaces_.back().scratch.get(), 0, size_t(scratch_bytes()));
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
    constexpr double kWorthwhile = 20e-6;  // [s]
    const bool alone = threads_ == 1 || tiles == 1 || work_ < kWorthwhile;
    const auto begin = std::chrono::steady_clock::now();
    parallel_for(tiles, alone ? 1 : threads_, [&](int64_t tile, int worker) {
      const int first = int(tile) * blocks_;
      Tile<E> executor(shared, spaces_[worker].scratch.get(), spaces_[worker].indices.get(), first);
      executor.run(graph, first + blocks_ <= all ? blocks_ : all - first);
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    // Smoothed, since this only chooses how many threads the next step uses; the bits are the same with any number.
    work_ += 0.25 * (took.count() * (alone ? 1 : threads_) - work_);
  }

 private:
  struct Free {
    void operator()(char* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<char, Free>;
  struct Space {
    Memory scratch;
    std::unique_ptr<int32_t[]> indices;
  };
  int64_t scratch_bytes() const { return Tile<E>::scratch_bytes(blocks_) + 64; }

  int tile_;
  int threads_;
  int blocks_;
  double work_ = 1.0;  // [s] of one thread, estimated
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
