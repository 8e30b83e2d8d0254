// CovidEconomy, one rule per test, in worlds laid out by hand. Whole runs, golden values and what
// is refused: tests/envs/test_covid_economy*.py.
#include "envs/covid_economy/covid_economy.hpp"

#include <cmath>
#include <utility>

#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

constexpr size_t kStates = 51, kPlanner = 51, kLongest = 463, kMostChoices = 21;
constexpr size_t kCalifornia = 4;
constexpr double kCalifornians = 39512223;

Config config_of(Values parameters, int64_t max_steps, int64_t worlds) {
  Config config;
  config.worlds = worlds;
  config.autoreset = Autoreset::disabled;
  config.max_episode_steps = max_steps;
  config.parameters = std::move(parameters);
  return config;
}
bool near(double a, double b, double part = 1e-6) {
  return std::abs(a - b) <= part * std::abs(b);
}

/// Worlds of 51 states, spoken of by state, with padded rows.
class Nation {
 public:
  explicit Nation(Values parameters = {}, int64_t max_steps = 540, int64_t worlds = 1)
      : world("CovidEconomy-v0", config_of(std::move(parameters), max_steps, worlds)) {
    world.reset(1);
  }
  /// A level for all governors, another one for California, and the planner's.
  void step(int all, int california, int planner) {
    std::vector<int32_t> actions(kStates + 1, all);
    actions[kCalifornia] = california, actions[kPlanner] = planner;
    const std::vector<int32_t> once = actions;
    for (int64_t k = 1; k < world->worlds(); ++k)
      actions.insert(actions.end(), once.begin(), once.end());
    world.step(actions);
  }
  void step(int all = 0) { step(all, all, 0); }
  void steps(int count) {
    for (int k = 0; k < count; ++k) step();
  }
  float at(const std::string& name, size_t state = kCalifornia) const {
    return world.get<float>("governors." + name)[state];
  }
  void put(const std::string& name, float value) {
    world.set("governors." + name, std::vector<float>(kStates * size_t(world->worlds()), value));
  }
  int level(size_t state = kCalifornia) const {
    return world.get<int32_t>("governors.level")[state];
  }
  int wait(size_t state = kCalifornia) const { return world.get<int32_t>("governors.wait")[state]; }
  int subsidy() const { return world.get<int32_t>("planners.subsidy")[0]; }
  float reward(size_t agent) const { return world.reward()[agent]; }
  float seen(size_t agent, size_t element) const {
    return world.observation()[agent * kLongest + element];
  }
  bool may(size_t agent, size_t choice) const {
    return world.out<uint8_t>(kActionMask)[agent * kMostChoices + choice] != 0;
  }

  Simulation world;
};

}  // namespace

GE_TEST(covid_economy_a_level_holds_until_another_one_is_chosen) {
  Nation nation;
  CHECK_EQ(nation.level(), 8);
  nation.step(0, 3, 0);
  CHECK_EQ(nation.level(), 3);
  CHECK_EQ(nation.level(0), 5);
  nation.steps(5);
  CHECK_EQ(nation.level(), 3);
  CHECK(near(double(nation.seen(kCalifornia, 0)), 0.3));
}

GE_TEST(covid_economy_a_choice_closes_the_governors_mask_for_its_cooldown) {
  Nation nation({{"action_cooldown", int64_t{3}}});
  CHECK(nation.may(kCalifornia, 10));
  nation.step(0, 3, 0);
  CHECK_EQ(nation.wait(), 2);
  CHECK(nation.may(kCalifornia, 0) && !nation.may(kCalifornia, 1) && nation.may(0, 1));
  nation.steps(2);
  CHECK(nation.may(kCalifornia, 1));
  nation.step();
  CHECK(nation.may(kCalifornia, 1));
}

GE_TEST(covid_economy_a_level_chosen_too_early_is_none_and_is_counted) {
  Nation nation;
  nation.step(0, 3, 0);
  nation.step(0, 9, 0);
  CHECK_EQ(nation.level(), 3);
  CHECK_EQ(nation.wait(), 26);
  CHECK_EQ(nation.world->faults().illegal_actions, 1u);
}

GE_TEST(covid_economy_without_enforced_masks_it_holds_and_the_cooldown_goes_on) {
  Nation nation({{"enforce_masks", false}});
  nation.step(0, 3, 0);
  nation.step(0, 9, 5);
  CHECK_EQ(nation.level(), 9);
  CHECK_EQ(nation.wait(), 26);
  CHECK_EQ(nation.subsidy(), 0);
  CHECK_EQ(nation.world->faults().illegal_actions, 0u);
}

GE_TEST(covid_economy_the_planner_decides_on_its_days_only) {
  Nation nation({{"subsidy_interval", int64_t{3}}, {"enforce_masks", false}});
  CHECK(nation.may(kPlanner, 20));
  nation.step(0, 0, 7);
  CHECK_EQ(nation.subsidy(), 7);
  CHECK(nation.may(kPlanner, 0) && !nation.may(kPlanner, 1));
  nation.step(0, 0, 9);
  CHECK_EQ(nation.subsidy(), 7);
  nation.step();
  CHECK(nation.may(kPlanner, 1));
  nation.step();
  CHECK_EQ(nation.subsidy(), 0);
}

GE_TEST(covid_economy_the_infected_recover_and_die_in_fixed_shares) {
  Nation nation;
  nation.put("infected", 14000);
  const float before = nation.at("removed");
  nation.step();
  CHECK(near(double(nation.at("removed") - before), 1000, 1e-4));
  // Deaths are a fiftieth of them; an observation shows both as shares of the population.
  const double deaths = double(nation.seen(kCalifornia, 60)) * kCalifornians;
  CHECK(near(deaths, 0.02 * double(nation.at("removed")), 1e-5));
}

GE_TEST(covid_economy_nobody_falls_ill_where_nobody_is_infected) {
  Nation nation;
  nation.put("infected", 0);
  const float susceptible = nation.at("susceptible");
  nation.steps(40);
  CHECK(nation.at("infected") == 0 && nation.at("susceptible") == susceptible);
}

GE_TEST(covid_economy_people_are_neither_made_nor_lost) {
  Nation nation({{"vaccine_start", std::string("2020-03-25")}});
  for (int day = 0; day < 50; ++day) {
    nation.step(1);
    const double people = double(nation.at("susceptible")) + double(nation.at("infected")) +
                          double(nation.at("removed")) + double(nation.at("vaccinated"));
    CHECK(near(people, kCalifornians, 1e-6));
  }
}

GE_TEST(covid_economy_people_are_neither_made_nor_lost_where_factors_are_largest) {
  for (const int level : {1, 10}) {
    Nation nation({{"beta_intercept_factor", 10.0},
                   {"beta_slope_factor", level == 1 ? 1.0 : 10.0},
                   {"vaccine_start", std::string("2020-04-25")},
                   {"enforce_masks", false}});
    std::vector<double> before;
    for (int day = 0; day < 120; ++day) {
      nation.step(level);
      for (size_t state = 0; state < kStates; ++state) {
        double people = 0;
        for (const char* const part : {"susceptible", "infected", "removed", "vaccinated"})
          people += double(nation.at(part, state));
        if (day == 0) before.push_back(people);
        CHECK(near(people, before[state], 1e-5));
      }
    }
  }
}

GE_TEST(covid_economy_dates_are_those_of_the_calendar_however_late) {
  using namespace gpu_envs::envs::covid_economy;
  CHECK_EQ(date_in_digits(0), "2020-03-22");
  CHECK_EQ(date_in_digits(436), "2021-06-01");
  CHECK_EQ(date_in_digits(709), "2022-03-01");
  CHECK_EQ(date_in_digits(146097), "2420-03-22");
  CHECK_EQ(look::day_in_words(2914553), "31 December 9999");
  CHECK_EQ(look::day_in_words(2914554), "1 January 10000");
  CHECK_EQ(date_in_digits(int64_t{1} << 31).substr(0, 4), "5881");
}

GE_TEST(covid_economy_levels_of_29_days_ago_set_the_transmission) {
  Nation closed({{"enforce_masks", false}}), open({{"enforce_masks", false}});
  for (int day = 1; day <= 29; ++day) {
    closed.step(day == 1 ? 10 : 0), open.step(day == 1 ? 1 : 0);
    CHECK(closed.at("infected") == open.at("infected"));
  }
  closed.step(), open.step();
  CHECK(closed.at("infected") < open.at("infected"));
  CHECK(near(double(closed.seen(kCalifornia, 63)), 1.0));
}

GE_TEST(covid_economy_vaccines_go_to_the_susceptible_until_none_is_left) {
  Nation nation({{"vaccine_start", std::string("2020-03-22")}});
  const float doses = std::floor(float(kCalifornians / 1e6 * 3000));
  nation.step();
  CHECK(nation.at("vaccinated") == doses);
  nation.put("susceptible", 1000), nation.put("vaccinated", 0);
  nation.step();
  CHECK(nation.at("susceptible") == 0 && nation.at("vaccinated") == 1000);
  nation.step();
  CHECK(nation.at("susceptible") == 0 && nation.at("vaccinated") == 1000);
}

GE_TEST(covid_economy_a_change_of_level_is_felt_at_once_and_fades) {
  Nation nation;
  std::vector<float> none(kStates * 5, 0.0f);
  nation.world.set("governors.responses", none);
  nation.step(0, 10, 0);  // from 8
  const auto first = nation.world.get<float>("governors.responses");
  for (size_t k = 0; k < 5; ++k) CHECK(first[kCalifornia * 5 + k] == 2.0f && first[k] == 0.0f);
  nation.step();
  const auto second = nation.world.get<float>("governors.responses");
  constexpr double kScales[] = {27.7242775, 62.9192505, 129.2318573, 264.4318237, 542.0600585};
  for (size_t k = 0; k < 5; ++k)
    CHECK(near(double(second[kCalifornia * 5 + k]), 2 * std::exp(-1 / kScales[k])));
}

GE_TEST(covid_economy_without_changes_unemployment_is_its_base) {
  Nation nation({{"unemployment_factor", 0.0}});
  nation.step(1);
  CHECK(near(double(nation.at("unemployed")),
             kCalifornians * (std::log(2.0) + 4.371125221252441) / 100));
}

GE_TEST(covid_economy_changes_leave_the_window_after_600_days) {
  // History alone: what changed on day 7 of 2020 leaves on day 526 of an episode, so from then on
  // both tiers go by what they took out.
  Nation longer({}, 0), shorter({}, 600);
  for (int day = 0; day < 600; ++day) {
    longer.step(day == 0 ? 4 : 0), shorter.step(day == 0 ? 4 : 0);
    CHECK(longer.at("unemployed") == shorter.at("unemployed"));
  }
  // The last change was that of day 1: then nothing is left but rounding.
  longer.step();
  const auto left = longer.world.get<float>("governors.responses");
  for (const float response : left) CHECK(std::abs(response) < 2e-5f);
}

GE_TEST(covid_economy_the_subsidy_adds_to_the_states_product_by_population) {
  Nation plain, paid;
  plain.step(), paid.step(0, 0, 20);
  CHECK(near(double(paid.at("product") - plain.at("product")), kCalifornians * 20000 / 365, 1e-5));
  CHECK(paid.reward(kCalifornia) > plain.reward(kCalifornia));
  CHECK(paid.reward(kPlanner) != plain.reward(kPlanner));
}

GE_TEST(covid_economy_the_planner_pays_interest_on_the_subsidy) {
  // In the middle of the use of product, where more of it is worth more.
  Nation free({{"interest_rate", 0.0}}), dear({{"interest_rate", 1.0}});
  Nation none({{"interest_rate", 0.0}});
  free.step(0, 0, 5), dear.step(0, 0, 5), none.step();
  CHECK(near(double(free.reward(kPlanner)), double(none.reward(kPlanner)), 1e-4));
  CHECK(dear.reward(kPlanner) < free.reward(kPlanner));
  CHECK(dear.reward(kCalifornia) == free.reward(kCalifornia));
}

GE_TEST(covid_economy_deaths_cost_the_governor_and_the_planner) {
  Nation few, many;
  few.put("infected", 0), many.put("infected", 50000);
  few.step(1), many.step(1);
  for (size_t agent = 0; agent <= kPlanner; ++agent) CHECK(many.reward(agent) < few.reward(agent));
}

GE_TEST(covid_economy_an_episode_has_its_days_and_each_is_like_the_first) {
  Nation nation({}, 3);
  nation.steps(2);
  CHECK_EQ(int(nation.world.truncated()[0]), 0);
  nation.step();
  CHECK(nation.world.truncated()[0] == 1 && nation.world.truncated()[kPlanner] == 1);
  CHECK_EQ(int(nation.world.terminated()[kPlanner]), 0);
  CHECK(nation.seen(kPlanner, 54) == 1);
  nation.world.reset(2);
  const Nation fresh({}, 3);
  CHECK(nation.world.observation() == fresh.world.observation());
}

GE_TEST(covid_economy_factors_are_each_worlds_own) {
  Nation nation({{"beta_slope_spread", 0.5}, {"unemployment_spread", 0.25}}, 540, 40);
  const auto slopes = nation.world.get<float>("country.beta_slope");
  const auto jobs = nation.world.get<float>("country.unemployment");
  for (size_t k = 1; k < slopes.size(); ++k) CHECK(slopes[k] != slopes[0]);
  for (const float factor : jobs) CHECK(std::abs(factor - 1) <= 0.25f);
  for (const float factor : nation.world.get<float>("country.beta_intercept")) CHECK(factor == 1);
}

GE_TEST(covid_economy_real_policies_need_nobody) {
  Nation nation({{"real_policies", true}});
  nation.step(10, 10, 20);
  CHECK_EQ(nation.level(), 8);  // yesterday's
  CHECK_EQ(nation.subsidy(), 0);
  CHECK(nation.may(kCalifornia, 1) && nation.may(kPlanner, 20));
  nation.steps(24);
  CHECK_EQ(nation.subsidy(), 3);
  CHECK_EQ(nation.world->faults().illegal_actions, 0u);
}
