// What must not change a bit: worlds per block and instruction set. Built once for each.
// Threads and crews: threads_blocks_test.cpp, crews_test.cpp.
// environment: each
#include "ends.hpp"
#include "final_rows.hpp"
#include "parts.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(golden_cases_give_the_recorded_hashes) {
  check_golden();
}

GE_TEST(agents_that_end_early_are_reported_at_once_or_with_their_world) {
  check_ends([](Config& config) { config.worlds = 37; });
}

GE_TEST(rows_in_which_no_episode_ended_are_zero_or_kept) {
  check_final_rows([](Config&) {});
}

GE_TEST(steps_of_some_worlds_come_to_whole_steps) {
  check_parts([](Config&) {});
}
