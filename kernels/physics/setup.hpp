// Filling in a Setup: kinds of bodies with the mass, centre and inertia of their shapes,
// coefficients of pairs, and the solver's constants. On the host, once per simulator; masses,
// coefficients and gravity on any machine, where they differ by world.
#pragma once

#include "physics/bodies.hpp"

namespace ge::physics {

/// Inertia about the origin, and its inverse. Its products xy and xz are zero for all shapes here.
/// [xx 0 0; 0 yy yz; 0 yz zz]: the inverse is 1/xx beside that of a 2x2 block. [kg m^2]
GE_FN void set_inertia(Kind& kind, double xx, double yy, double zz, double yz = 0) {
  const double determinant = yy * zz - yz * yz;
  const double inertia[6] = {xx, yy, zz, 0, 0, yz};
  const double inverse[6] = {1 / xx, zz / determinant, yy / determinant, 0, 0, -yz / determinant};
  for (int k = 0; k < 6; ++k)
    kind.inertia[k] = float(inertia[k]), kind.inverse_inertia[k] = float(inverse[k]);
}

/// A kind with shape and size only, for statics: its inverse mass and inertia are 0, so nothing can
/// push it.
inline Kind shape_kind(Shape shape, double x, double y, double z) {
  Kind kind{};
  kind.shape = shape;
  kind.half[0] = float(x), kind.half[1] = float(y), kind.half[2] = float(z);
  kind.bound = float(ge::sqrt(x * x + y * y + z * z));
  return kind;
}

/// A prism over a right triangle: run L along y, height H at its far end.
inline Kind wedge_shape(double half_width, double run, double height) {
  Kind kind = shape_kind(kWedge, half_width, run, height);
  const Corner slope = wedge_slope(run, height);
  kind.slope[0] = slope.y, kind.slope[1] = slope.z;
  // No corner is farther from the centroid than two thirds of run and of height at once.
  kind.bound = float(ge::sqrt(half_width * half_width + 4 * (run * run + height * height) / 9));
  return kind;
}
/// A cylinder along z between two half spheres.
inline Kind capsule_shape(double radius, double half_length) {
  Kind kind = shape_kind(kCapsule, radius, 0, half_length);
  kind.bound = float(radius + half_length);
  return kind;
}

/// Half extents: m ((2y)^2 + (2z)^2) / 12 = m (y^2 + z^2) / 3.
GE_FN void set_box_inertia(Kind& kind, double x, double y, double z, double mass) {
  set_inertia(kind, mass * (y * y + z * z) / 3, mass * (x * x + z * z) / 3,
              mass * (x * x + y * y) / 3);
}
/// About the centroid the triangle's second moments are L^2/18, H^2/18 and L H/36.
GE_FN void set_wedge_inertia(Kind& kind, double half_width, double run, double height,
                             double mass) {
  const double x = half_width * half_width / 3, y = run * run / 18, z = height * height / 18;
  // A product of inertia is minus the moment: I_yz = -sum of m y z.
  set_inertia(kind, mass * (y + z), mass * (x + z), mass * (x + y), -mass * run * height / 36);
}
GE_FN void set_sphere_inertia(Kind& kind, double radius, double mass) {
  const double inertia = 0.4 * mass * radius * radius;
  set_inertia(kind, inertia, inertia, inertia);
}
GE_FN void set_capsule_inertia(Kind& kind, double radius, double half_length, double mass) {
  const double r = radius, l = 2 * half_length;
  // By volume, pi r^2 l to 4 pi r^3 / 3.
  const double cylinder = mass * l / (l + 4 * r / 3), ball = mass - cylinder;
  // A half sphere has its centre of mass 3 r / 8 beyond its base, which is half_length d away, so
  // its 0.4 r^2 becomes 0.4 r^2 + d^2 + 2 d 3 r / 8.
  const double across = cylinder * (l * l / 12 + r * r / 4) +
                        ball * (0.4 * r * r + half_length * half_length + 0.75 * r * half_length);
  set_inertia(kind, across, across, cylinder * r * r / 2 + ball * 0.4 * r * r);
}
/// Gives a kind with the shape of a body its mass [kg], from its measures.
GE_FN void set_mass(Kind& kind, double mass) {
  const double x = kind.half[0], y = kind.half[1], z = kind.half[2];
  kind.inverse_mass = float(1 / mass);
  if (kind.shape == kBox)
    set_box_inertia(kind, x, y, z, mass);
  else if (kind.shape == kWedge)
    set_wedge_inertia(kind, x, y, z, mass);
  else if (kind.shape == kSphere)
    set_sphere_inertia(kind, x, mass);
  else
    set_capsule_inertia(kind, x, z, mass);
}

GE_FN Kind with_mass(Kind kind, double mass) {
  set_mass(kind, mass);
  return kind;
}
inline Kind box_kind(double x, double y, double z, double mass) {
  return with_mass(shape_kind(kBox, x, y, z), mass);
}
inline Kind wedge_kind(double half_width, double run, double height, double mass) {
  return with_mass(wedge_shape(half_width, run, height), mass);
}
inline Kind sphere_kind(double radius, double mass) {
  return with_mass(shape_kind(kSphere, radius, 0, 0), mass);
}
inline Kind capsule_kind(double radius, double half_length, double mass) {
  return with_mass(capsule_shape(radius, half_length), mass);
}

/// Turns about z only. A post stands on one point; else it slides on its corners.
inline void make_upright(Kind& kind, bool post = true) {
  kind.upright = post ? 1 : 2;
}

GE_FN void set_friction(Setup& s, int a, int b, double coefficient) {
  s.friction[pair_of(uint32_t(a), uint32_t(b))] = float(coefficient);
  s.friction[pair_of(uint32_t(b), uint32_t(a))] = float(coefficient);
}
GE_FN void set_restitution(Setup& s, int a, int b, double coefficient) {
  s.restitution[pair_of(uint32_t(a), uint32_t(b))] = float(coefficient);
  s.restitution[pair_of(uint32_t(b), uint32_t(a))] = float(coefficient);
}

/// Coefficients of a damped spring of `frequency` oscillations per second [Hz], in one substep of
/// `h` [s]: the row's force -k C - d C' with k = omega^2 / K and d = 2 zeta omega / K, taken at the
/// end of the substep. With C there being C + h C', the impulse L' = L + dL is
///
///   L' = -h k (C + h C') - h d C'              so  C' + k / (d + h k) C + L' / (h (d + h k)) = 0
///
/// and with c = 2 zeta + h omega, a = h omega c:  k / (d + h k) = omega / c, h (d + h k) = a / K,
///
///   C' + bias C + (K / a) L' = 0               and, since dL changes C' by K dL,
///   dL = -a / (1 + a) (C' + bias C) / K - L / (1 + a)                 (Catto, GDC 2011)
///
/// Stiffness and damping scale with 1 / K, so a spring is as fast for what is heavy as for what is
/// light. It holds for any h: a spring too fast for the substep only tends to the rigid row.
inline Soft soft(double frequency, double damping_ratio, double h) {
  // bias [1/s]; mass and impulse are shares of 1 and add up to it.
  const double omega = 2 * 3.14159265358979323846 * frequency;
  const double c = 2 * damping_ratio + h * omega, a = h * omega * c;
  return {float(omega / c), float(a / (1 + a)), float(1 / (1 + a))};
}

/// Number of rounds of whole substeps that a step is cut into, so that none takes more than 1/30 s.
/// 29.99 for 30, so that rounding does not cut a step of exactly 1/30 s in two.
inline int rounds_of(double time_step, int substeps) {
  int rounds = 1;
  while (rounds < substeps && (substeps % rounds != 0 || time_step > rounds / 29.99)) ++rounds;
  return rounds;
}

/// The constants that follow from gravity, of a setup whose steps are known.
GE_FN void set_gravity(Setup& s, double gravity, double scale) {
  const double time_step = s.time_step, h = time_step / s.substeps;
  s.gravity = float(gravity);
  // Twice the speed that gravity adds in a substep, or bodies that barely left the ground would
  // hop.
  s.bounce_speed = float(2 * gravity * h);
  // Less than half a step's fall, or a dropped body might sleep in the air.
  s.quiet_speed = float(ge::min(0.02 * scale, 0.5 * gravity * time_step));
}

/// The constants that follow from the step; sizes in units of `scale` [m], half the size of a
/// typical body. Springs are as stiff as the substep allows: a quarter of its rate.
inline void finish(Setup& s, double time_step, int substeps, double gravity, double scale = 1) {
  const double h = time_step / substeps, rate = 1 / h;
  s.time_step = float(time_step);
  s.substep = float(h);
  s.substeps = substeps;
  s.solver_sweeps = 1;
  s.rounds = rounds_of(time_step, substeps);
  s.round_time = float(time_step / s.rounds);
  // Shares of an overlap, or of a joint's error, that one substep takes back (bias h): 7, 14, 76 %.
  // Overdamped tenfold, contacts never overshoot; a joint has to follow what carries it.
  s.contact = soft(0.25 * rate, 10, h);
  s.hard_contact = soft(0.5 * rate, 10, h);
  s.joint = soft(rate, 1, h);
  s.push = float(5 * scale);
  // So that nothing moves beyond the reach within a substep.
  s.top_speed = float(ge::min(30.0, 0.3 * scale * rate));
  s.top_spin = 50;
  s.margin = float(0.02 * scale);
  s.reach = float(0.3 * scale);
  s.sweep = float(ge::max(0.3 * scale, 9 * time_step / s.rounds));  // hit at 9 m/s
  // Where a face is nearly as good, it gives up to four points that hold still; an edge gives one.
  s.edge_margin = float(0.02 * scale);
  s.step_height = float(0.05 * scale);
  s.match = float(0.5 * scale);
  s.quiet_steps = 12;
  s.kinds[0].shape = kFloor;
  set_gravity(s, gravity, scale);
}

}  // namespace ge::physics
