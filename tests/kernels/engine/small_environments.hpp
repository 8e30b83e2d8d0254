// Small environments of several kinds, and how they are run.
#pragma once

#include "simulation.hpp"

namespace ge::test {

struct Small {
  const char* id;
  Values parameters;
};
inline const Small kSmall[] = {
    {"CartPole-v0", {}}, {"CartPole64-v0", {}}, {"Arena-v0", {}}, {"Herd-v0", {}}};

inline Config config_of(const Small& small, int64_t worlds, Autoreset mode = Autoreset::same_step) {
  Config config;
  config.worlds = worlds;
  config.autoreset = mode;
  config.parameters = small.parameters;
  config.max_episode_steps = 13;
  config.threads = 1;
  return config;
}

}  // namespace ge::test
