// An obstacle for a point: a box with rounded edges. A capsule that moves among boxes and capsules
// is a point that moves among these, each grown by the moving one's segment and radius.
//
// Three closed forms: along z, across (x and y), and the depth of a point inside. Each tests one
// shape; callers visit many shapes in one order. A Turned one does so in its own frame.
#pragma once

#include "geometry/vectors.hpp"

namespace ge::voxel {

using geometry::Vec3;

struct Rounded {
  Vec3 at, half;  // of the box without its rounding
  float radius;
};
struct Flat {
  float x, y;
};
GE_FN float dot(Flat a, Flat b) {
  return a.x * b.x + a.y * b.y;
}
GE_FN Flat operator*(Flat a, float s) {
  return {a.x * s, a.y * s};
}
GE_FN Flat operator-(Flat a, Flat b) {
  return {a.x - b.x, a.y - b.y};
}

/// How far p is beyond the box along x and y, with its sign: zero above and below the box.
GE_FN Flat beside(const Rounded& r, Vec3 p) {
  const float x = p.x - r.at.x, y = p.y - r.at.y;
  return {copysign(max(abs(x) - r.half.x, 0.0f), x), copysign(max(abs(y) - r.half.y, 0.0f), y)};
}

/// Half of what the shape covers of the vertical line through p is half.z and this much; negative:
/// the line passes it by.
GE_FN float cap(const Rounded& r, Vec3 p) {
  const Flat out = beside(r, p);
  const float square = r.radius * r.radius - dot(out, out);
  return select(square > 0.0f, sqrt(max(square, 0.0f)), -1.0f);
}

/// When a point first meets something, as a share of its way, and the unit normal there.
struct Meeting {
  float time;
  Flat normal;
};

namespace detail {

/// Entering a disc at the origin: the share of the way, 2 if that is never.
GE_FN float enter_disc(Flat from, Flat way, float radius) {
  const float a = dot(way, way), b = dot(from, way), c = dot(from, from) - radius * radius;
  const float square = b * b - a * c;
  const bool meets = (square > 0.0f) & (b < 0.0f);
  const float time = (-b - sqrt(max(square, 0.0f))) / select(meets, a, 1.0f);
  return select(meets, time, 2.0f);
}
struct Span {
  float first, last;
};
/// During which shares of the way |from + way t| < reach.
GE_FN Span within(float from, float way, float reach) {
  const bool still = way == 0.0f;
  const float inverse = 1.0f / select(still, 1.0f, way);
  const float s = (-reach - from) * inverse, t = (reach - from) * inverse;
  const bool inside = abs(from) < reach;
  return {select(still, select(inside, -1.0f, 2.0f), min(s, t)),
          select(still, select(inside, 2.0f, -1.0f), max(s, t))};
}
/// Where a point that is inside is nearest to leaving: its normal.
GE_FN Flat way_out(Flat from, Flat half, Flat out) {
  const float square = dot(out, out);
  if (square > 0.0f) return out * (1.0f / sqrt(square));
  if (abs(from.x) - half.x >= abs(from.y) - half.y) return {copysign(1.0f, from.x), 0.0f};
  return {0.0f, copysign(1.0f, from.y)};
}

}  // namespace detail

/// A level path from p. The top or bottom is not an obstacle where p is less than `slack` deep in
/// it: p stands on it. A point inside meets the shape at once if it would go deeper, and is free to
/// leave.
GE_FN Meeting meet(const Rounded& r, Vec3 p, Flat way, float slack) {
  const Meeting never = {2.0f, {0.0f, 0.0f}};
  const float over = max(abs(p.z - r.at.z) - r.half.z, 0.0f);
  if (over > r.radius - slack) return never;
  const float radius = sqrt(r.radius * r.radius - over * over);
  const Flat from = {p.x - r.at.x, p.y - r.at.y}, half = {r.half.x, r.half.y};
  const Flat out = beside(r, p);
  if (dot(out, out) < radius * radius) {
    const Flat normal = detail::way_out(from, half, out);
    if (dot(normal, way) < 0.0f) return {0.0f, normal};
    return never;
  }
  const detail::Span x = detail::within(from.x, way.x, half.x + radius);
  const detail::Span y = detail::within(from.y, way.y, half.y + radius);
  const float time = max(max(x.first, y.first), 0.0f);
  if ((time > 1.0f) | (time >= min(x.last, y.last))) return never;
  const Flat at = {from.x + way.x * time, from.y + way.y * time};
  const bool beside_x = abs(at.x) > half.x, beside_y = abs(at.y) > half.y;
  if (beside_x & beside_y) {  // the rounding of an edge, or past it
    const Flat edge = {copysign(half.x, at.x), copysign(half.y, at.y)};
    const float entry = detail::enter_disc(from - edge, way, radius);
    if (entry > 1.0f) return never;
    const Flat from_edge = {from.x + way.x * entry - edge.x, from.y + way.y * entry - edge.y};
    return {max(entry, 0.0f), from_edge * (1.0f / sqrt(dot(from_edge, from_edge)))};
  }
  if (beside_x) return {time, {copysign(1.0f, at.x), 0.0f}};
  return {time, {0.0f, copysign(1.0f, at.y)}};
}

/// How deep p is inside, and the unit vector of the shortest way out; ties to x, then y.
struct Depth {
  float depth;
  Vec3 out;
};
GE_FN Depth depth_of(const Rounded& r, Vec3 p) {
  const Vec3 from = p - r.at;
  const Vec3 beyond = geometry::abs(from) - r.half;
  const Vec3 outside = {copysign(max(beyond.x, 0.0f), from.x),
                        copysign(max(beyond.y, 0.0f), from.y),
                        copysign(max(beyond.z, 0.0f), from.z)};
  const float square = geometry::dot(outside, outside);
  if (square > 0.0f) {
    const float distance = sqrt(square);
    return {r.radius - distance, outside * (1.0f / distance)};
  }
  const float least = max(beyond.x, max(beyond.y, beyond.z));
  if (beyond.x == least) return {r.radius - least, {copysign(1.0f, from.x), 0.0f, 0.0f}};
  if (beyond.y == least) return {r.radius - least, {0.0f, copysign(1.0f, from.y), 0.0f}};
  return {r.radius - least, {0.0f, 0.0f, copysign(1.0f, from.z)}};
}

// ---- turned about z

/// Its x axis points along `along`, of length 1.
struct Turned : Rounded {
  Flat along;

  GE_FN Flat into(Flat v) const { return {dot(v, along), v.y * along.x - v.x * along.y}; }
  GE_FN Flat back(Flat v) const {
    return {v.x * along.x - v.y * along.y, v.x * along.y + v.y * along.x};
  }
  /// A point in the frame that is not turned, and has the same middle.
  GE_FN Vec3 into(Vec3 p) const {
    const Flat from = into(Flat{p.x - at.x, p.y - at.y});
    return {at.x + from.x, at.y + from.y, p.z};
  }
  GE_FN const Rounded& upright() const { return *this; }
};
GE_FN Flat beside(const Turned& r, Vec3 p) {
  return r.back(beside(r.upright(), r.into(p)));
}
GE_FN float cap(const Turned& r, Vec3 p) {
  return cap(r.upright(), r.into(p));
}
GE_FN Meeting meet(const Turned& r, Vec3 p, Flat way, float slack) {
  // A way along a side is just that: what rounding leaves across it would meet the side at once.
  constexpr float kLeast = 1e-7f;  // [m], of ways of a step
  Flat turned = r.into(way);
  turned = {select(abs(turned.x) < kLeast, 0.0f, turned.x),
            select(abs(turned.y) < kLeast, 0.0f, turned.y)};
  const Meeting met = meet(r.upright(), r.into(p), turned, slack);
  return {met.time, r.back(met.normal)};
}
GE_FN Depth depth_of(const Turned& r, Vec3 p) {
  const Depth inside = depth_of(r.upright(), r.into(p));
  const Flat out = r.back({inside.out.x, inside.out.y});
  return {inside.depth, {out.x, out.y, inside.out.z}};
}

}  // namespace ge::voxel
