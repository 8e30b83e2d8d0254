// What a user sets (Settings), what the rules read of it (Params), and how much a build has room
// for (Tier). start.hpp reads what a user says of the start.
#pragma once

#include <string>

#include "engine/environment.hpp"

namespace gpu_envs::envs::tag_continuous {

using namespace ge;

inline constexpr int kMostLevels = 64;  // of accelerations, and of turns
inline constexpr int kMostLaid = 64;    // agents of a start by hand
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
        field("num_taggers", &Settings::num_taggers, "agents that chase").within(1, kMostAgents),
        field("num_runners", &Settings::num_runners, "agents that flee").within(1, kMostAgents),
        field("grid_length", &Settings::grid_length, "side of the square").within(1e-3, 1e6),
        field("tagging_distance", &Settings::tagging_distance,
              "nearer than this share of grid_length, a tagger tags a runner")
            .within(0, 1),
        field("runner_exits_game_after_tagged", &Settings::runner_exits_game_after_tagged,
              "a tagged runner leaves the game; else it runs on and can be tagged again"),
        field("start", &Settings::start,
              "all agents by hand, such as \"tagger 1 2 0.5; runner 8 9 3.1\": x, y, heading; "
              "empty: drawn"),
        field("start_seed", &Settings::start_seed,
              "draws who is a tagger, and the one start of all worlds and episodes")
            .within(0, 2147483647),
        field("resample_start", &Settings::resample_start,
              "each episode of each world draws places and headings of its own"));
  }
  static constexpr auto describe_motion() {
    return fields(
        field("max_speed", &Settings::max_speed, "distance per step at skill level 1")
            .within(0, 1e6),
        field("skill_level_runner", &Settings::skill_level_runner,
              "a runner's top speed, in units of max_speed")
            .within(0, 1e3),
        field("skill_level_tagger", &Settings::skill_level_tagger,
              "a tagger's top speed, in units of max_speed")
            .within(0, 1e3),
        field("max_acceleration", &Settings::max_acceleration,
              "highest level of what an action adds to the acceleration")
            .within(-1e6, 1e6),
        field("min_acceleration", &Settings::min_acceleration, "lowest level of it")
            .within(-1e6, 1e6),
        field("max_turn", &Settings::max_turn, "highest level of a turn").in("rad").within(-64, 64),
        field("min_turn", &Settings::min_turn, "lowest level of a turn").in("rad").within(-64, 64),
        field("num_acceleration_levels", &Settings::num_acceleration_levels,
              "equal steps from min_acceleration to max_acceleration, beside no change")
            .within(0, kMostLevels),
        field("num_turn_levels", &Settings::num_turn_levels,
              "equal steps from min_turn to max_turn, beside no turn")
            .within(0, kMostLevels));
  }
  static constexpr auto describe_rest() {
    return fields(
        field("use_full_observation", &Settings::use_full_observation,
              "agents see all others; else the nearest ones that are in the game"),
        field("num_other_agents_observed", &Settings::num_other_agents_observed,
              "how many of the nearest")
            .within(1, kMostAgents),
        field("edge_hit_penalty", &Settings::edge_hit_penalty,
              "added to the reward of who runs against a wall")
            .within(-1e6, 0),
        field("tag_reward_for_tagger", &Settings::tag_reward_for_tagger, "for each tagged runner")
            .within(0, 1e6),
        field("tag_penalty_for_runner", &Settings::tag_penalty_for_runner,
              "added to the reward of a tagged runner")
            .within(-1e6, 0),
        field("step_penalty_for_tagger", &Settings::step_penalty_for_tagger,
              "added to a tagger's reward in every step")
            .within(-1e6, 0),
        field("step_reward_for_runner", &Settings::step_reward_for_runner,
              "of a runner in the game, in every step")
            .within(0, 1e6),
        field("end_of_game_reward_for_runner", &Settings::end_of_game_reward_for_runner,
              "of a runner that is in the game when time is up")
            .within(0, 1e6));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_game(), describe_motion(), describe_rest());
  }
};

/// What differs by role is [runner, tagger].
struct Params {
  int32_t agent_count;
  int32_t full, seen_count;  // others that an agent sees
  int32_t runners_leave;
  float side;
  float margin_squared;  // a tagger tags from less than this, distance squared
  float top_speed[2], step_reward[2];
  float edge_penalty, tag_reward, tag_penalty, end_reward;
  float per_diagonal, per_speed;  // factors of an observation
  int32_t acceleration_choices, turn_choices;
  float accelerations[kMostLevels + 1], turns[kMostLevels + 1];
  // The start. Who draws a key up to the last tagger's is a tagger.
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

/// Small worlds lie side by side and are computed so; a large one's own agents do (kAny).
template <int kAgents, bool kFull>
struct Tier {
  static constexpr int agents = kAgents;
  static constexpr bool full = kFull, small = kAgents <= 16;
};

}  // namespace gpu_envs::envs::tag_continuous
