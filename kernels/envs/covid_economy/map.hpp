// For people: the states as tiles of one size, roughly where they lie. As a picture each tile is as
// blue as its state is closed, with a red disc for the infected and a yellow square for the
// unemployed; as text it is the state's letters and its level. Host only.
#pragma once

#include <string>

#include "envs/covid_economy/rules.hpp"
#include "pictures/scene.hpp"

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
};
template <class T>
Totals totals_of(const W<T>& w) {
  Totals sum;
  const double death_share = double(row_of(w.assets().nature, 0).death_share);
  for (int i = 0; i < kStates; ++i) {
    const Epidemic epidemic = w.template get<Governors, Epidemic>(i);
    sum.people += 1.0 / double(row_of(w.assets().contagion, i).per_person);
    sum.infected += double(epidemic.infected), sum.vaccinated += double(epidemic.vaccinated);
    sum.died += death_share * double(epidemic.removed);
    sum.unemployed += double(w.template get<Governors, Labour>(i).unemployed);
    sum.product += double(w.template get<Governors, Economy>(i).product);
  }
  return sum;
}

/// Between two colours.
inline Rgb blended(Rgb from, Rgb to, float share) {
  return {from.red + (to.red - from.red) * share, from.green + (to.green - from.green) * share,
          from.blue + (to.blue - from.blue) * share};
}

template <class T>
Scene map_scene(const W<T>& w) {
  Board board = Board::of_cells(kMapColumns, kMapRows);
  board.cell = 0;
  for (int i = 0; i < kStates; ++i) {
    const MapTile tile = kMap[i];
    const float per_person = row_of(w.assets().contagion, i).per_person;
    const float closed =
        float(w.template get<Governors, Closure>(i).level - 1) / float(kLevels - 1);
    board.put(tile.column, tile.row, Piece::kSquare, 0.47f,
              blended(palette::kFloorSquare, palette::kBlue, closed));
    // Areas are shares of the population: a disc fills its tile at 10 %, a square at 25 %.
    const float infected = w.template get<Governors, Epidemic>(i).infected * per_person;
    const float idle = w.template get<Governors, Labour>(i).unemployed * per_person;
    Piece& sick = board.put(tile.column, tile.row, Piece::kDisc,
                            min(0.45f, 0.45f * sqrt(10.0f * infected)), palette::kRed);
    sick.opacity = 0.8f;
    Piece& jobless = board.put(tile.column, tile.row, Piece::kSquare,
                               min(0.2f, 0.2f * sqrt(4.0f * idle)), palette::kBox);
    jobless.x += 0.24f, jobless.y -= 0.24f;
  }
  Scene scene;
  scene.board = std::move(board);
  return scene;
}

// ---- as text

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
/// "2020-03-22" for day 0.
inline std::string date_of(int day) {
  int year = 2020, month = 1, left = day + kFirstRow;
  const auto two = [](int number) { return (number < 10 ? "-0" : "-") + std::to_string(number); };
  for (;; ++month) {
    if (month > 12) month = 1, ++year;
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    const int lengths[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (left < lengths[month - 1]) return std::to_string(year) + two(month) + two(left + 1);
    left -= lengths[month - 1];
  }
}

template <class T>
std::string map_text(const W<T>& w, int viewer) {
  std::string tiles[kMapRows][kMapColumns];
  for (int i = 0; i < kStates; ++i) {
    const int level = w.template get<Governors, Closure>(i).level;
    tiles[kMap[i].row][kMap[i].column] = std::string(i == viewer ? ">" : " ") + kMap[i].letters +
                                         (level < 10 ? " " : "") + std::to_string(level);
  }
  std::string text = date_of(day(w)) + ", day " + std::to_string(day(w)) +
                     (w.max_steps() == 0 ? "" : " of " + std::to_string(w.max_steps())) +
                     "; closure of each state, 1 open to 10 closed\n";
  for (const auto& row : tiles) {
    std::string line;
    for (const std::string& tile : row) line += tile.empty() ? std::string(6, ' ') : tile + " ";
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  const Totals sum = totals_of<T>(w);
  return text + "infected " + percent(sum.infected / sum.people) + ", died " +
         std::to_string(int64_t(sum.died + 0.5)) + ", vaccinated " +
         percent(sum.vaccinated / sum.people) + ", unemployed " +
         percent(sum.unemployed / sum.people) + "\nsubsidy " +
         std::to_string(w.template get<Subsidy>().level) + " of " +
         std::to_string(w.params().subsidy_levels) + ", product of the day " +
         in_millions(sum.product) + " dollars\n";
}

}  // namespace gpu_envs::envs::covid_economy
