// Settings, which a user chooses, Params and Derived, which the rules read, and Tier, the capacity
// of a build.
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

/// What may differ by world.
struct Varied {
  float grid_length = 10.0f, tagging_distance = 0.01f;
  float max_speed = 1.0f;
  float skill_level_runner = 1.0f, skill_level_tagger = 1.0f;
  float max_acceleration = 1.0f, min_acceleration = -1.0f;
  float max_turn = 0x1.921fb6p+0f, min_turn = -0x1.921fb6p+0f;
  float edge_hit_penalty = 0.0f;
  float tag_reward_for_tagger = 1.0f, tag_penalty_for_runner = -1.0f;
  float step_penalty_for_tagger = 0.0f, step_reward_for_runner = 0.0f;
  float end_of_game_reward_for_runner = 1.0f;

  static constexpr auto describe_square() {
    return fields(
        field("grid_length", &Varied::grid_length, "side of the square, in units of length")
            .within(1e-3, 1e6),
        field("tagging_distance", &Varied::tagging_distance,
              "distance below which a tagger tags a runner, as a share of grid_length")
            .within(0, 1));
  }
  static constexpr auto describe_motion() {
    return fields(
        field("max_speed", &Varied::max_speed,
              "top speed at skill level 1, in units of length per step")
            .within(0, 1e6),
        field("skill_level_runner", &Varied::skill_level_runner,
              "top speed of a runner, in units of max_speed")
            .within(0, 1e3),
        field("skill_level_tagger", &Varied::skill_level_tagger,
              "top speed of a tagger, in units of max_speed")
            .within(0, 1e3),
        field("max_acceleration", &Varied::max_acceleration,
              "highest level that an action adds to the acceleration")
            .within(-1e6, 1e6),
        field("min_acceleration", &Varied::min_acceleration,
              "lowest level that an action adds to the acceleration")
            .within(-1e6, 1e6),
        field("max_turn", &Varied::max_turn, "highest level of a turn").in("rad").within(-64, 64),
        field("min_turn", &Varied::min_turn, "lowest level of a turn").in("rad").within(-64, 64));
  }
  static constexpr auto describe_rewards() {
    return fields(field("edge_hit_penalty", &Varied::edge_hit_penalty,
                        "added to the reward of an agent that runs against a wall")
                      .within(-1e6, 0),
                  field("tag_reward_for_tagger", &Varied::tag_reward_for_tagger,
                        "added to a tagger's reward for each runner that it tags")
                      .within(0, 1e6),
                  field("tag_penalty_for_runner", &Varied::tag_penalty_for_runner,
                        "added to the reward of a tagged runner")
                      .within(-1e6, 0),
                  field("step_penalty_for_tagger", &Varied::step_penalty_for_tagger,
                        "added to a tagger's reward in every step")
                      .within(-1e6, 0),
                  field("step_reward_for_runner", &Varied::step_reward_for_runner,
                        "added to the reward of a runner in the game in every step")
                      .within(0, 1e6),
                  field("end_of_game_reward_for_runner", &Varied::end_of_game_reward_for_runner,
                        "added to the reward of a runner that is in the game when time is up")
                      .within(0, 1e6));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_square(), describe_motion(), describe_rewards());
  }
};

struct Settings : Varied {
  int32_t num_taggers = 1, num_runners = 10;
  bool runner_exits_game_after_tagged = true;
  std::string start;
  int32_t start_seed = 0;
  bool resample_start = false;
  int32_t num_acceleration_levels = 10, num_turn_levels = 10;
  bool use_full_observation = true;
  int32_t num_other_agents_observed = 2;

  static constexpr auto describe_agents() {
    return fields(field("num_taggers", &Settings::num_taggers, "number of agents that chase")
                      .within(1, kMostAgents),
                  field("num_runners", &Settings::num_runners, "number of agents that flee")
                      .within(1, kMostAgents));
  }
  static constexpr auto describe_game() {
    return fields(
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
  static constexpr auto describe_views() {
    return fields(
        field("num_acceleration_levels", &Settings::num_acceleration_levels,
              "number of levels from min_acceleration to max_acceleration; one more action changes "
              "nothing")
            .within(0, kMostLevels),
        field("num_turn_levels", &Settings::num_turn_levels,
              "number of levels from min_turn to max_turn; one more action turns nothing")
            .within(0, kMostLevels),
        field("use_full_observation", &Settings::use_full_observation,
              "true: agents see all others; false: they see the nearest ones that are in the game"),
        field("num_other_agents_observed", &Settings::num_other_agents_observed,
              "number of nearest agents that are seen where use_full_observation is false")
            .within(1, kMostAgents));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_agents(), describe_square(), describe_game(), describe_motion(),
                          describe_views(), describe_rewards());
  }
};

/// What is the same in all worlds.
struct Params {
  int32_t agent_count;
  int32_t full, seen_count;  // seen_count: number of others that an agent sees
  int32_t runners_leave;
  int32_t acceleration_choices, turn_choices;
  Varied made;  // what the simulator was made with; only names of actions read it
  // The start. Agents whose key is at most that of the last tagger are taggers.
  uint32_t start_seed, last_key;
  int32_t last_tagger;
  int32_t resample, laid;
  uint32_t laid_taggers[kMostLaid / 32];
  float laid_x[kMostLaid], laid_y[kMostLaid], laid_heading[kMostLaid];
};

/// What rules read of Varied. Arrays of two hold the runner's value, then the tagger's.
struct Derived {
  float side, margin_squared;
  float top_speed[2], step_reward[2];
  float edge_penalty, tag_reward, tag_penalty, end_reward;
  float per_diagonal, per_speed;
  float low_acceleration, high_acceleration, low_turn, high_turn;
  static constexpr auto describe() {
    return fields(
        field("side", &Derived::side, "side of the square"),
        field("margin_squared", &Derived::margin_squared,
              "squared distance below which a tagger tags"),
        field("top_speed", &Derived::top_speed, "top speed of a runner, and of a tagger"),
        field("step_reward", &Derived::step_reward, "reward of a step, of both"),
        field("edge_penalty", &Derived::edge_penalty, "reward of who runs against a wall"),
        field("tag_reward", &Derived::tag_reward, "a tagger's reward for a runner"),
        field("tag_penalty", &Derived::tag_penalty, "reward of a tagged runner"),
        field("end_reward", &Derived::end_reward, "reward of a runner when time is up"),
        field("per_diagonal", &Derived::per_diagonal, "factor of lengths that are observed"),
        field("per_speed", &Derived::per_speed, "factor of speeds that are observed"),
        field("low_acceleration", &Derived::low_acceleration, "lowest level of an acceleration"),
        field("high_acceleration", &Derived::high_acceleration, "highest level of it"),
        field("low_turn", &Derived::low_turn, "lowest level of a turn"),
        field("high_turn", &Derived::high_turn, "highest level of it"));
  }
};
GE_FN Derived derived_from(const Varied& v) {
  const float margin = v.tagging_distance * v.grid_length;
  return {v.grid_length,
          margin * margin,
          {v.skill_level_runner * v.max_speed, v.skill_level_tagger * v.max_speed},
          {v.step_reward_for_runner, v.step_penalty_for_tagger},
          v.edge_hit_penalty,
          v.tag_reward_for_tagger,
          v.tag_penalty_for_runner,
          v.end_of_game_reward_for_runner,
          float(1.0 / (double(v.grid_length) * 0x1.6a09e667f3bcdp+0)),
          float(1.0 / (double(v.max_speed) + 1e-10)),
          v.min_acceleration,
          v.max_acceleration,
          v.min_turn,
          v.max_turn};
}

[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(Fault::value, message);
}

/// Level k of an action: 0 changes nothing, the others are equal steps from low to high.
GE_FN float level_of(float low, float high, int choices, int k) {
  const int last = choices - 1;
  const double step = (double(high) - double(low)) / (last > 1 ? last - 1 : 1);
  const float between = float(double(low) + step * (k - 1));
  const float level = select((last > 1) & (k == last), high, between);
  return select(k == 0, 0.0f, level);
}

/// Small worlds run side by side, one per lane; a large world (kAny) runs its own agents side by
/// side.
template <int kAgents, bool kFull>
struct Tier {
  static constexpr int agents = kAgents;
  static constexpr bool full = kFull, small = kAgents <= 16;
};

}  // namespace gpu_envs::envs::tag_continuous
