// The `cuda/flat` executor: a graph as kernels over all rows of all worlds, one per stage, for
// worlds that are larger than a group of lanes. The same graphs, systems and tables as the group
// executor, and the same bits.
//
//   Each           a thread per row               EachTogether   a warp per row
//   EachWorld      a thread per world             Reduce         a warp per 1,024 rows, a world
//   SortRows       keys, a radix sort of all worlds' rows, places
//   Observe        a thread or a warp per row     Write          a thread per row, neighbours fused
//   When           a mask of worlds               others         a block per world, as a group
//
// The host walks the graph and enqueues a job per stage; it reads nothing back, so a step can be
// captured. What it enqueues with is a parameter: a GPU's stream (flat_device.hpp), or loops of a
// test (checking/flat_entry.hpp).
//
//   Machine: Service; rows<Job>(work), squads<Job>(work), teams<Job>(work); zero(at, bytes);
//            sort(memory, count, bits)
//
// stage(walk, X{}) enqueues the jobs of a stage X; jobs and stages stand side by side in
// flat_rows.hpp, flat_sorting.hpp, flat_reductions.hpp, flat_control.hpp, flat_outputs.hpp and
// flat_teams.hpp.
#pragma once

#include "engine/cuda/flat_control.hpp"
#include "engine/cuda/flat_outputs.hpp"
#include "engine/cuda/flat_reductions.hpp"
#include "engine/cuda/flat_rows.hpp"
#include "engine/cuda/flat_sizes.hpp"
#include "engine/cuda/flat_sorting.hpp"
#include "engine/cuda/flat_teams.hpp"
#include "engine/cuda/flat_walk.hpp"

namespace ge {

template <class E, class M>
void run_stages(FlatWalk<E, M>&, Types<>) {}
template <class E, class M, class X, class... Rest>
void run_stages(FlatWalk<E, M>& walk, Types<X, Rest...>) {
  stage(walk, X{});
  run_stages(walk, Types<Rest...>{});
}
/// Outputs of one number per agent that follow one another are one kernel.
template <class E, class M, Output O, auto F, class R, class... Rest>
void run_stages(FlatWalk<E, M>& walk, Types<Write<O, F, R>, Rest...>) {
  run_writes(walk, Types<Write<O, F, R>>{}, Types<Rest...>{});
}
/// Gathers the writes up to the first stage of another kind.
template <class E, class M, class... W, Output O, auto F, class R, class... Rest>
void run_writes(FlatWalk<E, M>& walk, Types<W...>, Types<Write<O, F, R>, Rest...>) {
  run_writes(walk, Types<W..., Write<O, F, R>>{}, Types<Rest...>{});
}
template <class E, class M, class... W, class... Rest>
void run_writes(FlatWalk<E, M>& walk, Types<W...>, Types<Rest...> rest) {
  enqueue_rows<flat::WriteJob<E, W...>>(walk, agents_of(walk.work.shared));
  run_stages(walk, rest);
}

/// L, the lane counts, is for the group executor; here a phase is not a launch, but each of its
/// stages is.
template <class E, class M, Name kName, class L, class... X>
void run_phase(FlatWalk<E, M>& walk, Phase<kName, L, X...>) {
  if constexpr (has_dynamic<true>(typename FlatWalk<E, M>::Tables{}))
    enqueue_worlds<flat::ClearScratchJob<E>>(walk);
  run_stages(walk, Types<X...>{});
}
template <class E, class M, auto P, class... Inner>
void run_phase(FlatWalk<E, M>& walk, Rare<P, Inner...>) {
  run_within<P>(walk, [&] { (run_phase(walk, Inner{}), ...); });
}
/// Enqueues the phases of a graph.
template <class E, class M, class... P>
void run_flat(FlatWalk<E, M> walk, Types<P...>) {
  (run_phase(walk, P{}), ...);
}

}  // namespace ge
