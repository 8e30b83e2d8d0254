// Two forms of CartPole that change one thing each, over its own parts:
//
//   CartPole64-v0          float64 state, which follows Gymnasium's to 1e-15
//   CartPoleContinuous-v0  any force from -10 N to 10 N instead of two pushes
//
// The rules are generic over the types in which the forms differ; cartpole.hpp shows how an
// environment is written without that.
#pragma once

#include "envs/cartpole/cartpole.hpp"

namespace gpu_envs::envs::cartpole_forms {

using namespace ge;
using cartpole::Dynamics, cartpole::Observation, cartpole::Params, cartpole::Physics,
    cartpole::Push;

struct Force {
  float force;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("force", &Force::force,
              "force on the cart in units of 10 N: -1 pushes it fully to the left, 1 to the right")
            .within(-1, 1));
  }
};

/// cartpole::Options and cartpole::Motion in float64.
struct Options64 {
  double low = -0.05, high = 0.05;
  const char* problem() const { return low > high ? "low must not be above high" : nullptr; }
  static constexpr auto describe() {
    return fields(
        field("low", &Options64::low, "lower bound of each number of the start state, inclusive")
            .within(-1e6, 1e6),
        field("high", &Options64::high, "upper bound of each number of the start state, exclusive")
            .within(-1e6, 1e6));
  }
};
struct Motion64 {
  double x, velocity, angle, spin;
  static constexpr auto describe() {
    return fields(
        field("x", &Motion64::x, "position of the cart").in("m"),
        field("velocity", &Motion64::velocity, "velocity of the cart, positive to the right")
            .in("m/s"),
        field("angle", &Motion64::angle, "angle of the pole, 0 upright, positive to the right")
            .in("rad"),
        field("spin", &Motion64::spin, "angular velocity of the pole").in("rad/s"));
  }
};

/// The types in which forms differ; `Form` below is one of these two.
struct In64 {
  using Real = double;
  using Motion = Motion64;
  using Options = Options64;
  using Action = Push;
  static constexpr auto doc = "Balance a pole on a cart by pushing the cart left or right.";
};
struct Continuous {
  using Real = float;
  using Motion = cartpole::Motion;
  using Options = cartpole::Options;
  using Action = Force;
  static constexpr auto doc = "Balance a pole on a cart by pushing it with up to 10 N.";
};

template <class Form>
struct Schema {
  struct Agent : Agents<1, typename Form::Motion, typename Form::Action> {
    static constexpr const char* name = "cart";
  };
  using Params = cartpole::Params;
  using Settings = cartpole::SettingsOf<typename Form::Real>;
  using Varied = cartpole::Body<typename Form::Real>;
  using Derived = Dynamics<typename Form::Real>;
  using Options = typename Form::Options;
  using Action = typename Form::Action;
  using tables = Types<Agent>;
  static Params resolve(const Settings& settings) { return settings; }
  static GE_FN Derived derive(const Varied& body, const Params&) {
    return cartpole::dynamics_of(body);
  }
};

// ---- rules

GE_FN double newtons(const Dynamics<double>& of, const Push& push) {
  return push.direction == 1 ? of.force : -of.force;
}
GE_FN float newtons(const Dynamics<float>& of, const Force& force) {
  return of.force * force.force;
}
template <class Form>
struct Rules {
  using W = World<Schema<Form>>;
  using Motion = typename Form::Motion;
  using Action = typename Form::Action;

  static GE_FN void push_cart(const W& w, Motion& m, const Action& action) {
    const Dynamics<typename Form::Real> of = w.varied();
    Physics<typename Form::Real>::swing(of, newtons(of, action), m.x, m.velocity, m.angle, m.spin);
  }
  static GE_FN void judge(const W& w, Reward& reward, Ending& ending, const Motion& m) {
    const bool fell = Physics<typename Form::Real>::has_fallen(m.x, m.angle);
    ending.terminated = fell ? 1u : 0u;
    reward.value = cartpole::reward_of(w.params(), fell);
  }
  /// A draw has four words: four floats, or two doubles.
  static GE_FN void place_cart(const W& w, Motion& m) {
    const auto low = w.options().low, range = w.options().high - low;
    const Draw a = draw<"start">(w, 0), b = draw<"start">(w, 0, 1);
    if constexpr (std::is_same_v<typename Form::Real, double>)
      m = {low + range * a.uniform64(0), low + range * a.uniform64(1), low + range * b.uniform64(0),
           low + range * b.uniform64(1)};
    else
      m = {low + range * a.uniform(0), low + range * a.uniform(1), low + range * a.uniform(2),
           low + range * a.uniform(3)};
  }
  static GE_FN void observe(const W& w, Observation& row, const Motion& m) {
    const bool shown = w.params().velocities;
    row = {float(m.x), select(shown, float(m.velocity), 0.0f), float(m.angle),
           select(shown, float(m.spin), 0.0f)};
  }
  static std::string text(const W& w, int viewer) {
    const bool knows_speeds = viewer < 0 || w.params().velocities;
    return cartpole::cart_text(get<Motion>(w), knows_speeds, w.step(), w.max_steps());
  }
  static Scene scene(const W& w) {
    const auto m = get<Motion>(w);
    return cartpole::picture(float(m.x), float(m.angle), float(w.varied().half_length));
  }
};

// ---- names and keys for people: of two pushes, or of the lowest, the rest and the highest force

template <class Form>
std::string push_name([[maybe_unused]] const Params& p, int k) {
  if constexpr (std::is_same_v<typename Form::Action, Push>) return cartpole::push_name(p, k);
  constexpr const char* kNames[] = {"left", "no force", "right"};
  return kNames[k];
}
template <class Form>
std::string push_key([[maybe_unused]] const Params& p, int k) {
  if constexpr (std::is_same_v<typename Form::Action, Push>) return cartpole::push_key(p, k);
  return std::string(1, "a.d"[k]);
}

// ---- the graphs

template <class Form>
struct Environment {
  using Schema = cartpole_forms::Schema<Form>;
  using Observation = cartpole::Observation;
  using R = Rules<Form>;
  using Reset = Stages<Each<&R::place_cart>>;
  using Step = Stages<Each<&R::push_cart>, Each<&R::judge>>;
  using Observe = Stages<ge::Observe<&R::observe>>;
  static constexpr Card card{
      .doc = Form::doc, .max_episode_steps = 500, .reward_threshold = 475, .render_fps = 50};
  static constexpr Hooks<Schema> hooks{.action_name = &push_name<Form>,
                                       .action_key = &push_key<Form>,
                                       .text = &R::text,
                                       .scene = &R::scene};
};
using Builds = ge::Builds<Build<"CartPole64-v0", Environment<In64>>,
                          Build<"CartPoleContinuous-v0", Environment<Continuous>>>;

}  // namespace gpu_envs::envs::cartpole_forms
