// Where the states lie on a map of tiles of one size, for pictures and texts. Host only.
#pragma once

#include "envs/covid_economy/rules.hpp"

namespace gpu_envs::envs::covid_economy {

struct MapTile {
  const char* letters;
  int column, row;
};
inline constexpr int kMapColumns = 11, kMapRows = 8;
inline constexpr MapTile kMap[kStates] = {
    {"AL", 6, 6}, {"AK", 0, 0},  {"AZ", 1, 5}, {"AR", 4, 5},  {"CA", 0, 4}, {"CO", 2, 4},
    {"CT", 9, 3}, {"DE", 9, 4},  {"DC", 8, 5}, {"FL", 8, 7},  {"GA", 7, 6}, {"HI", 0, 7},
    {"ID", 1, 2}, {"IL", 5, 2},  {"IN", 5, 3}, {"IA", 4, 3},  {"KS", 3, 5}, {"KY", 5, 4},
    {"LA", 4, 6}, {"ME", 10, 0}, {"MD", 8, 4}, {"MA", 9, 2},  {"MI", 6, 2}, {"MN", 4, 2},
    {"MS", 5, 6}, {"MO", 4, 4},  {"MT", 2, 2}, {"NE", 3, 4},  {"NV", 1, 3}, {"NH", 10, 1},
    {"NJ", 8, 3}, {"NM", 2, 5},  {"NY", 8, 2}, {"NC", 6, 5},  {"ND", 3, 2}, {"OH", 6, 3},
    {"OK", 3, 6}, {"OR", 0, 3},  {"PA", 7, 3}, {"RI", 10, 3}, {"SC", 7, 5}, {"SD", 3, 3},
    {"TN", 5, 5}, {"TX", 3, 7},  {"UT", 1, 4}, {"VT", 9, 1},  {"VA", 7, 4}, {"WA", 0, 2},
    {"WV", 6, 4}, {"WI", 5, 1},  {"WY", 2, 3}};

/// Sums over the states.
struct Totals {
  double people = 0, infected = 0, died = 0, vaccinated = 0, unemployed = 0, product = 0;
  double closure = 0;  // levels, times people
};
Totals totals_of(const auto& w) {
  Totals sum;
  const double death_share = double(row_of(w.assets().nature, 0).death_share);
  for (int i = 0; i < kStates; ++i) {
    const Epidemic epidemic = get<Governors, Epidemic>(w, i);
    const double people = 1.0 / double(row_of(w.assets().contagion, i).per_person);
    sum.people += people;
    sum.closure += people * double(get<Governors, Closure>(w, i).level);
    sum.infected += double(epidemic.infected), sum.vaccinated += double(epidemic.vaccinated);
    sum.died += death_share * double(epidemic.removed);
    sum.unemployed += double(get<Governors, Labour>(w, i).unemployed);
    sum.product += double(get<Governors, Economy>(w, i).product);
  }
  return sum;
}

}  // namespace gpu_envs::envs::covid_economy
