// Levels by hand: the text of reset(options={"layout": ...}) becomes a Laid level, which the reset
// lays out instead of drawing one (laying.hpp). Reading is for the host only. A game knows some of
// these things:
//
//   floor 0 0 0 9 4 0             cells from one corner to the other, both of them included
//   wall 0 0 0 0 4 4; walls hidden
//   hill 2 2 5 4 3                columns from corner to corner, 3 cells above the floor
//   lava 3 1 1 5 3 1              a mark on the floor below it; each game has its own words for marks
//   box 2 2 1; diamond 4 2 1      in a cell; a box needs something beneath it
//   diamond 4 3 1 red             a bad one
//   agent 1.5 2.5 1 yaw 1.57      where its feet are, in metres; yaw 0 looks along +y, in radians
//   seconds 20                    length of the episode; else as in a level that is drawn
//
// Later floors, walls and hills replace earlier ones in the cells that they share.
#pragma once

#include <algorithm>
#include <map>

#include "engine/described/text_lines.hpp"
#include "voxel/body.hpp"
#include "voxel/columns.hpp"
#include "voxel/forms.hpp"

namespace ge::voxel {

inline constexpr int kLaidParts = 24, kLaidMarks = 8, kLaidBoxes = 64, kLaidDiamonds = 16;
inline constexpr int kLaidHills = 24;
inline constexpr int kFarthest = 96, kHighest = 48;  // cells

struct LaidPart {
  uint8_t low[3], high[3];  // cells; `high` is exclusive
  uint8_t kind;             // of a part: 1 for walls; of a mark: MarkKind
};
struct LaidCell {
  uint8_t at[3];
  uint8_t kind;  // of a diamond: 1 for a bad one
};
GE_FN Cell laid_cell(const LaidCell& laid) {
  return {laid.at[0], laid.at[1], laid.at[2]};
}
struct LaidHill {
  uint8_t low[2], high[2], height;
};
struct LaidAgent {
  float feet[3], yaw;
};
/// The level that a reset lays out; it draws one where `laid` is 0. The size is fixed, and small,
/// since kernels take it as a parameter: so hills are rectangles of columns of one height.
struct Laid {
  int32_t laid, hidden, part_count, mark_count, box_count, diamond_count, hill_count;
  float seconds;  // 0: as a level that is drawn
  LaidAgent agents[kMostAgents];
  LaidPart parts[kLaidParts], marks[kLaidMarks];
  LaidCell boxes[kLaidBoxes], diamonds[kLaidDiamonds];
  LaidHill hills[kLaidHills];
};
static_assert(sizeof(Laid) < 1024, "GE: options travel with every launch");
/// Cells above the floor in the column at x, y.
GE_FN int laid_height(const Laid& laid, int x, int y) {
  int height = 0;
  for (int k = 0; k < laid.hill_count; ++k)
    if (has_column(laid.hills[k], x, y)) height = laid.hills[k].height;
  return height;
}

struct LayoutSettings {
  std::string layout;
  static constexpr auto describe() {
    return fields(field("layout", &LayoutSettings::layout,
                        "a level by hand, one thing per line; empty: a new level"));
  }
};

/// What a game's levels may have. `words` are those that a message lists.
struct Grammar {
  std::vector<std::string> words;
  std::map<std::string, MarkKind> marks = {};  // by their words
  const char* marks_name = "";                 // plural of all kinds of marks, for a message
  int boxes = 0, diamonds = 0;
  int hill_side = 0, hill_height = 0;  // cells
  bool red = false;                    // diamonds may be red
  bool needs_floor = true;
};
struct Bounds {
  float low[3], high[3];
};

/// A level as far as it has been read. A game with things of its own derives from it.
class Layout {
 public:
  Layout(const Grammar& grammar, int agent_count) : grammar_(grammar), agent_count_(agent_count) {}
  virtual ~Layout() = default;

  Laid read(const std::string& text) {
    if (text.empty()) return laid_;
    laid_.laid = 1;
    for (TextLine& line : text_lines(text)) read_thing(line);
    if (grammar_.needs_floor && laid_.part_count == 0) refuse_layout("there is no floor");
    require_places(agents_, "agents", "agent_count", agent_count_);
    check_boxes();
    check_agents();
    check_own();
    return laid_;
  }

 protected:
  /// Reads a thing that is the game's own, whose word has been taken.
  virtual void read_own(TextLine&, const std::string&) {}
  virtual void check_own() const {}
  /// Refuses agents who are inside of a box.
  void check_agents(const Bounds& box, const char* what) const {
    for (int k = 0; k < agents_; ++k)
      if (is_inside(laid_.agents[k], box)) refuse_agent(k, what);
  }
  /// Bounds of a box that has a `low` and a `high`.
  static Bounds bounds_of(const auto& box) {
    Bounds bounds;
    for (int k = 0; k < 3; ++k)
      bounds.low[k] = float(box.low[k]), bounds.high[k] = float(box.high[k]);
    return bounds;
  }
  /// Bounds of what bodies collide with, for a crate that stands in a cell.
  static Bounds crate_bounds(int32_t form_number, const Cell& at) {
    const FormOf form = form_of(form_number);
    const int32_t cell[3] = {at.x, at.y, at.z};
    Bounds bounds;
    for (int k = 0; k < 3; ++k) {
      const float centre = float(cell[k]) + 0.5f - (k == 2 ? form.lower : 0.0f);
      const float half = k == 2 ? form.up : form.across;
      bounds.low[k] = centre - half, bounds.high[k] = centre + half;
    }
    return bounds;
  }

 private:
  // ---- things

  static uint8_t number(TextLine& line, const char* what, int most) {
    return uint8_t(line.number<int32_t>(what, 0, most));
  }
  static void read_cell(TextLine& line, uint8_t (&at)[3]) {
    at[0] = number(line, "x", kFarthest - 1);
    at[1] = number(line, "y", kFarthest - 1);
    at[2] = number(line, "z", kHighest - 1);
  }
  /// Sorts two corners; the higher becomes exclusive.
  template <size_t N>
  static void sort(uint8_t (&low)[N], uint8_t (&high)[N]) {
    for (size_t k = 0; k < N; ++k) {
      if (high[k] < low[k]) std::swap(high[k], low[k]);
      ++high[k];
    }
  }
  static void read_part(TextLine& line, LaidPart& part, uint32_t kind) {
    read_cell(line, part.low);
    read_cell(line, part.high);
    sort(part.low, part.high);
    part.kind = uint8_t(kind);
    line.end();
  }
  void read_hill(TextLine& line) {
    LaidHill& hill = next(laid_.hills, laid_.hill_count, kLaidHills, line, "hills");
    for (uint8_t (*corner)[2] : {&hill.low, &hill.high}) {
      (*corner)[0] = number(line, "x", grammar_.hill_side - 1);
      (*corner)[1] = number(line, "y", grammar_.hill_side - 1);
    }
    sort(hill.low, hill.high);
    hill.height = number(line, "height", grammar_.hill_height);
    line.end();
  }
  void read_diamond(TextLine& line) {
    LaidCell& diamond =
        next(laid_.diamonds, laid_.diamond_count, grammar_.diamonds, line, "diamonds");
    read_cell(line, diamond.at);
    if (grammar_.red && !line.done()) {
      const std::string& word = line.take("red");
      if (word != "red") line.wrong("unknown word " + quoted(word) + "; known is red");
      diamond.kind = 1;
    }
    line.end();
  }
  void read_agent(TextLine& line) {
    if (agents_ == agent_count_)
      line.wrong("one agent more than agent_count=" + std::to_string(agent_count_));
    LaidAgent& agent = laid_.agents[agents_++];
    agent.feet[0] = line.number<float>("x", 0, kFarthest);
    agent.feet[1] = line.number<float>("y", 0, kFarthest);
    agent.feet[2] = line.number<float>("z", 0, kHighest);
    if (!line.done()) {
      const std::string word = line.take("yaw");
      if (word != "yaw") line.wrong("unknown word " + quoted(word) + "; known is yaw");
      agent.yaw = line.number<float>("yaw", -3.2, 3.2);
    }
    line.end();
  }
  template <class Row, size_t N>
  Row& next(Row (&rows)[N], int32_t& count, int most, const TextLine& line, const char* what) {
    if (count == most) line.wrong("a layout has at most " + std::to_string(most) + " " + what);
    return rows[count++];
  }

  void read_thing(TextLine& line) {
    const std::string word = line.take("a thing");
    const auto& words = grammar_.words;
    if (std::find(words.begin(), words.end(), word) == words.end()) refuse_word(line, word);
    if (word == "floor" || word == "wall") {
      read_part(line, next_row(laid_.parts, laid_.part_count, line, "floors and walls"),
                word == "wall" ? 1 : 0);
    } else if (const auto mark = grammar_.marks.find(word); mark != grammar_.marks.end()) {
      read_part(line, next_row(laid_.marks, laid_.mark_count, line, grammar_.marks_name),
                mark->second);
    } else if (word == "hill") {
      read_hill(line);
    } else if (word == "box") {
      read_cell(line, next(laid_.boxes, laid_.box_count, grammar_.boxes, line, "boxes").at);
      line.end();
      stacked_.emplace_back(line, laid_.box_count - 1);
    } else if (word == "diamond") {
      read_diamond(line);
    } else if (word == "agent") {
      read_agent(line);
    } else if (word == "walls") {
      const std::string how = line.take("hidden or shown");
      if (how != "hidden" && how != "shown")
        line.wrong("walls are hidden or shown, got " + quoted(how));
      laid_.hidden = how == "hidden" ? 1 : 0;
      line.end();
    } else if (word == "seconds") {
      laid_.seconds = line.number<float>("seconds", 0.0625, 3600);
      line.end();
    } else {
      read_own(line, word);
    }
  }
  [[noreturn]] void refuse_word(const TextLine& line, const std::string& word) const {
    std::string known;
    for (const std::string& each : grammar_.words) known += (known.empty() ? "" : ", ") + each;
    line.wrong("unknown thing " + quoted(word) + "; known are " + known);
  }

  // ---- checks

  bool is_solid(int x, int y, int z) const {
    for (int k = 0; k < laid_.part_count; ++k) {
      const LaidPart& part = laid_.parts[k];
      if (has_column(part, x, y) && z >= part.low[2] && z < part.high[2]) return true;
    }
    return z >= 1 && z <= laid_height(laid_, x, y);
  }
  /// How many boxes stand in a cell.
  int boxes_in(int x, int y, int z) const {
    int found = 0;
    for (int k = 0; k < laid_.box_count; ++k) {
      const LaidCell& box = laid_.boxes[k];
      found += box.at[0] == x && box.at[1] == y && box.at[2] == z;
    }
    return found;
  }
  void check_boxes() const {
    for (const auto& [line, k] : stacked_) {
      const auto& at = laid_.boxes[k].at;
      if (is_solid(at[0], at[1], at[2])) line.wrong("the box is inside of a floor or a wall");
      if (boxes_in(at[0], at[1], at[2]) > 1) line.wrong("there is a box in this cell already");
      if (!is_solid(at[0], at[1], at[2] - 1) && boxes_in(at[0], at[1], at[2] - 1) == 0)
        line.wrong("the box has nothing beneath it");
    }
  }

  /// Whether a body lies inside of a box.
  static bool is_inside(const LaidAgent& agent, const Bounds& box) {
    // Against the upright cylinder around the body, less what rounding may add.
    constexpr float kLoose = 1e-3f;
    const float dx = agent.feet[0] - clamp(agent.feet[0], box.low[0], box.high[0]);
    const float dy = agent.feet[1] - clamp(agent.feet[1], box.low[1], box.high[1]);
    const float radius = kRadius - kLoose;
    return dx * dx + dy * dy < radius * radius && agent.feet[2] < box.high[2] - kLoose &&
           agent.feet[2] + 2 * kTall > box.low[2] + kLoose;
  }
  bool is_in_hill(const LaidAgent& agent) const {
    const int x = int(agent.feet[0]), y = int(agent.feet[1]);
    for (int i = x - 1; i <= x + 1; ++i)
      for (int j = y - 1; j <= y + 1; ++j) {
        const float top = kGround + float(laid_height(laid_, i, j));
        if (top > kGround &&
            is_inside(agent, {{float(i), float(j), kGround}, {float(i + 1), float(j + 1), top}}))
          return true;
      }
    return false;
  }
  [[noreturn]] static void refuse_agent(int agent, const std::string& what) {
    refuse_layout("agent " + std::to_string(agent) + " is inside of " + what);
  }
  void check_agents() const {
    for (int k = 0; k < agents_; ++k) {
      const LaidAgent& agent = laid_.agents[k];
      const auto wrong = [k](const std::string& what) { refuse_agent(k, what); };
      for (int row = 0; row < laid_.part_count; ++row)
        if (is_inside(agent, bounds_of(laid_.parts[row]))) wrong("a floor or a wall");
      if (is_in_hill(agent)) wrong("a hill");
      for (int row = 0; row < laid_.box_count; ++row)
        if (is_inside(agent, crate_bounds(kCrateForm, laid_cell(laid_.boxes[row])))) wrong("a box");
      for (int row = 0; row < k; ++row) {
        const LaidAgent& other = laid_.agents[row];
        const Bounds box = {{other.feet[0], other.feet[1], other.feet[2]},
                            {other.feet[0], other.feet[1], other.feet[2] + 2 * kTall}};
        LaidAgent twice = agent;  // both have a radius
        for (int axis = 0; axis < 2; ++axis)
          twice.feet[axis] = other.feet[axis] + 0.5f * (agent.feet[axis] - other.feet[axis]);
        if (is_inside(twice, box)) wrong("agent " + std::to_string(row));
      }
    }
  }

  const Grammar& grammar_;
  int agent_count_, agents_ = 0;
  Laid laid_{};
  std::vector<std::pair<TextLine, int>> stacked_ = {};  // lines of boxes, and which
};

}  // namespace ge::voxel
