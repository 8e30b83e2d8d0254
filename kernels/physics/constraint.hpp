// The arithmetic that all contacts share: a soft push along the normal, friction in the plane, and
// the bounce after the sweeps. One substep of the scheme (soft contacts with relaxation, after
// Catto, "Solver2D", 2024):
//
//   velocities    gravity and loads
//   warm start    the impulses of the last substep
//   biased sweep  overlap pushes back like a damped spring (Soft), at most with Setup::push
//   positions
//   relaxed sweep without that push, so that what it added to the velocities goes away again
//   bounce        what hit fast enough leaves with its share of the speed
//
// The spring's softness keeps heavy stacks and squeezes stable; the cap on its push keeps bodies
// that were put into each other from flying apart.
#pragma once

#include "physics/tables.hpp"

namespace ge::physics {

enum Sweep { kBiased, kRelaxed };

/// What a sweep has to know of the substep.
struct Sweeping {
  float rate;  // 1 / substep [1/s]
  float push;
};

/// The change of a normal impulse that the sweep wants. `gap` is the distance now.
GE_FN float normal_change(const Sweeping& sweep, const Soft& soft, bool biased, float gap,
                          float speed, float mass, float impulse) {
  const bool apart = gap > 0.0f;
  const bool springs = biased & !apart;
  const float pushed = max(soft.bias * gap, -sweep.push);
  const float bias = select(apart, gap * sweep.rate, select(springs, pushed, 0.0f));
  const float scale = select(springs, soft.mass, 1.0f);
  const float given_up = select(springs, soft.impulse, 0.0f);
  return max(impulse - scale * (speed + bias) * mass - given_up * impulse, 0.0f) - impulse;
}

/// Passes over the normals of one contact within a sweep. After one pass a flat impact would leave the
/// points unevenly loaded: a cube that falls flat would turn, and friction make that a way sideways.
inline constexpr int kHitPasses = 4;
GE_FN int normal_passes(const Setup& s, const float (&approach)[4], uint32_t count) {
  bool hit = false;
  GE_UNROLL
  for (int k = 0; k < 4; ++k) hit = hit | ((uint32_t(k) < count) & (approach[k] < -s.bounce_speed));
  return hit ? kHitPasses : 1;
}

struct Slip {
  float first, second;
};
/// The friction impulse that stops the slip, or the largest on the disc of radius `most`. A result
/// beyond the disc is not scaled back, which would bend it away from the slip, but replaced by a step
/// along the slip.
GE_FN Slip friction_impulse(Slip old, Slip slip, float xx, float xy, float yy, float most) {
  const float determinant = xx * yy - xy * xy;
  const float scale = select(determinant > 1e-12f, 1.0f / determinant, 0.0f);
  Slip now = {old.first - scale * (yy * slip.first - xy * slip.second),
              old.second - scale * (xx * slip.second - xy * slip.first)};
  if (now.first * now.first + now.second * now.second <= most * most) return now;
  const float half = 0.5f * (xx - yy);
  const float stiffest = 0.5f * (xx + yy) + sqrt(half * half + xy * xy);
  const float step = select(stiffest > 0.0f, 1.0f / stiffest, 0.0f);
  now = {old.first - slip.first * step, old.second - slip.second * step};
  const float squared = now.first * now.first + now.second * now.second;
  if (squared > most * most) {
    const float shrink = most / sqrt(squared);
    now.first *= shrink;
    now.second *= shrink;
  }
  return now;
}

/// What cannot tilt leaves open which of its points carries it: the first to be solved would take
/// all, and friction there would turn the body. So the points share.
GE_FN void share_load(float (&normal)[4], int count) {
  float sum = 0.0f;
  GE_UNROLL
  for (int k = 0; k < 4; ++k) sum += select(k < count, normal[k], 0.0f);
  const float share = sum / float(max(count, 1));
  GE_UNROLL
  for (int k = 0; k < 4; ++k) normal[k] = select(k < count, share, normal[k]);
}

/// 1 / x, or 0 where nothing moves.
GE_FN float inverse_or_zero(float x) {
  return select(x > 0.0f, 1.0f / x, 0.0f);
}
/// Mass seen along n at `arm`, inverted: what the rotation adds.
GE_FN float turning(const Sym3& inverse_inertia, Vec3 arm_cross_n) {
  return dot(arm_cross_n, inverse_inertia * arm_cross_n);
}

/// Where a body stands in a sweep.
struct Moving {
  Vec3 v, w;
  float inverse_mass;
  Sym3 inverse_inertia;
  GE_FN Vec3 at(Vec3 arm) const { return v + cross(w, arm); }
  GE_FN void push(Vec3 arm, Vec3 impulse) {
    v += impulse * inverse_mass;
    w += inverse_inertia * cross(arm, impulse);
  }
};
GE_FN Moving moving(const Velocity& v, const Frame& f) {
  return {vec(v.linear), vec(v.angular), f.inverse_mass, sym(f.inverse_inertia)};
}
GE_FN Velocity velocity_of(const Moving& m) {
  Velocity v;
  put(v.linear, m.v);
  put(v.angular, m.w);
  return v;
}

GE_FN Vec3 point(const float (&all)[12], int k) {
  return {all[3 * k], all[3 * k + 1], all[3 * k + 2]};
}
GE_FN void set_point(float (&all)[12], int k, Vec3 p) {
  all[3 * k] = p.x, all[3 * k + 1] = p.y, all[3 * k + 2] = p.z;
}

}  // namespace ge::physics
