// TagGrid, one rule per test, on boards laid out by hand. Pools of starts, what is refused and
// whole games: tests/envs/test_tag_grid.py.
#include "pictures/scene.hpp"
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

enum Way { kStay, kRight, kLeft, kUp, kDown };

Config config_of(const Values& parameters, int64_t max_steps = -1) {
  Config config;
  config.worlds = 1;
  config.parameters = parameters;
  config.max_episode_steps = max_steps;
  config.autoreset = Autoreset::disabled;
  return config;
}

struct Cell {
  int x, y;
};

/// One world; agents are named by their number, the runner is the last.
class Chase {
 public:
  explicit Chase(const Values& parameters, int64_t max_steps = -1)
      : world("TagGrid-v0", config_of(parameters, max_steps)), agents(int(world->agents())) {
    world.reset(1);
  }
  void lay(const std::vector<Cell>& cells) {
    auto x = world.get<int32_t>("agents.x"), y = world.get<int32_t>("agents.y");
    for (size_t k = 0; k < cells.size(); ++k) x[k] = cells[k].x, y[k] = cells[k].y;
    world.set("agents.x", x);
    world.set("agents.y", y);
  }
  bool stands(int agent, int x, int y) const {
    return world.get<int32_t>("agents.x")[size_t(agent)] == x &&
           world.get<int32_t>("agents.y")[size_t(agent)] == y;
  }
  float reward(int agent) const { return world.reward()[size_t(agent)]; }
  bool over() const {
    const auto all = world.terminated();
    return all[0] != 0 && std::count(all.begin(), all.end(), all[0]) == agents;
  }
  bool cut_short() const { return world.truncated()[0] != 0; }
  float seen(int observer, int element) const {
    const auto all = world.observation();
    return all[size_t(observer) * (all.size() / size_t(agents)) + size_t(element)];
  }

  Simulation world;
  int agents;
};

}  // namespace

GE_TEST(two_that_swap_cells_do_not_touch) {
  Chase chase({{"num_taggers", int64_t{1}}, {"grid_length", int64_t{5}}});
  chase.lay({{1, 1}, {2, 1}});
  chase.world.step({kRight, kLeft});
  CHECK(chase.stands(0, 2, 1) && chase.stands(1, 1, 1) && !chase.over());
  CHECK_EQ(chase.reward(0), -0.01f);
  CHECK_EQ(chase.reward(1), 0.01f);
}

GE_TEST(a_push_against_any_wall_costs_and_moves_nobody) {
  Chase chase({{"num_taggers", int64_t{4}}, {"grid_length", int64_t{5}}});
  chase.lay({{0, 0}, {0, 0}, {5, 5}, {5, 5}, {5, 2}});
  chase.world.step({kLeft, kDown, kRight, kUp, kStay});
  for (int tagger = 0; tagger < 4; ++tagger) CHECK_EQ(chase.reward(tagger), -0.11f);
  CHECK(chase.stands(0, 0, 0) && chase.stands(1, 0, 0));
  CHECK(chase.stands(2, 5, 5) && chase.stands(3, 5, 5));
  chase.lay({{0, 0}, {0, 0}, {0, 0}, {0, 0}, {5, 5}});
  chase.world.step({kStay, kStay, kStay, kStay, kUp});
  CHECK(chase.stands(4, 5, 5));
  CHECK_EQ(chase.reward(4), -0.09f);
}

GE_TEST(the_largest_coordinate_is_a_cell) {
  Chase chase({{"num_taggers", int64_t{1}}, {"grid_length", int64_t{5}}});
  chase.lay({{4, 4}, {0, 0}});
  chase.world.step({kRight, kStay});
  CHECK(chase.stands(0, 5, 4));
  CHECK_EQ(chase.reward(0), -0.01f);
}

GE_TEST(every_tagger_is_paid_for_a_tag_and_who_pushed_a_wall_less) {
  Chase chase({{"num_taggers", int64_t{4}}, {"grid_length", int64_t{4}}}, 10);
  chase.lay({{0, 0}, {0, 0}, {0, 0}, {0, 0}, {1, 1}});
  chase.world.step({kLeft, kStay, kUp, kDown, kLeft});  // tagger 2 and the runner meet at (0, 1)
  const float expected[] = {9.9f, 10.0f, 10.0f, 9.9f, -2.0f};
  for (int agent = 0; agent < 5; ++agent) CHECK_EQ(chase.reward(agent), expected[agent]);
  CHECK(chase.over() && !chase.cut_short());
  CHECK_EQ(chase.seen(0, 20), 0.1f);
}

GE_TEST(taggers_may_share_a_cell_without_an_end) {
  Chase chase({{"num_taggers", int64_t{3}}});
  chase.world.step({kStay});
  CHECK(!chase.over());
  CHECK(chase.stands(0, 5, 5) && chase.stands(2, 5, 5) && chase.stands(3, 0, 0));
}

GE_TEST(nobody_moves_until_the_limit_cuts_the_episode_short) {
  Chase chase({{"num_taggers", int64_t{2}}}, 3);
  for (int step = 1; step <= 3; ++step) {
    CHECK(!chase.cut_short());
    chase.world.step({kStay});
    CHECK_EQ(chase.seen(1, 12), float(step) / 3.0f);
  }
  CHECK(chase.cut_short() && !chase.over());
}

GE_TEST(without_a_limit_the_time_reads_zero) {
  Chase chase({{"num_taggers", int64_t{1}}}, 0);
  for (int step = 0; step < 120; ++step) chase.world.step({kStay});
  CHECK(!chase.cut_short());
  CHECK_EQ(chase.seen(0, 8), 0.0f);
}

GE_TEST(a_full_row_is_x_y_type_self_and_time) {
  Chase chase({{"num_taggers", int64_t{2}}, {"grid_length", int64_t{7}}}, 8);
  chase.lay({{1, 2}, {3, 4}, {6, 7}});
  chase.world.step({kStay});
  const float common[] = {1 / 7.0f, 3 / 7.0f, 6 / 7.0f, 2 / 7.0f, 4 / 7.0f, 1, 0, 0, 1};
  for (int observer = 0; observer < 3; ++observer) {
    for (int k = 0; k < 9; ++k) CHECK_EQ(chase.seen(observer, k), common[k]);
    for (int k = 0; k < 3; ++k) CHECK_EQ(chase.seen(observer, 9 + k), observer == k ? 1.0f : 0.0f);
    CHECK_EQ(chase.seen(observer, 12), 0.125f);
  }
}

GE_TEST(of_the_nearest_taggers_the_lowest_number_is_seen) {
  Chase chase({{"num_taggers", int64_t{4}}, {"use_full_observation", false}});
  chase.lay({{9, 9}, {5, 2}, {2, 5}, {8, 5}, {5, 5}});  // 1, 2 and 3 are three cells away
  chase.world.step({kStay});
  CHECK_EQ(chase.seen(4, 2), 0.5f);
  CHECK_EQ(chase.seen(4, 3), 0.2f);
  CHECK_EQ(chase.seen(4, 4), 1.0f);
  CHECK_EQ(chase.seen(0, 0), 0.9f);
  CHECK_EQ(chase.seen(0, 2), 0.5f);
  CHECK_EQ(chase.seen(0, 4), 0.0f);
  chase.lay({{9, 9}, {2, 5}, {5, 2}, {8, 5}, {5, 5}});  // 1 and 2 in each other's place
  chase.world.step({kStay});
  CHECK_EQ(chase.seen(4, 2), 0.2f);
  CHECK_EQ(chase.seen(4, 3), 0.5f);
}

GE_TEST(distances_are_exact_on_the_largest_board) {
  Chase chase({{"num_taggers", int64_t{2}},
               {"grid_length", int64_t{32767}},
               {"use_full_observation", false}});
  chase.lay({{32767, 32767}, {32767, 32766}, {0, 0}});
  chase.world.step({kStay});
  CHECK_EQ(chase.seen(2, 3), 32766.0f / 32767.0f);
}

GE_TEST(starts_can_be_given_to_any_number_of_agents) {
  constexpr int kAgents = 3000;
  std::string x, y;
  for (int agent = 0; agent < kAgents; ++agent)
    x += std::to_string(agent % 97) + ",", y += std::to_string(agent % 89) + ",";
  Chase chase({{"num_taggers", int64_t{kAgents - 1}},
               {"grid_length", int64_t{100}},
               {"starting_location_x", x},
               {"starting_location_y", y}});
  const auto found_x = chase.world.get<int32_t>("agents.x"),
             found_y = chase.world.get<int32_t>("agents.y");
  for (int agent = 0; agent < kAgents; ++agent) {
    CHECK_EQ(found_x[size_t(agent)], agent % 97);
    CHECK_EQ(found_y[size_t(agent)], agent % 89);
  }
}

GE_TEST(a_scene_has_a_disc_for_everybody_and_nobody_hides_another) {
  Chase chase({{"num_taggers", int64_t{4}}, {"grid_length", int64_t{5}}});
  chase.lay({{2, 2}, {2, 2}, {2, 2}, {4, 5}, {0, 0}});
  Scene scene;
  chase.world->scene(0, scene);
  CHECK(scene.board.has_value());
  const std::vector<Piece>& pieces = scene.board->pieces;
  CHECK_EQ(pieces.size(), size_t(6));  // and a ring around the runner
  CHECK_EQ(pieces[3].x, 4.0f);
  CHECK_EQ(pieces[3].y, 5.0f);
  for (int k = 0; k < 3; ++k) {
    CHECK(pieces[size_t(k)].x > 1.5f && pieces[size_t(k)].x < 2.5f);
    CHECK(pieces[size_t(k)].radius < 0.25f);
    for (int other = 0; other < k; ++other) {
      const Piece &a = pieces[size_t(k)], &b = pieces[size_t(other)];
      CHECK(abs(a.x - b.x) >= 0.5f || abs(a.y - b.y) >= 0.5f);
    }
  }
  CHECK(pieces[5].kind == Piece::kRing && pieces[5].x == 0.0f);
}

GE_TEST(a_text_has_a_line_for_every_y_and_counts_taggers) {
  Chase chase({{"num_taggers", int64_t{3}}, {"grid_length", int64_t{2}}});
  chase.lay({{0, 2}, {0, 2}, {1, 1}, {1, 1}});
  const std::string text = chase.world->text(0, 0);
  CHECK_EQ(text.substr(0, 21), "2<. . \n. X . \n. . . \n");
}
