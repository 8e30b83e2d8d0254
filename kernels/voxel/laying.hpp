// Lays out a level by hand: a Laid level becomes a draft.
#pragma once

#include "voxel/draft.hpp"
#include "voxel/hands.hpp"
#include "voxel/layout.hpp"

namespace ge::voxel {

GE_FN void copy_bounds(const LaidPart& laid, auto& box) {
  for (int k = 0; k < 3; ++k) box.low[k] = laid.low[k], box.high[k] = laid.high[k];
}

/// The world's options are of Laid.
template <class M>
GE_FN void lay(const WorldOf<M>& w, Draft<M>& draft) {
  const Laid& o = w.options();
  for (int k = 0; k < o.part_count; ++k) {
    const bool is_wall = o.parts[k].kind != 0;
    Painted part = {};
    copy_bounds(o.parts[k], part);
    part.colour = is_wall ? kGrey : kDarkGrey;
    part.shown = is_wall && o.hidden != 0 ? 0u : 1u;
    draft.add(part);
  }
  for (int k = 0; k < o.mark_count; ++k) {
    Mark mark = {};
    copy_bounds(o.marks[k], mark);
    mark.kind = o.marks[k].kind;
    draft.add(mark);
  }
  for (int k = 0; k < o.box_count; ++k) draft.add_crate(laid_cell(o.boxes[k]));
  for (int k = 0; k < o.diamond_count; ++k)
    draft.add_diamond(laid_cell(o.diamonds[k]), o.diamonds[k].kind != 0 ? kRed : kGreen);
  for (int agent = 0; agent < team_size<M>(w); ++agent) {
    const LaidAgent& laid = o.agents[agent];
    Body body = {};
    geometry::put(body.position, {laid.feet[0], laid.feet[1], laid.feet[2] + kTall});
    body.yaw = laid.yaw;
    body.grounded = 1;
    draft.add_agent(agent, cell_of<M>(body), body);
  }
}
/// The time of an episode of `seconds`, unless a level by hand says something else.
template <class M>
GE_FN Timer timer_of(const WorldOf<M>& w, float seconds) {
  const float chosen = w.options().laid != 0 ? w.options().seconds : 0.0f;
  return timer_of(chosen > 0.0f ? chosen : seconds);
}

}  // namespace ge::voxel
