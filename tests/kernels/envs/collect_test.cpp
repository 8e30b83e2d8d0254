// The rules of Collect on land laid out by hand: diamonds, falls, hills, boxes, who is paid, the
// end; and land as it is drawn. How hills look: tests/kernels/voxel/hills_test.cpp.
#include <set>

#include "playground.hpp"

using namespace ge;
using namespace ge::test;

namespace {

const std::string kGround = "floor 0 0 0 20 20 0;";
/// Nobody gets there: the level is not solved by other diamonds.
const std::string kFarGreen = kGround + "diamond 18 18 1;";
enum Part { kGood, kBad, kAll, kFall };

class Land : public Playground {
 public:
  explicit Land(const std::string& layout, const Values& parameters = {},
                Autoreset autoreset = Autoreset::disabled)
      : Playground("Collect-v0", parameters, layout, autoreset) {}
  float part(int agent, Part which) const {
    return out<float>(kRewardParts)[size_t(4 * agent + which)];
  }
  int left() const { return word("land.good_left"); }
  /// What is paid over some steps.
  float earn(const std::string& words, int times, Part which, int agent = 0) {
    float sum = 0;
    for (int k = 0; k < times; ++k) act(words), sum += part(agent, which);
    return sum;
  }
};

void check_layout(const std::string& layout, const char* message) {
  CHECK_THROWS(Land{layout}, Error, message);
}

}  // namespace

// ---- diamonds

GE_TEST(green_diamonds_pay_and_red_ones_cost) {
  Land land(kFarGreen + "diamond 5 5 1; diamond 5 7 1 red; agent 5.5 4.5 1");
  CHECK_EQ(land.left(), 2);
  CHECK_EQ(land.earn("f", 5, kGood), 1.0f);
  CHECK_EQ(land.left(), 1);
  CHECK_EQ(land.earn("f", 8, kBad), -1.0f);
  CHECK_EQ(land.left(), 1);
  CHECK_EQ(land.word("land.solved"), 0);
}

GE_TEST(last_green_diamond_pays_all_and_ends_four_steps_later) {
  Land land(kGround + "diamond 5 5 1; diamond 9 9 1 red; agent 5.5 4.5 1");
  int step = 0, success = -1;
  for (; step < 20 && !land.done(); ++step) {
    land.act("f");
    if (land.part(0, kAll) != 0) success = step;
    CHECK_EQ(land.paid(), success == step ? 6.0f : 0.0f);
  }
  CHECK(success >= 0);
  CHECK_EQ(step - 1, success + 4);
}

GE_TEST(level_without_a_green_diamond_ends_with_the_time) {
  Land land(kGround + "diamond 5 5 1 red; agent 5.5 4.5 1; seconds 1");
  for (int step = 1; step <= 15; ++step) {
    land.act("f");
    CHECK_EQ(land.done(), step == 15);
    CHECK_EQ(land.part(0, kAll), 0.0f);
  }
  CHECK_EQ(land.word("land.solved"), 0);
}

GE_TEST(diamond_is_taken_in_its_cell_alone) {
  const struct {
    const char* place;
    bool takes;
  } cases[] = {{"5.01 4.01 1", true}, {"5.99 4.99 1", true},  {"4.99 4.5 1", false},
               {"5.5 5.01 1", false}, {"5.5 4.5 1.2", false}, {"5.5 4.5 3", false}};
  for (const auto& one : cases) {
    Land land(kFarGreen + "diamond 5 4 1; agent " + one.place);
    land.act("-");
    CHECK_EQ(land.part(0, kGood) != 0.0f, one.takes);
  }
}

GE_TEST(team_spirit_divides_all_but_falls) {
  for (const int agents : {1, 2, 4})
    for (const double spirit : {0.0, 0.1, 1.0}) {
      std::string layout = kGround + "diamond 5 4 1; agent 5.5 4.5 1";
      for (int k = 1; k < agents; ++k)
        layout += "; agent " + std::to_string(7.5 + 2 * k) + " 8.5 1";
      Land land(layout, {{"agent_count", int64_t{agents}}, {"team_spirit", spirit}});
      land.act("-");
      double goods = 0, alls = 0;
      for (int agent = 0; agent < agents; ++agent) {
        const double share = (agent == 0 ? 1 - spirit : 0) + spirit / agents;
        check_near("good", land.part(agent, kGood), share, 1e-6);
        check_near("all", land.part(agent, kAll), 5 * share, 1e-5);
        goods += land.part(agent, kGood), alls += land.part(agent, kAll);
      }
      check_near("sum of goods", goods, 1, 1e-6);
      check_near("sum of alls", alls, 5, 1e-5);
      land.stand(30, 30, -21);
      land.act("-");
      for (int agent = 0; agent < agents; ++agent)
        CHECK_EQ(land.part(agent, kFall), agent == 0 ? -1.0f : 0.0f);
    }
}

// ---- falls, time

GE_TEST(fall_pays_once_and_sends_home) {
  Land land("floor 0 0 0 5 5 0; diamond 1 1 1; agent 4.2 4.2 1 yaw 0.3");
  float paid = 0;
  int steps = 0;
  for (; paid == 0 && steps < 60; ++steps) paid += land.earn("f", 1, kFall);
  CHECK_EQ(paid, -1.0f);
  check_near("x", land.at(0, 0), 4.5, 1e-6);
  check_near("feet", land.feet(), 1, 1e-3);
  CHECK_EQ(land.yaw(), 0.0f);
  CHECK_EQ(land.earn("-", 5, kFall), 0.0f);
}

GE_TEST(episode_is_as_long_as_its_diamonds_say) {
  Land land("", {{"episode_seconds", 7.0}, {"diamond_seconds", 3.0}});
  CHECK_EQ(land.word("land.length"), 15 * (7 + 3 * land.word("land.diamond_count")));
}

// ---- hills

GE_TEST(hill_of_one_cell_is_climbed_and_of_two_never) {
  for (const int height : {1, 2}) {
    Land land(kFarGreen + "hill 0 8 20 12 " + std::to_string(height) + "; agent 5.5 6.5 1");
    for (int k = 0; k < 60 && land.at(0, 1) < 9; ++k) land.act("fj");
    CHECK_EQ(land.at(0, 1) >= 9, height == 1);
    if (height == 2) check_near("y", land.at(0, 1), 8 - 0.33, 1e-3);
  }
}

GE_TEST(agent_stands_on_the_column_of_its_cell) {
  for (const int height : {0, 3, 20}) {
    Land land(kFarGreen + "hill 3 3 9 9 20; hill 6 6 6 6 " + std::to_string(height) +
              "; agent 1.5 1.5 1");
    land.stand(6.5f, 6.5f, float(height) + 1.5f);
    land.act("-", 12);
    CHECK(land.stands());
    check_near("feet", land.feet(), 1 + height, 1e-3);
  }
}

// ---- boxes

GE_TEST(boxes_are_put_on_hills_and_not_into_them) {
  Land land(kFarGreen + "hill 5 8 5 8 3; box 5 4 1; agent 5.5 3.5 1");
  land.act("i");
  land.stand(5.5f, 7.5f, 1);
  land.act("i");
  CHECK_EQ(land.carries(), 0);
  land.stand(5.5f, 7.5f, 7);
  land.act("i");
  CHECK(land.box_is_at(0, 5, 8, 4));
}

GE_TEST(box_put_down_beside_the_land_falls_to_the_deepest_cell) {
  Land land(kFarGreen + "box 5 4 1; agent 5.5 3.5 1");
  land.act("i");
  land.stand(5.5f, 20.4f, 1);
  land.act("i");
  CHECK(land.box_is_at(0, 5, 21, -30));
}

// ---- layouts, land that is drawn

GE_TEST(impossible_layouts_are_refused_by_what_is_wrong) {
  const std::string agent = "; agent 1.5 1.5 1";
  check_layout(kGround + "zone 1 1 1 2 2 1" + agent, "known are floor, wall, walls, hill, box");
  check_layout(kGround + "hill 1 1 2 2 1" + agent, "agent 0 is inside of a hill");
  check_layout(kGround + "hill 5 5 5 5 2; box 5 5 2" + agent, "the box is inside of a floor or a");
  check_layout(kGround + "hill 5 5 5 5 2; box 5 5 4" + agent, "the box has nothing beneath it");
  check_layout(kGround + "hill 1 1 41 2 1" + agent, "must be from 0 to 40, got '41'");
  check_layout(kGround + "diamond 5 5 1 blue" + agent, "unknown word 'blue'; known is red");
}

GE_TEST(land_has_the_numbers_of_the_reference_and_a_cell_for_each_thing) {
  constexpr int64_t kWorlds = 500;
  constexpr size_t kSide = 41, kDiamonds = 96, kBoxes = 80, kAgents = 8;
  Config config;
  config.worlds = kWorlds;
  config.parameters = {{"resolution", "1x1"}, {"agent_count", int64_t{2}}};
  Simulation levels("Collect-v0", config);
  levels.reset(1);
  const auto height = levels.get<uint8_t>("columns.height");
  const auto sides_x = levels.get<int32_t>("land.side_x");
  const auto sides_y = levels.get<int32_t>("land.side_y");
  const auto diamonds = levels.get<int32_t>("diamonds.cell");
  const auto boxes = levels.get<int32_t>("crates.cell"), homes = levels.get<int32_t>("agents.home");
  const auto diamond_counts = levels.get<int32_t>("land.diamond_count");
  const auto box_counts = levels.get<int32_t>("land.box_count");
  const auto left = levels.get<int32_t>("land.good_left");
  double sum = 0;
  for (size_t world = 0; world < size_t(kWorlds); ++world) {
    const int cells = sides_x[world] * sides_y[world];
    CHECK_EQ(box_counts[world], std::max(3, cells / 25));
    CHECK(diamond_counts[world] >= 1 && diamond_counts[world] <= (cells + 10) / 20 + 1);
    CHECK(left[world] >= 1 && left[world] <= diamond_counts[world]);
    sum += diamond_counts[world];
    std::set<std::pair<int, int>> taken;
    const auto check = [&](const int32_t* at) {
      CHECK(taken.emplace(at[0], at[1]).second);
      CHECK(at[0] >= 1 && at[0] < sides_x[world] - 1 && at[1] >= 1 && at[1] < sides_y[world] - 1);
      const size_t column = size_t(at[0]) * kSide + size_t(at[1]);
      CHECK_EQ(at[2], 1 + height[world * kSide * kSide + column]);
    };
    for (size_t k = 0; k < 2; ++k) check(&homes[3 * (world * kAgents + k)]);
    for (size_t k = 0; k < size_t(diamond_counts[world]); ++k)
      check(&diamonds[3 * (world * kDiamonds + k)]);
    for (size_t k = 0; k < size_t(box_counts[world]); ++k) check(&boxes[3 * (world * kBoxes + k)]);
  }
  check_near("diamonds", sum / double(kWorlds), 15, 2);
  CHECK(*std::max_element(height.begin(), height.end()) <= 14);
}
