// A group as one of its lanes sees it: its world, its place, and how it meets the others. Every
// stage is written with these few functions; none of them knows a stage.
#pragma once

#include "engine/base/platform_numbers.hpp"
#include "engine/cuda/group_plan.hpp"
#include "engine/graph/tables.hpp"

namespace ge {

/// For bits 0 to 31; of 32 the shift would be undefined.
GE_FN uint32_t bits_below(int bit) {
  return (1u << bit) - 1u;
}

template <class E, class PhaseT, int G, class Service_>
struct LaneGroup {
  using Environment = E;
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  using Plan = GroupPlan<E, PhaseT, G>;
  using Service = Service_;
  static constexpr int kLanes = G;

  const Cells<S> cells;
  const GroupPlace place;
  const int lane;
  int turn = 0;  // which set of counts the next rank_of uses

  GE_FN LaneGroup(const Cells<S>& own, const GroupPlace& where)
      : cells(own), place(where), lane(where.lane) {}

  /// The barrier inside a stage.
  // A single lane has nothing to wait for.
  GE_FN void settle() const {
    if constexpr (G > 1) sync_team();
  }
  GE_FN void sync_team() const { ge::sync_team<G, Service>(); }
  /// Whether any group of the team votes yes; a rendezvous. A block has one world, so all its lanes
  /// vote alike.
  GE_FN bool any(bool mine) const {
    if constexpr (G > 32) {
      Service::sync_block();
      return mine;
    } else {
      return Service::any(mine);
    }
  }
  GE_FN bool leads(bool on) const { return on && lane == 0; }
  /// The votes of the lanes of this group, lowest lane first; G <= 32.
  GE_FN uint32_t votes(bool mine) const {
    const uint32_t of_warp = Service::ballot(mine);
    if constexpr (G < 32)
      return (of_warp >> (place.group * G)) & bits_below(G);
    else
      return of_warp;
  }

  struct Rank {
    int before, all;
  };
  /// Exclusive rank of this lane among the lanes with a hit, and the number of hits.
  GE_FN Rank rank_of(bool hit) {
    if constexpr (G <= 32) {
      const uint32_t hits = votes(hit);
      return {count_bits(hits & bits_below(lane)), count_bits(hits)};
    } else {
      // Two sets of counts in turn: a warp may still read one round's while another begins the
      // next.
      const uint32_t hits = Service::ballot(hit);
      int32_t* const counts = place.counts + turn * 8;
      turn ^= 1;
      const int warp = lane >> 5;
      if ((lane & 31) == 0) {
        GE_WATCH(counts + warp, 4, true);
        counts[warp] = count_bits(hits);
      }
      Service::sync_block();
      Rank rank{count_bits(hits & bits_below(lane & 31)), 0};
      GE_UNROLL
      for (int k = 0; k < G / 32; ++k) {
        GE_WATCH(counts + k, 4, false);
        const int n = counts[k];
        rank.before += k < warp ? n : 0;
        rank.all += n;
      }
      return rank;
    }
  }
};

template <class T>
concept AnyGroup = requires {
  typename T::Service;
  T::kLanes;
};

/// Calls f(row) on this lane's rows of a table of `rows` rows. A table of one has its row's number
/// known at compile time.
template <int kCapacity, AnyGroup Group, class F>
GE_FN void my_rows(const Group& group, bool on, int rows, const F& f) {
  if constexpr (kCapacity == 1) {
    if (group.leads(on) && rows > 0) f(0);
  } else {
    constexpr int G = Group::kLanes;
    const int count = on ? rows : 0;
    GE_UNROLL_ROWS
    for (int row = group.lane; row < count; row += G) f(row);
  }
}
/// Calls f(cells, row) by all lanes of a squad on each of its rows; the squads of a group take
/// turns.
template <AnyGroup Group, class F>
GE_FN void squad_rows(const Group& group, bool on, int rows, const F& f) {
  auto cells = group.cells;
  // A copy of the cells, so that a system knows its place in the squad and not in the group.
  cells.squad_lane = group.lane % Squad::kLanes;
  cells.squad_size = Squad::kLanes;
  const int count = on ? rows : 0;
  GE_NO_UNROLL
  for (int row = group.lane / Squad::kLanes; row < count; row += Group::kLanes / Squad::kLanes)
    f(cells, row);
}

/// The cells of world `world`, that of group `of` of this team; not where a lane has its world in
/// registers. What its own lanes wrote is seen behind a barrier of the team.
template <AnyGroup Group>
GE_FN auto cells_of_team(const Group& group, int of, int world) {
  using Plan = typename Group::Plan;
  static_assert(!Plan::registers && !Plan::whole_record);
  auto cells = group.cells;
  constexpr int B = decltype(cells)::B;
  const auto& params = cells.shared->params;
  cells.world = world;
  cells.block = cells.shared->base +
                int64_t(uint32_t(world) / B) * block_bytes<typename Group::Tables, B>(params);
  cells.lane = int(uint32_t(world) % B);
  if constexpr (Plan::stride > 1) {
    cells.scratch_lane = of;
  } else {
    cells.scratch += (of - group.place.group) * Plan::world_scratch_of(params);
    if constexpr (Plan::has_roomy) cells.roomy += (of - group.place.group) * Plan::world_roomy;
  }
  return cells;
}

template <class T, AnyGroup Group>
GE_FN void set_header(const Group& group, int word, uint32_t value) {
  uint32_t* const at = group.cells.template header<T>(word);
  GE_WATCH(at, 4, true);
  *at = value;
}
/// Called by the first lane: sets a List's length to the rows made, clamped to its capacity.
template <class T, AnyGroup Group>
GE_FN void close_list(const Group& group, bool on, int made, int wanted) {
  if (!group.leads(on)) return;
  set_header<T>(group, 0, uint32_t(made < 0 ? 0 : made));
  count_overflow<T>(group.cells, wanted, group.cells.template room<T>());
}

}  // namespace ge
