// Levels as text, in the form of Boxoban (github.com/google-deepmind/boxoban-levels):
//
//   ; 17            a line that begins with a semicolon begins a level; so does an empty line
//   ##########
//   #  @ .   #      # wall, . goal, $ box, @ player, * box on a goal, + player on a goal
//   ...             ten rows of ten characters, with walls all around
//
// Host only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/base/error.hpp"
#include "envs/sokoban/position.hpp"

namespace gpu_envs::envs::sokoban {

inline constexpr int kRows = kSide + 2;  // with the walls around

class TextLevels {
 public:
  /// Throws "line 14: why", behind `where`.
  static std::vector<Position> read(std::string_view text, const std::string& where) {
    TextLevels reader(where);
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
      reader.take(line);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    reader.finish();
    if (reader.made_.empty()) throw Error(Fault::value, where + ": it has no levels");
    return std::move(reader.made_);
  }

 private:
  explicit TextLevels(const std::string& where) : where_(where) {}

  [[noreturn]] void wrong(const std::string& what) const {
    throw Error(Fault::value, where_ + ": line " + std::to_string(line_) + ": " + what);
  }
  void take(std::string_view line) {
    ++line_;
    if (line.find_first_not_of(" \t") == line.npos || line.front() == ';')
      finish();
    else
      read_row(line);
  }
  void read_row(std::string_view line) {
    if (row_ == kRows) wrong("an eleventh row; levels are separated by an empty line or a ;");
    if (line.size() != size_t(kRows))
      wrong("a row has " + std::to_string(line.size()) + " characters; levels are 10 by 10");
    if (row_ == 0) position_ = {}, players_ = 0;
    for (int column = 0; column < kRows; ++column) read_mark(line[size_t(column)], column);
    ++row_;
  }
  void read_mark(char mark, int column) {
    constexpr std::string_view kMarks = "# .$@*+";
    if (kMarks.find(mark) == kMarks.npos)
      wrong("column " + std::to_string(column + 1) +
            ": known are # wall, a space, . goal, $ box, @ player, * box on a goal, + player on a "
            "goal");
    const bool inner = row_ > 0 && row_ < kRows - 1 && column > 0 && column < kRows - 1;
    if (!inner) {
      if (mark != '#') wrong("the outermost cells must be walls");
      return;
    }
    const int cell = kSide * (row_ - 1) + column - 1;
    if (mark == '#') position_.walls |= bit_of(cell);
    if (mark == '$' || mark == '*') position_.boxes |= bit_of(cell);
    if (mark == '.' || mark == '*' || mark == '+') position_.goals |= bit_of(cell);
    if (mark == '@' || mark == '+') {
      position_.player = cell;
      ++players_;
    }
  }
  /// Ends the level that is being read, if there is one.
  void finish() {
    if (row_ == 0) return;
    const auto check = [&](int found, int wanted, const char* what) {
      if (found != wanted)
        wrong("the level above has " + std::to_string(found) + " " + what + "; it must have " +
              std::to_string(wanted));
    };
    check(row_, kRows, "rows");
    check(players_, 1, "players");
    check(count(position_.boxes), kBoxes, "boxes");
    check(count(position_.goals), kBoxes, "goals");
    if (position_.boxes == position_.goals) wrong("the level above is solved already");
    made_.push_back(position_);
    row_ = 0;
  }
  static int count(Cells cells) {
    int found = 0;
    for (; cells != 0; cells &= cells - 1) ++found;
    return found;
  }

  std::string where_;
  std::vector<Position> made_ = {};
  Position position_ = {};
  int line_ = 0, row_ = 0, players_ = 0;
};

/// A level as ten lines.
inline std::string text_of(const Position& position) {
  std::string text;
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kRows; ++column) {
      const bool inner = row > 0 && row < kRows - 1 && column > 0 && column < kRows - 1;
      const int cell = inner ? kSide * (row - 1) + column - 1 : 0;
      const bool is_goal = inner && has(position.goals, cell);
      char mark = is_goal ? '.' : ' ';
      if (!inner || has(position.walls, cell)) mark = '#';
      if (inner && has(position.boxes, cell)) mark = is_goal ? '*' : '$';
      if (inner && position.player == cell) mark = is_goal ? '+' : '@';
      text += mark;
    }
    text += '\n';
  }
  return text;
}

}  // namespace gpu_envs::envs::sokoban
