// What a user sets (Settings) and what the rules read of it (Params). Some settings enter the
// constants of states and country instead: presets.hpp.
#pragma once

#include <string>

#include "engine/environment.hpp"

namespace gpu_envs::envs::covid_economy {

using namespace ge;

/// 50 states and Washington, D.C. (8), in alphabetical order.
inline constexpr int kStates = 51;
inline constexpr int kLevels = 10;         // of closure, from 1
inline constexpr int kSubsidyLevels = 20;  // besides none
inline constexpr int kResponses = 5;       // of unemployment to a change, by how fast they fade
inline constexpr int kWindow = 600;        // days for which a change is felt
inline constexpr int kFirstRow = 81;       // of the history: 2020-03-22, day 0; row 0 is 2020-01-01
/// Days from a level to its effect on transmission.
inline constexpr int kDelay = 29;

/// What may differ by world. Other numbers enter the constants of states and country.
struct Varied {
  float sick_share = 0.1f;
  int32_t action_cooldown = 28;
  float beta_intercept_factor = 1.0f, beta_slope_factor = 1.0f, unemployment_factor = 1.0f;
  float beta_intercept_spread = 0.0f, beta_slope_spread = 0.0f, unemployment_spread = 0.0f;

  const char* problem() const {
    if (beta_intercept_spread > beta_intercept_factor)
      return "beta_intercept_spread must be at most beta_intercept_factor, or factors below 0 "
             "would be drawn";
    if (beta_slope_spread > beta_slope_factor)
      return "beta_slope_spread must be at most beta_slope_factor, or factors below 0 would be "
             "drawn";
    if (unemployment_spread > unemployment_factor)
      return "unemployment_spread must be at most unemployment_factor, or factors below 0 would be "
             "drawn";
    return nullptr;
  }
  static constexpr auto describe_people() {
    return fields(
        field("sick_share", &Varied::sick_share, "share of the infected who are too sick to work")
            .within(0, 1),
        field("action_cooldown", &Varied::action_cooldown,
              "days from a governor's choice of a level to the next one")
            .in("days")
            .within(1, 10000));
  }
  static constexpr auto describe_factors() {
    return fields(field("beta_intercept_factor", &Varied::beta_intercept_factor,
                        "factor of the transmission rate without closures")
                      .within(0, 10)
                      .from_reset(),
                  field("beta_intercept_spread", &Varied::beta_intercept_spread,
                        "half width of the range around beta_intercept_factor from which each "
                        "episode draws; 0: no draw")
                      .within(0, 10)
                      .from_reset(),
                  field("beta_slope_factor", &Varied::beta_slope_factor,
                        "factor of what a level takes off the transmission rate")
                      .within(0, 10)
                      .from_reset(),
                  field("beta_slope_spread", &Varied::beta_slope_spread,
                        "half width of the range around beta_slope_factor from which each episode "
                        "draws; 0: no draw")
                      .within(0, 10)
                      .from_reset(),
                  field("unemployment_factor", &Varied::unemployment_factor,
                        "factor of how much closures change unemployment")
                      .within(0, 10)
                      .from_reset(),
                  field("unemployment_spread", &Varied::unemployment_spread,
                        "half width of the range around unemployment_factor from which each "
                        "episode draws; 0: no draw")
                      .within(0, 10)
                      .from_reset());
  }
  static constexpr auto describe() { return std::tuple_cat(describe_people(), describe_factors()); }
};

struct Settings : Varied {
  float health_priority_governors = 0.3f, health_priority_planner = 0.45f;
  float crra_eta = 2.0f, interest_rate = 0.03f, reward_divisor = 1.0f;
  float working_age_share = 0.6f;
  bool enforce_masks = true;
  int32_t subsidy_interval = 90, subsidy_levels = kSubsidyLevels;
  float max_annual_subsidy = 20000.0f;
  float vaccines_per_million = 3000.0f;
  int32_t vaccine_interval = 1;
  std::string vaccine_start = "2021-01-12";
  bool real_policies = false;

  static constexpr auto describe_rewards() {
    return fields(
        field("health_priority_governors", &Settings::health_priority_governors,
              "factor of the weight of health against the economy that each governor's real policy "
              "showed; 0: only the economy counts")
            .within(0, 1e6),
        field("health_priority_planner", &Settings::health_priority_planner,
              "factor of the weight of health against the economy for the planner; 0: only the "
              "economy counts")
            .within(0, 1e6),
        field("crra_eta", &Settings::crra_eta,
              "exponent of diminishing returns: how fast more product is worth less; in [0, 20), "
              "not within 0.01 of 1")
            .within(0, 20),
        field("interest_rate", &Settings::interest_rate,
              "interest on the subsidy, as a share of it, that the planner pays besides")
            .within(0, 1),
        field("reward_divisor", &Settings::reward_divisor, "divides all rewards").within(1e-6, 1e6),
        field("working_age_share", &Settings::working_age_share,
              "share of the population that is of working age")
            .within(0.1, 1));
  }
  static constexpr auto describe_policies() {
    return fields(field("enforce_masks", &Settings::enforce_masks,
                        "true: a level chosen during the cooldown is ignored; false: it holds and "
                        "leaves the cooldown as it is, as in the original"),
                  field("subsidy_interval", &Settings::subsidy_interval,
                        "days from one decision of the planner to the next")
                      .in("days")
                      .within(1, 10000),
                  field("subsidy_levels", &Settings::subsidy_levels,
                        "number of equal steps up to max_annual_subsidy; higher actions are masked "
                        "and count as 0")
                      .within(1, kSubsidyLevels),
                  field("max_annual_subsidy", &Settings::max_annual_subsidy,
                        "subsidy per person at the highest level")
                      .in("dollars/year")
                      .within(0, 1e6),
                  field("vaccines_per_million", &Settings::vaccines_per_million,
                        "doses of vaccine a day per million people")
                      .within(0, 1e6),
                  field("vaccine_interval", &Settings::vaccine_interval,
                        "days from one delivery of vaccines to the next")
                      .in("days")
                      .within(1, 10000),
                  field("vaccine_start", &Settings::vaccine_start,
                        "date before which no vaccines come, 2020-03-22 to 2029-12-31; deliveries "
                        "are on multiples of vaccine_interval, counted in days from 2020-03-22"),
                  field("real_policies", &Settings::real_policies,
                        "true: replay the real levels and subsidies and ignore all actions; from "
                        "day 438 on the levels stay as on 2021-06-01"));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_rewards(), describe_people(), describe_policies(),
                          describe_factors());
  }
};

/// What is the same in all worlds.
struct Params {
  int32_t enforce_masks;
  int32_t subsidy_interval, subsidy_levels;
  int32_t vaccine_interval, vaccine_day;
  int32_t first_delivery;  // the multiple of vaccine_interval that the vaccines' clock runs to
  int32_t real_policies;
  float exponent;  // 1 - crra_eta
  float working_age_share;
};

[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(Fault::value, message);
}

/// Days from 2020-03-22 to a date of the Gregorian calendar, "2021-01-12".
inline int day_of(const std::string& text) {
  constexpr const char* kWanted =
      " must be a date from 2020-03-22 to 2029-12-31, such as '2021-01-12', got '";
  const auto bad = [&] { refuse("vaccine_start" + std::string(kWanted) + text + "'"); };
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') bad();
  int number[3] = {};
  constexpr int kFirst[] = {0, 5, 8}, kLength[] = {4, 2, 2};
  for (int part = 0; part < 3; ++part)
    for (int k = 0; k < kLength[part]; ++k) {
      const char digit = text[size_t(kFirst[part] + k)];
      if (digit < '0' || digit > '9') bad();
      number[part] = 10 * number[part] + (digit - '0');
    }
  const int year = number[0], month = number[1], day = number[2];
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  const int lengths[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 2020 || year > 2029 || month < 1 || month > 12 || day < 1 || day > lengths[month - 1])
    bad();
  int days = day - 1 - kFirstRow;
  for (int y = 2020; y < year; ++y) days += y % 4 == 0 ? 366 : 365;
  for (int m = 1; m < month; ++m) days += lengths[m - 1];
  if (days < 0) bad();
  return days;
}

inline Params resolve_settings(const Settings& s) {
  Params p{};
  if (s.crra_eta >= 20.0f || (s.crra_eta > 0.99f && s.crra_eta < 1.01f))
    refuse(
        "crra_eta must be in [0, 20) and not within 0.01 of 1, where the formula divides by 0; "
        "got " +
        std::to_string(s.crra_eta));
  p.exponent = 1.0f - s.crra_eta;
  p.enforce_masks = s.enforce_masks;
  p.subsidy_interval = s.subsidy_interval, p.subsidy_levels = s.subsidy_levels;
  p.vaccine_interval = s.vaccine_interval, p.vaccine_day = day_of(s.vaccine_start);
  p.first_delivery = (p.vaccine_day + s.vaccine_interval - 1) / s.vaccine_interval;
  p.first_delivery *= s.vaccine_interval;
  p.real_policies = s.real_policies;
  p.working_age_share = s.working_age_share;
  return p;
}

}  // namespace gpu_envs::envs::covid_economy
