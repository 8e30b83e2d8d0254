// Rays against one body: many rays of one origin side by side (F = Floats), or one (F = float).
// Every lane meets the same body, so what depends on the body alone is computed once, and branches
// on it are taken by all rays together.
//
// A convex shape is an intersection of half-spaces: a ray enters it at the latest of its entries
// and leaves it at the earliest of its exits. A ray along a side is given the slope kTinySlope
// across it, so that its entry or exit lies very far away and no 0 / 0 arises.
#pragma once

#include "engine/maths/packs.hpp"
#include "physics/shapes.hpp"

namespace ge::physics {

/// `direction` need not be unit: distances are multiples of it.
template <class F>
struct Rays {
  Vec3 origin;
  Vector<F> direction;
};

namespace detail {

inline constexpr float kTinySlope = 1e-12f;

template <class F>
GE_FN F all_lanes(float value) {
  if constexpr (std::is_same_v<F, float>)
    return value;
  else
    return spread(value);
}
GE_FN float root(float x) {
  return sqrt(x);
}
template <class F>
GE_FN F root(F x) {
  for (int i = 0; i < kPack; ++i) set_lane(x, i, sqrt(lane(x, i)));
  return x;
}
template <class F>
GE_FN F safe_slope(F x) {
  return select(x * x < all_lanes<F>(kTinySlope * kTinySlope), all_lanes<F>(kTinySlope), x);
}
template <class F>
GE_FN F along(Vec3 axis, const Vector<F>& direction) {
  return direction.x * axis.x + direction.y * axis.y + direction.z * axis.z;
}

/// Where rays are inside of something convex.
template <class F>
struct Span {
  F enter, leave;
};

/// Keeps what is between -half and half, for rays at `start + slope t`.
template <class F>
GE_FN void cut_slab(Span<F>& span, float start, F slope, float half) {
  const F inverse = 1.0f / safe_slope(slope);
  const F low = inverse * (-half - start), high = inverse * (half - start);
  span.enter = max(span.enter, min(low, high));
  span.leave = min(span.leave, max(low, high));
}
/// Keeps what is below zero.
template <class F>
GE_FN void cut_side(Span<F>& span, float start, F slope) {
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

/// `kHorizontal`: direction.z is 0, so an upright box is a rectangle or is passed over.
template <bool kHorizontal, class F>
GE_FN F hit_box(const Rays<F>& rays, const Placed& box, F limit) {
  const Vec3 from = rays.origin - box.at;
  const bool upright = abs(box.turn.z.z) == 1.0f;
  Span<F> span = everywhere<F>();
  if (upright) {
    if (kHorizontal) {
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
  const Vec3 start = to_body(box.turn, from);
  cut_slab(span, start.x, along(box.turn.x, rays.direction), box.half.x);
  cut_slab(span, start.y, along(box.turn.y, rays.direction), box.half.y);
  cut_slab(span, start.z, along(box.turn.z, rays.direction), box.half.z);
  return entry(span, limit);
}

template <class F>
GE_FN F hit_wedge(const Rays<F>& rays, const Placed& wedge, F limit) {
  const Vec3 start = to_body(wedge.turn, rays.origin - wedge.at);
  const F dy = along(wedge.turn.y, rays.direction), dz = along(wedge.turn.z, rays.direction);
  const Corner wall = wedge_corner(wedge.half, 1);
  Span<F> span = everywhere<F>();
  cut_slab(span, start.x, along(wedge.turn.x, rays.direction), wedge.half.x);
  cut_side(span, start.y - wall.y, dy);
  cut_side(span, wall.z - start.z, -dz);
  const float over = wedge.slope_y * start.y + wedge.slope_z * start.z - slope_offset(wedge);
  cut_side(span, over, dy * wedge.slope_y + dz * wedge.slope_z);
  return entry(span, limit);
}

/// a t t + 2 b t + c = 0: the first root where there are two, else `none`. c > 0 is outside.
template <class F>
GE_FN F first_root(F a, F b, float c, F none) {
  const F discriminant = b * b - a * c;
  const bool outside = c > 0.0f;
  const F big = select(a > 0.0f, a, all_lanes<F>(1.0f));
  const F t = (-b - root(max(discriminant, all_lanes<F>(0.0f)))) / big;
  const F hit =
      select(discriminant > 0.0f, select(a > 0.0f, select(b < 0.0f, t, none), none), none);
  return outside ? hit : none;
}

template <class F>
GE_FN F hit_ball(Vec3 from, const Vector<F>& d, float radius, F limit) {
  const F a = d.x * d.x + d.y * d.y + d.z * d.z;
  return min(limit, first_root(a, along(from, d), dot(from, from) - radius * radius, limit));
}

template <class F>
GE_FN F hit_capsule(const Rays<F>& rays, const Placed& capsule, F limit) {
  const float r = capsule.half.x, h = capsule.half.z;
  const Vec3 start = to_body(capsule.turn, rays.origin - capsule.at);
  const float beyond = start.z - clamp(start.z, -h, h);
  const float across = start.x * start.x + start.y * start.y;
  if (across + beyond * beyond <= r * r) return limit;
  const Vector<F> d = {along(capsule.turn.x, rays.direction), along(capsule.turn.y, rays.direction),
                       along(capsule.turn.z, rays.direction)};
  const F a = d.x * d.x + d.y * d.y;
  F side = first_root(a, d.x * start.x + d.y * start.y, across - r * r, limit);
  const F z = d.z * side + start.z;
  side = select(z * z <= all_lanes<F>(h * h), side, limit);
  const F top = hit_ball({start.x, start.y, start.z - h}, d, r, limit);
  const F bottom = hit_ball({start.x, start.y, start.z + h}, d, r, limit);
  return min(limit, min(side, min(top, bottom)));
}

template <class F>
GE_FN F hit_plane(const Rays<F>& rays, const Plane& plane, F limit) {
  const float height = dot(rays.origin, plane.normal) - plane.offset;
  if (height <= 0.0f) return limit;
  const F slope = along(plane.normal, rays.direction);
  const F safe = select(slope < -kTinySlope, slope, all_lanes<F>(-kTinySlope));
  return min(limit, height / -safe);
}

}  // namespace detail

/// Where each ray first enters the shape, in multiples of its direction: within (0, limit), else
/// the limit. A ray that starts inside ignores the shape. `kHorizontal` promises that direction.z
/// is 0 and saves a third of a box.
template <bool kHorizontal = false, class F>
GE_FN F hit_distance(const Rays<F>& rays, const Placed& p, F limit) {
  switch (p.shape) {
    case kBox:
      return detail::hit_box<kHorizontal>(rays, p, limit);
    case kWedge:
      return detail::hit_wedge(rays, p, limit);
    case kSphere:
      return detail::hit_ball(rays.origin - p.at, rays.direction, p.half.x, limit);
    case kCapsule:
      return detail::hit_capsule(rays, p, limit);
    default:
      return detail::hit_plane(rays, plane_of(p), limit);
  }
}

}  // namespace ge::physics
