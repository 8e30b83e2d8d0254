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

GE_TEST(actions_in_one_number_are_for_several_categories) {
  const Entry& entry = cpu_entry<action_types::Made>();
  Config config;
  config.actions = ActionForm::flat;
  std::string refusal;
  try {
    make_simulator(entry, "Push-v0", config);
  } catch (const Error& error) {
    refusal = error.what();
  }
  CHECK_EQ(refusal,
           "actions='flat' makes one category of several: an action of Push-v0 is of numbers");
  const auto made = make_simulator(entry, "Choice-v0", config);
  const std::string& told = made->instance();
  CHECK(told.find("\"action\": [{\"name\": \"action\"") != std::string::npos);
  CHECK(told.find("\"choices\": 1500") != std::string::npos);
  CHECK(made->action_names().empty());
}

GE_TEST(names_and_keys_count_through_the_categories_of_all_fields) {
  const Entry& entry = cpu_entry<action_types::Made>();
  const auto made = make_simulator(entry, "Choice-v0", Config{});
  CHECK_EQ(made->action_names().size(), size_t{5 + 300});
  CHECK_EQ(made->action_names()[7], "category 7");
  const std::vector<std::string> keys = made->action_keys();  // the first has none
  CHECK_EQ(keys.size(), size_t{5 + 300});
  CHECK_EQ(keys[7], "w");
  CHECK_EQ(keys[0], "");
  CHECK(make_simulator(entry, "Push-v0", Config{})->action_keys().empty());
}

GE_TEST(a_number_has_names_for_its_lowest_value_its_rest_and_its_highest) {
  const Entry& entry = cpu_entry<action_types::Made>();
  const auto made = make_simulator(entry, "Push-v0", Config{});
  CHECK_EQ(made->action_names().size(), size_t{2 * 3});
  CHECK_EQ(made->action_names()[5], "category 5");
}
