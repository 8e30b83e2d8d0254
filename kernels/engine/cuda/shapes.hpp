// The shape of a launch: its compiled kernel, its lanes per world and threads per block, for a
// number of worlds on a GPU. Nothing here calls the CUDA runtime.
//
//   lanes    the caller's choice, else the tuning table's, else the phase's own number
//            (lanes_kept.hpp), whose kernel comes first
//   threads  the caller's choice, else the tuning table's, else the size with the most resident
//            warps; few worlds in the smallest blocks, which spread over all multiprocessors
//   memory   a kernel with its scratch in shared memory before one with a slab
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/base/types.hpp"

namespace ge::cuda {

/// One kernel that can run a launch.
struct KernelVariant {
  const void* function;
  int lanes;          // per world
  bool slab;          // all scratch memory in the slab, instead of shared memory
  int team;           // lanes that meet
  int worlds;         // of a team
  int counts;         // bytes of shared memory: of a block,
  int stage;          // of a team,
  int64_t scratch;    // and of a team's worlds
  int threads;        // of a block, at most
  int64_t roomy = 0;  // bytes of scratch memory of a team that are in the slab in every case
};

/// Bytes of the slab that a resident team has.
inline int64_t slab_bytes(const KernelVariant& variant) {
  return variant.roomy + (variant.slab ? variant.scratch : 0);
}
/// Dynamic shared memory of a block: once its counts, then for each of its teams the staging area
/// and, unless that lies in the slab, the scratch of the team's worlds.
inline int64_t shared_bytes(const KernelVariant& variant, int threads) {
  return variant.counts +
         threads / variant.team * (variant.stage + (variant.slab ? 0 : variant.scratch));
}

/// A row of the tuning table (tuning_table.hpp): one phase of an environment's tier on one
/// architecture.
struct Tuning {
  const char* environment;
  int tier;
  const char* phase;
  int architecture;     // 90 for compute capability 9.0
  int64_t most_worlds;  // for which it holds; 0: any number of them
  int lanes, threads;
  bool dependent;
};

/// The inputs of a choice. Lanes and threads: 0 where the caller leaves them open.
struct Wanted {
  int64_t worlds;
  bool from_list;  // the number that take part is unknown on the host
  int lanes, threads;
};
struct Multiprocessors {
  int count;
  int64_t shared_limit;  // bytes of shared memory that a block may have
  /// Blocks of a kernel that one of them holds.
  std::function<int(const KernelVariant& variant, int threads, int shared)> resident;
};
struct Shape {
  const KernelVariant* variant;
  int threads, shared, resident;
};

/// Warps of a multiprocessor below which it waits more than it works.
inline constexpr int kFewWarps = 8;
inline constexpr int kUsualThreads = 128;

inline bool has_lanes(const std::vector<KernelVariant>& variants, int lanes) {
  for (const KernelVariant& variant : variants)
    if (variant.lanes == lanes) return true;
  return false;
}
/// Whether this number of lanes per world leaves multiprocessors with few warps.
constexpr bool are_few(const Wanted& wanted, int lanes, int processors) {
  return !wanted.from_list && wanted.worlds * lanes < int64_t{kFewWarps} * 32 * processors;
}
inline int lanes_for(const std::vector<KernelVariant>& variants, const Wanted& wanted) {
  return has_lanes(variants, wanted.lanes) ? wanted.lanes : variants.front().lanes;
}

/// The block size of a kernel with most warps; of equals the usual one, then the larger. None where
/// not even one team fits into shared memory.
inline std::optional<Shape> best_block(const KernelVariant& variant, const Wanted& wanted,
                                       const Multiprocessors& gpu) {
  // A block whose lanes own one world is one team: as many threads as a world has lanes.
  const bool one_team = variant.lanes > 32;
  const auto shape_of = [&](int threads) -> std::optional<Shape> {
    const int64_t shared = shared_bytes(variant, threads);
    if (shared > gpu.shared_limit) return {};
    return Shape{&variant, threads, int(shared), gpu.resident(variant, threads, int(shared))};
  };
  if (one_team) return shape_of(variant.lanes);
  if (wanted.threads > 0) {
    // Fewer teams share a block where it would not fit.
    int threads = wanted.threads < variant.threads ? wanted.threads : variant.threads;
    while (threads > variant.team && shared_bytes(variant, threads) > gpu.shared_limit)
      threads /= 2;
    return shape_of(threads);
  }
  std::optional<Shape> best;
  const auto warps = [](const Shape& shape) { return shape.resident * shape.threads / 32; };
  const bool few = are_few(wanted, variant.lanes, gpu.count);
  for (const int threads : {kUsualThreads, 256, 64, 32}) {
    if (threads > variant.threads || threads < variant.team) continue;
    const auto shape = shape_of(threads);
    if (shape && (!best || warps(*shape) > warps(*best) || (few && shape->resident > 0)))
      best = shape;
  }
  return best;
}

inline std::optional<Shape> best_shape(const std::vector<KernelVariant>& variants,
                                       const Wanted& wanted, const Multiprocessors& gpu) {
  const int lanes = lanes_for(variants, wanted);
  for (const KernelVariant& variant : variants)
    if (variant.lanes == lanes)
      if (const auto shape = best_block(variant, wanted, gpu)) return shape;
  return {};
}

}  // namespace ge::cuda
