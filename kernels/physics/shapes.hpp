// Geometry of one shape in its own frame: vertices, faces, edges, extents along a direction, and
// its bounds in the world. Boxes and wedges are "hulls"; what is said of faces, edges and vertices
// holds for them alone.
//
//   faces      box: -x +x -y +y -z +z;  wedge: -x +x (triangles), -z, +y, slope
//   vertices   box: bit 0 is x, bit 1 y, bit 2 z;  wedge: bit 0 is x, i >> 1 the corner in (y, z):
//              foot of the slope, foot of the wall, top of the wall
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

struct Interval {
  float low, high;
};
struct Bounds3 {
  Vec3 low, high;
};

GE_FN bool is_hull(const Placed& p) {
  return (p.shape == kBox) | (p.shape == kWedge);
}
GE_FN Vec3 to_world(const Placed& p, Vec3 point) {
  return p.at + p.turn * point;
}

// ---- the wedge's cross-section

struct Corner {
  float y, z;
};
/// 0: foot of the slope, 1: foot of the wall, 2: top of the wall.
GE_FN Corner wedge_corner(Vec3 half, int i) {
  constexpr float kThird = 1.0f / 3.0f;
  return {half.y * select(i == 0, -2.0f * kThird, kThird),
          half.z * select(i == 2, 2.0f * kThird, -kThird)};
}
GE_FN float slope_length(const Placed& p) {
  return p.half.y * p.slope_z - p.half.z * p.slope_y;
}
/// Distance of the slope's plane from the origin.
GE_FN float slope_offset(const Placed& p) {
  const Corner top = wedge_corner(p.half, 2);
  return p.slope_y * top.y + p.slope_z * top.z;
}

// ---- vertices

GE_FN int vertex_count(const Placed& p) {
  return select(p.shape == kWedge, 6, 8);
}
GE_FN Vec3 vertex(const Placed& p, int i) {
  const float x = select((i & 1) != 0, p.half.x, -p.half.x);
  if (p.shape == kWedge) {
    const Corner c = wedge_corner(p.half, i >> 1);
    return {x, c.y, c.z};
  }
  return {x, select((i & 2) != 0, p.half.y, -p.half.y), select((i & 4) != 0, p.half.z, -p.half.z)};
}

// ---- faces

/// The rectangle centre +- u half_u +- v half_v, where u x v is the outward normal. Of a `triangle`
/// the corner (-u, +v) is missing. Corners count (-, -), (+, -), (+, +), (-, +): counter-clockwise.
struct Face {
  Vec3 centre, u, v, normal;
  float half_u, half_v;
  bool triangle;
};

GE_FN int face_count(const Placed& p) {
  return select(p.shape == kWedge, 5, 6);
}

GE_FN Face box_face(Vec3 half, int index) {
  const int axis = index >> 1;
  const float sign = select((index & 1) != 0, 1.0f, -1.0f);
  const int next = select(axis == 2, 0, axis + 1), last = select(axis == 0, 2, axis - 1);
  const Vec3 normal = unit_axis(axis) * sign;
  return {normal * component(half, axis),
          unit_axis(next),
          unit_axis(last) * sign,
          normal,
          component(half, next),
          component(half, last),
          false};
}

GE_FN Face wedge_face(const Placed& p, int index) {
  const Vec3 h = p.half;
  const Vec3 middle = {0.0f, h.y * (-1.0f / 6.0f), h.z * (1.0f / 6.0f)};  // of the slope
  switch (index) {
    case 0:
      return {{-h.x, middle.y, middle.z},
              {0, 0, -1},
              {0, -1, 0},
              {-1, 0, 0},
              0.5f * h.z,
              0.5f * h.y,
              true};
    case 1:
      return {
          {h.x, middle.y, middle.z}, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}, 0.5f * h.y, 0.5f * h.z, true};
    case 2:
      return {{0.0f, middle.y, h.z * (-1.0f / 3.0f)},
              {1, 0, 0},
              {0, -1, 0},
              {0, 0, -1},
              h.x,
              0.5f * h.y,
              false};
    case 3:
      return {{0.0f, h.y * (1.0f / 3.0f), middle.z},
              {0, 0, 1},
              {1, 0, 0},
              {0, 1, 0},
              0.5f * h.z,
              h.x,
              false};
    default:
      return {middle,
              {1, 0, 0},
              {0, p.slope_z, -p.slope_y},
              {0, p.slope_y, p.slope_z},
              h.x,
              0.5f * slope_length(p),
              false};
  }
}

/// In the body's frame.
GE_FN Face face(const Placed& p, int index) {
  return p.shape == kWedge ? wedge_face(p, index) : box_face(p.half, index);
}
GE_FN float face_offset(const Face& f) {
  return dot(f.centre, f.normal);
}
/// Corner i of 4, or of 3 where the face is a triangle.
GE_FN Vec3 face_vertex(const Face& f, int i) {
  const float x = select((i == 1) | (i == 2), f.half_u, -f.half_u);
  const float y = select(i >= 2, f.half_v, -f.half_v);
  return f.centre + f.u * x + f.v * y;
}
GE_FN Face in_world(const Placed& p, const Face& f) {
  return {to_world(p, f.centre),
          p.turn * f.u,
          p.turn * f.v,
          p.turn * f.normal,
          f.half_u,
          f.half_v,
          f.triangle};
}

/// The face whose normal looks most along `direction` (body frame); ties to the lower index.
GE_FN int face_towards(const Placed& p, Vec3 direction) {
  const Vec3 d = direction;
  if (p.shape == kWedge) {
    int best = select(d.x > 0.0f, 1, 0);
    float most = abs(d.x);
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
GE_FN Edge wedge_side_edge(const Placed& p, int direction, float x) {
  const Vec3 h = p.half;
  const float y = h.y * select(direction == 2, 1.0f / 3.0f, -1.0f / 6.0f);
  const float z = h.z * select(direction == 1, -1.0f / 3.0f, 1.0f / 6.0f);
  const float long_half = select(direction == 1, h.y, select(direction == 2, h.z, slope_length(p)));
  return {{x, y, z}, edge_direction(p, direction), 0.5f * long_half};
}

/// Edge i of edge_count, in the body's frame.
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

/// Of the edges along edge_direction(direction), the one farthest along `towards`.
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

// ---- extents

/// What a hull covers along `direction` (body frame, any length), from its origin.
GE_FN Interval hull_extent(const Placed& p, Vec3 direction) {
  const float x = abs(direction.x) * p.half.x;
  if (p.shape == kWedge) {
    const float y = direction.y * p.half.y, z = direction.z * p.half.z;
    constexpr float kThird = 1.0f / 3.0f;
    const float foot = -(2.0f * y + z) * kThird;  // the other two corners are y, then y + z on
    const float low = foot + min(0.0f, min(y, y + z)), high = foot + max(0.0f, max(y, y + z));
    return {low - x, high + x};
  }
  const float r = x + abs(direction.y) * p.half.y + abs(direction.z) * p.half.z;
  return {-r, r};
}

/// What a box, wedge, sphere or capsule covers along a unit vector of the world.
GE_FN Interval extent(const Placed& p, Vec3 direction) {
  const Vec3 d = to_body(p.turn, direction);
  const float centre = dot(p.at, direction);
  if (is_hull(p)) {
    const Interval e = hull_extent(p, d);
    return {centre + e.low, centre + e.high};
  }
  const float r = p.half.x + select(p.shape == kCapsule, abs(d.z) * p.half.z, 0.0f);
  return {centre - r, centre + r};
}

/// The axis-aligned box around a box, wedge, sphere or capsule.
GE_FN Bounds3 bounds(const Placed& p) {
  const Interval x = extent(p, {1, 0, 0}), y = extent(p, {0, 1, 0}), z = extent(p, {0, 0, 1});
  return {{x.low, y.low, z.low}, {x.high, y.high, z.high}};
}

// ---- planes, and the segment of a capsule

/// All x with normal . x <= offset.
struct Plane {
  Vec3 normal;
  float offset;
};
GE_FN Plane plane_of(const Placed& p) {
  const Vec3 normal = choose(p.shape == kFloor, {0, 0, 1}, p.half);
  return {normal, select(p.shape == kFloor, 0.0f, dot(normal, p.at))};
}

/// From middle - axis to middle + axis, and a radius around it; a sphere's has no length.
struct Segment {
  Vec3 middle, axis;
  float radius;
};
GE_FN Segment segment_of(const Placed& p) {
  return {p.at, p.turn.z * select(p.shape == kCapsule, p.half.z, 0.0f), p.half.x};
}

}  // namespace ge::physics
