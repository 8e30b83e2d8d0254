// Names and keys of the levels of an action. Host only.
#pragma once

#include <algorithm>
#include <cstdio>
#include <string>

#include "envs/tag_continuous/settings.hpp"

namespace gpu_envs::envs::tag_continuous {

/// One word of an action: its levels, of which the first changes nothing.
struct Levels {
  const char* name;
  const float* values;
  int count;
  int level;  // that is asked for
  const char *high_key, *low_key;
};
inline Levels levels_of(const Params& p, int k) {
  if (k < p.acceleration_choices)
    return {"acceleration", p.accelerations, p.acceleration_choices, k, "w", "s"};
  return {"turn", p.turns, p.turn_choices, k - p.acceleration_choices, "a", "d"};
}

/// "turn 3 (+0.25)"
inline std::string change_name(const Params& p, int k) {
  const Levels of = levels_of(p, k);
  if (of.level == 0) return std::string("no ") + of.name;
  char value[32];
  std::snprintf(value, sizeof value, " (%+.3g)", double(of.values[of.level]));
  return std::string(of.name) + " " + std::to_string(of.level) + value;
}
/// The strongest level to either side has a key; the point is what is done while none is pressed.
inline std::string change_key(const Params& p, int k) {
  const Levels of = levels_of(p, k);
  const float* const end = of.values + of.count;
  if (of.level == 0) return ".";
  if (of.values + of.level == std::max_element(of.values, end)) return of.high_key;
  return of.values + of.level == std::min_element(of.values, end) ? of.low_key : "";
}

}  // namespace gpu_envs::envs::tag_continuous
