// Motions whose end is known in a closed form: slides, bounces, rolls, collisions, beams. Constants
// at the top say where differences come from; numbers in brackets were measured.
// environment: sandbox
#include "physics/near.hpp"
#include "physics/yard.hpp"

using namespace ge;
using namespace ge::test;
using ph::Vec3;

namespace {

constexpr double kGravity = 9.8, kSubstep = 1.0 / 120;
/// Semi-implicit Euler is ahead of an acceleration by acceleration * substep * time / 2.
double ahead(double acceleration, double time) {
  return 0.55 * acceleration * kSubstep * time;
}
/// Contacts find no impulses to begin with in the first substeps, and hold a little less [m/s].
constexpr double kStart = 0.1 * kGravity * kSubstep;

struct Slope {
  double angle;
  Vec3 normal, down;
  explicit Slope(double degrees) : angle(degrees * 3.14159265358979 / 180) {
    const float s = float(std::sin(angle)), c = float(std::cos(angle));
    normal = {s, 0, c}, down = {c, 0, -s};
  }
  ph::Quat turn() const { return {float(std::cos(angle / 2)), 0, float(std::sin(angle / 2)), 0}; }
};

/// How far a body has come down a slope after `frames` frames.
double way_down(Yard& yard, const Slope& slope, int row, int frames) {
  const Vec3 before = yard.at(row);
  yard.run(frames);
  return double(ph::dot(yard.at(row) - before, slope.down));
}
int put_on(Yard& yard, const Slope& slope, int kind, float radius, ph::Quat q) {
  yard.plane({0, 0, 50}, slope.normal);
  return yard.body(kind, Vec3{0, 0, 50} + slope.normal * radius, q);
}

/// Linear and angular momentum (about the origin) and kinetic energy of bodies.
struct Budget {
  Vec3 momentum{}, angular{};
  double energy = 0;
};
void add(Budget& budget, const Yard& yard, int row, const ph::Kind& kind) {
  const float mass = 1 / kind.inverse_mass;
  const ph::Mat3 m = ph::matrix(yard.turn(row));
  const Vec3 v = yard.velocity(row) * mass, spin = yard.spin(row);
  const Vec3 own = m * (ph::sym(kind.inertia) * ph::to_body(m, spin));
  budget.momentum += v;
  budget.angular += ph::cross(yard.at(row), v) + own;
  budget.energy += 0.5 * double(ph::dot(v, yard.velocity(row)) + ph::dot(own, spin));
}

}  // namespace

GE_TEST(free_fall_is_parabolic_up_to_the_top_speed) {
  Yard yard;
  yard.upright(kCube, 0, 0, 200);
  yard.throw_body(0, {2, 0, 0});
  yard.run(60);
  CHECK_NEAR(yard.at(0).z, 200 - 0.5 * kGravity * 4, ahead(kGravity, 2));
  CHECK_NEAR(yard.at(0).x, 4, 1e-4);
  yard.run(60);
  CHECK_NEAR(yard.speed(0), 30, 1e-3);
}

GE_TEST(cube_slides_below_the_friction_angle_and_holds_above) {
  constexpr double kTime = 1.5;
  for (const double degrees : {15.0, 25.0, 35.0})
    for (const double friction : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75}) {
      const Slope slope(degrees);
      const double along = kGravity * (std::sin(slope.angle) - friction * std::cos(slope.angle));
      if (std::abs(along) < 0.1) continue;  // too near the angle for a short test
      Yard yard({{"friction", friction}});
      const int cube = put_on(yard, slope, kCube, 1, slope.turn());
      const double way = way_down(yard, slope, cube, int(kTime * 30));
      if (along > 0)
        CHECK_NEAR(way, 0.5 * along * kTime * kTime, ahead(along, kTime) + kStart * kTime);
      else
        CHECK_BELOW(way, 0.001);
      CHECK_BELOW(yard.at(cube).y, 0.001);
    }
}

GE_TEST(sphere_rolls_with_five_sevenths_where_friction_suffices) {
  constexpr double kTime = 1.5;
  for (const double share : {0.5, 0.9, 1.1, 3.0}) {
    const Slope slope(25);
    const double enough = 2.0 / 7 * std::tan(slope.angle), friction = share * enough;
    Yard yard({{"friction", friction}});
    const int ball = put_on(yard, slope, kRound, 1, {1, 0, 0, 0});
    const double way = way_down(yard, slope, ball, int(kTime * 30));
    const double rolling = 5.0 / 7 * kGravity * std::sin(slope.angle);
    const double slipping = kGravity * (std::sin(slope.angle) - friction * std::cos(slope.angle));
    const double along = share > 1 ? rolling : slipping;
    CHECK_NEAR(way, 0.5 * along * kTime * kTime, ahead(along, kTime) + kStart * kTime);
    const double slip = double(ph::dot(yard.velocity(ball), slope.down) - yard.spin(ball).y);
    if (share > 1) CHECK_BELOW(slip, 0.01);
    if (share < 1) CHECK(slip > 0.1);
  }
}

GE_TEST(capsule_rolls_by_its_own_inertia) {
  constexpr double kTime = 1.5, kRadius = 0.5, kLength = 2;
  const Slope slope(20);
  Yard yard({{"friction", 0.8}, {"radius", kRadius}, {"length", kLength}});
  const int log = put_on(yard, slope, kRound, float(kRadius), {0.70710678f, 0.70710678f, 0, 0});
  const double way = way_down(yard, slope, log, int(kTime * 30));
  // About the axis: half m r^2 for the cylinder's share of the mass, 2/5 for the caps'.
  const double cylinder = kLength / (kLength + 4 * kRadius / 3);
  const double along =
      kGravity * std::sin(slope.angle) / (1 + 0.5 * cylinder + 0.4 * (1 - cylinder));
  CHECK_NEAR(way, 0.5 * along * kTime * kTime, ahead(along, kTime) + kStart * kTime);
  CHECK_BELOW(yard.at(log).y, 0.002);
}

GE_TEST(ball_rolls_on_at_five_sevenths_of_its_speed_and_keeps_it) {
  Yard yard({{"friction", 0.3}, {"radius", 0.5}});
  const int ball = yard.upright(kRound, 0, 0, 0.5f);
  yard.throw_body(ball, {7, 0, 0});
  for (const int frames : {60, 300}) {
    yard.run(frames);
    CHECK_NEAR(yard.velocity(ball).x, 5, 0.02);
    CHECK_NEAR(yard.spin(ball).y, 10, 0.04);
  }
}

GE_TEST(sphere_rolls_down_a_locked_wedge) {
  constexpr double kRadius = 0.3, kTime = 0.5;
  Yard yard({{"friction", 0.8}, {"radius", kRadius}});
  const int ramp = yard.upright(kRamp, 0, 0, 2.0f / 3);
  yard.lock(ramp);
  const Vec3 normal = {0, -0.5547002f, 0.8320503f}, down = {0, -0.8320503f, -0.5547002f};
  const Vec3 start = Vec3{0, 0, 2.0f / 3} + normal * float(kRadius) - down * 0.8f;
  const int ball = yard.body(kRound, start);
  yard.run(int(kTime * 30));
  const double along = 5.0 / 7 * kGravity * 0.5547002;
  CHECK_NEAR(ph::dot(yard.at(ball) - start, down), 0.5 * along * kTime * kTime,
             ahead(along, kTime) + kStart * kTime + 0.003);
}

GE_TEST(bounce_reaches_the_square_of_the_restitution) {
  constexpr double kDrop = 4;
  for (const int kind : {kCube, kRound})
    for (const double restitution : {0.3, 0.6, 0.9}) {
      Yard yard({{"restitution", restitution}});
      yard.upright(kind, 0, 0, 1 + float(kDrop));
      bool up = false;
      float peak = 0;
      for (int k = 0; k < 90 && !(up && yard.velocity(0).z < 0); ++k) {
        yard.run(1);
        up = up || yard.velocity(0).z > 0;
        if (up) peak = std::max(peak, yard.at(0).z - 1);
      }
      // Speeds before and after the impact are known to what gravity adds in a substep: speed times
      // substep of the height each; and the peak lies between two steps.
      const double speed = std::sqrt(2 * kGravity * kDrop) * restitution;
      CHECK_NEAR(peak, restitution * restitution * kDrop, 2 * speed * kSubstep + 0.002);
    }
}

GE_TEST(cube_that_lands_flat_neither_turns_nor_slides) {
  for (const double restitution : {0.0, 0.3, 0.9})
    for (const bool on_plane : {false, true}) {
      Yard yard({{"restitution", restitution}});
      if (on_plane) yard.plane({0, 0, 40}, {0, 0, 1});
      yard.upright(kCube, 0, 0, on_plane ? 45 : 5, 0.4f);
      for (int k = 0; k < 30; ++k) {  // lands at 8.8 m/s in step 26
        yard.run(1);
        const Vec3 v = yard.velocity(0);
        CHECK_BELOW(std::hypot(v.x, v.y), 0.1);
        CHECK_BELOW(ph::length(yard.spin(0)), 0.15);
      }
    }
}

GE_TEST(free_tumbling_keeps_energy_and_momentum_for_ten_seconds) {
  const ph::Kind kinds[] = {ph::box_kind(4, 0.75, 1, 2), ph::wedge_kind(1, 3, 2, 2),
                            ph::capsule_kind(0.5, 1, 2)};
  const int rows[] = {kLong, kRamp, kRound};
  for (int k = 0; k < 3; ++k) {
    Yard yard({{"gravity", 0.0}, {"radius", 0.5}, {"length", 2.0}});
    yard.body(rows[k], {0, 0, 50});
    yard.throw_body(0, {0, 0, 0}, {2, 1.5f, 3});
    Budget before, after;
    add(before, yard, 0, kinds[k]);
    yard.run(300);
    add(after, yard, 0, kinds[k]);
    CHECK_NEAR(after.energy / before.energy, 1, 0.005);
    // Floats round 1200 substeps long.
    CHECK_BELOW(ph::length(after.angular - before.angular) / ph::length(before.angular), 1e-4);
  }
}

GE_TEST(off_centre_hit_without_friction_gives_the_impulse_of_rigid_bodies) {
  for (const double restitution : {0.3, 0.5, 1.0}) {  // with none they stay together and push on
    Yard yard({{"gravity", 0.0}, {"friction", 0.0}, {"restitution", restitution}, {"radius", 0.5}});
    const double mass = 2, speed = 5, offset = 0.6, inertia = mass * 2 / 3;
    const int cube = yard.upright(kCube, 0, 0, 50);
    const int ball = yard.upright(kRound, -3, float(offset), 50);
    yard.throw_body(ball, {float(speed), 0, 0});
    yard.run(11);  // before the turning cube reaches the ball again
    const double impulse = (1 + restitution) * speed / (2 / mass + offset * offset / inertia);
    CHECK_NEAR(yard.velocity(ball).x, speed - impulse / mass, 0.02);
    CHECK_NEAR(yard.velocity(cube).x, impulse / mass, 0.02);
    CHECK_NEAR(yard.spin(cube).z, -offset * impulse / inertia, 0.02);
    CHECK_BELOW(ph::length(yard.spin(ball)), 1e-4);
  }
}

GE_TEST(light_ball_bounces_off_a_heavy_box_and_moves_it_by_its_share) {
  Yard yard({{"gravity", 0.0}, {"restitution", 1.0}, {"long_mass", 100.0}});
  const int box = yard.upright(kLong, 0, 0, 50);
  const int ball = yard.upright(kRound, 0, -4, 50);
  yard.throw_body(ball, {0, 6, 0});
  yard.run(20);
  CHECK_NEAR(yard.velocity(ball).y, 6.0 * (2 - 100) / 102, 0.01);
  CHECK_NEAR(yard.velocity(box).y, 6.0 * 2 * 2 / 102, 0.01);
}

GE_TEST(rough_collision_of_tumbling_boxes_keeps_momentum_and_gains_no_energy) {
  Yard yard({{"gravity", 0.0}, {"friction", 0.5}, {"restitution", 0.3}});
  const ph::Kind cube = ph::box_kind(1, 1, 1, 2), wide = ph::box_kind(4, 0.75, 1, 2);
  yard.body(kCube, {0, 0, 50}, ph::normalized(ph::Quat{0.8f, 0.3f, 0.1f, 0.4f}));
  yard.body(kLong, {7, 0.5f, 50.3f}, ph::normalized(ph::Quat{0.9f, -0.1f, 0.3f, 0.2f}));
  yard.throw_body(0, {8, 0, 0}, {1, 2, -1});
  yard.throw_body(1, {-2, 0, 0}, {0.5f, -1, 1});
  const auto budget = [&] {
    Budget all;
    add(all, yard, 0, cube), add(all, yard, 1, wide);
    return all;
  };
  const Budget before = budget();
  double last = before.energy;
  for (int k = 0; k < 60; ++k) {
    yard.run(1);
    const Budget now = budget();
    CHECK_BELOW(ph::length(now.momentum - before.momentum), 1e-4 * 16);
    // Friction acts at both ends of the gap between them: 10 N s of it, up to 0.07 m apart.
    CHECK_BELOW(ph::length(now.angular - before.angular), 0.7);
    CHECK(now.energy < last * 1.005);  // turning in finite steps
    last = now.energy;
  }
  CHECK(last < 0.9 * before.energy);  // they did meet
}

GE_TEST(beam_held_at_its_end_does_not_sag) {
  Yard yard;
  const int wall = yard.upright(kCube, 0, 0, 20);
  yard.lock(wall);
  const int beam = yard.body(kLong, {5.5f, 0, 20});
  yard.join(0, ph::kFixedJoint, wall, beam, {1.25f, 0, 20});
  yard.run(120);
  CHECK_NEAR(yard.at(beam).z, 20, 0.02);
  CHECK_BELOW(yard.tilt(beam), 0.005);
  CHECK_BELOW(yard.speed(beam), 0.01);
}

GE_TEST(heavy_box_dropped_on_a_light_cube_does_not_crush_it) {
  Yard yard({{"long_mass", 40.0}});
  const int cube = yard.upright(kCube, 0, 0, 1);
  const int box = yard.upright(kLong, 0, 0, 4);
  float least = 2;
  for (int k = 0; k < 120; ++k) {
    yard.run(1);
    least = std::min(least, yard.at(box).z - yard.at(cube).z);
    CHECK(yard.speed(cube) < 2);
    CHECK(yard.at(cube).z > 0.9f);
  }
  CHECK(least > 1.8f);
  CHECK_NEAR(yard.at(box).z, 3, 0.01);
  CHECK_BELOW(yard.at(cube).x, 0.01);
}
