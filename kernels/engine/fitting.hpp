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
/// their own, and the observations of one step.
struct WorldBytes {
  int64_t record = 0, scratch = 0, observation = 0;
  int64_t all() const { return record + scratch + observation; }
};
template <class E>
WorldBytes world_bytes(const typename E::Schema::Params& params, Elements format) {
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  Shared<S> shared{};
  shared.params = params;
  shared.format = format;
  return {block_bytes<Tables, kBlock<S>>(params) / kBlock<S>, scratch_bytes<Tables>(params),
          row_bytes<typename E::Observation>(shared) * agents_of(shared)};
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
int64_t agents_that_fit(const Values& asked, Elements format, int64_t available) {
  using S = typename E::Schema;
  using Settings = typename SettingsOf<S>::type;
  const std::vector<std::string> names = agent_parameters(E::card.agents);
  int64_t best = 0;
  double low = 0, high = 1;  // of what was asked for
  for (int round = 0; round < 40 && !names.empty(); ++round) {
    const double part = (low + high) / 2;
    Values fewer = asked;
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
      const bool fits = world_bytes<E>(params, format).all() <= available;
      if (fits) best = Plan<E>::agents_of_params(params);
      (fits ? low : high) = part;
    } catch (const Error&) {
      return best;  // fewer are not possible for another reason
    }
  }
  return best;
}

/// Throws where the worlds of a plan cannot fit into `available` bytes at `place` (" on cuda:0").
/// How many of a simulator's worlds need scratch at a time is the executor's choice: at least one.
template <class E>
void check_fits(const Plan<E>& plan, int64_t available, bool all_need_scratch,
                const std::string& place = "") {
  const WorldBytes world = world_bytes<E>(plan.params_, plan.format_);
  const int64_t worlds = plan.config_.worlds;
  const double need =
      double(world.record + world.observation + (all_need_scratch ? world.scratch : 0)) *
          double(worlds) +
      double(all_need_scratch ? 0 : world.scratch);
  if (need <= double(available)) return;
  const int64_t fit = (available - (all_need_scratch ? 0 : world.scratch)) /
                      (world.record + world.observation + (all_need_scratch ? world.scratch : 0));
  const auto text = [](int64_t bytes) { return std::to_string(bytes); };
  char needed[40];
  std::snprintf(needed, sizeof needed, "%.0f", need);
  std::string message = std::to_string(worlds) + (worlds == 1 ? " world of " : " worlds of ") +
                        plan.id_ + (worlds == 1 ? " needs " : " need ") + needed + " bytes" +
                        place + ", and " + text(available) + " are free. A world of " +
                        std::to_string(plan.agents_) + (plan.agents_ == 1 ? " agent" : " agents") +
                        " has " + text(world.record) + " bytes of state and " +
                        text(world.observation) + " of observations";
  if (fit >= 1) {
    message += "; about " + std::to_string(fit) + " would fit";
  } else {
    const int64_t agents = agents_that_fit<E>(plan.config_.parameters, plan.format_, available);
    message += agents > 0 ? "; one of about " + std::to_string(agents) + " agents would fit"
                          : "; not even one fits";
  }
  throw Error(Fault::memory, message);
}

}  // namespace ge
