// Names and keys of the levels of an action. Host only.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "envs/tag_continuous/settings.hpp"

namespace gpu_envs::envs::tag_continuous {

/// One word of an action: its levels, of which the first changes nothing.
struct Levels {
  const char* name;
  std::vector<float> values;
  int level;  // that is asked for
  const char *high_key, *low_key;
};
inline std::vector<float> levels_between(float low, float high, int choices) {
  std::vector<float> levels;
  for (int k = 0; k < choices; ++k) levels.push_back(level_of(low, high, choices, k));
  return levels;
}
/// Levels may differ by world and change: these are the ones that the simulator was made with.
inline Levels levels_of(const Params& p, int k) {
  const Varied& v = p.made;
  const int choices = p.acceleration_choices;
  if (k < choices)
    return {"acceleration", levels_between(v.min_acceleration, v.max_acceleration, choices), k, "w",
            "s"};
  return {"turn", levels_between(v.min_turn, v.max_turn, p.turn_choices), k - choices, "a", "d"};
}

/// "turn 3 (+0.25)"
inline std::string change_name(const Params& p, int k) {
  const Levels of = levels_of(p, k);
  if (of.level == 0) return std::string("no ") + of.name;
  char value[32];
  std::snprintf(value, sizeof value, " (%+.3g)", double(of.values[size_t(of.level)]));
  return std::string(of.name) + " " + std::to_string(of.level) + value;
}
/// The strongest level to either side has a key; the point is what is done while none is pressed.
inline std::string change_key(const Params& p, int k) {
  const Levels of = levels_of(p, k);
  const auto first = of.values.begin(), end = of.values.end();
  if (of.level == 0) return ".";
  if (first + of.level == std::max_element(first, end)) return of.high_key;
  return first + of.level == std::min_element(first, end) ? of.low_key : "";
}

}  // namespace gpu_envs::envs::tag_continuous
