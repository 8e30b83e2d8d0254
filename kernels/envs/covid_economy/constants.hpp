// Constants of the states and of the country, shared by all worlds; presets.hpp computes them from
// the data file and the settings. Steps of a day are those of docs/covid_economy.md.
#pragma once

#include "envs/covid_economy/settings.hpp"

namespace gpu_envs::envs::covid_economy {

/// How the disease spreads in a state.
struct Contagion {
  float per_person;        // 1 / population
  float intercept, slope;  // of the line: transmission rate over level
  float doses;             // in one delivery
  static constexpr auto describe() {
    return fields(field("per_person", &Contagion::per_person, "reciprocal of the population"),
                  field("intercept", &Contagion::intercept, "transmission rate at level 0"),
                  field("slope", &Contagion::slope, "change of the transmission rate per level"),
                  field("doses", &Contagion::doses, "doses in one delivery of vaccines"));
  }
};
/// How closures cost jobs in a state.
struct Jobs {
  float weights[kResponses];  // [percent per level]
  float bias;                 // [percent of the population]
  float per_percent;          // people
  float workers;              // people of working age
  static constexpr auto describe() {
    return fields(
        field("weights", &Jobs::weights, "weights of the five responses to a change of the level"),
        field("bias", &Jobs::bias, "unemployed without closures, in percent of the population"),
        field("per_percent", &Jobs::per_percent, "people per percent of the population"),
        field("workers", &Jobs::workers, "people of working age"));
  }
};
/// What product and deaths of a state, or of the country, are worth to its governor or planner.
/// reward = zero - health * deaths + economy * (1 + (c^(1-eta) - 1) / (1-eta)) with c = product *
/// per_most in [0.1, 3]: the weighted sum of both normalised indices.
struct Worth {
  float per_most;  // 1 / product of a day at level 1 for ever [1/dollars]
  float paid;      // of a day per level of the subsidy [dollars]
  float zero, health, economy;
  static constexpr auto describe() {
    return fields(
        field("per_most", &Worth::per_most, "reciprocal of the product of a day without closures"),
        field("paid", &Worth::paid, "subsidy of one day per level").in("dollars"),
        field("zero", &Worth::zero, "reward where both indices are 0"),
        field("health", &Worth::health, "reward lost per death"),
        field("economy", &Worth::economy, "reward per unit of the economic index"));
  }
};
/// A state on day 0, 2020-03-22.
struct FirstDay {
  float susceptible, infected, removed, unemployed;  // people
  float responses[kResponses];
  static constexpr auto describe() {
    return fields(field("susceptible", &FirstDay::susceptible, "people who can be infected"),
                  field("infected", &FirstDay::infected, "people who are infected"),
                  field("removed", &FirstDay::removed, "people who recovered or died"),
                  field("unemployed", &FirstDay::unemployed, "people out of work"),
                  field("responses", &FirstDay::responses,
                        "responses of unemployment to all changes before day 0"));
  }
};
/// Constants that all states share.
struct Nature {
  float death_share;       // of the removed
  float recovery;          // share of the infected per day
  float product;           // of a worker's day [dollars]
  float subsidy_cost;      // 1 + interest_rate
  float left[kResponses];  // of a response, a day later
  float tail[kResponses];  // of a response, 600 days later, when it ends
  static constexpr auto describe() {
    return fields(
        field("death_share", &Nature::death_share, "share of the infected who die"),
        field("recovery", &Nature::recovery, "share of the infected who recover or die in a day"),
        field("product", &Nature::product, "product of one worker in a day").in("dollars"),
        field("subsidy_cost", &Nature::subsidy_cost, "cost to the planner of a dollar of subsidy"),
        field("left", &Nature::left, "share of each response that is left a day later"),
        field("tail", &Nature::tail,
              "share of each response that is left 600 days later, when it ends"));
  }
};

struct Assets {
  Asset<Contagion> contagion;
  Asset<Jobs> jobs;
  Asset<Worth> worth;  // of each state, then of the country
  Asset<FirstDay> first_day;
  Asset<Nature> nature;         // one row
  Asset<uint8_t> history;       // level of each state, row by row
  Asset<uint8_t> leaves;        // per row of the history: 1 where some level changed
  Asset<int32_t> real_subsidy;  // level per day
};

}  // namespace gpu_envs::envs::covid_economy
