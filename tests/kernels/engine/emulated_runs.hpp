// Short runs on emulated lanes.
#pragma once

#include "engine/checking/lanes_emulated.hpp"
#include "simulation.hpp"

namespace ge::test {

inline Config config_of(int lanes, uint64_t seed, Autoreset mode = Autoreset::same_step) {
  Config config;
  config.worlds = 37;
  config.autoreset = mode;
  config.max_episode_steps = 5;
  config.lanes = lanes;
  config.shuffle_seed = seed;
  return config;
}

/// A short run; the message where it fails.
inline std::string outcome(const std::string& id, const Config& config) {
  try {
    const Golden hashes = golden_run(*make_simulator(id, config), 7, 11);
    return hashes.records + " " + hashes.outputs;
  } catch (const Error& error) {
    return error.what();
  }
}

/// Changes what the emulation does, for a scope.
class Emulation {
 public:
  Emulation(const std::string& skip_sync, bool watched) {
    LaneEmulator::options().skip_sync = skip_sync;
    LaneEmulator::options().watched = watched;
  }
  ~Emulation() { LaneEmulator::options() = EmulationOptions{}; }
};

}  // namespace ge::test
