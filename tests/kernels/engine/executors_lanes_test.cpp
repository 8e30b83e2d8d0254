// The CUDA executor's own code on emulated lanes gives the recorded hashes, with any number of
// lanes per world and in any order of lanes.
// environment: each
#include "ends.hpp"
#include "engine/emulated_runs.hpp"
#include "final_rows.hpp"
#include "parts.hpp"

using namespace ge;
using namespace ge::test;

namespace {

/// The numbers of lanes that an environment is compiled for. 64: a block of two warps owns a world.
/// 0: what each phase names first, 128 in swarms.
std::vector<int> lanes_of(const std::string& id) {
  std::vector<int> found;
  for (const int lanes : {1, 2, 8, 32, 64, 0}) {
    Config config = config_of(lanes, 0);
    config.worlds = 1;
    try {
      make_simulator(id, config);
      found.push_back(lanes);
    } catch (const Error& error) {
      if (std::string(error.what()).find("lanes must be") != 0) throw;
    }
  }
  CHECK(found.size() == 3 || found.size() == 6);
  return found;
}

}  // namespace

GE_TEST(golden_cases_on_emulated_lanes_give_the_recorded_hashes) {
  const Emulation quick("", false);  // hazards are looked for in the shorter runs below
  // Where the numbers of lanes begin, by the environment: files of one case have each of them too.
  size_t number = golden_cases().at(0).id.size();
  for (const GoldenCase& one : golden_cases()) {
    const std::vector<int> known = lanes_of(one.id);
    const int lanes = known[number++ % known.size()];
    const Golden found = one.run([&](Config& config) {
      config.lanes = lanes;
      config.shuffle_seed = number;
    });
    if (found.records != one.hashes.records || found.outputs != one.hashes.outputs)
      fail("tests/golden", 0,
           "with " + std::to_string(lanes) + " lanes per world the hashes of " + one.line() +
               " are " + found.records + " | " + found.outputs);
  }
}

GE_TEST(any_number_of_lanes_gives_the_same_bits) {
  const auto runs = small_runs();
  CHECK(!runs.empty());
  for (const auto& [id, parameters] : runs) {
    for (const Autoreset mode : kModes) {
      const auto config = [&](int lanes, uint64_t seed) {
        Config made = config_of(lanes, seed, mode);
        made.parameters = parameters;
        return made;
      };
      const std::string one_lane = outcome(id, config(1, 0));
      for (const int lanes : lanes_of(id))
        if (const std::string found = outcome(id, config(lanes, uint64_t(lanes)));
            found != one_lane)
          fail(id.c_str(), 0,
               std::string(name_of(mode)) + " with " + std::to_string(lanes) + " lanes: " + found +
                   " against " + one_lane);
    }
  }
}

GE_TEST(agents_that_end_early_are_reported_at_once_or_with_their_world) {
  for (const int lanes : {1, 8})
    check_ends([lanes](Config& config) { config.lanes = lanes, config.shuffle_seed = 3; });
}

GE_TEST(rows_in_which_no_episode_ended_are_zero_or_kept) {
  for (const auto& [lanes, worlds] : {std::pair{1, 37}, std::pair{8, 5}, std::pair{0, 2}})
    check_final_rows([lanes, worlds](Config& config) {
      config.lanes = lanes;
      config.worlds = worlds;
    });
}

GE_TEST(steps_of_some_worlds_come_to_whole_steps) {
  for (const auto& [lanes, worlds] : {std::pair{1, 37}, std::pair{8, 5}, std::pair{0, 3}})
    check_parts([lanes, worlds](Config& config) {
      config.lanes = lanes, config.worlds = worlds, config.shuffle_seed = 3;
    });
}
