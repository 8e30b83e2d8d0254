// Geometry of one shape in its own frame: vertices, faces, edges, extents along a direction.
#pragma once

#include "physics/bodies.hpp"

namespace ge::physics {

/// A shape in place. `turn` is the identity for static boxes.
struct Placed {
  int32_t shape;
  Vec3 half;
  float slope_y, slope_z;  // of a wedge
  Vec3 at;
  Mat3 turn;
};
GE_FN Placed placed(const Kind& kind, Vec3 at, const Mat3& turn) {
  return {kind.shape, vec(kind.half), kind.slope[0], kind.slope[1], at, turn};
}
GE_FN Placed placed(const Kind& kind, const Static& s) {
  return {kind.shape, vec(s.half), 0.0f, 0.0f, vec(s.centre), identity()};
}

}  // namespace ge::physics
