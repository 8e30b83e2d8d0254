// Rules of SwarmTag on worlds laid out by hand; chasers are the first rows. Numbers of the floxs
// profile are floxs 0.1.1's own.
#include "swarm_worlds.hpp"

namespace {

using namespace ge;
using namespace ge::test;

constexpr float kHalfTurn = 3.14159265f;

Values players(const char* profile, int64_t chasers, int64_t runners) {
  return {{"profile", profile},
          {"chaser_count", chasers},
          {"runner_count", runners},
          {"chaser_min_speed", 0.0},
          {"runner_min_speed", 0.0}};
}
std::unique_ptr<Simulation> standing(const Values& parameters, const Swarm& swarm) {
  auto sim = make_swarm("SwarmTag-v0", parameters);
  lay(*sim, swarm);
  stand(*sim);
  return sim;
}
const std::vector<Seen> kNobody;

GE_TEST(chaser_and_two_runners_look_and_pay_as_in_floxs) {
  const auto sim = standing(players("floxs", 1, 2),
                            {{.5f, .515f, .6f}, {.5f, .5f, .5f}, {0, kHalfTurn, kHalfTurn}, {}});
  const auto rows = sim->observation();
  CHECK(shows(rows, 0, 128, kNobody));
  CHECK(shows(rows, 128, 128, {{16, 111, .075}}));  // the nearer runner hides the other
  CHECK(shows(rows, 256, 128, kNobody));
  CHECK(shows(rows, 384, 128, {{44, 83, .15}}));
  CHECK(shows(rows, 512, 128, {{60, 67, .85}}));
  CHECK(shows(rows, 640, 128, kNobody));  // the chaser is a rounding beyond the range
  CHECK(is_near(sim->reward(), {.1, -.1, 0}, 1e-6));
}
GE_TEST(roles_exchanged_exchange_channels_and_rewards) {
  const auto sim = standing(players("floxs", 2, 1),
                            {{.515f, .6f, .5f}, {.5f, .5f, .5f}, {kHalfTurn, kHalfTurn, 0}, {}});
  const auto rows = sim->observation();
  CHECK(shows(rows, 512, 128, kNobody));  // the runner sees no runner
  CHECK(shows(rows, 640, 128, {{44, 83, .15}}));
  CHECK(shows(rows, 128, 128, {{16, 111, .075}}));
  CHECK(is_near(sim->reward(), {.1, 0, -.1}, 1e-6));
}
GE_TEST(runner_in_front_of_a_chaser_hides_it_not) {
  const auto sim =
      standing(players("vogue", 1, 2), {{.55f, .5f, .52f}, {.5f, .5f, .5f}, {0, 0, 0}, {}});
  const auto rows = sim->observation();
  const auto seen = [&](size_t begin) {
    float least = 2;
    for (size_t k = begin; k < begin + 128; ++k)
      if (rows[k] >= 0) least = std::min(least, rows[k]);
    return least;
  };
  CHECK(std::abs(seen(256) - .2f) < 1e-5f);        // runner 0: the other runner
  CHECK(std::abs(seen(256 + 128) - .5f) < 1e-5f);  // and the chaser behind it
}
GE_TEST(chaser_is_paid_once_and_runners_pay_for_each) {
  const auto sim = standing(players("floxs", 2, 2),
                            {{.5f, .8f, .51f, .49f}, {.5f, .5f, .5f, .5f}, {0, 0, 0, 0}, {}});
  CHECK(is_near(sim->reward(), {.1, 0, -.1, -.1}, 1e-6));
  const auto two =
      standing(players("floxs", 2, 1), {{.5f, .52f, .51f}, {.5f, .5f, .5f}, {0, 0, 0}, {}});
  CHECK(is_near(two->reward(), {.1, .1, -.2}, 1e-6));
}
GE_TEST(touch_distance_is_inclusive) {
  Values parameters = players("floxs", 1, 1);
  parameters["touch_distance"] = 0.03125;
  const auto at = standing(parameters, {{.5f, .53125f}, {.5f, .5f}, {0, 0}, {}});
  CHECK(is_near(at->reward(), {.1, -.1}, 1e-6));
  const auto beyond = standing(parameters, {{.5f, 0x1.100002p-1f}, {.5f, .5f}, {0, 0}, {}});
  CHECK(is_near(beyond->reward(), {0, 0}, 0));
}
GE_TEST(chasers_see_further_than_runners_in_floxs) {
  const auto sim = standing(players("floxs", 1, 1), {{.5f, .65f}, {.5f, .5f}, {0, kHalfTurn}, {}});
  const auto rows = sim->observation();
  float seen = -1;
  for (size_t k = 128; k < 256; ++k) seen = std::max(seen, rows[k]);
  CHECK(std::abs(seen - .75f) < 1e-5f);
  CHECK(shows(rows, 384, 128, kNobody));
}
GE_TEST(vogue_actions_set_the_speed) {
  const auto sim = make_swarm("SwarmTag-v0", players("vogue", 1, 3));
  lay(*sim, {{.1f, .3f, .5f, .7f}, {.5f, .5f, .5f, .5f}, {0, 0, 0, 0}, {.02f, .02f, .02f, .02f}});
  act(*sim, {0, 1, 0, 1, 0, 0, 1, -1});
  CHECK(is_near(sim->get<float>("agents.x"), {.125, .32, .5, .7}, 1e-6));
  CHECK(is_near(sim->get<float>("agents.speed"), {.025, .02, 0, 0}, 1e-7));
  CHECK(std::abs(sim->get<float>("agents.heading")[3] - 0.025f * kHalfTurn) < 1e-6f);
}
GE_TEST(company_of_runners_pays_up_to_its_weight) {
  const auto pair = standing(players("vogue", 1, 3),
                             {{.9f, .5f, .52f, .1f}, {.9f, .5f, .5f, .1f}, {0, 0, 0, 0}, {}});
  const double one = .01 * std::exp(-1.0);
  CHECK(is_near(pair->reward(), {0, one, one, 0}, 1e-7));
  const auto crowd = standing(players("vogue", 0, 4),
                              {{.5f, .505f, .495f, .5f}, {.5f, .5f, .5f, .505f}, {0, 0, 0, 0}, {}});
  CHECK(is_near(crowd->reward(), {.01, .01, .01, .01}, 1e-8));
}
GE_TEST(one_kind_alone_plays_and_nobody_is_refused) {
  CHECK(is_near(standing(players("vogue", 2, 0), {{.5f, .501f}, {.5f, .5f}, {0, 0}, {}})->reward(),
                {0, 0}, 0));
  CHECK_THROWS(make_swarm("SwarmTag-v0", players("vogue", 0, 0)), Error,
               "at least one agent must act");
}

}  // namespace
