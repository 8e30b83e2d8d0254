// Steps that are taken in parts, each of some worlds, give what whole steps give.
#pragma once

#include "golden.hpp"

namespace ge::test {

/// Short runs of each environment with episodes that end; `change` says how they run.
template <class F>
void check_parts(F&& change) {
  for (const auto& [id, parameters] : small_runs())
    for (const Autoreset mode : kModes)
      for (const Ends ends : {Ends::agent, Ends::world}) {
        Config config;
        config.worlds = 37;
        config.max_episode_steps = 4;
        config.autoreset = mode, config.ends = ends, config.parameters = parameters;
        change(config);
        const auto run = [&](int parts) {
          return golden_run(*make_simulator(id, config), 9, 11, FinalRows::zero, 1, parts);
        };
        const Golden whole = run(1), parts = run(2);
        if (whole.records != parts.records || whole.outputs != parts.outputs)
          fail(id.c_str(), 0,
               std::string(name_of(mode)) + ", ends of the " + name_of(ends) +
                   ": steps in two parts leave " + parts.records + " | " + parts.outputs +
                   ", whole steps " + whole.records + " | " + whole.outputs);
      }
}

}  // namespace ge::test
