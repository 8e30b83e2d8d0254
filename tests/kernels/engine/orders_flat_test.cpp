// The order of emulated lanes changes nothing that the flat executor's squads leave.
// environment: herd
#include "engine/checking/lanes_emulated.hpp"
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

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
