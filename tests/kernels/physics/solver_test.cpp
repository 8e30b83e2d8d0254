// The solver against closed forms, and on scenes that break solvers. Numbers in brackets are what
// was measured when the test was written; tolerances say where the difference comes from.
// environment: sandbox
#include "physics/near.hpp"
#include "physics/yard.hpp"

using namespace ge;
using namespace ge::test;
using ph::Vec3;

GE_TEST(rest_of_every_shape_keeps_still) {
  const float heights[] = {1, 1, 2.0f / 3};
  for (int kind = 0; kind < 3; ++kind) {
    Yard yard;
    const int row = yard.upright(kCube + kind, 0, 0, heights[kind], 0.3f);
    const Vec3 before = yard.at(row);
    float fastest = 0;
    for (int k = 0; k < 240; ++k) {
      yard.run(1);
      if (k > 60) fastest = std::max(fastest, yard.speed(row));
    }
    CHECK_BELOW(ph::length(yard.at(row) - before), 0.005);
    CHECK_BELOW(fastest, 0.02);
  }
}

GE_TEST(stack_of_two_three_and_four_stands) {
  for (int high = 2; high <= 4; ++high) {
    Yard yard;
    for (int k = 0; k < high; ++k) yard.upright(kCube, 0, 0, 1 + 2.0f * float(k), 0.1f * float(k));
    yard.run(300);
    const Vec3 top = yard.at(high - 1);
    CHECK_BELOW(std::hypot(top.x, top.y), 0.05);
    CHECK_NEAR(top.z, 1 + 2 * (high - 1), 0.03);
    if (high < 4) CHECK_BELOW(yard.speed(high - 1), 0.02);  // the fourth sways at [0.17]
  }
}

GE_TEST(overhang_of_a_fifth_stands_of_three_fifths_topples) {
  for (const float off : {0.4f, 1.2f}) {
    Yard yard;
    yard.upright(kCube, 0, 0, 1);
    yard.upright(kCube, off, 0, 3);
    yard.run(300);
    if (off < 1)
      CHECK_NEAR(yard.at(1).x, off, 0.01);
    else
      CHECK(yard.at(1).z < 2);
  }
}

GE_TEST(slide_stops_where_coulomb_says) {
  // v^2 / (2 mu g), less half a substep's way.
  for (const int kind : {kCube, kLong, kRamp})
    for (const double mass : {2.0, 16.0})
      for (const float heading : {0.0f, 0.7f, 2.0f}) {
        Yard yard({{"friction", 0.3}, {"mass", mass}});
        yard.upright(kind, 0, 0, kind == kRamp ? 2.0f / 3 : 1.0f);
        yard.run(10);
        const Vec3 before = yard.at(0);
        yard.throw_body(0, {5 * std::cos(heading), 5 * std::sin(heading), 0});
        yard.run(120);
        CHECK_NEAR(ph::length(yard.at(0) - before), 25 / (2 * 0.3 * 9.8), 0.01 * 4.25);
        CHECK_BELOW(yard.yaw(0), 0.02);
      }
}

GE_TEST(corner_drop_gains_no_energy) {
  Yard yard({{"restitution", 0.3}});
  yard.body(kCube, {0, 0, 5}, ph::normalized(ph::Quat{0.88f, 0.325f, 0.28f, 0.2f}));
  const float before = 2 * 9.8f * 5;
  for (int k = 0; k < 300; ++k) {
    yard.run(1);
    const Vec3 v = yard.velocity(0), s = yard.spin(0);
    const float energy = ph::dot(v, v) + 2 * 9.8f * yard.at(0).z + 0.5f * ph::dot(s, s) / 0.75f;
    CHECK(energy < before * 1.01f);
  }
  CHECK_NEAR(yard.at(0).z, 1, 0.01);
  CHECK_BELOW(yard.speed(0), 0.02);
}

GE_TEST(slope_holds_above_the_friction_angle) {
  // A locked wedge of 33.7 degrees; tan = 0.667.
  Yard yard({{"friction", 0.8}});
  yard.upright(kRamp, 0, 0, 2.0f / 3);
  yard.lock(0);
  const float angle = std::atan(2.0f / 3);
  yard.body(kCube, Vec3{0, 0, 2.0f / 3} + Vec3{0, -0.5547002f, 0.8320503f} * 1.5547f,
            {std::cos(angle / 2), std::sin(angle / 2), 0, 0});
  yard.run(15);
  const Vec3 before = yard.at(1);
  yard.run(120);
  CHECK_BELOW(ph::length(yard.at(1) - before), 0.005);
}

GE_TEST(overlapping_cubes_part_gently) {
  Yard yard;
  yard.upright(kCube, 0, 0, 1);
  yard.upright(kCube, 1.5f, 0.1f, 1, 0.05f);
  float fastest = 0;
  for (int k = 0; k < 30; ++k) {
    yard.run(1);
    fastest = std::max({fastest, yard.speed(0), yard.speed(1)});
  }
  CHECK(yard.at(1).x - yard.at(0).x > 1.99f);
  CHECK(fastest < 1);
}

GE_TEST(hopeless_overlap_does_not_explode) {
  Yard yard;
  yard.upright(kCube, 0, 0, 1);
  yard.upright(kCube, 0.2f, 0.1f, 1, 0.5f);
  yard.upright(kLong, 0.5f, 0.2f, 1, 1);
  yard.wall(1, 0, 0.2f, 8, 2.5f);
  float fastest = 0;
  for (int k = 0; k < 90; ++k) {
    yard.run(1);
    for (int row = 0; row < 3; ++row) fastest = std::max(fastest, yard.speed(row));
  }
  CHECK_BELOW(fastest, 25);
}

GE_TEST(pushed_body_keeps_pace_with_the_player) {
  const float front[] = {1, 0.75f, 1};
  const int kinds[] = {kCube, kLong, kRamp};
  for (int k = 0; k < 3; ++k) {
    Yard yard;
    const int player = yard.upright(kPlayer, 0, -1.02f - front[k], 1);
    // The ramp is pushed at its high face.
    const int thing = yard.upright(kinds[k], 0, 0, k == 2 ? 2.0f / 3 : 1, k == 2 ? kHalfTurn : 0);
    const float gap = yard.at(thing).y - yard.at(player).y;
    float deepest = 0;
    for (int s = 0; s < 10; ++s) yard.play({3});
    const float p0 = yard.at(player).y, t0 = yard.at(thing).y;
    for (int s = 0; s < 30; ++s) {
      yard.play({3});
      deepest = std::max(deepest, gap - 0.02f - (yard.at(thing).y - yard.at(player).y));
    }
    const float player_speed = yard.at(player).y - p0, thing_speed = yard.at(thing).y - t0;
    CHECK_NEAR(player_speed, 10, 1);
    CHECK_NEAR(thing_speed / player_speed, 1, 0.05);
    CHECK(deepest < 0.05f);
    CHECK_BELOW(yard.tilt(thing), 0.2);
  }
}

GE_TEST(squeeze_of_one_to_three_players_holds_the_cube) {
  const float limits[] = {0.03f, 0.08f, 0.12f};
  for (int players = 1; players <= 3; ++players) {
    Yard yard;
    for (int k = 0; k < players; ++k)
      yard.upright(kPlayer, players == 3 ? 0.05f * float(k - 1) : 0, 1.7f - 2.05f * float(k), 1);
    const int cube = yard.upright(kCube, 0, 3.78f, 1);
    yard.wall(0, 5, 6, 0.2f, 2.5f);
    float deepest = 0, fastest = 0;
    for (int s = 0; s < 240; ++s) {
      yard.play({3, players > 1 ? 3 : 0, players > 2 ? 3 : 0});
      deepest = std::max(deepest, yard.at(cube).y - 3.8f);
      deepest = std::max(deepest, 2 - (yard.at(cube).y - yard.at(0).y));
      fastest = std::max(fastest, yard.speed(cube));
    }
    CHECK(deepest < limits[players - 1]);
    CHECK(fastest < 30);
    CHECK_BELOW(yard.at(cube).x, 0.5);
    CHECK_NEAR(yard.at(cube).z, 1, 0.1);
  }
}

GE_TEST(locked_ramp_carries_the_player_to_the_top) {
  Yard yard;
  const int player = yard.upright(kPlayer, 0, -4, 1);
  const int ramp = yard.upright(kRamp, 0, 0, 2.0f / 3);
  yard.lock(ramp);
  int arrived = -1;
  for (int s = 0; s < 60 && arrived < 0; ++s) {
    yard.play({3});
    if (yard.at(player).z > 2.95f) arrived = s + 1;
  }
  CHECK(arrived > 0 && arrived < 30);
  CHECK_NEAR(yard.at(player).z, 3, 0.05);
}

GE_TEST(ramp_leads_onto_a_box_without_a_seam) {
  Yard yard;
  const int player = yard.upright(kPlayer, 0, -4, 1);
  yard.lock(yard.upright(kRamp, 0, 0, 2.0f / 3));
  yard.lock(yard.upright(kCube, 0, 2, 1));
  for (int s = 0; s < 26; ++s) yard.play({3});
  CHECK_NEAR(yard.at(player).z, 3, 0.02);
  CHECK(yard.at(player).y > 2.5f);
}

GE_TEST(pendulum_swings_with_its_period) {
  // A small sphere on a ball joint, 2 m below a locked cube:
  // T = 2 pi sqrt(L / g (1 + 2/5 r^2/L^2)).
  Yard yard({{"radius", 0.1}});
  const int pivot = yard.upright(kCube, 0, 0, 20);
  yard.lock(pivot);
  const float angle = 0.1f, length = 4;
  const int bob = yard.body(kRound, {length * std::sin(angle), 0, 20 - length * std::cos(angle)});
  yard.join(0, ph::kBallJoint, pivot, bob, {0, 0, 20});
  double last = 0, first_crossing = -1, crossing = -1;
  int crossings = 0;
  for (int s = 0; s < 400; ++s) {
    const double before = yard.at(bob).x;
    yard.run(1);
    const double now = yard.at(bob).x;
    if (before > 0 && now <= 0) {
      crossing = (s + before / (before - now)) / 30;
      if (first_crossing < 0) first_crossing = crossing;
      ++crossings;
    }
    last = std::max(last, double(std::abs(ph::length(yard.at(bob) - Vec3{0, 0, 20}) - length)));
  }
  const double period = (crossing - first_crossing) / (crossings - 1);
  const double wanted = 2 * 3.14159265 *
                        std::sqrt(length / 9.8 * (1 + 0.4 * 0.01 / (length * length))) *
                        (1 + angle * angle / 16);
  CHECK_NEAR(period / wanted, 1, 0.01);
  CHECK_BELOW(last, 0.005);
}

GE_TEST(held_cube_follows_its_holder) {
  Yard yard({{"friction", 0.3}});
  const int player = yard.upright(kPlayer, 0, -2.5f, 1);
  const int cube = yard.upright(kCube, 0, 0, 1);
  yard.join(0, ph::kFixedJoint, player, cube, {0, -1, 1.5f});
  float worst = 0;
  for (int s = 0; s < 60; ++s) {
    yard.play({s < 30 ? 4 : 1});
    worst = std::max(worst, std::abs(ph::length(yard.at(cube) - yard.at(player)) - 2.5f));
  }
  CHECK(yard.at(player).y < -5);
  CHECK_BELOW(worst, 0.03);
  CHECK_BELOW(yard.tilt(cube), 0.05);
}

GE_TEST(floor_and_a_plane_in_its_place_agree) {
  // The floor's own path against the general one: the same scene 0 and 8 m high. What differs is
  // rounding, of heights to 5e-7 m, and the order of the points.
  const auto scene = [](float level) {
    Yard yard({{"friction", 0.4}, {"restitution", 0.2}});
    if (level > 0) yard.plane({0, 0, level}, {0, 0, 1});
    yard.upright(kCube, 0, 0, level + 1.2f, 0.3f);
    yard.upright(kLong, 8, 0, level + 1, 0.5f);
    yard.upright(kRamp, -6, 0, level + 0.8f, 1);
    yard.throw_body(1, {4, 1, 0});
    yard.run(60);
    std::vector<Vec3> ends;
    for (int row = 0; row < 3; ++row) ends.push_back(yard.at(row) - Vec3{0, 0, level});
    return ends;
  };
  const auto floor = scene(0), plane = scene(8);
  for (size_t row = 0; row < floor.size(); ++row)
    CHECK_BELOW(ph::length(floor[row] - plane[row]), 0.01);
}

// One sweep leaves the upper cubes swaying at tenths of a metre per second, for ever.
GE_TEST(high_stacks_rest_with_two_sweeps) {
  for (const int height : {4, 6}) {
    Yard yard({{"solver_sweeps", int64_t{2}}});
    for (int k = 0; k < height; ++k) yard.upright(kCube, 0, 0, 1 + 2.0f * float(k));
    yard.run(240);
    for (int k = 0; k < height; ++k) CHECK_BELOW(double(yard.speed(k)), 0.01);
  }
}

GE_TEST(queries_name_what_they_meet_first) {
  Yard yard;
  const int player = yard.upright(kPlayer, 0, 0, 1);
  const int cube = yard.upright(kCube, 6, 0, 1);
  yard.upright(kCube, 10, 0, 1);
  const auto seen = [&] {
    yard.run(1);
    const auto rows = yard.observation();
    return std::vector<float>(rows.begin() + 7 * player, rows.begin() + 7 * player + 7);
  };
  auto now = seen();
  CHECK_NEAR(now[3], 5, 1e-3);  // to the face
  CHECK_EQ(now[4], float(cube));
  CHECK_NEAR(now[5], 4.0 / 5, 1e-3);  // its own front is 1 m ahead
  CHECK_EQ(now[6], float(cube));
  yard.wall(4, 0, 0.5f, 3, 3);
  now = seen();
  CHECK_NEAR(now[3], 3.5, 1e-3);
  CHECK_EQ(now[4], float(sandbox::kBodies));
  CHECK_NEAR(now[5], 2.5 / 5, 1e-3);
  yard.move(cube, {0, 6, 1}, {1, 0, 0, 0});
  yard.move(player, {0, 20, 1}, {1, 0, 0, 0});
  now = seen();
  CHECK_EQ(now[3], 50.0f);
  CHECK_EQ(now[4], float(ph::kNothing));
}

GE_TEST(sleeper_that_is_moved_wakes_and_what_stood_on_it_falls) {
  Yard yard({{"quiet_steps", int64_t{12}}});
  for (int k = 0; k < 2; ++k) yard.upright(kCube, 0, 0, 1 + 2.0f * float(k));
  yard.run(60);
  CHECK(yard.asleep(0) && yard.asleep(1));
  yard.move(0, {9, 0, 1}, {1, 0, 0, 0});
  yard.run(40);
  CHECK_NEAR(yard.at(1).z, 1, 0.02);
}

GE_TEST(nonsense_from_outside_becomes_something_that_can_be_computed_with) {
  Yard yard;
  yard.upright(kCube, 0, 0, 3);
  yard.throw_body(0, {1e38f, 0, 0}, {0, 1e38f, 0});
  yard.move(0, {0, 0, 3}, {0, 0, 0, 0});
  yard.run(3);
  CHECK(yard.speed(0) <= 30.01f && yard.at(0).z > 0 && yard.at(0).x < 10);
  CHECK_THROWS(yard.set("bodies.kind", std::vector<uint32_t>(sandbox::kBodies, 99)), Error,
               "bodies.kind must be from 0 to 7, got 99 for world 0, row 0");
  CHECK_THROWS(yard.set("statics.count", std::vector<uint32_t>{4000000}), Error,
               "statics.count must be from 0 to 12");
}

GE_TEST(sleepers_wake_as_a_group) {
  Yard yard({{"quiet_steps", int64_t{12}}});
  for (int k = 0; k < 3; ++k) yard.upright(kCube, 0, 0, 1 + 2.0f * float(k));
  yard.run(60);
  for (int k = 0; k < 3; ++k) CHECK(yard.asleep(k));
  yard.pull(0, {200, 0, 0});
  yard.run(2);
  for (int k = 0; k < 3; ++k) CHECK(!yard.asleep(k));
  yard.run(60);
  CHECK(yard.at(2).z < 4.5f);  // the ground was drawn away from under it
}
