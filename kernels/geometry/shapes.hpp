// A shape in place, and in its own frame vertices, faces and extents; measures.hpp documents its
// measures. Boxes and wedges are "hulls"; only they have faces and vertices.
//
//   faces      box: -x +x -y +y -z +z;  wedge: -x +x (triangles), -z, +y, slope
//   vertices   box: bit 0 is x, bit 1 y, bit 2 z;  wedge: bit 0 is x, i >> 1 the corner in (y, z):
//              foot of the slope, foot of the wall, top of the wall
#pragma once

#include "geometry/measures.hpp"
#include "geometry/vectors.hpp"

namespace ge::geometry {

/// A shape in place. `turn` is the identity where nothing is turned.
struct Placed {
  int32_t shape;  // Shape
  Vec3 half;
  float slope_y, slope_z;  // of a wedge
  Vec3 at;
  Mat3 turn;
};

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
/// (y, z) of the slope's unit normal.
inline Corner wedge_slope(double run, double height) {
  const double length = ge::sqrt(run * run + height * height);
  return {float(-height / length), float(run / length)};
}
GE_FN float slope_length(const Placed& p) {
  return p.half.y * p.slope_z - p.half.z * p.slope_y;
}
/// Places any shape, from its measures. A kind of bodies (physics/bodies.hpp) caches its slope.
inline Placed placed(int32_t shape, Vec3 half, Vec3 at, const Mat3& turn) {
  const Corner slope = shape == kWedge ? wedge_slope(half.y, half.z) : Corner{0.0f, 0.0f};
  return {shape, half, slope.y, slope.z, at, turn};
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

inline constexpr int kMostFaces = 6;

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

/// For points of a hull's frame, inside or close to it: the face whose plane is farthest outwards,
/// ties to the lower index.
template <class F>
struct Exit {
  Vector<F> normal;
  F distance;  // out of the plane, negative inside
};
template <class F>
GE_FN Exit<F> nearest_face(const Placed& hull, const Vector<F>& p) {
  Exit<F> best = {all_lanes<F>(Vec3{0, 0, 1}), all_lanes<F>(-1e30f)};
  for (int i = 0; i < face_count(hull); ++i) {
    const Face f = face(hull, i);
    const F distance = dot(p - f.centre, f.normal);
    const auto better = distance > best.distance;
    best.distance = select(better, distance, best.distance);
    best.normal = choose(better, all_lanes<F>(f.normal), best.normal);
  }
  return best;
}

// ---- extents

/// The interval that a hull covers along `direction` (body frame, any length), from its origin.
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

/// The interval that a box, wedge, sphere or capsule covers along a unit vector of the world.
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

// ---- planes

/// All x with normal . x <= offset.
struct Plane {
  Vec3 normal;
  float offset;
};
GE_FN Plane plane_of(const Placed& p) {
  const Vec3 normal = choose(p.shape == kFloor, {0, 0, 1}, p.half);
  return {normal, dot(normal, p.at)};
}
/// The plane of face i of a hull, in the world.
GE_FN Plane plane_of(const Placed& p, int i) {
  const Face f = in_world(p, face(p, i));
  return {f.normal, face_offset(f)};
}

}  // namespace ge::geometry
