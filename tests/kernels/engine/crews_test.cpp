// A crew reports the ends of episodes as a thread alone does.
// environment: each
// runs always: crews meet in another order each time
#include "ends.hpp"
#include "final_rows.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(agents_that_end_early_are_reported_by_a_crew) {
  check_ends([](Config& config) { config.worlds = 2, config.crew = 2; });
}

GE_TEST(rows_in_which_no_episode_ended_are_zero_or_kept_by_a_crew) {
  check_final_rows([](Config& config) { config.worlds = 2, config.crew = 2; });
}
