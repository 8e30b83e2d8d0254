// How cart and pole move and when the pole has fallen, for float and double; the masses, lengths
// and forces, which may differ by world. The order of evaluation is that of Gymnasium, to the
// parenthesis: with doubles a step agrees with it to 1e-15.
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::cartpole {

using namespace ge;

/// What may differ by world. Keyword arguments of `make_vec`, which also takes an array with a
/// value per world, or a range that each reset draws from.
template <class Real>
struct Body {
  Real gravity = Real(9.8), force = Real(10.0), length = Real(0.5);
  Real mass = Real(1.0), pole_mass = Real(0.1);
  static constexpr auto describe() {
    return fields(
        field("gravity", &Body::gravity, "acceleration of gravity").in("m/s^2").within(0, 1e3),
        field("force", &Body::force, "force of a push").in("N").within(0, 1e4),
        field("length", &Body::length, "half the length of the pole").in("m").within(1e-2, 1e2),
        field("mass", &Body::mass, "mass of the cart").in("kg").within(1e-2, 1e4),
        field("pole_mass", &Body::pole_mass, "mass of the pole").in("kg").within(1e-3, 1e3));
  }
};
/// What the equations of motion use of it.
template <class Real>
struct Dynamics {
  Real gravity, force, half_length, pole_mass, total_mass, pole_moment;
  static constexpr auto describe() {
    return fields(
        field("gravity", &Dynamics::gravity, "acceleration of gravity").in("m/s^2"),
        field("force", &Dynamics::force, "force of a push").in("N"),
        field("half_length", &Dynamics::half_length, "half the length of the pole").in("m"),
        field("pole_mass", &Dynamics::pole_mass, "mass of the pole").in("kg"),
        field("total_mass", &Dynamics::total_mass, "mass of cart and pole").in("kg"),
        field("pole_moment", &Dynamics::pole_moment, "pole_mass times half_length").in("kg m"));
  }
};
template <class Real>
GE_FN Dynamics<Real> dynamics_of(const Body<Real>& body) {
  // Sums and products in double, as of constants in a program.
  return {body.gravity,
          body.force,
          body.length,
          body.pole_mass,
          Real(double(body.pole_mass) + double(body.mass)),
          Real(double(body.pole_mass) * double(body.length))};
}

template <class Real>
struct Physics {
  static constexpr Real time_step = Real(0.02);  // [s]
  static constexpr Real four_thirds = Real(4.0 / 3.0);
  static constexpr Real x_limit = Real(2.4);                      // [m]
  static constexpr Real angle_limit = Real(0.20943951023931953);  // [rad], 12 degrees

  /// One time step under a force [N] on the cart, by Florian's corrected equations. Explicit Euler:
  /// positions move by the old velocities.
  static GE_FN void swing(const Dynamics<Real>& of, Real push, Real& x, Real& velocity, Real& angle,
                          Real& spin) {
    Real sine, cosine;
    ge::sincos_bounded(angle, sine, cosine);
    const Real t = (push + (of.pole_moment * (spin * spin)) * sine) / of.total_mass;
    const Real spin_rate =
        (of.gravity * sine - cosine * t) /
        (of.half_length * (four_thirds - (of.pole_mass * (cosine * cosine)) / of.total_mass));
    const Real acceleration = t - ((of.pole_moment * spin_rate) * cosine) / of.total_mass;
    x = x + time_step * velocity;
    velocity = velocity + time_step * acceleration;
    angle = angle + time_step * spin;
    spin = spin + time_step * spin_rate;
  }

  static GE_FN bool has_fallen(Real x, Real angle) {
    return (x < -x_limit) | (x > x_limit) | (angle < -angle_limit) | (angle > angle_limit);
  }
};

}  // namespace gpu_envs::envs::cartpole
