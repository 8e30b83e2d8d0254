// Contacts of two hulls: the separating axis test over faces and crossed edges, then the incident
// face clipped to the reference face.
//
// Work is done in two dimensions: the reference face is a rectangle (or a triangle, half of one),
// and its frame (u, v, normal) has the incident face as four corners x, y and a depth. Candidates
// stand in twelve fixed slots, so that they stay in registers:
//
//   slot 2 e       where incident edge e enters the reference face (its first corner if inside)
//   slot 2 e + 1   where it leaves, if before its end
//   slot 8 + i     corner i of the reference face, if inside the incident face
//
// The slot is the feature key. The clip grows the reference face by kSlack and corners must be
// inside by the same, so that coinciding edges (stacks) yield the incident corners only.
#pragma once

#include "physics/shapes.hpp"

namespace ge::physics {

struct ContactPoint {
  Vec3 on_a, on_b;  // in the world, on the surfaces [m]
  float gap;        // (on_b - on_a) . normal [m]
  // Within a pair; of faces: slot, face of the reference << 4, other face << 7, whose it is << 10;
  // of edges bit 11 and the two directions.
  uint32_t key;  // which features touch; steady from step to step
};
struct ContactSet {
  Vec3 normal;  // from a to b, unit; undefined where count is 0
  int count;
  ContactPoint at[4];
};
struct CollideOptions {
  float reach;        // contacts with a larger gap are not made [m]
  float edge_margin;  // by which an edge must beat a face as separating axis [m]
  float step_height;  // an upright hull whose sole is within this of the other's top stands on it
  bool upright_a, upright_b;
};

namespace detail {

inline constexpr float kSlack = 1e-4f;     // [m]
inline constexpr float kTie = 1e-4f;       // depths this close are equal: the lower slot wins [m]
inline constexpr float kParallel = 1e-3f;  // squared sine below which edges give no axis
inline constexpr float kFar = 1e30f;

/// The best axis of each family, and its separation: how far apart the projections are along the
/// axis; negative, the overlap. Hulls are apart by at least the largest separation, and touch if
/// none is positive.
struct Axes {
  float a, b, edge;
  int face_a, face_b, edge_a, edge_b;
};

/// Columns: b's axes in the frame of a.
GE_FN Mat3 relative_turn(const Placed& a, const Placed& b) {
  return {to_body(a.turn, b.turn.x), to_body(a.turn, b.turn.y), to_body(a.turn, b.turn.z)};
}

/// False where an axis separates the boxes by more than the reach. The 15 axes in a's frame, where
/// all projections are sums of entries of the relative rotation.
GE_FN bool box_axes(const Placed& a, const Placed& b, float reach, Axes& best) {
  const Mat3 relative = relative_turn(a, b);
  const Vec3 offset = to_body(a.turn, b.at - a.at);
  const float r[3][3] = {{relative.x.x, relative.y.x, relative.z.x},
                         {relative.x.y, relative.y.y, relative.z.y},
                         {relative.x.z, relative.y.z, relative.z.z}};
  const float t[3] = {offset.x, offset.y, offset.z};
  const float ha[3] = {a.half.x, a.half.y, a.half.z}, hb[3] = {b.half.x, b.half.y, b.half.z};
  float m[3][3];
  best = {-kFar, -kFar, -kFar, 0, 0, 0, 0};
  GE_UNROLL
  for (int i = 0; i < 3; ++i) {
    GE_UNROLL
    for (int j = 0; j < 3; ++j) m[i][j] = abs(r[i][j]);
    const float s = abs(t[i]) - (ha[i] + (m[i][0] * hb[0] + m[i][1] * hb[1] + m[i][2] * hb[2]));
    const bool better = s > best.a;
    best.face_a = select(better, 2 * i + select(t[i] >= 0.0f, 1, 0), best.face_a);
    best.a = select(better, s, best.a);
  }
  if (best.a > reach) return false;
  GE_UNROLL
  for (int j = 0; j < 3; ++j) {
    const float along = t[0] * r[0][j] + t[1] * r[1][j] + t[2] * r[2][j];
    const float s = abs(along) - (hb[j] + (m[0][j] * ha[0] + m[1][j] * ha[1] + m[2][j] * ha[2]));
    const bool better = s > best.b;
    best.face_b = select(better, 2 * j + select(along >= 0.0f, 0, 1), best.face_b);
    best.b = select(better, s, best.b);
  }
  if (best.b > reach) return false;
  // Where both stand upright, crossed edges are the faces' normals again: nine axes less in a world
  // of boxes on a floor.
  if (m[2][2] > 1.0f - 1e-6f) return true;
  GE_UNROLL
  for (int i = 0; i < 3; ++i) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
    GE_UNROLL
    for (int j = 0; j < 3; ++j) {
      const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
      // The axis is a_i x b_j, in a's frame (0, -r[i2][j], r[i1][j]): all its sums have two terms.
      // It is not of unit length; `square` is that of its length.
      const float square = r[i1][j] * r[i1][j] + r[i2][j] * r[i2][j];
      const float along = abs(t[i2] * r[i1][j] - t[i1] * r[i2][j]);
      const float radii =
          ha[i1] * m[i2][j] + ha[i2] * m[i1][j] + hb[j1] * m[i][j2] + hb[j2] * m[i][j1];
      // Nearly parallel edges: the cross product is rounding noise, and faces have tested this
      // axis.
      const bool parallel = square < kParallel;
      const float s = (along - radii) / sqrt(select(parallel, 1.0f, square));
      const bool better = (s > best.edge) & !parallel;
      best.edge = select(better, s, best.edge);
      best.edge_a = select(better, i, best.edge_a);
      best.edge_b = select(better, j, best.edge_b);
    }
    if (best.edge > reach) return false;
  }
  return true;
}

/// False where an axis separates two hulls by more than the reach, in the frame of a. A wedge is
/// not symmetric about its origin: extents are intervals, faces are tested one by one.
GE_FN bool hull_axes(const Placed& a, const Placed& b, float reach, Axes& best) {
  const Mat3 relative = relative_turn(a, b);
  const Vec3 offset = to_body(a.turn, b.at - a.at);
  best = {-kFar, -kFar, -kFar, 0, 0, 0, 0};
  for (int i = 0; i < face_count(a); ++i) {
    const Face f = face(a, i);
    const float s =
        dot(offset, f.normal) + hull_extent(b, to_body(relative, f.normal)).low - face_offset(f);
    if (s > reach) return false;
    best.face_a = select(s > best.a, i, best.face_a);
    best.a = max(best.a, s);
  }
  for (int i = 0; i < face_count(b); ++i) {
    const Face f = face(b, i);
    const Vec3 normal = relative * f.normal;
    const float s = hull_extent(a, normal).low - dot(offset, normal) - face_offset(f);
    if (s > reach) return false;
    best.face_b = select(s > best.b, i, best.face_b);
    best.b = max(best.b, s);
  }
  for (int j = 0; j < edge_direction_count(b); ++j) {
    const Vec3 along = relative * edge_direction(b, j);
    for (int i = 0; i < edge_direction_count(a); ++i) {
      const Vec3 axis = cross(edge_direction(a, i), along);
      const float square = dot(axis, axis);
      if (square < kParallel) continue;
      const float centre = dot(offset, axis);
      const Interval ea = hull_extent(a, axis), eb = hull_extent(b, to_body(relative, axis));
      const float s = max(centre + eb.low - ea.high, ea.low - (centre + eb.high)) / sqrt(square);
      if (s > reach) return false;
      const bool better = s > best.edge;
      best.edge = select(better, s, best.edge);
      best.edge_a = select(better, i, best.edge_a);
      best.edge_b = select(better, j, best.edge_b);
    }
  }
  return true;
}

/// Corner i of an incident face in the frame of a reference face.
/// `depth` is the height over the reference face: negative inside, so the gap of a contact there.
struct Incident {
  float x[4], y[4], depth[4];
  float slope_x, slope_y, level;  // depth = level + slope_x x + slope_y y
};

GE_FN Incident seen_from(const Face& reference, const Face& face) {
  const Mat3 frame = {reference.u, reference.v, reference.normal};
  const Vec3 centre = to_body(frame, face.centre - reference.centre);
  const Vec3 u = to_body(frame, face.u * face.half_u), v = to_body(frame, face.v * face.half_v);
  const Vec3 normal = to_body(frame, face.normal);
  const Vec3 last = choose(face.triangle, centre + u + v, centre - u + v);
  const Vec3 corner[4] = {centre - u - v, centre + u - v, centre + u + v, last};
  Incident out;
  GE_UNROLL
  for (int i = 0; i < 4; ++i)
    out.x[i] = corner[i].x, out.y[i] = corner[i].y, out.depth[i] = corner[i].z;
  // The incident face looks against the reference, normal.z < 0; were it edge-on, its slope would
  // be infinite, so that is bounded.
  const float scale = -1.0f / min(normal.z, -1e-3f);
  out.slope_x = normal.x * scale, out.slope_y = normal.y * scale;
  out.level = centre.z - out.slope_x * centre.x - out.slope_y * centre.y;
  return out;
}

/// The part [enter, leave] of a line whose signed distance to a side is `start + rate t`.
struct Part {
  float enter, leave;
};
GE_FN void cut(Part& part, float start, float rate) {
  const bool flat = rate == 0.0f;
  const float t = -start / select(flat, 1.0f, rate);
  part.leave = select(rate > 0.0f, min(part.leave, t), part.leave);
  part.enter = select(rate < 0.0f, max(part.enter, t), part.enter);
  // Along the side and outside of it: nothing is left, of an edge, which begins at 0, or of a
  // capsule's segment, which begins at -1.
  part.leave = select(flat & (start > 0.0f), -2.0f, part.leave);
}

inline constexpr int kSlots = 12;
struct Candidates {
  float x[kSlots], y[kSlots], depth[kSlots];  // depth kFar: none
};

GE_FN void clip_edges(const Face& ref, const Incident& incident, bool triangle, Candidates& out) {
  GE_UNROLL
  for (int e = 0; e < 4; ++e) {
    const int next = (e + 1) % 4;
    const float x = incident.x[e], y = incident.y[e], d = incident.depth[e];
    const float dx = incident.x[next] - x, dy = incident.y[next] - y;
    const float dd = incident.depth[next] - d;
    Part part = {0.0f, 1.0f};
    cut(part, x - (ref.half_u + kSlack), dx);
    cut(part, -x - (ref.half_u + kSlack), -dx);
    cut(part, y - (ref.half_v + kSlack), dy);
    cut(part, -y - (ref.half_v + kSlack), -dy);
    // The hypotenuse runs from (-u, -v) to (u, v); the corner (-u, v) beyond it is missing.
    if (ref.triangle) {
      const float u = ref.half_u, v = ref.half_v;
      cut(part, y * u - x * v - kSlack * (u + v), dy * u - dx * v);
    }
    // The third edge of a triangle has zero length: its start is the corner before.
    const bool some = (part.enter <= part.leave) & !(triangle & (e == 2));
    const bool leaves = some & (part.leave < 1.0f);
    out.x[2 * e] = x + dx * part.enter, out.y[2 * e] = y + dy * part.enter;
    out.depth[2 * e] = select(some, d + dd * part.enter, kFar);
    out.x[2 * e + 1] = x + dx * part.leave, out.y[2 * e + 1] = y + dy * part.leave;
    out.depth[2 * e + 1] = select(leaves, d + dd * part.leave, kFar);
  }
}

GE_FN void add_reference_corners(const Face& ref, const Incident& in, Candidates& out) {
  GE_UNROLL
  for (int i = 0; i < 4; ++i) {
    const float x = select((i == 1) | (i == 2), ref.half_u, -ref.half_u);
    const float y = select(i >= 2, ref.half_v, -ref.half_v);
    bool inside = !(ref.triangle & (i == 3));
    GE_UNROLL
    for (int e = 0; e < 4; ++e) {  // the incident face runs clockwise here
      const int next = (e + 1) % 4;
      const float dx = in.x[next] - in.x[e], dy = in.y[next] - in.y[e];
      // A triangle has one edge of zero length: left and the bound are both 0, so it refuses
      // nothing.
      const float left = dx * (y - in.y[e]) - dy * (x - in.x[e]);
      inside = inside & (left <= -kSlack * max(abs(dx), abs(dy)));
    }
    out.x[8 + i] = x, out.y[8 + i] = y;
    out.depth[8 + i] = select(inside, in.level + in.slope_x * x + in.slope_y * y, kFar);
  }
}

/// Bits of the slots to keep: all within reach if they are at most four; otherwise the deepest, the
/// one farthest from it, and the extremes on either side of the line through these two.
/// A manifold of four carries torques about both axes, as more points would. The factors 1.001 and
/// kTie keep equal candidates from changing places by rounding: impulses are found by slot.
GE_FN uint32_t keep_four(const Candidates& c, float reach) {
  int count = 0, first = 0;
  uint32_t all = 0;
  float deepest = kFar, x0 = 0.0f, y0 = 0.0f;
  GE_UNROLL
  for (int i = 0; i < kSlots; ++i) {
    const bool valid = c.depth[i] <= reach;
    const bool better = valid & (c.depth[i] < deepest - kTie);
    count += valid;
    all |= uint32_t(valid) << i;
    first = select(better, i, first);
    deepest = select(better, c.depth[i], deepest);
    x0 = select(better, c.x[i], x0), y0 = select(better, c.y[i], y0);
  }
  if (count <= 4) return all;
  int second = first;
  float farthest = 0.0f, ex = 0.0f, ey = 0.0f;
  GE_UNROLL
  for (int i = 0; i < kSlots; ++i) {
    const float dx = c.x[i] - x0, dy = c.y[i] - y0;
    const float square = dx * dx + dy * dy;
    const bool better = ((all >> i & 1u) != 0) & (square > farthest * 1.001f);
    second = select(better, i, second);
    farthest = select(better, square, farthest);
    ex = select(better, dx, ex), ey = select(better, dy, ey);
  }
  int left = first, right = first;
  float most = 0.0f, least = 0.0f;
  GE_UNROLL
  for (int i = 0; i < kSlots; ++i) {
    const float side = ex * (c.y[i] - y0) - ey * (c.x[i] - x0);
    const bool valid = (all >> i & 1u) != 0;
    const bool more = valid & (side > most * 1.001f), less = valid & (side < least * 1.001f);
    left = select(more, i, left), most = select(more, side, most);
    right = select(less, i, right), least = select(less, side, least);
  }
  return 1u << first | 1u << second | 1u << left | 1u << right;
}

/// Contacts of the reference face of one hull with the other; `flipped`: the reference is b's.
GE_FN void face_contacts(const Placed& reference, int index, const Placed& other, bool flipped,
                         float reach, ContactSet& out) {
  const Face ref = in_world(reference, face(reference, index));
  const int other_index = face_towards(other, -to_body(other.turn, ref.normal));
  const Face other_face = in_world(other, face(other, other_index));
  const Incident incident = seen_from(ref, other_face);
  Candidates c;
  clip_edges(ref, incident, other_face.triangle, c);
  add_reference_corners(ref, incident, c);
  const uint32_t keep = keep_four(c, reach);
  const uint32_t key = uint32_t(index) << 4 | uint32_t(other_index) << 7 | uint32_t(flipped) << 10;
  out.normal = choose(flipped, -ref.normal, ref.normal);
  int count = 0;
  GE_UNROLL
  for (int i = 0; i < kSlots; ++i) {
    if ((keep >> i & 1u) == 0) continue;
    // Both points lie on the normal through the incident point, so the gap is the depth.
    const Vec3 under = ref.centre + ref.u * c.x[i] + ref.v * c.y[i];
    const Vec3 over = under + ref.normal * c.depth[i];
    out.at[count] = {choose(flipped, over, under), choose(flipped, under, over), c.depth[i],
                     key | uint32_t(i)};
    ++count;
  }
  out.count = count;
}

/// One contact between the edges that support the axis. False where there are none: an axis across
/// the slope of a wedge may be supported by the vertex opposite.
GE_FN bool edge_contact(const Placed& a, const Placed& b, const Axes& axes, ContactSet& out) {
  const Vec3 da = a.turn * edge_direction(a, axes.edge_a);
  const Vec3 db = b.turn * edge_direction(b, axes.edge_b);
  // Not zero: axes.edge is of a pair of directions that are not parallel.
  Vec3 normal = normalized(cross(da, db));
  // Choose the direction along the axis that separates.
  const Interval ea = extent(a, normal), eb = extent(b, normal);
  normal = choose(ea.low - eb.high > eb.low - ea.high, -normal, normal);
  const Edge on_a = support_edge(a, axes.edge_a, to_body(a.turn, normal));
  const Edge on_b = support_edge(b, axes.edge_b, -to_body(b.turn, normal));
  const Vec3 pa = to_world(a, on_a.middle), pb = to_world(b, on_b.middle), r = pa - pb;
  const float c = dot(da, db), ra = dot(da, r), rb = dot(db, r);
  // Nearest points of the lines pa + da s and pb + db t, unit directions; then both are clamped to
  // their edges, s computed again for the clamped t.
  float s = clamp((c * rb - ra) / max(1.0f - c * c, 0.5f * kParallel), -on_a.half, on_a.half);
  const float t = clamp(rb + c * s, -on_b.half, on_b.half);
  s = clamp(c * t - ra, -on_a.half, on_a.half);
  const Vec3 qa = pa + da * s, qb = pb + db * t;
  const float gap = dot(qb - qa, normal);
  // Edges that supported the axis would be just as far apart as their projections.
  if (gap > axes.edge + 1e-3f) return false;
  out.normal = normal;
  out.count = 1;
  out.at[0] = {qa, qb, gap, 1u << 11 | uint32_t(axes.edge_a) << 4 | uint32_t(axes.edge_b)};
  return true;
}

/// An upright hull whose sole is about as high as the top of another stands on it, however far it
/// has come over the edge: only the vertical axis counts. Without this a wide reach stops walkers
/// at the seams of bodies of equal height.
GE_FN bool steps_onto(const Placed& upright, const Placed& other, float step_height) {
  const float sole = extent(upright, {0, 0, 1}).low, top = extent(other, {0, 0, 1}).high;
  return (step_height > 0.0f) & (sole - top > -step_height);
}

/// The face of a wedge that an upright hull can walk on, where it is within step_height of being
/// the separating axis, else -1. At the foot of a slope the walker's front and the slope are
/// equally far away; taking the front would stop it at an edge of no height.
GE_FN int walkable_face(const Placed& upright, const Placed& wedge, float separation,
                        float step_height, float reach) {
  int found = -1;
  // Worse than the best axis by at most step_height: within that a slope is preferred.
  float best = separation - step_height;
  for (int i = 0; i < face_count(wedge); ++i) {
    const Face f = in_world(wedge, face(wedge, i));
    const float s = extent(upright, f.normal).low - dot(f.normal, f.centre);
    // No steeper than 60 degrees.
    const bool better = (f.normal.z > 0.5f) & (s > best) & (s <= reach);
    found = select(better, i, found);
    best = select(better, s, best);
  }
  return found;
}

/// How an upright hull lies against the sides of another: which sides overlap it by less than
/// `slack`.
struct Passing {
  int side;     // the outermost of them; -1: none, it is within the other
  bool grazes;  // two: it is at a corner
};
GE_FN Passing passing(const Placed& upright, const Placed& other, float slack) {
  Passing found = {-1, false};
  float best = -slack;
  const auto ask = [&](int i, Vec3 normal, float s) GE_LAMBDA {
    // Sides are the faces that stand upright, within 6 degrees.
    const bool outside = (abs(normal.z) < 0.1f) & (s >= -slack);
    found.grazes = found.grazes | (outside & (found.side >= 0));
    const bool better = outside & (s >= best);
    found.side = select(better, i, found.side);
    best = select(better, s, best);
  };
  if (other.shape == kBox) {
    // Two faces share an axis: along its other direction the extent is the same, turned round.
    const Vec3 axes[3] = {other.turn.x, other.turn.y, other.turn.z};
    GE_UNROLL
    for (int k = 0; k < 3; ++k) {
      const Vec3 n = axes[k], half = n * component(other.half, k);
      const Interval e = extent(upright, n);
      ask(2 * k, n, dot(n, other.at - half) - e.high);
      ask(2 * k + 1, n, e.low - dot(n, other.at + half));
    }
    return found;
  }
  for (int i = 0; i < face_count(other); ++i) {
    const Face f = in_world(other, face(other, i));
    ask(i, f.normal, extent(upright, f.normal).low - dot(f.normal, f.centre));
  }
  return found;
}

/// Which face of the two to use instead of the best axis, where one walks upright; false: they do
/// not touch. A walker slips past corners and along sides, however its own faces lie: the end of a
/// wall may be continued by another, and it must not stop at the seam. It stops where it overlaps
/// an end by more than the slack.
GE_FN bool let_walk(const Placed& a, const Placed& b, const CollideOptions& options, Axes& axes,
                    bool& flipped, bool& edges) {
  const bool b_walks = options.upright_b;
  const Placed& walker = b_walks ? b : a;
  const Placed& other = b_walks ? a : b;
  if (steps_onto(walker, other, options.step_height)) {
    const int sole = 4;  // of a box; a wedge's bottom is its face 2
    axes.face_a = select(a.shape == kWedge, 2, sole);
    axes.face_b = select(b.shape == kWedge, 2, sole);
    flipped = b_walks;
    edges = false;
    return true;
  }
  int used = -1;
  if (other.shape == kWedge)
    used = walkable_face(walker, other, max(axes.a, axes.b), options.step_height, options.reach);
  if (used < 0) {
    const Passing past = passing(walker, other, 0.5f * options.step_height);
    if (past.grazes) return false;
    used = past.side;
  }
  if (used < 0) return true;
  axes.face_a = select(b_walks, used, axes.face_a);
  axes.face_b = select(b_walks, axes.face_b, used);
  flipped = !b_walks;
  edges = false;
  return true;
}

}  // namespace detail

/// Boxes and wedges.
GE_FN void collide_hulls(const Placed& a, const Placed& b, const CollideOptions& options,
                         ContactSet& out) {
  using namespace detail;
  out.count = 0;
  Axes axes;
  const bool boxes = (a.shape == kBox) & (b.shape == kBox);
  if (!(boxes ? box_axes(a, b, options.reach, axes) : hull_axes(a, b, options.reach, axes))) return;
  bool flipped = axes.b > axes.a + 0.5f * options.edge_margin;
  bool edges = axes.edge > max(axes.a, axes.b) + options.edge_margin;
  if (options.upright_a != options.upright_b)
    if (!let_walk(a, b, options, axes, flipped, edges)) return;
  // Where the edges fail the best face still separates, if by a little less.
  if (edges && edge_contact(a, b, axes, out)) return;
  const Placed& reference = flipped ? b : a;
  face_contacts(reference, select(flipped, axes.face_b, axes.face_a), flipped ? a : b, flipped,
                options.reach, out);
}

}  // namespace ge::physics
