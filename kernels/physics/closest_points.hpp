// Closest points of points, segments and hulls, with which spheres and capsules collide and sweep.
#pragma once

#include "physics/shapes.hpp"

namespace ge::physics {

/// The point of a surface that is nearest to something, and the way out of it there.
struct Nearest {
  Vec3 point, normal;
  float distance;  // negative inside
};

/// a / |a|, or `otherwise` where a is shorter than 1 um.
GE_FN Vec3 direction_or(Vec3 a, Vec3 otherwise) {
  const float square = dot(a, a);
  const bool some = square > 1e-12f;
  return choose(some, a * (1.0f / sqrt(select(some, square, 1.0f))), otherwise);
}

/// How far along d (not zero) the point of the segment p + s d, s in [0, 1], nearest to q is.
GE_FN float along_segment(Vec3 p, Vec3 d, Vec3 q) {
  const float square = dot(d, d);
  return select(square > 0.0f,
                clamp(dot(q - p, d) / select(square > 0.0f, square, 1.0f), 0.0f, 1.0f), 0.0f);
}

/// The nearest point of a solid hull to p (body frame); p itself where it is inside.
GE_FN Vec3 clamped_to(const Placed& hull, Vec3 p) {
  const Vec3 h = hull.half;
  if (hull.shape != kWedge)
    return {clamp(p.x, -h.x, h.x), clamp(p.y, -h.y, h.y), clamp(p.z, -h.z, h.z)};
  // A prism: x by itself, and a triangle in (y, z).
  Vec3 best = {clamp(p.x, -h.x, h.x), p.y, p.z};
  bool inside = true;
  float least = 1e30f;
  GE_UNROLL
  for (int i = 0; i < 3; ++i) {
    const Corner from = wedge_corner(h, i), to = wedge_corner(h, (i + 1) % 3);
    const Vec3 start = {0, from.y, from.z}, d = {0, to.y - from.y, to.z - from.z};
    const Vec3 q = {0, p.y, p.z};
    // The corners run counter-clockwise in (y, z), so inside is left of all three sides.
    inside = inside & (d.y * (q.z - start.z) - d.z * (q.y - start.y) >= 0.0f);
    const Vec3 on = start + d * along_segment(start, d, q);
    const float square = dot(q - on, q - on);
    const bool better = square < least;
    least = select(better, square, least);
    best.y = select(better, on.y, best.y), best.z = select(better, on.z, best.z);
  }
  return {best.x, select(inside, p.y, best.y), select(inside, p.z, best.z)};
}

/// In the frame of the hull.
/// From outside by the clamped point; inside, or within 10 um of the surface, where that point
/// gives no direction, by the face that is least deep.
GE_FN Nearest nearest_on_hull(const Placed& hull, Vec3 p) {
  const Vec3 on = clamped_to(hull, p), out = p - on;
  const float square = dot(out, out);
  if (square > 1e-10f) {
    const float distance = sqrt(square);
    return {on, out * (1.0f / distance), distance};
  }
  const Exit<float> face = nearest_face(hull, p);
  return {p - face.normal * face.distance, face.normal, face.distance};
}

struct PointPair {
  Vec3 a, b;
};

/// Closest points of two segments middle +- axis.
GE_FN PointPair nearest_of_segments(Vec3 middle_a, Vec3 axis_a, Vec3 middle_b, Vec3 axis_b) {
  const Vec3 r = middle_a - middle_b;
  const float aa = dot(axis_a, axis_a), bb = dot(axis_b, axis_b), ab = dot(axis_a, axis_b);
  const float ra = dot(axis_a, r), rb = dot(axis_b, r);
  // |p(s) - q(t)|^2 has zero derivatives where aa s - ab t = -ra and ab s - bb t = -rb: s from
  // that, t for it, s again for the clamped t. Parallel lines have no one s: the middle will do.
  const float determinant = aa * bb - ab * ab;
  const bool crossed = determinant > 1e-6f * aa * bb;
  float s = clamp((ab * rb - bb * ra) / select(crossed, determinant, 1.0f), -1.0f, 1.0f);
  s = select(crossed, s, 0.0f);
  const bool long_a = aa > 1e-12f, long_b = bb > 1e-12f;
  const float t =
      select(long_b, clamp((ab * s + rb) / select(long_b, bb, 1.0f), -1.0f, 1.0f), 0.0f);
  s = select(long_a, clamp((ab * t - ra) / select(long_a, aa, 1.0f), -1.0f, 1.0f), 0.0f);
  return {middle_a + axis_a * s, middle_b + axis_b * t};
}

/// The closest points of a segment (middle +- axis, frame of the hull) and a hull.
struct SegmentOnHull {
  Vec3 on_segment, on_hull, normal;  // normal: out of the hull, unit
  float distance;                    // negative where the segment enters the hull
  int face;                          // the face that separates most from the whole segment
  float face_distance;               // its plane's distance from the segment
};

/// Takes a pair of points if it is nearer than the best so far; ties keep the first.
GE_FN void offer(SegmentOnHull& best, Vec3 on_segment, Vec3 on_hull) {
  const Vec3 out = on_segment - on_hull;
  const float square = dot(out, out);
  const bool better = square < best.distance;  // squared for now
  best.distance = select(better, square, best.distance);
  best.on_segment = choose(better, on_segment, best.on_segment);
  best.on_hull = choose(better, on_hull, best.on_hull);
}

/// The shallowest way out of a hull that a segment has entered, over faces and crossed edges.
GE_FN void shallowest_exit(const Placed& hull, Vec3 middle, Vec3 axis, SegmentOnHull& best) {
  const Vec3 normal = face(hull, best.face).normal;
  // The end that lies deeper behind the face.
  const Vec3 low = middle + axis * select(dot(axis, normal) > 0.0f, -1.0f, 1.0f);
  best.normal = normal;
  best.distance = best.face_distance;
  best.on_segment = low;
  best.on_hull = low - normal * best.face_distance;
  const float square = dot(axis, axis);
  for (int i = 0; i < edge_direction_count(hull); ++i) {
    Vec3 n = cross(edge_direction(hull, i), axis);
    const float length_squared = dot(n, n);
    // The segment runs along this edge: their product gives no direction that a face does not.
    if (length_squared <= 1e-4f * square) continue;
    n = n * (1.0f / sqrt(length_squared));
    const Interval e = hull_extent(hull, n);
    const float centre = dot(middle, n);
    const bool down = e.low - centre > centre - e.high;
    const float s = max(centre - e.high, e.low - centre);
    // By at least a millimetre, or contacts would jump between a face and an edge of equal depth.
    if (s <= best.distance + 1e-3f) continue;
    n = choose(down, -n, n);
    const Edge on = support_edge(hull, i, n);
    const PointPair pair = nearest_of_segments(on.middle, on.direction * on.half, middle, axis);
    best.normal = n;
    best.distance = s;
    best.on_hull = pair.a;
    best.on_segment = pair.b;
  }
}

GE_NOINLINE inline void nearest_segment_on_hull(const Placed& hull, Vec3 middle, Vec3 axis,
                                                SegmentOnHull& best) {
  best.face_distance = -1e30f;
  best.face = 0;
  for (int i = 0; i < face_count(hull); ++i) {
    const Face f = face(hull, i);
    const float s = dot(middle - f.centre, f.normal) - abs(dot(axis, f.normal));
    best.face = select(s > best.face_distance, i, best.face);
    best.face_distance = max(best.face_distance, s);
  }
  best.distance = 1e30f;
  offer(best, middle - axis, clamped_to(hull, middle - axis));
  offer(best, middle + axis, clamped_to(hull, middle + axis));
  for (int i = 0; i < edge_count(hull); ++i) {
    const Edge e = edge(hull, i);
    const PointPair pair = nearest_of_segments(e.middle, e.direction * e.half, middle, axis);
    offer(best, pair.b, pair.a);
  }
  // Nearest points of a segment outside lie at one of its ends or at an edge. One that pierces the
  // hull may be far from both, and is detected by clipping: a part remains inside. Through two
  // faces, past all edges and with both ends outside: every plane is then crossed.
  const Vec3 out = best.on_segment - best.on_hull;
  bool apart = best.distance > 1e-10f;
  if (apart & (best.face_distance <= 0.0f)) {
    float enter = -1.0f, leave = 1.0f;
    for (int i = 0; i < face_count(hull); ++i) {
      const Face f = face(hull, i);
      const float start = dot(middle - f.centre, f.normal), rate = dot(axis, f.normal);
      const bool flat = rate == 0.0f;
      const float t = -start / select(flat, 1.0f, rate);
      leave = select(rate > 0.0f, min(leave, t), leave);
      enter = select(rate < 0.0f, max(enter, t), enter);
      leave = select(flat & (start > 0.0f), -2.0f, leave);
    }
    apart = enter > leave;
  }
  if (apart) {
    best.distance = sqrt(best.distance);
    best.normal = out * (1.0f / best.distance);
  } else {
    shallowest_exit(hull, middle, axis, best);
  }
}

}  // namespace ge::physics
