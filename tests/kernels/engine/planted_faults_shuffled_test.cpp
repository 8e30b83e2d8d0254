// cpu/shuffled finds mistakes that are planted in an environment and says where they are.
// environment: faulty
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

/// The message of the first step; empty if nothing was found.
std::string message_of(const std::string& id, uint64_t shuffle_seed = 0) {
  Config config;
  config.worlds = 2;
  config.shuffle_seed = shuffle_seed;
  Simulation simulation(id, config);
  simulation.reset(1);
  try {
    simulation.step({0});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void check_names(const std::string& id, std::initializer_list<const char*> parts) {
  for (const uint64_t seed : {0, 1, 2, 3}) {
    const std::string message = message_of(id, seed);
    for (const char* part : parts)
      if (message.find(part) == std::string::npos)
        fail(id.c_str(), int(seed), std::string("no '") + part + "' in: " + message);
  }
}

}  // namespace

GE_TEST(faultless_environment_passes) {
  CHECK_EQ(message_of("Faultless-v0"), "");
}
GE_TEST(write_race_is_named) {
  check_names("WriteRace-v0", {"write race", "phase step", "add_to_total", "row 0 of group",
                               "row 1 of group", "board.total of row 0"});
}
GE_TEST(reading_what_the_same_system_writes_is_named) {
  check_names("OrderDependence-v0",
              {"order dependence", "follow_neighbour", "of group", "group.number of row"});
}
GE_TEST(emit_test_that_reads_its_own_list_is_named) {
  check_names("DependentTest-v0", {"order dependence", "is_first", "of notes"});
}
GE_TEST(destroy_test_that_reads_its_own_pool_is_named) {
  check_names("DependentDestroy-v0", {"order dependence", "has_neighbour", "of things"});
}
GE_TEST(transient_component_that_nobody_wrote_is_named) {
  check_names("UnwrittenComponent-v0", {"unwritten scratch", "add_memo", "group.number of row"});
}
GE_TEST(row_beyond_the_end_of_a_list_is_named) {
  check_names("UnwrittenRow-v0", {"unwritten scratch", "read_note", "board.total of row 0"});
}
GE_TEST(scratch_whose_lifetime_has_ended_is_named) {
  check_names("EndedLifetime-v0", {"unwritten scratch", "read_draft", "board.total of row 0"});
}
GE_TEST(decision_on_unwritten_scratch_is_named) {
  check_names("UnwrittenDecision-v0", {"unwritten scratch", "has_notes", "what the world returns"});
}
GE_TEST(write_outside_the_grant_is_named) {
  check_names("OutsideGrant-v0", {"reset_third", "group.number of row 2", "does not grant"});
}
GE_TEST(count_that_writes_is_named) {
  check_names("WritingCount-v0", {"counting_twice", "the world writes"});
}
GE_TEST(row_outside_its_table_is_named) {
  check_names("OutsideTable-v0", {"number_after", "row 3 of group: leaves its table"});
}
GE_TEST(full_table_is_counted_and_named) {
  Config config;
  config.worlds = 5;
  Simulation simulation("SmallTable-v0", config);
  simulation.reset(1);
  simulation.step({0});
  const FaultReport report = simulation->faults();
  CHECK_EQ(report.tables.size(), size_t(1));
  CHECK_EQ(report.tables.at(0).name, "notes");
  CHECK_EQ(report.tables.at(0).dropped, 5);
  CHECK_EQ(report.tables.at(0).needed, 3);
  CHECK_EQ(report.tables.at(0).capacity, 2);
  CHECK_EQ(simulation->faults().tables.size(), size_t(0));
}
