// The worlds of a tile: where they are, which of them a stage runs on, and the walks over them that
// stages are written with. What happens to a world on the way is the stages' matter.
#pragma once

#include "engine/cpu/crew.hpp"
#include "engine/cpu/tile_threads.hpp"
#include "engine/graph/host_walk.hpp"
#include "engine/graph/tables.hpp"

namespace ge {

/// Worlds of one tile: blocks to run whole, and single worlds. Points into the tile's index space,
/// and lives as long as the entries above it on that stack.
struct Set {
  const int32_t* blocks;
  int block_count;
  const int32_t* loose;
  int loose_count;
  bool empty() const { return block_count + loose_count == 0; }
};

/// The data that a loop needs to find a world. Each loop takes a copy, parameters included: a local
/// whose address does not escape is kept in registers, while a member would be reloaded after every
/// store.
template <class S>
struct WorldFinder {
  static constexpr int B = kBlock<S>;

  Shared<S> shared;
  char* scratch;
  int first;                                                    // block of the tile
  int64_t bytes = block_bytes<AllTables<S>, B>(shared.params);  // of one

  static GE_FN int64_t scratch_block(const held_of<S>& params) {
    return ge::scratch_bytes<AllTables<S>>(params) * B;
  }
  // Scratch is interleaved as records are, B worlds of a block side by side, and begins with the
  // tile's first block.
  GE_FN char* own(int block) const { return own_of(shared, shared.base + block * bytes); }
  GE_FN Cells<S> at(int block, int lane) const { return at(block, lane, own(block)); }
  GE_FN Cells<S> at(int block, int lane, char* own) const {
    char* const records = shared.base + block * bytes;
    return {&shared,
            block * B + lane,
            records,
            lane,
            scratch + (block - first) * scratch_block(shared.params),
            B,
            lane,
            0,
            1,
            nullptr,
            own};
  }
  GE_FN Cells<S> of(int world) const { return at(world / B, world % B); }
};

/// One thread's work on a tile, for as long as a graph runs.
template <class E>
struct Tile {
  using Environment = E;
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  static constexpr int B = kBlock<S>;

  const Shared<S>& shared;
  char* scratch;
  int32_t* free;     // index space that no set is using
  char* kept;        // records of the tile as they were (tile_masks.hpp)
  int first, count;  // blocks
  Crew crew;
  bool into_final = false;  // rows are final observations, of agents that have just ended

  Tile(const Shared<S>& all, const TileSpace& space)
      : shared(all),
        scratch(space.scratch),
        free(space.indices),
        kept(space.kept),
        first(space.first_block),
        count(space.block_count),
        crew(space.crew) {}

  /// How many bytes the records of a block take.
  int64_t block_bytes() const { return ge::block_bytes<Tables, B>(shared.params); }
  /// Bytes of scratch memory of one block, and index count of a tile of `blocks` blocks.
  static int64_t scratch_block(const held_of<S>& params) {
    return WorldFinder<S>::scratch_block(params);
  }
  // Per level: every block whole, every world loose, and the ragged end.
  static int64_t index_count(int blocks) { return (int64_t{blocks} * (B + 1) + B + 1) * kDepth; }
  static constexpr int kDepth = 1 + kMostNested;  // the tile, and When in When in ...

  static constexpr bool walks_on_host = true;  // host_walk.hpp
  const Shared<S>& call() const { return shared; }
  bool& writes_final() { return into_final; }

  WorldFinder<S> finder() const { return {shared, scratch, first}; }

  /// All blocks, and the worlds of a last one that is not full.
  GE_NOINLINE Set whole() {
    int32_t* const blocks = free;
    int32_t* const loose = free + count;
    int full = 0, single = 0;
    for (int b = first; b < first + count; ++b) {
      const int live = shared.worlds - b * B < B ? shared.worlds - b * B : B;
      if (live == B) {
        blocks[full++] = b;
      } else {
        for (int lane = 0; lane < live; ++lane) loose[single++] = b * B + lane;
      }
    }
    free = loose + single;
    return {blocks, full, loose, single};
  }

  /// Calls f(cells) on every world of a set, one by one, by the first member of a crew: for stages
  /// that do not vectorise over worlds.
  template <class F>
  void each_world(const Set& set, F&& f) const {
    if (crew.first()) walk_worlds(set, f);
    crew.meet();
  }
  /// Calls f(cells) by every member of the crew, which divides the rows inside f.
  template <class F>
  void share_world(const Set& set, F&& f) const {
    walk_worlds(set, f);
    crew.meet();
  }
  template <class F>
  void walk_worlds(const Set& set, F&& f) const {
    const WorldFinder<S> here = finder();
    for (int i = 0; i < set.block_count; ++i)
      for (int lane = 0; lane < B; ++lane) f(here.at(set.blocks[i], lane));
    for (int i = 0; i < set.loose_count; ++i) f(here.of(set.loose[i]));
  }

  /// Calls f(cells, row) on `rows` rows of every world of a set, vectorised over the worlds of a
  /// block (over rows where B = 1).
  template <class F>
  GE_FN void each_cell(const Set& set, int rows, F&& f) const {
    const WorldFinder<S> here = finder();
    const Crew::Range mine = crew.share(rows);
    for (int i = 0; i < set.block_count; ++i) {
      if constexpr (B == 1) {
        // Computed again for each row: g++ copies Cells from outside of the loop, and then does not
        // vectorise it.
        const int block = set.blocks[i];
        char* const own = here.own(block);
        GE_INDEPENDENT
        for (int row = mine.begin; row < mine.end; ++row) f(here.at(block, 0, own), row);
      } else {
        const int block = set.blocks[i];
        char* const own = here.own(block);
        for (int row = mine.begin; row < mine.end; ++row) {
          GE_INDEPENDENT
          for (int lane = 0; lane < B; ++lane) f(here.at(block, lane, own), row);
        }
      }
    }
    // Loose worlds have no common stride, so this loop gathers at best.
    for (int row = mine.begin; row < mine.end; ++row) {
      GE_INDEPENDENT
      for (int i = 0; i < set.loose_count; ++i) f(here.of(set.loose[i]), row);
    }
    crew.meet();
  }
};

}  // namespace ge
