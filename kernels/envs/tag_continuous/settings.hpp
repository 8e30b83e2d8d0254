// Settings, which a user chooses, Params, which the rules read, and Tier, the capacity of a build.
// start.hpp reads the setting `start`.
#pragma once

#include <string>

#include "engine/environment.hpp"

namespace gpu_envs::envs::tag_continuous {

using namespace ge;

inline constexpr int kMostLevels = 64;  // of accelerations, and of turns
inline constexpr int kMostLaid = 64;    // agents that the setting `start` can place
inline constexpr int kMostAgents = 1000000;
inline constexpr float kTwoPi = 0x1.921fb6p+2f;

struct Settings {
  int32_t num_taggers = 1, num_runners = 10;
  float grid_length = 10.0f;
  float tagging_distance = 0.01f;
  bool runner_exits_game_after_tagged = true;
  std::string start;
  int32_t start_seed = 0;
  bool resample_start = false;
  float max_speed = 1.0f;
  float skill_level_runner = 1.0f, skill_level_tagger = 1.0f;
  float max_acceleration = 1.0f, min_acceleration = -1.0f;
  float max_turn = 0x1.921fb6p+0f, min_turn = -0x1.921fb6p+0f;
  int32_t num_acceleration_levels = 10, num_turn_levels = 10;
  bool use_full_observation = true;
  int32_t num_other_agents_observed = 2;
  float edge_hit_penalty = 0.0f;
  float tag_reward_for_tagger = 1.0f, tag_penalty_for_runner = -1.0f;
  float step_penalty_for_tagger = 0.0f, step_reward_for_runner = 0.0f;
  float end_of_game_reward_for_runner = 1.0f;

  static constexpr auto describe_game() {
    return fields(
        field("num_taggers", &Settings::num_taggers, "number of agents that chase")
            .within(1, kMostAgents),
        field("num_runners", &Settings::num_runners, "number of agents that flee")
            .within(1, kMostAgents),
        field("grid_length", &Settings::grid_length, "side of the square, in units of length")
            .within(1e-3, 1e6),
        field("tagging_distance", &Settings::tagging_distance,
              "distance below which a tagger tags a runner, as a share of grid_length")
            .within(0, 1),
        field("runner_exits_game_after_tagged", &Settings::runner_exits_game_after_tagged,
              "true: a tagged runner leaves the game; false: it runs on and can be tagged again"),
        field("start", &Settings::start,
              "start of every agent as role, x, y and heading, such as \"tagger 1 2 0.5; runner 8 "
              "9 3.1\"; empty: drawn"),
        field("start_seed", &Settings::start_seed,
              "seed of the roles and of the start that all worlds and episodes share")
            .within(0, 2147483647),
        field("resample_start", &Settings::resample_start,
              "true: each episode draws its own positions and headings; false: all share those of "
              "start_seed"));
  }
  static constexpr auto describe_motion() {
    return fields(
        field("max_speed", &Settings::max_speed,
              "top speed at skill level 1, in units of length per step")
            .within(0, 1e6),
        field("skill_level_runner", &Settings::skill_level_runner,
              "top speed of a runner, in units of max_speed")
            .within(0, 1e3),
        field("skill_level_tagger", &Settings::skill_level_tagger,
              "top speed of a tagger, in units of max_speed")
            .within(0, 1e3),
        field("max_acceleration", &Settings::max_acceleration,
              "highest level that an action adds to the acceleration")
            .within(-1e6, 1e6),
        field("min_acceleration", &Settings::min_acceleration,
              "lowest level that an action adds to the acceleration")
            .within(-1e6, 1e6),
        field("max_turn", &Settings::max_turn, "highest level of a turn").in("rad").within(-64, 64),
        field("min_turn", &Settings::min_turn, "lowest level of a turn").in("rad").within(-64, 64),
        field("num_acceleration_levels", &Settings::num_acceleration_levels,
              "number of levels from min_acceleration to max_acceleration; one more action changes "
              "nothing")
            .within(0, kMostLevels),
        field("num_turn_levels", &Settings::num_turn_levels,
              "number of levels from min_turn to max_turn; one more action turns nothing")
            .within(0, kMostLevels));
  }
  static constexpr auto describe_rest() {
    return fields(
        field("use_full_observation", &Settings::use_full_observation,
              "true: agents see all others; false: they see the nearest ones that are in the game"),
        field("num_other_agents_observed", &Settings::num_other_agents_observed,
              "number of nearest agents that are seen where use_full_observation is false")
            .within(1, kMostAgents),
        field("edge_hit_penalty", &Settings::edge_hit_penalty,
              "added to the reward of an agent that runs against a wall")
            .within(-1e6, 0),
        field("tag_reward_for_tagger", &Settings::tag_reward_for_tagger,
              "added to a tagger's reward for each runner that it tags")
            .within(0, 1e6),
        field("tag_penalty_for_runner", &Settings::tag_penalty_for_runner,
              "added to the reward of a tagged runner")
            .within(-1e6, 0),
        field("step_penalty_for_tagger", &Settings::step_penalty_for_tagger,
              "added to a tagger's reward in every step")
            .within(-1e6, 0),
        field("step_reward_for_runner", &Settings::step_reward_for_runner,
              "added to the reward of a runner in the game in every step")
            .within(0, 1e6),
        field("end_of_game_reward_for_runner", &Settings::end_of_game_reward_for_runner,
              "added to the reward of a runner that is in the game when time is up")
            .within(0, 1e6));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_game(), describe_motion(), describe_rest());
  }
};

/// Arrays of two hold the runner's value, then the tagger's.
struct Params {
  int32_t agent_count;
  int32_t full, seen_count;  // seen_count: number of others that an agent sees
  int32_t runners_leave;
  float side;
  float margin_squared;  // squared distance below which a tagger tags
  float top_speed[2], step_reward[2];
  float edge_penalty, tag_reward, tag_penalty, end_reward;
  float per_diagonal, per_speed;  // factors of an observation
  int32_t acceleration_choices, turn_choices;
  float accelerations[kMostLevels + 1], turns[kMostLevels + 1];
  // The start. Agents whose key is at most that of the last tagger are taggers.
  uint32_t start_seed, last_key;
  int32_t last_tagger;
  int32_t resample, laid;
  uint32_t laid_taggers[kMostLaid / 32];
  float laid_x[kMostLaid], laid_y[kMostLaid], laid_heading[kMostLaid];
};

[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(Fault::value, message);
}

/// Level 0 changes nothing, the others are equal steps from low to high.
inline void set_levels(float low, float high, int count, float* levels) {
  levels[0] = 0;
  for (int k = 0; k < count; ++k) {
    const double part = count > 1 ? (double(high) - double(low)) / (count - 1) * k : 0.0;
    levels[k + 1] = count > 1 && k == count - 1 ? high : float(double(low) + part);
  }
}

/// Small worlds run side by side, one per lane; a large world (kAny) runs its own agents side by
/// side.
template <int kAgents, bool kFull>
struct Tier {
  static constexpr int agents = kAgents;
  static constexpr bool full = kFull, small = kAgents <= 16;
};

}  // namespace gpu_envs::envs::tag_continuous
