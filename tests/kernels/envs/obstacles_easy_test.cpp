// The rules of the obstacle courses on levels laid out by hand: lava, pad, diamonds, falls, time,
// rewards of teams, and layouts that are refused. How bodies move: tests/kernels/voxel.
#include "courses.hpp"

using namespace ge;
using namespace ge::test;

namespace {

const std::string kGround = "floor 0 0 0 20 30 0;";
/// Two cells before a pad.
const std::string kPad = kGround + "pad 8 12 1 12 13 2;";

void check_layout(const std::string& layout, const char* message) {
  CHECK_THROWS(Course({}, layout), Error, message);
}

}  // namespace

// ---- lava, falls

GE_TEST(lava_sends_home_without_a_penalty) {
  Course course({}, kGround + "lava 0 10 1 20 12 1; agent 10.5 8.5 1 yaw 0.1");
  course.act("f", 6);
  CHECK(course.at(0, 1) < 10);
  float paid = 0;
  for (int k = 0; k < 3; ++k) course.act("f"), paid += course.paid();
  CHECK_EQ(paid, 0.0f);
  CHECK(course.at(0, 1) < 9.5f);
  CHECK_EQ(course.yaw(), 0.0f);
  CHECK(!course.done());
}

GE_TEST(lava_is_safe_in_a_jump_and_on_a_box) {
  // Three cells of lava: less than a jump.
  Course course({}, kGround + "lava 0 10 1 20 12 1; agent 10.5 7.5 1");
  course.act("f", 7);
  CHECK(course.at(0, 1) > 9.2f);
  course.act("fj");
  while (!course.stands()) course.act("f");
  CHECK(course.at(0, 1) > 13);
  Course box({}, kGround + "lava 0 10 1 20 12 1; box 10 11 1; agent 10.5 11.5 1.8985");
  box.act("-", 20);
  check_near("stays", box.at(0, 1), 11.5, 1e-3);
}

GE_TEST(fall_returns_to_the_cell_of_the_start_or_above_what_is_there) {
  Course course({}, "floor 0 0 0 4 4 0; agent 2.2 3.4 1 yaw 1");
  course.act("uf");
  for (int k = 0; k < 80 && course.at(0, 2) > -15; ++k) course.act("f");
  CHECK(course.at(0, 2) <= -15);
  const int steps = [&] {
    int k = 0;
    for (; course.at(0, 2) < 0 && k < 20; ++k) course.act("-");
    return k;
  }();
  CHECK(steps < 20);
  check_near("x", course.at(0, 0), 2.5, 1e-6);
  check_near("y", course.at(0, 1), 3.5, 1e-6);
  check_near("feet", course.feet(), 1, 1e-3);
  CHECK_EQ(course.yaw(), 0.0f);
}

// ---- pad, time

GE_TEST(pad_pays_once_for_each_and_once_for_all) {
  Course course({}, kPad + "agent 10.5 10.5 1");
  float exits = 0, alls = 0;
  int success = -1;
  for (int k = 0; k < 40 && !course.done(); ++k) {
    course.act("f");
    exits += course.part(0, 0), alls += course.part(0, 1);
    CHECK_EQ(course.paid(), course.part(0, 0) + course.part(0, 1));
    if (course.paid() > 0) success = k;
    if (course.done()) CHECK_EQ(k, success + 4);
  }
  CHECK(course.done());
  CHECK_EQ(exits, 1.0f);
  CHECK_EQ(alls, 5.0f);
  CHECK_EQ(course.solved(), 1);
}

GE_TEST(all_have_to_stand_on_the_pad_at_once) {
  Course course(Values{{"agent_count", int64_t{2}}},
                kPad + "agent 9.5 12.5 1; agent 11.5 11.5 1 yaw 0");
  course.act("- -");
  CHECK_EQ(course.part(0, 0), 1.0f);
  CHECK_EQ(course.part(1, 0), 0.0f);
  CHECK_EQ(course.part(0, 1), 0.0f);
  course.act("b f", 6);  // one leaves, the other comes
  CHECK_EQ(course.solved(), 0);
  course.act("f -", 9);
  CHECK_EQ(course.solved(), 1);
}

GE_TEST(undisturbed_episode_lasts_as_long_as_it_says) {
  for (const double seconds : {2.0, 2.01, 3.4}) {
    Course course({}, kPad + "agent 10.5 5.5 1; seconds " + std::to_string(seconds));
    int steps = 0;
    for (; !course.done() && steps < 100; ++steps) course.act("-");
    CHECK_EQ(steps, int(std::ceil(15 * seconds - 1e-3)));
    CHECK_EQ(course.truncated()[0], uint8_t{0});
    CHECK_EQ(course.solved(), 0);
    CHECK_EQ(course.out<float>(kState).at(0), 0.0f);  // of the time, none is left
  }
  Course drawn(Values{{"episode_seconds", 1.0}, {"platform_seconds", 2.0}, {"box_seconds", 1.0}});
  CHECK_EQ(drawn.word("course.length"),
           15 * (2 * drawn.word("course.obstacle_count") + drawn.word("course.box_count")));
}

GE_TEST(success_near_the_end_does_not_make_an_episode_longer) {
  Course course({}, kPad + "agent 10.5 11.5 1; seconds 0.4");  // 6 steps
  int steps = 0;
  float total = 0;
  for (; !course.done() && steps < 20; ++steps) course.act("f"), total += course.paid();
  CHECK_EQ(steps, 6);
  CHECK_EQ(total, 6.0f);
}

GE_TEST(last_reward_is_delivered_with_the_end) {
  Course course({}, kPad + "agent 10.5 11.4 1; seconds 0.2", "ObstaclesEasy-v0",
                Autoreset::same_step);
  course.act("f", 2);
  CHECK_EQ(course.paid(), 0.0f);
  course.act("f");
  CHECK_EQ(course.paid(), 6.0f);
  CHECK(course.done());
}

// ---- diamonds, boxes, teams

GE_TEST(diamond_is_taken_once_by_whoever_is_in_its_cell) {
  Course course({}, kGround + "diamond 10 10 1; agent 10.5 9.5 1");
  float total = 0;
  for (int k = 0; k < 8; ++k) course.act("f"), total += course.part(0, 2);
  CHECK_EQ(total, 0.5f);
  CHECK_EQ(course.get<int32_t>("diamonds.left")[0], 0);
}

GE_TEST(box_carried_to_the_pad_pays_its_reward) {
  for (const bool carries : {false, true}) {
    Course course(Values{{"box_reward", 1.0}}, kPad + "box 10 10 1; agent 10.5 9.5 1");
    if (carries) course.act("i");
    float total = 0;
    for (int k = 0; k < 25; ++k) {
      course.act(carries ? "f" : k < 8 ? "fr" : "f");
      total += course.part(0, 3);
    }
    CHECK_EQ(total, carries ? 1.0f : 0.0f);
  }
}

GE_TEST(team_spirit_divides_rewards_but_not_their_sum) {
  for (const int64_t agents : {1, 2, 4}) {
    for (const double spirit : {0.0, 0.1, 1.0}) {
      std::string layout = kPad + "diamond 10 12 1; box 8 10 1; agent 10.5 12.5 1";
      for (int64_t k = 1; k < agents; ++k)
        layout += "; agent " + std::to_string(1.5 + 2 * k) + " 2.5 1";
      Course course(Values{{"agent_count", agents}, {"team_spirit", spirit}}, layout);
      course.act("-");
      double exits = 0, diamonds = 0;
      for (int agent = 0; agent < int(agents); ++agent) {
        const double share = (agent == 0 ? 1 - spirit : 0) + spirit / double(agents);
        check_near("exit", course.part(agent, 0), share, 1e-6);
        check_near("diamond", course.part(agent, 2), 0.5 * share, 1e-6);
        check_near("all", course.part(agent, 1), agents == 1 ? 5 : 0, 1e-6);
        exits += course.part(agent, 0), diamonds += course.part(agent, 2);
      }
      check_near("sum of exits", exits, 1, 1e-6);
      check_near("sum of diamonds", diamonds, 0.5, 1e-6);
    }
  }
}

GE_TEST(everybody_ends_together) {
  Course course(Values{{"agent_count", int64_t{4}}},
                kPad +
                    "agent 1.5 1.5 1; agent 3.5 1.5 1; agent 5.5 1.5 1; agent 7.5 1.5 1;"
                    "seconds 1");
  course.act("-", 14);
  for (const uint8_t ended : course.terminated()) CHECK_EQ(ended, uint8_t{0});
  course.act("-");
  for (const uint8_t ended : course.terminated()) CHECK_EQ(ended, uint8_t{1});
}

// ---- layouts

GE_TEST(later_parts_replace_earlier_ones_and_hidden_walls_collide) {
  Course course({}, "floor 0 0 0 9 9 0; wall 0 9 0 9 9 4; walls hidden; agent 5.5 5.5 1");
  CHECK_EQ(course.word("course.piece_count"), 2);
  const auto shown = course.get<uint32_t>("statics.shown");
  CHECK_EQ(shown[0] + shown[1], 1u);
  course.act("f", 20);
  check_near("y", course.at(0, 1), 9 - 0.33, 1e-3);
}

GE_TEST(impossible_layouts_are_refused_by_what_is_wrong) {
  const std::string agent = "; agent 1.5 1.5 1";
  check_layout("agent 1 1 1", "there is no floor");
  check_layout("floor 0 0 0 9 9 0", "0 agents, but agent_count=1");
  check_layout(kGround + "agent 1 1 1; agent 3 3 1", "one agent more than agent_count=1");
  check_layout("floor 0 0 0 9 9" + agent, "line 1: z is missing");
  check_layout("floor 0 0 0 9 9 0 1" + agent, "one word too many: '1'");
  check_layout("floor 0 0 0 9 9 0.5" + agent, "z must be a whole number, got '0.5'");
  check_layout("floor 0 0 0 9 900 0" + agent,
               "y of 'floor 0 0 0 9 900' must be from 0 to 95, got '900'");
  check_layout(kGround + "agent 1 nan 1", "y of 'agent 1 nan' must be from 0 to 96, got 'nan'");
  check_layout(kGround + "\nflor 1 1 1" + agent, "line 2: unknown thing 'flor'");
  check_layout(kGround + "box 2 2 0" + agent, "the box is inside of a floor or a wall");
  check_layout(kGround + "box 2 2 2" + agent, "the box has nothing beneath it");
  check_layout(kGround + "box 2 2 1; box 2 2 1" + agent, "a box in this cell already");
  check_layout(kGround + "agent 1.5 1.5 0.5", "agent 0 is inside of a floor or a wall");
  check_layout(kGround + "box 2 1 1; agent 1.9 1.5 1", "agent 0 is inside of a box");
  check_layout(kGround + "walls gone" + agent, "walls are hidden or shown, got 'gone'");
  CHECK_THROWS(Course(Values{{"agent_count", int64_t{2}}}, kGround + "agent 1 1 1; agent 1.4 1 1"),
               Error, "agent 1 is inside of agent 0");
}

GE_TEST(impossible_parameters_are_refused_by_name) {
  const auto refused = [](const Values& values, const char* message) {
    CHECK_THROWS(Course(values), Error, message);
  };
  refused({{"gap_low", int64_t{3}}}, "gap_low=3 is above gap_high=2");
  refused({{"walls", false}, {"lava", false}, {"steps", false}, {"gaps", false}}, "must be true");
  refused({{"platform_count_high", int64_t{7}}, {"height_high", int64_t{5}}}, "at most 112");
  refused({{"agent_count", int64_t{9}}}, "agent_count");
}
