// TagContinuous, one rule per test, in worlds laid out by hand.
#include <cmath>

#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

constexpr float kPi = 3.14159265f;

bool near(float a, float b, double most) {
  return std::abs(a - b) <= most;
}

int count_of(const std::string& text, const std::string& word) {
  int count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}
Config config_of(const std::string& start, Values parameters, int64_t max_steps) {
  Config config;
  config.worlds = 1;
  config.autoreset = Autoreset::disabled;
  config.max_episode_steps = max_steps;
  config.parameters = std::move(parameters);
  config.parameters["start"] = start;
  config.parameters["num_taggers"] = int64_t(count_of(start, "tagger"));
  config.parameters["num_runners"] = int64_t(count_of(start, "runner"));
  return config;
}

/// One world that begins as the text says.
class Chase {
 public:
  explicit Chase(const std::string& start, const Values& parameters = {}, int64_t max_steps = 100)
      : world("TagContinuous-v0", config_of(start, parameters, max_steps)) {
    world.reset(1);
  }
  float at(const char* column, int agent) const {
    return world.get<float>("agents." + std::string(column))[size_t(agent)];
  }
  uint32_t flag(const char* column, int agent) const {
    return world.get<uint32_t>("agents." + std::string(column))[size_t(agent)];
  }
  void put(const char* column, int agent, float value) {
    auto values = world.get<float>("agents." + std::string(column));
    values[size_t(agent)] = value;
    world.set("agents." + std::string(column), values);
  }
  /// Levels of acceleration and turn, agent by agent; none: nobody changes anything.
  void step(std::vector<int32_t> levels = {0}) { world.step(std::move(levels)); }
  float reward(int agent) const { return world.reward()[size_t(agent)]; }

  Simulation world;
};

const char* const kTwo = "tagger 1 1 0.5; runner 9 9 0.5";

}  // namespace

GE_TEST(tag_continuous_turns_wrap_at_a_whole_turn) {
  Chase chase("tagger 5 5 6; runner 9 9 0.25");
  chase.step({0, 10, 0, 1});  // the highest turn, pi / 2, and the lowest
  CHECK(near(chase.at("heading", 0), 6 + kPi / 2 - 2 * kPi, 1e-5));
  CHECK(near(chase.at("heading", 1), 0.25f - kPi / 2 + 2 * kPi, 1e-5));
}

GE_TEST(tag_continuous_acceleration_lasts_until_a_limit) {
  Chase chase(kTwo, {{"max_acceleration", 0.75}, {"min_acceleration", -0.25}});
  chase.step({10, 0, 1, 0});
  CHECK(chase.at("speed", 0) == 0.75f && chase.at("acceleration", 0) == 0.75f);
  CHECK(chase.at("speed", 1) == 0 && chase.at("acceleration", 1) == 0);
  chase.step();
  CHECK(chase.at("speed", 0) == 1 && chase.at("acceleration", 0) == 0);
}

GE_TEST(tag_continuous_agents_move_by_their_new_speed_and_heading) {
  Chase chase("tagger 5 5 0; runner 9 9 0");
  chase.step({10, 10, 0, 0});
  CHECK(near(chase.at("x", 0), 5, 1e-6));
  CHECK(near(chase.at("y", 0), 6, 1e-6));
}

GE_TEST(tag_continuous_walls_clamp_both_axes_and_cost_once) {
  Chase chase("tagger 9.9 9.9 0.785; runner 1 1 0", {{"edge_hit_penalty", -2.0}});
  chase.step({10, 0, 0, 0});
  CHECK(chase.at("x", 0) == 10 && chase.at("y", 0) == 10 && chase.at("speed", 0) == 1);
  CHECK(chase.reward(0) == -2 && chase.reward(1) == 0);
}

GE_TEST(tag_continuous_the_first_of_equally_near_taggers_is_paid) {
  Chase chase("tagger 5 5.05 0; tagger 5 4.95 0; runner 5 5 0; runner 9 9 0",
              {{"tag_reward_for_tagger", 3.0}, {"tag_penalty_for_runner", -2.0}});
  chase.step();
  CHECK(chase.reward(0) == 3 && chase.reward(1) == 0 && chase.reward(2) == -2);
  CHECK(chase.flag("in_game", 2) == 0 && chase.flag("in_game", 3) == 1);
}

GE_TEST(tag_continuous_without_exits_the_same_pair_scores_again) {
  Chase chase("tagger 5 5 0; runner 5.05 5 0", {{"runner_exits_game_after_tagged", false}});
  for (int step = 0; step < 3; ++step) {
    chase.step();
    CHECK(chase.reward(0) == 1 && chase.reward(1) == -1);
    CHECK(chase.world.terminated()[1] == 0);
  }
}

GE_TEST(tag_continuous_the_end_pays_runners_in_the_game) {
  Chase chase("tagger 5 5 0; runner 9 9 0; runner 1 1 0",
              {{"step_penalty_for_tagger", -0.5}, {"step_reward_for_runner", 0.25}}, 2);
  chase.step();
  chase.put("x", 2, 5), chase.put("y", 2, 5);
  chase.step();
  CHECK(chase.reward(0) == 0.5f && chase.reward(1) == 1.25f && chase.reward(2) == -0.75f);
  CHECK(chase.world.truncated()[1] == 1 && chase.world.terminated()[1] == 0);
}
