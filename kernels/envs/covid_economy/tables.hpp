// What a world is made of: 51 governors with their states, the planner, and the country. Where
// episodes may outlast the window of unemployment, the changes of its 600 days too.
#pragma once

#include "envs/covid_economy/presets.hpp"

namespace gpu_envs::envs::covid_economy {

// ---- what governors and planner choose

struct Order {
  int32_t level;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("level", &Order::level,
                        "0 keeps the level of closure; 1 (open) to 10 (closed) set it")
                      .one_of(kLevels + 1));
  }
};
struct Grant {
  int32_t level;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("level", &Grant::level, "of the subsidy until the next decision; 0: none")
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
    return fields(
        field("level", &Closure::level, "of closure").within(1, kLevels),
        field("wait", &Closure::wait, "days until a level may be chosen").within(0, 10000),
        field("past", &Closure::past, "levels of 32 days, four bits each, newest first")
            .any_value());
  }
  GE_FN void push(int today) {
    GE_UNROLL
    for (int k = 3; k > 0; --k) past[k] = past[k] << 4 | past[k - 1] >> 28;
    past[0] = past[0] << 4 | uint32_t(today);
  }
  /// Of so many days ago, 31 at most.
  template <int kAgo>
  GE_FN float level_ago() const {
    static_assert(kAgo < 32);
    return float(int32_t(past[kAgo / 8] >> (kAgo % 8 * 4) & 15u));
  }
};
/// `removed` are those who recovered or died, vaccinated people not among them, so that deaths are
/// a share of it: recovered - vaccinated would be the difference of two numbers of 1e7 and more,
/// right to a few people only.
struct Epidemic {
  float susceptible, infected, removed, vaccinated;
  static constexpr auto describe() {
    return fields(
        field("susceptible", &Epidemic::susceptible, "people").within(0, 1e9),
        field("infected", &Epidemic::infected, "people").within(0, 1e9),
        field("removed", &Epidemic::removed, "people who recovered or died").within(0, 1e9),
        field("vaccinated", &Epidemic::vaccinated, "people").within(0, 1e9));
  }
};
struct Labour {
  float responses[kResponses];
  float unemployed;
  static constexpr auto describe() {
    return fields(field("responses", &Labour::responses, "to changes of the level, as they fade"),
                  field("unemployed", &Labour::unemployed, "people"));
  }
};
struct Economy {
  float product;
  static constexpr auto describe() {
    return fields(
        field("product", &Economy::product, "of the day, subsidy included").in("dollars"));
  }
};
/// What one rule tells the next.
struct Today {
  float change, left;  // of the level today, and of 600 days ago
  float died;          // people
  int32_t illegal;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("change", &Today::change, "of the level"),
                  field("left", &Today::left, "change of the level 600 days ago"),
                  field("died", &Today::died, "people"),
                  field("illegal", &Today::illegal, "1: a level was chosen too early"));
  }
};

struct Governors : Agents<kStates, Closure, Epidemic, Labour, Economy, Today, Order> {
  static constexpr const char* name = "governors";
};

// ---- the country

struct Subsidy {
  int32_t level;
  static constexpr auto describe() {
    return fields(field("subsidy", &Subsidy::level, "its level, 0: none").within(0, 1e8));
  }
};
struct Planners : Agents<1, Subsidy, Grant> {
  static constexpr const char* name = "planners";
};

/// What multiplies fitted numbers in this episode.
struct Factors {
  float beta_intercept, beta_slope, unemployment;
  static constexpr auto describe() {
    return fields(
        field("beta_intercept", &Factors::beta_intercept, "transmission without closures"),
        field("beta_slope", &Factors::beta_slope, "what a level takes off transmission"),
        field("unemployment", &Factors::unemployment, "how closures change unemployment"));
  }
};
/// What everybody sees of the country; kept, since the rows of 52 agents show it.
struct Bulletin {
  float subsidy, until_subsidy, until_vaccines, time;
  int32_t decides;
  static constexpr auto describe() {
    return fields(
        field("shown_subsidy", &Bulletin::subsidy, "its level, of the highest"),
        field("until_subsidy", &Bulletin::until_subsidy, "days to the next decision, of all"),
        field("until_vaccines", &Bulletin::until_vaccines, "the vaccines' clock"),
        field("time", &Bulletin::time, "share of the episode that is over"),
        field("decides", &Bulletin::decides, "1: the planner's next choice counts").within(0, 1));
  }
};
struct Day {
  float delivered;  // 1: vaccines arrive
  float died;       // people
  int32_t illegal;  // bits: 1: the planner chose out of turn, 2: a governor did
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("delivered", &Day::delivered, "1: vaccines arrive today"),
                  field("died", &Day::died, "people, in all states"),
                  field("illegal", &Day::illegal,
                        "whose choices the masks forbade: 1 the planner's, 2 governors'"));
  }
};
struct Country : Single<Factors, Bulletin, Day> {
  static constexpr const char* name = "country";
};

/// The changes of levels that unemployment still feels, day t in row t mod 600.
struct Changes {
  int8_t of[kStates];
  static constexpr auto describe() {
    return fields(field("changes", &Changes::of, "of each state's level on that day")
                      .within(1 - kLevels, kLevels - 1));
  }
};
struct Window : Fixed<kWindow, Changes> {
  static constexpr const char* name = "window";
};

// ---- what they see

struct GovernorView {
  float stringency_level;
  float subsidy_level, time_until_subsidy, time_until_vaccines, time;
  float state[kStates];
  float productivity;
  float susceptible, infected, recovered, deaths, vaccinated, unemployed;
  float lagged_stringency_level;
  static constexpr bool complete = true;
  static constexpr auto describe() {
    using V = GovernorView;
    return fields(
        field("stringency_level", &V::stringency_level, "of closure, of 10"),
        field("subsidy_level", &V::subsidy_level, "of the highest"),
        field("time_until_subsidy", &V::time_until_subsidy, "days to a decision, of the interval"),
        field("time_until_vaccines", &V::time_until_vaccines, "clock of the vaccines"),
        field("time", &V::time, "share of the episode that is over; 0 where there is no limit"),
        field("state", &V::state, "1 at the governor's own"),
        field("productivity", &V::productivity, "product and subsidy, of a day without closures"),
        field("susceptible", &V::susceptible, "share of the population"),
        field("infected", &V::infected, "share of the population"),
        field("recovered", &V::recovered, "share of the population, vaccinated people included"),
        field("deaths", &V::deaths, "share of the population"),
        field("vaccinated", &V::vaccinated, "share of the population"),
        field("unemployed", &V::unemployed, "share of the population"),
        field("lagged_stringency_level", &V::lagged_stringency_level,
              "the level that acts on transmission in the next step, of 10"));
  }
};
/// Arrays are over the states.
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
    return fields(
        field("stringency_level", &V::stringency_level, "of closure, of 10, by state"),
        field("subsidy_level", &V::subsidy_level, "of the highest"),
        field("time_until_subsidy", &V::time_until_subsidy, "days to a decision, of the interval"),
        field("time_until_vaccines", &V::time_until_vaccines, "clock of the vaccines"),
        field("time", &V::time, "share of the episode that is over; 0 where there is no limit"),
        field("productivity", &V::productivity, "product and subsidy, of a day without closures"),
        field("susceptible", &V::susceptible, "share of each population"),
        field("infected", &V::infected, "share of each population"),
        field("recovered", &V::recovered, "share of each population, vaccinated people included"),
        field("deaths", &V::deaths, "share of each population"),
        field("vaccinated", &V::vaccinated, "share of each population"),
        field("unemployed", &V::unemployed, "share of each population"),
        field("lagged_stringency_level", &V::lagged_stringency_level,
              "the levels that act on transmission in the next step, of 10"));
  }
};
static_assert(sizeof(GovernorView) == 64 * 4 && sizeof(PlannerView) == 463 * 4);

struct GovernorMask {
  uint8_t levels[kLevels + 1];
  static constexpr auto describe() {
    return fields(field("levels", &GovernorMask::levels, "1: may be chosen").within(0, 1));
  }
};
struct PlannerMask {
  uint8_t levels[kSubsidyLevels + 1];
  static constexpr auto describe() {
    return fields(field("levels", &PlannerMask::levels, "1: may be chosen").within(0, 1));
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

/// Up to day 600 what leaves the window happened before the episode; later its own days do.
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
  using Assets = covid_economy::Assets;
  using roles = Types<Governor, Planner>;
  using tables = typename T::tables;
  // A lane for some of the states, or for a whole world where there are enough of them.
  static constexpr Tuning tuning{.step_lanes = {32, 1}};
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
  static Assets make_assets(const Settings& settings, const Params&, AssetMaker& make) {
    return covid_economy::make_assets(settings, make);
  }
};
template <class T>
using W = World<Schema<T>>;

}  // namespace gpu_envs::envs::covid_economy
