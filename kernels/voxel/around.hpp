// The obstacles near a body's path: standing crates, other agents, columns, fences, static boxes.
// Found once per step by the bounds of the path, then visited in this order, by rows.
#pragma once

#include "voxel/body.hpp"
#include "voxel/columns.hpp"
#include "voxel/fences.hpp"
#include "voxel/forms.hpp"
#include "voxel/rounded.hpp"

namespace ge::voxel {

/// Rows of a table, by bits.
template <int kRows>
struct RowSet {
  static constexpr int kWords = kRows > 0 ? (kRows + 31) / 32 : 1;
  uint32_t words[kWords] = {};

  GE_FN void add(int row) { words[row >> 5] |= 1u << (row & 31); }
  /// Calls f(row), which is long, for each row, from the lowest on.
  template <class F>
  GE_FN void visit(const F& f) const {
    GE_NO_UNROLL
    for (int k = 0; k < kWords; ++k)
      for (uint32_t left = words[k]; left != 0; left &= left - 1) f(32 * k + lowest_bit(left));
  }
};

GE_FN Rounded rounded(const Static& box) {
  const Vec3 low = geometry::vec(box.low), high = geometry::vec(box.high);
  const Vec3 half = (high - low) * 0.5f;
  return {low + half, half + Vec3{0.0f, 0.0f, kCore}, kRadius};
}
template <class M>
GE_FN Rounded rounded(const Crate& crate, const FormOf& form) {
  return {middle_of<M>(cell(crate.cell)) - Vec3{0.0f, 0.0f, form.lower},
          {form.across, form.across, form.up + kCore},
          kRadius};
}
/// A column, from the ground on.
GE_FN Rounded rounded(int x, int y, int height) {
  const float half = 0.5f * float(height);
  return {{float(x) + 0.5f, float(y) + 0.5f, kGround + half}, {0.5f, 0.5f, half + kCore}, kRadius};
}
GE_FN Turned rounded(const Fence& fence) {
  return {{fence.at, fence.half + Vec3{0.0f, 0.0f, kCore}, kRadius}, fence.along};
}
GE_FN Rounded rounded(const Body& other) {
  return {geometry::vec(other.position), {0.0f, 0.0f, 2.0f * kCore}, 2.0f * kRadius};
}

/// The bounds of a body's path, the body included.
struct Reach {
  Vec3 low, high;
  GE_FN bool meets(Vec3 box_low, Vec3 box_high) const {
    return (box_low.x < high.x) & (box_low.y < high.y) & (box_low.z < high.z) &
           (box_high.x > low.x) & (box_high.y > low.y) & (box_high.z > low.z);
  }
};

/// Around one agent.
template <class M>
struct Around {
  const WorldOf<M>& w;
  const BodyRows<M>& bodies;
  RowSet<M::Statics::capacity> statics = {};
  RowSet<M::Crates::capacity> crates = {};
  RowSet<M::Agents::capacity> agents = {};
  RowSet<fence_room<M>()> fences = {};
  ColumnRange columns = {};

  GE_FN Around(const WorldOf<M>& world, const BodyRows<M>& all, int me, const Reach& reach)
      : w(world), bodies(all) {
    if constexpr (kHasColumns<M>) columns = columns_between<M>(w, reach.low, reach.high);
    const int static_count = row_count<typename M::Statics>(w);
    for (int row = 0; row < static_count; ++row) {
      const Static box = static_at(row);
      if (reach.meets(geometry::vec(box.low), geometry::vec(box.high))) statics.add(row);
    }
    if constexpr (HasFences<M>) {
      const int fence_count = row_count<typename M::Fences>(w);
      for (int row = 0; row < fence_count; ++row) {
        const Fence fence = M::fence(w, row);
        const Vec3 half = half_bounds(fence);
        if (reach.meets(fence.at - half, fence.at + half)) fences.add(row);
      }
    }
    if constexpr (kExists<typename M::Crates>) {
      const int crate_count = row_count<typename M::Crates>(w);
      for (int row = 0; row < crate_count; ++row) {
        const Crate crate = crate_at(row);
        const Cell at = cell(crate.cell);
        const Vec3 low = corner_of<M>(at), high = corner_of<M>({at.x + 1, at.y + 1, at.z + 1});
        if ((crate.carrier == kEmpty) & reach.meets(low, high)) crates.add(row);
      }
    }
    const int agent_count = team_size<M>(w);
    const Vec3 half = {kRadius, kRadius, kTall};
    for (int row = 0; row < agent_count; ++row) {
      const Vec3 at = geometry::vec(bodies.get(row).position);
      if ((row != me) & reach.meets(at - half, at + half)) agents.add(row);
    }
  }

  /// Calls f(shape) for each shape that the middle of this agent's body must stay out of. Columns,
  /// fences and statics come last: an agent that puts a box into its own cell, or is sent home to
  /// where others stand, may end in these for a while, and never in a wall or a floor.
  template <class F>
  GE_FN void visit(const F& f) const {
    if constexpr (kExists<typename M::Crates>)
      crates.visit([&](int row) { f(rounded<M>(crate_at(row), form_at<M>(w, row))); });
    agents.visit([&](int row) { f(rounded(bodies.get(row))); });
    if constexpr (kHasColumns<M>)
      visit_columns<M>(w, columns, [&](int x, int y, int height) { f(rounded(x, y, height)); });
    if constexpr (HasFences<M>) fences.visit([&](int row) { f(rounded(M::fence(w, row))); });
    statics.visit([&](int row) { f(rounded(static_at(row))); });
  }

 private:
  GE_FN Static static_at(int row) const { return get<typename M::Statics, Static>(w, row); }
  GE_FN Crate crate_at(int row) const { return get<typename M::Crates, Crate>(w, row); }
};

}  // namespace ge::voxel
