// Real modules: shared objects that an engine without environments loads, as users' processes do.
#include "engine/modules.hpp"
#include "golden.hpp"

using namespace ge;
using namespace ge::test;

namespace {

std::string file_of(const std::string& name) {
  return std::string(GE_MODULES) + name + ".so";
}

std::string refusal_of(const std::string& name) {
  try {
    load_module(file_of(name));
  } catch (const Error& error) {
    return error.what();
  }
  return "loaded";
}
bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Every recorded case of an environment, by what was loaded.
void check_golden_of(const std::string& file) {
  std::ifstream in("tests/golden/" + file + ".txt");
  int cases = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const GoldenCase one = parse_golden(line);
    const auto simulator = make_loaded(one.id, one.config());
    CHECK(simulator != nullptr);
    const Golden found = golden_run(*simulator, std::stoi(one.steps), std::stoull(one.seed));
    CHECK_EQ(found.records, one.hashes.records);
    CHECK_EQ(found.outputs, one.hashes.outputs);
    ++cases;
  }
  CHECK(cases > 0);
}

}  // namespace

GE_TEST(nothing_is_there_before_it_is_loaded) {
  CHECK(make_loaded("Nobody-v0", Config{}) == nullptr);
}

GE_TEST(a_module_brings_its_environments_and_their_bits) {
  const Entry& entry = load_module(file_of("cartpole"));
  CHECK(says(entry.describe(), "\"id\": \"CartPole64-v0\""));
  CHECK_EQ(&load_module(file_of("cartpole")), &entry);
  check_golden_of("cartpole");
}

GE_TEST(errors_cross_with_their_kind_and_message) {
  load_module(file_of("cartpole"));
  Config config;
  config.parameters["nonsense"] = true;
  try {
    make_loaded("CartPole-v0", config);
    CHECK(false);
  } catch (const Error& error) {
    CHECK(error.kind() == Fault::type || error.kind() == Fault::value);
    CHECK(says(error.what(), "nonsense"));
  }
}

GE_TEST(several_modules_live_beside_each_other) {
  load_module(file_of("cartpole"));
  load_module(file_of("arena"));
  check_golden_of("arena");
}

GE_TEST(an_id_that_another_module_has_brought_is_refused) {
  load_module(file_of("arena"));
  CHECK(says(refusal_of("arena_again"), "which " + file_of("arena") + " has brought"));
}

GE_TEST(a_module_for_another_engine_is_refused_in_one_line) {
  const std::string message = refusal_of("stranger");
  CHECK(says(message, "was made for another engine (engine another, "));
  CHECK(!says(message, "\n"));
}

GE_TEST(a_library_that_is_no_module_is_refused) {
  CHECK(says(refusal_of("nothing"), "is no module of gpu_envs"));
}

GE_TEST(a_file_that_is_not_there_is_refused) {
  CHECK(says(refusal_of("absent"), "cannot be loaded"));
}
