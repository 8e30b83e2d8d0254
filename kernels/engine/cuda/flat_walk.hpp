// The host's walk through a graph, and what the threads of a job know. A job is run for every row
// of every world at once, by one lane (`run(work, i)`) or by a squad (`run(work, i, lane)`), and
// says nothing of the order: between two jobs stands the end of a kernel.
//
//   i        world * rows + row, over all worlds
//   level    of nesting: worlds that a When has left out are marked in the mask of its level
//   scratch  every world has its own, since all of them are in the same stage
#pragma once

#include "engine/cuda/flat_memory.hpp"
#include "engine/cuda/group.hpp"
#include "engine/graph/host_walk.hpp"
#include "engine/maths/math.hpp"

namespace ge {

inline constexpr int kFlatLevels = kMostNested;  // of masks: outside of all, nobody is left out

/// Where element i of `per_world` per world lies.
struct FlatPlace {
  int world, row;
};
/// Elements of each world, and what finds an element's world by one product: the host divides.
struct FlatShare {
  int64_t per_world = 1;
  uint64_t inverse = ~uint64_t{0};

  FlatShare() = default;
  explicit FlatShare(int64_t elements) : per_world(elements), inverse(~uint64_t{0} / elements) {}
  GE_FN FlatPlace place(int64_t i) const {
    // The product is the quotient or one less, as long as i is below 2^63.
    const auto world = int64_t(detail::multiply(uint64_t(i), inverse).high);
    const int64_t row = i - world * per_world;
    const bool next = row >= per_world;
    return {int(world) + (next ? 1 : 0), int(next ? row - per_world : row)};
  }
};

/// The kernel's parameter: everything a job knows.
template <class S>
struct FlatWork {
  static constexpr int B = kBlock<S>;
  using Tables = AllTables<S>;

  Shared<S> shared;
  FlatMemory memory;
  int64_t count;  // of rows or squads
  FlatShare share;
  int32_t level;
  bool final;

  GE_FN FlatPlace place(int64_t i) const { return share.place(i); }
  GE_FN bool on(int world) const {
    return level == 0 || memory.masks[int64_t(level - 1) * shared.worlds + world] != 0;
  }
  // Records are interleaved by B as elsewhere, scratch is not: each world's is contiguous.
  GE_FN Cells<S> cells(int world, int lane = 0, int lanes = 1) const {
    static_assert(kTuning<S>.roomy_lifetime == 0,
                  "GE: no roomy_lifetime in a build for the flat executor");
    char* const block = shared.base + int64_t(world / B) * block_bytes<Tables, B>(shared.params);
    return {&shared,
            world,
            block,
            world % B,
            memory.scratch + world * memory.scratch_bytes,
            1,
            0,
            lane,
            lanes,
            nullptr,
            own_of(shared, block)};
  }
};

namespace flat {

/// Wraps a host function for templates of both machines, whose lambdas may call no host function.
template <class F>
struct OnHost {
  F f;
  GE_EITHER_MACHINE
  template <class... Given>
  GE_FN void operator()(Given... given) const {
    f(given...);
  }
};

template <class E>
using SchemaOf = typename E::Schema;
template <class E>
using Work = FlatWork<SchemaOf<E>>;

}  // namespace flat

/// Where the host is in the graph, and the machine that it enqueues with.
template <class E, class Machine_>
struct FlatWalk {
  using Environment = E;
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  using Machine = Machine_;
  using Service = typename Machine::Service;

  Machine& machine;
  FlatWork<S> work;

  FlatWalk(Machine& own, const Shared<S>& shared, const FlatMemory& memory)
      : machine(own), work{shared, memory, 0, {}, 0, false} {}

  static constexpr bool walks_on_host = true;  // host_walk.hpp
  const Shared<S>& call() const { return work.shared; }
  bool& writes_final() { return work.final; }

  /// Agents of role R in each world.
  template <class R>
  int64_t agents() const {
    return agents_in<R>(work.shared.params);
  }
  bool bound(Output output) const { return work.shared.bound.at[output] != nullptr; }
};

// ---- enqueueing a job for `rows` rows of each world

/// Sets what jobs of `per_world` elements are told; false where there are none.
template <class E, class M>
bool share_out(FlatWalk<E, M>& walk, int64_t per_world) {
  walk.work.count = per_world * walk.work.shared.worlds;
  if (walk.work.count <= 0) return false;
  walk.work.share = FlatShare(per_world);
  return true;
}
template <class Job, class E, class M>
void enqueue_rows(FlatWalk<E, M>& walk, int64_t per_world) {
  if (share_out(walk, per_world)) walk.machine.template rows<Job>(walk.work);
}
template <class Job, class E, class M>
void enqueue_squads(FlatWalk<E, M>& walk, int64_t per_world) {
  if (share_out(walk, per_world)) walk.machine.template squads<Job>(walk.work);
}
template <class Job, class E, class M>
void enqueue_worlds(FlatWalk<E, M>& walk) {
  enqueue_rows<Job>(walk, 1);
}

}  // namespace ge
