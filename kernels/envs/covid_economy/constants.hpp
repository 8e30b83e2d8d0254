// Constants of the states and of the country, which all worlds share: what presets.hpp makes of the
// data file and of the settings. Numbers of equations are those of docs/covid_economy.md.
#pragma once

#include "envs/covid_economy/settings.hpp"

namespace gpu_envs::envs::covid_economy {

/// Of a state: how the disease spreads.
struct Contagion {
  float per_person;        // 1 / population
  float intercept, slope;  // of the rate of transmission, over the level
  float doses;             // of a delivery
  static constexpr auto describe() {
    return fields(field("per_person", &Contagion::per_person, "1 / population"),
                  field("intercept", &Contagion::intercept, "rate of transmission at level 0"),
                  field("slope", &Contagion::slope, "its change per level"),
                  field("doses", &Contagion::doses, "of a delivery of vaccines"));
  }
};
/// Of a state: how its closures cost work.
struct Jobs {
  float weights[kResponses];  // [percent per level]
  float bias;                 // [percent of the population]
  float per_percent;          // people
  float workers;              // people of working age
  static constexpr auto describe() {
    return fields(field("weights", &Jobs::weights, "of the responses to a change, per level"),
                  field("bias", &Jobs::bias, "percentage of unemployed without closures"),
                  field("per_percent", &Jobs::per_percent, "people in a percent"),
                  field("workers", &Jobs::workers, "people of working age"));
  }
};
/// Of a state, or of the country: what its product and its deaths are worth to who governs it.
/// reward = zero - health * deaths + economy * (1 + (c^(1-eta) - 1) / (1-eta)) with c = product *
/// per_most in [0.1, 3]: the weighted sum of both normalised indices.
struct Worth {
  float per_most;  // 1 / product of a day at level 1 for ever [1/dollars]
  float paid;      // of a day per level of the subsidy [dollars]
  float zero, health, economy;
  static constexpr auto describe() {
    return fields(field("per_most", &Worth::per_most, "1 / product of a day without closures"),
                  field("paid", &Worth::paid, "subsidy of a day per level").in("dollars"),
                  field("zero", &Worth::zero, "reward at the zeros of both indices"),
                  field("health", &Worth::health, "reward lost per death"),
                  field("economy", &Worth::economy, "reward per unit of the economic index"));
  }
};
/// Of a state on 2020-03-22.
struct FirstDay {
  float susceptible, infected, removed, unemployed;  // people
  float responses[kResponses];
  static constexpr auto describe() {
    return fields(field("susceptible", &FirstDay::susceptible, "people"),
                  field("infected", &FirstDay::infected, "people"),
                  field("removed", &FirstDay::removed, "people"),
                  field("unemployed", &FirstDay::unemployed, "people"),
                  field("responses", &FirstDay::responses, "to all changes before, in levels"));
  }
};
/// What is the same everywhere.
struct Nature {
  float death_share;       // of those who were infected
  float recovery;          // share of the infected, a day
  float product;           // of a worker's day [dollars]
  float subsidy_cost;      // 1 + interest_rate
  float left[kResponses];  // of a response, a day later
  float tail[kResponses];  // of a response, 600 days later, when it ends
  static constexpr auto describe() {
    return fields(field("death_share", &Nature::death_share, "of those who were infected"),
                  field("recovery", &Nature::recovery, "share of the infected, a day"),
                  field("product", &Nature::product, "of a worker's day").in("dollars"),
                  field("subsidy_cost", &Nature::subsidy_cost, "to the planner, per dollar"),
                  field("left", &Nature::left, "of a response, a day later"),
                  field("tail", &Nature::tail, "of a response, 600 days later"));
  }
};

struct Assets {
  Asset<Contagion> contagion;
  Asset<Jobs> jobs;
  Asset<Worth> worth;  // of each state, then of the country
  Asset<FirstDay> first_day;
  Asset<Nature> nature;         // one
  Asset<uint8_t> history;       // level of each state, row by row
  Asset<uint8_t> leaves;        // row by row: whether some level changed then
  Asset<int32_t> real_subsidy;  // by day
};

}  // namespace gpu_envs::envs::covid_economy
