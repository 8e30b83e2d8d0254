// The sweeps over contacts. Each row pushes its two bodies, so rows run by colour; a contact with
// an immovable side pushes one body and has a path of its own, since it is half the work.
#pragma once

#include "physics/contacts.hpp"

namespace ge::physics {

template <class M>
using VelocityRows = Rows<BodiesOf<M>, Velocity>;

/// Both bodies of a contact or joint while it is solved.
/// It copies velocities in, the rows of a contact change the copies, `store` writes them back: no
/// other row of the same colour reads or writes these two bodies meanwhile. n and impulses point
/// from a to b throughout.
template <class M>
struct Couple {
  Moving a, b;
  uint32_t row_a, row_b;
  bool moves_a, moves_b;

  GE_FN Couple(const WorldOf<M>& w, const VelocityRows<M>& rows, uint32_t first, uint32_t second)
      : a(load(w, rows, first)),
        b(load(w, rows, second)),
        row_a(first),
        row_b(second),
        moves_a(a.inverse_mass > 0.0f),
        moves_b(b.inverse_mass > 0.0f) {}
  static GE_FN Moving load(const WorldOf<M>& w, const VelocityRows<M>& rows, uint32_t row) {
    // Rows from kBodies on have no Velocity to read: zeros, with no inverse mass.
    if (is_static<M>(row)) return Moving{};
    return moving(rows.get(int(row)), get<BodiesOf<M>, Frame>(w, int(row)));
  }
  GE_FN void store(const VelocityRows<M>& rows) const {
    if (moves_a) rows.set(int(row_a), velocity_of(a));
    if (moves_b) rows.set(int(row_b), velocity_of(b));
  }
  /// The impulse on b at its arm, and its reaction on a.
  GE_FN void push(Vec3 arm_a, Vec3 arm_b, Vec3 impulse) {
    if (moves_a) a.push(arm_a, -impulse);
    if (moves_b) b.push(arm_b, impulse);
  }
  /// u of constraint.hpp. Immovable bodies count as at rest, whatever velocity their row holds: a
  /// locked body may have been written one.
  GE_FN Vec3 slip(Vec3 arm_a, Vec3 arm_b) const {
    Vec3 speed = {0, 0, 0};
    if (moves_b) speed = b.at(arm_b);
    if (moves_a) speed = speed - a.at(arm_a);
    return speed;
  }
};

/// Applies the impulses that recall() found before the first sweep. That sweep then only corrects
/// them, which is why one sweep of each kind suffices for bodies at rest.
template <class M>
GE_FN void warm_contact(const WorldOf<M>& w, const Manifold& m, const Impulse& impulse,
                        VelocityRows<M> rows) {
  Couple<M> pair(w, rows, m.a, m.b);
  const Vec3 n = vec(m.normal), first = vec(m.tangent), second = cross(n, first);
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (uint32_t(k) >= m.count) break;
    pair.push(point(m.arm_a, k), point(m.arm_b, k),
              n * impulse.normal[k] + first * impulse.first[k] + second * impulse.second[k]);
  }
  pair.store(rows);
}

/// The motion of this substep so far. The relaxed sweep works at the current poses: with the arms
/// of the substep's beginning it would feed the sway of a stack.
template <class M>
GE_FN Stride stride_of(const WorldOf<M>& w, uint32_t row) {
  if (is_static<M>(row)) return Stride{};
  return get<BodiesOf<M>, Stride>(w, int(row));
}
/// An arm rotated with its body, and the displacement of its end.
struct MovedArm {
  Vec3 arm, way;
};
/// To first order in the rotation, which is at most top_spin times the substep.
GE_FN MovedArm moved_arm(const Stride& stride, Vec3 arm) {
  const Vec3 turned = cross(vec(stride.turn), arm);
  return {arm + turned, vec(stride.shift) + turned};
}

/// The normal impulses of one pass.
template <Sweep kSweep, class M>
GE_FN void press_contact(const Setup& s, Couple<M>& pair, Impulse& impulse, const Manifold& m,
                         const Stride& moved_a, const Stride& moved_b) {
  // Stiffer against what cannot move: a push squeezes bodies into it, and no other side yields.
  const bool hard = !pair.moves_a || !pair.moves_b;
  const Soft soft = hard ? s.hard_contact : s.contact;
  const Sweeping sweep = {1.0f / s.substep, s.push};
  const Vec3 n = vec(m.normal);
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (uint32_t(k) >= m.count) break;
    Vec3 arm_a = point(m.arm_a, k), arm_b = point(m.arm_b, k);
    float gap = m.gap[k];
    if constexpr (kSweep == kRelaxed) {
      const MovedArm a = moved_arm(moved_a, arm_a), b = moved_arm(moved_b, arm_b);
      arm_a = a.arm, arm_b = b.arm;
      // C after the motion: C0 + (d_b - d_a) . n, the d being the ways of the two ends of the arms.
      // The normal is kept.
      gap += dot(b.way - a.way, n);
    }
    const float change =
        normal_change(sweep, soft, kSweep == kBiased, gap, dot(pair.slip(arm_a, arm_b), n),
                      m.mass[k], impulse.normal[k]);
    impulse.normal[k] += change;
    pair.push(arm_a, arm_b, n * change);
  }
}

/// One sweep over one contact: its normals, then its friction, whose disc is as large as the normal
/// impulses are by then.
template <Sweep kSweep, class M>
GE_FN void solve_contact(const WorldOf<M>& w, Impulse& impulse, const Manifold& m,
                         VelocityRows<M> rows) {
  const Setup& s = setup_of<M>(w);
  Couple<M> pair(w, rows, m.a, m.b);
  const Vec3 n = vec(m.normal), first = vec(m.tangent), second = cross(n, first);
  Stride moved_a{}, moved_b{};
  if constexpr (kSweep == kRelaxed) {
    moved_a = stride_of<M>(w, m.a);
    moved_b = stride_of<M>(w, m.b);
  }
  for (int pass = normal_passes(s, m.approach, m.count); pass > 0; --pass)
    press_contact<kSweep>(s, pair, impulse, m, moved_a, moved_b);
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (uint32_t(k) >= m.count) break;
    Vec3 arm_a = point(m.arm_a, k), arm_b = point(m.arm_b, k);
    if constexpr (kSweep == kRelaxed) {
      arm_a = moved_arm(moved_a, arm_a).arm;
      arm_b = moved_arm(moved_b, arm_b).arm;
    }
    const Vec3 slip = pair.slip(arm_a, arm_b);
    const Slip old = {impulse.first[k], impulse.second[k]};
    const Slip now =
        friction_impulse(old, {dot(slip, first), dot(slip, second)}, m.slide[3 * k],
                         m.slide[3 * k + 1], m.slide[3 * k + 2], m.friction * impulse.normal[k]);
    impulse.first[k] = now.first;
    impulse.second[k] = now.second;
    pair.push(arm_a, arm_b, first * (now.first - old.first) + second * (now.second - old.second));
  }
  pair.store(rows);
}

/// Wants u . n = -e u0 . n, so dL = -(u . n + e u0 . n) / K, L + dL >= 0. A point with L = 0 after
/// the sweeps holds nothing, so it has nothing to give back.
template <class M>
GE_FN void bounce_points(Couple<M>& pair, Impulse& impulse, const Manifold& m, float least) {
  const Vec3 n = vec(m.normal);
  GE_UNROLL
  for (int k = 0; k < 4; ++k) {
    if (uint32_t(k) >= m.count) break;
    if (!(m.approach[k] < least) || impulse.normal[k] == 0.0f) continue;
    const Vec3 arm_a = point(m.arm_a, k), arm_b = point(m.arm_b, k);
    const float speed = dot(pair.slip(arm_a, arm_b), n);
    const float now =
        max(impulse.normal[k] - (speed + m.restitution * m.approach[k]) * m.mass[k], 0.0f);
    pair.push(arm_a, arm_b, n * (now - impulse.normal[k]));
    impulse.normal[k] = now;
  }
}
/// Points that were hit fast enough, and hold, leave with their share of the speed.
template <class M>
GE_FN void bounce_contact(const WorldOf<M>& w, Impulse& impulse, const Manifold& m,
                          VelocityRows<M> rows) {
  const float least = -setup_of<M>(w).bounce_speed;
  bool any = false;
  GE_UNROLL
  for (int k = 0; k < 4; ++k)
    any = any || (uint32_t(k) < m.count && m.approach[k] < least && impulse.normal[k] > 0.0f);
  if (!any || m.restitution == 0.0f) return;
  Couple<M> pair(w, rows, m.a, m.b);
  for (int pass = 0; pass < kHitPasses; ++pass) bounce_points(pair, impulse, m, least);
  pair.store(rows);
}

}  // namespace ge::physics
