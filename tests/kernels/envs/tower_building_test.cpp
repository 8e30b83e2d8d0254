// The rules of TowerBuilding on rooms laid out by hand: where boxes are put down, what they are
// worth, who is paid, time; and what is drawn. How bodies move and hands work: tests/kernels/voxel.
#include <set>

#include "playground.hpp"

using namespace ge;
using namespace ge::test;

namespace {

const std::string kGround = "floor 0 0 0 20 20 0;";
enum Part { kPick, kVisit, kTower };

class Room : public Playground {
 public:
  explicit Room(const std::string& layout, Values parameters = {},
                Autoreset autoreset = Autoreset::disabled)
      : Playground("TowerBuilding-v0", with_agents(layout, std::move(parameters)), layout,
                   autoreset) {}
  float part(int agent, Part which) const {
    return out<float>(kRewardParts)[size_t(3 * agent + which)];
  }
  int height() const { return word("site.highest"); }
  /// Twentieths.
  int worth() const { return word("site.worth"); }

 private:
  static Values with_agents(const std::string& layout, Values parameters) {
    int64_t agents = 0;
    for (size_t at = layout.find("agent "); at != std::string::npos; at = layout.find("agent ", at))
      ++agents, ++at;
    parameters.insert({"agent_count", std::max<int64_t>(agents, 1)});
    return parameters;
  }
};

/// An agent on a step as high as a tower before it; a box of the same height to its left.
std::string beside_tower(int height) {
  const std::string z = std::to_string(height), below = std::to_string(height - 1);
  std::string text = kGround + "zone 5 4 1 5 4 1; agent 5.5 3.5 " + z + ";";
  for (int k = 1; k < height; ++k) text += "box 5 4 " + std::to_string(k) + ";";
  if (height > 1) text += "floor 5 3 1 5 3 " + below + "; floor 4 3 1 4 3 " + below + ";";
  return text + "box 4 3 " + z;
}
/// Lifts the box to the left and puts it down ahead.
void move_box(Room& room, int height) {
  room.stand(5.5f, 3.5f, float(height), float(kHalfPi));
  room.act("i");
  CHECK(room.carries() >= 0);
  room.stand(5.5f, 3.5f, float(height));
  room.act("i");
}

void check_layout(const std::string& layout, const char* message) {
  CHECK_THROWS(Room{layout}, Error, message);
}

}  // namespace

// ---- the zone

GE_TEST(boxes_are_put_down_in_the_zone_alone) {
  Room room(kGround + "zone 6 8 1 5 7 1; box 10 10 1; agent 10.5 9.5 1");
  room.act("i");
  for (int x = 3; x < 9; ++x)
    for (int y = 5; y < 11; ++y) {
      const bool in_zone = x >= 5 && x <= 6 && y >= 7 && y <= 8;
      room.stand(float(x) + 0.5f, float(y) - 0.5f, 1);
      room.act("i");
      CHECK_EQ(room.carries() == -1, in_zone);
      if (!in_zone) continue;
      CHECK(room.box_is_at(0, x, y, 1));
      room.act("i");  // and lifted again
      CHECK_EQ(room.carries(), 0);
    }
}

GE_TEST(zone_has_no_height_and_boxes_fall_to_its_floor) {
  Room room(kGround +
            "floor 5 3 1 5 3 5; floor 4 3 1 4 3 5; zone 5 4 1 5 4 1; box 4 3 6;"
            "agent 5.5 3.5 6");
  move_box(room, 6);
  CHECK(room.box_is_at(0, 5, 4, 1));
  check_near("pay", room.part(0, kTower), 0.15, 1e-6);
  CHECK_EQ(room.height(), 1);
}

GE_TEST(heights_count_from_the_zone_on) {
  Room room("floor 0 0 0 9 9 3; zone 5 4 4 5 4 4; box 4 3 4; agent 5.5 3.5 4");
  move_box(room, 4);
  CHECK(room.box_is_at(0, 5, 4, 4));
  CHECK_EQ(room.height(), 1);
  CHECK_EQ(room.worth(), 3);
}

GE_TEST(box_below_the_zone_is_worth_nothing) {
  Room room("floor 0 0 0 20 3 0; zone 5 4 1 5 6 1; box 4 3 1; agent 5.5 3.5 1");
  move_box(room, 1);
  CHECK(room.box_is_at(0, 5, 4, -30));
  CHECK_EQ(room.part(0, kTower), 0.0f);
  CHECK_EQ(room.height(), 0);
}

// ---- worth

GE_TEST(worth_grows_with_height_up_to_twenty_and_a_twentieth_a_metre) {
  const struct {
    int height;
    double worth;
  } cases[] = {{1, 0.15}, {2, 0.3},  {3, 0.55},  {4, 1.0},   {5, 1.85},  {6, 3.5},
               {7, 6.75}, {8, 13.2}, {9, 20.45}, {10, 20.5}, {20, 21.0}, {45, 22.25}};
  for (const auto& one : cases) {
    Room room(beside_tower(one.height));
    move_box(room, one.height);
    CHECK(room.box_is_at(one.height - 1, 5, 4, one.height));
    check_near("worth", room.part(0, kTower), one.worth, 1e-5);
    CHECK_EQ(room.height(), one.height);
  }
}

GE_TEST(boxes_of_the_start_are_not_paid_for) {
  Room room(kGround + "zone 4 4 1 8 8 1; box 5 4 1; box 6 6 1; box 6 6 2; agent 5.5 3.5 1");
  CHECK_EQ(room.worth(), 3 + 3 + 6);
  CHECK_EQ(room.height(), 0);
  room.act("i");
  CHECK_EQ(room.part(0, kTower), 0.0f);
  room.act("i");
  CHECK_EQ(room.part(0, kTower), 0.0f);
  CHECK_EQ(room.height(), 1);
}

GE_TEST(box_that_leaves_the_zone_is_charged_when_the_next_is_put_down) {
  Room room(kGround + "zone 4 4 1 12 8 1; box 5 4 1; box 9 4 1; agent 5.5 3.5 1; agent 9.5 3.5 1",
            {{"team_spirit", 0.0}});
  room.act("i i");
  room.act("- i");
  CHECK_EQ(room.part(0, kTower), 0.0f);
  check_near("charged", room.part(1, kTower), -0.15, 1e-6);
  room.act("i -");
  check_near("paid", room.part(0, kTower), 0.15, 1e-6);
  CHECK_EQ(room.part(1, kTower), 0.0f);
}

GE_TEST(height_never_falls) {
  Room room(beside_tower(3) + "; floor 5 2 1 5 2 1; zone 5 2 2 5 2 2");
  move_box(room, 3);
  CHECK_EQ(room.height(), 3);
  room.act("i");
  CHECK_EQ(room.carries(), 2);
  room.stand(5.5f, 3.5f, 3, 3.1415926f);
  room.act("i");
  CHECK(room.box_is_at(2, 5, 2, 2));  // height 1 of the second zone
  check_near("charged", room.part(0, kTower), 0.15 - 0.55, 1e-6);
  CHECK_EQ(room.height(), 3);
}

// ---- rewards

GE_TEST(first_box_and_first_visit_are_paid_once_for_each_agent) {
  Room room(kGround + "zone 4 3 1 10 9 1; box 5 4 1; box 9 4 1; agent 5.5 3.5 1; agent 9.5 3.5 1",
            {{"pick_reward", 2.0}, {"visit_reward", 3.0}, {"team_spirit", 0.0}});
  for (int step = 0; step < 6; ++step) {
    room.act("- i");
    CHECK_EQ(room.part(1, kPick), step == 0 ? 2.0f : 0.0f);
    CHECK_EQ(room.part(1, kVisit), step == 0 ? 3.0f : 0.0f);
    CHECK_EQ(room.part(0, kPick) + room.part(0, kVisit), 0.0f);
  }
  room.act("i -");
  CHECK_EQ(room.part(0, kPick), 2.0f);
  CHECK_EQ(room.part(0, kVisit), 3.0f);
  CHECK_EQ(room.part(1, kPick) + room.part(1, kVisit), 0.0f);
}

GE_TEST(visit_needs_a_box_and_the_body_in_the_zone) {
  Room room(kGround + "zone 5 4 1 8 9 1; box 4 3 1; agent 5.5 3.9 1");
  room.act("i");  // nothing there
  room.stand(5.5f, 4.5f, 1);
  room.act("-");
  CHECK_EQ(room.part(0, kVisit), 0.0f);  // hands are empty
  room.stand(5.5f, 3.5f, 1, float(kHalfPi));
  room.act("i");
  CHECK_EQ(room.part(0, kVisit), 0.0f);  // outside
  room.stand(5.5f, 3.99f, 1);
  room.act("-");
  CHECK_EQ(room.part(0, kVisit), 0.0f);
  room.stand(5.5f, 4.01f, 1);
  room.act("-");
  check_near("visit", room.part(0, kVisit), 0.1, 1e-6);
}

GE_TEST(team_spirit_divides_all_but_the_first_box) {
  for (const int agents : {1, 2, 4})
    for (const double spirit : {0.0, 0.1, 1.0}) {
      std::string layout = kGround + "zone 5 3 1 5 4 1; box 4 3 1; agent 5.5 3.5 1";
      for (int k = 1; k < agents; ++k)
        layout += "; agent " + std::to_string(7.5 + 2 * k) + " 8.5 1";
      Room room(layout, {{"team_spirit", spirit}});
      room.stand(5.5f, 3.5f, 1, float(kHalfPi));
      const std::string others = [&] {
        std::string text;
        for (int k = 1; k < agents; ++k) text += " -";
        return text;
      }();
      room.act("i" + others);
      double visits = 0, towers = 0;
      for (int agent = 0; agent < agents; ++agent) {
        const double share = (agent == 0 ? 1 - spirit : 0) + spirit / agents;
        check_near("pick", room.part(agent, kPick), agent == 0 ? 0.1 : 0, 1e-6);
        check_near("visit", room.part(agent, kVisit), 0.1 * share, 1e-6);
        visits += room.part(agent, kVisit);
      }
      room.stand(5.5f, 3.5f, 1);
      room.act("i" + others);
      for (int agent = 0; agent < agents; ++agent) {
        const double share = (agent == 0 ? 1 - spirit : 0) + spirit / agents;
        check_near("tower", room.part(agent, kTower), 0.15 * share, 1e-6);
        CHECK_EQ(room.paid(agent), room.part(agent, kTower));
        towers += room.part(agent, kTower);
      }
      check_near("sum of visits", visits, 0.1, 1e-6);
      check_near("sum of towers", towers, 0.15, 1e-6);
    }
}

// ---- time, falls

GE_TEST(episode_ends_with_its_time_whatever_is_built) {
  Room room(kGround + "zone 5 4 1 5 4 1; box 4 3 1; agent 5.5 3.5 1; seconds 1");
  move_box(room, 1);
  int steps = 2;
  for (; !room.done() && steps < 40; ++steps) room.act("-");
  CHECK_EQ(steps, 15);
  CHECK_EQ(room.truncated()[0], uint8_t{0});
  CHECK_EQ(room.out<float>(kState).at(1), 0.0f);  // nothing is solved
  Room drawn("", {{"episode_seconds", 7.0}, {"box_seconds", 2.0}});
  CHECK_EQ(drawn.word("site.length"), 15 * (7 + 2 * drawn.word("site.box_count")));
}

GE_TEST(last_placement_is_paid_with_the_end) {
  Room room(kGround + "zone 5 4 1 5 4 1; box 4 3 1; agent 5.5 3.5 1 yaw 1.5708; seconds 0.2", {},
            Autoreset::same_step);
  room.act("i");
  room.write<float>("agents.yaw", {0});
  room.act("-");
  CHECK(!room.done());
  room.act("i");
  check_near("paid", room.paid(), 0.15, 1e-6);
  CHECK(room.done());
}

GE_TEST(fall_sends_home_with_the_box) {
  Room room("floor 0 0 0 9 9 0; zone 8 3 1 8 3 1; box 8 4 1; agent 8.5 3.5 1");
  room.act("i");
  room.stand(14.5f, 3.5f, -19);
  for (int k = 0; k < 20 && room.at(0, 2) < 0; ++k) room.act("-");
  check_near("x", room.at(0, 0), 8.5, 1e-6);
  check_near("feet", room.feet(), 1, 1e-3);
  CHECK_EQ(room.carries(), 0);
}

// ---- layouts

GE_TEST(words_of_other_games_are_refused) {
  const std::string agent = "; agent 1.5 1.5 1";
  for (const char* const word : {"pad 4 4 1 5 5 1", "lava 4 4 1 5 5 1", "diamond 4 4 1", "hill 1"})
    check_layout(kGround + word + agent, "known are floor, wall, walls, zone, box, agent, seconds");
  check_layout(kGround + "zone 4 4 1 5 5" + agent, "line 1: z is missing");
  check_layout(kGround + "box 5 5 2" + agent, "the box has nothing beneath it");
}

GE_TEST(impossible_parameters_are_refused_by_name) {
  const auto refused = [](const Values& values, const char* message) {
    CHECK_THROWS(Room("", values), Error, message);
  };
  refused({{"zone_low", int64_t{9}}}, "zone_low=9 is above zone_high=8");
  refused({{"materials_high", int64_t{9}}}, "can have 105 boxes, at most 96 are possible");
  refused({{"agent_count", int64_t{9}}}, "agent_count");
}

// ---- what is drawn

namespace {

class Levels : public Simulation {
 public:
  explicit Levels(int64_t worlds, Values parameters = {})
      : Simulation("TowerBuilding-v0", config_of(worlds, std::move(parameters))) {
    reset(1);
  }

 private:
  static Config config_of(int64_t worlds, Values parameters) {
    Config config;
    config.worlds = worlds;
    config.parameters = std::move(parameters);
    config.parameters.insert({"resolution", "1x1"});  // nobody looks
    return config;
  }
};

}  // namespace

GE_TEST(box_counts_are_those_of_the_reference) {
  Levels levels(3000);
  double sum = 0;
  int32_t most = 0;
  for (const int32_t count : levels.get<int32_t>("site.box_count"))
    sum += count, most = std::max(most, count);
  check_near("boxes", sum / 3000, 32.25, 1.2);
  CHECK(most > 60 && most <= 73);
}

GE_TEST(things_begin_in_cells_of_their_own_inside_of_the_walls) {
  constexpr size_t kAgentRows = 8, kBoxRows = 96, kMarkRows = 8, kStaticRows = 24;
  for (const int64_t agents : {1, 8}) {
    Levels levels(300, {{"agent_count", agents}});
    const auto homes = levels.get<int32_t>("agents.home"),
               boxes = levels.get<int32_t>("crates.cell");
    const auto counts = levels.get<int32_t>("site.box_count");
    const auto zones = levels.get<int32_t>("marks.high");
    const auto high = levels.get<float>("statics.high");
    for (size_t world = 0; world < 300; ++world) {
      const float* const end = &high[3 * kStaticRows * world];
      int32_t side[2] = {};
      for (size_t k = 0; k < kStaticRows; ++k)
        for (size_t axis = 0; axis < 2; ++axis)
          side[axis] = std::max(side[axis], int32_t(end[3 * k + axis]));
      std::set<std::tuple<int, int, int>> taken;
      const auto check = [&](const int32_t* at) {
        CHECK(taken.emplace(at[0], at[1], at[2]).second);
        for (int axis = 0; axis < 2; ++axis) CHECK(at[axis] >= 1 && at[axis] < side[axis] - 1);
      };
      for (size_t k = 0; k < size_t(agents); ++k) check(&homes[3 * (world * kAgentRows + k)]);
      for (size_t k = 0; k < size_t(counts[world]); ++k) check(&boxes[3 * (world * kBoxRows + k)]);
      const int32_t* const zone = &zones[3 * kMarkRows * world];
      CHECK(zone[0] < side[0] && zone[1] < side[1]);
    }
  }
}

GE_TEST(resets_never_need_more_rows_than_there_are) {
  Levels levels(5000, {{"agent_count", int64_t{2}}});
  for (int k = 1; k < 4; ++k) levels.reset(ResetRequest{});
  for (const auto& table : levels->faults().tables)
    fail("levels", 0, table.name + " needs " + std::to_string(table.needed) + " rows");
}
