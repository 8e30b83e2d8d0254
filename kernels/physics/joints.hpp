// Joints: b held to a by a point (ball), or by a point and its orientation (fixed). Solved before
// the contacts, each by two blocks of three rows, so that contacts have the last word.
//
//   orientation  C = -e                           e: the rotation vector that would take b to
//                                                 a's orientation times `relative`          [rad]
//                J = [0, -1, 0, 1]                C' = w_b - w_a
//                K = I_a^-1 + I_b^-1              3x3, in the world
//
//   point        C = (x_b + r_b) - (x_a + r_a)    the anchors, apart                            [m]
//                J = [-1, [r_a], 1, -[r_b]]       [r] y = r x y, so C' = u, the slip
//                K = (1/m_a + 1/m_b) 1 - [r_a] I_a^-1 [r_a] - [r_b] I_b^-1 [r_b]
//
// Both are soft in the biased sweep (Setup::joint; dL = -mass K^-1 (C' + bias C) - impulse L) and
// rigid without a bias in the relaxed one. L is unbounded: a joint pulls as it pushes.
#pragma once

#include "physics/contact_solver.hpp"

namespace ge::physics {

/// Makes a joint at the point `at` of the world that keeps the bodies as they are.
/// Its errors are zero by construction, so it starts without a pull.
GE_FN Joint joint_between(uint32_t type, uint32_t a, uint32_t b, const Pose& pose_a,
                          const Pose& pose_b, Vec3 at) {
  Joint joint{};
  joint.type = type, joint.a = a, joint.b = b;
  const Quat qa = quat(pose_a.orientation), qb = quat(pose_b.orientation);
  put(joint.anchor_a, to_body(matrix(qa), at - vec(pose_a.position)));
  put(joint.anchor_b, to_body(matrix(qb), at - vec(pose_b.position)));
  put(joint.relative, conjugate(qa) * qb);
  return joint;
}

/// Joints that share a body run one after the other.
/// In every step, for joints come and go with what the environment does; contacts in every substep.
template <class M>
GE_FN void colour_joints(const WorldOf<M>& w, Counts& counts,
                         Rows<typename M::Physics::Joints, Colour> colours,
                         Rows<BodiesOf<M>, Used> used) {
  using J = typename M::Physics::Joints;
  for (int k = 0; k < M::Physics::kBodies; ++k) used.set(k, Used{0});
  int last = 0;
  for (int k = 0; k < J::capacity; ++k) {
    const Joint joint = get<J, Joint>(w, k);
    colours.set(k, {kNoColour});
    if (joint.type == kNoJoint) continue;
    const uint32_t a = used.get(int(joint.a)).colours, b = used.get(int(joint.b)).colours;
    const int colour = lowest_one(~uint64_t{a | b});
    // A body that more than 31 joints hold drops the others in this step.
    if (colour >= 32) continue;
    used.set(int(joint.a), {a | 1u << colour});
    used.set(int(joint.b), {b | 1u << colour});
    colours.set(k, {uint32_t(colour)});
    last = max(last, colour + 1);
  }
  counts.joint_colours = uint32_t(last);
}
template <class M>
GE_FN int joint_colour_count(const WorldOf<M>&, const Counts& counts) {
  return int(counts.joint_colours);
}

/// Warm start, as for contacts. `twist` is 0 in a ball, which never adds to it.
template <class M>
GE_FN void warm_joint(const WorldOf<M>& w, const Joint& joint, VelocityRows<M> rows) {
  using T = BodiesOf<M>;
  Couple<M> pair(w, rows, joint.a, joint.b);
  const Mat3 turn_a = turn_of(get<T, Frame>(w, int(joint.a)));
  const Mat3 turn_b = turn_of(get<T, Frame>(w, int(joint.b)));
  pair.push(turn_a * vec(joint.anchor_a), turn_b * vec(joint.anchor_b), vec(joint.pull));
  const Vec3 twist = vec(joint.twist);
  pair.a.w -= pair.a.inverse_inertia * twist;
  pair.b.w += pair.b.inverse_inertia * twist;
  pair.store(rows);
}

/// The rotational block: b keeps its orientation in a's frame.
template <class M>
GE_FN void hold_orientation(Couple<M>& pair, Joint& joint, const Soft& soft, Vec3 error) {
  const Sym3 k = pair.a.inverse_inertia + pair.b.inverse_inertia;
  // C' + bias C with C = -error.
  const Vec3 rate = pair.b.w - pair.a.w - error * soft.bias;
  Vec3 change;
  // K has but zz then, and a 3x3 solution would divide by zero.
  if (k.xx + k.yy == 0.0f) {
    // Neither can tilt, so only the yaw can be held.
    change = {0.0f, 0.0f, -rate.z * inverse_or_zero(k.zz)};
  } else {
    change = -solve({k.xx, k.xy, k.xz}, {k.xy, k.yy, k.yz}, {k.xz, k.yz, k.zz}, rate);
  }
  const Vec3 old = vec(joint.twist);
  change = change * soft.mass - old * soft.impulse;
  put(joint.twist, old + change);
  pair.a.w -= pair.a.inverse_inertia * change;
  pair.b.w += pair.b.inverse_inertia * change;
}

/// One column of the matrix that maps an impulse to a change of the slip: one side's part of K,
/// axis / m - r x I^-1 (r x axis).
GE_FN Vec3 response(const Moving& m, Vec3 arm, Vec3 axis) {
  return axis * m.inverse_mass + cross(m.inverse_inertia * cross(arm, axis), arm);
}
/// K cannot be singular here: one side moves, so its diagonal has at least that 1/m.
template <class M>
GE_FN void hold_point(Couple<M>& pair, Joint& joint, const Soft& soft, Vec3 arm_a, Vec3 arm_b,
                      Vec3 error) {
  const Vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
  const Vec3 rate = pair.slip(arm_a, arm_b) + error * soft.bias;
  const Vec3 solved = solve(response(pair.a, arm_a, x) + response(pair.b, arm_b, x),
                            response(pair.a, arm_a, y) + response(pair.b, arm_b, y),
                            response(pair.a, arm_a, z) + response(pair.b, arm_b, z), rate);
  const Vec3 old = vec(joint.pull);
  const Vec3 change = -(solved * soft.mass) - old * soft.impulse;
  put(joint.pull, old + change);
  pair.push(arm_a, arm_b, change);
}

template <Sweep kSweep, class M>
GE_FN void solve_joint(const WorldOf<M>& w, Joint& joint, VelocityRows<M> rows) {
  using T = BodiesOf<M>;
  Couple<M> pair(w, rows, joint.a, joint.b);
  if (!pair.moves_a && !pair.moves_b) return;
  const Pose pose_a = get<T, Pose>(w, int(joint.a));
  const Pose pose_b = get<T, Pose>(w, int(joint.b));
  // From the frames as they are now, so the relaxed sweep needs no `Stride`: it sees moved arms.
  const Vec3 arm_a = turn_of(get<T, Frame>(w, int(joint.a))) * vec(joint.anchor_a);
  const Vec3 arm_b = turn_of(get<T, Frame>(w, int(joint.b))) * vec(joint.anchor_b);
  const Soft rigid = {0.0f, 1.0f, 0.0f};
  const Soft soft = kSweep == kBiased ? common_setup_of<M>(w).joint : rigid;
  if (joint.type == kFixedJoint) {
    // wanted = e * q_b, so e = wanted * conjugate(q_b), turned about axes of the world.
    const Quat wanted = quat(pose_a.orientation) * quat(joint.relative);
    hold_orientation<M>(pair, joint, soft,
                        small_rotation(wanted * conjugate(quat(pose_b.orientation))));
  }
  const Vec3 error = vec(pose_b.position) + arm_b - vec(pose_a.position) - arm_a;
  hold_point<M>(pair, joint, soft, arm_a, arm_b, error);
  pair.store(rows);
}

}  // namespace ge::physics
