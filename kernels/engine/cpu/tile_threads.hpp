// How the blocks of a simulator are shared out between threads: tiles, taken one after the other,
// or one tile for a crew. Knows sizes and one function per graph, but no environment, and is
// compiled once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cpu/crew.hpp"
#include "engine/simulator/simulator.hpp"

namespace ge {

/// Where a thread runs the stages of a graph.
/// Scratch and indices belong to the thread, not to the tile: the next one finds what this one
/// left.
struct TileSpace {
  char* scratch;
  int32_t* indices;
  char* kept;
  int first_block, block_count;
  Crew crew;
};
/// Runs a graph over a tile; `shared` is the environment's Shared.
using TileFunction = void (*)(const void* shared, const TileSpace& space);

class TileThreads {
 public:
  struct Sizes {
    int block;              // worlds of one
    int64_t worlds;         // of the simulator
    int64_t block_bytes;    // of records
    int64_t scratch_block;  // bytes of scratch memory, of a block
    int64_t largest_table;  // most rows of a table
    int64_t chunks;         // of the reductions of one world
    int64_t (*index_count)(int blocks);
  };
  TileThreads(const Config& config, const Sizes& sizes);

  int64_t memory_bytes() const;
  /// Bytes that a crew allocates with these settings; 0 where no crew ever runs.
  static int64_t crew_bytes(const Config& config, const Sizes& sizes);
  /// `keeps`: the graph needs room for a copy of the records of its tile.
  void run(TileFunction graph, const void* shared, bool keeps = false);

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  using Memory = std::unique_ptr<char, Free>;
  struct Space {
    Memory scratch;
    std::unique_ptr<int32_t[]> indices;
    Memory kept;      // allocated by the first graph that keeps records
    double busy = 0;  // [s] in this call
  };

  static Memory zeroed(int64_t bytes);
  static int64_t scratch_bytes(const Sizes& sizes, int blocks);
  static int64_t crew_bytes(const Sizes& sizes, int members);
  int tile_blocks(const Config& config) const;
  /// Makes room for the records of `blocks` blocks.
  void keep_room(Memory& memory, int blocks) const;
  void run_tiles(TileFunction graph, const void* shared, bool keeps);
  int crew_size() const;
  bool run_as_crew(TileFunction graph, const void* shared, bool keeps, int size);
  void note(double busy);

  const Sizes sizes_;
  const int all_;  // blocks
  // Threads of a crew from the config, 0: choose. The members below are computed once.
  int crew_;
  int threads_;
  int blocks_;         // of a tile
  double work_ = 1.0;  // [s] of one thread, estimated
  // Empty until a crew runs for the first time: most simulators never have one.
  std::vector<int32_t> crew_indices_, crew_counts_;
  std::vector<char> crew_parts_;
  Memory crew_scratch_;  // allocated last: if it exists, so do the others
  Memory crew_kept_;     // but this
  std::vector<Space> spaces_;
};

}  // namespace ge
