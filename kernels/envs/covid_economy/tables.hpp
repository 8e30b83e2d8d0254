// Tables of a world: 51 governors with their states, the planner, the country and, where episodes
// may last longer than the window of unemployment, the changes of the last 600 days; what agents
// see.
#pragma once

#include "envs/covid_economy/presets.hpp"

namespace gpu_envs::envs::covid_economy {

// ---- what governors and planner choose

/// Action of a governor.
struct Order {
  int32_t level;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("level", &Order::level,
                        "level of closure to set, 1 (open) to 10 (closed); 0 keeps the level")
                      .one_of(kLevels + 1));
  }
};
/// Action of the planner.
struct Grant {
  int32_t level;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("level", &Grant::level, "level of the subsidy until the next decision; 0: no subsidy")
            .one_of(kSubsidyLevels + 1));
  }
};

// ---- a state

/// Levels of the last 32 days, today's included: four bits each, the newest lowest. A shift makes
/// room for a day, and no index is needed to look back.
struct Closure {
  int32_t level, wait;
  uint32_t past[4];
  static constexpr auto describe() {
    return fields(field("level", &Closure::level, "level of closure, 1 (open) to 10 (closed)")
                      .within(1, kLevels),
                  field("wait", &Closure::wait, "days until the governor may set a level again")
                      .within(0, 10000),
                  field("past", &Closure::past,
                        "levels of closure of the last 32 days, four bits each, newest first")
                      .any_value());
  }
  GE_FN void push(int today) {
    GE_UNROLL
    for (int k = 3; k > 0; --k) past[k] = past[k] << 4 | past[k - 1] >> 28;
    past[0] = past[0] << 4 | uint32_t(today);
  }
  /// Level of closure that many days ago, 31 at most.
  GE_FN float level_ago(int days) const {
    GE_ASSERT(days >= 0 && days < 32);
    return float(int32_t(past[days / 8] >> (days % 8 * 4) & 15u));
  }
};
/// `removed` are those who recovered or died, vaccinated people not among them, so that deaths are
/// a share of it: recovered - vaccinated would be the difference of two numbers of 1e7 and more,
/// right to a few people only.
struct Epidemic {
  float susceptible, infected, removed, vaccinated;
  static constexpr auto describe() {
    return fields(
        field("susceptible", &Epidemic::susceptible, "people who can be infected").within(0, 1e9),
        field("infected", &Epidemic::infected, "people who are infected").within(0, 1e9),
        field("removed", &Epidemic::removed, "people who recovered or died").within(0, 1e9),
        field("vaccinated", &Epidemic::vaccinated, "people who are vaccinated").within(0, 1e9));
  }
};
/// Unemployment of a state, step 4 of a day.
struct Labour {
  float responses[kResponses];
  float unemployed;
  static constexpr auto describe() {
    return fields(field("responses", &Labour::responses,
                        "responses of unemployment to changes of the level, as they fade"),
                  field("unemployed", &Labour::unemployed, "people out of work"));
  }
};
/// Product of a state.
struct Economy {
  float product;
  static constexpr auto describe() {
    return fields(
        field("product", &Economy::product, "product of the day, subsidy included").in("dollars"));
  }
};
/// What one rule passes on to the next.
struct Today {
  float change, left;  // of the level today, and of 600 days ago
  float died;          // people
  int32_t illegal;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("change", &Today::change, "change of the level of closure today"),
                  field("left", &Today::left, "change of the level of closure 600 days ago"),
                  field("died", &Today::died, "people who died today"),
                  field("illegal", &Today::illegal,
                        "whether a level was chosen during the cooldown; 1: yes"));
  }
};

struct Governors : Agents<kStates, Closure, Epidemic, Labour, Economy, Today, Order> {
  static constexpr const char* name = "governors";
};

// ---- the country

/// Level of the subsidy that the planner pays.
struct Subsidy {
  int32_t level;
  static constexpr auto describe() {
    return fields(
        field("subsidy", &Subsidy::level, "level of the subsidy; 0: no subsidy").within(0, 1e8));
  }
};
struct Planners : Agents<1, Subsidy, Grant> {
  static constexpr const char* name = "planners";
};

/// Factors of fitted numbers, drawn when an episode begins.
struct Factors {
  float beta_intercept, beta_slope, unemployment;
  static constexpr auto describe() {
    return fields(field("beta_intercept", &Factors::beta_intercept,
                        "factor of the transmission rate without closures"),
                  field("beta_slope", &Factors::beta_slope,
                        "factor of what a level takes off the transmission rate"),
                  field("unemployment", &Factors::unemployment,
                        "factor of how much closures change unemployment"));
  }
};
/// What all 52 agents see of the country: computed once per step, copied into every row.
struct Bulletin {
  float subsidy, until_subsidy, until_vaccines, time;
  int32_t decides;
  static constexpr auto describe() {
    return fields(
        field("shown_subsidy", &Bulletin::subsidy, "level of the subsidy, divided by the highest"),
        field("until_subsidy", &Bulletin::until_subsidy,
              "days until the next decision on the subsidy, divided by the interval"),
        field("until_vaccines", &Bulletin::until_vaccines,
              "clock of vaccine deliveries: falls to 0 before the first one, then the share of the "
              "interval left"),
        field("time", &Bulletin::time, "share of the episode that is over"),
        field("decides", &Bulletin::decides, "whether the planner's next choice counts; 1: yes")
            .within(0, 1));
  }
};
/// What today's rules pass on about the country.
struct Day {
  float delivered;  // 1: vaccines arrive
  float died;       // people
  int32_t illegal;  // bits: 1: the planner chose out of turn, 2: a governor did
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("delivered", &Day::delivered, "whether vaccines arrive today; 1: yes"),
                  field("died", &Day::died, "people who died today in all states"),
                  field("illegal", &Day::illegal,
                        "bits of who made an illegal choice: 1 the planner, 2 a governor"));
  }
};
struct Country : Single<Factors, Bulletin, Day> {
  static constexpr const char* name = "country";
};

/// The changes of levels that unemployment still feels, day t in row t mod 600.
struct Changes {
  int8_t of[kStates];
  static constexpr auto describe() {
    return fields(field("changes", &Changes::of,
                        "change of each state's level of closure on one day of the window")
                      .within(1 - kLevels, kLevels - 1));
  }
};
struct Window : Fixed<kWindow, Changes> {
  static constexpr const char* name = "window";
};

// ---- what they see

/// The subsidy and the clocks, which governors and the planner see alike, given the members.
constexpr auto clock_fields(auto subsidy, auto until_subsidy, auto until_vaccines, auto time) {
  return fields(
      field("subsidy_level", subsidy, "level of the subsidy, divided by the highest"),
      field("time_until_subsidy", until_subsidy,
            "days until the planner decides, divided by the interval"),
      field("time_until_vaccines", until_vaccines,
            "clock of vaccine deliveries: falls to 0 before the first one, then the share of the "
            "interval left"),
      field("time", time, "share of the episode that is over; 0 without a time limit"));
}

struct GovernorView {
  float stringency_level;
  float subsidy_level, time_until_subsidy, time_until_vaccines, time;
  float state[kStates];
  float productivity;
  float susceptible, infected, recovered, deaths, vaccinated, unemployed;
  float lagged_stringency_level;
  static constexpr auto describe() {
    using V = GovernorView;
    return std::tuple_cat(
        fields(field("stringency_level", &V::stringency_level, "level of closure, divided by 10")),
        clock_fields(&V::subsidy_level, &V::time_until_subsidy, &V::time_until_vaccines, &V::time),
        fields(
            field("state", &V::state, "one-hot: the governor's own state"),
            field("productivity", &V::productivity,
                  "product with subsidy, divided by that of a day without closures"),
            field("susceptible", &V::susceptible,
                  "people who can be infected, as a share of the population"),
            field("infected", &V::infected,
                  "people who are infected, as a share of the population"),
            field("recovered", &V::recovered,
                  "people who recovered or were vaccinated, as a share of the population"),
            field("deaths", &V::deaths, "people who died, as a share of the population"),
            field("vaccinated", &V::vaccinated,
                  "people who are vaccinated, as a share of the population"),
            field("unemployed", &V::unemployed, "people out of work, as a share of the population"),
            field("lagged_stringency_level", &V::lagged_stringency_level,
                  "level of closure that acts on transmission in the next step, divided by 10")));
  }
};
/// Each array has one element per state.
struct PlannerView {
  float stringency_level[kStates];
  float subsidy_level, time_until_subsidy, time_until_vaccines, time;
  float productivity[kStates];
  float susceptible[kStates], infected[kStates], recovered[kStates];
  float deaths[kStates], vaccinated[kStates], unemployed[kStates];
  float lagged_stringency_level[kStates];
  static constexpr bool complete = true;
  static constexpr auto describe() {
    using V = PlannerView;
    return std::tuple_cat(
        fields(field("stringency_level", &V::stringency_level,
                     "level of closure of each state, divided by 10")),
        clock_fields(&V::subsidy_level, &V::time_until_subsidy, &V::time_until_vaccines, &V::time),
        fields(
            field("productivity", &V::productivity,
                  "product with subsidy of each state, divided by that of a day without closures"),
            field("susceptible", &V::susceptible,
                  "people who can be infected in each state, as a share of its population"),
            field("infected", &V::infected,
                  "people who are infected in each state, as a share of its population"),
            field("recovered", &V::recovered,
                  "people who recovered or were vaccinated in each state, as a share of its "
                  "population"),
            field("deaths", &V::deaths,
                  "people who died in each state, as a share of its population"),
            field("vaccinated", &V::vaccinated,
                  "people who are vaccinated in each state, as a share of its population"),
            field("unemployed", &V::unemployed,
                  "people out of work in each state, as a share of its population"),
            field("lagged_stringency_level", &V::lagged_stringency_level,
                  "level of closure of each state that acts on transmission in the next step, "
                  "divided "
                  "by 10")));
  }
};
static_assert(sizeof(GovernorView) == 64 * 4 && sizeof(PlannerView) == 463 * 4);

struct GovernorMask {
  uint8_t levels[kLevels + 1];
  static constexpr auto describe() {
    return fields(
        field("levels", &GovernorMask::levels, "levels that the governor may choose now; 1: legal")
            .within(0, 1));
  }
};
struct PlannerMask {
  uint8_t levels[kSubsidyLevels + 1];
  static constexpr auto describe() {
    return fields(
        field("levels", &PlannerMask::levels, "levels that the planner may choose now; 1: legal")
            .within(0, 1));
  }
};

struct Governor {
  static constexpr const char* name = "governor";
  using Agent = Governors;
  using Action = Order;
  using Observation = GovernorView;
  using ActionMask = GovernorMask;
};
struct Planner {
  static constexpr const char* name = "planner";
  using Agent = Planners;
  using Action = Grant;
  using Observation = PlannerView;
  using ActionMask = PlannerMask;
};

/// Tiers. Up to day 600 the changes that leave the window happened before the episode, so a table
/// of history suffices; longer episodes keep their own changes.
struct UpTo600Days {
  static constexpr bool keeps_window = false;
  using tables = Types<Governors, Planners, Country>;
};
struct AnyLength {
  static constexpr bool keeps_window = true;
  using tables = Types<Governors, Planners, Country, Window>;
};

template <class T>
struct Schema {
  using Params = covid_economy::Params;
  using Settings = covid_economy::Settings;
  using Varied = covid_economy::Varied;
  using Assets = covid_economy::Assets;
  using roles = Types<Governor, Planner>;
  using tables = typename T::tables;
  // A lane for some of the states, whose rows then lie side by side, or for a whole world where
  // there are enough of them.
  static constexpr Tuning tuning{.cuda_block = 1, .step_lanes = {32, 1}};
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
  static Assets make_assets(const Settings& settings, const Params&, AssetMaker& make) {
    return covid_economy::make_assets(settings, make);
  }
};
}  // namespace gpu_envs::envs::covid_economy
