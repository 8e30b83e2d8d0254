// Flat: Reduce. A squad per chunk, then the chunks' results, both in the canonical order
// (graph/reduction.hpp).
#pragma once

#include "engine/cuda/flat_walk.hpp"

namespace ge {

namespace flat {

template <class E, auto F, class Op, class Service>
struct ChunkJob {
  using Tables = MatchingTables<F, SchemaOf<E>>;
  using Executor = LaneGroup<E, Phase<"flat", Lanes<32>>, 32, Service>;
  static GE_FN void run(const Work<E>& work, int64_t i, int lane) {
    const FlatPlace at = work.place(i);
    if (!work.on(at.world)) return;
    // A warp stands for a group of 32 lanes; a chunk needs neither staging nor counts.
    const GroupPlace place{lane, 0, lane, kNoList, nullptr, nullptr};
    Executor group(work.cells(at.world), place);
    const auto part = reduce_kth_chunk<F, Op>(group, true, at.row, Tables{});
    static_assert(sizeof part <= sizeof(uint64_t),
                  "GE: a reduction's value has eight bytes at most");
    // A result of four bytes leaves the rest zero: parts are words of eight.
    uint64_t word = 0;
    __builtin_memcpy(&word, &part, sizeof part);
    if (lane == 0) work.memory.parts[i] = word;
  }
};
template <class E, auto F, class Op, auto Into>
struct IntoJob {
  using Tables = MatchingTables<F, SchemaOf<E>>;
  static GE_FN void run(const Work<E>& work, int64_t i) {
    if (!work.on(int(i))) return;
    const int chunks = chunks_of(work.shared.params, Tables{});
    const auto total = fold_chunks<Op>(chunks, [&](int k) GE_LAMBDA {
      decltype(Op::identity()) part;
      const uint64_t word = work.memory.parts[i * chunks + k];
      __builtin_memcpy(&part, &word, sizeof part);
      return part;
    });
    call_into<Into>(work.cells(int(i)), total);
  }
};

}  // namespace flat

template <class E, class M, auto F, class Op, auto Into>
void stage(FlatWalk<E, M>& walk, Reduce<F, Op, Into>) {
  if constexpr (Served<F, typename FlatWalk<E, M>::Tables>::value) {
    const int chunks = chunks_of(walk.work.shared.params, MatchingTables<F, typename E::Schema>{});
    enqueue_squads<flat::ChunkJob<E, F, Op, typename M::Service>>(walk, chunks);
    enqueue_worlds<flat::IntoJob<E, F, Op, Into>>(walk);
  }
}

}  // namespace ge
