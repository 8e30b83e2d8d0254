// Actions in every element type that callers have, on whichever executor: what the rules see, and
// what becomes of bad ones. On a GPU and its emulations a kernel converts and counts them; on the
// CPU they are refused before any world moves.
#pragma once

#include <cmath>

#include "engine/environment.hpp"
#include "simulation.hpp"

namespace ge::test::action_types {

struct Choice {
  int32_t few, many;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("few", &Choice::few, "categories").one_of(5),
                  field("many", &Choice::many, "more than a byte counts").one_of(300));
  }
};
struct Push {
  float level, force;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("level", &Push::level, "between bounds").within(-1, 2),
                  field("force", &Push::force, "between others").within(0, 100));
  }
};
struct Seen {
  float first, second;
  static constexpr auto describe() {
    return fields(field("first", &Seen::first, "of the action"),
                  field("second", &Seen::second, "of the action"));
  }
};
template <class Act>
struct Pair : Agents<2, Act, Seen> {
  static constexpr const char* name = "pair";
};
template <class Act>
struct Schema {
  using Params = None;
  using Action = Act;
  using Agent = Pair<Act>;
  using tables = Types<Pair<Act>>;
};
template <class Act>
using W = World<Schema<Act>>;

template <class Act>
GE_FN void forget(const W<Act>&, Seen& seen) {
  seen = {0, 0};
}
GE_FN void keep_choice(const W<Choice>&, Seen& seen, const Choice& choice) {
  seen = {float(choice.few), float(choice.many)};
}
GE_FN void keep_push(const W<Push>&, Seen& seen, const Push& push) {
  seen = {push.level, push.force};
}
template <class Act>
GE_FN void observe(const W<Act>&, Seen& row, const Seen& seen) {
  row = seen;
}

template <class Act, auto kKeep>
struct Environment {
  using Schema = action_types::Schema<Act>;
  using Observation = Seen;
  using Reset = Stages<Each<&forget<Act>>>;
  using Step = Stages<Each<kKeep>>;
  using Observe = Stages<ge::Observe<&observe<Act>>>;
  static constexpr Card card{.doc = "A test: actions of every type."};
  static constexpr Hooks<Schema> hooks{
      .action_name = [](const None&, int k) { return "category " + std::to_string(k); },
      .action_key = [](const None&, int k) { return std::string(k == 7 ? "w" : ""); }};
};
using Made = Builds<Build<"Choice-v0", Environment<Choice, &keep_choice>>,
                    Build<"Push-v0", Environment<Push, &keep_push>>>;

/// What became of the actions of three worlds of two agents.
struct Outcome {
  std::vector<float> seen;
  FaultReport faults;
  std::string refusal;
};
template <class T>
Outcome outcome(const Entry& entry, const char* id, Type type, const std::vector<T>& actions,
                int lanes = 0) {
  Config config;
  config.worlds = 3;
  config.lanes = lanes;
  Simulation simulation(make_simulator(entry, id, config));
  simulation.reset(1);
  Outcome found;
  try {
    simulation->step({actions.data(), type}, simulation.bound(), nullptr);
  } catch (const Error& error) {
    found.refusal = error.what();
  }
  found.seen = simulation.observation();
  found.faults = simulation->faults();
  return found;
}

template <class T>
void check(const Entry& entry, const char* id, Type type, const std::vector<T>& actions,
           const std::vector<float>& wanted, int bad = 0, int lanes = 0) {
  const Outcome found = outcome(entry, id, type, actions, lanes);
  if (bad > 0 && !kReadsCallersType) {
    CHECK(found.refusal.find("actions: world 0, agent 1, component 0: ") == 0);
    return;
  }
  CHECK_EQ(found.refusal, "");
  CHECK_EQ(found.faults.bad_actions, bad);
  CHECK_EQ(found.faults.first_bad_world, bad > 0 ? 0 : -1);
  CHECK_EQ(found.faults.first_bad_agent, bad > 0 ? 1 : -1);
  if (found.seen != wanted) fail(id, lanes, std::string("other actions, of ") + name_of(type));
}

/// Bad: the first word of world 0, agent 1 and the second of world 2, agent 0.
template <class T>
void check_whole(const Entry& entry, Type type, T bad_first, T bad_second, int lanes = 0) {
  const T most = sizeof(T) == 1 ? T(255) : T(299);
  check<T>(entry, "Choice-v0", type, {0, 0, 4, most, 1, 128, 3, 127, 2, 1, 4, 7},
           {0, 0, 4, float(most), 1, 128, 3, 127, 2, 1, 4, 7}, 0, lanes);
  check<T>(entry, "Choice-v0", type, {0, 0, bad_first, most, 1, 128, 3, 127, 2, bad_second, 4, 7},
           {0, 0, 0, float(most), 1, 128, 3, 127, 2, sizeof(T) == 1 ? float(bad_second) : 0, 4, 7},
           sizeof(T) == 1 ? 1 : 2, lanes);
}
template <class T>
void check_floats(const Entry& entry, Type type, T above, int lanes = 0) {
  const T part = T(0.1), nearly = T(2.00000000001);  // as a float within its bound
  check<T>(entry, "Push-v0", type, {-1, 0, nearly, 100, part, part, 0, 7, 1, 2, 0, 0},
           {-1, 0, 2, 100, 0.1f, 0.1f, 0, 7, 1, 2, 0, 0}, 0, lanes);
  check<T>(entry, "Push-v0", type, {-1, 0, above, 5, part, part, 0, 7, 1, -3, T(NAN), 0},
           {-1, 0, 2, 5, 0.1f, 0.1f, 0, 7, 1, 0, -1, 0}, 3, lanes);
}

/// One number for both categories: every number, each in a row of its own.
template <class T>
void check_flat(const Entry& entry, Type type, int lanes = 0) {
  Config config;
  config.worlds = 750;
  config.lanes = lanes;
  config.actions = ActionForm::flat;
  Simulation simulation(make_simulator(entry, "Choice-v0", config));
  simulation.reset(1);
  CHECK(simulation->action_ranges() == std::vector<double>({0, 1499}));
  std::vector<T> actions(1500);
  std::vector<float> wanted;
  for (int k = 0; k < 1500; ++k) {
    actions[size_t(k)] = T(k);
    const int number = int(actions[size_t(k)]);
    wanted.push_back(float(number / 300)), wanted.push_back(float(number % 300));
  }
  simulation->step({actions.data(), type}, simulation.bound(), nullptr);
  CHECK(simulation.observation() == wanted);
  if (sizeof(T) == 1) return;
  actions[1] = T(1500), actions[4] = T(-1);
  std::string refusal;
  try {
    simulation->step({actions.data(), type}, simulation.bound(), nullptr);
  } catch (const Error& error) {
    refusal = error.what();
  }
  const FaultReport faults = simulation->faults();
  CHECK_EQ(refusal,
           kReadsCallersType ? "" : "actions: world 0, agent 1: 1500 is not one of 0 to 1499");
  CHECK_EQ(faults.bad_actions, kReadsCallersType ? 2 : 0);
  CHECK_EQ(faults.first_bad_agent, kReadsCallersType ? 1 : -1);
  if (kReadsCallersType) wanted[2] = wanted[3] = wanted[8] = wanted[9] = 0;
  CHECK(simulation.observation() == wanted);
}

/// All types, on one executor.
inline void check_all(const Entry& entry, int lanes = 0) {
  check_flat<int64_t>(entry, Type::int64, lanes);
  check_flat<int32_t>(entry, Type::int32, lanes);
  check_flat<uint8_t>(entry, Type::uint8, lanes);
  check_whole<int64_t>(entry, Type::int64, (int64_t{1} << 32) + 1, -1, lanes);
  check_whole<int32_t>(entry, Type::int32, -1, 300, lanes);
  check_whole<uint8_t>(entry, Type::uint8, 5, 255, lanes);
  check_floats<float>(entry, Type::float32, 2.5f, lanes);
  check_floats<double>(entry, Type::float64, 1e300, lanes);
}

}  // namespace ge::test::action_types
