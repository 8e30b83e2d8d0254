// What a step moves between a GPU and its memory, counted in sectors on emulated lanes.
// environment: cartpole
#include <cstdio>

#include "engine/checking/lanes_emulated.hpp"
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

/// Bytes of whole sectors that a world's step reads and writes, on average: no optional outputs,
/// actions of 64 bits at random, episodes that end and begin again.
double bytes_of_step(const std::vector<uint64_t>& seeds, bool all_columns) {
  constexpr int64_t kWorlds = 1024;
  constexpr int kBefore = 60, kCounted = 40;
  Config config;
  config.worlds = kWorlds;
  config.autoreset = Autoreset::same_step;
  config.lanes = 1;
  Simulation simulation("CartPole-v0", config);
  Bound lean{};
  for (const Output o : {kObservation, kReward, kTerminated, kTruncated})
    lean.at[o] = simulation.bound().at[o];
  ResetRequest request;
  request.seeds = seeds;
  simulation->reset(request, lean, nullptr);
  std::vector<int64_t> actions(kWorlds);
  size_t sectors = 0;
  for (int step = 0; step < kBefore + kCounted; ++step) {
    for (size_t k = 0; k < actions.size(); ++k)
      actions[k] = draw(1, 0, uint32_t(k), 0, uint32_t(step), 5, 0, 0).below(0, 2);
    // Whatever others have written is looked for again.
    if (all_columns) simulation.set<uint32_t>("world.over", {0}, {0});
    Traffic traffic;
    LaneEmulator::options().watched = false;
    if (step >= kBefore) LaneEmulator::options().traffic = &traffic;
    simulation->step({actions.data(), Type::int64}, lean, nullptr);
    LaneEmulator::options() = EmulationOptions{};
    sectors += traffic.read.size() + traffic.written.size();
  }
  return double(sectors * Traffic::kSector) / double(kWorlds * kCounted);
}

}  // namespace

GE_TEST(a_step_moves_what_it_needs) {
  const double one_seed = bytes_of_step({7}, false);
  std::vector<uint64_t> each(1024);
  for (size_t k = 0; k < each.size(); ++k) each[k] = 7 * k;
  const double seeds = bytes_of_step(each, false), unknown = bytes_of_step({7}, true);
  std::printf(
      "  bytes of a step: %.1f with one seed, %.1f with one for each world, %.1f where nothing "
      "is known\n",
      one_seed, seeds, unknown);
  CHECK(one_seed <= 84);
  CHECK(seeds <= one_seed + 13);
  CHECK(unknown >= one_seed + 18);  // so it does count
}
