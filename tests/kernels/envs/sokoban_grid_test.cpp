// SokobanGrid, rule by rule, on levels laid out by hand.
#include <set>

#include "envs/sokoban/position.hpp"
#include "pictures/scene.hpp"
#include "simulation.hpp"

namespace {

using namespace ge;
using namespace ge::test;
using gpu_envs::envs::sokoban::kInner;
using gpu_envs::envs::sokoban::kSymmetries;
using gpu_envs::envs::sokoban::turned;

constexpr int kUp = 0, kDown = 1, kLeft = 2, kRight = 3;
constexpr float kStep = -0.1f;

/// A row of boxes beside their goals, and room around.
const std::string kRow =
    "##########\n"
    "#        #\n"
    "# @$.    #\n"
    "#  $.    #\n"
    "#  $.    #\n"
    "#  $.    #\n"
    "#        #\n"
    "#        #\n"
    "#        #\n"
    "##########\n";

Config config_of(const std::string& levels, Values more = {}) {
  Config config;
  config.parameters = {{"levels", levels}, {"symmetries", false}};
  for (const auto& [name, value] : more) config.parameters[name] = value;
  config.autoreset = Autoreset::disabled;
  return config;
}
struct Puzzle : Simulation {
  explicit Puzzle(const std::string& levels = kRow, Values more = {})
      : Simulation("SokobanGrid-v0", config_of(levels, std::move(more))) {
    reset(1);
  }
  float walk(int way) {
    step({way});
    return reward()[0];
  }
  /// Row and column on the whole board.
  std::pair<int, int> player() const {
    const int cell = get<int32_t>("player.cell")[0];
    return {cell / 8 + 1, cell % 8 + 1};
  }
  bool has_box(int row, int column) const {
    return (get<uint64_t>("player.boxes")[0] >> (8 * (row - 1) + column - 1) & 1u) != 0;
  }
  void put(const std::string& column, uint64_t value) {
    set<uint64_t>("player." + column, {value});
  }
};

std::string replaced(std::string text, size_t row, const std::string& line) {
  return text.replace(11 * row, 10, line);
}

}  // namespace

GE_TEST(player_walks_on_floor_and_goals_and_stops_at_walls) {
  Puzzle puzzle;
  CHECK_EQ(puzzle.walk(kUp), kStep);
  CHECK(puzzle.player() == std::pair(1, 2));
  CHECK_EQ(puzzle.walk(kUp), kStep);
  CHECK(puzzle.player() == std::pair(1, 2));
  for (int k = 0; k < 9; ++k) puzzle.walk(kLeft);
  CHECK(puzzle.player() == std::pair(1, 1));
  for (int k = 0; k < 9; ++k) puzzle.walk(kRight);
  CHECK(puzzle.player() == std::pair(1, 8));
  for (int k = 0; k < 9; ++k) puzzle.walk(kDown);
  CHECK(puzzle.player() == std::pair(8, 8));
  for (int k = 0; k < 4; ++k) puzzle.walk(kLeft);
  for (int k = 0; k < 9; ++k) puzzle.walk(kUp);
  CHECK(puzzle.player() == std::pair(1, 4));  // over the goals
}

GE_TEST(box_is_pushed_onto_its_goal_and_off_it) {
  Puzzle puzzle;
  CHECK_EQ(puzzle.walk(kRight), kStep + 1.0f);
  CHECK(puzzle.player() == std::pair(2, 3));
  CHECK(puzzle.has_box(2, 4) && !puzzle.has_box(2, 3));
  CHECK_EQ(puzzle.walk(kRight), kStep - 1.0f);
  CHECK(puzzle.has_box(2, 5));
  for (int column = 6; column <= 8; ++column) {
    CHECK_EQ(puzzle.walk(kRight), kStep);
    CHECK(puzzle.has_box(2, column));
  }
  CHECK_EQ(puzzle.walk(kRight), kStep);  // against the wall
  CHECK(puzzle.has_box(2, 8));
  CHECK(puzzle.player() == std::pair(2, 7));
}

GE_TEST(two_boxes_in_a_row_are_too_many) {
  Puzzle puzzle;
  puzzle.walk(kUp), puzzle.walk(kRight);  // above the boxes
  CHECK_EQ(puzzle.walk(kDown), kStep);
  CHECK(puzzle.player() == std::pair(1, 3));
  CHECK(puzzle.has_box(2, 3) && puzzle.has_box(5, 3) && !puzzle.has_box(6, 3));
}

GE_TEST(box_from_one_goal_to_another_is_neither_paid_nor_charged) {
  Puzzle puzzle(replaced(replaced(kRow, 2, "# @$..   #"), 5, "#  $     #"));
  CHECK_EQ(puzzle.walk(kRight), kStep + 1.0f);
  CHECK_EQ(puzzle.walk(kRight), kStep);
  CHECK_EQ(puzzle.walk(kRight), kStep - 1.0f);
}

GE_TEST(last_box_on_its_goal_ends_the_episode_and_is_paid_twice) {
  const std::string almost =
      replaced(replaced(replaced(kRow, 3, "#   *    #"), 4, "#   *    #"), 5, "#   *    #");
  Puzzle puzzle(almost);
  CHECK(puzzle.terminated()[0] == 0);
  CHECK_EQ(puzzle.walk(kRight), kStep + 1.0f + 10.0f);
  CHECK(puzzle.terminated()[0] == 1);
  CHECK_EQ(puzzle.out<float>(kObjective)[0], 1.0f);
}

GE_TEST(rewards_are_parameters) {
  Puzzle puzzle(
      kRow,
      {{"step_reward", -0.5}, {"goal_reward", 3.0}, {"leave_reward", -4.0}, {"all_reward", 7.0}});
  CHECK_EQ(puzzle.walk(kRight), 2.5f);
  CHECK_EQ(puzzle.walk(kRight), -4.5f);
}

GE_TEST(episode_is_cut_short_after_120_steps) {
  Puzzle puzzle;
  for (int k = 0; k < 119; ++k) puzzle.walk(kUp);
  CHECK(puzzle.truncated()[0] == 0);
  puzzle.walk(kUp);
  CHECK(puzzle.truncated()[0] == 1 && puzzle.terminated()[0] == 0);
  CHECK_EQ(puzzle.out<float>(kObjective)[0], 0.0f);
}

GE_TEST(cells_and_planes_show_the_same) {
  const std::string all = replaced(replaced(kRow, 3, "#   *    #"), 6, "##       #");
  Puzzle cells(all), planes(all, {{"encoding", "planes"}});
  for (const int way : {kRight, kUp, kRight, kDown, kRight, kDown, kLeft, kUp}) {
    cells.walk(way), planes.walk(way);
    const std::vector<uint8_t> marks = cells.out<uint8_t>(kObservation);
    const std::vector<uint8_t> bits = planes.out<uint8_t>(kObservation);
    CHECK_EQ(marks.size(), size_t(100));
    CHECK_EQ(bits.size(), size_t(400));
    for (size_t k = 0; k < 100; ++k) {
      const uint8_t* const cell = &bits[4 * k];
      const int wall = cell[0], goal = cell[1], box = cell[2], me = cell[3];
      CHECK(wall + box + me <= 1 && wall + goal <= 1);
      CHECK_EQ(int(marks[k]), wall != 0 ? 0 : me != 0 ? 5 + goal : box != 0 ? 4 - goal : 1 + goal);
    }
  }
}

GE_TEST(planes_around_the_player_move_with_it) {
  const std::string all = replaced(replaced(kRow, 3, "#   *    #"), 6, "##       #");
  Puzzle board(all, {{"encoding", "planes"}}), around(all, {{"encoding", "around"}});
  constexpr int kAcross = 15, kMiddle = 7;
  for (const int way : {kRight, kUp, kLeft, kLeft, kLeft, kUp, kDown, kDown, kRight}) {
    board.walk(way), around.walk(way);
    const std::vector<uint8_t> planes = board.out<uint8_t>(kObservation);
    const std::vector<uint8_t> seen = around.out<uint8_t>(kObservation);
    CHECK_EQ(seen.size(), size_t(3 * kAcross * kAcross));
    const auto [row, column] = board.player();
    for (int y = 0; y < kAcross; ++y)
      for (int x = 0; x < kAcross; ++x) {
        const int at_y = row + y - kMiddle, at_x = column + x - kMiddle;
        const bool is_on = at_y >= 0 && at_y < 10 && at_x >= 0 && at_x < 10;
        for (int plane = 0; plane < 3; ++plane) {
          const int shown = is_on ? planes[size_t(4 * (10 * at_y + at_x) + plane)] : plane == 0;
          CHECK_EQ(int(seen[size_t(3 * (kAcross * y + x) + plane)]), shown);
        }
      }
  }
}

GE_TEST(every_range_of_pushes_has_levels) {
  const std::pair<int, int> kRanges[] = {{0, 0}, {0, 3}, {4, 4}, {8, 9}, {49, 50}, {60, 1023}};
  for (const char* difficulty : {"any", "easy", "hard"})
    for (const auto& [low, high] : kRanges) {
      Config config;
      config.worlds = 50;
      config.parameters = {{"difficulty", difficulty}, {"pushes_low", low}, {"pushes_high", high}};
      Simulation simulation("SokobanGrid-v0", config);
      simulation.reset(1);
      int most = 0;
      for (const int level : simulation.get<int32_t>("player.level")) {
        CHECK(level >= 0);
        most = std::max(most, level);
      }
      CHECK(most < 100000);
    }
}

GE_TEST(levels_are_turned_in_eight_ways) {
  Puzzle puzzle;
  const uint64_t boxes = puzzle.get<uint64_t>("player.boxes")[0];
  const int player = puzzle.get<int32_t>("player.cell")[0];
  std::set<std::pair<uint64_t, uint64_t>> seen;
  for (int symmetry = 0; symmetry < kSymmetries; ++symmetry) {
    ResetRequest request;
    request.options = {{"symmetry", double(symmetry)}};
    puzzle.reset(request);
    uint64_t expected = 0;
    for (int cell = 0; cell < kInner; ++cell)
      if ((boxes >> cell & 1u) != 0) expected |= uint64_t{1} << turned(cell, symmetry);
    CHECK_EQ(puzzle.get<uint64_t>("player.boxes")[0], expected);
    CHECK_EQ(turned(gpu_envs::envs::sokoban::Cells{boxes}, symmetry), expected);
    CHECK_EQ(puzzle.get<int32_t>("player.cell")[0], turned(player, symmetry));
    seen.emplace(expected, puzzle.get<uint64_t>("player.goals")[0]);
  }
  CHECK_EQ(seen.size(), size_t(kSymmetries));
}

GE_TEST(any_bits_are_played_within_the_board) {
  Puzzle puzzle;
  const uint64_t strange[] = {0, ~uint64_t{0}, 0x8000000000000001u, 0xf0f0f0f00f0f0f0fu};
  for (const uint64_t walls : strange)
    for (const uint64_t boxes : strange)
      for (int cell = 0; cell < kInner; ++cell) {
        puzzle.put("walls", walls), puzzle.put("boxes", boxes), puzzle.put("goals", ~boxes);
        puzzle.set<int32_t>("player.cell", {cell});
        puzzle.walk(cell % 4);
        const int now = puzzle.get<int32_t>("player.cell")[0];
        CHECK(now >= 0 && now < kInner);
      }
}

GE_TEST(scene_has_a_piece_for_each_thing) {
  Puzzle puzzle;
  Scene scene;
  CHECK(puzzle->scene(0, scene));
  CHECK(scene.board.has_value());
  CHECK_EQ(scene.board->pieces.size(), size_t(36 + 4 + 4 + 1));
}

GE_TEST(levels_that_cannot_be_read_are_refused) {
  const auto check = [](const std::string& levels, const char* message) {
    CHECK_THROWS(Puzzle{levels}, Error, message);
  };
  check("\n", "levels: it has no levels");
  check(replaced(kRow, 4, "#  $.     "), "levels: line 5: the outermost cells must be walls");
  check(replaced(kRow, 4, "#  $.  #"), "levels: line 5: a row has 8 characters");
  check(replaced(kRow, 4, "#  $. x  #"), "levels: line 5: column 7: known are");
  check(replaced(kRow, 4, "#  $. @  #"), "levels: line 10: the level above has 2 players");
  check(replaced(kRow, 4, "#   .    #"), "levels: line 10: the level above has 3 boxes");
  check(replaced(kRow, 4, "#  $     #"), "levels: line 10: the level above has 3 goals");
  std::string solved = kRow;
  for (size_t at; (at = solved.find("$.")) != solved.npos;) solved.replace(at, 2, "* ");
  check(solved, "levels: line 10: the level above is solved already");
  check(kRow + "##########\n", "levels: line 11: an eleventh row");
  check("; 1\n" + kRow.substr(0, 44) + "\n", "levels: line 6: the level above has 4 rows");
  check("nowhere.txt", "the file 'nowhere.txt' is missing");
  CHECK_THROWS(Puzzle(kRow, {{"split", "test"}}), Error, "leave them out beside levels");
}
