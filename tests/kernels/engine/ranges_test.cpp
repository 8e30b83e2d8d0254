// Ranges of columns: what `set` and `load` refuse, and where the ranges come from.
// environment: arena herd
#include "engine/simulator/ranges.hpp"

#include "engine/described/field_info.hpp"
#include "engine/maths/blake2b.hpp"
#include "envs/arena.hpp"
#include "envs/herd.hpp"
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

constexpr int64_t kWorlds = 4;

Config config_of(const Values& parameters = {}) {
  Config config;
  config.worlds = kWorlds;
  config.parameters = parameters;
  return config;
}

/// A save of `simulation` in which a word of a column of world 2 is another, and the checksum fits.
std::string altered(Simulation& simulation, const char* name, int64_t row, uint32_t word) {
  std::string bytes = save(*simulation);
  const Column& column = find_column(*simulation, name);
  const size_t records = bytes.size() - 16 - size_t(kWorlds * simulation->record_bytes());
  const size_t at =
      records + size_t(2 * simulation->record_bytes() + column.offset + row * column.stride);
  std::memcpy(bytes.data() + at, &word, sizeof word);
  const auto digest = Blake2b(16).update(bytes.data(), bytes.size() - 16).digest();
  std::memcpy(bytes.data() + bytes.size() - 16, digest.data(), 16);
  return bytes;
}
std::string refusal(Simulation& simulation, const std::string& bytes) {
  const std::string before = simulation.records();
  try {
    load(*simulation, bytes.data(), int64_t(bytes.size()));
  } catch (const Error& error) {
    CHECK(simulation.records() == before);
    return error.what();
  }
  return "(loaded)";
}

/// What a load says of one record of 16 bytes: a word for a header, then three rows of `kind`.
std::string judged(const LiveRows& live, double low, double high, Type type,
                   std::initializer_list<uint32_t> words) {
  Column column{"shots.kind", type, {}, 3, 4, 4, bytes_of(type), "", "", low, high};
  column.live = live;
  try {
    check_records({column}, reinterpret_cast<const char*>(words.begin()), 1, 16);
  } catch (const Error& error) {
    return error.what();
  }
  return "(loaded)";
}

}  // namespace

GE_TEST(rows_that_do_not_live_hold_zeros_that_the_range_excludes) {
  const auto of = [](const LiveRows& live, std::initializer_list<uint32_t> words) {
    return judged(live, 1, 3, Type::int32, words);
  };
  const LiveRows list{0, 0, false}, pool{0, 0, true}, fixed{2};
  CHECK_EQ(of(list, {2, 1, 3, 0}), "(loaded)");
  CHECK_EQ(of(list, {3, 1, 3, 0}),
           "load: shots.kind must be from 1 to 3, got 0 for world 0, row 2");
  CHECK_EQ(of(list, {2, 1, 3, 4}),
           "load: shots.kind must be from 1 to 3, got 4 for world 0, row 2");
  CHECK_EQ(of(pool, {0b101, 1, 0, 2}), "(loaded)");
  CHECK_EQ(of(pool, {0b010, 1, 0, 2}),
           "load: shots.kind must be from 1 to 3, got 0 for world 0, row 1");
  CHECK_EQ(of(fixed, {9, 1, 2, 0}), "(loaded)");
  CHECK_EQ(of(fixed, {9, 0, 2, 0}),
           "load: shots.kind must be from 1 to 3, got 0 for world 0, row 0");
}

GE_TEST(range_that_is_wider_than_its_type_holds_what_the_type_can) {
  const auto of = [](Type type, double low, double high, uint32_t word) {
    return judged({3}, low, high, type, {0, 0, word, 0});
  };
  CHECK_EQ(of(Type::uint8, 0, 300, 100), "(loaded)");
  CHECK_EQ(of(Type::uint8, 0, 256, 255), "(loaded)");
  CHECK_EQ(of(Type::uint16, 0, 65536, 5), "(loaded)");
  CHECK_EQ(of(Type::int8, -1000, 1000, 0x80), "(loaded)");
  CHECK_EQ(of(Type::int32, 0, 4294967295.0, 0x7fffffff), "(loaded)");
  CHECK_EQ(of(Type::int32, 0, kUnbounded, ~0u),
           "load: shots.kind must be at least 0, got -1 for world 0, row 1");
  CHECK_EQ(of(Type::uint32, -1, 5, ~0u),
           "load: shots.kind must be from -1 to 5, got 4294967295 for world 0, row 1");
  CHECK_EQ(of(Type::int32, 0, -1, 0), "(loaded)");  // a row of a table that has none
  CHECK_EQ(of(Type::int32, 0, -1, 1).substr(0, 16), "load: shots.kind");
}

GE_TEST(save_whose_words_are_out_of_range_is_refused_by_name) {
  Simulation one("Arena-v0", config_of());
  one.reset(3);
  for (uint32_t step = 0; step < 5; ++step) one.step_random(1, step);
  const auto said = [&](const char* column, int64_t row, uint32_t word) {
    return refusal(one, altered(one, column, row, word));
  };
  CHECK_EQ(said("shots.owner", 39, 9),
           "load: shots.owner must be from -1 to 3, got 9 for world 2, row 39");
  CHECK_EQ(said("marks.count", 0, 5),
           "load: marks.count must be from 0 to 4, got 5 for world 2, row 0");
  CHECK_EQ(said("shots.live", 1, 256),
           "load: shots.live must be from 0 to 255, got 256 for world 2, row 1");
  CHECK_EQ(said("shots.live", 0, ~0u), "(loaded)");
  CHECK_EQ(said("world.over", 0, 2),
           "load: world.over must be from 0 to 1, got 2 for world 2, row 0");
  CHECK_EQ(said("fighters.fate", 0, 16),
           "load: fighters.fate must be from 0 to 15, got 16 for world 2, row 0");
  CHECK_EQ(said("shots.generation", 0, ~0u), "(loaded)");
  CHECK_EQ(said("world.identity", 0, ~0u), "(loaded)");
}

GE_TEST(rows_that_a_field_names_are_those_of_worlds_with_these_parameters) {
  for (const int64_t agents : {1, 3, 6}) {
    Simulation one("Arena-v0", config_of({{"agent_count", agents}}));
    const Column& owner = find_column(*one, "shots.owner");
    CHECK_EQ(owner.low, -1.0);
    CHECK_EQ(owner.high, double(agents - 1));
  }
  Simulation herd("Herd-v0", config_of({{"beast_count", int64_t{10}}, {"cell_count", int64_t{7}}}));
  CHECK_EQ(find_column(*herd, "loners.beast").high, 9.0);
  CHECK_EQ(find_column(*herd, "loners.count").high, 3.0);
  CHECK_EQ(find_column(*herd, "beasts.cell").high, 6.0);
}

GE_TEST(bitmap_of_a_pool_has_bits_of_its_slots_only) {
  Simulation one("Arena-v0", config_of());
  one.reset(3);
  const Column& live = find_column(*one, "shots.live");
  const auto set = [&](uint32_t last) {
    const uint32_t words[] = {~0u, last};
    const int64_t world[] = {1};
    set_column(*one, live, words, world);
  };
  CHECK_THROWS(set(1u << 8), Error, "set: shots.live must be from 0 to 255, got 256 for world 1");
  set(255u);
  for (uint32_t step = 0; step < 20; ++step) one.step_random(1, step);
}

GE_TEST(clock_of_an_episode_without_a_limit_stays_at_its_last_step) {
  Config config = config_of();
  config.max_episode_steps = 0;
  Simulation one("Herd-v0", config);
  one.reset(3);
  one.set<uint32_t>("world.step", std::vector<uint32_t>(kWorlds, Clock::kMostSteps - 1));
  for (uint32_t step = 0; step < 3; ++step) one.step_random(1, step);
  CHECK_EQ(one.get<uint32_t>("world.step")[0], Clock::kMostSteps);
  const std::string bytes = save(*one);
  load(*one, bytes.data(), int64_t(bytes.size()));
}
