// Micro: a synthetic load for measuring how an executor scales; there is nothing to win.
//
//   who acts    1 to 1,000 agents that never see each other; each nudges one of its four numbers
//   reward      the first of the four numbers
//   ends        cut short after 200 steps
//   rules from  the idea: the "Micro" benchmark of Madrona (Shacklett et al. 2023, section 6.5),
//               one compute-heavy system whose work is proportional to the number of agents; the
//               arithmetic is ours, since theirs is unpublished
//
// `work` sets the arithmetic per agent and step, `agent_count` the agents per world: together they
// say where a machine stops being bound by memory and where it is full.
#pragma once

#include <string>

#include "engine/environment.hpp"
#include "pictures/scene.hpp"
#include "pictures/text.hpp"

namespace gpu_envs::envs::micro {

using namespace ge;

// ---- what is described

struct Params {
  int32_t agent_count = 5;
  int32_t work = 256;

  static constexpr auto describe() {
    return fields(
        field("agent_count", &Params::agent_count, "number of agents in a world").within(1, 1000),
        field("work", &Params::work, "rounds of multiply and add per agent and step")
            .within(0, 65536));
  }
};

struct Nudge {
  int32_t word;
  static constexpr bool transient = true;

  static constexpr auto describe() {
    return fields(
        field("word", &Nudge::word, "index of the word that grows by a quarter").one_of(4));
  }
};

struct Words {
  float words[4];

  static constexpr auto describe() {
    return fields(field("words", &Words::words, "four words of the agent's state").within(0, 1));
  }
};

struct Observation {
  float words[4];

  static constexpr auto describe() {
    return fields(
        field("words", &Observation::words, "four words of the agent's state").within(0, 1));
  }
};

// ---- tables

/// N is the capacity of a tier; `agent_count` rows of it are in use.
template <int N>
struct Schema {
  struct Agent : Agents<N, Words, Nudge> {
    static constexpr const char* name = "agents";
    static GE_FN constexpr int count(const micro::Params& params) { return params.agent_count; }
  };
  using Params = micro::Params;
  using Action = Nudge;
  using tables = Types<Agent>;
};

// ---- rules

template <int N>
struct Rules {
  using W = World<Schema<N>>;

  // The word stays in [0, 1): it grows to less than 1.25, and 1 is taken off from 1 on.
  static GE_FN void nudge(const W&, Words& own, const Nudge& action) {
    GE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const float grown = own.words[i] + 0.25f;
      const float wrapped = select(grown >= 1.0f, grown - 1.0f, grown);
      own.words[i] = select(action.word == i, wrapped, own.words[i]);
    }
  }

  /// The next value of a word, in [0, 1).
  static GE_FN float churned(float word, float next) {
    return fract((3.7f * word + 0.31f * next) + 0.17f);
  }

  // Round k replaces word k mod 4: turns of four rounds, then the rest. These are two systems, and
  // the first runs at least one turn, because g++ vectorises over agents only where no branch
  // surrounds the inner loop.
  static GE_FN bool has_whole_turns(const W& w) { return w.params().work >= 4; }
  static GE_FN void churn_whole_turns(const W& w, Words& own) {
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
  static GE_FN void churn_rest(const W& w, Words& own) {
    const int rest = w.params().work % 4;
    float a = own.words[0], b = own.words[1], c = own.words[2];
    a = select(rest > 0, churned(a, b), a);
    b = select(rest > 1, churned(b, c), b);
    c = select(rest > 2, churned(c, own.words[3]), c);
    own = {{a, b, c, own.words[3]}};
  }

  static GE_FN void pay(const W&, Reward& reward, const Words& own) { reward.value = own.words[0]; }

  static GE_FN void fill_words(const W& w, Slot agent, Words& own) {
    const Draw random = draw<"micro_reset">(w, agent.row);
    own = {{random.uniform(0), random.uniform(1), random.uniform(2), random.uniform(3)}};
  }

  // ---- observation

  static GE_FN void observe(const W&, Observation& row, const Words& own) {
    row = {{own.words[0], own.words[1], own.words[2], own.words[3]}};
  }
};

// ---- the text

/// The words of the first agents, and of the viewer, a line each.
template <class S>
GE_COLD std::string table(const World<S>& w, int viewer) {
  constexpr int kListed = 20;
  const int agents = w.params().agent_count;
  std::string text = "agent: word 0, which is the reward, words 1 to 3\n";
  for (int agent = 0; agent < agents; ++agent) {
    if (agent >= kListed && agent != viewer) continue;
    add_number(text, "", agent, 0, agent == viewer ? " (you):" : ":");
    for (const float word : get<typename S::Agent, Words>(w, agent).words)
      add_number(text, " ", double(word), 4);
    text += '\n';
  }
  if (agents > kListed) add_number(text, "and so on, ", agents, 0, " agents\n");
  add_steps(text, w.step(), w.max_steps());
  return text + "\n";
}

// ---- the picture

/// Each agent as a tile with a bar per word: the first, which is the reward, stands out.
template <class S>
Scene bars(const World<S>& w) {
  const int agents = w.params().agent_count;
  int columns = 1;  // for tiles that fill 16 : 9
  while (9 * columns * columns < 16 * agents) ++columns;
  Board board = Board::of_cells(columns, (agents + columns - 1) / columns);
  board.cell = 0;
  const auto plate = [&](float x, float y, float wide, float tall, Rgb colour) {
    board.plates.push_back({{x, y}, {x + wide, y + tall}, colour, 1});
  };
  for (int agent = 0; agent < agents; ++agent) {
    const auto x = float(agent % columns), y = board.high[1] - 1 - float(agent / columns);
    const Words own = get<typename S::Agent, Words>(w, agent);
    plate(x + 0.04f, y + 0.04f, 0.92f, 0.92f, palette::kFloorSquare);
    for (int i = 0; i < 4; ++i)
      plate(x + 0.1f + 0.2f * float(i), y + 0.1f, 0.18f, 0.68f * own.words[i],
            i == 0 ? palette::kBox : palette::kBlue);
    board.captions.push_back(
        {std::to_string(agent), x + 0.9f, y + 0.83f, 0.08f, palette::kDark, Caption::kRight, 1});
  }
  Scene scene;
  scene.board = std::move(board);
  return scene;
}

// ---- the graphs

template <int N>
struct Environment {
  using Schema = micro::Schema<N>;
  using Observation = micro::Observation;
  using R = Rules<N>;
  using Reset = Stages<Each<&R::fill_words>>;
  using Step = Stages<Each<&R::nudge>, When<&R::has_whole_turns, Each<&R::churn_whole_turns>>,
                      Each<&R::churn_rest>, Each<&R::pay>>;
  using Observe = Stages<ge::Observe<&R::observe>>;
  static constexpr Card card{.doc = "A synthetic load: agents that compute and never meet.",
                             .max_episode_steps = 200,
                             .agents = "agent_count",
                             .render_fps = 10};
  static constexpr Hooks<Schema> hooks{
      .fits = [](const Params& params) { return params.agent_count <= N; },
      .action_name = [](const Params&, int word) { return "raise word " + std::to_string(word); },
      .action_key = [](const Params&, int word) { return std::to_string(word); },
      .text = [](const World<Schema>& w, int viewer) { return table<Schema>(w, viewer); },
      .scene = [](const World<Schema>& w) { return bars<Schema>(w); }};
};

using Builds = ge::Builds<Build<"Micro-v0", Environment<1>, Environment<8>, Environment<32>,
                                Environment<128>, Environment<1024>>>;

}  // namespace gpu_envs::envs::micro
