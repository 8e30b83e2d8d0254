// Functions of shapes that contacts need beyond geometry/shapes.hpp: bodies and statics in place,
// and in a shape's own frame the edges of boxes and wedges, the support face and edge of a
// direction, and the segment inside a capsule.
#pragma once

#include "physics/bodies.hpp"

namespace ge::physics {

GE_FN Placed placed(const Kind& kind, Vec3 at, const Mat3& turn) {
  return {kind.shape, vec(kind.half), kind.slope[0], kind.slope[1], at, turn};
}
GE_FN Placed placed(const Kind& kind, const Static& s) {
  return {kind.shape, vec(s.half), 0.0f, 0.0f, vec(s.centre), identity()};
}

/// The face whose normal looks most along `direction` (body frame); ties to the lower index.
GE_FN int face_towards(const Placed& p, Vec3 direction) {
  const Vec3 d = direction;
  if (p.shape == kWedge) {
    int best = select(d.x > 0.0f, 1, 0);
    float most = abs(d.x);
    // The products of d with the five normals; -x and +x share one, the sign has chosen.
    const float down = -d.z, slope = p.slope_y * d.y + p.slope_z * d.z;
    best = select(down > most, 2, best), most = max(most, down);
    best = select(d.y > most, 3, best), most = max(most, d.y);
    return select(slope > most, 4, best);
  }
  const Vec3 m = abs(d);
  const bool y = m.y > m.x;
  const bool z = m.z > max(m.x, m.y);
  const int axis = select(z, 2, select(y, 1, 0));
  return 2 * axis + select(component(d, axis) > 0.0f, 1, 0);
}

// ---- edges

struct Edge {
  Vec3 middle, direction;
  float half;
};

/// Directions of edges: 3 of a box, 4 of a wedge (the last one up the slope).
GE_FN int edge_direction_count(const Placed& p) {
  return select(p.shape == kWedge, 4, 3);
}
GE_FN Vec3 edge_direction(const Placed& p, int i) {
  return choose(i == 3, {0.0f, p.slope_z, -p.slope_y}, unit_axis(i));
}
GE_FN int edge_count(const Placed& p) {
  return select(p.shape == kWedge, 9, 12);
}

/// An edge of a wedge that lies across x, on the side x.
/// The origin is the centroid, so the corners in (y, z) are thirds of run and height away (corner
/// table of geometry/shapes.hpp) and the middles of the sides sixths; `half.y` and `half.z` of a
/// wedge are the whole run and height.
GE_FN Edge wedge_side_edge(const Placed& p, int direction, float x) {
  const Vec3 h = p.half;
  const float y = h.y * select(direction == 2, 1.0f / 3.0f, -1.0f / 6.0f);
  const float z = h.z * select(direction == 1, -1.0f / 3.0f, 1.0f / 6.0f);
  const float long_half = select(direction == 1, h.y, select(direction == 2, h.z, slope_length(p)));
  return {{x, y, z}, edge_direction(p, direction), 0.5f * long_half};
}

/// Edge i of edge_count, in the body's frame.
/// Wedge: 0 to 2 along x, one per corner; then two, -x and +x, per direction 1, 2, 3. Box: four per
/// axis, whose two low bits are the signs along the other two axes, in order.
GE_FN Edge edge(const Placed& p, int i) {
  if (p.shape == kWedge) {
    const Corner c = wedge_corner(p.half, i);
    if (i < 3) return {{0.0f, c.y, c.z}, {1, 0, 0}, p.half.x};
    return wedge_side_edge(p, (i - 1) >> 1, select((i & 1) != 0, -p.half.x, p.half.x));
  }
  const int axis = i >> 2;
  const float s = select((i & 1) != 0, 1.0f, -1.0f), t = select((i & 2) != 0, 1.0f, -1.0f);
  const Vec3 signs = {select(axis == 0, 0.0f, s), select(axis == 1, 0.0f, select(axis == 0, s, t)),
                      select(axis == 2, 0.0f, t)};
  return {{p.half.x * signs.x, p.half.y * signs.y, p.half.z * signs.z},
          unit_axis(axis),
          component(p.half, axis)};
}

/// Support edge: the edge along edge_direction(direction) that is farthest along `towards`.
/// Compared by its middle; the caller finds where along it two edges touch.
GE_FN Edge support_edge(const Placed& p, int direction, Vec3 towards) {
  const float x = select(towards.x < 0.0f, -p.half.x, p.half.x);
  if (p.shape == kWedge) {
    if (direction != 0) return wedge_side_edge(p, direction, x);
    float reach[3];
    GE_UNROLL
    for (int i = 0; i < 3; ++i) {
      const Corner c = wedge_corner(p.half, i);
      reach[i] = towards.y * c.y + towards.z * c.z;
    }
    const int best =
        select(reach[2] > max(reach[0], reach[1]), 2, select(reach[1] > reach[0], 1, 0));
    const Corner c = wedge_corner(p.half, best);
    return {{0.0f, c.y, c.z}, {1, 0, 0}, p.half.x};
  }
  return {{select(direction == 0, 0.0f, x),
           select(direction == 1, 0.0f, select(towards.y < 0.0f, -p.half.y, p.half.y)),
           select(direction == 2, 0.0f, select(towards.z < 0.0f, -p.half.z, p.half.z))},
          unit_axis(direction),
          component(p.half, direction)};
}

// ---- the segment of a capsule

/// A segment from middle - axis to middle + axis, and a radius around it. A sphere is a segment of
/// length zero and goes through the same arithmetic, so divisions by the axis's square are guarded
/// (closest_points.hpp).
struct Segment {
  Vec3 middle, axis;
  float radius;
};
GE_FN Segment segment_of(const Placed& p) {
  return {p.at, p.turn.z * select(p.shape == kCapsule, p.half.z, 0.0f), p.half.x};
}

}  // namespace ge::physics
