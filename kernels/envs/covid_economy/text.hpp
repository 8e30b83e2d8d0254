// For terminals: the same map, a state's letters and its level, and the country's numbers.
// Host only.
#pragma once

#include <string>

#include "envs/covid_economy/layout.hpp"

namespace gpu_envs::envs::covid_economy {

/// A level of closure or of the subsidy; 0 keeps a closure and pays nothing.
template <class Params>
std::string choice_name(const Params&, int choice) {
  return choice == 0 ? "none" : "level " + std::to_string(choice);
}

/// "12.3 million"
inline std::string in_millions(double number) {
  const auto tenths = int64_t(number / 1e5 + 0.5);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " million";
}
inline std::string percent(double share) {
  const auto hundredths = int64_t(share * 1e4 + 0.5);
  const std::string rest = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + "." + (rest.size() < 2 ? "0" : "") + rest + " %";
}
struct Date {
  int64_t year;
  int month, day;
};
/// 22 March 2020 for day 0.
inline Date date_of(int64_t day) {
  constexpr int64_t kCycle = 146097;  // days of 400 years
  int64_t left = day + kFirstRow, year = 2020 + 400 * (left / kCycle);
  left %= kCycle;
  for (int month = 1;; ++month) {
    if (month > 12) month = 1, ++year;
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const int lengths[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (left < lengths[month - 1]) return {year, month, int(left) + 1};
    left -= lengths[month - 1];
  }
}
/// "2020-03-22"
inline std::string date_in_digits(int64_t day) {
  const auto two = [](int number) { return (number < 10 ? "-0" : "-") + std::to_string(number); };
  const Date date = date_of(day);
  return std::to_string(date.year) + two(date.month) + two(date.day);
}

std::string map_text(const auto& w, int viewer) {
  std::string tiles[kMapRows][kMapColumns];
  for (int i = 0; i < kStates; ++i) {
    const int level = get<Governors, Closure>(w, i).level;
    tiles[kMap[i].row][kMap[i].column] = std::string(i == viewer ? ">" : " ") + kMap[i].letters +
                                         (level < 10 ? " " : "") + std::to_string(level);
  }
  std::string text = date_in_digits(day(w)) + ", day " + std::to_string(day(w)) +
                     (w.max_steps() == 0 ? "" : " of " + std::to_string(w.max_steps())) +
                     "; closure of each state, 1 open to 10 closed\n";
  for (const auto& row : tiles) {
    std::string line;
    for (const std::string& tile : row) line += tile.empty() ? std::string(6, ' ') : tile + " ";
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  const Totals sum = totals_of(w);
  return text + "infected " + percent(sum.infected / sum.people) + ", died " +
         std::to_string(int64_t(sum.died + 0.5)) + ", vaccinated " +
         percent(sum.vaccinated / sum.people) + ", unemployed " +
         percent(sum.unemployed / sum.people) + "\nsubsidy " +
         std::to_string(get<Subsidy>(w).level) + " of " +
         std::to_string(w.params().subsidy_levels) + ", product of the day " +
         in_millions(sum.product) + " dollars (a model to play with, no forecast)\n";
}

}  // namespace gpu_envs::envs::covid_economy
