// A day: levels and subsidy, the disease, jobs, product, rewards. Everything that a state does is a
// row of its own; only the planner's reward adds up the states. Numbers of equations are those of
// docs/covid_economy.md.
#pragma once

#include "envs/covid_economy/tables.hpp"

namespace gpu_envs::envs::covid_economy {

/// Episodes without a limit end up on this day: what is added to a day stays an int.
inline constexpr uint32_t kLastDay = 1u << 30;
template <class T>
GE_FN int day(const W<T>& w) {
  return int(min(w.step(), kLastDay));
}
/// Constants of one row, in place: a copy of all of them would keep g++ from running worlds side by
/// side.
template <class C>
GE_FN const C& row_of(const Asset<C>& asset, int row) {
  GE_ASSERT(row >= 0 && row < asset.count);
  return asset.at[row];
}
/// Level of a state on a row of the history; the last one goes on.
template <class T>
GE_FN int real_level(const W<T>& w, int row, int state) {
  const int last = int(w.assets().history.count) / kStates - 1;
  return w.assets().history[int64_t(row > last ? last : row) * kStates + state];
}

// ---- the first day

template <class T>
GE_FN void begin_state(const W<T>& w, Slot governor, Closure& closure, Epidemic& epidemic,
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
template <class T>
GE_FN void begin_country(const W<T>& w, Factors& factors, Subsidy& subsidy) {
  const Params& p = w.params();
  const Draw random = draw<"factors">(w, 0);
  float drawn[3];
  for (int k = 0; k < 3; ++k)
    drawn[k] = p.factor[k] + p.spread[k] * (2.0f * random.uniform(k) - 1.0f);
  factors = {drawn[0], drawn[1], drawn[2]};
  subsidy.level = 0;
}
/// Row k of the window is the last day before the episode, or day 0, whose number is k modulo 600.
template <class T>
GE_FN void recall(const W<T>& w, Slot slot, Changes& changes) {
  const int row = kFirstRow + (slot.row == 0 ? 0 : slot.row - kWindow);
  for (int state = 0; state < kStates; ++state)
    changes.of[state] =
        row < 1 ? int8_t{0} : int8_t(real_level(w, row, state) - real_level(w, row - 1, state));
}

// ---- choices

template <class T>
GE_FN bool is_free(const W<T>& w) {
  return w.params().real_policies == 0;
}
template <class T>
GE_FN bool is_replayed(const W<T>& w) {
  return w.params().real_policies != 0;
}

/// A level that was chosen too early and yet holds (enforce_masks = false) does not count for the
/// cooldown.
template <class T>
GE_FN void close(const W<T>& w, Closure& closure, Today& today, const Order& order) {
  const Params& p = w.params();
  const bool waits = closure.wait > 0, asks = order.level != 0;
  const bool refused = waits & asks & (p.enforce_masks != 0);
  const int level = select(asks & !refused, order.level, closure.level);
  today = {float(level - closure.level), 0, 0, select(refused, 1, 0)};
  closure.wait = select(waits, closure.wait - 1, select(asks, p.action_cooldown - 1, 0));
  closure.level = level;
  closure.push(level);
}
/// Yesterday's level as it was.
template <class T>
GE_FN void close_as_it_was(const W<T>& w, Slot governor, Closure& closure, Today& today) {
  const int level = real_level(w, kFirstRow + day(w) - 1, governor.row);
  today = {float(level - closure.level), 0, 0, 0};
  closure.level = level;
  closure.push(level);
}

template <class T>
GE_FN void begin_day(const W<T>& w, Subsidy& subsidy, Day& today, const Grant& grant) {
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

// Forbidden choices are rare: they are looked for together, and named one by one.
template <class T>
GE_FN int32_t illegal_choice(const W<T>&, const Today& today) {
  return today.illegal;
}
template <class T>
GE_FN void note_illegal(const W<T>&, int32_t governors, Day& today) {
  today.illegal += governors != 0 ? 2 : 0;
}
template <class T>
GE_FN bool has_illegal(const W<T>&, const Day& today) {
  return today.illegal != 0;
}
template <class T>
GE_FN void count_illegal(const W<T>& w, const Day& today, const Rows<Governors, Today>& states) {
  for (int governor = 0; governor < kStates; ++governor)
    if (states.get(governor).illegal != 0) count_illegal<Governors>(w, governor);
  if ((today.illegal & 1) != 0) count_illegal<Planners>(w, 0);
}

// ---- the disease, equations 3 to 6

template <class T>
GE_FN void spread(const W<T>& w, Slot governor, Epidemic& epidemic, Today& today,
                  const Closure& closure) {
  const Contagion& c = row_of(w.assets().contagion, governor.row);
  const Nature& nature = row_of(w.assets().nature, 0);
  const Factors factors = get<Factors>(w);
  const float doses = c.doses * get<Day>(w).delivered;
  const float susceptible = epidemic.susceptible, infected = epidemic.infected;
  // The levels of day t - 29, today's being the last one pushed. Not held to 0: at level 10 five
  // states have a rate a little below it.
  const float level = closure.template level_ago<kDelay>();
  const float beta = c.intercept * factors.beta_intercept + c.slope * factors.beta_slope * level;
  const float immune = min(1.0f, doses / (susceptible + 1e-10f));
  const float vaccinated = min(doses, susceptible);
  const float removed = nature.recovery * infected;
  // Of people that there are: with factors far above 1 the rate asks for more.
  const float caught = max(removed - infected,
                           min(susceptible - vaccinated,
                               beta * (susceptible * c.per_person * infected) * (1.0f - immune)));
  epidemic = {max(0.0f, susceptible - (caught + vaccinated)),
              max(0.0f, infected + caught - removed), epidemic.removed + removed,
              epidemic.vaccinated + vaccinated};
  today.died = nature.death_share * removed;
}

// ---- jobs, equations 7 and 8

template <class T>
GE_FN bool history_leaves(const W<T>& w) {
  return w.assets().leaves[day(w) - kWindow + kFirstRow] != 0;
}
/// Changes of 600 days ago end, as long as these were before the episode.
template <class T>
GE_FN void forget_history(const W<T>& w, Slot governor, Today& today) {
  const int row = day(w) - kWindow + kFirstRow;
  today.left = float(real_level(w, row, governor.row) - real_level(w, row - 1, governor.row));
}
/// Today's changes take the place of those of 600 days ago.
template <class T>
GE_FN void turn_window(const W<T>& w, const Rows<Window, Changes>& window,
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

/// A change of the level is felt at once and fades in five ways. Each day multiplies what is left;
/// what is older than the window is taken out, so that this equals a sum over 600 days.
template <class T>
GE_FN void employ(const W<T>& w, Slot governor, Labour& labour, const Today& today) {
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

// ---- product and rewards, equations 11 to 15

/// From product in units of that of a day without closures.
template <class T>
GE_FN float reward_of(const W<T>& w, const Worth& worth, float product, float died) {
  const float exponent = w.params().exponent;
  const float clipped = clamp(product * worth.per_most, 0.1f, 3.0f);
  const float use = (exp(exponent * log(clipped)) - 1.0f) / exponent;
  return (worth.zero - died * worth.health) + (1.0f + use) * worth.economy;
}

template <class T>
GE_FN void produce(const W<T>& w, Slot governor, Economy& economy, Reward& reward,
                   const Epidemic& epidemic, const Labour& labour, const Today& today) {
  const Params& p = w.params();
  const Nature& nature = row_of(w.assets().nature, 0);
  const Worth& worth = row_of(w.assets().worth, governor.row);
  const float deaths = nature.death_share * epidemic.removed;
  const float absent =
      (p.absent_sick * epidemic.infected + p.absent_dead * deaths) + labour.unemployed;
  const float workers = max(0.0f, row_of(w.assets().jobs, governor.row).workers - absent);
  const float paid = float(get<Subsidy>(w).level) * worth.paid;
  economy.product = workers * nature.product + paid;
  reward.value = reward_of(w, worth, economy.product, today.died);
}

template <class T>
GE_FN float deaths_of(const W<T>&, const Today& today) {
  return today.died;
}
template <class T>
GE_FN void note_deaths(const W<T>&, float died, Day& today) {
  today.died = died;
}
template <class T>
GE_FN float product_of(const W<T>&, const Economy& economy) {
  return economy.product;
}
/// The subsidy is in the states' product; the planner pays it, with interest.
template <class T>
GE_FN void pay_planner(const W<T>& w, float product, Reward& reward, const Day& today,
                       const Subsidy& subsidy) {
  const Worth& worth = row_of(w.assets().worth, kStates);
  const float cost =
      row_of(w.assets().nature, 0).subsidy_cost * (float(subsidy.level) * worth.paid);
  reward.value = reward_of(w, worth, product - cost, today.died);
}

}  // namespace gpu_envs::envs::covid_economy
