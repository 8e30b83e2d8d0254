// Bits do not depend on how the caller's thread rounds or what it does with denormals, and a caller
// finds its own mode again.
// runs always: threads meet in another order each time
#include <cfenv>
#include <future>
#include <thread>

#include "engine/base/platform_float_mode.hpp"
#include "engine/cpu/entry.hpp"
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

struct Nudge {
  float by;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("by", &Nudge::by, "a little").within(-1, 1));
  }
};
struct Settings {
  float ratio = 0.1f;
  static constexpr auto describe() {
    return fields(field("ratio", &Settings::ratio, "of a step").within(0, 1));
  }
};
struct State {
  float drift, dust;
  static constexpr auto describe() {
    return fields(field("drift", &State::drift, "rounds at every step"),
                  field("dust", &State::dust, "a denormal after a few steps"));
  }
};
struct Row {
  float drift, dust;
  static constexpr auto describe() {
    return fields(field("drift", &Row::drift, "m"), field("dust", &Row::dust, "m"));
  }
};
struct One : Agents<1, State, Nudge> {
  static constexpr const char* name = "one";
};
struct Schema {
  using Params = Settings;
  using Action = Nudge;
  using Agent = One;
  using tables = Types<One>;
};
using W = World<Schema>;

void begin(const W&, State& state) {
  state = {1.0f, 1e-36f};
}
void move(const W& w, State& state, const Nudge& nudge) {
  state.drift = state.drift * 1.01f + w.params().ratio * nudge.by;
  state.dust = state.dust * 0.1f;
}
void observe(const W&, Row& row, const State& state) {
  row = {state.drift, state.dust};
}
struct Environment {
  using Schema = ::Schema;
  using Observation = Row;
  using Reset = Stages<Each<&begin>>;
  using Step = Stages<Each<&move>>;
  using Observe = Stages<ge::Observe<&::observe>>;
  static constexpr Card card{.doc = ""};
};

/// What a thousand worlds show after some steps with actions that no float holds.
std::vector<float> played(int threads) {
  Config config;
  config.worlds = 1000;
  config.threads = threads;
  config.tile = 16;
  config.parameters = {{"ratio", 0.3}};
  Simulation s(
      make_simulator(cpu_entry<Builds<Build<"Dust-v0", Environment>>>(), "Dust-v0", config));
  s.reset(3);
  const std::vector<double> actions(1000, 0.7);
  for (int k = 0; k < 6; ++k) s->step({actions.data(), Type::float64}, s.bound(), nullptr);
  return s.observation();
}

bool rounds_upwards() {
  volatile float one = 1.0f, little = 1e-9f;
  return one + little > 1.0f;
}
/// Runs in a thread of its own that rounds upwards and, where that is to be had, flushes denormals.
template <class F>
auto in_foreign_mode(F run) {
  const auto work = [&] {
    std::fesetround(FE_UPWARD);
#if defined(__SSE__)
    _mm_setcsr(_mm_getcsr() | 0x8040);  // results flushed, arguments taken as 0
#endif
    auto result = run();
    CHECK(rounds_upwards());
#if defined(__SSE__)
    CHECK((_mm_getcsr() & 0x8040) == 0x8040);
#endif
    return result;
  };
  return std::async(std::launch::async, work).get();
}

GE_TEST(bits_are_those_of_the_standard_mode_whatever_the_caller_has) {
  const std::vector<float> expected = played(1);
  CHECK(expected[1] > 0 && expected[1] < 1e-38f);
  for (const int threads : {1, 4})
    CHECK(in_foreign_mode([&] { return played(threads); }) == expected);
}

GE_TEST(mode_comes_back_after_an_exception) {
  in_foreign_mode([] {
    try {
      const FloatMode standard;
      CHECK(!rounds_upwards());
      throw 1;
    } catch (int) {
    }
    return 0;
  });
}

}  // namespace
