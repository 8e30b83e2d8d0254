// Hands: pick a crate up, carry it, put it down, build stacks. And the way home after a fall.
#pragma once

#include "voxel/around.hpp"

namespace ge::voxel {

// Drawn: a cube in the middle of its cell; smaller and below the spot while it is carried [m].
inline constexpr float kCrateDrawn = 0.39f, kCarriedScale = 0.78f, kCarriedBelow = 0.3f;
/// A crate that nothing holds up stops falling here [cells]; an agent returns home below kAbyss.
inline constexpr int32_t kDeepest = -30;
inline constexpr float kAbyss = -20.0f;  // [m]

/// A world's cells with their crates and agents, for rules that run one after the other.
template <class M>
struct Yard {
  const WorldOf<M>& w;
  const BodyRows<M>& bodies;
  const HandRows<M>& hands;
  const CrateRows<M>& crates;

  GE_FN int agent_count() const { return M::agents(w.params()); }
  GE_FN int crate_count() const { return row_count<typename M::Crates>(w); }
  GE_FN int static_count() const { return row_count<typename M::Statics>(w); }
  GE_FN Static static_at(int row) const { return get<typename M::Statics, Static>(w, row); }

  GE_FN bool is_solid(const Cell& at) const {
    const Vec3 middle = middle_of(at);
    const Reach inside = {middle, middle};
    bool solid = false;
    for (int row = 0; row < static_count(); ++row) {
      const Static box = static_at(row);
      solid |= inside.meets(geometry::vec(box.low), geometry::vec(box.high));
    }
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
      found |= (row != me) & (cell_of(bodies.get(row)) == at);
    return found;
  }
  /// The cell where something that is dropped in a free cell comes to rest.
  GE_FN Cell lowered(const Cell& from) const {
    const Vec3 middle = middle_of(from);
    int32_t rest = kDeepest;
    for (int row = 0; row < static_count(); ++row) {
      const Static box = static_at(row);
      const bool beneath = (box.low[0] < middle.x) & (box.high[0] > middle.x) &
                           (box.low[1] < middle.y) & (box.high[1] > middle.y) &
                           (box.high[2] < middle.z);
      if (beneath) rest = max(rest, to_int(box.high[2]));
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

/// With empty hands: the crate at the spot, or the one above, where none is on top of it.
template <class M>
GE_FN void pick_up(const Yard<M>& yard, int me) {
  const Cell spot = cell_of(spot_of(eyes_of(yard.bodies.get(me))));
  for (int k = 0; k < 2; ++k) {
    const int row = yard.crate_in(above(spot, k));
    if (row == kEmpty || yard.crate_in(above(spot, k + 1)) != kEmpty) continue;
    Crate crate = yard.crates.get(row);
    crate.carrier = me;
    yard.crates.set(row, crate);
    yard.hands.set(me, {row});
    return;
  }
}
/// Lets the carried crate go where it is, if there is room and `permits(cell)`: it falls to the
/// first thing that holds it.
template <class M, class F>
GE_FN void put_down(const Yard<M>& yard, int me, const F& permits) {
  const Cell at = cell_of(spot_of(eyes_of(yard.bodies.get(me)), kCarriedBelow));
  if (yard.is_filled(at) || yard.has_other(at, me) || !permits(at)) return;
  Crate crate = yard.crates.get(yard.hands.get(me).crate);
  put(crate.cell, yard.lowered(at));
  crate.carrier = kEmpty;
  yard.crates.set(yard.hands.get(me).crate, crate);
  yard.hands.set(me, {kEmpty});
}
template <class M, class F>
GE_FN void use_hands(const Yard<M>& yard, int me, const F& permits) {
  if (get<typename M::Agents, Act>(yard.w, me).interact == 0) return;
  if (yard.hands.get(me).crate == kEmpty)
    pick_up(yard, me);
  else
    put_down(yard, me, permits);
}

/// Stands at the bottom of a cell.
GE_FN Body standing_in(const Cell& at, float yaw) {
  Body body = {};
  geometry::put(body.position, {float(at.x) + 0.5f, float(at.y) + 0.5f, float(at.z) + kTall});
  body.yaw = yaw;
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
  Body body = standing_in(at, 0.0f);
  body.pitch = yard.bodies.get(me).pitch;
  yard.bodies.set(me, body);
}

}  // namespace ge::voxel
