// How cart and pole move and when the pole has fallen, for float and double. The order of
// evaluation is that of Gymnasium, to the parenthesis: with doubles a step agrees with it to 1e-15.
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::cartpole {

template <class Real>
struct Physics {
  static constexpr Real gravity = Real(9.8);            // [m/s^2]
  static constexpr Real pole_mass = Real(0.1);          // [kg]
  static constexpr Real total_mass = Real(0.1 + 1.0);   // [kg], the cart weighs 1
  static constexpr Real half_length = Real(0.5);        // [m], of the pole
  static constexpr Real pole_moment = Real(0.1 * 0.5);  // [kg m], pole_mass * half_length
  static constexpr Real force = Real(10.0);             // [N], of a push
  static constexpr Real time_step = Real(0.02);         // [s]
  static constexpr Real four_thirds = Real(4.0 / 3.0);
  static constexpr Real x_limit = Real(2.4);                      // [m]
  static constexpr Real angle_limit = Real(0.20943951023931953);  // [rad], 12 degrees

  /// One time step under a force [N] on the cart, by Florian's corrected equations. Explicit Euler:
  /// positions move by the old velocities.
  static GE_FN void swing(Real push, Real& x, Real& velocity, Real& angle, Real& spin) {
    Real sine, cosine;
    ge::sincos_bounded(angle, sine, cosine);
    const Real t = (push + (pole_moment * (spin * spin)) * sine) / total_mass;
    const Real spin_rate =
        (gravity * sine - cosine * t) /
        (half_length * (four_thirds - (pole_mass * (cosine * cosine)) / total_mass));
    const Real acceleration = t - ((pole_moment * spin_rate) * cosine) / total_mass;
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
