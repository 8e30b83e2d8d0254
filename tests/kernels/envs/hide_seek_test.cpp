// HideSeek: time, actions, locks, grips and sight on worlds laid out by hand. Levels, whole
// episodes and what is refused: tests/envs/test_hide_seek_levels.py, _rules.py, _errors.py.
#include <cmath>

#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

constexpr uint32_t kLocked = 2;  // bit of a body's state

Config config_of(Values parameters) {
  Config config;
  config.parameters = std::move(parameters);
  config.autoreset = Autoreset::same_step;
  return config;
}

/// One world by hand.
class Yard {
 public:
  explicit Yard(Values parameters) : world("HideSeek-v0", config_of(std::move(parameters))) {}
  void lay(const std::string& layout) {
    ResetRequest request;
    request.options = {{"layout", layout}};
    world.reset(request);
  }
  /// Everybody idle but one agent.
  void step(int agent = -1, int x = 5, int y = 5, int turn = 5, int grab = 0, int lock = 0) {
    std::vector<int32_t> actions;
    for (int64_t k = 0; k < world.rows(); ++k) {
      const bool acts = int(k) == agent;
      for (const int head :
           {acts ? x : 5, acts ? y : 5, acts ? turn : 5, acts ? grab : 0, acts ? lock : 0})
        actions.push_back(head);
    }
    world.step(actions);
  }
  void idle(int steps) {
    for (int k = 0; k < steps; ++k) step();
  }
  void grab(int agent) { step(agent, 5, 5, 5, 1, 0); }
  void lock(int agent) { step(agent, 5, 5, 5, 0, 1); }
  bool is_locked(int row) {
    return (world.get<uint32_t>("bodies.state")[size_t(row)] & kLocked) != 0;
  }
  uint32_t owner(int row) { return world.get<uint32_t>("bodies.owner")[size_t(row)]; }
  bool holds(int agent) { return world.get<uint32_t>("joints.type")[size_t(agent)] != 0; }
  uint32_t held(int agent) { return world.get<uint32_t>("joints.b")[size_t(agent)]; }
  float at(int row, int axis) {
    return world.get<float>("bodies.position")[size_t(3 * row + axis)];
  }
  float reward(int agent) { return world.reward()[size_t(agent)]; }
  /// Elements of one agent's row.
  float seen(int agent, int element) {
    const auto all = world.observation();
    return all[all.size() / size_t(world.rows()) * size_t(agent) + size_t(element)];
  }

  Simulation world;
};

constexpr int kFirstBox = 5;  // with three hiders and two seekers
const std::string kCrowd =
    "hider -12 -12; hider -12 -8; hider -12 -4; seeker 12 12 yaw -1.57; seeker 12 8 yaw -1.57;";

void check_near(const char* what, double found, double wanted, double tolerance) {
  if (std::fabs(found - wanted) <= tolerance) return;
  fail("yard", 0,
       std::string(what) + ": " + std::to_string(found) + " against " + std::to_string(wanted) +
           " +- " + std::to_string(tolerance));
}

}  // namespace

// ---- time

GE_TEST(seekers_cannot_turn_during_the_preparation) {
  for (const char* profile : {"fixed", "openai"}) {
    const int free_from = profile[0] == 'o' ? 97 : 96;
    Yard yard(Values{{"profile", profile}});
    yard.lay(profile[0] == 'o' ? "hider -2 -2; hider -2 -1; hider -2 0; seeker 2 2; seeker 2 1"
                               : kCrowd);
    const auto yaw = [&] { return yard.world.get<float>("bodies.orientation")[4 * 3 + 3]; };
    const float before = yaw();
    for (int call = 1; call <= free_from; ++call) {
      yard.step(3, 5, 5, 10);
      CHECK_EQ(yaw() == before, call < free_from);
    }
  }
}

GE_TEST(agent_outside_the_arena_loses_ten) {
  Yard yard(Values{{"preparation_steps", int64_t{1}}});
  yard.lay("hider 18.5 -12; hider 17.9 -4; hider -12 0; seeker 12 12; seeker 12 8");
  yard.step();
  CHECK_EQ(yard.reward(0), 0.0f);
  yard.step();
  CHECK_EQ(yard.reward(0), 1.0f - 10.0f);
  CHECK_EQ(yard.reward(1), 1.0f);
  CHECK_EQ(yard.reward(3), -1.0f);
}

GE_TEST(hands_of_seekers_are_tied_in_fixed_and_free_in_port) {
  for (const bool port : {false, true}) {
    Yard yard(Values{{"profile", port ? "port" : "fixed"}});
    yard.lay("hider -12 -12; hider -12 -8; hider -12 -4; seeker 0 0; seeker 12 8; cube 0 3");
    yard.lock(3);
    CHECK_EQ(yard.is_locked(kFirstBox), port);
  }
}

// ---- actions

GE_TEST(actions_push_in_the_frame_of_the_agent) {
  Yard yard(Values{});
  yard.lay("hider 0 0 yaw 0.5; hider -12 -8; hider -12 -4; seeker 12 12; seeker 12 8");
  for (int k = 0; k < 10; ++k) yard.step(0, 5, 8);
  const double ahead = 0.666 * 3;
  check_near("x", yard.at(0, 0), -std::sin(0.5) * ahead, 0.03);
  check_near("y", yard.at(0, 1), std::cos(0.5) * ahead, 0.03);
}

// ---- locks and grips

GE_TEST(grip_reaches_two_and_a_half_metres) {
  for (const float face : {2.45f, 2.55f}) {
    Yard yard(Values{});
    yard.lay("hider 0 0; hider -12 -8; hider -12 -4; seeker 12 12; seeker 12 8; cube 0 " +
             std::to_string(face + 1));
    yard.grab(0);
    CHECK_EQ(yard.holds(0), face < 2.5f);
    if (!yard.holds(0)) continue;
    CHECK_EQ(yard.held(0), uint32_t(kFirstBox));
    yard.grab(0);
    CHECK(!yard.holds(0));
  }
}

GE_TEST(lock_is_undone_by_the_own_team_alone) {
  Yard yard(Values{{"preparation_steps", int64_t{0}}});
  yard.lay(
      "hider 0 0; hider -12 -8; hider -12 -4; seeker 0 6 yaw 3.1415927; seeker 12 8; cube 0 3");
  yard.lock(0);
  CHECK_EQ(yard.owner(kFirstBox), 2u);
  CHECK(yard.is_locked(kFirstBox));
  yard.lock(3);
  CHECK(yard.is_locked(kFirstBox));
  yard.lock(0);
  CHECK(!yard.is_locked(kFirstBox));
  CHECK_EQ(yard.owner(kFirstBox), 0u);
  yard.lock(3);
  CHECK_EQ(yard.owner(kFirstBox), 1u);
  yard.lock(0);
  CHECK(yard.is_locked(kFirstBox));
}

GE_TEST(locked_object_cannot_be_held) {
  Yard yard(Values{});
  yard.lay("hider 0 0; hider -12 -8; hider -12 -4; seeker 12 12; seeker 12 8; cube 0 3");
  yard.step(0, 5, 5, 5, 1, 1);
  CHECK(yard.is_locked(kFirstBox));
  CHECK(!yard.holds(0));
  yard.grab(0);
  CHECK(!yard.holds(0));
}

GE_TEST(walls_and_agents_cannot_be_held) {
  Yard yard(Values{});
  yard.lay("hider 0 0; hider 0 3; hider -12 0; seeker 12 12; seeker 12 8; wall -14 2 -10 2");
  for (const int agent : {0, 2}) {
    yard.step(agent, 5, 5, 5, 1, 1);
    CHECK(!yard.holds(agent));
  }
}

GE_TEST(two_agents_hold_one_thing) {
  Yard yard(Values{});
  yard.lay("hider 0 0; hider 0 6 yaw 3.1415927; hider -12 -4; seeker 12 12; seeker 12 8; cube 0 3");
  std::vector<int32_t> both;
  for (int agent = 0; agent < 5; ++agent)
    for (const int head : {5, 5, 5, agent < 2 ? 1 : 0, 0}) both.push_back(head);
  yard.world.step(both);
  CHECK(yard.holds(0) && yard.holds(1));
}

GE_TEST(openai_holds_while_the_head_is_set) {
  Yard yard(Values{{"profile", "openai"}});
  yard.lay("hider 0 0; hider -2 -2; hider -2 -1; seeker 2 2; seeker 2 1; cube 0 0.45");
  for (int k = 0; k < 3; ++k) {
    yard.grab(0);
    CHECK(yard.holds(0));
  }
  yard.step();
  CHECK(!yard.holds(0));
}

GE_TEST(openai_locks_by_team) {
  Yard yard(Values{{"profile", "openai"}, {"preparation_steps", int64_t{0}}});
  yard.lay(
      "hider 0 0; hider -2 -2; hider -2 -1; seeker 0 0.9 yaw 3.1415927; seeker 2 1; "
      "cube 0 0.45");
  yard.lock(3);  // the hider beside it, whose team owns what nobody has locked, declines
  CHECK(!yard.is_locked(kFirstBox));
  yard.lock(0);
  CHECK(yard.is_locked(kFirstBox));
  yard.step();
  CHECK(!yard.is_locked(kFirstBox));
}

GE_TEST(ramps_are_held_by_their_high_end_alone) {
  const std::string rest = "; hider -12 -8; hider -12 -4; seeker 12 12; seeker 12 8; ";
  const struct {
    const char* text;
    bool held;
  } cases[] = {{"ramp 0 4", false},                    // the slope, from its foot
               {"ramp 0 3 yaw 3.1415927", true},       // the wall
               {"ramp 0.5 2.5 yaw 1.5707963", true}};  // the side, near the high end
  for (const auto& one : cases) {
    Yard yard(Values{});
    yard.lay("hider 0 0" + rest + one.text);
    yard.grab(0);
    CHECK_EQ(yard.holds(0), one.held);
  }
}

// ---- sight

GE_TEST(lidar_begins_ahead_and_measures_faces) {
  Yard yard(Values{{"profile", "port"}});
  yard.lay(
      "hider 0 0; hider -100 -8; hider -100 -4; seeker -100 12; seeker -100 8; long 0 6; "
      "cube 9 0");
  const auto row = yard.world.observation();
  const size_t elements = row.size() / 5, lidar = elements - 30;
  check_near("ray 0", row[lidar], 5.25, 1e-4);
  check_near("ray 1", row[lidar + 1], 5.367, 1e-3);
  check_near("ray 29", row[lidar + 29], 5.367, 1e-3);
  check_near("ray 22", row[lidar + 22], 8 / std::cos(M_PI / 30), 1e-3);
  CHECK_EQ(row[lidar + 15], 0.0f);
}

GE_TEST(cone_and_walls_end_the_sight) {
  constexpr int kVisible = 2 + 4 * 4 + 9 * 7 + 2 * 5;  // of agent 1, first among the others
  for (const double degrees : {67.4, 67.6}) {
    Yard yard(Values{{"profile", "port"}});
    const double angle = degrees * M_PI / 180;
    const std::string rest = "; hider -100 -4; seeker -100 12; seeker -100 8";
    const std::string agents = "hider 0 0; hider " + std::to_string(10 * std::sin(angle)) + " " +
                               std::to_string(10 * std::cos(angle)) + rest;
    yard.lay(agents);
    CHECK_EQ(yard.seen(0, kVisible), degrees < 67.5 ? 1.0f : 0.0f);
    yard.lay(agents + "; wall 5 -10 5 10");
    CHECK_EQ(yard.seen(0, kVisible), 0.0f);
  }
}

GE_TEST(reward_follows_sight) {
  for (const bool blocked : {false, true}) {
    Yard yard(Values{{"preparation_steps", int64_t{0}}});
    yard.lay(std::string("hider 0 10; hider -12 -8; hider -12 -4; seeker 0 0; seeker 12 8 ") +
             "yaw -1.5707963" + (blocked ? "; cube 0 5" : ""));
    yard.step();
    CHECK_EQ(yard.reward(0), blocked ? 1.0f : -1.0f);
    CHECK_EQ(yard.reward(4), blocked ? -1.0f : 1.0f);
  }
}

GE_TEST(own_payment_is_for_what_oneself_shows_or_sees) {
  for (const char* payment : {"team", "own"}) {
    Yard yard(Values{{"preparation_steps", int64_t{0}}, {"payment", payment}});
    // The first seeker sees the first hider, and that is all.
    yard.lay("hider 0 10; hider -12 -8; hider -12 -4; seeker 0 0; seeker 12 8 yaw -1.5707963");
    yard.step();
    const bool own = payment[0] == 'o';
    const float expected[] = {-1, own ? 1.0f : -1.0f, own ? 1.0f : -1.0f, 1, own ? -1.0f : 1.0f};
    for (int agent = 0; agent < 5; ++agent) CHECK_EQ(yard.reward(agent), expected[agent]);
  }
}

GE_TEST(own_payment_knows_every_hider_and_seeker_of_a_crowd) {
  Yard yard(Values{{"preparation_steps", int64_t{0}},
                   {"payment", "own"},
                   {"hider_count", int64_t{18}},
                   {"seeker_count", int64_t{3}},
                   {"box_count_low", int64_t{0}},
                   {"box_count_high", int64_t{0}},
                   {"box_slots", int64_t{0}},
                   {"ramp_count", int64_t{0}}});
  std::string crowd;
  for (int k = 0; k < 17; ++k)
    crowd += "hider " + std::to_string(-16 + 2.5 * (k % 8)) + " -" +
             std::to_string(10 + 2.5 * (k / 8)) + "; ";
  yard.lay(crowd + "hider 10 10; seeker 0 0; seeker 2.5 0; seeker 10 5");  // all look along y
  yard.step();
  for (int agent = 0; agent < 18; ++agent) CHECK_EQ(yard.reward(agent), agent < 17 ? 1.0f : -1.0f);
  CHECK_EQ(yard.reward(20), 1.0f);
}

GE_TEST(seekers_may_have_a_cone_of_their_own) {
  constexpr int kVisible = 2 + 10 + 4 * 6 + 9 * 9 + 2 * 7;
  for (const bool wide : {false, true}) {
    Yard yard(
        Values{{"preparation_steps", int64_t{0}}, {"seeker_half_angle", wide ? 3.1415926 : -1.0}});
    // Hiders behind the seekers: only who sees behind sees them.
    yard.lay(
        "hider 0 10; hider -12 8; hider -12 4; seeker 0 0 yaw 3.1415926; "
        "seeker 12 -15 yaw 3.1");
    yard.step();
    CHECK_EQ(yard.seen(0, kVisible + 2), 0.0f);
    CHECK_EQ(yard.seen(3, kVisible), wide ? 1.0f : 0.0f);
    CHECK_EQ(yard.reward(3), wide ? 1.0f : -1.0f);
  }
}

// ---- layouts

GE_TEST(named_scenes_can_be_laid_out_and_played) {
  for (const char* scene : {"corner_cube", "flat_cube", "tilted_long", "falling_cubes",
                            "wall_and_agents", "stacked_cubes", "thrown_ramp"}) {
    Yard yard(Values{});
    yard.lay(std::string("debug:") + scene);
    yard.idle(3);
  }
}
