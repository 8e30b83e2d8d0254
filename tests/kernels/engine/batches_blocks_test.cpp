// What must not change a bit: batch size, save and load, forks of worlds; and faults are counted as
// on every other executor. Built once for each block size and instruction set.
// environment: cartpole cartpole_forms arena herd
#include "engine/small_environments.hpp"
#include "golden.hpp"

using namespace ge;
using namespace ge::test;

namespace {

/// Every step's outputs, then the records.
std::string history(Simulation& simulation, int first_step, int steps) {
  std::string all;
  for (int step = 0; step < steps; ++step) {
    simulation.step_random(8, uint32_t(first_step + step));
    all += simulation.outputs();
  }
  return all + simulation.records();
}

}  // namespace

GE_TEST(faults_of_all_worlds_are_counted) {
  for (const int parts : {1, 2}) CHECK_EQ(faults_of_arena(parts), kFaultsOfArena);
}

GE_TEST(worlds_alone_equal_themselves_in_a_large_batch) {
  constexpr int kWorlds = rounds(1000), kSteps = 20;
  for (const int which : {0, 2, 3}) {
    const Small& small = kSmall[which];
    std::vector<std::string> outputs(kWorlds);
    Simulation batch(small.id, config_of(small, kWorlds));
    batch.reset(5);
    for (int step = 0; step < kSteps; ++step) {
      batch.step_random(8, uint32_t(step));
      for (int world = 0; world < kWorlds; ++world)
        outputs[size_t(world)] += batch.outputs_of(world);
    }
    for (int world = 0; world < kWorlds; ++world) {
      Config config = config_of(small, 1);
      config.first_world = world;
      Simulation alone(small.id, config);
      alone.reset(5);
      std::string seen;
      for (int step = 0; step < kSteps; ++step) {
        alone.step_random(8, uint32_t(step));
        seen += alone.outputs_of(0);
      }
      if (seen != outputs[size_t(world)] || alone.record(0) != batch.record(world))
        fail(small.id, world, "this world differs from itself in the batch");
    }
  }
}

GE_TEST(save_loaded_midway_into_another_simulator_goes_on_the_same) {
  for (const Small& small : kSmall) {
    for (const Autoreset mode : kModes) {
      Simulation one(small.id, config_of(small, 19, mode)),
          two(small.id, config_of(small, 19, mode));
      one.reset(5);
      history(one, 0, 10);
      const std::string saved = save(*one);
      load(*two, saved.data(), int64_t(saved.size()));
      CHECK(save(*two) == saved);
      CHECK(history(one, 10, 12) == history(two, 10, 12));
    }
  }
}

GE_TEST(forks_have_the_future_of_their_sources) {
  for (const Small& small : kSmall) {
    Simulation simulation(small.id, config_of(small, 40));
    simulation.reset(5);
    history(simulation, 0, 10);
    std::vector<int64_t> from, to;
    for (int64_t world = 0; world < 20; ++world)
      from.push_back(world), to.push_back(20 + (world * 7) % 20);
    simulation->copy_worlds(from, to, false);
    for (int step = 0; step < 20; ++step) {
      std::vector<int32_t> actions(size_t(simulation.rows()) * simulation->action_ranges().size() /
                                   2);
      const size_t each = actions.size() / 40;
      for (size_t i = 0; i < 20; ++i)
        for (size_t k = 0; k < each; ++k)
          actions[size_t(from[i]) * each + k] = actions[size_t(to[i]) * each + k] =
              int32_t((step + i + k) % 2);
      simulation.step(actions);
      for (size_t i = 0; i < 20; ++i)
        CHECK(simulation.outputs_of(from[i]) == simulation.outputs_of(to[i]));
    }
    for (size_t i = 0; i < 20; ++i) CHECK(simulation.record(from[i]) == simulation.record(to[i]));
  }
}

GE_TEST(forks_that_are_reseeded_draw_numbers_of_their_own) {
  Simulation simulation("Arena-v0", config_of(kSmall[2], 2));
  simulation.reset(5);
  const std::vector<int64_t> from{0}, to{1};
  const auto identity = simulation.get<uint32_t>("world.identity");
  simulation->copy_worlds(from, to, true);
  CHECK(simulation.get<uint32_t>("world.identity") == identity);
  simulation.step({0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
  simulation.step({0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
  CHECK(simulation.outputs_of(0) != simulation.outputs_of(1));
}
