// The picture: the states as tiles of one size, roughly where they lie, each as blue as it is
// closed, with a bar for the infected and one for the unemployed; beside them the country's curves.
// Host only.
#pragma once

#include "envs/covid_economy/text.hpp"
#include "pictures/scene.hpp"

namespace gpu_envs::envs::covid_economy {

namespace look {

inline constexpr Rgb kOpen = rgb(0xe3ebf5), kClosed = rgb(0x123c7c), kInk = rgb(0x1d2530);
inline constexpr Rgb kInfected = rgb(0xd0342c), kUnemployed = rgb(0xd98200),
                     kDeaths = rgb(0x2b2b2b);
inline constexpr Rgb kClosure = rgb(0x2a62b8), kPaid = rgb(0x2c8a4b), kWhite = rgb(0xffffff);
/// Shares of a state's population at which its bars are full.
inline constexpr float kMostInfected = 0.05f, kMostUnemployed = 0.3f;
/// Where the map's upper left corner is, and how large the picture [tiles].
inline constexpr float kLeft = 0.2f, kTop = 9.22f, kWide = 18, kTall = 10.125f;

inline Rgb of_level(int level) {
  const float closed = float(level - 1) / float(kLevels - 1), open = 1 - closed;
  return {open * kOpen.red + closed * kClosed.red, open * kOpen.green + closed * kClosed.green,
          open * kOpen.blue + closed * kClosed.blue};
}
inline Plate plate(float x, float y, float wide, float tall, Rgb colour) {
  return {{x, y}, {x + wide, y + tall}, colour, 1};
}
inline void write(Board& board, std::string text, float x, float y, float height, Rgb colour = kInk,
                  int32_t anchor = Caption::kLeft, float weight = 1.1f) {
  board.captions.push_back({std::move(text), x, y, height, colour, anchor, weight});
}
/// A bar over a white ground, full at 1.
inline void bar(Board& board, float x, float y, float wide, float tall, float share, Rgb colour) {
  board.plates.push_back(plate(x, y, wide, tall, kWhite));
  board.plates.push_back(plate(x, y, wide * clamp(share, 0.0f, 1.0f), tall, colour));
}

/// A tile whose lower left corner is at (x, y); its letters are the state's, or say what is shown.
inline void tile(Board& board, float x, float y, const std::string& letters, int level,
                 float infected, float unemployed) {
  const Rgb ink = level >= 6 ? kWhite : kInk;
  board.plates.push_back(plate(x + 0.03f, y + 0.03f, 0.94f, 0.94f, of_level(level)));
  write(board, letters, x + 0.1f, y + 0.62f, 0.23f, ink, Caption::kLeft, 1.4f);
  write(board, std::to_string(level), x + 0.9f, y + 0.62f, 0.21f, ink, Caption::kRight, 1.1f);
  bar(board, x + 0.1f, y + 0.31f, 0.8f, 0.16f, infected / kMostInfected, kInfected);
  bar(board, x + 0.1f, y + 0.11f, 0.8f, 0.16f, unemployed / kMostUnemployed, kUnemployed);
}

/// "1,234,567"
inline std::string in_thousands(double number) {
  std::string digits = std::to_string(int64_t(number + 0.5));
  for (int at = int(digits.size()) - 3; at > 0; at -= 3) digits.insert(size_t(at), ",");
  return digits;
}
/// "6.5"
inline std::string in_tenths(double number) {
  const auto tenths = int64_t(number * 10 + 0.5);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}
/// "22 March 2020"
inline std::string day_in_words(int64_t day) {
  static constexpr const char* kMonths[] = {"January",   "February", "March",    "April",
                                            "May",       "June",     "July",     "August",
                                            "September", "October",  "November", "December"};
  const Date date = date_of(day);
  return std::to_string(date.day) + " " + kMonths[date.month - 1] + " " + std::to_string(date.year);
}

/// What tiles show, on a tile of its own, and the colours of the levels.
inline void legend(Board& board) {
  const float x = kLeft, y = 0.1f;
  tile(board, x, y, "CA", 4, 0.6f * kMostInfected, 0.6f * kMostUnemployed);
  write(board, "state, and level of closure", x + 1.15f, y + 0.62f, 0.19f);
  write(board, "infected: full from 5 % of its people on", x + 1.15f, y + 0.32f, 0.19f, kInfected);
  write(board, "unemployed: full from 30 % on", x + 1.15f, y + 0.04f, 0.19f, kUnemployed);
  write(board, "open", 6.9f, y + 0.62f, 0.19f);
  write(board, "closed", 11.2f, y + 0.62f, 0.19f, kInk, Caption::kRight);
  for (int level = 1; level <= kLevels; ++level) {
    const float left = 6.9f + 0.43f * float(level - 1);
    board.plates.push_back(plate(left, y + 0.1f, 0.41f, 0.42f, of_level(level)));
    write(board, std::to_string(level), left + 0.205f, y + 0.21f, 0.19f, level >= 6 ? kWhite : kInk,
          Caption::kMiddle);
  }
}

inline Curve curve(std::string label, double now, Rgb colour) {
  return {std::move(label), float(now), colour, {}};
}

}  // namespace look

void draw_states(const auto& w, Board& board) {
  for (int i = 0; i < kStates; ++i) {
    const float per_person = row_of(w.assets().contagion, i).per_person;
    look::tile(board, look::kLeft + float(kMap[i].column), look::kTop - 1 - float(kMap[i].row),
               kMap[i].letters, get<Governors, Closure>(w, i).level,
               get<Governors, Epidemic>(w, i).infected * per_person,
               get<Governors, Labour>(w, i).unemployed * per_person);
  }
}

void draw_curves(const auto& w, const Totals& sum, Board& board) {
  const int level = get<Subsidy>(w).level, most = w.params().subsidy_levels;
  const double closure = sum.closure / sum.people;
  const Curve curves[] = {
      look::curve(look::in_thousands(sum.died), sum.died, look::kDeaths),
      look::curve(percent(sum.infected / sum.people), 100 * sum.infected / sum.people,
                  look::kInfected),
      look::curve(percent(sum.unemployed / sum.people), 100 * sum.unemployed / sum.people,
                  look::kUnemployed),
      look::curve(look::in_tenths(closure), closure, look::kClosure),
      look::curve(std::to_string(level) + " of " + std::to_string(most), level, look::kPaid)};
  const char* const titles[] = {"Deaths", "Infected", "Unemployed", "Closure, mean over people",
                                "Federal subsidy"};
  const float tops[] = {100000, 1, 20, float(kLevels), float(most)};
  const char* const units[] = {"", " %", " %", "", ""};
  for (int k = 0; k < 5; ++k) {
    Chart chart;
    const float low = 7.75f - 1.78f * float(k);
    chart.low[0] = 11.9f, chart.high[0] = 17.7f, chart.low[1] = low, chart.high[1] = low + 1.2f;
    chart.title = titles[k], chart.top = tops[k], chart.unit = units[k];
    chart.last_step = float(w.max_steps());
    chart.curves.push_back(curves[k]);
    board.charts.push_back(std::move(chart));
  }
  const int64_t last = w.max_steps() > 0 ? int64_t{w.max_steps()} : max(100, day(w));
  look::write(board, look::day_in_words(0), 11.9f, 0.3f, 0.17f);
  look::write(board, look::day_in_words(last), 17.7f, 0.3f, 0.17f, look::kInk, Caption::kRight);
}

Scene map_scene(const auto& w) {
  Board board;
  board.high[0] = look::kWide, board.high[1] = look::kTall;
  draw_states(w, board);
  const Totals sum = totals_of(w);
  draw_curves(w, sum, board);
  look::legend(board);
  look::write(board, look::day_in_words(day(w)), 0.25f, 9.47f, 0.4f, look::kInk, Caption::kLeft,
              1.4f);
  const std::string last = w.max_steps() == 0 ? "" : " of " + std::to_string(w.max_steps());
  look::write(board, "day " + std::to_string(day(w)) + last, 11.2f, 9.47f, 0.28f, look::kInk,
              Caption::kRight);
  look::write(board, "All states", 11.9f, 9.47f, 0.28f, look::kInk, Caption::kLeft, 1.4f);
  look::write(board, "vaccinated " + percent(sum.vaccinated / sum.people), 17.7f, 9.47f, 0.21f,
              look::kInk, Caption::kRight);
  look::write(board, "a model to play with, no forecast", 0.25f, 0.3f, 0.17f);
  Scene scene;
  scene.board = std::move(board);
  return scene;
}

}  // namespace gpu_envs::envs::covid_economy
