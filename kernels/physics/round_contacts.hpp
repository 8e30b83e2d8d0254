// Contacts of spheres and capsules, with each other and with hulls, and of everything with planes.
// A sphere is a capsule without length here, except where that would cost much.
#pragma once

#include "physics/closest_points.hpp"
#include "physics/hull_contacts.hpp"

namespace ge::physics {

namespace detail {

/// Between two points with radii around them, along n (from a to b).
GE_FN ContactPoint between(Vec3 a, float radius_a, Vec3 b, float radius_b, Vec3 n, uint32_t key) {
  return {a + n * radius_a, b - n * radius_b, dot(b - a, n) - radius_a - radius_b, key};
}
GE_FN void add(ContactSet& out, const ContactPoint& point, float reach) {
  if (point.gap > reach) return;
  out.at[out.count] = point;
  ++out.count;
}

/// Segments that run side by side touch at both ends of their common part. False where they don't.
/// One contact would let the upper of two stacked capsules see-saw on it. Parallel: a squared sine
/// below 1e-3, about 2 degrees.
GE_FN bool collide_parallel(const Segment& a, const Segment& b, float reach, ContactSet& out) {
  const float aa = dot(a.axis, a.axis), bb = dot(b.axis, b.axis), ab = dot(a.axis, b.axis);
  if ((aa < 1e-8f) | (bb < 1e-8f) | (aa * bb - ab * ab > 1e-3f * aa * bb)) return false;
  // In units of a's half-length; b covers [centre - half, centre + half].
  const Vec3 offset = b.middle - a.middle;
  const float centre = dot(offset, a.axis) / aa, half = abs(ab) / aa;
  const float low = max(-1.0f, centre - half), high = min(1.0f, centre + half);
  // Shares of a's half-length: two contacts closer than that would be one.
  if (high - low < 0.05f) return false;
  const Vec3 low_a = a.middle + a.axis * low, high_a = a.middle + a.axis * high;
  const Vec3 low_b = b.middle + b.axis * clamp(dot(low_a - b.middle, b.axis) / bb, -1.0f, 1.0f);
  const Vec3 high_b = b.middle + b.axis * clamp(dot(high_a - b.middle, b.axis) / bb, -1.0f, 1.0f);
  const Vec3 middle = (low_b + high_b - low_a - high_a) * 0.5f;
  // One normal for both, across a's axis; where the axes coincide, any across it.
  const Vec3 across = middle - a.axis * (dot(middle, a.axis) / aa);
  out.normal = direction_or(across, tangents(a.axis * (1.0f / sqrt(aa))).first);
  add(out, between(low_a, a.radius, low_b, b.radius, out.normal, 0), reach);
  add(out, between(high_a, a.radius, high_b, b.radius, out.normal, 1), reach);
  return true;
}

/// Where the axes cross, any direction along the line between nearest points is lost: they part
/// across both axes.
GE_FN void collide_segments(const Segment& a, const Segment& b, float reach, ContactSet& out) {
  if (collide_parallel(a, b, reach, out)) return;
  const PointPair pair = nearest_of_segments(a.middle, a.axis, b.middle, b.axis);
  const Vec3 across = direction_or(cross(a.axis, b.axis), {0, 0, 1});
  out.normal = direction_or(pair.b - pair.a, across);
  add(out, between(pair.a, a.radius, pair.b, b.radius, out.normal, 2), reach);
}

/// The hull is b, so the way out of it, turned round, is the normal from a to b. A centre inside of
/// the hull has a negative distance, and leaves by the nearest face.
GE_FN void collide_sphere_hull(const Placed& sphere, const Placed& hull, float reach,
                               ContactSet& out) {
  const Nearest near = nearest_on_hull(hull, to_body(hull.turn, sphere.at - hull.at));
  out.normal = hull.turn * -near.normal;
  const float r = sphere.half.x;
  add(out, {sphere.at + out.normal * r, to_world(hull, near.point), near.distance - r, 0}, reach);
}

/// The part of the segment above a face, as two contacts along the face's normal.
GE_FN bool collide_capsule_face(const Placed& hull, const Segment& body, int index, float reach,
                                ContactSet& out) {
  const Face f = face(hull, index);
  const Vec3 centre = body.middle - f.centre;
  const float x = dot(centre, f.u), y = dot(centre, f.v);
  const float dx = dot(body.axis, f.u), dy = dot(body.axis, f.v);
  Part part = {-1.0f, 1.0f};
  cut(part, x - f.half_u, dx);
  cut(part, -x - f.half_u, -dx);
  cut(part, y - f.half_v, dy);
  cut(part, -y - f.half_v, -dy);
  if (f.triangle) cut(part, y * f.half_u - x * f.half_v, dy * f.half_u - dx * f.half_v);
  if (part.enter > part.leave) return false;
  out.normal = hull.turn * -f.normal;
  // In units of the axis's own half-length: the ends of a shorter part would be one contact twice.
  const bool two = part.leave - part.enter > 0.05f;
  for (int i = 0; i < (two ? 2 : 1); ++i) {
    const float t = i == 0 ? part.enter : part.leave;
    const Vec3 p = body.middle + body.axis * t;
    const float distance = dot(p - f.centre, f.normal);
    add(out,
        {to_world(hull, p - f.normal * body.radius), to_world(hull, p - f.normal * distance),
         distance - body.radius, uint32_t(index) << 4 | uint32_t(i)},
        reach);
  }
  return true;
}

GE_FN void collide_capsule_hull(const Placed& capsule, const Placed& hull, float reach,
                                ContactSet& out) {
  const Segment in_world = segment_of(capsule);
  const Segment body = {to_body(hull.turn, in_world.middle - hull.at),
                        to_body(hull.turn, in_world.axis), in_world.radius};
  SegmentOnHull near;
  nearest_segment_on_hull(hull, body.middle, body.axis, near);
  if (near.distance - body.radius > reach) return;
  // Two points where the segment lies along the face, within 6 degrees.
  const Vec3 n = face(hull, near.face).normal;
  const float tilt = dot(body.axis, n);
  const bool flat =
      (dot(near.normal, n) > 0.999f) & (tilt * tilt <= 0.01f * dot(body.axis, body.axis));
  // Beside the face, or with both ends of the part out of reach: only the nearest point.
  if (flat && collide_capsule_face(hull, body, near.face, reach, out) && out.count > 0) return;
  out.count = 0;
  out.normal = hull.turn * -near.normal;
  add(out,
      {to_world(hull, near.on_segment - near.normal * body.radius), to_world(hull, near.on_hull),
       near.distance - body.radius, 1u << 11},
      reach);
}

}  // namespace detail

/// The lowest vertices of a hull over a plane that are within reach of it, at most four, as bits of
/// vertex numbers. Ties, within 10 um, go to the lower number. A sphere has bit 0; a capsule bits 0
/// and 1, the ends of its segment. A caller that keeps impulses per (body, bit) needs no matching.
GE_FN uint32_t plane_vertices(const Placed& p, const Plane& plane, float reach) {
  // Height of the origin; `down` is the normal in the body's frame, so its product with a vertex is
  // the height above the origin.
  const float centre = dot(p.at, plane.normal) - plane.offset;
  const Vec3 down = to_body(p.turn, plane.normal);
  if (!is_hull(p)) {
    const float rise = select(p.shape == kCapsule, down.z * p.half.z, 0.0f);
    const uint32_t low = centre - rise - p.half.x <= reach ? 1u : 0u;
    const uint32_t high = (p.shape == kCapsule) & (centre + rise - p.half.x <= reach) ? 2u : 0u;
    return low | high;
  }
  float height[8];
  uint32_t within = 0;
  int count = 0;
  GE_UNROLL
  for (int i = 0; i < 8; ++i) {
    // A wedge has six: 6 and 7 ask for vertex 0 and are then not valid, which spares a branch.
    height[i] = centre + dot(down, vertex(p, select(i < vertex_count(p), i, 0)));
    const bool valid = (height[i] <= reach) & (i < vertex_count(p));
    within |= uint32_t(valid) << i;
    count += valid;
  }
  if (count <= 4) return within;
  uint32_t kept = 0;
  for (int k = 0; k < 4; ++k) {
    float least = 1e30f;
    uint32_t lowest = 0;
    GE_UNROLL
    for (int i = 0; i < 8; ++i) {
      const bool better = ((within & ~kept) >> i & 1u) != 0 && height[i] < least - 1e-5f;
      least = select(better, height[i], least);
      lowest = select(better, 1u << i, lowest);
    }
    kept |= lowest;
  }
  return kept;
}

/// plane_vertices over the floor z = 0.
GE_FN uint32_t floor_vertices(const Placed& p, float reach) {
  return plane_vertices(p, {{0, 0, 1}, 0.0f}, reach);
}

/// Where vertex i of plane_vertices touches a plane with this normal, from p.at: an arm in world
/// axes. Of round shapes the lowest point around the end.
GE_FN Vec3 plane_arm(const Placed& p, Vec3 normal, int i) {
  if (is_hull(p)) return p.turn * vertex(p, i);
  const float along = select(p.shape == kCapsule, select(i == 0, -p.half.z, p.half.z), 0.0f);
  return p.turn.z * along - normal * p.half.x;
}

/// Contacts of any body a with a plane (or the floor) b. The key is the vertex, as in Sole.
GE_FN void collide_plane(const Placed& a, const Placed& b, float reach, ContactSet& out) {
  const Plane plane = plane_of(b);
  out.normal = -plane.normal;
  out.count = 0;
  const uint32_t touching = plane_vertices(a, plane, reach);
  for (int i = 0; i < 8; ++i) {
    if ((touching >> i & 1u) == 0) continue;
    const Vec3 p = a.at + plane_arm(a, plane.normal, i);
    const float gap = dot(p, plane.normal) - plane.offset;
    out.at[out.count] = {p, p - plane.normal * gap, gap, uint32_t(i)};
    ++out.count;
  }
}

}  // namespace ge::physics
