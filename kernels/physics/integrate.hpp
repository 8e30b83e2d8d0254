// Motion of single bodies: frames, velocities under loads, positions.
//
// A free body keeps its angular momentum through a substep, not its angular velocity: half a step
// predicts the orientation in the middle, whose spin turns it the whole step. Integrating the spin
// itself loses a fifth of a tumbling body's energy in 8 s.
#pragma once

#include "physics/constraint.hpp"
#include "physics/floor.hpp"

namespace ge::physics {

/// I^-1 in the world is R I^-1 R^T. An upright body has only its zz, which turning about z does not
/// change: no torque tilts it, and every K sees it as infinitely stiff about x and y.
GE_FN void set_frame(Frame& frame, const Kind& kind, const Body& body, Quat orientation) {
  const Mat3 turn = matrix(orientation);
  set_turn(frame, turn);
  if (!awake(body)) {
    frame.inverse_mass = 0.0f;
    set_inertia(frame, Sym3{});
    return;
  }
  frame.inverse_mass = kind.inverse_mass;
  set_inertia(frame, kind.upright != 0 ? Sym3{0, 0, kind.inverse_inertia[2], 0, 0, 0}
                                       : rotated(turn, sym(kind.inverse_inertia)));
}

/// A body that is not awake keeps this frame and the zero stride throughout the round.
template <class M>
GE_FN void frame_body(const WorldOf<M>& w, Frame& frame, Stride& stride, const Pose& pose,
                      const Body& body) {
  set_frame(frame, setup_of<M>(w).kinds[body.kind], body, quat(pose.orientation));
  stride = Stride{};
}

/// Gravity, loads and damping; then the floor's impulses of the last substep.
/// Velocities before positions (symplectic Euler): the sweeps in between see the forces of this
/// substep, so what rests does not sink and come back.
template <class M>
GE_FN void integrate_velocity(const WorldOf<M>& w, Velocity& velocity, const Body& body,
                              const Frame& frame, const Load& load, const Sole& sole,
                              const Floor& floor) {
  const Setup& s = setup_of<M>(w);
  const Kind& kind = s.kinds[body.kind];
  const float h = s.substep;
  Moving m = moving(velocity, frame);
  m.v += vec(load.force) * (h * m.inverse_mass);
  m.v.z -= h * s.gravity;
  // No term w x I w: spin_free() turns the body by its momentum instead.
  m.w += (m.inverse_inertia * vec(load.torque)) * h;
  if (kind.damping[0] + kind.damping[1] + kind.spin_damping > 0.0f) {
    // Implicit, so that no damping is too strong.
    // v' = v - h d v' / m, solved for v'.
    const float level = 1.0f / (1.0f + h * kind.damping[0] * m.inverse_mass);
    m.v.x *= level;
    m.v.y *= level;
    m.v.z *= 1.0f / (1.0f + h * kind.damping[1] * m.inverse_mass);
    m.w = m.w * (1.0f / (1.0f + h * kind.spin_damping * kind.inverse_inertia[2]));
  }
  warm_floor(m, sole, floor);
  velocity = velocity_of(m);
}

/// The rotation of a free body through time h: keeps the angular momentum, gives the spin after it.
/// L = R I R^T w stays, so with R at the middle w = R I^-1 R^T L is the mean spin, and with R at
/// the end the spin after it: the midpoint rule, second order in h.
GE_FN Quat spin_free(const Kind& kind, Quat q, const Mat3& turn, Vec3& spin, float h) {
  const Sym3 inverse = sym(kind.inverse_inertia);
  const Vec3 momentum = turn * (sym(kind.inertia) * to_body(turn, spin));
  const Mat3 middle = matrix(turned(q, spin, 0.5f * h));
  const Vec3 mean = middle * (inverse * to_body(middle, momentum));
  const Quat end = turned(q, mean, h);
  const Mat3 last = matrix(end);
  spin = last * (inverse * to_body(last, momentum));
  return end;
}

/// Limits speeds to Setup::top_speed and top_spin. Scaled, not clamped by component: the direction
/// stays.
GE_FN void limit(const Setup& s, Vec3& v, Vec3& spin) {
  const float speed = length(v), turning = length(spin);
  if (speed > s.top_speed) v = v * (s.top_speed / speed);
  if (turning > s.top_spin) spin = spin * (s.top_spin / turning);
}
GE_FN void limit(const Setup& s, Velocity& velocity) {
  Vec3 v = vec(velocity.linear), spin = vec(velocity.angular);
  limit(s, v, spin);
  put(velocity.linear, v);
  put(velocity.angular, spin);
}
/// Before a step: clamps values that were written from outside to valid ones. A kind beyond the
/// table would be read past its end by every stage; a quaternion of unit length up to rounding is
/// left as it is, so that a saved pose goes on with the same bits.
template <class M>
GE_FN void mend_body(const WorldOf<M>& w, Pose& pose, Velocity& velocity, Body& body) {
  limit(setup_of<M>(w), velocity);
  body.kind = min(body.kind, uint32_t(kKinds - 1));
  const Quat q = quat(pose.orientation);
  const float square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  if (!(abs(square - 1.0f) < 1e-3f)) put(pose.orientation, normalized(q));
}
/// All later stages index bodies by a joint's rows without checks.
template <class M>
GE_FN void mend_joint(const WorldOf<M>& w, Joint& joint) {
  if (joint.type == kNoJoint) return;
  using T = BodiesOf<M>;
  const bool there = joint.a < uint32_t(T::capacity) && joint.b < uint32_t(T::capacity) &&
                     present(get<T, Body>(w, int(joint.a))) &&
                     present(get<T, Body>(w, int(joint.b)));
  if (!there) joint.type = kNoJoint;
}

/// Limits the velocities at the end of a step: the relaxed sweep and the bounce of the last substep
/// come after the limit of its positions.
template <class M>
GE_FN void limit_velocity(const WorldOf<M>& w, Velocity& velocity) {
  limit(setup_of<M>(w), velocity);
}

/// The part of a rotation that moves a body's points of contact: a round one rolls under them.
/// A contact's arm turned with a ball would lift off the ground it rolls on.
GE_FN Vec3 rolled(const Kind& kind, const Mat3& turn, Vec3 rotation) {
  if (kind.shape == kSphere) return {0, 0, 0};
  if (kind.shape == kCapsule) return rotation - turn.z * dot(turn.z, rotation);
  return rotation;
}

/// Writes the frame too: joints and the next substep's contacts read arms and inertias from it. The
/// displacement is limited here, since contacts are searched only within Setup::reach.
template <class M>
GE_FN void integrate_position(const WorldOf<M>& w, Pose& pose, Velocity& velocity, Frame& frame,
                              Stride& stride, const Body& body) {
  const Setup& s = setup_of<M>(w);
  const Kind& kind = s.kinds[body.kind];
  const float h = s.substep;
  Vec3 v = vec(velocity.linear), spin = vec(velocity.angular);
  limit(s, v, spin);
  put(pose.position, vec(pose.position) + v * h);
  put(stride.shift, v * h);
  put(stride.turn, rolled(kind, turn_of(frame), spin * h));
  const Quat q = quat(pose.orientation);
  // A body that does not turn keeps its quaternion bit for bit.
  if (dot(spin, spin) > 0.0f) {
    const Quat end =
        kind.upright != 0 ? turned(q, spin, h) : spin_free(kind, q, turn_of(frame), spin, h);
    put(pose.orientation, end);
    set_frame(frame, kind, body, end);
  }
  put(velocity.linear, v);
  put(velocity.angular, spin);
}

}  // namespace ge::physics
