// Emulated lanes watch who writes what: a mistake that is planted in an environment is found
// without shuffling or isolating anything, and named. The other half:
// planted_faults_shuffled_test.cpp.
// environment: faulty
#include "engine/checking/lanes_emulated.hpp"
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

/// Runs a few worlds for a few steps with lanes that share one; the message has to have `parts`.
void check_names(const std::string& id, std::initializer_list<const char*> parts) {
  Config config;
  config.worlds = 37;
  config.max_episode_steps = 5;
  config.lanes = 8;
  config.shuffle_seed = 1;
  std::string message;
  try {
    golden_run(*make_simulator(id, config), 7, 11);
  } catch (const Error& error) {
    message = error.what();
  }
  for (const char* part : parts)
    if (message.find(part) == std::string::npos)
      fail(id.c_str(), 0, std::string("no '") + part + "' in: " + message);
}

}  // namespace

GE_TEST(two_rows_that_write_one_number_are_named) {
  check_names("WriteRace-v0", {"hazard: thread", "add_to_total"});
}
GE_TEST(row_that_reads_what_the_same_system_writes_is_named) {
  check_names("OrderDependence-v0", {"hazard: thread", "follow_neighbour"});
}
