// Contact with the floor z = 0, by far the most frequent: it belongs to the body's own row, so all
// bodies are solved at once, and its normal and tangents are the axes, which leaves half of the
// arithmetic. A point is a vertex, and finds its impulse again by the vertex's number.
//
// An upright body stands on one point under its centre: it cannot tilt, so more points would be
// redundant, and it turns without friction. One that slides on its base (Kind::upright 2) has
// corners.
//
// The equations are those of constraint.hpp with the floor as a, which does not move, the body as
// b, n = z, t1 = x, t2 = y, and r the arm. i is I^-1 in the world:
//
//   C  = height of the point        C' = v_z + w_x r_y - w_y r_x
//   r x z = (r_y, -r_x, 0)          K    = 1/m + i_xx r_y^2 + i_yy r_x^2 - 2 i_xy r_x r_y
//   r x x = (0, r_z, -r_y)          K_xx = 1/m + i_yy r_z^2 + i_zz r_y^2 - 2 i_yz r_y r_z
//   r x y = (-r_z, 0, r_x)          K_yy = 1/m + i_xx r_z^2 + i_zz r_x^2 - 2 i_xz r_x r_z
//                                   K_xy = i_yz r_x r_z + i_xz r_y r_z - i_xy r_z^2 - i_zz r_x r_y
#pragma once

#include "physics/broad_phase.hpp"
#include "physics/constraint.hpp"
#include "physics/narrow_phase.hpp"

namespace ge::physics {

/// Number of the vertex + 1 in slot k of Sole::vertices.
GE_FN uint32_t sole_vertex(uint32_t vertices, int k) {
  return vertices >> (8 * k) & 255u;
}

/// Farthest that any point of a body may move in a substep, with its loads.
GE_FN float reach_of(const Setup& s, const Kind& kind, const Velocity& v, const Load& load) {
  const float h = s.substep;
  const float speed = length(vec(v.linear)) + length(vec(load.force)) * kind.inverse_mass * h;
  return h * (speed + sweep_speed(kind, v, load, h));
}

struct SolePoints {
  int count;
  int vertex[4];
  Vec3 at[4];  // in the world
};
GE_FN void sole_points(const Kind& kind, const Placed& shape, float reach, SolePoints& out) {
  if (kind.upright == 1) {
    const float below = kind.shape == kBox       ? shape.half.z
                        : kind.shape == kCapsule ? shape.half.z + shape.half.x
                                                 : shape.half.x;
    out.vertex[0] = 0;
    out.at[0] = shape.at - Vec3{0, 0, below};
    out.count = out.at[0].z <= reach ? 1 : 0;
    return;
  }
  uint32_t touching = floor_vertices(shape, reach);
  out.count = 0;
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (touching == 0) break;
    out.vertex[k] = lowest_one(touching);
    touching &= touching - 1;
    // In the order of their numbers, so that slots do not change places between substeps.
    out.at[k] = shape.at + plane_arm(shape, {0, 0, 1}, out.vertex[k]);
    out.count = k + 1;
  }
}

/// The floor under one body in this substep, its reach and bounds. Only of awake bodies: a sleeper's
/// sole is left as it is, so when it wakes it begins with what carried it.
template <class M>
GE_FN void touch_floor(const WorldOf<M>& w, Sole& sole, Floor& floor, Stride& stride,
                       Bounds& bounds, const Pose& pose, const Velocity& velocity, const Body& body,
                       const Frame& frame, const Load& load) {
  // Before any way out: where it is 0, the rest of the substep reads nothing else of the row.
  floor.count = 0;
  // Filled again below from `old`, by number of vertex: vertices that have left the floor are
  // dropped.
  const Sole old = sole;
  sole = Sole{};
  const Setup& s = setup_of<M>(w);
  const Kind& kind = s.kinds[body.kind];
  stride.reach = reach_of(s, kind, velocity, load);
  bound_substep(s, bounds, kind, vec(pose.position), turn_of(frame), stride.reach);
  // A third: with a wider reach, bodies that fall flat bounce too high.
  const float reach = min(s.reach * (1.0f / 3.0f), s.margin + stride.reach);
  if (pose.position[2] - kind.bound > reach) return;
  SolePoints points{};
  sole_points(kind, placed(kind, vec(pose.position), turn_of(frame)), reach, points);
  floor.count = uint32_t(points.count);
  floor.friction = s.friction[pair_of(0, body.kind)];
  floor.restitution = s.restitution[pair_of(0, body.kind)];
  const Moving m = moving(velocity, frame);
  const Sym3& i = m.inverse_inertia;
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (k >= points.count) break;
    const Vec3 r = points.at[k] - vec(pose.position);
    set_point(floor.arm, k, r);
    floor.gap[k] = points.at[k].z;
    floor.mass[k] = inverse_or_zero(m.inverse_mass + i.xx * r.y * r.y + i.yy * r.x * r.x -
                                    2.0f * i.xy * r.x * r.y);
    floor.slide[3 * k] =
        m.inverse_mass + i.yy * r.z * r.z + i.zz * r.y * r.y - 2.0f * i.yz * r.y * r.z;
    floor.slide[3 * k + 1] =
        i.yz * r.x * r.z + i.xz * r.y * r.z - i.xy * r.z * r.z - i.zz * r.x * r.y;
    floor.slide[3 * k + 2] =
        m.inverse_mass + i.xx * r.z * r.z + i.zz * r.x * r.x - 2.0f * i.xz * r.x * r.z;
    // Before gravity: a resting body is not hit, though gravity moves it down in every substep.
    floor.approach[k] = m.v.z + (m.w.x * r.y - m.w.y * r.x);
    const uint32_t vertex = uint32_t(points.vertex[k]) + 1u;
    sole.vertices |= vertex << (8 * k);
    GE_UNROLL
    for (int j = 0; j < 4; ++j) {
      if (sole_vertex(old.vertices, j) != vertex) continue;
      sole.normal[k] = old.normal[j];
      sole.first[k] = old.first[j];
      sole.second[k] = old.second[j];
    }
  }
  if (kind.upright == 2) share_load(sole.normal, points.count);
}

GE_FN void warm_floor(Moving& m, const Sole& sole, const Floor& floor) {
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (uint32_t(k) >= floor.count) break;
    m.push(point(floor.arm, k), {sole.first[k], sole.second[k], sole.normal[k]});
  }
}

/// The normal impulses of one pass.
template <Sweep kSweep>
GE_FN void press_floor(const Setup& s, Moving& m, Sole& sole, const Floor& floor,
                       const Stride& stride) {
  const Sweeping sweep = {1.0f / s.substep, s.push};
  const Sym3& i = m.inverse_inertia;
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (uint32_t(k) >= floor.count) break;
    Vec3 r = point(floor.arm, k);
    float gap = floor.gap[k];
    if constexpr (kSweep == kRelaxed) {
      const Vec3 turned = cross(vec(stride.turn), r);
      r += turned;
      // Only the z component of the motion changes the height.
      gap += stride.shift[2] + turned.z;
    }
    const float change =
        normal_change(sweep, s.hard_contact, kSweep == kBiased, gap,
                      m.v.z + (m.w.x * r.y - m.w.y * r.x), floor.mass[k], sole.normal[k]);
    sole.normal[k] += change;
    // Moving::push of (0, 0, change), less the products with 0.
    m.v.z += change * m.inverse_mass;
    const float x = r.y * change, y = -r.x * change;  // of the torque
    m.w += Vec3{i.xx * x + i.xy * y, i.xy * x + i.yy * y, i.xz * x + i.yz * y};
  }
}

/// Whether the floor may push a body in this substep.
template <class M>
GE_FN bool stands(const WorldOf<M>&, const Body& body, const Floor& floor) {
  return awake(body) && floor.count > 0;
}
/// After contacts and joints: the floor is the constraint that a substep should violate least.
template <Sweep kSweep, class M>
GE_FN void solve_floor(const WorldOf<M>& w, Velocity& velocity, Sole& sole, const Floor& floor,
                       const Frame& frame, const Stride& stride) {
  const Setup& s = setup_of<M>(w);
  Moving m = moving(velocity, frame);
  for (int pass = normal_passes(s, floor.approach, floor.count); pass > 0; --pass)
    press_floor<kSweep>(s, m, sole, floor, stride);
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (uint32_t(k) >= floor.count) break;
    Vec3 r = point(floor.arm, k);
    if constexpr (kSweep == kRelaxed) r += cross(vec(stride.turn), r);
    const Slip old = {sole.first[k], sole.second[k]};
    const Slip now = friction_impulse(
        old, {m.v.x + m.w.y * r.z - m.w.z * r.y, m.v.y + m.w.z * r.x - m.w.x * r.z},
        floor.slide[3 * k], floor.slide[3 * k + 1], floor.slide[3 * k + 2],
        floor.friction * sole.normal[k]);
    sole.first[k] = now.first;
    sole.second[k] = now.second;
    m.push(r, {now.first - old.first, now.second - old.second, 0.0f});
  }
  velocity = velocity_of(m);
}

GE_FN void bounce_points(Moving& m, Sole& sole, const Floor& floor, float least) {
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (uint32_t(k) >= floor.count) break;
    if (!(floor.approach[k] < least) || sole.normal[k] == 0.0f) continue;
    const Vec3 r = point(floor.arm, k);
    const float speed = m.v.z + (m.w.x * r.y - m.w.y * r.x);
    const float now =
        max(sole.normal[k] - (speed + floor.restitution * floor.approach[k]) * floor.mass[k], 0.0f);
    m.push(r, {0.0f, 0.0f, now - sole.normal[k]});
    sole.normal[k] = now;
  }
}
template <class M>
GE_FN void bounce_floor(const WorldOf<M>& w, Velocity& velocity, Sole& sole, const Floor& floor,
                        const Frame& frame) {
  const float least = -setup_of<M>(w).bounce_speed;
  bool any = false;
  GE_UNROLL
  for (int k = 0; k < 4; ++k)
    any = any || (uint32_t(k) < floor.count && floor.approach[k] < least && sole.normal[k] > 0.0f);
  if (!any || floor.restitution == 0.0f) return;
  Moving m = moving(velocity, frame);
  for (int pass = 0; pass < kHitPasses; ++pass) bounce_points(m, sole, floor, least);
  velocity = velocity_of(m);
}

}  // namespace ge::physics
