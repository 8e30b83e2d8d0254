// Actions of every type on the CPU's executor.
#include "action_types.hpp"
#include "engine/cpu/entry.hpp"

using namespace ge;
using namespace ge::test;

GE_TEST(actions_of_every_type_are_what_the_rules_see) {
  action_types::check_all(cpu_entry<action_types::Made>());
}

GE_TEST(actions_of_a_type_of_another_kind_are_refused) {
  const std::vector<float> floats(12);
  const std::vector<int32_t> whole(12);
  const Entry& entry = cpu_entry<action_types::Made>();
  using action_types::outcome;
  CHECK_EQ(outcome(entry, "Choice-v0", Type::float32, floats).refusal,
           "actions must be int64, int32 or uint8, got float32");
  CHECK_EQ(outcome(entry, "Push-v0", Type::int32, whole).refusal,
           "actions must be float32 or float64, got int32");
}
