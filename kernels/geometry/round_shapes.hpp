// Round shapes with a scale per axis: where rays enter them, and which way they face. Rays are
// taken into the frame in which the shape has unit size; distances are multiples of a ray's
// direction, so they stay what they are. Rays and limits are ray_cast.hpp's.
//
// A root is found from the point of the line that is closest to the middle, not from the
// discriminant of the whole quadratic: far from a small shape that would lose half of its digits.
#pragma once

#include "geometry/ray_cast.hpp"

namespace ge::geometry {

/// Whether a shape is cast at here: spheres and capsules too, though hit_distance (whose bits
/// others rely on) knows them.
GE_FN bool is_scaled(const Placed& p) {
  return (p.shape >= kSphere) & (p.shape <= kCone);
}

namespace detail {

/// Reciprocals of the measures that are scaled to 1.
GE_FN Vec3 inverse_of(const Placed& p) {
  const float x = 1.0f / p.half.x;
  if ((p.shape == kSphere) | (p.shape == kCapsule)) return {x, x, x};
  return {x, 1.0f / p.half.y, 1.0f / p.half.z};
}
GE_FN bool is_unit_pill(const Placed& p) {
  return (p.shape == kPill) | (p.shape == kCapsule);
}
/// Half of the segment of a scaled shape.
GE_FN float unit_segment(const Placed& p, Vec3 inverse) {
  return p.shape == kPill ? 1.0f : p.half.z * inverse.z;
}
GE_FN bool is_unit_ball(const Placed& p) {
  return (p.shape == kSphere) | (p.shape == kEllipsoid);
}
template <class F>
GE_FN Vector<F> scaled(const Vector<F>& v, Vec3 by) {
  return {v.x * by.x, v.y * by.y, v.z * by.z};
}

/// Around the point that is nearest to the middle, of which `room` is 1 less its squared distance.
template <class F>
GE_FN Span<F> within_unit(F square, F nearest, F room) {
  const Span<F> all = everywhere<F>();
  const auto meets = room > 0.0f;
  const F reach = roots(max(room, all_lanes<F>(0.0f)) / square);
  return {select(meets, nearest - reach, all.leave), select(meets, nearest + reach, all.enter)};
}
template <class F, class O>
GE_FN Span<F> within_ball(const Vector<O>& from, const Vector<F>& d) {
  const F square = dot(d, d), nearest = -dot(d, from) / square;
  const Vector<F> q = {d.x * nearest + from.x, d.y * nearest + from.y, d.z * nearest + from.z};
  return within_unit(square, nearest, 1.0f - dot(q, q));
}
template <class F, class O>
GE_FN Span<F> within_tube(const Vector<O>& from, const Vector<F>& d) {
  const F square = max(d.x * d.x + d.y * d.y, all_lanes<F>(kTinySlope));
  const F nearest = -(d.x * from.x + d.y * from.y) / square;
  const F x = d.x * nearest + from.x, y = d.y * nearest + from.y;
  return within_unit(square, nearest, 1.0f - (x * x + y * y));
}
template <class F>
GE_FN Span<F> common(const Span<F>& a, const Span<F>& b) {
  return {max(a.enter, b.enter), min(a.leave, b.leave)};
}

/// Radius 1 at z = -1, the apex at z = 1. Of the double cone the half below the apex.
template <class F, class O>
GE_FN Span<F> within_cone(const Vector<O>& from, const Vector<F>& d) {
  const F nearest = -dot(d, from) / dot(d, d);
  const Vector<F> at = {d.x * nearest + from.x, d.y * nearest + from.y, d.z * nearest + from.z};
  const F width = 0.5f - at.z * 0.5f;  // the radius at that height
  const F widens = d.z * -0.5f;
  const F a = safe_slope(d.x * d.x + d.y * d.y - widens * widens);
  const F b = d.x * at.x + d.y * at.y - widens * width;
  const F c = at.x * at.x + at.y * at.y - width * width;
  const F discriminant = b * b - a * c;
  const F root = roots(max(discriminant, all_lanes<F>(0.0f)));
  const F q = select(b > 0.0f, -b - root, root - b);
  const F first = nearest + q / a, second = nearest + c / safe_slope(q);
  const F low = min(first, second), high = max(first, second);
  const Span<F> all = everywhere<F>();
  const auto flat = a > 0.0f;  // the line leaves the cone again
  const auto down = widens > 0.0f;
  const F none = all_lanes<F>(1e30f);
  const F enter = select(flat, low, select(down, high, all.enter));
  const F leave = select(flat, high, select(down, all.leave, low));
  const F miss = select(flat, select(discriminant < 0.0f, none, -none), -none);
  return {max(enter, miss), leave};
}
template <class F, class O>
GE_FN F hit_unit_pill(const Vector<O>& from, const Vector<F>& d, float half, F limit) {
  const O beyond = from.z - min(all_lanes<O>(half), max(all_lanes<O>(-half), from.z));
  const auto inside = from.x * from.x + from.y * from.y + beyond * beyond <= 1.0f;
  if (in_all_lanes(inside)) return limit;
  const Span<F> tube = within_tube(from, d);
  const F z = d.z * tube.enter + from.z;
  const F side = select(z * z <= all_lanes<F>(half * half), entry(tube, limit), limit);
  const F top = entry(within_ball(Vector<O>{from.x, from.y, from.z - half}, d), limit);
  const F bottom = entry(within_ball(Vector<O>{from.x, from.y, from.z + half}, d), limit);
  return select(inside, limit, min(side, min(top, bottom)));
}

}  // namespace detail

/// Like hit_distance, for scaled shapes.
template <class F, class O>
GE_FN F hit_scaled(const Rays<F, O>& rays, const Placed& p, F limit) {
  const Vec3 inverse = detail::inverse_of(p);
  const Vector<O> from = detail::scaled(to_body(p.turn, rays.origin - p.at), inverse);
  const Vector<F> d = detail::scaled(to_body(p.turn, rays.direction), inverse);
  if (detail::is_unit_pill(p))
    return detail::hit_unit_pill(from, d, detail::unit_segment(p, inverse), limit);
  if (detail::is_unit_ball(p)) return detail::entry(detail::within_ball(from, d), limit);
  detail::Span<F> slab = detail::everywhere<F>();
  detail::cut_slab(slab, from.z, d.z, 1.0f);
  const detail::Span<F> around =
      p.shape == kCylinder ? detail::within_tube(from, d) : detail::within_cone(from, d);
  return detail::entry(detail::common(slab, around), limit);
}

/// The outward normal of a scaled shape, of length 1, at points of its surface.
template <class F>
GE_FN Vector<F> normal_of_scaled(const Placed& p, const Vector<F>& point) {
  const Vec3 inverse = detail::inverse_of(p);
  const Vector<F> at = detail::scaled(to_body(p.turn, point - p.at), inverse);
  const F zero = all_lanes<F>(0.0f), one = all_lanes<F>(1.0f);
  Vector<F> normal = at;
  if (detail::is_unit_pill(p)) {
    const F half = all_lanes<F>(detail::unit_segment(p, inverse));
    normal.z = at.z - min(half, max(-half, at.z));
  } else if (!detail::is_unit_ball(p)) {
    // Choose the surface, side or cap, that the point is farther outside of.
    const F radius = roots(at.x * at.x + at.y * at.y);
    const bool is_cone = p.shape == kCone;
    const F out_of_side = is_cone ? radius - (one - at.z) * 0.5f : radius - one;
    const F out_of_end = (is_cone ? -at.z : max(at.z, -at.z)) - one;
    const auto on_end = out_of_end > out_of_side;
    const F slope = is_cone ? (one - at.z) * 0.25f : zero;
    const F end = select(at.z > 0.0f, one, -one);
    normal = {select(on_end, zero, at.x), select(on_end, zero, at.y), select(on_end, end, slope)};
  }
  const Vector<F> turned = p.turn * detail::scaled(normal, inverse);
  return turned * (1.0f / roots(dot(turned, turned)));
}

/// Half extents, in its own frame, of a box around any bounded shape.
GE_FN Vec3 reach_of(const Placed& p) {
  const float r = p.half.x;
  switch (p.shape) {
    case kSphere:
      return {r, r, r};
    case kCapsule:
      return {r, r, r + p.half.z};
    case kPill:
      return {p.half.x, p.half.y, 2.0f * p.half.z};
    default:
      return p.half;
  }
}

}  // namespace ge::geometry
