// Numbers and measures that are called like something else are refused by name.
#include "engine/simulator/plan.hpp"
#include "test.hpp"

namespace ge {
namespace {

FieldInfo named(const char* name) {
  FieldInfo field{};
  field.name = name, field.type = Type::float32;
  return field;
}

GE_TEST(numbers_may_not_be_called_like_a_layer) {
  BuildFacts::Role role;
  role.observation = {named("rgb"), named("goal"), named("turned")};
  role.numbers = 2;
  check_names(role);
  role.observation[2].name = "rgb";
  CHECK_THROWS(check_names(role), Error, "a field of Numbers is called 'rgb'");
  role.observation[2].name = "goal";
  CHECK_THROWS(check_names(role), Error, "a field of Numbers is called 'goal'");
}
GE_TEST(measures_may_not_be_called_like_an_info) {
  BuildFacts::Role role;
  role.measures = {named("spl"), named("success")};
  check_names(role);
  for (const char* const name : {"true_objective", "state", "final_obs", "episode_stats", "game"}) {
    role.measures[1].name = name;
    CHECK_THROWS(check_names(role), Error,
                 "a field of Measures is called '" + std::string(name) + "'");
  }
}

}  // namespace
}  // namespace ge
