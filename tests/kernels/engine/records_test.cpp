// Saves that are loaded and saves that are refused; copies of worlds that cannot be.
// environment: arena cartpole cartpole_forms
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

Config config_of(int64_t worlds = 4, Autoreset mode = Autoreset::same_step) {
  Config config;
  config.worlds = worlds;
  config.autoreset = mode;
  return config;
}
std::string saved(Simulation& simulation) {
  simulation.reset(3);
  for (uint32_t step = 0; step < 5; ++step) simulation.step_random(1, step);
  return save(*simulation);
}
/// The message of a load, which must leave the simulator as it was.
std::string refusal(Simulation& simulation, const std::string& bytes,
                    const std::vector<int64_t>* worlds = nullptr) {
  const std::string before = simulation.records();
  try {
    load(*simulation, bytes.data(), int64_t(bytes.size()), worlds);
  } catch (const Error& error) {
    CHECK(error.kind() == Fault::value);
    CHECK(simulation.records() == before);
    return error.what();
  }
  return "(loaded)";
}
size_t header_length(const std::string& save) {
  return 16 + size_t(uint8_t(save[8])) + 256 * size_t(uint8_t(save[9]));
}

}  // namespace

GE_TEST(save_comes_back_in_a_simulator_that_was_never_reset) {
  Simulation one("Arena-v0", config_of()), two("Arena-v0", config_of());
  const std::string bytes = saved(one);
  load(*two, bytes.data(), int64_t(bytes.size()));
  CHECK(one.records() == two.records());
  two.step_random(1, 5);
}

GE_TEST(save_header_says_what_it_is) {
  Simulation one("Arena-v0", config_of());
  const std::string bytes = saved(one), header = bytes.substr(16, header_length(bytes) - 16);
  CHECK_EQ(bytes.substr(0, 7), "gpu_env");
  for (const char* part : {"\"environment\": \"Arena-v0\"", "\"worlds\": 4",
                           "\"autoreset_mode\": \"SameStep\"", "\"size\": 2"})
    CHECK(header.find(part) != std::string::npos);
  CHECK_EQ(bytes.size(), header_length(bytes) + size_t(4 * one->record_bytes()) + 16);
}

GE_TEST(foreign_bytes_are_refused) {
  Simulation one("CartPole-v0", config_of());
  one.reset(1);
  for (const std::string bytes :
       {"", "PK\3\4", "gpu_env", "a text that is long enough to have been a save of something"})
    CHECK_EQ(refusal(one, bytes), "load: these bytes are not a save of gpu_envs");
}

GE_TEST(truncated_or_prolonged_save_is_refused_at_any_length) {
  Simulation one("CartPole-v0", config_of());
  const std::string bytes = saved(one);
  for (size_t length = 0; length < bytes.size(); ++length)
    CHECK(refusal(one, bytes.substr(0, length)) != "(loaded)");
  CHECK(refusal(one, bytes + '\0') != "(loaded)");
  CHECK_EQ(refusal(one, bytes), "(loaded)");
}

GE_TEST(save_with_any_bit_flipped_is_refused) {
  Simulation one("CartPole-v0", config_of(1));
  const std::string bytes = saved(one);
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[at] = char(flipped[at] ^ (1 << bit));
      CHECK(refusal(one, flipped) != "(loaded)");
    }
}

GE_TEST(save_of_something_else_is_refused_by_what_differs) {
  Simulation one("CartPole-v0", config_of());
  const std::string bytes = saved(one);
  const auto refused = [&](const char* id, const Config& config) {
    Simulation other(id, config);
    other.reset(1);
    return refusal(other, bytes);
  };
  CHECK_EQ(refused("CartPole64-v0", config_of()),
           "load: the save differs in environment: it has \"CartPole-v0\", this simulator "
           "\"CartPole64-v0\"");
  CHECK_EQ(refused("CartPole-v0", config_of(5)),
           "load: the save differs in worlds: it has 4, this simulator 5");
  CHECK_EQ(
      refused("CartPole-v0", config_of(4, Autoreset::disabled)),
      "load: the save differs in autoreset_mode: it has \"SameStep\", this simulator \"Disabled\"");
  Config config = config_of();
  config.max_episode_steps = 9;
  CHECK_EQ(refused("CartPole-v0", config),
           "load: the save differs in time_limit: it has 500, this simulator 9");
  config = config_of();
  config.parameters["sutton_barto_reward"] = true;
  CHECK(refused("CartPole-v0", config).find("load: the save differs in parameters: it has {") == 0);
}

GE_TEST(worlds_of_a_save_go_where_they_are_named) {
  for (const char* id : {"Arena-v0", "CartPole-v0"}) {  // in blocks of one and of many worlds
    Simulation three(id, config_of(3)), batch(id, config_of(40));
    const std::string bytes = saved(three), before = (batch.reset(8), batch.records());
    const std::vector<int64_t> named{20, 21, 7};
    load(*batch, bytes.data(), int64_t(bytes.size()), &named);
    CHECK(batch.record(20) == three.record(0) && batch.record(21) == three.record(1) &&
          batch.record(7) == three.record(2));
    load(*batch, save(*batch).data(), int64_t(save(*batch).size()));
    std::string after = batch.records();
    const size_t one = size_t(batch->record_bytes());
    for (const int64_t world : named)
      after.replace(size_t(world) * one, one, before, size_t(world) * one, one);
    CHECK(after == before);
  }
}

GE_TEST(one_world_is_spread_over_all_that_are_named) {
  Simulation one("CartPole-v0", config_of(1)), batch("CartPole-v0", config_of(40));
  const std::string bytes = saved(one);
  batch.reset(8);
  const std::string last = batch.record(39);
  std::vector<int64_t> named;
  for (int64_t world = 0; world < 39; ++world) named.push_back(world);
  load(*batch, bytes.data(), int64_t(bytes.size()), &named);
  for (const int64_t world : named) CHECK(batch.record(world) == one.record(0));
  CHECK(batch.record(39) == last);
  const std::vector<int64_t> none;
  CHECK_EQ(refusal(batch, bytes, &none), "(loaded)");  // and nothing written
}

GE_TEST(some_worlds_are_saved_as_they_would_be_alone) {
  Simulation batch("CartPole-v0", config_of(40)), three("CartPole-v0", config_of(3));
  batch.reset(8);
  const std::vector<int64_t> named{39, 0, 17};
  const std::string bytes = save(*batch, &named);
  load(*three, bytes.data(), int64_t(bytes.size()));
  for (int64_t i = 0; i < 3; ++i) CHECK(three.record(i) == batch.record(named[size_t(i)]));
  CHECK(save(*three) == bytes);
  const auto refused = [&](std::vector<int64_t> worlds) { save(*batch, &worlds); };
  CHECK_THROWS(refused({}), Error, "save: worlds= names no world");
  CHECK_THROWS(refused({40}), Error, "save: world 40 is not one of 0 to 39");
  CHECK_THROWS(refused({2, 2}), Error, "save: world 2 is named twice");
}

GE_TEST(worlds_that_cannot_be_loaded_into_are_refused) {
  Simulation two("CartPole-v0", config_of(2)), batch("CartPole-v0", config_of(4));
  const std::string bytes = saved(two);
  batch.reset(1);
  const auto refused = [&](std::vector<int64_t> worlds) { return refusal(batch, bytes, &worlds); };
  CHECK_EQ(refusal(batch, bytes), "load: the save differs in worlds: it has 2, this simulator 4");
  CHECK_EQ(refused({1}), "load: the save has 2 worlds and worlds= names 1");
  CHECK_EQ(refused({}), "load: the save has 2 worlds and worlds= names 0");
  CHECK_EQ(refused({0, 1, 2}), "load: the save has 2 worlds and worlds= names 3");
  CHECK_EQ(refused({0, 4}), "load: world 4 is not one of 0 to 3");
  CHECK_EQ(refused({-1, 0}), "load: world -1 is not one of 0 to 3");
  CHECK_EQ(refused({3, 3}), "load: world 3 is named twice");
  Simulation other("CartPole64-v0", config_of(4));
  other.reset(1);
  const std::vector<int64_t> named{0, 1};
  CHECK(refusal(other, bytes, &named).find("load: the save differs in environment") == 0);
  for (size_t length = 0; length < bytes.size(); length += 7)
    CHECK(refusal(batch, bytes.substr(0, length), &named) != "(loaded)");
}

GE_TEST(copies_that_cannot_be_are_refused) {
  Simulation one("CartPole-v0", config_of());
  one.reset(1);
  const auto copy = [&](std::vector<int64_t> from, std::vector<int64_t> to) {
    one->copy_worlds(from, to, false);
  };
  CHECK_THROWS(copy({0, 1}, {2}), Error, "copy_worlds: source has 2 worlds and destination 1");
  CHECK_THROWS(copy({0}, {4}), Error, "copy_worlds: world 4 is not one of 0 to 3");
  CHECK_THROWS(copy({-1}, {0}), Error, "copy_worlds: world -1 is not one of 0 to 3");
  CHECK_THROWS(copy({0, 1}, {2, 2}), Error, "copy_worlds: world 2 is a destination twice");
  CHECK_THROWS(copy({0, 1}, {1, 2}), Error,
               "copy_worlds: world 1 is both a source and a destination");
  copy({}, {});
  copy({0, 0}, {1, 2});
  CHECK(one.record(0) == one.record(1) && one.record(0) == one.record(2) &&
        one.record(0) != one.record(3));
}

GE_TEST(records_beyond_the_last_world_are_refused) {
  Simulation one("CartPole-v0", config_of());
  CHECK_THROWS(one.records(3, 2), Error, "worlds 3 to 5 are not within the 4 of this simulator");
  CHECK_THROWS(one.records(-1, 1), Error, "worlds -1 to 0");
}
