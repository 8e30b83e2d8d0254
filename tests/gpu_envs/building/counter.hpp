// Counter: the smallest environment there is, for tests of the builder: it compiles in seconds. A
// number grows by the action; nobody is meant to learn it.
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::counter {

using namespace ge;

struct Params {
  static constexpr auto describe() { return fields(); }
};
struct Add {
  int32_t amount;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("amount", &Add::amount, "what is added").one_of(2));
  }
};
struct Total {
  float sum;
  static constexpr auto describe() { return fields(field("sum", &Total::sum, "of all actions")); }
};
struct Observation {
  float sum;
  static constexpr auto describe() {
    return fields(field("sum", &Observation::sum, "of all actions"));
  }
};

struct Counter : Agents<1, Total, Add> {
  static constexpr const char* name = "counter";
};
struct Schema {
  using Params = counter::Params;
  using Action = Add;
  using Agent = Counter;
  using tables = Types<Counter>;
};
using W = World<Schema>;

GE_FN void count(const W&, Total& total, Reward& reward, const Add& action) {
  total.sum = total.sum + 1.0f * float(action.amount);
  reward.value = total.sum;
}
GE_FN void clear(const W&, Total& total) { total.sum = 0; }
GE_FN void observe(const W&, Observation& row, const Total& total) { row.sum = total.sum; }

struct Environment {
  using Schema = counter::Schema;
  using Observation = counter::Observation;
  using Reset = Stages<Each<&clear>>;
  using Step = Stages<Each<&count>>;
  using Observe = Stages<ge::Observe<&observe>>;
  static constexpr Card card{.doc = "A number that grows.", .max_episode_steps = 10};
};

using Builds = ge::Builds<Build<"Counter-v0", Environment>>;

}  // namespace gpu_envs::envs::counter
