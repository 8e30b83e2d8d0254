// Rules of Flocking on worlds laid out by hand. Numbers of the floxs profile are floxs 0.1.1's own.
#include "swarm_worlds.hpp"

namespace {

using namespace ge;
using namespace ge::test;

constexpr float kHalfTurn = 3.14159265f;

Values floxs(int64_t agents) {
  return {{"profile", "floxs"}, {"agent_count", agents}, {"min_speed", 0.0}};
}
Values vogue(int64_t agents) {
  return {{"agent_count", agents}};
}

/// Two agents stand; what both see and get.
void check_two(const Swarm& swarm, const std::vector<Seen>& first, const std::vector<Seen>& second,
               double reward) {
  const auto sim = make_swarm("Flocking-v0", floxs(2));
  lay(*sim, swarm);
  stand(*sim);
  const auto rows = sim->observation();
  CHECK(shows(rows, 0, 128, first));
  CHECK(shows(rows, 128, 128, second));
  CHECK(is_near(sim->reward(), {reward, reward}, 1e-5));
}

GE_TEST(neighbour_ahead_fills_the_middle) {
  check_two({{.5f, .6f}, {.5f, .5f}, {0, 0}, {}}, {{60, 67, .5}}, {}, .082085);
}
GE_TEST(neighbour_at_the_left_fills_low_sectors) {
  check_two({{.5f, .5f + 0.0866025f}, {.5f, .55f}, {0, 0}, {}}, {{39, 46, .5}}, {}, .082085);
}
GE_TEST(neighbour_over_the_edge_is_seen) {
  check_two({{.95f, .05f}, {.5f, .5f}, {0, kHalfTurn}, {}}, {{60, 67, .5}}, {{60, 67, .5}},
            .082085);
}
GE_TEST(neighbour_behind_is_not_seen_but_company) {
  check_two({{.5f, .4f}, {.5f, .5f}, {0, 0}, {}}, {}, {{60, 67, .5}}, .082085);
}
GE_TEST(disc_at_the_limit_reaches_into_the_view) {
  check_two({{.5f, .5f}, {.5f, .6f}, {0, 0}, {}}, {{0, 4, .5}}, {{123, 127, .5}}, .082085);
}
GE_TEST(collision_replaces_all_else_in_floxs) {
  check_two({{.5f, .515f}, {.5f, .5f}, {0, 0}, {}}, {{40, 87, .075}}, {}, -.1);
}
GE_TEST(nearest_of_four_agents_hides_the_others) {
  const auto sim = make_swarm("Flocking-v0", floxs(4));
  lay(*sim, {{.5f, .6f, .65f, .5f},
             {.5f, .5f, .5f, .35f},
             {0, 0.5f * kHalfTurn, kHalfTurn, 1.5f * kHalfTurn},
             {}});
  stand(*sim);
  const auto rows = sim->observation();
  CHECK(shows(rows, 0, 128, {{60, 67, .5}, {125, 127, .75}}));
  CHECK(shows(rows, 128, 128, {{0, 4, .5}, {120, 127, .25}}));
  CHECK(shows(rows, 256, 128, {{56, 71, .25}}));
  CHECK(shows(rows, 384, 128, {}));
  CHECK(is_near(sim->reward(), {.12912, .379622, .310023, .03455}, 1e-5));
}

/// Positions, headings, speeds, rewards and filled sectors after some steps of five agents.
struct Moment {
  int step;
  double tolerance;
  std::vector<double> x, y, heading, speed, reward;
  std::vector<int> filled;
};
const Moment kMoments[] = {{1,
                            2e-5,
                            {.115951, .158998, .969403, .185176, .516160},
                            {.101255, .136778, .072363, .935126, .493886},
                            {.07854, 1.07854, 2.0133, 3.928673, 5.92146},
                            {.016, .019039, .024747, .021, .017278},
                            {.282769, .247761, .023892, .011116, 0},
                            {19, 0, 0, 0, 0}},
                           {2,
                            2e-5,
                            {.132394, .167311, .960335, .168543, .531227},
                            {.103860, .152787, .095661, .920872, .487726},
                            {.15708, 1.09184, 1.941973, 3.850133, 5.895126},
                            {.016648, .018039, .025, .021905, .016278},
                            {.245443, .222524, .013483, .009437, 0},
                            {18, 0, 0, 0, 0}},
                           {10,
                            2e-5,
                            {.255150, .242560, .894740, .052666, .653891},
                            {.115842, .270938, .281028, .811190, .449722},
                            {.122207, .965127, 1.836016, 3.862316, 6.012183},
                            {.01534, .020097, .023103, .017858, .018585},
                            {.020442, .020442, 0, 0, 0},
                            {5, 0, 0, 0, 0}},
                           {50,
                            2e-4,
                            {.940920, .638308, .579622, .481899, .317893},
                            {.170599, .888734, .129474, .252198, .248316},
                            {6.277215, .978655, 1.978655, 4.00267, 6.021332},
                            {.017511, .020177, .020894, .019739, .019479},
                            {0, 0, .019802, .036353, .016551},
                            {0, 0, 5, 10, 5}}};

void check_moment(const Simulation& sim, const Moment& m) {
  CHECK(is_near(sim.get<float>("agents.x"), m.x, m.tolerance));
  CHECK(is_near(sim.get<float>("agents.y"), m.y, m.tolerance));
  CHECK(is_near(sim.get<float>("agents.heading"), m.heading, m.tolerance));
  CHECK(is_near(sim.get<float>("agents.speed"), m.speed, m.tolerance));
  CHECK(is_near(sim.reward(), m.reward, 5 * m.tolerance));
  const auto rows = sim.observation();
  for (size_t agent = 0; agent < 5; ++agent) {
    int filled = 0;
    for (size_t k = 0; k < 128; ++k) filled += rows[agent * 128 + k] >= 0;
    CHECK_EQ(filled, m.filled[agent]);
  }
}
GE_TEST(five_agents_move_as_in_floxs) {
  const auto sim = make_swarm("Flocking-v0", {{"profile", "floxs"}, {"agent_count", int64_t{5}}});
  lay(*sim, {{.1f, .15f, .98f, .2f, .5f},
             {.1f, .12f, .05f, .95f, .5f},
             {0, 1, 2, 4, 6},
             {.015f, .02f, .025f, .02f, .018f}});
  for (int t = 1; t <= 50; ++t) {
    std::vector<float> actions;
    for (int i = 0; i < 5; ++i)
      for (double a : {1.2 * std::sin(i + t), 1.2 * std::cos(2 * i + t / 2.0)})
        actions.push_back(float(std::min(1.0, std::max(-1.0, a))));
    act(*sim, actions);
    for (const Moment& moment : kMoments)
      if (moment.step == t) check_moment(*sim, moment);
  }
}

GE_TEST(touching_costs_one_each_in_vogue_and_is_no_company) {
  const auto sim = make_swarm("Flocking-v0", vogue(4));
  lay(*sim, {{.5f, .504f, .496f, .55f}, {.5f, .5f, .5f, .5f}, {0, 0, 0, 0}, {}});
  stand(*sim);
  const double at_05 = std::exp(-2.5), at_46 = std::exp(-2.3), at_54 = std::exp(-2.7);
  const double at_008 = std::exp(-.4);
  CHECK(is_near(sim->reward(),
                {-2 + at_05, -1 + at_008 + at_46, -1 + at_008 + at_54, at_05 + at_46 + at_54},
                1e-5));
}

GE_TEST(neighbour_beyond_the_range_vanishes_from_view_and_reward) {
  for (float off : {.19999f, .20001f}) {
    const auto sim = make_swarm("Flocking-v0", floxs(2));
    lay(*sim, {{.25f, .25f + off}, {.5f, .5f}, {0, 0}, {}});
    stand(*sim);
    const bool near = off < .2f;
    CHECK(shows(sim->observation(), 0, 128,
                near ? std::vector<Seen>{{62, 65, double(off) / .2}} : std::vector<Seen>{}));
    CHECK((sim->reward()[0] > 0) == near);
  }
}
GE_TEST(agents_at_one_place_touch_and_fill_half_of_all_directions) {
  const auto sim = make_swarm("Flocking-v0", floxs(3));
  lay(*sim, {{.5f, .5f, .5f}, {.5f, .5f, .5f}, {1, 4, 1}, {}});
  stand(*sim);
  CHECK(is_near(sim->reward(), {-.1, -.1, -.1}, 1e-6));
  CHECK(shows(sim->observation(), 0, 128, {{0, 40, 0}}));
  CHECK(shows(sim->observation(), 128, 128, {{35, 127, 0}}));
}
GE_TEST(one_agent_alone_sees_nobody_and_gets_nothing) {
  const auto sim = make_swarm("Flocking-v0", floxs(1));
  stand(*sim);
  CHECK(shows(sim->observation(), 0, 128, {}));
  CHECK(is_near(sim->reward(), {0}, 0));
}

}  // namespace
