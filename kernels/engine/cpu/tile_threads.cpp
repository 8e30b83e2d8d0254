// See tile_threads.hpp.
#include "engine/cpu/tile_threads.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

#include "engine/base/types.hpp"

namespace ge {

namespace {

using SteadyClock = std::chrono::steady_clock;
double seconds_since(SteadyClock::time_point begin) {
  return std::chrono::duration<double>(SteadyClock::now() - begin).count();
}

// More threads than processors are allowed, for tests of the barriers, but not without end.
int threads_of(const Config& config) {
  const int available = available_threads();
  return config.threads > 0 ? std::min(config.threads, available * 8) : available;
}
int blocks_of(const TileThreads::Sizes& sizes) {
  return int((sizes.worlds + sizes.block - 1) / sizes.block);
}
/// A crew pays where there are fewer blocks than threads, and each stage has rows enough to
/// outweigh a meeting.
bool crew_may_pay(const TileThreads::Sizes& sizes, int threads) {
  constexpr int kRows = 256;
  return sizes.largest_table >= kRows && blocks_of(sizes) < threads;
}

}  // namespace

TileThreads::TileThreads(const Config& config, const Sizes& sizes)
    : sizes_(sizes),
      all_(blocks_of(sizes)),
      crew_(config.crew),
      threads_(threads_of(config)),
      blocks_(tile_blocks(config)) {
  for (int t = 0; t < threads_; ++t)
    spaces_.push_back(
        {zeroed(scratch_bytes(sizes_, blocks_)),
         std::make_unique_for_overwrite<int32_t[]>(size_t(sizes.index_count(blocks_))), nullptr,
         0});
}

/// A tile's records and scratch fill at most half of a usual second-level cache, together with the
/// arrays it writes.
int TileThreads::tile_blocks(const Config& config) const {
  constexpr int64_t kTileBytes = 128 * 1024;
  int64_t blocks = std::max<int64_t>(1, kTileBytes / (sizes_.block_bytes + sizes_.scratch_block));
  if (config.tile > 0) blocks = (config.tile + sizes_.block - 1) / sizes_.block;
  // Several tiles per thread, so that no thread waits long for the last.
  if (config.tile <= 0 && threads_ > 1) {
    const int64_t share = (all_ + threads_ * 4 - 1) / (threads_ * 4);
    blocks = std::min(blocks, std::max<int64_t>(1, share));
  }
  return int(std::min<int64_t>(blocks, all_));
}

int64_t TileThreads::scratch_bytes(const Sizes& sizes, int blocks) {
  return round_up(sizes.scratch_block * blocks, 64) + 64;
}
int64_t TileThreads::crew_bytes(const Sizes& sizes, int members) {
  const int blocks = blocks_of(sizes);
  return scratch_bytes(sizes, blocks) + 4 * members * (sizes.index_count(blocks) + 1) +
         8 * sizes.chunks;
}
int64_t TileThreads::crew_bytes(const Config& config, const Sizes& sizes) {
  const int threads = threads_of(config);
  const int may = crew_may_pay(sizes, threads) ? threads : 1;
  const int members = config.crew > 0 ? config.crew : may;
  return members > 1 ? crew_bytes(sizes, members) : 0;
}
int64_t TileThreads::memory_bytes() const {
  const int64_t own = scratch_bytes(sizes_, blocks_) + 4 * sizes_.index_count(blocks_);
  int64_t kept = crew_kept_ == nullptr ? 0 : all_ * sizes_.block_bytes;
  for (const Space& space : spaces_)
    kept += space.kept == nullptr ? 0 : blocks_ * sizes_.block_bytes;
  const bool crew = crew_scratch_ != nullptr;
  return int64_t(threads_) * own + (crew ? crew_bytes(sizes_, int(crew_counts_.size())) : 0) + kept;
}

void TileThreads::Free::operator()(char* memory) const {
  std::free(memory);
}
TileThreads::Memory TileThreads::zeroed(int64_t bytes) {
  Memory memory(static_cast<char*>(std::aligned_alloc(64, size_t(bytes))));
  if (memory == nullptr)
    throw Error(Fault::memory, "the system gave no " + std::to_string(bytes) + " bytes of scratch");
  std::memset(memory.get(), 0, size_t(bytes));
  return memory;
}

void TileThreads::keep_room(Memory& memory, int blocks) const {
  if (memory == nullptr) memory = zeroed(blocks * sizes_.block_bytes);
}

void TileThreads::run(TileFunction graph, const void* shared, bool keeps) {
  const int crew = crew_size();
  // If the pool is busy with another simulator, the caller runs the tiles by itself.
  if (crew > 1 && run_as_crew(graph, shared, keeps, crew)) return;
  run_tiles(graph, shared, keeps);
}

void TileThreads::run_tiles(TileFunction graph, const void* shared, bool keeps) {
  const int tiles = (all_ + blocks_ - 1) / blocks_;
  // Below this one thread is done before another has woken.
  constexpr double kWorthwhile = 40e-6;  // [s]
  const bool alone = threads_ == 1 || tiles == 1 || work_ < kWorthwhile;
  for (Space& space : spaces_) {
    space.busy = 0;
    if (keeps) keep_room(space.kept, blocks_);
  }
  parallel_for(tiles, alone ? 1 : threads_, [&](int64_t tile, int worker) {
    const auto begin = SteadyClock::now();
    const int first = int(tile) * blocks_;
    Space& space = spaces_[size_t(worker)];
    graph(shared, {space.scratch.get(), space.indices.get(), space.kept.get(), first,
                   std::min(blocks_, all_ - first), Crew{}});
    space.busy += seconds_since(begin);
  });
  double busy = 0;
  for (const Space& space : spaces_) busy += space.busy;
  note(busy);
}

/// Only chooses how many threads the next step uses; the bits are equal for any number. A lower
/// estimate is adopted at once, since preemption looks like work; a higher one slowly.
void TileThreads::note(double busy) {
  work_ += busy < work_ ? busy - work_ : 0.25 * (busy - work_);
}

int TileThreads::crew_size() const {
  if (crew_ > 0) return crew_;
  constexpr double kWorthwhile = 300e-6;  // [s]
  return work_ > kWorthwhile && crew_may_pay(sizes_, threads_) ? threads_ : 1;
}

/// Members read what others wrote in the stage before, so one tile holds all blocks and one scratch
/// serves all. Returns false where the threads cannot be had.
bool TileThreads::run_as_crew(TileFunction graph, const void* shared, bool keeps, int size) {
  // A set of indices for each member, scratch for all: members write disjoint rows of it.
  const int64_t indices = sizes_.index_count(all_);
  if (crew_scratch_ == nullptr) {
    crew_indices_.resize(size_t(size * indices));
    crew_counts_.resize(size_t(size));
    crew_parts_.resize(size_t(8) * size_t(sizes_.chunks));
    crew_scratch_ = zeroed(scratch_bytes(sizes_, all_));
  }
  if (keeps) keep_room(crew_kept_, all_);
  const auto begin = SteadyClock::now();
  CrewBarrier barrier(size);
  auto member = [&](int64_t part, int) {
    const Crew crew{int(part), size, &barrier, crew_counts_.data(), crew_parts_.data()};
    graph(shared, {crew_scratch_.get(), crew_indices_.data() + part * indices, crew_kept_.get(), 0,
                   all_, crew});
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

}  // namespace ge
