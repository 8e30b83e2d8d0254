// What must not change a bit: threads, tiles, crews. Built once for each block size and instruction
// set.
// environment: cartpole cartpole_forms arena herd
// runs always: threads meet in another order each time
#include "engine/small_environments.hpp"

using namespace ge;
using namespace ge::test;

namespace {

void check_same(const Config& config, const Config& other, const Small& small, int steps = 25) {
  const auto one = make_simulator(small.id, config);
  const Golden a = golden_run(*one, steps, 3);
  for (const int parts : {1, 2}) {
    // Another one each time: records keep how often a slot was freed, whatever the reset.
    const auto two = make_simulator(small.id, other);
    const Golden b = golden_run(*two, steps, 3, FinalRows::zero, 1, parts);
    CHECK_EQ(a.records, b.records);
    CHECK_EQ(a.outputs, b.outputs);
  }
}

}  // namespace

GE_TEST(threads_of_any_number_give_the_same_bits) {
  for (const Small& small : kSmall) {
    for (const int threads : {2, 7}) {
      Config other = config_of(small, 131);
      other.threads = threads;
      other.tile = 16;
      check_same(config_of(small, 131), other, small);
    }
  }
}

GE_TEST(tiles_of_any_size_give_the_same_bits) {
  for (const Small& small : kSmall) {
    for (const int tile : {1, 16, 256}) {
      Config other = config_of(small, 131);
      other.tile = tile;
      check_same(config_of(small, 131), other, small);
    }
  }
}

// Few steps: where other work has the processors, a crew waits at every stage for the member that
// does not run.
GE_TEST(crews_of_any_size_give_the_same_bits) {
  for (const Small& small : kSmall) {
    for (const auto& [crew, worlds] : {std::pair{2, 1}, std::pair{3, 19}}) {
      Config other = config_of(small, worlds);
      other.crew = crew;
      check_same(config_of(small, worlds), other, small, 14);
    }
  }
  const Small crowd{"Herd-v0", {{"beast_count", int64_t{1000}}, {"cell_count", int64_t{100}}}};
  Config other = config_of(crowd, 1);
  other.crew = 2;
  check_same(config_of(crowd, 1), other, crowd, 5);
}
