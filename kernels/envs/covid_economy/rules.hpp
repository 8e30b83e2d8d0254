// One day: levels and subsidy, the disease, jobs, product, rewards. A state is a row, and rows
// only meet in the planner's reward, which adds them up. Steps of a day are those of
// docs/covid_economy.md.
#pragma once

#include "envs/covid_economy/tables.hpp"

namespace gpu_envs::envs::covid_economy {

/// The day at which an episode without a time limit stops counting, so that sums with it fit an
/// int.
inline constexpr uint32_t kLastDay = 1u << 30;
/// Days since 2020-03-22; a step is a day.
GE_FN int day(const auto& w) {
  return int(min(w.step(), kLastDay));
}
/// One row of an asset by reference: with a copy of the whole row g++ does not vectorise over
/// worlds.
GE_FN const auto& row_of(const auto& asset, int row) {
  GE_ASSERT(row >= 0 && row < asset.count);
  return asset.at[row];
}

/// T is the tier, UpTo600Days or AnyLength.
template <class T>
struct Rules {
  using W = World<Schema<T>>;

  // ---- the first day

  /// Level of closure of a state on a row of the history; beyond the last row, that of the last.
  static GE_FN int real_level(const W& w, int row, int state) {
    const int last = int(w.assets().history.count) / kStates - 1;
    return w.assets().history[int64_t(row > last ? last : row) * kStates + state];
  }

  /// Sets a state as it was on day 0, with the levels of the 32 days before.
  static GE_FN void begin_state(const W& w, Slot governor, Closure& closure, Epidemic& epidemic,
                                Labour& labour, Economy& economy) {
    const FirstDay& first = row_of(w.assets().first_day, governor.row);
    epidemic = {first.susceptible, first.infected, first.removed, 0};
    for (int k = 0; k < kResponses; ++k) labour.responses[k] = first.responses[k];
    labour.unemployed = first.unemployed;
    economy.product = 0;
    closure = {};
    for (int ago = 31; ago >= 0; --ago) closure.push(real_level(w, kFirstRow - ago, governor.row));
    closure.level = real_level(w, kFirstRow, governor.row);
  }
  /// Draws the factors of this episode, uniform around the settings.
  static GE_FN void begin_country(const W& w, Factors& factors, Subsidy& subsidy) {
    const Varied v = w.varied();
    const Draw random = draw<"factors">(w, 0);
    const auto drawn = [&](float factor, float spread, int k) GE_LAMBDA {
      return factor + spread * (2.0f * random.uniform(k) - 1.0f);
    };
    factors = {drawn(v.beta_intercept_factor, v.beta_intercept_spread, 0),
               drawn(v.beta_slope_factor, v.beta_slope_spread, 1),
               drawn(v.unemployment_factor, v.unemployment_spread, 2)};
    subsidy.level = 0;
  }
  /// Fills row k of the window with the latest day up to day 0 whose number is k modulo 600.
  static GE_FN void recall(const W& w, Slot slot, Changes& changes) {
    const int row = kFirstRow + (slot.row == 0 ? 0 : slot.row - kWindow);
    for (int state = 0; state < kStates; ++state)
      changes.of[state] =
          row < 1 ? int8_t{0} : int8_t(real_level(w, row, state) - real_level(w, row - 1, state));
  }

  // ---- choices

  static GE_FN bool is_free(const W& w) { return w.params().real_policies == 0; }
  static GE_FN bool is_replayed(const W& w) { return w.params().real_policies != 0; }

  /// With enforce_masks = false a level chosen during the cooldown holds, but starts no cooldown.
  static GE_FN void close(const W& w, Closure& closure, Today& today, const Order& order) {
    const int32_t cooldown = w.varied().action_cooldown;
    const bool waits = closure.wait > 0, asks = order.level != 0;
    const bool refused = waits & asks & (w.params().enforce_masks != 0);
    const int level = select(asks & !refused, order.level, closure.level);
    today = {float(level - closure.level), 0, 0, select(refused, 1, 0)};
    closure.wait = select(waits, closure.wait - 1, select(asks, cooldown - 1, 0));
    closure.level = level;
    closure.push(level);
  }
  /// Replays the real level of yesterday.
  static GE_FN void close_as_it_was(const W& w, Slot governor, Closure& closure, Today& today) {
    const int level = real_level(w, kFirstRow + day(w) - 1, governor.row);
    today = {float(level - closure.level), 0, 0, 0};
    closure.level = level;
    closure.push(level);
  }

  /// Sets the subsidy on days of decision, and whether vaccines arrive.
  static GE_FN void begin_day(const W& w, Subsidy& subsidy, Day& today, const Grant& grant) {
    const Params& p = w.params();
    const int t = day(w);
    const bool decides = (t - 1) % p.subsidy_interval == 0;
    const bool possible = (grant.level <= p.subsidy_levels) & decides;
    if (p.real_policies != 0)
      subsidy.level = w.assets().real_subsidy[t];
    else if (decides)
      subsidy.level = possible ? grant.level : 0;
    const bool delivered = (t >= p.vaccine_day) & (t % p.vaccine_interval == 0);
    const bool illegal =
        (grant.level != 0) & !possible & (p.enforce_masks != 0) & (p.real_policies == 0);
    today = {delivered ? 1.0f : 0.0f, 0, illegal ? 1 : 0};
  }

  // Illegal choices are rare: one reduction looks for any, and only then are they counted one by
  // one.
  static GE_FN int32_t illegal_choice(const W&, const Today& today) { return today.illegal; }
  static GE_FN void note_illegal(const W&, int32_t governors, Day& today) {
    today.illegal += governors != 0 ? 2 : 0;
  }
  static GE_FN bool has_illegal(const W&, const Day& today) { return today.illegal != 0; }
  /// Counts each illegal choice of this day.
  static GE_FN void report_illegal(const W& w, const Day& today,
                                   const Rows<Governors, Today>& states) {
    for (int governor = 0; governor < kStates; ++governor)
      if (states.get(governor).illegal != 0) count_illegal<Governors>(w, governor);
    if ((today.illegal & 1) != 0) count_illegal<Planners>(w, 0);
  }

  // ---- the disease, step 3 of a day

  /// One day of the disease in a state: infections by the level of 29 days ago, recoveries,
  /// vaccines.
  static GE_FN void spread(const W& w, Slot governor, Epidemic& epidemic, Today& today,
                           const Closure& closure) {
    const Contagion& c = row_of(w.assets().contagion, governor.row);
    const Nature& nature = row_of(w.assets().nature, 0);
    const Factors factors = get<Factors>(w);
    const float doses = c.doses * get<Day>(w).delivered;
    const float susceptible = epidemic.susceptible, infected = epidemic.infected;
    // The level of 29 days ago; today's is the last one pushed. The rate is not clamped at 0: at
    // level 10 that of five states is slightly negative.
    const float level = closure.level_ago(kDelay);
    const float beta = c.intercept * factors.beta_intercept + c.slope * factors.beta_slope * level;
    const float immune = min(1.0f, doses / (susceptible + 1e-10f));
    const float vaccinated = min(doses, susceptible);
    const float removed = nature.recovery * infected;
    // Clamp to the people left; factors above 1 could infect more than exist.
    const float caught = max(removed - infected,
                             min(susceptible - vaccinated,
                                 beta * (susceptible * c.per_person * infected) * (1.0f - immune)));
    epidemic = {max(0.0f, susceptible - (caught + vaccinated)),
                max(0.0f, infected + caught - removed), epidemic.removed + removed,
                epidemic.vaccinated + vaccinated};
    today.died = nature.death_share * removed;
  }

  // ---- jobs, step 4 of a day

  /// Whether some state changed its level 600 days ago, before the episode.
  static GE_FN bool history_leaves(const W& w) {
    return w.assets().leaves[day(w) - kWindow + kFirstRow] != 0;
  }
  /// Takes the change of 600 days ago from the history, as long as that was before the episode.
  static GE_FN void forget_history(const W& w, Slot governor, Today& today) {
    const int row = day(w) - kWindow + kFirstRow;
    today.left = float(real_level(w, row, governor.row) - real_level(w, row - 1, governor.row));
  }
  /// Writes today's changes over those of 600 days ago.
  static GE_FN void turn_window(const W& w, const Rows<Window, Changes>& window,
                                const Rows<Governors, Today>& states) {
    const int row = day(w) % kWindow;
    const Changes old = window.get(row);
    Changes changes;
    for (int state = 0; state < kStates; ++state) {
      Today today = states.get(state);
      today.left = float(old.of[state]);
      changes.of[state] = int8_t(int32_t(today.change));
      states.set(state, today);
    }
    window.set(row, changes);
  }

  /// A change of the level acts at once and fades at five speeds. Each day scales the responses and
  /// subtracts the change that leaves the window, which equals the sum over 600 days.
  static GE_FN void employ(const W& w, Slot governor, Labour& labour, const Today& today) {
    const Jobs& jobs = row_of(w.assets().jobs, governor.row);
    const Nature& nature = row_of(w.assets().nature, 0);
    float z = 0;
    GE_UNROLL
    for (int k = 0; k < kResponses; ++k) {
      const float response =
          labour.responses[k] * nature.left[k] + (today.change - nature.tail[k] * today.left);
      labour.responses[k] = response;
      z = z + jobs.weights[k] * response;
    }
    z = z * get<Factors>(w).unemployment;
    const float soft = select(z > 20.0f, z, log(1.0f + exp(z)));
    labour.unemployed = (soft + jobs.bias) * jobs.per_percent;
  }

  // ---- product, step 5 of a day, and rewards

  /// Weighted sum of the health index and of the economic index, which has constant relative risk
  /// aversion.
  static GE_FN float reward_of(const W& w, const Worth& worth, float product, float died) {
    const float exponent = w.params().exponent;
    const float clipped = clamp(product * worth.per_most, 0.1f, 3.0f);
    const float use = (exp(exponent * log(clipped)) - 1.0f) / exponent;
    return (worth.zero - died * worth.health) + (1.0f + use) * worth.economy;
  }

  /// Product of the people at work, with the subsidy, and the reward of the governor.
  static GE_FN void produce(const W& w, Slot governor, Economy& economy, Reward& reward,
                            const Epidemic& epidemic, const Labour& labour, const Today& today) {
    const float of_age = w.params().working_age_share;      // workers missing per dead
    const float too_sick = of_age * w.varied().sick_share;  // and per infected
    const Nature& nature = row_of(w.assets().nature, 0);
    const Worth& worth = row_of(w.assets().worth, governor.row);
    const float deaths = nature.death_share * epidemic.removed;
    const float absent = (too_sick * epidemic.infected + of_age * deaths) + labour.unemployed;
    const float workers = max(0.0f, row_of(w.assets().jobs, governor.row).workers - absent);
    const float paid = float(get<Subsidy>(w).level) * worth.paid;
    economy.product = workers * nature.product + paid;
    reward.value = reward_of(w, worth, economy.product, today.died);
  }

  static GE_FN float deaths_of(const W&, const Today& today) { return today.died; }
  static GE_FN void note_deaths(const W&, float died, Day& today) { today.died = died; }
  static GE_FN float product_of(const W&, const Economy& economy) { return economy.product; }
  /// The states' product contains the subsidy; the planner pays for it, with interest.
  static GE_FN void pay_planner(const W& w, float product, Reward& reward, const Day& today,
                                const Subsidy& subsidy) {
    const Worth& worth = row_of(w.assets().worth, kStates);
    const float cost =
        row_of(w.assets().nature, 0).subsidy_cost * (float(subsidy.level) * worth.paid);
    reward.value = reward_of(w, worth, product - cost, today.died);
  }
};

}  // namespace gpu_envs::envs::covid_economy
