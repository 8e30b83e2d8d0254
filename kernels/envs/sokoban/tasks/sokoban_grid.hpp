// SokobanGrid: push four boxes onto four goals, on a board of 10 x 10 cells.
//
//   who acts    one player, who walks a cell up, down, left or right, and pushes a box by walking
//   reward      a little less than nothing for each step; a box that comes onto a goal or leaves
//               one; all boxes on goals: parameters
//   ends        when all boxes are on goals; cut short after 120 steps
//   rules from  gym-sokoban (Schrader, 2018), after "Imagination-Augmented Agents for Deep
//               Reinforcement Learning" (Racaniere et al., NeurIPS 2017)
//
// Levels are those of the bank (levels.hpp); Sokoban-v0 shows them in first person.
#pragma once

#include "envs/sokoban/levels.hpp"
#include "pictures/scene.hpp"
#include "pictures/text.hpp"

namespace gpu_envs::envs::sokoban_grid {

using namespace ge;
using namespace gpu_envs::envs::sokoban;

// ---- what is described

struct Varied {
  int32_t pushes_low = 0, pushes_high = kMostPushes;
  float step_reward = -0.1f, goal_reward = 1.0f, leave_reward = -1.0f, all_reward = 10.0f;
  const char* problem() const { return level_problem(*this); }
  static constexpr auto describe();
};
enum Encoding { kCells, kPlanes, kAround };
inline constexpr int kPlanesOfCell = 4;
/// Around the player: cells to each side, along a side, and planes.
inline constexpr int kReach = kSide - 1, kAcross = 2 * kReach + 1, kPlanesAround = 3;
/// Numbers in an observation.
GE_FN constexpr int elements_of(int encoding) {
  return encoding == kAround   ? kPlanesAround * kAcross * kAcross
         : encoding == kPlanes ? kPlanesOfCell * kRows * kRows
                               : kRows * kRows;
}
struct Settings : LevelSettings, Varied {
  int32_t encoding = kCells;
  static constexpr auto describe() {
    return std::tuple_cat(
        level_fields<Settings>(),
        fields(
            field("encoding", &Settings::encoding,
                  "cells: a number for each cell; planes: 0 or 1 for each cell in four planes, "
                  "of walls, goals, boxes and the player; around: planes of walls, goals and boxes "
                  "that move with the player, who is in their middle")
                .named("cells", "planes", "around"),
            field("step_reward", &Settings::step_reward, "reward for each step")
                .within(-1000, 1000),
            field("goal_reward", &Settings::goal_reward, "reward for a box that comes onto a goal")
                .within(-1000, 1000),
            field("leave_reward", &Settings::leave_reward,
                  "reward for a box that leaves its goal for a cell without one")
                .within(-1000, 1000),
            field("all_reward", &Settings::all_reward, "reward when all boxes are on goals")
                .within(-1000, 1000)));
  }
};
constexpr auto Varied::describe() {
  return fields_of<Varied>(Settings::describe());
}
struct Params {
  int32_t encoding, symmetries;
};

struct Move {
  int32_t way;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("way", &Move::way, "0 up, 1 down, 2 left, 3 right").one_of(kWays));
  }
};
/// The inner cells by bits, 8 row + column.
struct Puzzle {
  uint64_t walls, goals, boxes;
  static constexpr auto describe() {
    return fields(
        field("walls", &Puzzle::walls, "inner cells that are walls: bit 8 row + column")
            .any_value(),
        field("goals", &Puzzle::goals, "cells that are goals: bit 8 row + column").any_value(),
        field("boxes", &Puzzle::boxes, "cells with a box: bit 8 row + column").any_value());
  }
};
struct Player {
  int32_t cell;
  static constexpr auto describe() {
    return fields(field("cell", &Player::cell, "inner cell of the player, 8 row + column")
                      .within(0, kInner - 1));
  }
};

struct Walker : Agents<1, Puzzle, Player, Chosen, Move> {
  static constexpr const char* name = "player";
};

struct Schema {
  using Settings = sokoban_grid::Settings;
  using Params = sokoban_grid::Params;
  using Varied = sokoban_grid::Varied;
  using Options = LevelOptions;
  struct Assets : LevelAssets {
    Asset<uint8_t> background;  // of an observation: the walls around
  };
  using Action = Move;
  using Agent = Walker;
  using tables = Types<Walker>;
  static Params resolve(Settings& s) { return {s.encoding, s.symmetries}; }
  static Assets make_assets(const Settings& s, const Params& p, AssetMaker& make) {
    const std::span<uint8_t> row = make.array<uint8_t>("background", elements_of(p.encoding));
    for (int cell = 0; p.encoding == kPlanes && cell < kRows * kRows; ++cell) {
      const int y = cell / kRows, x = cell % kRows;
      row[size_t(kPlanesOfCell * cell)] = y == 0 || y == kRows - 1 || x == 0 || x == kRows - 1;
    }
    return {make_levels(s, make), row};
  }
};
using W = World<Schema>;

// ---- rules

GE_FN void begin(const W& w, Puzzle& puzzle, Player& player, Chosen& chosen) {
  chosen = choose_level(w, w.params().symmetries != 0);
  const Position begun = position_of(w, chosen);
  puzzle = {begun.walls, begun.goals, begun.boxes};
  player = {begun.player};
}

/// Walks to the next cell, and pushes a box there if the cell behind it is free.
GE_FN void walk(const W& w, Puzzle& puzzle, Player& player, Reward& reward, Ending& ending,
                const Move& move) {
  const Cells free = ~(puzzle.walls | puzzle.boxes);
  const Cells to = moved(bit_of(player.cell), move.way) & ~puzzle.walls;
  const Cells box = to & puzzle.boxes, behind = moved(box, move.way) & free;
  const Cells pushed = behind != 0 ? box | behind : 0;
  const bool walks = (to & free) != 0 || pushed != 0;
  const Cells was_left = puzzle.goals & ~puzzle.boxes;
  puzzle.boxes ^= pushed;
  player.cell = walks ? next_to(player.cell, move.way) : player.cell;
  const Cells left = puzzle.goals & ~puzzle.boxes;

  const Varied v = w.varied();
  const bool came = (was_left & ~left) != 0, went = (left & ~was_left) != 0;
  const bool solved = left == 0;
  // From one goal to another is neither.
  float value = v.step_reward;
  value = came & !went ? value + v.goal_reward : value;
  value = went & !came ? value + v.leave_reward : value;
  reward.value = solved ? value + v.all_reward : value;
  ending.terminated = solved ? 1u : 0u;
}

/// 1: all boxes are on goals.
GE_FN float objective(const W& w, int) {
  const auto puzzle = get<Puzzle>(w);
  return (puzzle.goals & ~puzzle.boxes) == 0 ? 1.0f : 0.0f;
}

// ---- observation

enum Mark : uint8_t { kWall, kFloor, kGoal, kBoxOnGoal, kBox, kHere, kHereOnGoal };

struct Observation : WideRow<uint8_t> {
  static constexpr int capacity = elements_of(kAround);
  static_assert(capacity > elements_of(kPlanes));
  static GE_FN int elements(const Params& p) { return elements_of(p.encoding); }
  static std::vector<FieldInfo> describe(const Params& p) {
    if (p.encoding == kCells)
      return {wide_field("cells", {kRows, kRows},
                         "[row][column], from the top left: 0 wall, 1 floor, 2 goal, 3 box on a "
                         "goal, 4 box, 5 player, 6 player on a goal",
                         0, kHereOnGoal)};
    if (p.encoding == kAround)
      return {wide_field("around", {kAcross, kAcross, kPlanesAround},
                         "[row][column][plane] around the player, who is in the middle: 1 where "
                         "there is a wall or the board has ended, a goal, a box")};
    return {wide_field("planes", {kRows, kRows, kPlanesOfCell},
                       "[row][column][plane], from the top left: 1 where there is a wall, a goal, "
                       "a box, the player")};
  }
  static GE_FN const Asset<uint8_t>& background(const Schema::Assets& assets) {
    return assets.background;
  }
};

/// Eight bits as bytes of 0 and 1, the lowest first.
GE_FN constexpr uint64_t spread(uint64_t bits) {
  // Each byte gets all eight bits and keeps its own, which then carries into the byte's highest.
  const uint64_t own = (bits * 0x0101010101010101u) & 0x8040201008040201u;
  return (own + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}
/// Eight bits, four places apart, the lowest in place 0.
GE_FN constexpr uint32_t apart(uint32_t bits) {
  bits = (bits | bits << 12) & 0x000f000fu;
  bits = (bits | bits << 6) & 0x03030303u;
  return (bits | bits << 3) & 0x11111111u;
}
/// The planes of eight cells: those of a cell follow one another.
GE_FN void look_at_planes(const Puzzle& puzzle, Cells here, ByteRow& row) {
  GE_NO_UNROLL
  for (int y = 0; y < kSide; ++y) {
    const auto plane = [y](Cells cells)
                           GE_LAMBDA { return apart(uint32_t(cells >> kSide * y) & 0xffu); };
    const uint32_t bits = plane(puzzle.walls) | plane(puzzle.goals) << 1 |
                          plane(puzzle.boxes) << 2 | plane(here) << 3;
    const int first = kPlanesOfCell * (kRows * (y + 1) + 1);
    GE_NO_UNROLL
    for (int k = 0; k < 4; ++k) row.set_eight(first + 8 * k, spread(bits >> 8 * k & 0xffu));
  }
}
/// Bits, three places apart, the lowest in place 0; 21 of them at most.
GE_FN constexpr uint64_t threefold(uint64_t bits) {
  bits = (bits | bits << 32) & 0x001f00000000ffffu;
  bits = (bits | bits << 16) & 0x001f0000ff0000ffu;
  bits = (bits | bits << 8) & 0x100f00f00f00f00fu;
  bits = (bits | bits << 4) & 0x10c30c30c30c30c3u;
  return (bits | bits << 2) & 0x1249249249249249u;
}
/// The planes of cells around the player.
GE_FN void look_around(const Puzzle& puzzle, int cell, ByteRow& row) {
  const int x = cell % kSide, y = cell / kSide;
  GE_NO_UNROLL
  for (int k = 0; k < kAcross; ++k) {
    const int at = y + k - kReach;
    const bool inner = at >= 0 && at < kSide;
    const auto plane = [=](Cells cells) GE_LAMBDA {
      return inner ? (cells >> kSide * at & 0xffu) << (kReach - x) : Cells{0};
    };
    const uint64_t walls = ~plane(~puzzle.walls) & ((1u << kAcross) - 1u);
    const uint64_t bits = threefold(walls) | threefold(plane(puzzle.goals)) << 1 |
                          threefold(plane(puzzle.boxes)) << 2;
    constexpr int kBytes = kPlanesAround * kAcross;
    row.fill(kBytes * k, kBytes, [bits](int j) GE_LAMBDA { return uint8_t(bits >> j & 1u); });
  }
}
GE_FN void look(const W& w, ByteRow& row, const Puzzle& puzzle, const Player& player) {
  if (w.params().encoding == kAround) return look_around(puzzle, player.cell, row);
  const Cells here = bit_of(player.cell);
  if (w.params().encoding == kPlanes) return look_at_planes(puzzle, here, row);
  // The bits of the marks: what hides what is decided for all cells at once.
  const Cells floor = ~puzzle.walls, me = here & floor, boxes = puzzle.boxes & floor & ~me;
  const Cells free = floor & ~me & ~boxes, goals = puzzle.goals & floor;
  const Cells ones = (free & ~goals) | (boxes & goals) | (me & ~goals);
  const Cells twos = (free & goals) | (boxes & goals) | (me & goals);
  const Cells fours = (boxes & ~goals) | me;
  static_assert(kFloor == 1 && kGoal == 2 && kBoxOnGoal == 3 && kBox == 4 && kHere == 5 &&
                kHereOnGoal == 6);
  const auto row_of = [](Cells cells, int y)
                          GE_LAMBDA { return spread(cells >> kSide * y & 0xffu); };
  GE_NO_UNROLL
  for (int y = 0; y < kSide; ++y)
    row.set_eight(kRows * (y + 1) + 1,
                  row_of(ones, y) | row_of(twos, y) << 1 | row_of(fours, y) << 2);
}

// ---- for people

inline std::string text(const W& w, int) {
  const auto puzzle = get<Puzzle>(w);
  const Position now = {puzzle.walls, puzzle.boxes, puzzle.goals, get<Player>(w).cell, 0};
  std::string lines = text_of(now);
  lines += "# wall, . goal, $ box, * box on a goal, @ you, + you on a goal\nlevel ";
  add_number(lines, "", get<Chosen>(w).level, 0, ", ");
  add_steps(lines, w.step(), w.max_steps());
  return lines + "\n";
}
inline Scene scene(const W& w) {
  const auto puzzle = get<Puzzle>(w);
  Board board = Board::of_cells(kRows, kRows);
  board.cell = 0;
  for (int k = 0; k < kRows * kRows; ++k) {
    const int row = k / kRows, column = k % kRows, cell = kSide * (row - 1) + column - 1;
    const bool inner = row > 0 && row < kRows - 1 && column > 0 && column < kRows - 1;
    const auto put = [&](Piece::Kind kind, float radius, Rgb colour) {
      board.put(column, row, kind, radius, colour);
    };
    if (!inner || has(puzzle.walls, cell)) {
      put(Piece::kSquare, 0.5f, palette::kWall);
      continue;
    }
    const bool is_goal = has(puzzle.goals, cell);
    if (is_goal) put(Piece::kDisc, 0.2f, palette::kRamp);
    if (has(puzzle.boxes, cell))
      put(Piece::kSquare, 0.38f, is_goal ? palette::kRamp : palette::kBox);
  }
  const int at = get<Player>(w).cell;
  board.put(at % kSide + 1, at / kSide + 1, Piece::kDisc, 0.32f, palette::kRed);
  Scene scene;
  scene.board = std::move(board);
  return scene;
}

struct Environment {
  using Schema = sokoban_grid::Schema;
  using Observation = sokoban_grid::Observation;
  using Reset = Stages<Each<&begin>>;
  using Step = Stages<Each<&walk>>;
  using Observe = Stages<ge::Observe<&look>>;
  static constexpr Card card{.doc = "Push four boxes onto four goals on a board.",
                             .max_episode_steps = 120,
                             .render_fps = 8};
  static constexpr Hooks<Schema> hooks{
      .objective = &objective,
      .action_name =
          [](const Params&, int k) {
            constexpr const char* kNames[] = {"up", "down", "left", "right"};
            return std::string(kNames[k]);
          },
      .action_key = [](const Params&, int k) { return std::string(1, "wsad"[k]); },
      .text = &text,
      .scene = &scene};
};
using Builds = ge::Builds<Build<"SokobanGrid-v0", Environment>>;

}  // namespace gpu_envs::envs::sokoban_grid
