// Episodes in the three modes on an environment made for it: three agents that end by themselves
// after 3, 5 and 7 steps.
// environment: cartpole
#include "engine/cpu/entry.hpp"
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

struct Act {
  int32_t quits;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("quits", &Act::quits, "1: ends, 2: is cut short").one_of(3));
  }
};
struct Left {
  int32_t steps;
  static constexpr auto describe() {
    return fields(field("steps", &Left::steps, "left to this agent").any_value());
  }
};
struct Bell {
  int32_t ends, cuts;
  static constexpr auto describe() {
    return fields(field("ends", &Bell::ends, "1: the world's episode ends").any_value(),
                  field("cuts", &Bell::cuts, "1: the world's episode is cut short").any_value());
  }
};
struct Options {
  int32_t first = 3;
  static constexpr auto describe() {
    return fields(field("first", &Options::first, "steps left to the first agent").within(1, 100));
  }
};
struct Row {
  float left, episode, step, one;
  static constexpr auto describe() {
    return fields(field("left", &Row::left, "steps"), field("episode", &Row::episode, "number"),
                  field("step", &Row::step, "number"), field("one", &Row::one, "always 1"));
  }
};

struct Trio : Agents<3, Left, Act> {
  static constexpr const char* name = "trio";
};
struct Board : Single<Bell> {
  static constexpr const char* name = "board";
};
template <bool kRare>
struct Schema {
  using Params = None;
  using Options = ::Options;
  using Action = Act;
  using Agent = Trio;
  using tables = Types<Trio, Board>;
  static constexpr Tuning tuning{.rare_resets = kRare};
};

template <class W>
void start(const W& w, Slot agent, Left& left) {
  left.steps = w.options().first + 2 * agent.row;
}
template <class W>
void silence(const W&, Bell& bell) {
  bell = Bell{};
}
// Ten times the row, so that returns tell agents apart.
template <class W>
void count_down(const W&, Slot agent, Left& left, Reward& reward, Ending& ending, const Act& act) {
  left.steps = left.steps - 1;
  reward.value = float(10 * agent.row + 1);
  ending.terminated = (left.steps <= 0) | (act.quits == 1) ? 1u : 0u;
  ending.truncated = act.quits == 2 ? 1u : 0u;
}
template <class W>
void ring(const W&, Verdict& verdict, const Bell& bell) {
  verdict.terminated = uint32_t(bell.ends);
  verdict.truncated = uint32_t(bell.cuts);
}
template <class W>
void observe(const W& w, Row& row, const Left& left) {
  row = {float(left.steps), float(w.episode()), float(w.step()), 1.0f};
}

template <bool kRare>
struct Environment {
  using Schema = ::Schema<kRare>;
  using W = World<Schema>;
  using Observation = Row;
  using Reset = Stages<Each<&start<W>>, EachWorld<&silence<W>>>;
  using Step = Stages<Each<&count_down<W>>, EachWorld<&ring<W>>>;
  using Observe = Stages<ge::Observe<&observe<W>>>;
  static constexpr Card card{.doc = ""};
};
using Made = Builds<Build<"When-v0", Environment<false>>, Build<"Rare-v0", Environment<true>>>;

std::unique_ptr<Simulator> make(const char* id, Autoreset mode, int64_t worlds = 1,
                                int64_t max_steps = -1, Ends ends = Ends::agent) {
  Config config;
  config.worlds = worlds;
  config.autoreset = mode;
  config.ends = ends;
  config.max_episode_steps = max_steps;
  return make_simulator(cpu_entry<Made>(), id, config);
}
std::unique_ptr<Simulator> make_together(const char* id, Autoreset mode, int64_t max_steps = -1) {
  return make(id, mode, 1, max_steps, Ends::world);
}

/// "1.0": one digit per agent.
std::string digits(const std::vector<uint8_t>& values) {
  std::string text;
  for (const uint8_t v : values) text += char('0' + v);
  return text;
}
/// What one world shows: flags, ended, agents active, rewards.
std::string shown(const Simulation& s) {
  std::string text = digits(s.terminated()) + " " + digits(s.truncated()) + " " +
                     digits(s.ended()) + " " + digits(s.out<uint8_t>(kAgentActive)) + " ";
  for (const float r : s.reward()) text.append(" ").append(std::to_string(int(r)));
  return text;
}
/// "left episode step" of each agent, a dash for a row of zeros.
std::string rows(const std::vector<float>& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); i += 4) {
    text += text.empty() ? "" : ", ";
    if (values[i + 3] == 0.0f && values[i] == 0 && values[i + 1] == 0 && values[i + 2] == 0)
      text += "-";
    else
      text += std::to_string(int(values[i])) + " " + std::to_string(int(values[i + 1])) + " " +
              std::to_string(int(values[i + 2]));
  }
  return text;
}
std::string observed(const Simulation& s) {
  return rows(s.observation());
}
std::string final_rows(const Simulation& s) {
  return rows(s.out<float>(kFinalObservation));
}
std::string statistics(const Simulation& s) {
  std::string text;
  const auto returns = s.out<float>(kEpisodeReturn);
  const auto lengths = s.out<int32_t>(kEpisodeLength);
  for (size_t i = 0; i < returns.size(); ++i)
    text += (i ? ", " : "") + std::to_string(int(returns[i])) + " in " + std::to_string(lengths[i]);
  return text;
}
void steps(Simulation& s, int count, int32_t action = 0) {
  for (int i = 0; i < count; ++i) s.step({action});
}

}  // namespace

GE_TEST(reset_shows_the_start_without_reward_or_flags) {
  for (const Autoreset mode : kModes) {
    Simulation s(make("When-v0", mode));
    s.reset(1);
    CHECK_EQ(observed(s), "3 0 0, 5 0 0, 7 0 0");
    CHECK_EQ(shown(s), "000 000 000 111  0 0 0");
    CHECK_EQ(statistics(s), "0 in 0, 0 in 0, 0 in 0");
    if (mode == Autoreset::same_step) CHECK_EQ(final_rows(s), "-, -, -");
  }
}

GE_TEST(final_observations_exist_in_same_step_only) {
  for (const Autoreset mode : kModes)
    CHECK_EQ(make("When-v0", mode)->output(kFinalObservation).exists, mode == Autoreset::same_step);
}

GE_TEST(same_step_ends_agents_one_by_one_and_begins_anew_with_the_last) {
  for (const char* id : {"When-v0", "Rare-v0"}) {
    Simulation s(make(id, Autoreset::same_step));
    s.reset(1);
    steps(s, 2);
    CHECK_EQ(shown(s), "000 000 000 111  1 11 21");
    CHECK_EQ(final_rows(s), "-, -, -");
    s.step({0});
    CHECK_EQ(shown(s), "100 000 100 011  1 11 21");
    CHECK_EQ(observed(s), "-, 2 0 3, 4 0 3");
    CHECK_EQ(final_rows(s), "0 0 3, -, -");
    CHECK_EQ(statistics(s), "3 in 3, 0 in 0, 0 in 0");
    s.step({0});
    CHECK_EQ(shown(s), "000 000 000 011  0 11 21");
    CHECK_EQ(observed(s), "-, 1 0 4, 3 0 4");
    CHECK_EQ(final_rows(s), "-, -, -");
    CHECK_EQ(statistics(s), "0 in 0, 0 in 0, 0 in 0");
    s.step({0});
    CHECK_EQ(shown(s), "010 000 010 001  0 11 21");
    CHECK_EQ(statistics(s), "0 in 0, 55 in 5, 0 in 0");
    steps(s, 2);
    CHECK_EQ(shown(s), "001 000 001 111  0 0 21");
    CHECK_EQ(observed(s), "3 1 0, 5 1 0, 7 1 0");
    CHECK_EQ(final_rows(s), "-, -, 0 0 7");
    CHECK_EQ(statistics(s), "0 in 0, 0 in 0, 147 in 7");
    s.step({0});
    CHECK_EQ(shown(s), "000 000 000 111  1 11 21");
    CHECK_EQ(observed(s), "2 1 1, 4 1 1, 6 1 1");
    steps(s, 2);
    CHECK_EQ(statistics(s), "3 in 3, 0 in 0, 0 in 0");  // of this episode alone
  }
}

GE_TEST(next_step_shows_the_end_and_spends_a_step_on_the_reset) {
  for (const char* id : {"When-v0", "Rare-v0"}) {
    Simulation s(make(id, Autoreset::next_step));
    s.reset(1);
    steps(s, 3);
    CHECK_EQ(shown(s), "100 000 100 011  1 11 21");
    CHECK_EQ(observed(s), "0 0 3, 2 0 3, 4 0 3");
    s.step({0});
    CHECK_EQ(observed(s), "-, 1 0 4, 3 0 4");
    steps(s, 3);
    CHECK_EQ(shown(s), "001 000 001 000  0 0 21");
    CHECK_EQ(observed(s), "-, -, 0 0 7");
    CHECK_EQ(statistics(s), "0 in 0, 0 in 0, 147 in 7");
    s.step({1});  // ignored
    CHECK_EQ(shown(s), "000 000 000 111  0 0 0");
    CHECK_EQ(observed(s), "3 1 0, 5 1 0, 7 1 0");
    CHECK_EQ(statistics(s), "0 in 0, 0 in 0, 0 in 0");
    s.step({0});
    CHECK_EQ(shown(s), "000 000 000 111  1 11 21");
    CHECK_EQ(observed(s), "2 1 1, 4 1 1, 6 1 1");
  }
}

GE_TEST(disabled_freezes_a_world_that_is_over_and_counts_its_steps) {
  for (const char* id : {"When-v0", "Rare-v0"}) {
    Simulation s(make(id, Autoreset::disabled));
    s.reset(1);
    steps(s, 7);
    CHECK_EQ(shown(s), "001 000 001 000  0 0 21");
    CHECK_EQ(observed(s), "-, -, 0 0 7");
    CHECK_EQ(s->faults().frozen_steps, 0);
    const std::string record = s.record(0);
    for (int i = 0; i < 3; ++i) {
      s.step({2});
      CHECK(s.record(0) == record);
      CHECK_EQ(shown(s), "111 000 000 000  0 0 0");
      CHECK_EQ(observed(s), "-, -, 0 0 7");
      CHECK_EQ(statistics(s), "0 in 0, 0 in 0, 0 in 0");
    }
    CHECK_EQ(s->faults().frozen_steps, 3);
    s.reset(ResetRequest{});
    CHECK_EQ(observed(s), "3 1 0, 5 1 0, 7 1 0");
    s.step({0});
    CHECK_EQ(shown(s), "000 000 000 111  1 11 21");
    CHECK_EQ(s->faults().frozen_steps, 0);
  }
}

GE_TEST(same_step_with_ends_of_worlds_flags_all_agents_in_one_step) {
  for (const char* id : {"When-v0", "Rare-v0"}) {
    Simulation s(make_together(id, Autoreset::same_step));
    s.reset(1);
    steps(s, 3);
    CHECK_EQ(shown(s), "000 000 000 011  1 11 21");
    CHECK_EQ(observed(s), "-, 2 0 3, 4 0 3");
    CHECK_EQ(final_rows(s), "-, -, -");
    CHECK_EQ(statistics(s), "0 in 0, 0 in 0, 0 in 0");
    steps(s, 4);
    CHECK_EQ(shown(s), "111 000 111 111  0 0 21");
    CHECK_EQ(observed(s), "3 1 0, 5 1 0, 7 1 0");
    CHECK_EQ(final_rows(s), "-, -, 0 0 7");
    CHECK_EQ(statistics(s), "3 in 7, 55 in 7, 147 in 7");
  }
}

GE_TEST(disabled_with_ends_of_worlds_repeats_the_flags_of_the_end) {
  Simulation s(make_together("When-v0", Autoreset::disabled, 6));
  s.reset(1);
  steps(s, 6);
  CHECK_EQ(shown(s), "110 001 111 000  0 0 21");
  for (int i = 0; i < 2; ++i) {
    s.step({0});
    CHECK_EQ(shown(s), "110 001 000 000  0 0 0");
    CHECK_EQ(statistics(s), "0 in 0, 0 in 0, 0 in 0");
  }
  s.reset(ResetRequest{});
  s.step({2});
  CHECK_EQ(shown(s), "000 111 111 000  1 11 21");
}

GE_TEST(ends_of_worlds_are_no_part_of_a_record) {
  Simulation one(make("When-v0", Autoreset::next_step)),
      other(make_together("When-v0", Autoreset::next_step));
  one.reset(1), other.reset(1);
  steps(one, 4), steps(other, 4);
  const std::string saved = save(*one);
  CHECK(save(*other) == saved);
  load(*other, saved.data(), int64_t(saved.size()));
  steps(other, 3);
  CHECK_EQ(shown(other), "111 000 111 000  0 0 21");
  load(*one, saved.data(), int64_t(saved.size()));
  steps(one, 3);
  CHECK_EQ(shown(one), "001 000 001 000  0 0 21");
}

GE_TEST(agents_end_by_rules_cut_short_or_both) {
  Simulation s(make("When-v0", Autoreset::next_step));
  s.reset(1);
  s.step({0, 1, 2});
  CHECK_EQ(shown(s), "010 001 011 100  1 11 21");
  s.step({2});
  CHECK_EQ(shown(s), "000 100 100 000  1 0 0");
  Simulation both(make("When-v0", Autoreset::next_step));
  both.reset(1);
  steps(both, 2);
  both.step({2, 0, 0});
  CHECK_EQ(shown(both), "100 100 100 011  1 11 21");
}

GE_TEST(limit_cuts_short_who_is_left_and_may_meet_an_end_by_rules) {
  Simulation s(make("When-v0", Autoreset::same_step, 1, 5));
  s.reset(1);
  steps(s, 4);
  CHECK_EQ(shown(s), "000 000 000 011  0 11 21");
  s.step({0});
  CHECK_EQ(shown(s), "010 011 011 111  0 11 21");
  CHECK_EQ(final_rows(s), "-, 0 0 5, 2 0 5");
  CHECK_EQ(observed(s), "3 1 0, 5 1 0, 7 1 0");
  CHECK_EQ(statistics(s), "0 in 0, 55 in 5, 105 in 5");
}

GE_TEST(limit_of_one_step_ends_every_step) {
  for (const Autoreset mode : {Autoreset::same_step, Autoreset::next_step}) {
    Simulation s(make("When-v0", mode, 1, 1));
    s.reset(1);
    s.step({0});
    CHECK_EQ(digits(s.truncated()), "111");
    s.step({0});
    CHECK_EQ(digits(s.truncated()), mode == Autoreset::same_step ? "111" : "000");
    CHECK_EQ(s.get<uint32_t>("world.episode")[0], mode == Autoreset::same_step ? 2u : 1u);
  }
}

GE_TEST(verdict_on_the_world_ends_all_agents_that_are_left) {
  Simulation s(make("When-v0", Autoreset::same_step, 3));
  s.reset(1);
  steps(s, 3);
  s.set<int32_t>("board.ends", {0, 1, 0});
  s.set<int32_t>("board.cuts", {0, 0, 1});
  s.step({0});
  CHECK_EQ(digits(s.terminated()), "000011000");
  CHECK_EQ(digits(s.truncated()), "000000011");
  CHECK_EQ(digits(s.ended()), "000011011");
  CHECK_EQ(observed(s), "-, 1 0 4, 3 0 4, 3 1 0, 5 1 0, 7 1 0, 3 1 0, 5 1 0, 7 1 0");
  CHECK_EQ(final_rows(s), "-, -, -, -, 1 0 4, 3 0 4, -, 1 0 4, 3 0 4");
}

GE_TEST(worlds_end_at_their_own_times) {
  for (const char* id : {"When-v0", "Rare-v0"}) {
    constexpr size_t kWorlds = 37;
    Simulation s(make(id, Autoreset::same_step, kWorlds));
    s.reset(1);
    for (uint32_t step = 1; step <= 20; ++step) {
      // World w rings every w mod 5 + 2 steps.
      std::vector<int32_t> ends(kWorlds);
      for (size_t w = 0; w < kWorlds; ++w) ends[w] = step % (w % 5 + 2) == 0 ? 1 : 0;
      s.set("board.ends", ends);
      s.step({0});
      const auto at = s.get<uint32_t>("world.step"), episode = s.get<uint32_t>("world.episode");
      for (size_t w = 0; w < kWorlds; ++w) {
        CHECK_EQ(at[w], step % uint32_t(w % 5 + 2));
        CHECK_EQ(episode[w], step / uint32_t(w % 5 + 2));
      }
    }
  }
}

GE_TEST(masked_reset_touches_the_worlds_of_its_mask_only) {
  Simulation s(make("When-v0", Autoreset::next_step, 20));
  s.reset(1);
  steps(s, 4);
  std::vector<std::string> before;
  for (int64_t w = 0; w < 20; ++w) before.push_back(s.record(w));
  std::vector<uint8_t> mask(20);
  mask[3] = mask[18] = 1;
  ResetRequest request;
  request.mask = mask.data();
  s.reset(request);
  const std::string seen = observed(s);
  for (int64_t w = 0; w < 20; ++w) CHECK_EQ(s.record(w) != before[size_t(w)], mask[size_t(w)] != 0);
  CHECK_EQ(s.get<uint32_t>("world.episode")[3], 1u);
  CHECK_EQ(s.get<uint32_t>("world.step")[3], 0u);
  CHECK_EQ(seen.substr(0, 17), "-, 1 0 4, 3 0 4, ");
  const auto all = s.observation();
  CHECK_EQ(rows({all.begin() + 36, all.begin() + 48}), "3 1 0, 5 1 0, 7 1 0");
  const auto active = s.out<uint8_t>(kAgentActive);
  CHECK_EQ(digits({active.begin() + 6, active.begin() + 12}), "011111");
}

GE_TEST(reset_with_a_mask_of_nothing_does_nothing) {
  Simulation s(make("When-v0", Autoreset::next_step, 5));
  s.reset(1);
  steps(s, 4);
  const std::string before = s.records();
  const std::vector<uint8_t> mask(5);
  ResetRequest request;
  request.mask = mask.data();
  s.reset(request);
  CHECK(s.records() == before);
}

GE_TEST(seeded_reset_begins_episode_0_and_unseeded_the_next) {
  Simulation s(make("When-v0", Autoreset::next_step, 3));
  s.reset(9);
  CHECK(s.get<uint32_t>("world.identity") == (std::vector<uint32_t>{0, 1, 2}));
  CHECK(s.get<uint32_t>("world.seed_low") == (std::vector<uint32_t>{9, 9, 9}));
  s.reset(ResetRequest{});
  s.reset(ResetRequest{});
  CHECK(s.get<uint32_t>("world.episode") == (std::vector<uint32_t>{2, 2, 2}));
  const std::vector<uint64_t> seeds{5, 6, (uint64_t{7} << 32) + 8};
  const std::vector<uint8_t> mask{1, 0, 1};
  ResetRequest request;
  request.seeds = seeds;
  request.mask = mask.data();
  s.reset(request);
  CHECK(s.get<uint32_t>("world.episode") == (std::vector<uint32_t>{0, 2, 0}));
  CHECK(s.get<uint32_t>("world.identity") == (std::vector<uint32_t>{0, 1, 0}));
  CHECK(s.get<uint32_t>("world.seed_low") == (std::vector<uint32_t>{5, 9, 8}));
  CHECK(s.get<uint32_t>("world.seed_high") == (std::vector<uint32_t>{0, 0, 7}));
}

GE_TEST(seed_decides_the_start_wherever_the_world_stands) {
  Config config;
  config.worlds = 40;
  Simulation s("CartPole-v0", config);
  std::vector<uint64_t> seeds(40);
  for (size_t w = 0; w < 40; ++w) seeds[w] = 100 + w % 20;
  ResetRequest request;
  request.seeds = seeds;
  s.reset(request);
  const auto first = s.observation();
  for (size_t k = 0; k < 80; ++k) CHECK_EQ(first[k], first[80 + k]);
  CHECK(first[0] != first[4]);
  s.reset(1);
  const auto other = s.observation();
  CHECK(other[0] != other[80]);
  s.reset(ResetRequest{});
  CHECK(s.observation() != other);
  s.reset(1);
  CHECK(s.observation() == other);
}

GE_TEST(options_hold_for_their_reset_only) {
  Simulation s(make("When-v0", Autoreset::same_step));
  ResetRequest request;
  request.options = {{"first", int64_t{1}}};
  s.reset(request);
  CHECK_EQ(observed(s), "1 1 0, 3 1 0, 5 1 0");
  steps(s, 5);
  CHECK_EQ(observed(s), "3 2 0, 5 2 0, 7 2 0");
  request.options = {{"first", int64_t{0}}};
  CHECK_THROWS(s.reset(request), Error,
               "reset option 'first' must be a whole number from 1 to 100, got 0");
  request.options = {{"frist", int64_t{1}}};
  CHECK_THROWS(s.reset(request), Error, "unknown reset option 'frist'; there is: first");
}

GE_TEST(observe_repeats_what_is_seen_and_changes_nothing) {
  Simulation s(make("When-v0", Autoreset::next_step, 3));
  s.reset(1);
  steps(s, 4);
  const std::string seen = observed(s), before = s.records();
  s->observe(s.bound(), nullptr);
  CHECK_EQ(observed(s), seen);
  CHECK(s.records() == before);
}

GE_TEST(calls_before_the_first_reset_are_refused) {
  Simulation s(make("When-v0", Autoreset::next_step));
  CHECK_THROWS(s.step({0}), Error, "step before the first reset");
  CHECK_THROWS(s->observe(s.bound(), nullptr), Error, "observe before the first reset");
  const std::vector<uint8_t> mask{1};
  ResetRequest request;
  request.mask = mask.data();
  CHECK_THROWS(s.reset(request), Error, "the first reset must be of all worlds");
}

GE_TEST(outputs_that_are_not_wanted_are_left_alone) {
  for (const char* id : {"When-v0", "Rare-v0"}) {
    Simulation all(make(id, Autoreset::same_step)), few(make(id, Autoreset::same_step));
    all.reset(1), few.reset(1);
    Bound bound;
    bound.at[kReward] = few.bound().at[kReward];
    const std::vector<int32_t> actions(3);
    for (int step = 0; step < 12; ++step) {
      all.step(actions);
      few->step({actions.data(), Type::int32}, bound, nullptr);
      CHECK(few.reward() == all.reward());
      CHECK_EQ(observed(few), "3 0 0, 5 0 0, 7 0 0");
      CHECK(few.records() == all.records());
    }
  }
}
