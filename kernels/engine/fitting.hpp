// Whether worlds fit into memory, found before anything is allocated, and what a user is told who
// asks for more: how many bytes a world needs and for what, how many worlds would fit, and where not
// even one does, of how many agents one would.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "engine/build.hpp"

namespace ge {

/// Bytes that one world cannot do without: its record, its scratch memory where all worlds have
/// their own, and the observations of one step, final ones too where worlds begin anew within one.
struct WorldBytes {
  int64_t record = 0, scratch = 0, observation = 0;
  int64_t all() const { return record + scratch + observation; }
};
template <class E>
WorldBytes world_bytes(const typename E::Schema::Params& params, const Config& config,
                       Elements format) {
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  Shared<S> shared{};
  shared.params = params;
  shared.format = format;
  return {block_bytes<Tables, kBlock<S>>(params) / kBlock<S>, scratch_bytes<Tables>(params),
          row_bytes<typename E::Observation>(shared) * agents_of(shared) *
              (config.autoreset == Autoreset::same_step ? 2 : 1)};
}

/// The parameters that count agents: the names in a Card's sum.
inline std::vector<std::string> agent_parameters(const std::string& sum) {
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

/// With how many agents, all kinds made fewer alike, one world of these settings would fit; 0 where
/// the parameters do not say.
template <class E>
int64_t agents_that_fit(const Config& config, Elements format, int64_t available) {
  using S = typename E::Schema;
  using Settings = typename SettingsOf<S>::type;
  const std::vector<std::string> names = agent_parameters(E::card.agents);
  int64_t best = 0;
  double low = 0, high = 1;  // of what was asked for
  for (int round = 0; round < 40 && !names.empty(); ++round) {
    const double part = (low + high) / 2;
    Values fewer = config.parameters;
    bool known = true;
    for (const std::string& name : names) {
      const auto found = fewer.find(name);
      if (found == fewer.end()) continue;
      if (auto* const count = std::get_if<int64_t>(&found->second))
        *count = std::max<int64_t>(1, int64_t(double(*count) * part));
      else
        known = false;
    }
    if (!known) return 0;
    try {
      auto settings = from_values<Settings>(fewer, "parameter");
      const auto params = resolve<S>(settings);
      const bool fits = world_bytes<E>(params, config, format).all() <= available;
      if (fits) best = Plan<E>::agents_of_params(params);
      (fits ? low : high) = part;
    } catch (const Error&) {
      return best;  // fewer are not possible for another reason
    }
  }
  return best;
}

/// Bytes of a machine.
struct Memory {
  int64_t free, total;
};

/// Throws where the worlds of a plan cannot fit at `place` (" on cuda:0"): their records, `each`
/// bytes more of a world, and one block's scratch have to be free; the observations of one step,
/// which are the caller's and may be there already, have to be possible at all.
template <class E>
void check_fits(const Plan<E>& plan, const Memory& memory, int64_t each,
                const std::string& place = "") {
  constexpr int B = kBlock<typename E::Schema>;
  const WorldBytes world = world_bytes<E>(plan.params_, plan.config_, plan.format_);
  const int64_t worlds = plan.config_.worlds, blocks = (worlds + B - 1) / B;
  const int64_t block = (world.record + each) * B, scratch = world.scratch * B;
  const double own = double(block) * double(blocks) + double(scratch);
  const double seen = double(world.observation) * double(worlds);
  if (own <= double(memory.free) && seen <= double(memory.total)) return;
  const auto text = [](double bytes) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.0f", bytes);
    return std::string(digits);
  };
  std::string message =
      std::to_string(worlds) + (worlds == 1 ? " world of " : " worlds of ") + plan.id_ +
      (worlds == 1 ? " needs " : " need ") + text(own) + " bytes" + place + " and as much as " +
      text(seen) + " for observations; " + text(double(memory.free)) + " of " +
      text(double(memory.total)) + " are free. A world of " + std::to_string(plan.agents_) +
      (plan.agents_ == 1 ? " agent" : " agents") + " has " + text(double(world.record)) +
      " bytes of state, " + text(double(world.scratch)) + " to work with and " +
      text(double(world.observation)) + " of observations";
  const int64_t by_state = memory.free > scratch ? (memory.free - scratch) / block * B : 0;
  const int64_t by_sight = world.observation > 0 ? memory.total / world.observation : memory.total;
  const int64_t fit = std::min(by_state, by_sight);
  if (fit >= 1) {
    message += "; about " + std::to_string(fit) + " would fit";
  } else {
    const int64_t agents = agents_that_fit<E>(plan.config_, plan.format_, memory.free);
    message += agents > 0 ? "; one of about " + std::to_string(agents) + " agents would fit"
                          : "; not even one fits";
  }
  throw Error(Fault::memory, message);
}

}  // namespace ge
