// What the threads of cuda/flat do: one job per kind of stage. A job is run for every row of every
// world at once, by one lane (`run(ground, i)`) or by a squad (`run(ground, i, lane)`), and says
// nothing of the order: between two jobs stands the end of a kernel.
//
//   i        world * rows + row, over all worlds
//   level    of nesting: worlds that a When has left out are marked in the mask of its level
//   scratch  every world has its own, since all of them are in the same stage
//
// Stages that are serial within a world, or rare in worlds of thousands of agents, run as a group
// does (TeamJob): a block per world, with the group executor's own code.
#pragma once

#include "engine/cuda/flat_memory.hpp"
#include "engine/cuda/group.hpp"
#include "engine/graph/episode.hpp"

namespace ge {

inline constexpr int kFlatLevels = 8;
/// Lanes that a world gets in a stage that runs as a group does.
inline constexpr int kFlatTeam = 64;

/// All that a job knows: the kernel's parameter.
template <class S>
struct FlatGround {
  static constexpr int B = kBlock<S>;
  using Tables = AllTables<S>;

  Shared<S> shared;
  FlatMemory memory;
  int64_t count;  // of rows or squads
  int32_t level;
  bool final;

  GE_FN bool on(int world) const {
    return level == 0 || memory.masks[int64_t(level - 1) * shared.worlds + world] != 0;
  }
  GE_FN Cells<S> cells(int world, int lane = 0, int lanes = 1) const {
    return {&shared,
            world,
            shared.base + int64_t(world / B) * block_bytes<Tables, B>(shared.params),
            world % B,
            memory.scratch + world * memory.scratch_bytes,
            1,
            0,
            lane,
            lanes};
  }
};

/// Where element i of `rows` per world lies.
struct FlatPlace {
  int world, row;
};
GE_FN FlatPlace flat_place(int64_t i, int rows) {
  const int64_t world = i / rows;
  return {int(world), int(i - world * rows)};
}

namespace flat {

template <class E>
using SchemaOf = typename E::Schema;
template <class E>
using Ground = FlatGround<SchemaOf<E>>;

// ---- worlds

/// The mask of the next level: worlds of this one that have P.
template <class E, auto P>
struct MaskJob {
  static GE_FN void run(const Ground<E>& ground, int64_t i) {
    const int world = int(i);
    const bool p = ground.on(world) && bool(ask<P>(ground.cells(world)));
    ground.memory.masks[int64_t(ground.level) * ground.shared.worlds + world] = p ? 1 : 0;
  }
};
template <class E, auto F>
struct WorldJob {
  static GE_FN void run(const Ground<E>& ground, int64_t i) {
    if (ground.on(int(i))) call_world<F>(ground.cells(int(i)));
  }
};
template <class E, bool kScratch>
struct ClearJob {
  static GE_FN void run(const Ground<E>& ground, int64_t i) {
    if (ground.on(int(i))) clear_tables<kScratch>(ground.cells(int(i)));
  }
};
template <class E, auto F>
struct StateJob {
  static GE_FN void run(const Ground<E>& ground, int64_t i) {
    using Row = RowOf<F>;
    auto* const to = static_cast<typename RowShape<Row>::Element*>(ground.shared.bound.at[kState]);
    if (ground.on(int(i)))
      put_row(to + i * RowShape<Row>::elements, state_row<F>(ground.cells(int(i))));
  }
};

// ---- rows

template <class E, auto F, class T>
struct RowJob {
  static GE_FN void run(const Ground<E>& ground, int64_t i) {
    const FlatPlace at = flat_place(i, int(room_of<T>(ground.shared.params)));
    if (!ground.on(at.world)) return;
    const auto cells = ground.cells(at.world);
    if (at.row < cells.template rows<T>() && cells.template alive<T>(at.row))
      call_row<F, T>(cells, at.row);
  }
};
template <class E, auto F, class T>
struct TogetherJob {
  static GE_FN void run(const Ground<E>& ground, int64_t i, int lane) {
    const FlatPlace at = flat_place(i, int(room_of<T>(ground.shared.params)));
    if (!ground.on(at.world)) return;
    const auto cells = ground.cells(at.world, lane, Squad::kLanes);
    if (at.row < cells.template rows<T>() && cells.template alive<T>(at.row))
      call_together<F, T>(cells, at.row);
  }
};
template <class E, class From>
struct ActionJob {
  static GE_FN void run(const Ground<E>& ground, int64_t i) {
    const int agents = agents_of(ground.shared);
    const FlatPlace at = flat_place(i, agents);
    if (ground.on(at.world)) take_action<E, From, true>(ground.cells(at.world), at.row, agents);
  }
};
/// Outputs of one number per agent, those that follow one another in one go.
template <class E, class... W>
struct WriteJob {
  static GE_FN void run(const Ground<E>& ground, int64_t i) {
    const FlatPlace at = flat_place(i, agents_of(ground.shared));
    if (!ground.on(at.world)) return;
    const auto cells = ground.cells(at.world);
    (write(W{}, cells, at.row, i), ...);
  }

 private:
  template <int O, auto F, class C>
  static GE_FN void write(Write<O, F>, const C& cells, int row, int64_t i) {
    using V = typename Signature<decltype(F)>::Result;
    V* const to = static_cast<V*>(cells.shared->bound.at[O]);
    if (to != nullptr) to[i] = value_of_row<F, typename SchemaOf<E>::Agent>(cells, row);
  }
};

// ---- observations

template <class E, Output kOutput, auto F>
struct ObserveJob {
  using Agent = typename SchemaOf<E>::Agent;
  static GE_FN void run(const Ground<E>& ground, int64_t i) {
    using Row = RowOf<F>;
    const FlatPlace at = flat_place(i, agents_of(ground.shared));
    if (!ground.on(at.world)) return;
    const Output output = ground.final ? kFinalObservation : kOutput;
    auto* const to = static_cast<typename RowShape<Row>::Element*>(ground.shared.bound.at[output]);
    Row row;
    if (observe_into<F, Agent>(ground.cells(at.world), at.row, ground.final, row))
      put_row(to + i * RowShape<Row>::elements, row);
  }
};
/// Rows of floats, made where they belong by a lane or by a squad.
template <class E, class Row, auto F>
struct FloatRowJob {
  static GE_FN void run(const Ground<E>& ground, int64_t i, int lane = 0, int lanes = 1) {
    const FlatPlace at = flat_place(i, agents_of(ground.shared));
    if (!ground.on(at.world)) return;
    const WideTarget target =
        wide_target<Row>(ground.shared, ground.final ? kFinalObservation : kObservation);
    put_together<F, typename SchemaOf<E>::Agent, Row>(ground.cells(at.world, lane, lanes), at.row,
                                                      target, i, ground.final);
  }
};
template <class E, class Row, auto F>
struct FloatRowTogetherJob {
  static GE_FN void run(const Ground<E>& ground, int64_t i, int lane) {
    FloatRowJob<E, Row, F>::run(ground, i, lane, Squad::kLanes);
  }
};

// ---- sorting: all worlds by (world, key) at once

template <class E, auto Key, class T, class Starts>
struct KeyJob {
  static GE_FN void run(const Ground<E>& ground, int64_t i) {
    const FlatPlace at = flat_place(i, int(rows_of<T>(ground.shared.params)));
    const int keys = int(rows_of<Starts>(ground.shared.params)) - 1;
    // Of worlds that are left out too: every world keeps its part of the sorted rows.
    const int key = key_of_row<Key, T>(ground.cells(at.world), at.row, keys);
    ground.memory.keys[i] = uint32_t(at.world) * uint32_t(keys) + uint32_t(key);
    ground.memory.rows[i] = uint32_t(at.row);
  }
};
/// Hands out a world's part: the row at each place, and where each key begins.
template <class E, class T, class Order, class Starts>
struct PlaceJob {
  static GE_FN int64_t per_world(const typename SchemaOf<E>::Params& params) {
    const int64_t rows = rows_of<T>(params), starts = rows_of<Starts>(params);
    return rows > starts ? rows : starts;
  }
  static GE_FN void run(const Ground<E>& ground, int64_t i) {
    const auto& params = ground.shared.params;
    const FlatPlace at = flat_place(i, int(per_world(params)));
    if (!ground.on(at.world)) return;
    const int rows = int(rows_of<T>(params)), keys = int(rows_of<Starts>(params)) - 1;
    const auto cells = ground.cells(at.world);
    const int64_t first = int64_t(at.world) * rows;
    if (at.row < rows)
      cells.template store<Order, Sorted>(at.row,
                                          Sorted{ground.memory.sorted_rows[first + at.row], 0});
    if (at.row <= keys)
      cells.template store<Starts, First>(
          at.row, First{below(ground.memory.sorted_keys + first, rows,
                              uint32_t(at.world) * uint32_t(keys) + uint32_t(at.row))});
  }

 private:
  /// How many of the sorted keys are below one.
  static GE_FN uint32_t below(const uint32_t* sorted, int rows, uint32_t key) {
    int low = 0, high = rows;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (sorted[middle] < key)
        low = middle + 1;
      else
        high = middle;
    }
    return uint32_t(low);
  }
};

// ---- reductions: a squad per chunk, then the chunks' results, both in the canonical order

template <class E, auto F, class Op, class Service>
struct ChunkJob {
  using Tables = MatchingTables<F, SchemaOf<E>>;
  using Executor = LaneGroup<E, Phase<"flat", Lanes<32>>, 32, Service>;
  static GE_FN void run(const Ground<E>& ground, int64_t i, int lane) {
    const FlatPlace at = flat_place(i, chunks_of(ground.shared.params, Tables{}));
    if (!ground.on(at.world)) return;
    const GroupPlace place{lane, 0, lane, kNoList, nullptr, nullptr};
    Executor group(ground.cells(at.world), place);
    const auto part = reduce_kth_chunk<F, Op>(group, true, at.row, Tables{});
    static_assert(sizeof part <= sizeof(uint64_t),
                  "GE: a reduction's value has eight bytes at most");
    uint64_t word = 0;
    __builtin_memcpy(&word, &part, sizeof part);
    if (lane == 0) ground.memory.parts[i] = word;
  }
};
template <class E, auto F, class Op, auto Into>
struct IntoJob {
  using Tables = MatchingTables<F, SchemaOf<E>>;
  static GE_FN void run(const Ground<E>& ground, int64_t i) {
    if (!ground.on(int(i))) return;
    const int chunks = chunks_of(ground.shared.params, Tables{});
    const auto total = fold_chunks<Op>(chunks, [&](int k) GE_LAMBDA {
      decltype(Op::identity()) part;
      const uint64_t word = ground.memory.parts[i * chunks + k];
      __builtin_memcpy(&part, &word, sizeof part);
      return part;
    });
    call_into<Into>(ground.cells(int(i)), total);
  }
};

// ---- a block per world

template <class E, class X, class Service>
struct TeamJob {
  using PhaseT = Phase<"flat", Lanes<kFlatTeam>, X>;
  using Plan = GroupPlan<E, PhaseT, kFlatTeam>;
  static constexpr int shared_bytes = Plan::counts + Plan::stage;
  static GE_FN void run(const Ground<E>& ground, int world) {
    const int lane = Service::thread();
    GroupPlace place{lane, 0, lane, world, Service::shared(), nullptr};
    place.counts = reinterpret_cast<int32_t*>(place.stage);
    place.stage += Plan::counts;
    LaneGroup<E, PhaseT, kFlatTeam, Service> group(ground.cells(world), place);
    run_stages<false>(group, Types<X>{}, ground.on(world));
  }
};

}  // namespace flat
}  // namespace ge
