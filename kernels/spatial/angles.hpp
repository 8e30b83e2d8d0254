// Fast directions of neighbours: an arc tangent of one division, half as long as
// engine/maths/math.hpp's and nearly as exact (below 1.2 units in the last place of the angle to
// the nearer axis). Plain float32, so the same bits everywhere, and without branches.
#pragma once

#include "spatial/square.hpp"

namespace ge::spatial {

/// atan(q) for 0 <= q <= 1: q + q z A(z) with z = q q, a minimax fit.
GE_FN float atan_of_slope(float q) {
  const float z = q * q;
  const float tail =
      ge::detail::polynomial(z, -0x1.5554dcp-2f, 0x1.9978f4p-3f, -0x1.230adap-3f, 0x1.b4e118p-4f,
                             -0x1.35568ep-4f, 0x1.61fd78p-5f, -0x1.0c2b9ap-6f, 0x1.7ed138p-9f);
  return q + q * (z * tail);
}
/// The angle between the axis x and a point of the first quadrant, in [0, pi/2]; 0 of the origin.
GE_FN float quadrant_angle(float y, float x) {
  const bool steep = y > x;
  const float longer = select(steep, y, x), shorter = select(steep, x, y);
  const float angle = atan_of_slope(shorter / max(longer, 0x1p-100f));
  return select(steep, 0.5f * kPi - angle, angle);
}
/// The direction of (x, y) in [0, 2 pi]; pi of the origin, as jumanji's agents see it.
GE_FN float direction_of(float y, float x) {
  const float right = quadrant_angle(abs(y), abs(x));
  const float upper = select(x <= 0.0f, kPi - right, right);
  return select(y < 0.0f, kTurn - upper, upper);
}

}  // namespace ge::spatial
