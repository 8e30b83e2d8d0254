// Layouts: the named ones, reading of a text, and checks that a kitchen can be played. Host only.
#pragma once

#include <algorithm>
#include <vector>

#include "envs/overcooked/settings.hpp"

namespace gpu_envs::envs::overcooked {

struct NamedLayout {
  const char* name;
  const char* text;
  const char *orders, *bonus_orders;
  int onion_value, tomato_value, onion_time, tomato_time;  // 0: not given
};

inline constexpr NamedLayout kLayouts[] = {
    {"cramped_room", "XXPXX\nO  2O\nX1  X\nXDXSX", "OOO", "", 0, 0, 0, 0},
    {"asymmetric_advantages", "XXXXXXXXX\nO XSXOX S\nX   P 1 X\nX2  P   X\nXXXDXDXXX", "OOO", "", 0,
     0, 0, 0},
    {"coordination_ring", "XXXPX\nX 1 P\nD2X X\nO   X\nXOSXX", "OOO", "", 0, 0, 0, 0},
    {"forced_coordination", "XXXPX\nO X1P\nO2X X\nD X X\nXXXSX", "OOO", "", 0, 0, 0, 0},
    {"counter_circuit", "XXXPPXXX\nX  2   X\nD XXXX S\nX  1   X\nXXXOOXXX", "OOO", "", 0, 0, 0, 0},
    {"many_player",
     "XXXXXXXXXXXXXXX\nX1  2  3  4  5X\nS TX PX OX DX S\nX6  7  8  9  0X\nS TX PX OX DX S\n"
     "X!  @  #  $  %X\nS TX PX OX DX S\nX^  &  *  (  )X\nS TX PX OX DX S\nXa  b  c  d  eX\n"
     "S TX PX OX DX S\nXf  g  h  i  jX\nS TX PX OX DX S\nXk  l  m  n  oX\nS TX PX OX DX S\n"
     "Xp  q  r  s  tX\nXXXXXXXXXXXXXXX",
     "OOO,OOT,TTT,T", "TTT,OOT", 21, 13, 15, 7},
    {"multiplayer_schelling", "XXSPDXX\nX  1  X\nX  X  X\nO3   4O\nX  X  X\nX  2  X\nXXDPSXX",
     "OOO", "", 0, 0, 0, 0},
};

/// Starts, by player.
inline constexpr const char* kStartMarks = "1234567890!@#$%^&*()abcdefghijklmnopqrst";
/// Places, by Place.
inline constexpr const char* kPlaceMarks = " XPOTDS";

/// A layout as its text says it; cells in reading order.
struct Floorplan {
  int width = 0, height = 0, first_line = 1;
  std::vector<uint8_t> grid;
  std::vector<int> starts;  // cell of each player, -1 where there is none

  /// "line 3, column 1", as in the text.
  std::string where(int cell) const {
    return "line " + std::to_string(first_line + cell / width) + ", column " +
           std::to_string(cell % width + 1);
  }
};

// ---- finding the text

inline std::string layout_names() {
  std::string names;
  for (const NamedLayout& layout : kLayouts) {
    if (!names.empty()) names += ", ";
    names += layout.name;
  }
  return names;
}

constexpr size_t kMostBytes = 65536;  // of a text

/// The text in a file. The name may be anything, so only a regular file is read, and no more of it
/// than a layout can have.
inline std::string read_layout_file(const std::string& path) {
  std::vector<std::byte> content;
  if (!read_file(path, content, kMostBytes + 1).empty())
    refuse("layout: '" + path.substr(0, path.find('\0')) + "' is neither a layout (" +
           layout_names() + ") nor a file that can be read; a text has several lines");
  if (content.size() > kMostBytes)
    refuse("layout: the file '" + path + "' is longer than " + std::to_string(kMostBytes) +
           " bytes: not a layout");
  if (content.empty()) refuse("layout: the file '" + path + "' is empty");
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

/// The text of the layout. A named one brings its own orders, values and times where none are
/// given.
inline std::string find_layout(Settings& s) {
  if (s.layout.find('\n') != std::string::npos) {
    if (s.layout.size() > kMostBytes)
      refuse("layout: a text of " + std::to_string(s.layout.size()) + " bytes, at most " +
             std::to_string(kMostBytes) + " are read");
    return s.layout;
  }
  for (const NamedLayout& layout : kLayouts) {
    if (s.layout != layout.name) continue;
    // Before the orders are filled in: bonuses of the layout belong to its own orders.
    if (s.orders.empty() && s.bonus_orders.empty()) s.bonus_orders = layout.bonus_orders;
    if (s.orders.empty()) s.orders = layout.orders;
    if (s.recipe_values.empty() && s.onion_value == 0 && s.tomato_value == 0)
      s.onion_value = layout.onion_value, s.tomato_value = layout.tomato_value;
    if (s.cook_time == 0 && s.recipe_times.empty() && s.onion_time == 0 && s.tomato_time == 0)
      s.onion_time = layout.onion_time, s.tomato_time = layout.tomato_time;
    return layout.text;
  }
  s.layout = read_layout_file(s.layout);
  return s.layout;
}

// ---- reading it

/// Lines without their ends (\n or \r\n), empty ones at both ends left out; `first` becomes the
/// number of the first that is kept.
inline std::vector<std::string> layout_lines(const std::string& text, int& first) {
  std::vector<std::string> lines;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = text.find('\n', at) == std::string::npos ? text.size() : text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    if (!lines.back().empty() && lines.back().back() == '\r') lines.back().pop_back();
    at = end + 1;
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  const auto begins = std::find_if(lines.begin(), lines.end(),
                                   [](const std::string& line) { return !line.empty(); });
  first = 1 + int(begins - lines.begin());
  lines.erase(lines.begin(), begins);
  if (lines.empty()) refuse("layout: the text has no cells");
  return lines;
}

inline std::string counted(size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

inline std::string shown(char c) {
  if (c >= ' ' && c <= '~') return std::string("'") + c + "'";
  constexpr const char* kDigits = "0123456789abcdef";
  return std::string("0x") + kDigits[uint8_t(c) >> 4] + kDigits[uint8_t(c) & 15];
}

inline int mark_index(const char* marks, char c) {
  for (int k = 0; marks[k] != 0; ++k)
    if (marks[k] == c) return k;
  return -1;
}

/// Before anything is said of lengths: a letter beyond ASCII is several characters long.
inline void check_marks(const std::vector<std::string>& lines, int first) {
  for (size_t y = 0; y < lines.size(); ++y)
    for (size_t x = 0; x < lines[y].size(); ++x)
      if (mark_index(kPlaceMarks, lines[y][x]) < 0 && mark_index(kStartMarks, lines[y][x]) < 0)
        refuse("layout: line " + std::to_string(first + int(y)) + ", column " +
               std::to_string(x + 1) + ": unknown character " + shown(lines[y][x]) +
               "; X is a counter, P a pot, O onions, T tomatoes, D dishes, S a serving window, a "
               "space floor, and 1 to 9 (then " +
               std::string(kStartMarks + 9) + ") are the starts of players");
}

inline void read_cell(Floorplan& plan, int cell, char mark) {
  const int place = mark_index(kPlaceMarks, mark), player = mark_index(kStartMarks, mark);
  const int x = cell % plan.width, y = cell / plan.width;
  const bool border = x == 0 || y == 0 || x == plan.width - 1 || y == plan.height - 1;
  if (border && (place == kFloor || player >= 0))
    refuse("layout: " + plan.where(cell) + ": " + (player >= 0 ? "a start" : "floor") +
           " on the border, which must be closed");
  plan.grid.push_back(player >= 0 ? uint8_t(kFloor) : uint8_t(place));
  if (player < 0) return;
  if (int(plan.starts.size()) <= player) plan.starts.resize(size_t(player) + 1, -1);
  if (plan.starts[size_t(player)] >= 0)
    refuse("layout: " + plan.where(cell) + ": a second start " + shown(mark) +
           ", the first is in " + plan.where(plan.starts[size_t(player)]));
  plan.starts[size_t(player)] = cell;
}

inline Floorplan read_layout(const std::string& text) {
  Floorplan plan;
  const std::vector<std::string> lines = layout_lines(text, plan.first_line);
  check_marks(lines, plan.first_line);
  plan.height = int(lines.size());
  plan.width = int(lines[0].size());
  for (size_t y = 0; y < lines.size(); ++y)
    if (lines[y].size() != lines[0].size())
      refuse("layout: line " + std::to_string(plan.first_line + int(y)) + " has " +
             std::to_string(lines[y].size()) + " cells, line " + std::to_string(plan.first_line) +
             " has " + std::to_string(plan.width) + ": all lines must be equally long");
  if (lines.size() * lines[0].size() > size_t(kMostCells))
    refuse("layout: " + std::to_string(plan.width) + " x " + std::to_string(plan.height) +
           " cells, at most " + std::to_string(kMostCells) + " are possible");
  for (int cell = 0; cell < plan.width * plan.height; ++cell)
    read_cell(plan, cell, lines[size_t(cell / plan.width)][size_t(cell % plan.width)]);
  for (size_t player = 0; player < plan.starts.size(); ++player)
    if (plan.starts[player] < 0)
      refuse("layout: start " + shown(kStartMarks[plan.starts.size() - 1]) + " in " +
             plan.where(plan.starts.back()) + ", but no start " + shown(kStartMarks[player]) +
             ": players are numbered without gaps");
  return plan;
}

// ---- starts, and what a chef can reach

/// Leaves exactly `player_count` starts.
inline void choose_starts(Floorplan& plan, Settings& s) {
  if (s.player_count == 0) s.player_count = int(plan.starts.size());
  if (s.player_count == 0) refuse("layout: no start of a player; mark a floor cell with 1");
  const size_t wanted = size_t(s.player_count);
  const size_t floor = size_t(std::count(plan.grid.begin(), plan.grid.end(), uint8_t(kFloor)));
  if (plan.starts.size() < wanted && floor >= wanted && !s.extra_starts &&
      !s.random_start_positions)
    refuse("layout: " + counted(plan.starts.size(), "start") + ", player_count=" +
           std::to_string(wanted) + "; with extra_starts=True further chefs start on free floor");
  for (int cell = 0; cell < int(plan.grid.size()) && plan.starts.size() < wanted; ++cell) {
    bool free = plan.grid[size_t(cell)] == kFloor;
    for (const int start : plan.starts) free = free && start != cell;
    if (free) plan.starts.push_back(cell);
  }
  if (plan.starts.size() < wanted)
    refuse("layout: " + counted(plan.starts.size(), "floor cell") +
           ", player_count=" + std::to_string(wanted));
  plan.starts.resize(wanted);
}

inline std::vector<int> neighbours(const Floorplan& plan, int cell) {
  std::vector<int> near;
  const int x = cell % plan.width, y = cell / plan.width;
  if (y > 0) near.push_back(cell - plan.width);
  if (y < plan.height - 1) near.push_back(cell + plan.width);
  if (x < plan.width - 1) near.push_back(cell + 1);
  if (x > 0) near.push_back(cell - 1);
  return near;
}

/// Floor cells that at least one chef can walk to. All chefs count together, since they can hand
/// things over counters.
inline std::vector<bool> reachable_floor(const Floorplan& plan, bool from_anywhere) {
  std::vector<bool> reached(plan.grid.size(), false);
  std::vector<int> open = plan.starts;
  for (size_t cell = 0; cell < plan.grid.size(); ++cell)
    if (from_anywhere && plan.grid[cell] == kFloor) open.push_back(int(cell));
  while (!open.empty()) {
    const int cell = open.back();
    open.pop_back();
    if (reached[size_t(cell)] || plan.grid[size_t(cell)] != kFloor) continue;
    reached[size_t(cell)] = true;
    for (const int next : neighbours(plan, cell)) open.push_back(next);
  }
  return reached;
}

inline bool has_neighbour(const Floorplan& plan, int cell, const std::vector<bool>& among) {
  for (const int next : neighbours(plan, cell))
    if (among[size_t(next)]) return true;
  return false;
}

inline void check_place(const Floorplan& plan, const std::vector<bool>& reached, Place one,
                        Place other, const std::string& what) {
  int seen = -1;
  for (int cell = 0; cell < int(plan.grid.size()); ++cell) {
    const uint8_t place = plan.grid[size_t(cell)];
    if (place != one && place != other) continue;
    if (has_neighbour(plan, cell, reached)) return;
    seen = seen < 0 ? cell : seen;
  }
  if (seen < 0) refuse("layout: no " + what);
  refuse("layout: no " + what + " that a chef can stand beside: out of the reach of " +
         counted(plan.starts.size(), "chef") + " is the one in " + plan.where(seen));
}

inline void check_solvable(const Floorplan& plan, bool from_anywhere) {
  const std::vector<bool> reached = reachable_floor(plan, from_anywhere);
  check_place(plan, reached, kPot, kPot, "pot (P)");
  check_place(plan, reached, kDishes, kDishes, "dish dispenser (D)");
  check_place(plan, reached, kWindow, kWindow, "serving window (S)");
  check_place(plan, reached, kOnions, kTomatoes, "onion or tomato dispenser (O, T)");
}

// ---- into Params

inline void fill_grid(const Floorplan& plan, Params& p) {
  p.width = plan.width, p.height = plan.height, p.cell_count = plan.width * plan.height;
  const std::vector<bool> floor = reachable_floor(plan, true);
  // From reading order to columns, x * height + y: the order of the planes of an observation.
  const auto number = [&](int cell) {
    return uint8_t(cell % plan.width * plan.height + cell / plan.width);
  };
  for (int cell = 0; cell < p.cell_count; ++cell) {
    p.grid[number(cell)] = plan.grid[size_t(cell)];
    if (plan.grid[size_t(cell)] == kFloor) p.floor[p.floor_count++] = number(cell);
    if (plan.grid[size_t(cell)] == kPot) p.surface[p.surface_count++] = number(cell);
  }
  p.pot_count = p.surface_count;
  for (int cell = 0; cell < p.cell_count; ++cell)
    if (plan.grid[size_t(cell)] == kCounter && has_neighbour(plan, cell, floor))
      p.surface[p.surface_count++] = number(cell);
  for (size_t player = 0; player < plan.starts.size(); ++player)
    p.start[player] = number(plan.starts[player]);
}

/// The 2019 encoding has planes for two chefs and for onions.
inline void check_encoding(const Settings& s, const Floorplan& plan) {
  if (s.encoding != kLossless20) return;
  const std::string asked = "encoding='lossless20' shows two players and onions only, got ";
  if (s.player_count != 2) refuse(asked + "player_count=" + std::to_string(s.player_count));
  for (int cell = 0; cell < int(plan.grid.size()); ++cell)
    if (plan.grid[size_t(cell)] == kTomatoes)
      refuse(asked + "a layout with tomatoes in " + plan.where(cell));
  if (s.random_start_objects > 0)
    refuse(asked + "random_start_objects, which puts tomatoes into pots");
}

inline void resolve_layout(Settings& s, Params& p) {
  Floorplan plan = read_layout(find_layout(s));
  choose_starts(plan, s);
  check_solvable(plan, s.random_start_positions);
  check_encoding(s, plan);
  fill_grid(plan, p);
}

}  // namespace gpu_envs::envs::overcooked
