// Agents of several kinds: rows in both forms, actions judged by the role, agents that are not
// there, names, masks of roles that name none.
// environment: troupe
// runs always: threads meet in another order each time
#include "roles.hpp"

#include "envs/troupe.hpp"

using namespace ge;
using namespace ge::test;

namespace {

Simulation troupe(RoleForm form, int64_t worlds = 40) {
  Config config;
  config.worlds = worlds;
  config.roles = form;
  Simulation simulation("Troupe-v0", config);
  simulation.reset(7);
  return simulation;
}
std::string refusal(Simulation& simulation, const std::vector<int32_t>& actions) {
  try {
    simulation.step_words(actions);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

GE_TEST(rows_of_roles_split_are_the_padded_ones) {
  check_roles([](Config&) {});
  check_roles([](Config& config) { config.worlds = 3, config.threads = 2, config.tile = 16; });
}

GE_TEST(an_action_that_no_role_has_is_refused_by_name) {
  Simulation padded = troupe(RoleForm::padded, 2);
  std::vector<int32_t> actions(12);
  actions[6 + 2] = 5;  // a dancer has 0 to 2, a drummer 0 to 4
  CHECK_EQ(refusal(padded, actions), "actions: world 1, dancer_2: 5 is not one of 0 to 4");
  actions[6 + 2] = 0, actions[6 + 4] = 4;
  CHECK_EQ(refusal(padded, actions), "");
  Simulation split = troupe(RoleForm::split, 2);
  actions.assign(12, 0);
  actions[11] = 2;  // the clown of world 1
  CHECK_EQ(refusal(split, actions), "actions: world 1, clown_0: 2 is not one of 0 to 1");
}

GE_TEST(an_action_of_another_role_is_illegal_and_not_refused) {
  check_actions_of_other_roles([](Config&) {});
  check_actions_of_other_roles([](Config& config) { config.threads = 2, config.tile = 16; });
}

GE_TEST(an_absent_agent_has_nothing_and_ends_never) {
  Simulation simulation = troupe(RoleForm::padded);
  const std::vector<uint8_t> active = simulation.out<uint8_t>(kAgentActive);
  int absent = 0;
  for (int step = 0; step < 3; ++step) simulation.step_random(1, uint32_t(step));
  const std::vector<float> rewards = simulation.reward(), rows = simulation.observation();
  const std::vector<uint8_t> masks = simulation.out<uint8_t>(kActionMask);
  for (size_t world = 0; world < 40; ++world) {
    const size_t clown = 6 * world + 5;
    if (active[clown] != 0) continue;
    ++absent;
    CHECK_EQ(rewards[clown], 0.0f);
    CHECK_EQ(simulation.ended()[clown], 0);
    for (size_t k = 0; k < 9; ++k) CHECK_EQ(rows[9 * clown + k], 0.0f);
    for (size_t k = 0; k < 5; ++k) CHECK_EQ(masks[5 * clown + k], 0);
  }
  CHECK(absent > 5 && absent < 35);
}

GE_TEST(a_role_without_a_mask_may_do_all_that_it_can) {
  Simulation simulation = troupe(RoleForm::padded, 1);
  const std::vector<uint8_t> masks = simulation.out<uint8_t>(kActionMask);
  const std::vector<uint8_t> dancer(masks.begin(), masks.begin() + 5);
  const std::vector<uint8_t> drummer(masks.begin() + 15, masks.begin() + 20);
  CHECK(dancer == std::vector<uint8_t>({1, 1, 1, 0, 0}));
  CHECK(drummer == std::vector<uint8_t>({1, 1, 1, 1, 1}));
}

GE_TEST(illegal_actions_of_a_role_are_counted_by_the_agents_number) {
  Simulation simulation = troupe(RoleForm::padded, 2);
  std::vector<int32_t> actions(12);
  actions[6 + 1] = 2;
  simulation.step_words(actions);
  CHECK_EQ(simulation->faults().illegal_actions, 0);
  simulation.step_words(actions);  // the same way twice
  const FaultReport report = simulation->faults();
  CHECK_EQ(report.illegal_actions, 1);
  CHECK_EQ(report.first_illegal_world, 1);
  CHECK_EQ(report.first_illegal_agent, 1);
}

GE_TEST(actions_of_both_kinds_come_as_words) {
  Config config;
  config.worlds = 2;
  Simulation band("Band-v0", config);
  band.reset(1);
  CHECK(band->actions_are_mixed());
  std::vector<float> floats(size_t(band->action_count()));
  CHECK_THROWS(band->step({floats.data(), Type::float32}, band.bound(), nullptr), Error,
               "actions must be int64, int32 or uint8, got float32");
  std::vector<int64_t> wide(size_t(band->action_count()));
  CHECK_THROWS(band->step({wide.data(), Type::int64}, band.bound(), nullptr), Error,
               "actions of roles, some of floats, must be int32, got int64");
}

GE_TEST(saves_do_not_know_how_rows_lie) {
  Simulation padded = troupe(RoleForm::padded), split = troupe(RoleForm::split);
  for (int step = 0; step < 4; ++step) padded.step_random(2, uint32_t(step));
  const std::string data = save(*padded);
  load(*split, data.data(), int64_t(data.size()));
  CHECK_EQ(padded.records(), split.records());
}
