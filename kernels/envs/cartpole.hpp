// CartPole: a cart on a frictionless track carries a pole on a hinge; keep the pole upright.
//
//   who acts    one agent, pushing the cart at every step: left or right with 10 N, or, continuous,
//               with any force from -10 N to 10 N
//   reward      1 for every step, the last one included (sutton_barto_reward: 0, -1 for falling)
//   ends        when the pole leans more than 12 degrees or the cart is more than 2.4 m off; cut
//               short after 500 steps
//   rules from  Gymnasium's CartPole-v1; Barto, Sutton, Anderson 1983, equations as corrected by
//               Florian 2007
//
// One template over the number type and the action: CartPole-v0 keeps float32 state and is the fast
// one; CartPole64-v0 keeps float64 and follows Gymnasium's order of evaluation, so that its steps
// agree to 1e-15; CartPoleContinuous-v0 is CartPole-v0 but for the force. Without velocities
// (velocities=false) any of them is a task for memory: two observations tell how fast things move.
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::cartpole {

using namespace ge;

// ---- what is described

struct Params {
  bool sutton_barto_reward = false;
  bool velocities = true;

  static constexpr auto describe() {
    return fields(
        field("sutton_barto_reward", &Params::sutton_barto_reward,
              "reward 0 for every step and -1 for the one that ends the episode by its rules"),
        field("velocities", &Params::velocities,
              "observations show the velocities of cart and pole; false: they show 0 instead"));
  }
};

template <class Real>
struct Options {
  Real low = Real(-0.05), high = Real(0.05);

  const char* problem() const { return low > high ? "low must not be above high" : nullptr; }
  static constexpr auto describe() {
    return fields(field("low", &Options::low, "each number of the start state is at least this")
                      .within(-1e6, 1e6),
                  field("high", &Options::high, "and less than this").within(-1e6, 1e6));
  }
};

struct Push {
  int32_t direction;
  static constexpr bool transient = true;
  static constexpr auto task = "Balance a pole on a cart by pushing the cart left or right.";

  static constexpr auto describe() {
    return fields(
        field("direction", &Push::direction, "0 pushes the cart to the left, 1 to the right")
            .one_of(2));
  }
};

struct Force {
  float force;
  static constexpr bool transient = true;
  static constexpr auto task = "Balance a pole on a cart by pushing it with up to 10 N.";

  static constexpr auto describe() {
    return fields(
        field("force", &Force::force,
              "on the cart, in units of 10 N: -1 pushes it fully to the left, 1 to the right")
            .within(-1, 1));
  }
};

template <class Real>
struct Motion {
  Real x, velocity, angle, spin;

  static constexpr auto describe() {
    return fields(
        field("x", &Motion::x, "position of the cart").in("m"),
        field("velocity", &Motion::velocity, "of the cart, positive to the right").in("m/s"),
        field("angle", &Motion::angle, "of the pole, 0 upright, positive leaning right").in("rad"),
        field("spin", &Motion::spin, "angular velocity of the pole").in("rad/s"));
  }
};

// Bounds are twice the limits: an episode's last observation lies beyond them.
struct Observation {
  float x, velocity, angle, spin;

  static constexpr auto describe() {
    return fields(
        field("x", &Observation::x, "position of the cart").in("m").within(-4.8, 4.8),
        field("velocity", &Observation::velocity, "of the cart, positive to the right").in("m/s"),
        field("angle", &Observation::angle, "of the pole, 0 upright")
            .in("rad")
            .within(-0.41887903, 0.41887903),
        field("spin", &Observation::spin, "angular velocity of the pole").in("rad/s"));
  }
};

// ---- tables

template <class Real, class Action>
struct Cart : Agents<1, Motion<Real>, Action> {
  static constexpr const char* name = "cart";
};

template <class Real, class Action_>
struct Schema {
  using Params = cartpole::Params;
  using Options = cartpole::Options<Real>;
  using Action = Action_;
  using Agent = Cart<Real, Action>;
  using tables = Types<Agent>;
};

template <class Real, class Action>
using W = World<Schema<Real, Action>>;

// ---- rules

template <class Real>
struct Physics {
  static constexpr Real gravity = Real(9.8);            // [m/s^2]
  static constexpr Real pole_mass = Real(0.1);          // [kg]
  static constexpr Real total_mass = Real(0.1 + 1.0);   // [kg], the cart weighs 1
  static constexpr Real half_length = Real(0.5);        // [m]
  static constexpr Real pole_moment = Real(0.1 * 0.5);  // [kg m], pole_mass * half_length
  static constexpr Real force = Real(10.0);             // [N]
  static constexpr Real time_step = Real(0.02);         // [s]
  static constexpr Real four_thirds = Real(4.0 / 3.0);
  static constexpr Real x_limit = Real(2.4);                      // [m]
  static constexpr Real angle_limit = Real(0.20943951023931953);  // [rad], 12 degrees
};

template <class Real>
GE_FN Real newtons(const Push& push) {
  return push.direction == 1 ? Physics<Real>::force : -Physics<Real>::force;
}
template <class Real>
GE_FN Real newtons(const Force& force) {
  return Physics<Real>::force * Real(force.force);
}

// Explicit Euler: positions move by the old velocities. The parentheses are the reference's order
// of evaluation.
template <class Real, class Action>
GE_FN void push_cart(const W<Real, Action>&, Motion<Real>& m, const Action& action) {
  using P = Physics<Real>;
  Real sine, cosine;
  sincos_bounded(m.angle, sine, cosine);
  const Real force = newtons<Real>(action);
  const Real t = (force + (P::pole_moment * (m.spin * m.spin)) * sine) / P::total_mass;
  const Real spin_rate =
      (P::gravity * sine - cosine * t) /
      (P::half_length * (P::four_thirds - (P::pole_mass * (cosine * cosine)) / P::total_mass));
  const Real acceleration = t - ((P::pole_moment * spin_rate) * cosine) / P::total_mass;
  m.x = m.x + P::time_step * m.velocity;
  m.velocity = m.velocity + P::time_step * acceleration;
  m.angle = m.angle + P::time_step * m.spin;
  m.spin = m.spin + P::time_step * spin_rate;
}

template <class Real, class Action>
GE_FN void judge(const W<Real, Action>& w, Reward& reward, Ending& ending, const Motion<Real>& m) {
  using P = Physics<Real>;
  const bool fell = (m.x < -P::x_limit) | (m.x > P::x_limit) | (m.angle < -P::angle_limit) |
                    (m.angle > P::angle_limit);
  ending.terminated = fell ? 1u : 0u;
  const float classic = 1.0f;
  const float sutton_barto = fell ? -1.0f : 0.0f;
  reward.value = w.params().sutton_barto_reward ? sutton_barto : classic;
}

template <class Real>
GE_FN Real between(Real low, Real high, const Draw& draw, int i) {
  if constexpr (std::is_same_v<Real, double>)
    return low + (high - low) * draw.uniform64(i);
  else
    return low + (high - low) * draw.uniform(i);
}

template <class Real, class Action>
GE_FN void place_cart(const W<Real, Action>& w, Motion<Real>& m) {
  const Real low = w.options().low, high = w.options().high;
  const Draw first = w.template draw<"start">(0);
  if constexpr (std::is_same_v<Real, double>) {
    const Draw second = w.template draw<"start">(0, 1);
    m = {between(low, high, first, 0), between(low, high, first, 1), between(low, high, second, 0),
         between(low, high, second, 1)};
  } else {
    m = {between(low, high, first, 0), between(low, high, first, 1), between(low, high, first, 2),
         between(low, high, first, 3)};
  }
}

// ---- observation

template <class Real, class Action>
GE_FN void observe(const W<Real, Action>& w, Observation& row, const Motion<Real>& m) {
  const bool shown = w.params().velocities;
  row = {float(m.x), select(shown, float(m.velocity), 0.0f), float(m.angle),
         select(shown, float(m.spin), 0.0f)};
}

// ---- what people see

inline Solid box(float x, float y, float z) {
  Solid solid;
  solid.half[0] = x, solid.half[1] = y, solid.half[2] = z;
  return solid;
}

template <class Real, class Action>
Scene scene(const W<Real, Action>& w) {
  const auto m = w.template get<Cart<Real, Action>, Motion<Real>>(0);
  const float x = float(m.x), angle = float(m.angle);
  const float length = float(Physics<Real>::half_length), limit = float(Physics<Real>::x_limit);
  constexpr float kTrack = 0.30f, kTop = 0.55f;  // heights of the track and of the cart's hinge [m]
  Scene scene;
  Solid floor = box(0.5f, 0, 0);
  floor.shape = Solid::kFloor, floor.colour = palette::kFloor, floor.second = palette::kFloorSquare;
  Solid track = box(limit + 0.25f, 0.03f, 0.03f);
  track.position[2] = kTrack, track.colour = palette::kDark;
  Solid cart = box(0.25f, 0.16f, 0.12f);
  cart.position[0] = x, cart.position[2] = kTop - 0.12f, cart.colour = palette::kBlue;
  Solid pole = box(0.045f, 0, length - 0.045f);
  float sine, cosine;
  ge::sincos(angle, sine, cosine);
  pole.shape = Solid::kCapsule, pole.colour = palette::kBox;
  pole.position[0] = x + length * sine, pole.position[1] = -0.2f;
  pole.position[2] = kTop - 0.1f + length * cosine;
  ge::sincos(0.5f * angle, sine, cosine);
  pole.orientation[0] = cosine, pole.orientation[2] = sine;
  scene.solids = {floor, track, cart, pole};
  for (const float side : {-1.0f, 1.0f}) {
    Solid post = box(0.04f, 0.1f, 0.5f * kTrack + 0.06f);
    post.position[0] = side * (limit + 0.29f), post.position[2] = post.half[2];
    scene.solids.push_back(post);
  }
  const float low[3] = {-limit - 0.4f, -0.3f, 0}, high[3] = {limit + 0.4f, 0.3f, 1.7f};
  for (int k = 0; k < 3; ++k) scene.low[k] = low[k], scene.high[k] = high[k];
  scene.look[0] = 0, scene.look[1] = 1, scene.look[2] = -0.22f;
  scene.view = "perspective";
  return scene;
}

// ---- the graphs

template <class Real, class Action = Push>
struct Environment {
  using Schema = cartpole::Schema<Real, Action>;
  using Observation = cartpole::Observation;
  using Reset = Stages<Each<&place_cart<Real, Action>>>;
  using Step = Stages<Each<&push_cart<Real, Action>>, Each<&judge<Real, Action>>>;
  using Observe = Stages<ge::Observe<&observe<Real, Action>>>;
  static constexpr Card card{
      .doc = Action::task, .max_episode_steps = 500, .reward_threshold = 475, .render_fps = 50};
  static constexpr Hooks<Schema> hooks{.scene = &scene<Real, Action>};
};

using Builds = ge::Builds<Build<"CartPole-v0", Environment<float>>,
                          Build<"CartPole64-v0", Environment<double>>,
                          Build<"CartPoleContinuous-v0", Environment<float, Force>>>;

}  // namespace gpu_envs::envs::cartpole
