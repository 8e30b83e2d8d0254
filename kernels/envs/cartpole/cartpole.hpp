// CartPole: a cart on a frictionless track carries a pole on a hinge; keep the pole upright.
//
//   who acts    one agent: pushes the cart to the left or to the right, with 10 N, at every step
//   reward      1 for every step, the last one included (sutton_barto_reward: 0, -1 for falling)
//   ends        when the pole leans more than 12 degrees or the cart is more than 2.4 m off; cut
//               short after 500 steps
//   rules from  Gymnasium's CartPole-v1; Barto, Sutton, Anderson 1983, equations as corrected by
//               Florian 2007 (physics.hpp)
#pragma once

#include "envs/cartpole/physics.hpp"
#include "envs/cartpole/picture.hpp"
#include "envs/cartpole/text.hpp"

namespace gpu_envs::envs::cartpole {

/// What is the same in all worlds.
struct Params {
  bool sutton_barto_reward = false, velocities = true;
};
/// Keyword arguments of `make_vec("CartPole-v0", ...)`; the initialisers are the defaults.
template <class Real>
struct SettingsOf : Params, Body<Real> {
  static constexpr auto describe() {
    return std::tuple_cat(
        fields(field("sutton_barto_reward", &SettingsOf::sutton_barto_reward,
                     "reward 0 for every step and -1 for the one that ends the episode by its "
                     "rules"),
               field("velocities", &SettingsOf::velocities,
                     "observations show the velocities of cart and pole; false: they show 0 "
                     "instead")),
        Body<Real>::describe());
  }
};
/// `reset(options={"low": ..., "high": ...})`: where the four numbers of the start state are drawn.
struct Options {
  float low = -0.05f, high = 0.05f;
  const char* problem() const { return low > high ? "low must not be above high" : nullptr; }
  static constexpr auto describe() {
    return fields(
        field("low", &Options::low, "lower bound of each number of the start state, inclusive")
            .within(-1e6, 1e6),
        field("high", &Options::high, "upper bound of each number of the start state, exclusive")
            .within(-1e6, 1e6));
  }
};
/// The action. `transient`: it is written before each step and is not part of the saved state.
struct Push {
  int32_t direction;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("direction", &Push::direction, "direction of the push, 0: left, 1: right").one_of(2));
  }
};
/// The state of a world. Python reads and writes it as columns: `simulator.get("cart.angle")`.
struct Motion {
  float x, velocity, angle, spin;
  static constexpr auto describe() {
    return fields(
        field("x", &Motion::x, "position of the cart").in("m"),
        field("velocity", &Motion::velocity, "velocity of the cart, positive to the right")
            .in("m/s"),
        field("angle", &Motion::angle, "angle of the pole, 0 upright, positive to the right")
            .in("rad"),
        field("spin", &Motion::spin, "angular velocity of the pole").in("rad/s"));
  }
};
// Bounds are twice the limits of `has_fallen`: the last observation of an episode lies beyond them.
struct Observation {
  float x, velocity, angle, spin;
  static constexpr auto describe() {
    return fields(
        field("x", &Observation::x, "position of the cart").in("m").within(-4.8, 4.8),
        field("velocity", &Observation::velocity, "velocity of the cart, positive to the right")
            .in("m/s"),
        field("angle", &Observation::angle, "angle of the pole, 0 upright, positive to the right")
            .in("rad")
            .within(-0.41887903, 0.41887903),
        field("spin", &Observation::spin, "angular velocity of the pole").in("rad/s"));
  }
};

// A row per agent, here one; the engine adds reward, ending and return.
struct Cart : Agents<1, Motion, Push> {
  static constexpr const char* name = "cart";
};
struct Schema {
  using Params = cartpole::Params;
  using Settings = SettingsOf<float>;
  using Varied = Body<float>;
  using Derived = Dynamics<float>;
  using Options = cartpole::Options;
  using Action = Push;
  using Agent = Cart;
  using tables = Types<Cart>;
  static Params resolve(const Settings& settings) { return settings; }
  static GE_FN Derived derive(const Varied& body, const Params&) { return dynamics_of(body); }
};
using W = World<Schema>;

// Rules. `const` says what a system may only read; what it may write comes first.

/// kUsual: masses, lengths and forces have their defaults.
template <bool kUsual>
GE_FN void push_cart(const W& w, Motion& m, const Push& push) {
  const Dynamics<float> of = kUsual ? dynamics_of(Body<float>{}) : w.varied();
  const float newtons = push.direction == 1 ? of.force : -of.force;
  Physics<float>::swing(of, newtons, m.x, m.velocity, m.angle, m.spin);
}
GE_FN float reward_of(const Params& p, bool fell) {
  return p.sutton_barto_reward ? (fell ? -1.0f : 0.0f) : 1.0f;
}
GE_FN void judge(const W& w, Reward& reward, Ending& ending, const Motion& m) {
  const bool fell = Physics<float>::has_fallen(m.x, m.angle);
  // The engine cuts the episode short at the time limit and begins the next one.
  ending.terminated = fell ? 1u : 0u;
  reward.value = reward_of(w.params(), fell);
}
GE_FN void place_cart(const W& w, Motion& m) {
  const Draw d = draw<"start">(w, 0);
  const float low = w.options().low, range = w.options().high - low;
  // Four words, a function of seed, world and episode: the same on every machine.
  m = {low + range * d.uniform(0), low + range * d.uniform(1), low + range * d.uniform(2),
       low + range * d.uniform(3)};
}
GE_FN void observe(const W& w, Observation& row, const Motion& m) {
  // `select` in place of a branch: the CPU runs 8 or 16 worlds side by side.
  const bool shown = w.params().velocities;
  row = {m.x, select(shown, m.velocity, 0.0f), m.angle, select(shown, m.spin, 0.0f)};
}

// What runs, in order: `Reset` where an episode begins, `Step` once per step, `Observe` after both.
struct Environment {
  using Schema = cartpole::Schema;
  using Observation = cartpole::Observation;
  using Reset = Stages<Each<&place_cart>>;
  using Step =
      Stages<Usually<Each<&push_cart<true>>>, Otherwise<Each<&push_cart<false>>>, Each<&judge>>;
  using Observe = Stages<ge::Observe<&observe>>;
  static constexpr Card card{.doc = "Balance a pole on a cart by pushing the cart left or right.",
                             .max_episode_steps = 500,
                             .reward_threshold = 475,
                             .render_fps = 50};
  // How people see a world: `python -m gpu_envs render CartPole-v0`.
  static constexpr Hooks<Schema> hooks{
      .action_name = &push_name<Params>,
      .action_key = &push_key<Params>,
      .text =
          [](const W& w, int viewer) {
            const bool knows_speeds = viewer < 0 || w.params().velocities;
            return cart_text(get<Motion>(w), knows_speeds, w.step(), w.max_steps());
          },
      .scene =
          [](const W& w) {
            const Motion m = get<Motion>(w);
            return picture(m.x, m.angle, w.varied().half_length);
          }};
};
using Builds = ge::Builds<Build<"CartPole-v0", Environment>>;

}  // namespace gpu_envs::envs::cartpole
