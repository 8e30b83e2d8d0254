// What the walkers of tests/kernels/envs/crowd.hpp find against all pairs, bit for bit.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "simulation.hpp"
#include "spatial/places.hpp"

namespace ge::test {

struct Find {
  uint32_t count = 0, check = 0;
  std::vector<std::pair<float, uint32_t>> nearest;  // (squared distance, row)
};

/// The plain way: every other walker.
inline Find all_pairs(const Layout& layout, size_t me, size_t most) {
  Find found;
  std::vector<std::pair<float, uint32_t>> others;
  for (size_t other = 0; other < layout.x.size(); ++other) {
    if (other == me) continue;
    const float dx = difference(layout, layout.x[me], layout.x[other]);
    const float dy = difference(layout, layout.y[me], layout.y[other]);
    const float squared = dx * dx + dy * dy;
    others.push_back({squared, uint32_t(other)});
    if (!(squared <= layout.range * layout.range)) continue;
    ++found.count;
    found.check += checksum(uint32_t(other), dx, dy);
  }
  std::sort(others.begin(), others.end());
  others.resize(std::min(others.size(), most));
  found.nearest = others;
  return found;
}

/// Lays the places out in one world and has everybody stand, so that they are looked at where they
/// are; `lanes` are those of a world, where the executor has any.
inline std::unique_ptr<Simulation> look_at(const Layout& layout, int lanes) {
  Config config;
  config.worlds = 1, config.threads = 1, config.max_episode_steps = 0;
  config.lanes = lanes;
  config.parameters = {{"walker_count", double(layout.x.size())},
                       {"wraps", layout.wraps},
                       {"side", double(layout.side)},
                       {"range", double(layout.range)}};
  auto sim = std::make_unique<Simulation>("Crowd-v0", config);
  sim->reset(1);
  sim->set<float>("walkers.x", layout.x);
  sim->set<float>("walkers.y", layout.y);
  sim->step({4});
  return sim;
}

/// Every `stride`-th walker.
inline void check_layout(const Layout& layout, const std::string& name, size_t stride = 1,
                         int lanes = 0) {
  const auto sim = look_at(layout, lanes);
  const auto counts = sim->get<uint32_t>("walkers.near_count");
  const auto checks = sim->get<uint32_t>("walkers.near_check");
  const auto rows = sim->get<uint32_t>("walkers.nearest_rows");
  const auto squared = sim->get<float>("walkers.nearest_squared");
  const size_t agents = layout.x.size(), most = rows.size() / agents;
  int wrong = 0;
  for (size_t me = 0; me < agents; me += stride) {
    const Find found = all_pairs(layout, me, most);
    wrong += found.count != counts[me] || found.check != checks[me];
    for (size_t k = 0; k < most; ++k) {
      const bool there = k < found.nearest.size();
      wrong += rows[me * most + k] != (there ? found.nearest[k].second : ~0u);
      wrong += squared[me * most + k] != (there ? found.nearest[k].first : -1.0f);
    }
  }
  if (wrong > 0) fail(__FILE__, __LINE__, name + ": " + std::to_string(wrong) + " differ");
}

}  // namespace ge::test
