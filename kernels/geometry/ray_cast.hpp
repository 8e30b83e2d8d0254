// The ray caster: where rays enter a shape, for lidar, pictures and cameras. Rays are cast by packs
// (F = Floats), or one at a time (F = float). Every lane tests the same shape, so values that
// depend only on the shape are computed once, and branches on it are taken by all rays together.
// Where all rays have one origin (O = float: lidar, an eye), values of the origin are computed once
// as well.
//
// A convex shape is an intersection of half-spaces: a ray enters it at the latest of its entries
// and leaves it at the earliest of its exits. A ray along a side is given the slope kTinySlope
// across it, so that its entry or exit lies very far away and no 0 / 0 arises.
//
// Casting returns the distance; `normal_at` returns the normal of the one shape that was hit first.
//
// Ids and ties are the caller's: cast at shapes in the order of their ids, with the nearest
// distance so far as the limit, and take strictly nearer hits; the lowest id of the nearest wins. A
// height field is not a Placed: it comes as a function of its own, with the same rays and limit.
// measures.hpp lists the places that a new shape touches.
#pragma once

#include "geometry/shapes.hpp"

namespace ge::geometry {

/// `direction` need not be unit: distances are multiples of it.
template <class F, class O = float>
struct Rays {
  Vector<O> origin;
  Vector<F> direction;
};

namespace detail {

inline constexpr float kTinySlope = 1e-12f;

GE_FN bool in_all_lanes(bool condition) {
  return condition;
}
template <class M>
GE_FN bool in_all_lanes(const M& condition) {
  return !any_of(is_not(condition));
}
template <class M>
GE_FN bool in_any_lane(const M& condition) {
  if constexpr (std::is_convertible_v<M, bool>)
    return bool(condition);
  else
    return any_of(condition);
}
template <class F>
GE_FN F safe_slope(F x) {
  return select(x * x < all_lanes<F>(kTinySlope * kTinySlope), all_lanes<F>(kTinySlope), x);
}

/// The interval of a ray inside a convex shape.
template <class F>
struct Span {
  F enter, leave;
};

/// Clips to the slab between -half and half, for rays at `start + slope t`.
template <class F, class O>
GE_FN void cut_slab(Span<F>& span, O start, F slope, float half) {
  const F inverse = 1.0f / safe_slope(slope);
  const F low = inverse * (-half - start), high = inverse * (half - start);
  span.enter = max(span.enter, min(low, high));
  span.leave = min(span.leave, max(low, high));
}
/// Clips to the half-space below zero.
template <class F, class O>
GE_FN void cut_side(Span<F>& span, O start, F slope) {
  const F safe = safe_slope(slope);
  const F t = -start / safe, none = all_lanes<F>(1e30f);
  span.enter = max(span.enter, select(safe < 0.0f, t, -none));
  span.leave = min(span.leave, select(safe < 0.0f, none, t));
}
template <class F>
GE_FN Span<F> everywhere() {
  return {all_lanes<F>(-1e30f), all_lanes<F>(1e30f)};
}
template <class F>
GE_FN F entry(const Span<F>& span, F limit) {
  const F hit = select(span.enter < span.leave, span.enter, limit);
  return min(limit, select(hit > 0.0f, hit, limit));
}

/// `kHorizontal`: direction.z is 0 and there is one origin, so an upright box is a rectangle or is
/// passed over.
template <bool kHorizontal, class F, class O>
GE_FN F hit_box(const Rays<F, O>& rays, const Placed& box, F limit) {
  const Vector<O> from = rays.origin - box.at;
  const bool upright = abs(box.turn.z.z) == 1.0f;
  Span<F> span = everywhere<F>();
  if (upright) {
    if constexpr (kHorizontal) {
      if (abs(from.z) >= box.half.z) return limit;
    } else {
      cut_slab(span, from.z, rays.direction.z, box.half.z);
    }
    const Vec3 x = box.turn.x, y = box.turn.y;
    if (x.x == 1.0f) {
      cut_slab(span, from.x, rays.direction.x, box.half.x);
      cut_slab(span, from.y, rays.direction.y, box.half.y);
    } else {
      const F dx = rays.direction.x * x.x + rays.direction.y * x.y;
      const F dy = rays.direction.x * y.x + rays.direction.y * y.y;
      cut_slab(span, from.x * x.x + from.y * x.y, dx, box.half.x);
      cut_slab(span, from.x * y.x + from.y * y.y, dy, box.half.y);
    }
    return entry(span, limit);
  }
  const Vector<O> start = to_body(box.turn, from);
  const Vector<F> slope = to_body(box.turn, rays.direction);
  cut_slab(span, start.x, slope.x, box.half.x);
  cut_slab(span, start.y, slope.y, box.half.y);
  cut_slab(span, start.z, slope.z, box.half.z);
  return entry(span, limit);
}

template <class F, class O>
GE_FN F hit_wedge(const Rays<F, O>& rays, const Placed& wedge, F limit) {
  const Vector<O> start = to_body(wedge.turn, rays.origin - wedge.at);
  const Vector<F> slope = to_body(wedge.turn, rays.direction);
  const Corner wall = wedge_corner(wedge.half, 1);
  Span<F> span = everywhere<F>();
  cut_slab(span, start.x, slope.x, wedge.half.x);
  cut_side(span, start.y - wall.y, slope.y);
  cut_side(span, wall.z - start.z, -slope.z);
  const O over = wedge.slope_y * start.y + wedge.slope_z * start.z - slope_offset(wedge);
  cut_side(span, over, slope.y * wedge.slope_y + slope.z * wedge.slope_z);
  return entry(span, limit);
}

/// a t t + 2 b t + c = 0: the first root where there are two, else `none`. c > 0 is outside.
template <class F, class O>
GE_FN F first_root(F a, F b, O c, F none) {
  const F discriminant = b * b - a * c;
  const F big = select(a > 0.0f, a, all_lanes<F>(1.0f));
  const F t = (-b - roots(max(discriminant, all_lanes<F>(0.0f)))) / big;
  const F hit =
      select(discriminant > 0.0f, select(a > 0.0f, select(b < 0.0f, t, none), none), none);
  return select(c > 0.0f, hit, none);
}

template <class F, class O>
GE_FN F hit_ball(const Vector<O>& from, const Vector<F>& d, float radius, F limit) {
  return min(limit, first_root(dot(d, d), dot(d, from), dot(from, from) - radius * radius, limit));
}

template <class F, class O>
GE_FN F hit_capsule(const Rays<F, O>& rays, const Placed& capsule, F limit) {
  const float r = capsule.half.x, h = capsule.half.z;
  const Vector<O> start = to_body(capsule.turn, rays.origin - capsule.at);
  const O beyond = start.z - min(all_lanes<O>(h), max(all_lanes<O>(-h), start.z));
  const O across = start.x * start.x + start.y * start.y;
  // From inside of one part, a ray would enter the others.
  const auto inside = across + beyond * beyond <= r * r;
  if (in_all_lanes(inside)) return limit;
  const Vector<F> d = to_body(capsule.turn, rays.direction);
  const F a = d.x * d.x + d.y * d.y;
  F side = first_root(a, d.x * start.x + d.y * start.y, across - r * r, limit);
  const F z = d.z * side + start.z;
  side = select(z * z <= all_lanes<F>(h * h), side, limit);
  const F top = hit_ball(Vector<O>{start.x, start.y, start.z - h}, d, r, limit);
  const F bottom = hit_ball(Vector<O>{start.x, start.y, start.z + h}, d, r, limit);
  return select(inside, limit, min(limit, min(side, min(top, bottom))));
}

template <class F, class O>
GE_FN F hit_plane(const Rays<F, O>& rays, const Plane& plane, F limit) {
  const O height = dot(rays.origin, plane.normal) - plane.offset;
  const auto below = height <= 0.0f;
  if (in_all_lanes(below)) return limit;
  const F slope = dot(rays.direction, plane.normal);
  const auto falls = slope < -kTinySlope;
  const F safe = select(falls, slope, all_lanes<F>(-kTinySlope));
  return select(below, limit, select(falls, min(limit, height / -safe), limit));
}

}  // namespace detail

/// Where each ray first enters the shape, in multiples of its direction: within (0, limit), else
/// the limit. A ray that starts inside ignores the shape. `kHorizontal` promises that direction.z
/// is 0 and saves a third of a box. `kShapes`: those that `p` may have.
template <bool kHorizontal = false, ShapeSet kShapes = kAnyShape, class F, class O>
GE_FN F hit_distance(const Rays<F, O>& rays, const Placed& p, F limit) {
  if constexpr (may_be(kShapes, kBox))
    if (p.shape == kBox) return detail::hit_box<kHorizontal>(rays, p, limit);
  if constexpr (may_be(kShapes, kWedge))
    if (p.shape == kWedge) return detail::hit_wedge(rays, p, limit);
  if constexpr (may_be(kShapes, kSphere))
    if (p.shape == kSphere)
      return detail::hit_ball(rays.origin - p.at, rays.direction, p.half.x, limit);
  if constexpr (may_be(kShapes, kCapsule))
    if (p.shape == kCapsule) return detail::hit_capsule(rays, p, limit);
  if constexpr (may_be(kShapes, kPlane) || may_be(kShapes, kFloor))
    return detail::hit_plane(rays, plane_of(p), limit);
  else
    return limit;
}

/// Reciprocal directions of rays, for boxes along the axes: shared by all boxes.
template <class F>
GE_FN Vector<F> inverses(const Vector<F>& direction) {
  return {1.0f / detail::safe_slope(direction.x), 1.0f / detail::safe_slope(direction.y),
          1.0f / detail::safe_slope(direction.z)};
}
/// Where rays enter and leave a box along the axes, whose faces lie at `low` and `high` as seen
/// from the one origin: boxes with a common face are met there at one distance, to the last bit.
template <class F>
GE_FN detail::Span<F> span_along_axes(const Vector<F>& inverse, Vec3 low, Vec3 high) {
  const F x0 = inverse.x * low.x, x1 = inverse.x * high.x;
  const F y0 = inverse.y * low.y, y1 = inverse.y * high.y;
  const F z0 = inverse.z * low.z, z1 = inverse.z * high.z;
  return {max(max(min(x0, x1), min(y0, y1)), min(z0, z1)),
          min(min(max(x0, x1), max(y0, y1)), max(z0, z1))};
}
/// hit_distance of such a box.
template <class F>
GE_FN F hit_along_axes(const Vector<F>& inverse, Vec3 low, Vec3 high, F limit) {
  return detail::entry(span_along_axes(inverse, low, high), limit);
}
/// The normal of an axis-aligned box at a hit.
template <class F>
GE_FN Vector<F> normal_along_axes(const Vector<F>& inverse, Vec3 low, Vec3 high) {
  const F x = min(inverse.x * low.x, inverse.x * high.x);
  const F y = min(inverse.y * low.y, inverse.y * high.y);
  const F z = min(inverse.z * low.z, inverse.z * high.z);
  const F zero = all_lanes<F>(0.0f), one = all_lanes<F>(1.0f);
  const auto last_x = x >= max(y, z);
  const auto last_y = y >= z;  // where it is not x
  const F to_x = select(inverse.x > 0.0f, -one, one), to_y = select(inverse.y > 0.0f, -one, one),
          to_z = select(inverse.z > 0.0f, -one, one);
  return {select(last_x, to_x, zero), select(last_x, zero, select(last_y, to_y, zero)),
          select(last_x, zero, select(last_y, zero, to_z))};
}

/// The outward normal of a shape at points of its surface.
template <class F>
GE_FN Vector<F> normal_at(const Placed& p, const Vector<F>& point) {
  if (p.shape == kFloor || p.shape == kPlane) return all_lanes<F>(plane_of(p).normal);
  const Vector<F> from = point - p.at;
  if (is_hull(p)) return p.turn * nearest_face(p, to_body(p.turn, from)).normal;
  const float half = select(p.shape == kCapsule, p.half.z, 0.0f);
  const F height = dot(p.turn.z, from);
  const F along = min(all_lanes<F>(half), max(all_lanes<F>(-half), height));
  return (from - p.turn.z * along) * (1.0f / p.half.x);
}

}  // namespace ge::geometry
