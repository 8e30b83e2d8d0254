// Swarms laid out by hand for the tests of Flocking and SwarmTag: places and headings in, views and
// rewards out.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "simulation.hpp"

namespace ge::test {

struct Swarm {
  std::vector<float> x, y, heading, speed;
};

/// Elements of a view that show somebody: first to last, and what they show.
struct Seen {
  int first, last;
  double value;
};

inline std::unique_ptr<Simulation> make_swarm(const std::string& id, const Values& parameters) {
  Config config;
  config.worlds = 1, config.threads = 1, config.max_episode_steps = 0;
  config.parameters = parameters;
  auto sim = std::make_unique<Simulation>(id, config);
  sim->reset(1);
  return sim;
}
inline void lay(Simulation& sim, const Swarm& swarm) {
  sim.set<float>("agents.x", swarm.x);
  sim.set<float>("agents.y", swarm.y);
  sim.set<float>("agents.heading", swarm.heading);
  const std::vector<float> still(swarm.x.size(), 0.0f);
  sim.set<float>("agents.speed", swarm.speed.empty() ? still : swarm.speed);
}
/// (rotation, acceleration or speed) of each agent.
inline void act(Simulation& sim, const std::vector<float>& actions) {
  sim->step({actions.data(), Type::float32}, sim.bound(), nullptr);
}
inline void stand(Simulation& sim) {
  act(sim, std::vector<float>(size_t(sim.rows()) * 2, 0.0f));
}

/// Whether `count` elements from `begin` show what is listed, and nothing else.
inline bool shows(const std::vector<float>& rows, size_t begin, int count,
                  const std::vector<Seen>& seen) {
  std::vector<double> wanted(size_t(count), -1.0);
  for (const Seen& s : seen)
    for (int k = s.first; k <= s.last; ++k) wanted[size_t(k)] = s.value;
  bool equal = true;
  for (size_t k = 0; k < wanted.size(); ++k)
    equal = equal && std::abs(double(rows[begin + k]) - wanted[k]) < 1e-5;
  return equal;
}
inline bool is_near(const std::vector<float>& values, const std::vector<double>& wanted,
                    double tolerance) {
  bool near = values.size() == wanted.size();
  for (size_t k = 0; near && k < wanted.size(); ++k)
    near = std::abs(double(values[k]) - wanted[k]) <= tolerance;
  return near;
}

}  // namespace ge::test
