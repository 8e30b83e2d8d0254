// Micro's agents, each for itself, and saves of its tiers. Its path against a plain loop, starts
// and tiers: tests/envs/test_micro.py.
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

Config config_of(int64_t worlds, int64_t agents, int64_t work) {
  Config config;
  config.worlds = worlds;
  config.parameters = {{"agent_count", agents}, {"work", work}};
  return config;
}

}  // namespace

GE_TEST(save_of_another_tier_is_refused) {
  Simulation one("Micro-v0", config_of(2, 8, 0)), other("Micro-v0", config_of(2, 9, 0));
  one.reset(1), other.reset(1);
  const std::string bytes = save(*one);
  CHECK_THROWS(load(*other, bytes.data(), int64_t(bytes.size())), Error,
               "load: the save differs in parameters");
}

GE_TEST(agents_do_not_see_each_other) {
  Simulation one("Micro-v0", config_of(1, 6, 17)), other("Micro-v0", config_of(1, 6, 17));
  one.reset(7), other.reset(7);
  one.step({0, 1, 2, 3, 0, 1});
  other.step({3, 2, 2, 3, 1, 0});  // agents 2 and 3 do the same in both
  const auto a = one.observation(), b = other.observation();
  for (size_t k = 8; k < 16; ++k) CHECK_EQ(a[k], b[k]);
  for (const size_t agent : {0, 1, 4, 5})
    CHECK(!std::equal(&a[4 * agent], &a[4 * agent] + 4, &b[4 * agent]));
}
