// One launch of the group executor: where a thread finds its world, its scratch memory and its
// place among the others, and the loop over worlds where the grid is smaller than the work.
#pragma once

#include "engine/cuda/common.hpp"
#include "engine/cuda/group.hpp"

namespace ge {

/// Copies every column of a world's record from the one place to the other: `visit` of Walk.
template <class S>
struct CopyRecord {
  const Cells<S>&from, &to;
  template <class T>
  GE_FN void header(int64_t) {}
  template <class T, class C>
  GE_FN void column(int64_t) {
    to.template store<T, C>(0, from.template load<T, C>(0));
  }
};
/// Stores the words of a record that have changed.
template <class S>
struct StoreChanges {
  const Cells<S>&before, &now, &to;
  template <class T>
  GE_FN void header(int64_t) {}
  template <class T, class C>
  GE_FN void column(int64_t) {
    using Word = typename WordOf<unit_of<C>>::type;
    const auto old = __builtin_bit_cast(Words<C>, before.template load<T, C>(0));
    const auto own = __builtin_bit_cast(Words<C>, now.template load<T, C>(0));
    Word* const words = reinterpret_cast<Word*>(to.template at<T, C>(0));
    GE_UNROLL
    for (int k = 0; k < Words<C>::count; ++k) {
      if (old.at[k] == own.at[k]) continue;
      GE_WATCH(words + k * Cells<S>::B, sizeof(Word), true);
      words[k * Cells<S>::B] = own.at[k];
    }
  }
};

/// Arguments of a kernel besides Shared.
struct LaunchMemory {
  int32_t* counts;  // lengths of the worklists
  int32_t* lists;   // their worlds: `worlds` entries each
  char* slab;       // scratch memory of the resident teams that is not in shared memory
  Common* common;   // of each block of worlds, where has_common
};

/// Runs a launch's work for one world on a copy of its record. The copies have the form of a block
/// of which only the first place is used, so that all addresses are constants and the copies are
/// registers. `common` is of the block whose worlds are the warp's, lane by lane; else null.
template <class Service, class S, class F>
GE_FN void run_whole(const Cells<S>& cells, bool on, Common* common, int lane, const F& run) {
  using Tables = AllTables<S>;
  constexpr int bytes = kRecordBytes<Tables> * Cells<S>::B;
  alignas(16) char first[bytes], now[bytes];
  Cells<S> before = cells, own = cells;
  before.block = first, before.lane = 0;
  own.block = now, own.lane = 0;
  Common known{};
  if (on) {
    if (common != nullptr) {
      GE_WATCH(common, sizeof known, false);
      known = *common;
    }
    BringRecord<S, false> keep{cells, before, known};
    BringRecord<S, true> rest{cells, before, known};
    CopyRecord<S> begin{before, own};
    Walk<false, Tables>::run(keep);
    Walk<false, Tables>::run(rest);
    Walk<false, Tables>::run(begin);
  }
  run(own);
  if (on) {
    StoreChanges<S> end{before, own, cells};
    Walk<false, Tables>::run(end);
  }
  if (common != nullptr) note_common<Service>(common, known, before, own, on, lane);
}

/// Where the two parts of a thread's scratch memory begin, if registers do not hold it: in shared
/// memory behind what the teams stage, and the roomy part in the slab, of which each resident team
/// has a slice; with kSlab both lie there, the roomy part last.
struct ScratchPlace {
  char *scratch, *roomy;
};
template <class Plan, bool kSlab, class Service, class S>
GE_FN ScratchPlace scratch_of_team(const Shared<S>& shared, const LaunchMemory& memory, int team,
                                   int teams, int group) {
  const int64_t bytes = Plan::scratch_of(shared.params);
  const int64_t slice = Plan::roomy + (kSlab ? bytes : 0);
  char* roomy = nullptr;
  char* scratch = Service::shared() + Plan::counts + teams * Plan::stage + team * bytes;
  if constexpr (kSlab || Plan::has_roomy) {
    roomy = memory.slab + (int64_t(Service::block()) * teams + team) * slice;
    if constexpr (kSlab) scratch = roomy, roomy += bytes;
  }
  // Where a lane has a world, those of the warp are interleaved.
  if constexpr (Plan::stride == 1) {
    scratch += group * Plan::world_scratch_of(shared.params);
    roomy += group * Plan::world_roomy;
  }
  return {scratch, roomy};
}

/// Where a thread finds a world and its scratch memory.
template <class Plan, class S>
GE_FN Cells<S> cells_of(const Shared<S>& shared, int world, const ScratchPlace& place,
                        int team_lane) {
  constexpr int B = kBlock<S>;
  const int64_t offset = int64_t(world / B) * block_bytes<AllTables<S>, B>(shared.params);
  return {&shared,
          world,
          shared.base + offset,
          world % B,
          place.scratch,
          Plan::stride,
          Plan::stride == 1 ? 0 : team_lane,
          0,
          1,
          place.roomy,
          own_of(shared, shared.base + offset)};
}

/// The work of one thread of a launch. kSlab: all scratch lies in the slab. Where any does, and
/// over a worklist, the grid is smaller than the work and its groups stride over it.
template <class E, class L, int G, bool kSlab, int kListCount, class Service>
GE_FN void run_launch(const Shared<typename E::Schema>& shared, const LaunchMemory& memory) {
  using S = typename E::Schema;
  using PhaseT = typename L::phase;
  using Plan = GroupPlan<E, PhaseT, G>;
  constexpr bool listed = L::from != kNoList, strides = kSlab || Plan::has_roomy || listed;
  constexpr int from = listed ? L::from : 0;
  Service::wait_for_previous();

  const int thread = Service::thread(), team = thread / Plan::team,
            teams = Service::threads() / Plan::team;
  const int group = thread / G, groups = teams * Plan::worlds;
  GroupPlace place{thread % G, group % Plan::worlds, thread % Plan::team,
                   kNoList,    Service::shared(),    nullptr};
  place.counts = reinterpret_cast<int32_t*>(place.stage);
  place.stage += Plan::counts + team * Plan::stage;
  alignas(16) char registers[Plan::registers && Plan::world_scratch > 0 ? Plan::world_scratch : 16];
  ScratchPlace scratch{registers, nullptr};
  if constexpr (!Plan::registers)
    scratch = scratch_of_team<Plan, kSlab, Service>(shared, memory, team, teams, place.group);

  const int32_t* const list = memory.lists + int64_t(from) * shared.worlds;
  const int total = listed ? memory.counts[from] : shared.worlds;
  const int64_t step = int64_t(Service::blocks()) * groups;
  for (int64_t first = int64_t(Service::block()) * groups; !strides || first < total;
       first += step) {
    const int64_t index = first + group;
    const bool on = index < total;
    int world = on ? int(index) : shared.worlds - 1;
    if constexpr (listed)
      world = on ? list[index] : 0;
    else
      place.team_first = int(first) + team * Plan::worlds;
    const auto cells = cells_of<Plan>(shared, world, scratch, place.team_lane);
    const auto run = [&](const Cells<S>& own) GE_LAMBDA {
      LaneGroup<E, PhaseT, G, Service> executor(own, place);
      run_phase(executor, PhaseT{}, on);
      if constexpr (L::to != kNoList)
        append_world<L::predicate>(executor, on, memory.counts + L::to,
                                   memory.lists + int64_t(L::to) * shared.worlds);
    };
    // Launches with one lane per world of a block keep its common facts; all other writers of
    // records reset them.
    constexpr bool notes = has_common<S> && Plan::whole_record && !listed;
    if constexpr (has_common<S> && !notes)
      if (on && place.lane == 0) memory.common[world / kInCommon].known = 0;
    if constexpr (Plan::whole_record) {
      Common* const common = notes ? memory.common + place.team_first / kInCommon : nullptr;
      run_whole<Service>(cells, on, common, place.team_lane, run);
    } else {
      run(cells);
    }
    if constexpr (!strides) break;
  }
  if constexpr (L::close) {
    if (Service::block() == 0 && thread < kListCount) memory.counts[thread] = 0;
  }
}

}  // namespace ge
