// What must not change a bit: worlds per block and instruction set. Built once for each.
// environment: each
#include "ends.hpp"
#include "final_rows.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(golden_cases_give_the_recorded_hashes) {
  check_golden();
}

GE_TEST(agents_that_end_early_are_reported_at_once_or_with_their_world) {
  check_ends([](Config& config) { config.worlds = 37, config.crew = 1; });
  check_ends([](Config& config) { config.worlds = 2, config.crew = 2; });
}

GE_TEST(rows_in_which_no_episode_ended_are_zero_or_kept) {
  check_final_rows([](Config& config) { config.crew = 1; });
  check_final_rows([](Config& config) { config.crew = 2, config.worlds = 2; });
}
