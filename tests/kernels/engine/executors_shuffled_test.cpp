// The environments do not depend on the order of rows: shuffled and isolated they give the recorded hashes.
#include "golden.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(golden_cases_in_shuffled_and_isolated_rows_give_the_recorded_hashes) {
  uint64_t seed = 0;
  for (const GoldenCase& one : golden_cases()) {
    const Golden found = one.run([&](Config& config) { config.shuffle_seed = ++seed; });
    if (found.records != one.hashes.records || found.outputs != one.hashes.outputs)
      fail("tests/golden", 0, "the hashes of " + one.line() + " are now " + found.records + " | " + found.outputs);
  }
}

GE_TEST(faults_in_shuffled_rows_are_counted_once) {
  Config config;
  config.worlds = 9;
  config.autoreset = Autoreset::disabled;
  Simulation simulation("Arena-v0", config);
  simulation.reset(4);
  for (int step = 0; step < 40; ++step) simulation.step_random(1, uint32_t(step));
  const FaultReport report = simulation->faults();
  std::string seen = std::to_string(report.frozen_steps);
  for (const FaultReport::Table& table : report.tables)
    seen += " " + table.name + " " + std::to_string(table.dropped) + " " + std::to_string(table.needed);
  CHECK_EQ(seen, "?");
}
