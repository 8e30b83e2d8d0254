// How bodies walk, jump, climb, turn and meet: megaverse's numbers, on floors laid out by hand.
// environment: obstacles_easy
#include "courses.hpp"

using namespace ge;
using namespace ge::test;

namespace {

const char* const kPlain = "floor 0 0 0 40 40 0; agent 20.5 5.5 1";

/// Who stands before what begins at y = 10, `distance` metres away.
std::string before(double distance, const std::string& things) {
  return "floor 0 0 0 20 30 0;" + things + "; agent 10.5 " + std::to_string(10 - 0.33 - distance) +
         " 1";
}
/// Holds forward and jump; whether it gets on top of something `high`.
bool climbs(Course& course, double high, int steps = 60) {
  for (int k = 0; k < steps; ++k) {
    course.act("fj");
    if (course.stands() && course.feet() > high - 0.11) return true;
  }
  return false;
}

}  // namespace

GE_TEST(jump_has_the_heights_of_the_reference) {
  Course course({}, kPlain);
  const double heights[] = {0.352, 0.644, 0.874, 1.044, 1.152, 1.199,
                            1.186, 1.111, 0.976, 0.780, 0.522, 0.204};
  course.act("j");
  for (const double height : heights) {
    check_near("height", course.feet() - 1, height, 1e-3);
    CHECK(!course.stands());
    course.act("-");
  }
  CHECK(course.stands());  // in the 13th step
  CHECK_EQ(course.feet(), 1.0f);
}

GE_TEST(jump_at_full_speed_flies_four_metres) {
  Course course({}, kPlain);
  course.act("f", 5);
  const float from = course.at(0, 1);
  course.act("fj");
  int steps = 1;
  for (; !course.stands(); ++steps) course.act("f");
  CHECK_EQ(steps, 13);
  check_near("flight", course.at(0, 1) - from, 3.9, 0.05);
}

GE_TEST(first_step_is_short_and_letting_go_coasts) {
  Course course({}, kPlain);
  for (const double place : {0.222, 0.522, 0.822}) {
    course.act("f");
    check_near("walked", course.at(0, 1) - 5.5, place, 1e-3);
  }
  const float from = course.at(0, 1);
  course.act("-", 4);
  check_near("coasted", course.at(0, 1) - from, 0.533, 1e-3);
  course.act("-");
  check_near("at rest", course.at(0, 1) - from, 0.533, 1e-3);
}

GE_TEST(diagonals_are_as_fast_as_straight_ways) {
  Course course({}, kPlain);
  course.act("fl", 3);
  check_near("ahead", course.at(0, 1) - 5.5, 0.822 * std::sqrt(0.5), 1e-3);
  check_near("left", course.at(0, 0) - 20.5, -0.822 * std::sqrt(0.5), 1e-3);
}

GE_TEST(left_turns_make_a_circle_and_forward_follows_them) {
  Course course({}, kPlain);
  course.act("L", 27);
  check_near("yaw", course.yaw(), 6.3 - 4 * kHalfPi, 1e-5);
  course.lay("floor 0 0 0 40 40 0; agent 20.5 20.5 1 yaw 1.5707963");
  course.act("f", 2);
  check_near("x", course.at(0, 0) - 20.5, -0.522, 1e-3);
  check_near("y", course.at(0, 1) - 20.5, 0, 1e-3);
}

GE_TEST(gaze_ends_at_its_limit_and_goes_down_faster) {
  Course course({}, kPlain);
  course.act("u", 2);
  check_near("up", course.pitch(), 0.2, 1e-6);
  for (const double pitch : {0.09, -0.02, -0.13, -0.2, -0.2}) {
    course.act("d");
    check_near("down", course.pitch(), pitch, 1e-6);
  }
  Course wide(Values{{"look_limit", 1.0}}, kPlain);
  wide.act("u", 5);
  check_near("wide", wide.pitch(), 0.5, 1e-6);
}

GE_TEST(ledge_of_one_cell_is_climbed_and_of_two_never) {
  for (int k = 0; k < 200; ++k) {
    const double distance = draw(1, 0, 0, 0, 0, 0, uint32_t(k), 0).uniform(0) * 3;
    Course high({}, before(distance, "floor 0 10 1 20 14 2"));
    CHECK(!climbs(high, 3, 45));
    if (k % 10 != 0) continue;
    Course low({}, before(distance, "floor 0 10 1 20 14 1"));
    CHECK(climbs(low, 2));
  }
}

GE_TEST(box_before_a_ledge_of_two_cells_is_its_step) {
  Course course({}, before(2, "floor 0 10 1 20 14 2; box 10 9 1"));
  CHECK(climbs(course, 3));
}

GE_TEST(walls_stop_a_body_at_its_radius_and_let_it_slide) {
  Course course({}, before(1, "wall 0 10 1 20 10 4"));
  course.act("f", 20);
  check_near("y", course.at(0, 1), 10 - 0.33, 1e-3);
  const float from = course.at(0, 0);
  course.act("fr", 20);
  check_near("y", course.at(0, 1), 10 - 0.33, 1e-3);
  CHECK(course.at(0, 0) - from > 3.5f);
}

GE_TEST(corner_holds_a_body_from_both_sides) {
  Course course({}, before(1, "wall 0 10 1 20 10 4; wall 12 0 1 12 10 4"));
  course.act("fr", 30);
  check_near("x", course.at(0, 0), 12 - 0.33, 1e-3);
  check_near("y", course.at(0, 1), 10 - 0.33, 1e-3);
}

GE_TEST(ceiling_ends_a_jump) {
  Course course({}, "floor 0 0 0 20 20 0; floor 0 0 3 20 20 3; agent 10.5 10.5 1");
  course.act("j");
  check_near("bumped", course.feet(), 3 - 1.71, 1e-3);
  course.act("-", 3);  // falls from rest, by 0.06, 0.12, 0.18 m
  CHECK(course.stands());
}

GE_TEST(low_steps_are_walked_over) {
  // A box is 0.1 m lower than the floor beside it.
  Course course({}, "floor 0 0 0 20 20 0; floor 0 6 1 20 9 1; box 10 10 1; agent 10.5 7.5 2");
  course.act("f", 40);
  CHECK(course.at(0, 1) > 11);
  course.lay("floor 0 0 0 20 20 0; floor 0 11 1 20 15 1; box 10 10 1; agent 10.5 10.5 1.8985");
  course.act("f", 8);
  check_near("up", course.feet(), 2, 1e-3);
}

GE_TEST(steep_edge_does_not_hold_a_body) {
  // Its middle 0.3 m beyond the edge: the normal there is 65 degrees from upright.
  Course course({}, "floor 0 0 0 20 20 0; wall 0 10 1 20 10 3; agent 10.5 9.7 4.1");
  course.act("-", 30);
  check_near("feet", course.feet(), 1, 1e-3);
  CHECK(course.stands());
}

GE_TEST(agents_cannot_pass_through_one_another) {
  Course course(Values{{"agent_count", int64_t{2}}},
                "floor 0 0 0 4 20 0; wall 0 0 1 1 20 5; wall 3 0 1 4 20 5;"
                "agent 2.5 5.5 1; agent 2.5 9.5 1 yaw 3.1415926");
  for (int k = 0; k < 60; ++k) {
    course.act("f f");
    const double dx = course.at(0, 0) - course.at(1, 0), dy = course.at(0, 1) - course.at(1, 1);
    const double dz = std::fabs(course.at(0, 2) - course.at(1, 2));
    CHECK(std::sqrt(dx * dx + dy * dy) > 0.66 - 1e-3 || dz > 1.05);
    CHECK(course.at(0, 1) < course.at(1, 1));
  }
}

GE_TEST(crowd_of_eight_never_overlaps_and_stays_on_its_floor) {
  std::string layout =
      "floor 0 0 0 8 8 0; wall 0 0 1 8 0 8; wall 0 8 1 8 8 8; wall 0 0 1 0 8 8;"
      "wall 8 0 1 8 8 8";
  for (int k = 0; k < 8; ++k)
    layout +=
        "; agent " + std::to_string(1.5 + k % 4 * 1.5) + " " + std::to_string(2 + k / 4 * 3) + " 1";
  Course course(Values{{"agent_count", int64_t{8}}}, layout);
  for (uint32_t k = 0; k < 600; ++k) {
    course.step_random(3, k);
    const auto at = course.get<float>("agents.position");
    for (size_t a = 0; a < 8; ++a) {
      CHECK(at[3 * a + 2] > 1.8f);
      for (size_t b = 0; b < a; ++b) {
        const double dx = at[3 * a] - at[3 * b], dy = at[3 * a + 1] - at[3 * b + 1];
        const double dz = std::max(std::fabs(at[3 * a + 2] - at[3 * b + 2]) - 1.05, 0.0);
        CHECK(std::sqrt(dx * dx + dy * dy + dz * dz) > 0.66 - 0.042);
      }
    }
  }
}
