// The environments do not depend on the order of rows: shuffled and isolated they give the recorded
// hashes.
// environment: each
#include "ends.hpp"
#include "final_rows.hpp"
#include "parts.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(golden_cases_in_shuffled_and_isolated_rows_give_the_recorded_hashes) {
  uint64_t seed = 0;
  for (const GoldenCase& one : golden_cases()) {
    const Golden found = one.run([&](Config& config) { config.shuffle_seed = ++seed; });
    if (found.records != one.hashes.records || found.outputs != one.hashes.outputs)
      fail("tests/golden", 0,
           "the hashes of " + one.line() + " are now " + found.records + " | " + found.outputs);
  }
}

GE_TEST(agents_that_end_early_are_reported_at_once_or_with_their_world) {
  check_ends([](Config& config) { config.shuffle_seed = 3; });
}

GE_TEST(rows_in_which_no_episode_ended_are_zero_or_kept) {
  check_final_rows([](Config& config) { config.worlds = 5; });
}

GE_TEST(steps_of_some_worlds_come_to_whole_steps) {
  check_parts([](Config& config) { config.worlds = 4, config.shuffle_seed = 3; });
}
