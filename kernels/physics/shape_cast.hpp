// How far a shape can travel along a straight path before it touches another.
//
// Hulls: translation moves the projections on every axis at constant speed, so on each axis the two
// overlap during one interval of time, and they touch when all 15 (or 23) intervals have begun.
// Anything with a sphere, a capsule or a plane: conservative advancement. The distance of convex
// shapes is convex in time, so the step that its slope suggests never goes too far (Newton's
// method from below). It ends within kTouch of the surface.
#pragma once

#include "physics/closest_points.hpp"
#include "physics/hull_contacts.hpp"

namespace ge::physics {

namespace detail {

inline constexpr float kTouch = 1e-4f;  // [m]
// Steps of Newton's method; those that graze a rounded edge need the most, and end short of it.
inline constexpr int kAdvances = 24;

/// Distance, and the unit vector from a to b along it.
struct Apart {
  float distance;
  Vec3 towards;
};
GE_FN Apart opposite(Apart a) {
  return {a.distance, -a.towards};
}

GE_FN Apart round_to_hull(const Placed& round, const Placed& hull) {
  const Segment s = segment_of(round);
  const Vec3 middle = to_body(hull.turn, s.middle - hull.at);
  if (round.shape == kSphere) {
    const Nearest near = nearest_on_hull(hull, middle);
    return {near.distance - s.radius, hull.turn * -near.normal};
  }
  SegmentOnHull near;
  nearest_segment_on_hull(hull, middle, to_body(hull.turn, s.axis), near);
  return {near.distance - s.radius, hull.turn * -near.normal};
}
/// The lowest point's height; towards the plane is against its normal.
GE_FN Apart to_plane(const Placed& p, const Placed& plane) {
  const Plane side = plane_of(plane);
  return {extent(p, side.normal).low - side.offset, -side.normal};
}
GE_FN Apart round_to_round(const Placed& a, const Placed& b) {
  const Segment s = segment_of(a), t = segment_of(b);
  const PointPair pair = nearest_of_segments(s.middle, s.axis, t.middle, t.axis);
  const Vec3 offset = pair.b - pair.a;
  return {length(offset) - s.radius - t.radius, direction_or(offset, {0, 0, 1})};
}
/// Whether a shape is a plane; the floor is a plane whose place and normal are known.
GE_FN bool is_plane(const Placed& p) {
  return (p.shape == kPlane) | (p.shape == kFloor);
}

/// The distance of two shapes; not for two hulls, nor for two planes.
GE_NOINLINE inline Apart apart(const Placed& a, const Placed& b) {
  if (is_plane(b)) return to_plane(a, b);
  if (is_plane(a)) return opposite(to_plane(b, a));
  if (is_hull(b)) return round_to_hull(a, b);
  if (is_hull(a)) return opposite(round_to_hull(b, a));
  return round_to_round(a, b);
}

}  // namespace detail

/// A lower bound of the distance of two shapes, exact but for hulls that are nearest at corners;
/// negative where they overlap. Not for two planes.
GE_FN float separation(const Placed& a, const Placed& b) {
  using namespace detail;
  if (!(is_hull(a) & is_hull(b))) return apart(a, b).distance;
  Axes axes;  // nothing is farther than kFar, so all axes are visited
  if ((a.shape == kBox) & (b.shape == kBox))
    box_axes(a, b, kFar, axes);
  else
    hull_axes(a, b, kFar, axes);
  return max(max(axes.a, axes.b), axes.edge);
}

namespace detail {

/// When the projections of two moving hulls overlap.
struct Overlap {
  float first, last;
};
/// One axis: a covers `a` and moves at `speed`, b covers `b`.
/// They begin to overlap when a's front reaches b's back: a.high + speed t = b.low, and end at
/// a.low + speed t = b.high; a negative speed changes the two about, hence min and max. Without
/// speed they overlap always or, with `first` past the end of the path, never.
GE_FN void restrict_to(Overlap& time, Interval a, Interval b, float speed) {
  const bool still = speed == 0.0f;
  // No division by zero even where the result is not used: both sides of a select are computed.
  const float inverse = 1.0f / select(still, 1.0f, speed);
  const float s = (b.low - a.high) * inverse, t = (b.high - a.low) * inverse;
  const bool apart = (b.low >= a.high) | (a.low >= b.high);
  time.first = max(time.first, select(still, select(apart, 2.0f, -kFar), min(s, t)));
  time.last = min(time.last, select(still, kFar, max(s, t)));
}

/// In the frame of the moving hull.
GE_NOINLINE inline float cast_hull(const Placed& moving, Vec3 path, const Placed& target) {
  const Mat3 relative = relative_turn(moving, target);
  const Vec3 offset = to_body(moving.turn, target.at - moving.at);
  const Vec3 velocity = to_body(moving.turn, path);
  Overlap time = {-kFar, kFar};
  const auto restrict_along = [&](Vec3 axis) {
    const Interval a = hull_extent(moving, axis), b = hull_extent(target, to_body(relative, axis));
    const float centre = dot(offset, axis);
    restrict_to(time, a, {centre + b.low, centre + b.high}, dot(velocity, axis));
  };
  for (int i = 0; i < face_count(moving); ++i) restrict_along(face(moving, i).normal);
  for (int i = 0; i < face_count(target); ++i) restrict_along(relative * face(target, i).normal);
  for (int i = 0; i < edge_direction_count(moving); ++i) {
    for (int j = 0; j < edge_direction_count(target); ++j) {
      const Vec3 axis = cross(edge_direction(moving, i), relative * edge_direction(target, j));
      // Axes need no unit length here: intervals and speed scale alike.
      if (dot(axis, axis) >= kParallel) restrict_along(axis);
    }
  }
  // Shapes that touch at the start and part have last = 0, so they do not meet.
  const bool meet = (time.first < time.last) & (time.last > 0.0f) & (time.first < 1.0f);
  return select(meet, max(time.first, 0.0f), 1.0f);
}

GE_NOINLINE inline float advance(Placed moving, Vec3 path, const Placed& target) {
  const Vec3 start = moving.at;
  float time = 0.0f;
  for (int i = 0; i < kAdvances; ++i) {
    // The gap closes at no more than `closing` at any later time (convexity), so time + gap /
    // closing is not past the first touch.
    const Apart now = apart(moving, target);
    if (now.distance < 0.0f) return time;
    const float closing = dot(path, now.towards);
    if (closing <= 0.0f) return 1.0f;
    if (now.distance <= kTouch) return time;
    time = time + now.distance / closing;
    if (time >= 1.0f) return 1.0f;
    moving.at = start + path * time;
  }
  return time;
}

}  // namespace detail

/// The fraction of `path`, in [0, 1], after which `moving` first touches `target`: 0 where they
/// overlap at the start, 1 if they never meet. Shapes that touch at the start may slide and part.
GE_FN float cast(const Placed& moving, Vec3 path, const Placed& target) {
  if (is_hull(moving) & is_hull(target)) return detail::cast_hull(moving, path, target);
  return detail::advance(moving, path, target);
}

}  // namespace ge::physics
