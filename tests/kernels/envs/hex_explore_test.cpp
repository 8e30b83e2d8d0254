// HexExplore-v0, rule by rule, in mazes of seven cells.
#include "playground.hpp"

namespace {

using namespace ge;
using namespace ge::test;

constexpr float kInner = 3.0310889f;  // from the middle of a cell to a wall [m]
constexpr int kMiddle = 84;           // number of cell (0, 0)

class Maze : public Playground {
 public:
  explicit Maze(Values more = {}) : Playground("HexExplore-v0", with(std::move(more))) {}
  static Values with(Values more) {
    more.insert({"side_low", int64_t{2}});
    more.insert({"side_high", int64_t{2}});
    return more;
  }
  /// Away from everybody and the diamond.
  void part(int agents) {
    std::vector<float> at;
    for (int k = 0; k < agents; ++k) at.insert(at.end(), {3.0f - 0.9f * float(k), 5.2f, kStanding});
    write<float>("agents.position", at);
    write<int32_t>("task.target", {kMiddle});
  }
};

}  // namespace

GE_TEST(diamond_is_found_within_79_centimetres_of_who_stands) {
  for (const float away : {0.80f, 0.78f}) {
    Maze maze;
    maze.part(1);
    maze.stand(away, 0, 0);
    maze.act("-");
    CHECK_EQ(maze.paid(), away < 0.79f ? 5.0f : 0.0f);
    CHECK_EQ(maze.word("task.solved"), away < 0.79f ? 1 : 0);
  }
}

GE_TEST(episode_ends_four_steps_after_the_diamond_was_found) {
  Maze maze;
  maze.part(1);
  maze.stand(0, 0, 0);
  maze.act("-");
  CHECK_EQ(maze.paid(), 5.0f);
  for (int k = 0; k < 4; ++k) {
    CHECK(!maze.done());
    maze.act("-");
    CHECK_EQ(maze.paid(), 0.0f);
  }
  CHECK(maze.done());
}

GE_TEST(the_first_who_finds_it_shares_with_the_team) {
  Maze maze({{"agent_count", int64_t{2}}, {"team_spirit", 0.5}});
  maze.part(2);
  maze.write<float>("agents.position", {3.0f, 5.2f, kStanding, 0, 0, kStanding});
  maze.act("-");
  CHECK_EQ(maze.paid(0), 1.25f);
  CHECK_EQ(maze.paid(1), 3.75f);
}

GE_TEST(walls_of_every_direction_stop_a_body_beside_them) {
  for (int way = 0; way < 6; ++way) {
    Maze maze;
    maze.part(1);
    maze.write<int32_t>("task.target", {0});
    maze.write<uint8_t>("walls.cell", {uint8_t(kMiddle)});
    maze.write<uint8_t>("walls.way", {uint8_t(way)});
    const double angle = way * 1.0471976;
    const float x = float(std::cos(angle)), y = float(std::sin(angle));
    // Yaw 0 looks along +y.
    maze.stand(1.2f * x, 1.2f * y, 0,
               float(angle - kHalfPi > 3.2 ? angle - 5 * kHalfPi : angle - kHalfPi));
    maze.act("f", 12);
    const double along = maze.at(0, 0) * double(x) + maze.at(0, 1) * double(y);
    const double aside = maze.at(0, 1) * double(x) - maze.at(0, 0) * double(y);
    check_near("distance from the wall", kInner - along, 0.15 + 0.33, 1e-3);
    check_near("aside", aside, 0, 1e-3);
    // Slides along at an angle, as close as before.
    maze.act("fl", 2);
    check_near("distance from the wall",
               kInner - (maze.at(0, 0) * double(x) + maze.at(0, 1) * double(y)), 0.15 + 0.33, 1e-3);
    CHECK(std::fabs(maze.at(0, 1) * double(x) - maze.at(0, 0) * double(y)) > 0.15);
  }
}

GE_TEST(agent_who_falls_off_the_floor_returns_to_where_it_began) {
  Maze maze;
  const auto home = maze.get<int32_t>("agents.home");
  maze.stand(0, 0, -22.0f);
  maze.write<int32_t>("agents.grounded", {0});
  maze.act("-");
  CHECK_EQ(maze.at(0, 0), float(home[0]) + 0.5f);
  CHECK_EQ(maze.at(0, 1), float(home[1]) + 0.5f);
  check_near("height", maze.feet(), 0, 1e-6);
}
