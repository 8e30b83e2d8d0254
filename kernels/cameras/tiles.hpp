// Which solids a tile of a picture may show. A tile is the space between four planes through the
// eye; rays of the tile miss a solid that lies beyond one of them, or behind the eye. The test is
// conservative: it may keep a solid that is not visible, and never culls a visible one.
#pragma once

#include "cameras/eye.hpp"
#include "cameras/solids.hpp"

namespace ge::cameras {

/// A box around a solid, its middle seen from the eye along the eye's axes.
struct Outline {
  float right, up, forward;  // of its middle
  Vec3 a, b, c;              // its half axes
};
GE_FN Vec3 seen_from(const Eye& eye, Vec3 v) {
  return {dot(eye.right, v), dot(eye.up, v), dot(eye.forward, v)};
}
GE_FN Outline outline(const Eye& eye, const Placed& p) {
  const Vec3 reach = reach_of(p), middle = seen_from(eye, p.at - eye.at);
  return {middle.x,
          middle.y,
          middle.z,
          seen_from(eye, p.turn.x * reach.x),
          seen_from(eye, p.turn.y * reach.y),
          seen_from(eye, p.turn.z * reach.z)};
}

/// Whether all of the outline is on one side of the plane across which `slope` is a line of the
/// picture: 1 beyond it (to the right of it, above it), -1 before it, 0 neither. `kUp`: of a row.
// The slack is some hundred times what rounding can do to numbers of this size.
template <bool kUp>
GE_FN int side_of(const Outline& o, float slope) {
  const auto across = [slope](float side, float forward) { return side - slope * forward; };
  const float middle = across(kUp ? o.up : o.right, o.forward);
  const float reach = abs(across(kUp ? o.a.y : o.a.x, o.a.z)) +
                      abs(across(kUp ? o.b.y : o.b.x, o.b.z)) +
                      abs(across(kUp ? o.c.y : o.c.x, o.c.z));
  const float slack =
      2e-5f * (abs(kUp ? o.up : o.right) + (abs(slope) + 1.0f) * abs(o.forward) + reach) + 1e-6f;
  return select(middle > reach + slack, 1, select(middle < -(reach + slack), -1, 0));
}
/// Whether some of the outline is in front of the eye. Solids with NaN or infinite components are
/// culled: the sum below is not finite.
GE_FN bool is_before(const Outline& o) {
  const float farthest = o.forward + abs(o.a.z) + abs(o.b.z) + abs(o.c.z);
  return (farthest >= 0.0f) & (farthest < 1e30f);
}

/// Slopes of the four edges of a part of a picture.
struct Edges {
  float left, right, top, bottom;
};
GE_FN Edges edges_of(const Lens& lens, const Part& part) {
  return {lens.to_right(float(2 * part.column)),
          lens.to_right(float(2 * (part.column + part.columns))), lens.to_top(float(2 * part.row)),
          lens.to_top(float(2 * (part.row + part.rows)))};
}
GE_FN bool may_show(const Outline& o, const Edges& e) {
  return is_before(o) & (side_of<false>(o, e.left) >= 0) & (side_of<false>(o, e.right) <= 0) &
         (side_of<true>(o, e.top) <= 0) & (side_of<true>(o, e.bottom) >= 0);
}

}  // namespace ge::cameras
