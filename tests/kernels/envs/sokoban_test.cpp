// Sokoban-v0, rule by rule, on levels laid out by hand.
#include "pictures/scene.hpp"
#include "playground.hpp"

namespace {

using namespace ge;
using namespace ge::test;

constexpr double kEast = -kHalfPi, kNorth = 0, kWest = kHalfPi, kSouth = 2 * kHalfPi;
constexpr float kFloor = 2.0f;  // [m]
enum Part { kGoal, kLeave, kAll, kParts };

/// A column of boxes beside their goals, with room around: cells 1 to 8 along x and y.
const std::string kColumn =
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

Values with(const std::string& levels, Values more) {
  more.insert({"levels", levels});
  more.insert({"symmetries", false});
  return more;
}
class Hall : public Playground {
 public:
  explicit Hall(const std::string& levels = kColumn, Values more = {})
      : Playground("Sokoban-v0", with(levels, std::move(more))) {}
  /// Agent 0 in a cell, looking at one next to it and near it.
  void stand_in(int x, int y, double heading, float feet = kFloor) {
    constexpr double kAhead = 0.3;  // of the middle [m]
    stand(float(2 * x + 1 - kAhead * std::sin(heading)),
          float(2 * y + 1 + kAhead * std::cos(heading)), feet, float(heading));
  }
  float part(int agent, Part which) const {
    return out<float>(kRewardParts)[size_t(kParts * agent + which)];
  }
  bool has_box(int box, int x, int y) const { return box_is_at(box, x, y, 1); }
};
std::string replaced(std::string text, size_t row, const std::string& line) {
  return text.replace(11 * row, 10, line);
}

}  // namespace

GE_TEST(box_is_pushed_by_a_cell_and_the_agent_stays) {
  Hall hall;
  CHECK(hall.has_box(0, 3, 7));
  hall.stand_in(2, 7, kEast);
  const float x = hall.at(0, 0), y = hall.at(0, 1);
  hall.act("i");
  CHECK(hall.has_box(0, 4, 7));
  CHECK_EQ(hall.at(0, 0), x);
  CHECK_EQ(hall.at(0, 1), y);
  hall.act("i");  // out of reach now
  CHECK(hall.has_box(0, 4, 7));
  hall.stand_in(5, 7, kWest);
  hall.act("i");
  CHECK(hall.has_box(0, 3, 7));
  hall.stand_in(3, 8, kSouth);
  hall.act("i");  // onto the next box
  CHECK(hall.has_box(0, 3, 7));
  hall.stand_in(3, 3, kNorth);
  hall.act("i");  // the lowest one, onto the one above
  CHECK(hall.has_box(3, 3, 4));
}

GE_TEST(box_is_pushed_from_beside_it_only) {
  Hall hall;
  // Across a corner: the spot is in the box's cell, and the agent's cell only touches it.
  hall.stand(5.7f, 16.3f, kFloor, float(kEast - kHalfPi / 2));
  hall.act("i");
  CHECK(hall.has_box(0, 3, 7));
  hall.stand_in(2, 7, kEast, 5.0f);  // from high above the floor
  hall.act("i");
  CHECK(hall.has_box(0, 3, 7));
  hall.stand_in(2, 7, kWest);  // with the back to it
  hall.act("i");
  CHECK(hall.has_box(0, 3, 7));
}

GE_TEST(box_is_not_pushed_into_a_wall_or_an_agent) {
  Hall hall(replaced(kColumn, 2, "# @$#.   #"), {{"agent_count", int64_t{2}}});
  hall.stand_in(2, 7, kEast);
  hall.act("i -");
  CHECK(hall.has_box(0, 3, 7));
  // The second agent stands where the second box would go.
  hall.write<float>("agents.position",
                    {5.0f, 13.0f, kFloor + kStanding, 9.0f, 13.0f, kFloor + kStanding});
  hall.act("i -");
  CHECK(hall.has_box(1, 3, 6));
  hall.write<float>("agents.position",
                    {5.0f, 13.0f, kFloor + kStanding, 13.0f, 13.0f, kFloor + kStanding});
  hall.act("i -");
  CHECK(hall.has_box(1, 4, 6));
}

GE_TEST(nothing_is_pushed_by_walking_and_nobody_jumps_onto_a_box) {
  Hall hall;
  hall.stand_in(2, 7, kEast);
  hall.act("f", 20);
  CHECK(hall.has_box(0, 3, 7));
  check_near("where the box stops it", hall.at(0, 0), 7.0 - 0.92 - 0.33, 1e-3);
  for (int k = 0; k < 60; ++k) hall.act("fj");
  CHECK(hall.has_box(0, 3, 7));
  check_near("still", hall.at(0, 0), 7.0 - 0.92 - 0.33, 1e-3);
}

GE_TEST(rewards_are_paid_when_boxes_come_and_go) {
  Hall hall;
  hall.stand_in(2, 7, kEast);
  hall.act("i");
  CHECK_EQ(hall.paid(), 1.0f);
  CHECK_EQ(hall.part(0, kGoal), 1.0f);
  hall.stand_in(3, 7, kEast);
  hall.act("i");
  CHECK_EQ(hall.paid(), -1.0f);
  CHECK_EQ(hall.part(0, kLeave), -1.0f);
  hall.act("-");
  CHECK_EQ(hall.paid(), 0.0f);
}

GE_TEST(all_boxes_on_goals_end_the_episode_four_steps_later) {
  Hall hall;
  float total = 0;
  for (int row = 7; row >= 4; --row) {
    hall.stand_in(2, row, kEast);
    hall.act("i");
    total += hall.paid();
  }
  CHECK_EQ(total, 14.0f);
  CHECK_EQ(hall.part(0, kAll), 10.0f);
  for (int k = 0; k < 3; ++k) {
    hall.act("-");
    CHECK(!hall.done());
  }
  hall.act("-");
  CHECK(hall.done());
  CHECK_EQ(hall.out<float>(kObjective)[0], 1.0f);
}

GE_TEST(episode_lasts_eighty_seconds) {
  Hall hall;
  hall.act("-", 1199);
  CHECK(!hall.done());
  hall.act("-");
  CHECK(hall.done());
  CHECK_EQ(hall.out<float>(kObjective)[0], 0.0f);
}

GE_TEST(team_shares_what_one_of_it_earns) {
  for (const double spirit : {0.0, 0.1, 1.0})
    for (const int64_t agents : {1, 2, 4}) {
      Hall hall(kColumn, {{"agent_count", agents}, {"team_spirit", spirit}});
      hall.stand_in(2, 7, kEast);
      std::string words = "i";
      for (int64_t k = 1; k < agents; ++k) words += " -";
      hall.act(words);
      float sum = 0;
      for (int agent = 0; agent < int(agents); ++agent) {
        const double own = agent == 0 ? 1 - spirit : 0;
        check_near("share", hall.paid(agent), own + spirit / double(agents), 1e-6);
        sum += hall.paid(agent);
      }
      check_near("sum", sum, 1.0, 1e-6);
    }
}

GE_TEST(agents_begin_in_the_players_cell_and_fall_in) {
  Hall hall(kColumn, {{"agent_count", int64_t{8}}});
  for (int agent = 0; agent < 8; ++agent) {
    CHECK_EQ(hall.at(agent, 0), 4.5f + float(agent & 1));
    CHECK_EQ(hall.at(agent, 1), 14.5f + float(agent >> 1 & 1));
    check_near("height", hall.at(agent, 2), 3.75 + 0.6 * agent, 1e-5);
  }
  hall.act("-", 30);
  for (int agent = 0; agent < 4; ++agent) check_near("feet", hall.feet(agent), kFloor, 0.05);
  for (int agent = 4; agent < 8; ++agent) CHECK(hall.feet(agent) > kFloor + 1.0f);
}

GE_TEST(walls_are_drawn_as_kerbs_and_stop_bodies_high_above_them) {
  Hall hall;
  Scene scene;
  CHECK(hall->scene(0, scene));
  int kerbs = 0;
  for (const Solid& solid : scene.solids) {
    if (std::fabs(solid.half[2] - 0.35f) > 1e-5f) continue;
    check_near("middle of a kerb", solid.position[2], 2.35, 1e-5);
    ++kerbs;
  }
  CHECK_EQ(kerbs, 4);
  hall.stand_in(1, 1, kWest);
  for (int k = 0; k < 60; ++k) hall.act("fj");
  check_near("at the wall", hall.at(0, 0), 2.33, 1e-3);
}

GE_TEST(any_state_is_played_within_the_world) {
  Hall hall(kColumn, {{"agent_count", int64_t{2}}});
  const int32_t far[] = {-(1 << 20), -1, 0, 1, 9, 10, 1 << 20};
  for (const uint64_t bits : {uint64_t{0}, ~uint64_t{0}, uint64_t{0x8001800180018001u}})
    for (const int32_t x : far)
      for (const int32_t z : far) {
        hall.set<uint64_t>("task.walls", {bits});
        hall.set<uint64_t>("task.goals", {~bits});
        hall.write<int32_t>("crates.cell", {x, z, z, z, x, 1, 3, 7, 1, 3, 6, 1});
        hall.write<float>("agents.position", {float(x), float(z), float(x), 5.0f, 15.0f, 2.9f});
        hall.act("fi ri");
        hall.act("ji bi");
        CHECK(std::isfinite(hall.paid(0)));
        hall.reset(1);
      }
}
