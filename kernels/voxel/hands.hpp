// Hands: pick a crate up, carry it, put it down, build stacks. And the way home after a fall.
#pragma once

#include "voxel/around.hpp"

namespace ge::voxel {

// A carried thing is smaller, and below the spot [m].
inline constexpr float kCarriedScale = 0.78f, kCarriedBelow = 0.3f;
inline constexpr float kAbyss = -20.0f;  // an agent returns home below it [m]

/// A world's cells with their crates and agents, for rules that run one after the other.
template <class M>
struct Yard {
  const WorldOf<M>& w;
  const BodyRows<M>& bodies;
  const HandRows<M>& hands;
  const CrateRows<M>& crates;

  GE_FN int agent_count() const { return team_size<M>(w); }
  GE_FN int crate_count() const { return row_count<typename M::Crates>(w); }
  GE_FN int static_count() const { return row_count<typename M::Statics>(w); }
  GE_FN Static static_at(int row) const { return get<typename M::Statics, Static>(w, row); }

  GE_FN bool is_solid(const Cell& at) const {
    const Vec3 middle = middle_of<M>(at);
    const Reach inside = {middle, middle};
    bool solid = false;
    for (int row = 0; row < static_count(); ++row) {
      const Static box = static_at(row);
      solid |= inside.meets(geometry::vec(box.low), geometry::vec(box.high));
    }
    if constexpr (kHasColumns<M>) solid |= (at.z >= to_int(kGround)) & (at.z < top_at<M>(w, at));
    return solid;
  }
  /// The crate that stands in a cell; kEmpty: none.
  GE_FN int crate_in(const Cell& at) const {
    for (int row = 0; row < crate_count(); ++row) {
      const Crate crate = crates.get(row);
      if ((crate.carrier == kEmpty) & (cell(crate.cell) == at)) return row;
    }
    return kEmpty;
  }
  GE_FN bool is_filled(const Cell& at) const { return is_solid(at) || crate_in(at) != kEmpty; }
  GE_FN bool has_other(const Cell& at, int me) const {
    bool found = false;
    for (int row = 0; row < agent_count(); ++row)
      found |= (row != me) & (cell_of<M>(bodies.get(row)) == at);
    return found;
  }
  /// The cell where something that is dropped in a free cell comes to rest.
  GE_FN Cell lowered(const Cell& from) const {
    const Vec3 middle = middle_of<M>(from);
    int32_t rest = kDeepest;
    for (int row = 0; row < static_count(); ++row) {
      const Static box = static_at(row);
      const bool beneath = (box.low[0] < middle.x) & (box.high[0] > middle.x) &
                           (box.low[1] < middle.y) & (box.high[1] > middle.y) &
                           (box.high[2] < middle.z);
      if (beneath) rest = max(rest, to_int(box.high[2]));
    }
    if constexpr (kHasColumns<M>) {
      const int32_t top = top_at<M>(w, from);
      if (top <= from.z) rest = max(rest, top);
    }
    for (int row = 0; row < crate_count(); ++row) {
      const Crate crate = crates.get(row);
      const bool beneath = (crate.carrier == kEmpty) & (crate.cell[0] == from.x) &
                           (crate.cell[1] == from.y) & (crate.cell[2] < from.z);
      if (beneath) rest = max(rest, crate.cell[2] + 1);
    }
    return {from.x, from.y, min(rest, from.z)};
  }
};

/// What an agent's hands did in a step: rows of crates, or kEmpty.
struct Handled {
  int picked = kEmpty, placed = kEmpty;
};
/// With empty hands: the crate at the spot, or the one above, where none is on top of it.
template <class M>
GE_FN int pick_up(const Yard<M>& yard, int me) {
  const Cell spot = cell_of<M>(spot_of(eyes_of(yard.bodies.get(me))));
  for (int k = 0; k < 2; ++k) {
    const int row = yard.crate_in(above(spot, k));
    if (row == kEmpty || yard.crate_in(above(spot, k + 1)) != kEmpty) continue;
    if (look_of<M>(yard.w, row).fixed != 0) continue;
    Crate crate = yard.crates.get(row);
    crate.carrier = me;
    yard.crates.set(row, crate);
    yard.hands.set(me, {row});
    return row;
  }
  return kEmpty;
}
/// Lets the carried crate go where it is, if there is room and `permits(cell)`: it falls to the
/// first thing that holds it.
template <class M, class F>
GE_FN int put_down(const Yard<M>& yard, int me, const F& permits) {
  const Cell at = cell_of<M>(spot_of(eyes_of(yard.bodies.get(me)), kCarriedBelow));
  if (yard.is_filled(at) || yard.has_other(at, me) || !permits(at)) return kEmpty;
  const int row = yard.hands.get(me).crate;
  Crate crate = yard.crates.get(row);
  put(crate.cell, yard.lowered(at));
  crate.carrier = kEmpty;
  yard.crates.set(row, crate);
  yard.hands.set(me, {kEmpty});
  return row;
}
template <class M, class F>
GE_FN Handled use_hands(const Yard<M>& yard, int me, const F& permits) {
  Handled handled;
  if (get<typename M::Agents, Act>(yard.w, me).interact == 0) return handled;
  if (yard.hands.get(me).crate == kEmpty)
    handled.picked = pick_up(yard, me);
  else
    handled.placed = put_down(yard, me, permits);
  return handled;
}

/// Stands at the bottom of a cell.
template <class M>
GE_FN Body standing_in(const Cell& at, float yaw) {
  constexpr float kHalf = 0.5f * side_of_cells<M>();
  Body body = {};
  geometry::put(body.position, corner_of<M>(at) + Vec3{kHalf, kHalf, kTall});
  body.yaw = yaw;
  return body;
}
/// A model's cells of 1 m.
struct OfMetres {};
/// Drops into a cell where an episode begins, a body's height above its floor, and looks anywhere,
/// by word i of a draw.
GE_FN Body dropping_into(const Cell& at, const Draw& draw, int i) {
  constexpr float kDrop = 1.75f, kTwoPi = 0x1.921fb6p+2f;
  Body body = standing_in<OfMetres>(at, (draw.uniform(i) - 0.5f) * kTwoPi);
  body.position[2] = float(at.z) + kDrop;
  return body;
}
/// How far above its home an agent is put at most [cells]: above any level and its stacks of boxes.
inline constexpr int kHighestHome = 1024;
/// Returns an agent to where it began, or above things that have been put there since.
template <class M>
GE_FN void send_home(const Yard<M>& yard, int me, const Home& home) {
  Cell at = cell(home.cell);
  // A static that was set may have no end, so the way up has one.
  for (int k = 0; k < kHighestHome && yard.is_filled(at); ++k) ++at.z;
  Body body = standing_in<M>(at, 0.0f);
  body.pitch = yard.bodies.get(me).pitch;
  yard.bodies.set(me, body);
}

template <class M>
GE_FN void send_home(const Yard<M>& yard, int me) {
  send_home(yard, me, get<typename M::Agents, Home>(yard.w, me));
}
/// Sends those home who have fallen; returns who, by bits.
template <class M>
GE_FN uint32_t return_fallen(const Yard<M>& yard) {
  uint32_t fallen = 0;
  for (int agent = 0; agent < yard.agent_count(); ++agent) {
    if (!(place_of(yard.bodies.get(agent)).z < kAbyss)) continue;
    send_home(yard, agent);
    fallen |= 1u << agent;
  }
  return fallen;
}

}  // namespace ge::voxel
