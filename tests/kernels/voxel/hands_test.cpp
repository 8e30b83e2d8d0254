// Picking boxes up, carrying them and putting them down, in worlds laid out by hand.
// environment: obstacles_easy
#include "courses.hpp"

using namespace ge;
using namespace ge::test;

namespace {

/// An agent at (5.5, 3.5) who looks along +y: the spot of its hands is in cell (5, 4, 1).
std::string yard(const std::string& things) {
  return "floor 0 0 0 12 20 0; agent 5.5 3.5 1;" + things;
}

}  // namespace

GE_TEST(box_is_picked_up_carried_and_put_on_the_floor) {
  Course course({}, yard("box 5 4 1"));
  course.act("i");
  CHECK_EQ(course.carries(), 0);
  course.act("f", 8);  // where it stood nothing is in the way
  CHECK(course.at(0, 1) > 5.5f);
  course.act("-", 5);
  course.act("i");
  CHECK_EQ(course.carries(), -1);
  CHECK(course.box_is_at(0, 5, int(std::floor(course.at(0, 1) + 1)), 1));
}

GE_TEST(box_that_stands_blocks) {
  Course course({}, yard("box 5 4 1"));
  course.act("f", 10);
  check_near("y", course.at(0, 1), 4.5 - 0.4485 - 0.33, 1e-3);
}

GE_TEST(box_above_the_spot_is_reached_too) {
  Course course({}, yard("floor 5 4 1 5 4 1; box 5 4 2"));
  course.act("i");
  CHECK_EQ(course.carries(), 0);
}

GE_TEST(box_under_another_is_not_lifted_but_the_upper_one_is) {
  Course two({}, yard("box 5 4 1; box 5 4 2"));
  two.act("i");
  CHECK_EQ(two.carries(), 1);
  Course three({}, yard("box 5 4 1; box 5 4 2; box 5 4 3"));
  three.act("i");
  CHECK_EQ(three.carries(), -1);
}

GE_TEST(one_carries_one_box_at_a_time) {
  Course course({}, yard("box 5 4 1; box 4 4 1"));
  course.act("i");
  course.act("i");  // puts it back
  CHECK_EQ(course.carries(), -1);
  CHECK(course.box_is_at(0, 5, 4, 1));
}

GE_TEST(box_is_put_on_a_box_in_a_jump) {
  Course course({}, yard("box 5 4 1; box 5 6 1"));
  course.act("i");
  course.act("f", 20);
  course.act("-", 5);
  check_near("before the box", course.at(0, 1), 6.5 - 0.4485 - 0.33, 1e-3);
  course.act("i");
  CHECK_EQ(course.carries(), 0);  // its cell is that of the other box
  course.act("j");
  course.act("-", 2);
  course.act("i");
  CHECK_EQ(course.carries(), -1);
  CHECK(course.box_is_at(0, 5, 6, 2));
}

GE_TEST(box_is_put_on_a_box_from_a_step) {
  Course course({},
                "floor 0 0 0 12 20 0; floor 0 0 1 12 3 1; box 5 4 1; box 5 3 2;"
                "agent 5.5 2.4 2");
  course.act("i");
  CHECK_EQ(course.carries(), 1);
  course.act("f", 2);
  course.act("-", 4);
  course.act("i");
  CHECK(course.box_is_at(1, 5, 4, 2));
}

GE_TEST(box_over_a_pit_falls_to_what_holds_it_or_to_the_deepest_cell) {
  Course course({}, "floor 0 0 8 12 3 8; floor 0 4 2 12 5 2; box 5 3 9; agent 5.5 2.5 9");
  course.act("i");
  CHECK_EQ(course.carries(), 0);
  course.act("f", 2);
  course.act("-", 4);
  course.act("i");
  CHECK(course.box_is_at(0, 5, 4, 3));
  Course deep({}, "floor 0 0 8 12 3 8; box 5 3 9; agent 5.5 2.5 9");
  deep.act("i");
  deep.act("f", 2);
  deep.act("-", 4);
  deep.act("i");
  CHECK(deep.box_is_at(0, 5, 4, -30));
}

GE_TEST(box_is_not_put_into_a_wall_nor_onto_another_agent) {
  Course wall({}, yard("box 5 4 1; wall 5 5 1 5 5 4"));
  wall.act("i");
  wall.act("f", 4);
  wall.act("i");
  CHECK_EQ(wall.carries(), 0);
  Course agents(Values{{"agent_count", int64_t{2}}},
                "floor 0 0 0 12 20 0; agent 5.5 3.5 1; agent 5.5 6.5 1; box 5 4 1");
  agents.act("i -");
  CHECK_EQ(agents.carries(0), 0);
  agents.act("f -", 7);
  agents.act("- -", 5);
  CHECK(std::floor(agents.at(0, 1) + 1) == 6);
  agents.act("i -");
  CHECK_EQ(agents.carries(0), 0);  // refused
  agents.act("- r", 6);
  agents.act("i -");
  CHECK_EQ(agents.carries(0), -1);
  CHECK(agents.box_is_at(0, 5, 6, 1));
}

GE_TEST(two_agents_want_a_box_and_the_first_has_it) {
  Course course(Values{{"agent_count", int64_t{2}}},
                "floor 0 0 0 12 20 0; agent 5.5 3.5 1; agent 5.5 5.5 1 yaw 3.1415926; box 5 4 1");
  course.act("i i");
  CHECK_EQ(course.carries(0), 0);
  CHECK_EQ(course.carries(1), -1);
}

GE_TEST(gaze_moves_the_spot) {
  // The spot of someone in a hollow is half a cell too low for a box behind the edge.
  Course course(Values{{"look_limit", 0.6}}, yard("floor 5 4 1 5 4 2; box 5 4 3"));
  course.act("i");
  CHECK_EQ(course.carries(), -1);
  course.act("u", 6);
  course.act("i");
  CHECK_EQ(course.carries(), 0);
}
