// Micro against a plain loop, bit for bit; and what the engine makes of several tiers.
#include <cmath>

#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

Config config_of(int64_t worlds, int64_t agents, int64_t work) {
  Config config;
  config.worlds = worlds;
  config.parameters = {{"agent_count", agents}, {"work", work}};
  return config;
}

/// The rules as one would say them: word k mod 4 changes in round k.
void step_plainly(float* words, int action, int work) {
  words[action] += 0.25f;
  if (words[action] >= 1.0f) words[action] -= 1.0f;
  for (int k = 0; k < work; ++k) {
    float& word = words[k % 4];
    const float a = 3.7f * word, b = 0.31f * words[(k + 1) % 4];
    const float x = (a + b) + 0.17f;
    word = x - std::floor(x);
  }
}

}  // namespace

GE_TEST(words_of_every_tier_and_amount_of_work_equal_a_plain_loop) {
  for (const int agents : {1, 5, 8, 20, 100, 1000}) {
    for (const int work : {0, 1, 2, 3, 4, 5, 63, 256}) {
      const int worlds = agents == 1 ? 40 : agents > 50 ? 2 : 19;
      Simulation simulation("Micro-v0", config_of(worlds, agents, work));
      simulation.reset(7);
      std::vector<float> words = simulation.observation();
      for (int step = 0; step < 5; ++step) {
        std::vector<int32_t> actions(size_t(worlds * agents));
        for (size_t i = 0; i < actions.size(); ++i) {
          actions[i] = int32_t((i + size_t(step)) % 4);
          step_plainly(&words[4 * i], actions[i], work);
        }
        simulation.step(actions);
        CHECK(simulation.observation() == words);
        const auto reward = simulation.reward();
        for (size_t i = 0; i < reward.size(); ++i) CHECK_EQ(reward[i], words[4 * i]);
      }
    }
  }
}

GE_TEST(start_words_are_uniform_and_differ_between_agents_and_worlds) {
  Simulation simulation("Micro-v0", config_of(200, 50, 0));
  simulation.reset(7);
  double sum = 0;
  const auto words = simulation.observation();
  for (const float word : words) {
    CHECK(word >= 0.0f && word < 1.0f);
    sum += double(word);
  }
  CHECK(std::fabs(sum / double(words.size()) - 0.5) < 0.01);
  CHECK(words[0] != words[4] && words[0] != words[200]);
}

GE_TEST(agents_of_a_tier_start_as_they_do_in_another) {
  Simulation small("Micro-v0", config_of(3, 8, 4)), large("Micro-v0", config_of(3, 9, 4));
  small.reset(7), large.reset(7);
  const auto a = small.observation(), b = large.observation();
  for (size_t world = 0; world < 3; ++world)
    for (size_t k = 0; k < 32; ++k) CHECK_EQ(a[world * 32 + k], b[world * 36 + k]);
}

GE_TEST(smallest_tier_that_fits_is_taken) {
  int64_t bytes = 0;
  for (const int64_t count : {1, 8, 32, 128, 1000}) {
    const auto simulator = make_simulator("Micro-v0", config_of(1, count, 0));
    CHECK_EQ(simulator->agents(), int(count));
    CHECK(simulator->record_bytes() > bytes);
    bytes = simulator->record_bytes();
  }
}

GE_TEST(save_of_another_tier_is_refused) {
  Simulation one("Micro-v0", config_of(2, 8, 0)), other("Micro-v0", config_of(2, 9, 0));
  one.reset(1), other.reset(1);
  const std::string bytes = save(*one);
  CHECK_THROWS(load(*other, bytes.data(), int64_t(bytes.size())), Error,
               "load: the save differs in parameters");
}

GE_TEST(agents_do_not_see_each_other) {
  Simulation one("Micro-v0", config_of(1, 6, 17)), other("Micro-v0", config_of(1, 6, 17));
  one.reset(7), other.reset(7);
  one.step({0, 1, 2, 3, 0, 1});
  other.step({3, 2, 2, 3, 1, 0});  // agents 2 and 3 do the same in both
  const auto a = one.observation(), b = other.observation();
  for (size_t k = 8; k < 16; ++k) CHECK_EQ(a[k], b[k]);
  for (const size_t agent : {0, 1, 4, 5})
    CHECK(!std::equal(&a[4 * agent], &a[4 * agent] + 4, &b[4 * agent]));
}

GE_TEST(episode_is_cut_short_after_200_steps_for_all_agents) {
  Simulation simulation("Micro-v0", config_of(2, 3, 0));
  simulation.reset(7);
  for (int step = 1; step <= 201; ++step) {
    simulation.step({0});
    for (const uint8_t flag : simulation.truncated()) CHECK_EQ(int(flag), step == 200 ? 1 : 0);
    for (const uint8_t flag : simulation.terminated()) CHECK_EQ(int(flag), 0);
    if (step == 200)
      for (const int32_t length : simulation.out<int32_t>(kEpisodeLength)) CHECK_EQ(length, 200);
  }
}

GE_TEST(agent_counts_out_of_range_are_refused_by_name) {
  for (const int64_t count : {int64_t{0}, int64_t{1001}, int64_t{-3}})
    CHECK_THROWS(make_simulator("Micro-v0", config_of(1, count, 1)), Error,
                 "parameter 'agent_count' must be a whole number from 1 to 1000, got " +
                     std::to_string(count));
}
