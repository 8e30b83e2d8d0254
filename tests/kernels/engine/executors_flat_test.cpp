// The jobs of the flat executor give the recorded hashes, row by row in a scattered order, squads
// on emulated lanes; a step of one kernel per stage leaves the bits that a group of lanes leaves.
// environment: each
#include "ends.hpp"
#include "final_rows.hpp"
#include "parts.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(golden_cases_with_a_kernel_per_stage_give_the_recorded_hashes) {
  check_golden();
}

GE_TEST(agents_that_end_early_are_reported_at_once_or_with_their_world) {
  check_ends([](Config&) {});
}

GE_TEST(rows_in_which_no_episode_ended_are_zero_or_kept) {
  check_final_rows([](Config& config) { config.worlds = 5; });
}

GE_TEST(steps_of_some_worlds_come_to_whole_steps) {
  check_parts([](Config& config) { config.worlds = 5; });
}
