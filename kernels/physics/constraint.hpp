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
//
// The equations, in the code's signs. n is the unit normal from a to b, t1 and t2 = n x t1 span the
// plane across it, r_a and r_b are the arms from the centres of mass to the point, x the centres, v
// and w the velocities, m and I masses and inertias (in the world). An impulse acts on b as it is
// and on a reversed; what cannot move has 1/m = 0 and I^-1 = 0 and drops out of every sum.
//
//   slip      u = (v_b + w_b x r_b) - (v_a + w_a x r_a)                                     [m/s]
//
//   normal    C = (x_b + r_b - x_a - r_a) . n >= 0      the gap; negative is overlap          [m]
//             J = [-n, -(r_a x n), n, r_b x n]          so C' = J [v_a w_a v_b w_b] = u . n
//             K = 1/m_a + 1/m_b + (r_a x n) . I_a^-1 (r_a x n) + (r_b x n) . I_b^-1 (r_b x n)
//             L >= 0, and L (C' + bias) = 0 in a rigid sweep: it pushes or it is open       [N s]
//
//   friction  C' = [u . t1, u . t2]                     stops; there is no error to correct
//             J = [-t, -(r_a x t), t, r_b x t]          a row for t1, one for t2
//             K_ij = (1/m_a + 1/m_b) d_ij + (r_a x t_i) . I_a^-1 (r_a x t_j)
//                                         + (r_b x t_i) . I_b^-1 (r_b x t_j)
//             |L_t| <= mu L_n                           Coulomb's disc, with the L_n of this sweep
//
//   bounce    u . n = -e u0 . n                         u0: the slip before the substep's push
//
// Each point in turn gets the dL that satisfies its own row, and the velocities change by M^-1 J^T
// dL before the next one is solved (projected Gauss-Seidel). The accumulated impulse L of a substep
// is clamped, not its change: a point may later take back an excess.
#pragma once

#include "physics/tables.hpp"

namespace ge::physics {

/// The biased sweep shapes the positions, the relaxed one the velocities that the step ends with.
enum Sweep { kBiased, kRelaxed };

/// Parameters of a sweep in this substep.
struct Sweeping {
  float rate;  // 1 / substep [1/s]
  float push;
};

/// The change of a normal impulse that the sweep wants. `gap` is the distance at this moment,
/// `speed` is C', `mass` 1 / K. Where bodies are apart, C' may close the gap within one substep but
/// no more: C' + gap / h >= 0. Where they overlap, the spring wants C' = -bias gap, at most `push`,
/// in the biased sweep; 0 in the relaxed one. L' = max(L - scale (C' + bias) / K - given_up L, 0).
GE_FN float normal_change(const Sweeping& sweep, const Soft& soft, bool biased, float gap,
                          float speed, float mass, float impulse) {
  const bool apart = gap > 0.0f;
  const bool springs = biased & !apart;
  // gap <= 0 here, so the bias is negative: a wish to part at up to `push`.
  const float pushed = max(soft.bias * gap, -sweep.push);
  const float bias = select(apart, gap * sweep.rate, select(springs, pushed, 0.0f));
  const float scale = select(springs, soft.mass, 1.0f);
  const float given_up = select(springs, soft.impulse, 0.0f);
  return max(impulse - scale * (speed + bias) * mass - given_up * impulse, 0.0f) - impulse;
}

/// Passes over the normals of one contact within a sweep. After one pass a flat impact would leave
/// the points unevenly loaded: a cube that falls flat would turn, and friction would push it
/// sideways.
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
/// The friction impulse that stops the slip, or the largest on the disc of radius `most` = mu L_n.
/// First L - K^-1 slip, the 2x2 block solved at once. A result beyond the disc is not scaled back,
/// which would bend it away from the slip (slides come out 6 to 15 % too long, and yaw), but
/// replaced by a step along the slip, L - slip / k, clamped to the disc. With k the larger
/// eigenvalue of K no direction is stepped too far, and what repeats itself has L opposite to the
/// slip: Coulomb.
GE_FN Slip friction_impulse(Slip old, Slip slip, float xx, float xy, float yy, float most) {
  const float determinant = xx * yy - xy * xy;
  const float scale = select(determinant > 1e-12f, 1.0f / determinant, 0.0f);
  Slip now = {old.first - scale * (yy * slip.first - xy * slip.second),
              old.second - scale * (xx * slip.second - xy * slip.first)};
  if (now.first * now.first + now.second * now.second <= most * most) return now;
  // Larger eigenvalue of [xx xy; xy yy]: mean of the diagonal plus the root of half its difference
  // squared and xy^2.
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

/// Bodies that cannot tilt leave open which of their points carries the load: the first to be
/// solved would take all of it, and friction there would turn the body. So the points share it.
GE_FN void share_load(float (&normal)[4], int count) {
  float sum = 0.0f;
  GE_UNROLL
  for (int k = 0; k < 4; ++k) sum += select(k < count, normal[k], 0.0f);
  const float share = sum / float(max(count, 1));
  GE_UNROLL
  for (int k = 0; k < 4; ++k) normal[k] = select(k < count, share, normal[k]);
}

/// 1 / x, or 0 where nothing moves. An effective mass of 0 needs no impulse, so two immovable sides
/// need no branch.
GE_FN float inverse_or_zero(float x) {
  return select(x > 0.0f, 1.0f / x, 0.0f);
}
/// What the rotation of one side adds to K: (r x n) . I^-1 (r x n) [1/kg].
GE_FN float turning(const Sym3& inverse_inertia, Vec3 arm_cross_n) {
  return dot(arm_cross_n, inverse_inertia * arm_cross_n);
}

/// A body's velocities while rows of a sweep change them, with its inverse mass and inertia: a
/// copy, so that the points of one contact see each other's impulses before anything is stored.
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
