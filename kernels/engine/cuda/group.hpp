// The `cuda/group` executor: G lanes own a world and run a phase's stages back to back, with a
// barrier of the group between two stages. G is 1, 2, 4, 8, 16, 32, or a block of 64 to 256
// threads.
//
//   lane   of its group: rows lane, lane + G, ... of a table; lane 0 also what is once per world
//   team   the lanes that meet: a warp (32 / G worlds), or the block where a block owns a world
//   on     whether the group's world takes part; a group that does not is masked and stays in step
//
// Control flow is uniform over a team: loops run to the longest trip of its groups, a branch is
// entered when any group wants it, and threads of worlds beyond the last do not leave early. So
// every collective names all 32 lanes (a mask known only at run time costs a search for its
// members: 7 % more instructions and four kinds of them that nobody wants in a step). The one
// exception needs no collective: with G = 1 a branch without a rendezvous inside is a plain branch.
//
// A predicate or count is evaluated by every lane, from the same data, before the first write of
// its stage: a vote, or a barrier (`settle`) where there is none, lies between. A vote orders no
// memory, but who has voted has read.
//
// stage<kFinal>(group, X{}, on) runs a stage X: one overload per kind, found by the type of the
// group when a kernel is compiled. kFinal: its rows are final observations.
//
//   LaneGroup    cells, lane, votes, barriers; what a stage is written with    group_lanes.hpp
//   GroupPlan    what a phase needs: shared memory, scratch, meetings          group_plan.hpp
//   stages       rows of tables, sorted ones, packs                            group_rows.hpp
//                rows that pass a test                                         group_emission.hpp
//                slots and handles                                             group_pools.hpp
//                sums                                                          group_reductions.hpp
//                stages that hold stages                                       group_control.hpp
//                actions and outputs                                           group_outputs.hpp
//
// What the lanes are is a parameter: those of a GPU (lanes_device.hpp), or fibres of a test
// (checking/lanes_emulated.hpp). Which world is whose, and how often, is launch.hpp's matter.
#pragma once

#include "engine/cuda/group_control.hpp"
#include "engine/cuda/group_emission.hpp"
#include "engine/cuda/group_lanes.hpp"
#include "engine/cuda/group_outputs.hpp"
#include "engine/cuda/group_pools.hpp"
#include "engine/cuda/group_reductions.hpp"
#include "engine/cuda/group_rows.hpp"

namespace ge {

template <class... Rest>
inline constexpr bool begins_with_write = false;
template <class X, class... Rest>
inline constexpr bool begins_with_write<X, Rest...> = is_write_stage<X>;

template <bool kFinal, AnyGroup Group>
GE_FN void run_stages(Group&, Types<>, bool) {}
template <bool kFinal, AnyGroup Group, class X, class... Rest>
GE_FN void run_stages(Group& group, Types<X, Rest...>, bool on) {
  constexpr int G = Group::kLanes;
  Group::Service::template enter<X>();
  stage<kFinal>(group, X{}, on);
  // Stages that contain stages end with the barrier of the last of them, staged rows with one of
  // their team; stages that only write to the caller's arrays may follow one another.
  constexpr bool inside = InnerOf<X>::type::size > 0;
  constexpr bool staged = StageNeeds<typename Group::Environment, G, X>::bytes > 0;
  constexpr bool writes = is_write_stage<X> && begins_with_write<Rest...>;
  if constexpr (G > 1 && !inside && !staged && !writes)
    Group::Service::template sync_after<X, (G > 32)>();
  run_stages<kFinal>(group, Types<Rest...>{}, on);
}

template <AnyGroup Group, Name kName, class L, class... X>
GE_FN void run_phase(Group& group, Phase<kName, L, X...> phase, bool on) {
  if constexpr (has_dynamic<true>(typename Group::Tables{})) {
    Group::Service::template enter<decltype(phase)>();
    clear_tables<true>(group, on, typename Group::Tables{});
    group.settle();
  }
  if constexpr (Group::kLanes == 1 && !Group::Plan::meets) {
    if (on) run_stages<false>(group, Types<X...>{}, true);
  } else {
    run_stages<false>(group, Types<X...>{}, on);
  }
}

/// Appends the group's world to a list if it has P: one atomic per warp.
/// In any order, since worlds are independent: no result shows who came first.
template <auto P, AnyGroup Group>
GE_FN void append_world(const Group& group, bool on, int32_t* count, int32_t* worlds) {
  using Service = typename Group::Service;
  Service::template enter<Rare<P>>();
  const bool wanted = on && group.lane == 0 && bool(ask<P>(group.cells));
  const uint32_t votes = Service::ballot(wanted);
  if (votes == 0) return;
  const int warp_lane = group.place.team_lane & 31, first = lowest_bit(votes);
  int32_t at = warp_lane == first ? Service::add(count, count_bits(votes)) : 0;
  at = Service::shuffle(at, first);
  if (wanted) worlds[at + count_bits(votes & bits_below(warp_lane))] = group.cells.world;
}

}  // namespace ge
