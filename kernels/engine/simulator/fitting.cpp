// See fitting.hpp.
#include "engine/simulator/fitting.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace ge {

namespace {

/// The parameters that count agents: the names in a Card's sum.
std::vector<std::string> agent_parameters(const std::string& sum) {
  std::vector<std::string> names;
  std::string name;
  for (const char c : sum + " ") {
    if (c != ' ' && c != '+') {
      name += c;
    } else if (!name.empty()) {
      if (name[0] < '0' || name[0] > '9') names.push_back(name);
      name.clear();
    }
  }
  return names;
}

/// Scales the agents of each kind by `part`, where the caller gave their number; returns false if a
/// given value is not a whole number.
bool make_fewer(Values& parameters, const std::vector<std::string>& names, double part) {
  for (const std::string& name : names) {
    const auto found = parameters.find(name);
    if (found == parameters.end()) continue;
    auto* const count = std::get_if<int64_t>(&found->second);
    if (count == nullptr) return false;
    *count = std::max<int64_t>(1, int64_t(double(*count) * part));
  }
  return true;
}

/// The number of agents, all kinds scaled alike, with which one world of these settings would fit;
/// 0 where the parameters do not determine it.
int64_t agents_that_fit(const PlanFacts& plan, const Lodgers& worlds, int64_t available) {
  const std::vector<std::string> names = agent_parameters(worlds.sum);
  int64_t best = 0;
  // Bisection, since memory need not be linear in the number of agents. Each round resolves the
  // settings again, as for a user, and allocates nothing.
  double low = 0, high = 1;  // as parts of the number asked for
  for (int round = 0; round < 40 && !names.empty(); ++round) {
    const double part = (low + high) / 2;
    Config fewer = plan.config_;
    if (!make_fewer(fewer.parameters, names, part)) return 0;
    try {
      const WorldNeeds needs = worlds.needs(fewer, plan.format_);
      const bool fits = needs.bytes <= available;
      if (fits) best = needs.agents;
      (fits ? low : high) = part;
    } catch (const Error&) {
      return best;  // fewer agents are refused for another reason
    }
  }
  return best;
}

std::string digits(double bytes) {
  char text[40];
  std::snprintf(text, sizeof text, "%.0f", bytes);
  return text;
}

std::string what_would_fit(const PlanFacts& plan, const Lodgers& worlds, const Memory& memory) {
  const WorldBytes& world = worlds.world;
  const int64_t block = (world.record + worlds.each) * worlds.block,
                scratch = world.scratch * worlds.block;
  // Worlds are stored in blocks, so they fit by the block.
  const int64_t by_state =
      memory.free > scratch ? (memory.free - scratch) / block * worlds.block : 0;
  const int64_t by_sight = world.observation > 0 ? memory.total / world.observation : memory.total;
  const int64_t fit = std::min(by_state, by_sight);
  if (fit >= 1) return "; about " + std::to_string(fit) + " would fit";
  const int64_t agents = agents_that_fit(plan, worlds, memory.free);
  return agents > 0 ? "; one of about " + std::to_string(agents) + " agents would fit"
                    : "; not even one fits";
}

}  // namespace

void check_fits(const PlanFacts& plan, const Lodgers& worlds, const Memory& memory,
                const std::string& place) {
  const WorldBytes& world = worlds.world;
  const int64_t count = plan.config_.worlds, blocks = (count + worlds.block - 1) / worlds.block;
  // As doubles: the products may exceed 64 bits.
  const double own = double((world.record + worlds.each) * worlds.block) * double(blocks) +
                     double(world.scratch * worlds.block);
  const double seen = double(world.observation) * double(count);
  if (own <= double(memory.free) && seen <= double(memory.total)) return;
  throw Error(
      Fault::memory,
      std::to_string(count) + (count == 1 ? " world of " : " worlds of ") + plan.id_ +
          (count == 1 ? " needs " : " need ") + digits(own) + " bytes" + place +
          " and as much as " + digits(seen) + " for observations; " + digits(double(memory.free)) +
          " of " + digits(double(memory.total)) + " are free. A world of " +
          std::to_string(plan.agents_) + (plan.agents_ == 1 ? " agent" : " agents") + " has " +
          digits(double(world.record)) + " bytes of state, " + digits(double(world.scratch)) +
          " to work with and " + digits(double(world.observation)) + " of observations" +
          (plan.shelf_ == nullptr
               ? ""
               : ", all worlds share " + digits(double(plan.asset_bytes())) + " of assets") +
          what_would_fit(plan, worlds, memory) +
          (own <= double(memory.total) ? memory.advice : ""));
}

}  // namespace ge
