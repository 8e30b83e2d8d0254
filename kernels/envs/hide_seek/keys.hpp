// Names of agents, names and keys of what they can do. Host only.
#pragma once

#include <cstdlib>
#include <string>

#include "envs/hide_seek/settings.hpp"

namespace gpu_envs::envs::hide_seek {

inline std::string agent_name(const Params& p, int agent) {
  return is_hider(p, agent) ? "hider_" + std::to_string(agent)
                            : "seeker_" + std::to_string(agent - p.hider_count);
}

/// Forces and a torque, in the order of Act: 11 categories each, the sixth rests.
struct Force {
  const char *low, *none, *high;  // names
  const char *low_key, *high_key;
};
inline constexpr Force kForces[] = {{"left", "no force sideways", "right", "a", "d"},
                                    {"back", "no force ahead", "ahead", "s", "w"},
                                    {"turn right", "no turn", "turn left", "l", "j"}};
inline constexpr const char* kDeeds[][2] = {
    {"hands off", ""}, {"grab", "e"}, {"no lock", ""}, {"lock", "r"}};
inline constexpr int kForceSteps = 5, kForceChoices = 2 * kForceSteps + 1;

inline std::string act_name(const Params&, int k) {
  const int word = k / kForceChoices, step = k % kForceChoices - kForceSteps;
  if (word >= 3) return kDeeds[k - 3 * kForceChoices][0];
  if (step == 0) return kForces[word].none;
  return std::string(step < 0 ? kForces[word].low : kForces[word].high) + " " +
         std::to_string(std::abs(step));
}
/// Full force for a key. Its point stands for what is done while no key is pressed.
inline std::string act_key(const Params&, int k) {
  const int word = k / kForceChoices, step = k % kForceChoices - kForceSteps;
  if (word >= 3) return kDeeds[k - 3 * kForceChoices][1];
  if (step == 0) return ".";
  return step == -kForceSteps  ? kForces[word].low_key
         : step == kForceSteps ? kForces[word].high_key
                               : "";
}

}  // namespace gpu_envs::envs::hide_seek
