// An environment for the tests of modules: its own code throws what a parameter says when a
// simulator is made.
#pragma once

#include <stdexcept>
#include <string>

#include "engine/environment.hpp"

namespace gpu_envs::envs::refusing {

using namespace ge;

struct Settings {
  int32_t fault = -1;
  static constexpr auto describe() {
    return fields(field("fault", &Settings::fault, "what is thrown; -1: nothing").within(-1, 99));
  }
};
struct Params {};
struct Choice {
  int32_t value;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("value", &Choice::value, "the reward").one_of(2));
  }
};
struct Player : Agents<1, Choice> {
  static constexpr const char* name = "player";
};
struct Schema {
  using Settings = refusing::Settings;
  using Params = refusing::Params;
  using Action = Choice;
  using Agent = Player;
  using tables = Types<Player>;
  static Params resolve(Settings& settings) {
    if (settings.fault == 99) throw std::out_of_range("of the standard library");
    if (settings.fault >= 0)
      throw Error(Fault(settings.fault), "fault " + std::to_string(settings.fault));
    return {};
  }
};
using W = World<Schema>;

struct Observation {
  float value;
  static constexpr auto describe() {
    return fields(field("value", &Observation::value, "steps, and who looks"));
  }
};
GE_FN void pay(const W&, Reward& reward, const Choice& choice) {
  reward.value = float(choice.value);
}
GE_FN void observe(const W& w, Observation& row, Slot player) {
  row.value = float(w.step()) + float(player.row);
}

struct Environment {
  using Schema = refusing::Schema;
  using Observation = refusing::Observation;
  using Reset = Stages<>;
  using Step = Stages<Each<&pay>>;
  using Observe = Stages<ge::Observe<&observe>>;
  static constexpr Card card{.doc = "A test: what its own code throws.", .max_episode_steps = 9};
};
using Builds = ge::Builds<Build<"Refusing-v0", Environment>>;

}  // namespace gpu_envs::envs::refusing
