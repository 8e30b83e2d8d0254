// HexMemory-v0, rule by rule, in mazes of seven cells.
#include "playground.hpp"

namespace {

using namespace ge;
using namespace ge::test;

enum Form { kPillar, kDiamond, kBall };

/// All things lie far away but the first, which matches, and the second, which does not.
class Maze : public Playground {
 public:
  explicit Maze(Values more = {}) : Playground("HexMemory-v0", with(std::move(more))) {
    std::vector<float> at = get<float>("things.at");
    std::fill(at.begin(), at.end(), 30.0f);
    set("things.at", at);
    auto good = get<int32_t>("things.good");
    for (size_t k = 0; k < good.size(); ++k) good[k] = k == 0 ? 1 : 0;
    set("things.good", good);
    write<int32_t>("task.good_left", {1});
    write<int32_t>("task.good_form", {kBall});
    write<int32_t>("task.bad_form", {kPillar});
  }
  static Values with(Values more) {
    more.insert({"side_low", int64_t{2}});
    more.insert({"side_high", int64_t{2}});
    return more;
  }
  /// Agent 0 beside a thing in the middle cell, so far in a straight line from its middle, towards
  /// -x.
  void stand_before(int thing, float up, float away) {
    auto at = get<float>("things.at");
    at[size_t(2 * thing)] = 0.25f, at[size_t(2 * thing + 1)] = -0.75f;
    set("things.at", at);
    const float above = kStanding + 0.05f - (0.5f + 0.6f * up);
    const float level = std::sqrt(away * away - above * above);
    stand(0.25f + 0.3f - level, -0.75f + 0.3f, 0);
  }
  int left(int thing) const { return get<int32_t>("things.left")[size_t(thing)]; }
};

}  // namespace

GE_TEST(things_are_taken_within_a_metre_of_their_middles) {
  struct Case {
    int form;
    float up;
  };
  for (const auto& [form, up] : {Case{kPillar, 0.05f}, Case{kDiamond, 0.6f}, Case{kBall, 0.1f}})
    for (const float away : {0.99f, 1.01f}) {
      Maze maze;
      maze.write<int32_t>("task.good_form", {form});
      maze.stand_before(0, up, away);
      maze.act("-");
      CHECK_EQ(maze.left(0), away < 1 ? 0 : 1);
      CHECK_EQ(maze.paid(), away < 1 ? 1.0f : 0.0f);
      CHECK_EQ(maze.word("task.good_left"), away < 1 ? 0 : 1);
    }
}

GE_TEST(things_that_do_not_match_cost_and_solve_nothing) {
  Maze maze;
  maze.stand_before(1, 0.05f, 0.9f);
  maze.act("-");
  CHECK_EQ(maze.paid(), -1.0f);
  CHECK_EQ(maze.left(1), 0);
  maze.act("-");
  CHECK_EQ(maze.paid(), 0.0f);
  CHECK_EQ(maze.word("task.solved"), 0);
  CHECK_EQ(maze.word("task.good_left"), 1);
}

GE_TEST(nothing_is_taken_in_the_air) {
  Maze maze;
  maze.stand_before(0, 0.1f, 0.8f);
  maze.act("j");
  CHECK_EQ(maze.left(0), 1);
  maze.act("-", 12);  // down again
  CHECK_EQ(maze.left(0), 0);
}

GE_TEST(episode_ends_five_steps_after_the_last_that_matches) {
  Maze maze;
  maze.stand_before(0, 0.1f, 0.9f);
  maze.act("-");
  CHECK_EQ(maze.paid(), 1.0f);
  for (int k = 0; k < 5; ++k) {
    CHECK(!maze.done());
    maze.act("-");
  }
  CHECK(maze.done());
}

GE_TEST(lower_agents_take_first_and_all_share) {
  Maze maze({{"agent_count", int64_t{2}}, {"team_spirit", 1.0}});
  maze.stand_before(0, 0.1f, 0.9f);
  auto at = maze.get<float>("agents.position");
  at[3] = at[0], at[4] = at[1] + 0.7f, at[5] = at[2];
  maze.set("agents.position", at);
  maze.act("-");
  CHECK_EQ(maze.left(0), 0);
  CHECK_EQ(maze.paid(0), 0.5f);
  CHECK_EQ(maze.paid(1), 0.5f);
}

GE_TEST(agents_begin_around_the_thing_to_remember_and_look_at_it) {
  for (const int64_t agents : {1, 3, 8}) {
    Maze maze({{"agent_count", agents}});
    for (int k = 0; k < int(agents); ++k) {
      const double yaw = maze.get<float>("agents.yaw")[size_t(k)];
      check_near("x of the middle", maze.at(k, 0) - 1.5 * std::sin(yaw), 0.5, 1e-5);
      check_near("y of the middle", maze.at(k, 1) + 1.5 * std::cos(yaw), 0.5, 1e-5);
    }
  }
}
