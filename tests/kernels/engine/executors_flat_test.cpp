// The jobs of the flat executor give the recorded hashes, row by row in a scattered order, squads
// on emulated lanes; a step of one kernel per stage leaves the bits that a group of lanes leaves.
#include "ends.hpp"
#include "engine/checking/lanes_emulated.hpp"
#include "final_rows.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(golden_cases_with_a_kernel_per_stage_give_the_recorded_hashes) {
  check_golden();
}

GE_TEST(lanes_in_other_orders_give_the_same_bits) {
  Config config;
  config.worlds = 2;
  config.parameters = {{"beast_count", int64_t{77}}, {"cell_count", int64_t{6}}};
  std::string first;
  for (const uint64_t seed : {1, 2, 3}) {
    LaneEmulator::options().seed = seed;
    const Golden hashes = golden_run(*make_simulator("Herd-v0", config), 12, 3);
    if (first.empty()) first = hashes.records + hashes.outputs;
    CHECK_EQ(first, hashes.records + hashes.outputs);
  }
  LaneEmulator::options().seed = 0;
}

GE_TEST(agents_that_end_early_are_reported_at_once_or_with_their_world) {
  check_ends([](Config&) {});
}

GE_TEST(rows_in_which_no_episode_ended_are_zero_or_kept) {
  check_final_rows([](Config& config) { config.worlds = 5; });
}

GE_TEST(faults_are_counted_as_elsewhere) {
  CHECK_EQ(faults_of_arena(), kFaultsOfArena);
}
