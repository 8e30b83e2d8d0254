// Observations and masks. A governor sees 64 numbers, 51 of which are the one-hot of its state; the
// planner sees 463: each number of a governor as an array over the states.
#pragma once

#include "envs/covid_economy/rules.hpp"

namespace gpu_envs::envs::covid_economy {

/// The clock of the original: 1 / interval until one interval before the first delivery, then
/// falling to 0; after it, the share of the interval until the next delivery, which is never 0.
GE_FN float vaccine_clock(const Params& p, int t) {
  const int next = t + 1, interval = p.vaccine_interval;
  const float length = float(interval);
  if (next <= p.first_delivery) return min(1.0f, float(p.first_delivery - next) / length) / length;
  return float(interval - next % interval) / length;
}

template <class T>
struct Views {
  using W = World<Schema<T>>;

  /// Runs last in a step and in a reset.
  static GE_FN void announce(const W& w, Bulletin& bulletin, const Subsidy& subsidy) {
    const Params& p = w.params();
    const int t = day(w), since = t % p.subsidy_interval;
    const uint32_t limit = w.max_steps();
    bulletin = {float(subsidy.level) / float(p.subsidy_levels),
                float(p.subsidy_interval - since) / float(p.subsidy_interval), vaccine_clock(p, t),
                limit == 0 ? 0.0f : float(t) / float(limit), since == 0 ? 1 : 0};
  }

  /// The row of a governor: its own state and the bulletin.
  static GE_FN void show_governor(const W& w, GovernorView& row, Slot governor,
                                  const Closure& closure, const Epidemic& epidemic,
                                  const Labour& labour, const Economy& economy) {
    const Bulletin bulletin = get<Bulletin>(w);
    const float per_person = row_of(w.assets().contagion, governor.row).per_person;
    const float recovered = epidemic.removed + epidemic.vaccinated;
    const float deaths = row_of(w.assets().nature, 0).death_share * epidemic.removed;
    row.stringency_level = float(closure.level) * 0.1f;
    row.subsidy_level = bulletin.subsidy;
    row.time_until_subsidy = bulletin.until_subsidy;
    row.time_until_vaccines = bulletin.until_vaccines;
    row.time = bulletin.time;
    row.state[governor.row] = 1.0f;
    row.productivity = economy.product * row_of(w.assets().worth, governor.row).per_most;
    row.susceptible = epidemic.susceptible * per_person;
    row.infected = epidemic.infected * per_person;
    row.recovered = recovered * per_person;
    row.deaths = deaths * per_person;
    row.vaccinated = epidemic.vaccinated * per_person;
    row.unemployed = labour.unemployed * per_person;
    row.lagged_stringency_level = closure.level_ago(kDelay - 1) * 0.1f;
  }

  /// The row of the planner: all states and the bulletin.
  static GE_FN void show_planner(const W& w, PlannerView& row, const Squad& squad, const Subsidy&) {
    const float death_share = row_of(w.assets().nature, 0).death_share;
    if (squad.lane() == 0) {
      const Bulletin bulletin = get<Bulletin>(w);
      row.subsidy_level = bulletin.subsidy;
      row.time_until_subsidy = bulletin.until_subsidy;
      row.time_until_vaccines = bulletin.until_vaccines;
      row.time = bulletin.time;
    }
    for (int k = squad.lane(); k < kStates; k += squad.size()) {
      const Closure closure = get<Governors, Closure>(w, k);
      const Epidemic epidemic = get<Governors, Epidemic>(w, k);
      const float per_person = row_of(w.assets().contagion, k).per_person;
      row.stringency_level[k] = float(closure.level) * 0.1f;
      row.productivity[k] =
          get<Governors, Economy>(w, k).product * row_of(w.assets().worth, k).per_most;
      row.susceptible[k] = epidemic.susceptible * per_person;
      row.infected[k] = epidemic.infected * per_person;
      row.recovered[k] = (epidemic.removed + epidemic.vaccinated) * per_person;
      row.deaths[k] = death_share * epidemic.removed * per_person;
      row.vaccinated[k] = epidemic.vaccinated * per_person;
      row.unemployed[k] = get<Governors, Labour>(w, k).unemployed * per_person;
      row.lagged_stringency_level[k] = closure.level_ago(kDelay - 1) * 0.1f;
    }
  }

  /// Where real policies are replayed actions are ignored, so all are legal.
  static GE_FN void mask_governor(const W& w, GovernorMask& row, const Closure& closure) {
    const bool may = (closure.wait == 0) | (w.params().real_policies != 0);
    const uint8_t allowed = may ? 1 : 0;
    row.levels[0] = 1;
    GE_UNROLL
    for (int k = 1; k <= kLevels; ++k) row.levels[k] = allowed;
  }
  /// On days without a decision only action 0 is legal.
  static GE_FN void mask_planner(const W& w, PlannerMask& row, const Subsidy&) {
    const Params& p = w.params();
    const bool decides = get<Bulletin>(w).decides != 0, replayed = p.real_policies != 0;
    row.levels[0] = 1;
    GE_UNROLL
    for (int k = 1; k <= kSubsidyLevels; ++k)
      row.levels[k] = (decides & (k <= p.subsidy_levels)) | replayed ? 1 : 0;
  }
};

}  // namespace gpu_envs::envs::covid_economy
