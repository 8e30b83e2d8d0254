// Parameters by name: what is accepted, what is refused and how the message says it; simulators
// that cannot be made.
// environment: arena cartpole
#include "engine/described/field_info.hpp"

#include <cmath>

#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

struct Settings {
  bool wind = true;
  int32_t count = 3;
  float speed = 1.5f;
  double mass = 0.25;
  uint32_t mask = 7;
  int64_t big = 0;

  static constexpr auto describe() {
    return fields(field("wind", &Settings::wind, "blows"),
                  field("count", &Settings::count, "of things").within(1, 10),
                  field("speed", &Settings::speed, "at most").in("m/s").within(0, kUnbounded),
                  field("mass", &Settings::mass, "any").in("kg"),
                  field("mask", &Settings::mask, "bits"),
                  field("big", &Settings::big, "a long one"));
  }
};

Settings set(const Values& values) {
  Settings settings;
  set_fields(&settings, field_infos<Settings>(true), values, "parameter");
  return settings;
}
std::string refusal(const Values& values, Fault kind) {
  try {
    set(values);
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "(accepted)";
}
std::string unmade(Config config, const char* id = "CartPole-v0") {
  try {
    make_simulator(id, config);
  } catch (const Error& error) {
    return error.what();
  }
  return "(made)";
}

}  // namespace

GE_TEST(values_of_fitting_types_are_set) {
  const Settings s = set({{"wind", false},
                          {"count", int64_t{10}},
                          {"speed", int64_t{2}},
                          {"mass", -0.5},
                          {"mask", int64_t{4294967295}},
                          {"big", int64_t{1} << 40}});
  CHECK_EQ(s.wind, false);
  CHECK_EQ(s.count, 10);
  CHECK_EQ(s.speed, 2.0f);
  CHECK_EQ(s.mass, -0.5);
  CHECK_EQ(s.mask, 4294967295u);
  CHECK_EQ(s.big, int64_t{1} << 40);
  CHECK_EQ(set({{"wind", int64_t{1}}}).wind, true);
  CHECK_EQ(set({{"count", 4.0}}).count, 4);
  CHECK_EQ(set({}).count, 3);
}

GE_TEST(unknown_names_are_refused_with_those_that_exist) {
  CHECK_EQ(refusal({{"cuont", int64_t{1}}}, Fault::type),
           "unknown parameter 'cuont'; there are: wind, count, speed, mass, mask, big");
}

GE_TEST(values_of_wrong_types_are_refused_by_name) {
  CHECK_EQ(refusal({{"count", std::string("many")}}, Fault::type),
           "parameter 'count' must be a whole number from 1 to 10, got 'many'");
  CHECK_EQ(refusal({{"count", 2.5}}, Fault::type),
           "parameter 'count' must be a whole number from 1 to 10, got 2.5");
  CHECK_EQ(refusal({{"count", true}}, Fault::type),
           "parameter 'count' must be a whole number from 1 to 10, got True");
  CHECK_EQ(refusal({{"wind", int64_t{2}}}, Fault::type),
           "parameter 'wind' must be True or False, got 2");
  CHECK_EQ(refusal({{"speed", false}}, Fault::type),
           "parameter 'speed' must be a number of at least 0, got False");
}

GE_TEST(values_out_of_range_are_refused_by_name) {
  CHECK_EQ(refusal({{"count", int64_t{11}}}, Fault::value),
           "parameter 'count' must be a whole number from 1 to 10, got 11");
  CHECK_EQ(refusal({{"count", int64_t{0}}}, Fault::value),
           "parameter 'count' must be a whole number from 1 to 10, got 0");
  CHECK_EQ(refusal({{"speed", -0.5}}, Fault::value),
           "parameter 'speed' must be a number of at least 0, got -0.5");
  CHECK_EQ(refusal({{"speed", double(INFINITY)}}, Fault::value),
           "parameter 'speed' must be a number of at least 0, got inf");
  CHECK_EQ(refusal({{"mass", double(NAN)}}, Fault::value),
           "parameter 'mass' must be a number, got nan");
  CHECK_EQ(refusal({{"mask", int64_t{-1}}}, Fault::value),
           "parameter 'mask' must be a whole number, got -1");
}

GE_TEST(description_lists_every_field_with_its_default) {
  const auto infos = field_infos<Settings>(true);
  CHECK_EQ(infos.size(), size_t(6));
  CHECK_EQ(infos[1].name, "count");
  CHECK_EQ(infos[1].default_value, 3.0);
  CHECK_EQ(
      json(infos).find(
          "[{\"name\": \"wind\", \"type\": \"bool\", \"shape\": [], \"low\": null, \"high\": null, "
          "\"choices\": null, \"default\": true, \"unit\": \"\", \"doc\": \"blows\"}, "),
      size_t(0));
  CHECK_EQ(json(std::string("a\"b\\c\n")), "\"a\\\"b\\\\c\\u000a\"");
}

GE_TEST(values_of_every_type_are_set_within_their_field_and_told_back) {
  struct Whole {
    uint8_t before = 1, small = 2, after = 3;
    uint64_t large = 5;
    static constexpr auto describe() {
      return fields(field("before", &Whole::before, ""), field("small", &Whole::small, ""),
                    field("after", &Whole::after, ""), field("large", &Whole::large, ""));
    }
  } whole;
  const auto infos = field_infos<Whole>(true);
  set_fields(&whole, infos, {{"small", int64_t{200}}, {"large", int64_t{1} << 50}}, "parameter");
  std::string told;
  for (const FieldInfo& info : infos) told += json_value(info, &whole) + " ";
  CHECK_EQ(told, "1 200 3 1125899906842624 ");
  CHECK_THROWS(set_fields(&whole, infos, {{"small", int64_t{256}}}, "parameter"), Error,
               "parameter 'small' must be a whole number, got 256");
  const Settings settings = set({{"mask", int64_t{4294967295}}, {"big", int64_t{1} << 40}});
  told.clear();
  for (const FieldInfo& info : field_infos<Settings>(true))
    told += json_value(info, &settings) + " ";
  CHECK_EQ(told, "true 3 1.5 0.25 4294967295 1099511627776 ");
}

GE_TEST(simulators_with_impossible_numbers_are_refused_by_name) {
  Config config;
  config.worlds = 0;
  CHECK_EQ(unmade(config), "num_envs must be from 1 to 2147483584, got 0");
  config.worlds = -5;
  CHECK_EQ(unmade(config), "num_envs must be from 1 to 2147483584, got -5");
  config.worlds = int64_t{1} << 40;
  CHECK_EQ(unmade(config), "num_envs must be from 1 to 2147483584, got 1099511627776");
  config = {};
  config.first_world = int64_t{1} << 32;
  CHECK_EQ(unmade(config),
           "first_world must be from 0 to 2^32 less the number of worlds, got 4294967296");
  config = {};
  config.max_episode_steps = int64_t{1} << 31;
  CHECK_EQ(unmade(config), "max_episode_steps must be below 2^31, got 2147483648");
  config = {};
  config.parameters["friction"] = 9.8;
  CHECK_EQ(unmade(config),
           "unknown parameter 'friction'; there are: sutton_barto_reward, velocities, gravity, "
           "force, length, mass, pole_mass");
}

GE_TEST(more_worlds_than_memory_are_refused_with_the_number_that_fits) {
  Config config;
  config.worlds = (int64_t{1} << 31) - 64;
  try {
    make_simulator("Arena-v0", config);
    CHECK(!"made");
  } catch (const Error& error) {
    CHECK(error.kind() == Fault::memory);
    const std::string message = error.what();
    CHECK(message.find("2147483584 worlds of Arena-v0 need ") == 0);
    CHECK(message.find(" bytes of state, ") != std::string::npos &&
          message.find(" of observations; about ") != std::string::npos);
    const auto at = message.find("about ") + 6;
    CHECK(std::stoll(message.substr(at)) > 0 && std::stoll(message.substr(at)) < config.worlds);
  }
}

GE_TEST(instance_tells_shapes_parameters_and_limits) {
  Config config;
  config.worlds = 3;
  config.max_episode_steps = 77;
  config.autoreset = Autoreset::disabled;
  config.parameters["size"] = 3.5;
  const std::string text = make_simulator("Arena-v0", config)->instance();
  for (const char* part :
       {"\"id\": \"Arena-v0\"", "\"num_worlds\": 3", "\"agents_per_world\": 4",
        "\"time_limit\": 77", "\"autoreset_mode\": \"Disabled\"",
        "\"obs\": {\"type\": \"float32\", \"shape\": [3, 4, 15], \"per_agent\": true, "
        "\"by_a_step\": false, \"where_ended\": false}",
        "\"action_mask\": {\"type\": \"int8\", \"shape\": [3, 4, 7], \"per_agent\": true",
        "\"state\": {\"type\": \"float64\", \"shape\": [3, 3], \"per_agent\": false",
        "\"size\": 3.5", "\"walls\": true"})
    if (text.find(part) == std::string::npos)
      fail("instance", 0, std::string("no ") + part + " in " + text);
}

namespace {
struct Told {
  int32_t kind = 1;
  std::string map = "plain";
  static constexpr auto describe() {
    return fields(field("kind", &Told::kind, "which").named("new", "old"),
                  field("map", &Told::map, "where"));
  }
};
}  // namespace

GE_TEST(named_choices_are_set_by_name_or_number) {
  CHECK_EQ(from_values<Told>({}, "parameter").kind, 1);
  CHECK_EQ(from_values<Told>({{"kind", std::string("new")}}, "parameter").kind, 0);
  CHECK_EQ(from_values<Told>({{"kind", int64_t{0}}}, "parameter").kind, 0);
  CHECK_THROWS(from_values<Told>({{"kind", std::string("odd")}}, "parameter"), Error,
               "parameter 'kind' must be one of 'new', 'old', got 'odd'");
  CHECK_THROWS(from_values<Told>({{"kind", int64_t{2}}}, "parameter"), Error, "'new', 'old'");
}

GE_TEST(texts_are_kept_whole_and_told_as_json) {
  const Told told = from_values<Told>({{"map", std::string("XX\n\"X")}}, "parameter");
  CHECK_EQ(told.map, std::string("XX\n\"X"));
  const std::vector<FieldInfo> infos = field_infos<Told>(true);
  CHECK_EQ(json_value(infos[0], &told), std::string("\"old\""));
  CHECK_EQ(json_value(infos[1], &told), std::string("\"XX\\u000a\\\"X\""));
  CHECK(json(infos).find("\"names\": [\"new\", \"old\"]") != std::string::npos);
  CHECK(json(infos).find("\"default\": \"plain\"") != std::string::npos);
  CHECK_THROWS(from_values<Told>({{"map", int64_t{3}}}, "parameter"), Error, "must be a text");
}
