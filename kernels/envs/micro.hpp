// Micro: a synthetic load for measuring how an executor scales; there is nothing to win.
//
//   who acts    1 to 1,000 agents that never see each other; each nudges one of its four numbers
//   reward      the first of the four numbers
//   ends        cut short after 200 steps
//   rules from  the idea: the "Micro" benchmark of Madrona (Shacklett et al. 2023, section 6.5),
//   one compute-heavy system
//               whose work is proportional to the number of agents; the arithmetic is ours, since
//               theirs is unpublished
//
// `work` sets the arithmetic per agent and step, `agent_count` the agents per world: together they
// say where a machine stops being bound by memory and where it is full.
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::micro {

using namespace ge;

// ---- what is described

struct Params {
  int32_t agent_count = 5;
  int32_t work = 256;

  static constexpr auto describe() {
    return fields(field("agent_count", &Params::agent_count, "agents per world").within(1, 1000),
                  field("work", &Params::work, "rounds of multiply and add per agent and step")
                      .within(0, 65536));
  }
};

struct Nudge {
  int32_t word;
  static constexpr bool transient = true;

  static constexpr auto describe() {
    return fields(
        field("word", &Nudge::word, "which of the agent's numbers grows by a quarter").one_of(4));
  }
};

struct Words {
  float words[4];

  static constexpr auto describe() {
    return fields(field("words", &Words::words, "four numbers that churn").within(0, 1));
  }
};

struct Observation {
  float words[4];

  static constexpr auto describe() {
    return fields(field("words", &Observation::words, "the agent's four numbers").within(0, 1));
  }
};

// ---- tables

template <int N>
struct Crowd : Agents<N, Words, Nudge> {
  static constexpr const char* name = "agents";
  static GE_FN constexpr int count(const Params& params) { return params.agent_count; }
};

template <int N>
struct Schema {
  using Params = micro::Params;
  using Action = Nudge;
  using Agent = Crowd<N>;
  using tables = Types<Agent>;
};

template <int N>
using W = World<Schema<N>>;

// ---- rules

// Stays in [0, 1): a number of [0, 1) plus a quarter lies below 1.25.
template <int N>
GE_FN void nudge(const W<N>&, Words& own, const Nudge& action) {
  GE_UNROLL
  for (int i = 0; i < 4; ++i) {
    const float grown = own.words[i] + 0.25f;
    const float wrapped = select(grown >= 1.0f, grown - 1.0f, grown);
    own.words[i] = select(action.word == i, wrapped, own.words[i]);
  }
}

GE_FN float churned(float word, float next) {
  return fract((3.7f * word + 0.31f * next) + 0.17f);
}

// Round k replaces word k mod 4, so whole turns of four rounds, then a rest. The two are systems of
// their own, and the first runs at least one turn, because g++ runs agents side by side only where
// nothing branches around the inner loop.
template <int N>
GE_FN bool has_whole_turns(const W<N>& w) {
  return w.params().work >= 4;
}
template <int N>
GE_FN void churn_whole_turns(const W<N>& w, Words& own) {
  const int turns = w.params().work / 4;
  float a = own.words[0], b = own.words[1], c = own.words[2], d = own.words[3];
  int turn = 0;
  do {
    a = churned(a, b);
    b = churned(b, c);
    c = churned(c, d);
    d = churned(d, a);
  } while (++turn < turns);
  own = {{a, b, c, d}};
}
template <int N>
GE_FN void churn_rest(const W<N>& w, Words& own) {
  const int rest = w.params().work % 4;
  float a = own.words[0], b = own.words[1], c = own.words[2];
  a = select(rest > 0, churned(a, b), a);
  b = select(rest > 1, churned(b, c), b);
  c = select(rest > 2, churned(c, own.words[3]), c);
  own = {{a, b, c, own.words[3]}};
}

template <int N>
GE_FN void pay(const W<N>&, Reward& reward, const Words& own) {
  reward.value = own.words[0];
}

template <int N>
GE_FN void fill_words(const W<N>& w, Slot agent, Words& own) {
  const Draw random = draw<"micro_reset">(w, agent.row);
  own = {{random.uniform(0), random.uniform(1), random.uniform(2), random.uniform(3)}};
}

// ---- observation

template <int N>
GE_FN void observe(const W<N>&, Observation& row, const Words& own) {
  row = {{own.words[0], own.words[1], own.words[2], own.words[3]}};
}

// ---- the graphs

template <int N>
struct Environment {
  using Schema = micro::Schema<N>;
  using Observation = micro::Observation;
  using Reset = Stages<Each<&fill_words<N>>>;
  using Step = Stages<Each<&nudge<N>>, When<&has_whole_turns<N>, Each<&churn_whole_turns<N>>>,
                      Each<&churn_rest<N>>, Each<&pay<N>>>;
  using Observe = Stages<ge::Observe<&observe<N>>>;
  static constexpr Card card{.doc = "A synthetic load: agents that compute and never meet.",
                             .max_episode_steps = 200,
                             .agents = "agent_count"};
  static constexpr Hooks<Schema> hooks{
      .fits = [](const Params& params) { return params.agent_count <= N; }};
};

using Builds = ge::Builds<Build<"Micro-v0", Environment<1>, Environment<8>, Environment<32>,
                                Environment<128>, Environment<1024>>>;

}  // namespace gpu_envs::envs::micro
