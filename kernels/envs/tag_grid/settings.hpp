// Settings, which a user chooses, and Params, which the rules read; resolved once per simulator on
// the host.
#pragma once

#include <vector>

#include "engine/environment.hpp"

namespace gpu_envs::envs::tag_grid {

using namespace ge;

/// Far above what fits in memory.
inline constexpr int kMostTaggers = 1000000;
/// Squares of distances on a larger board would not fit into 32 bits.
inline constexpr int kLongestGrid = 32767;
/// Rows of a reset pool: a row is the block of a draw, which has 12 bits.
inline constexpr int kLargestPool = 4096;

struct Settings {
  int32_t num_taggers = 10, grid_length = 10;
  bool use_full_observation = true;
  std::string starting_location_x, starting_location_y;
  int32_t reset_pool_size = 0, reset_pool_low = 1, reset_pool_high = -1;
  double tag_reward_for_tagger = 10.0, tag_penalty_for_runner = 2.0;
  double step_cost_for_tagger = 0.01, wall_hit_penalty = 0.1;

  static constexpr auto describe_board() {
    return fields(field("num_taggers", &Settings::num_taggers,
                        "number of taggers; there is always one runner")
                      .within(1, kMostTaggers),
                  field("grid_length", &Settings::grid_length,
                        "largest coordinate: the board has grid_length + 1 cells a side")
                      .within(1, kLongestGrid),
                  field("use_full_observation", &Settings::use_full_observation,
                        "true: all agents see all; false: taggers see the runner, and the runner "
                        "sees the nearest tagger"));
  }
  static constexpr auto describe_starts() {
    return fields(
        field("starting_location_x", &Settings::starting_location_x,
              "x of each agent at the start, the runner last, such as \"2,2,3,0\", beside "
              "starting_location_y; both empty: taggers in the middle, the runner at 0"),
        field("starting_location_y", &Settings::starting_location_y,
              "y of each agent at the start, the runner last, such as \"2,2,3,0\", beside "
              "starting_location_x; both empty: taggers in the middle, the runner at 0"),
        field("reset_pool_size", &Settings::reset_pool_size,
              "number of starts drawn once per seed; each episode takes one of them; 0: every "
              "episode has the same start")
            .within(0, kLargestPool),
        field("reset_pool_low", &Settings::reset_pool_low,
              "lowest coordinate of a tagger in a start of the pool")
            .within(0, kLongestGrid),
        field("reset_pool_high", &Settings::reset_pool_high,
              "highest coordinate of a tagger in a start of the pool; -1: grid_length - 1")
            .within(-1, kLongestGrid));
  }
  static constexpr auto describe_rewards() {
    return fields(
        field("tag_reward_for_tagger", &Settings::tag_reward_for_tagger,
              "reward of every tagger when one of them tags the runner")
            .within(-1e6, 1e6),
        field("tag_penalty_for_runner", &Settings::tag_penalty_for_runner,
              "taken off the runner's reward when it is tagged")
            .within(-1e6, 1e6),
        field("step_cost_for_tagger", &Settings::step_cost_for_tagger,
              "taken off every tagger's reward, and added to the runner's, in a step without a tag")
            .within(-1e6, 1e6),
        field("wall_hit_penalty", &Settings::wall_hit_penalty,
              "taken off the reward of an agent that steps against the wall")
            .within(-1e6, 1e6));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_board(), describe_starts(), describe_rewards());
  }
};

/// Rewards of a step, by whether the runner was tagged and whether the agent hit the wall. Sums are
/// made in double precision and rounded once.
struct Pay {
  float quiet, bumped, tagged, tagged_bumped;
};

struct Params {
  int32_t num_taggers, grid_length;
  int32_t full;                            // observations show everybody
  int32_t pool_size, pool_low, pool_span;  // span: number of coordinates
  Pay tagger, runner;
};

/// Cell of an agent at the start.
struct Start {
  int32_t x, y;
  static constexpr auto describe() {
    return fields(field("x", &Start::x, "column at the start"),
                  field("y", &Start::y, "row at the start"));
  }
};
struct Assets {
  Asset<Start> starts;  // one per agent, the runner last
};

[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(Fault::value, message);
}

/// Reads whole numbers between commas or blanks, and rewrites the text as numbers between commas.
inline std::vector<int> take_coordinates(std::string& text, const char* name, const Settings& s) {
  std::vector<int> found;
  std::string word;
  const auto end_word = [&] {
    if (word.empty()) return;
    int value = 0;
    for (const char c : word)
      value = c < '0' || c > '9' || value > s.grid_length ? kLongestGrid + 1 : 10 * value + c - '0';
    if (value > s.grid_length)
      refuse(std::string(name) + ": '" + word.substr(0, 20) + "' is not a whole number from 0 to " +
             "grid_length=" + std::to_string(s.grid_length));
    found.push_back(value);
    word.clear();
  };
  for (const char c : text) {
    if (c == ',' || c == ' ' || c == '\n' || c == '\t')
      end_word();
    else
      word += c;
  }
  end_word();
  text.clear();
  for (const int value : found) {
    if (!text.empty()) text += ',';
    text += std::to_string(value);
  }
  return found;
}

/// Checks given starts and rewrites them in canonical form.
inline void resolve_starts(Settings& s) {
  const std::vector<int> x = take_coordinates(s.starting_location_x, "starting_location_x", s);
  const std::vector<int> y = take_coordinates(s.starting_location_y, "starting_location_y", s);
  if (x.empty() && y.empty()) return;
  const int agents = s.num_taggers + 1;
  for (const auto& [name, values] :
       {std::pair("starting_location_x", &x), std::pair("starting_location_y", &y)})
    if (int(values->size()) != agents)
      refuse(std::string(name) + " has " + std::to_string(values->size()) +
             " numbers, and there are " + std::to_string(agents) +
             " agents: num_taggers=" + std::to_string(s.num_taggers) + " and the runner");
  if (s.reset_pool_size > 0)
    refuse("starting_location_x and _y fix the start, and reset_pool_size=" +
           std::to_string(s.reset_pool_size) + " draws it: give one of them");
}

/// By default taggers begin in the middle and the runner in a corner.
inline Assets lay_out(Settings settings, AssetMaker& make) {
  const auto starts = make.array<Start>("starts", settings.num_taggers + 1);
  const std::vector<int> x = take_coordinates(settings.starting_location_x, "", settings),
                         y = take_coordinates(settings.starting_location_y, "", settings);
  for (size_t agent = 0; agent < starts.size(); ++agent) {
    const int usual = agent + 1 == starts.size() ? 0 : settings.grid_length / 2;
    starts[agent] = {x.empty() ? usual : x[agent], y.empty() ? usual : y[agent]};
  }
  return {starts};
}

inline void resolve_pool(const Settings& s, Params& p) {
  const int high = s.reset_pool_high < 0 ? s.grid_length - 1 : s.reset_pool_high;
  if (s.reset_pool_size > 0 && (high > s.grid_length || s.reset_pool_low > high))
    refuse("reset_pool_low=" + std::to_string(s.reset_pool_low) +
           " must be at most reset_pool_high=" + std::to_string(high) +
           ", and that at most grid_length=" + std::to_string(s.grid_length));
  p.pool_size = s.reset_pool_size;
  p.pool_low = s.reset_pool_low, p.pool_span = high - s.reset_pool_low + 1;
}

inline Pay pay_of(double quiet, double tagged, double wall) {
  return {float(quiet), float(quiet - wall), float(tagged), float(tagged - wall)};
}

inline Params resolve_settings(Settings& s) {
  Params p{};
  p.num_taggers = s.num_taggers, p.grid_length = s.grid_length;
  p.full = s.use_full_observation ? 1 : 0;
  resolve_starts(s);
  resolve_pool(s, p);
  p.tagger = pay_of(-s.step_cost_for_tagger, s.tag_reward_for_tagger, s.wall_hit_penalty);
  p.runner = pay_of(s.step_cost_for_tagger, -s.tag_penalty_for_runner, s.wall_hit_penalty);
  return p;
}

}  // namespace gpu_envs::envs::tag_grid
