// Assets: what is refused when they are made, what saves and forks do with them, and that a record
// which names what is not there stays within them.
// environment: gather reach
// reads: tests/kernels/envs/maze/other
#include <cstring>

#include "engine/environment.hpp"
#include "engine/simulator/records.hpp"
#include "simulation.hpp"

namespace {

using namespace ge;
using namespace ge::test;

Config config_of(int64_t worlds = 3, const Values& parameters = {}) {
  Config config;
  config.worlds = worlds;
  config.parameters = parameters;
  return config;
}

struct Limits {
  uint8_t low, high;
  static constexpr auto describe() {
    return fields(field("low", &Limits::low, "the one").within(0, 9),
                  field("high", &Limits::high, "the other"));
  }
};

}  // namespace

GE_TEST(arrays_are_zeros_aligned_and_named_by_a_hash_of_their_content) {
  const DataFiles none;
  const auto made = [&](float first, const char* name) {
    AssetMaker make("Some-v0", none);
    const auto numbers = make.array<float>(name, 3);
    CHECK_EQ(reinterpret_cast<uintptr_t>(numbers.data()) % AssetShelf::kAlignment, 0u);
    CHECK_EQ(numbers[2], 0.0f);
    numbers[0] = first;
    return make.finish();
  };
  CHECK_EQ(made(1, "a")->hash(), made(1, "a")->hash());
  CHECK(made(1, "a")->hash() != made(2, "a")->hash());
  CHECK(made(1, "a")->hash() != made(1, "b")->hash());
  CHECK_EQ(made(1, "a")->bytes(), AssetShelf::kAlignment);
  CHECK(!made(1, "a")->has_files());
}

GE_TEST(arrays_that_are_empty_twice_there_or_out_of_range_are_refused) {
  const DataFiles none;
  AssetMaker make("Some-v0", none);
  CHECK_THROWS(make.array<float>("none", 0), Error,
               "Some-v0: assets: none needs at least one element, got 0");
  const auto pairs = make.array<Limits>("pairs", 4);
  CHECK_THROWS(make.array<float>("pairs", 1), Error, "two arrays are called pairs");
  pairs[3].low = 12;
  CHECK_THROWS(make.finish(), Error, "pairs[3].low is described from 0 to 9, got 12");
}

GE_TEST(files_that_are_not_there_or_lie_elsewhere_are_refused_by_name) {
  const DataFiles none, data = data_in("tests/kernels/envs/maze/data");
  AssetMaker make("Some-v0", data);
  CHECK_EQ(make.file("mazes.bin").size(), 96u);
  CHECK_THROWS(make.file("other.bin"), Error,
               "the file 'other.bin' is not in data/ beside the header, which has mazes.bin");
  for (const char* const name : {"", "..", "../maze.hpp", "/etc/passwd", ".hidden"})
    CHECK_THROWS(make.file(name), Error, "is not a plain file name in data/");
  CHECK_THROWS(AssetMaker("Some-v0", none).file("mazes.bin"), Error,
               "is not in data/ beside the header, which has no files");
  CHECK_THROWS(make_simulator("Reach-v0", config_of(1, {{"maze_count", int64_t{13}}})), Error,
               "Reach-v0: assets: mazes.bin has 12 mazes, maze_count=13");
}

GE_TEST(a_file_that_is_not_the_labelled_one_is_refused_with_what_to_do) {
  const std::string folder = std::filesystem::temp_directory_path() / "gpu_envs_assets_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/mazes.bin";
  const auto write = [&](const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  };
  write("twelve mazes");
  const DataFiles data = data_in(folder);
  CHECK_EQ(AssetMaker("Some-v0", data).file("mazes.bin").size(), 12u);
  const auto check_refused = [&](const std::string& why) {
    AssetMaker make("Some-v0", data);
    CHECK_THROWS(make.file("mazes.bin"), Error,
                 "Some-v0: assets: the file '" + path + "' " + why + ": build it again");
  };
  for (const char* const content : {"twelve maze", "twelve mazes ", "twelve mazer", ""}) {
    write(content);
    check_refused("is damaged: its content is not the one on the label of its module");
  }
  std::filesystem::remove(path);
  check_refused("is missing");
  std::filesystem::create_symlink(folder + "/nowhere", path);
  check_refused("is missing");
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  check_refused("is not a regular file");
  std::filesystem::remove_all(folder);
}

GE_TEST(addresses_move_into_a_packed_block_and_strangers_are_refused) {
  const DataFiles none;
  AssetMaker make("Some-v0", none);
  struct {
    Asset<float> numbers;
    Asset<Limits> pairs;
  } assets{make.array<float>("numbers", 100), make.array<Limits>("pairs", 2)};
  const_cast<float&>(assets.numbers.at[99]) = 7;
  const_cast<Limits&>(assets.pairs.at[1]) = {3, 4};
  const auto shelf = make.finish();
  const std::vector<uint8_t> block = shelf->packed();
  CHECK_EQ(int64_t(block.size()), shelf->bytes());
  shelf->move(&assets, 2, block.data());
  CHECK_EQ(assets.numbers[99], 7.0f);
  CHECK_EQ(int(assets.pairs[1].high), 4);
  // Beyond an end lies what is at that end.
  CHECK_EQ(assets.numbers[1000], 7.0f);
  CHECK_EQ(int(assets.pairs[-1].high), 0);
  CHECK_THROWS(shelf->check(&assets, 2), Error, "is not an array that was made");
}

GE_TEST(saves_name_assets_and_refuse_others) {
  const auto one = make_simulator("Reach-v0", config_of());
  CHECK_EQ(one->assets()->hash(), make_simulator("Gather-v0", config_of())->assets()->hash());
  CHECK(one->instance().find("\"assets\": \"" + one->assets()->hash()) != std::string::npos);
  CHECK(one->memory_bytes() > one->assets()->bytes());
  Simulation simulation("Reach-v0", config_of());
  simulation.reset(5);
  const std::string saved = save(*simulation);
  Simulation again("Reach-v0", config_of());
  again.reset(6);
  load(*again, saved.data(), int64_t(saved.size()));
  CHECK_EQ(save(*again), saved);
  // The same parameters over another file.
  Config other = config_of();
  other.data_files = data_in("tests/kernels/envs/maze/other");
  const auto refused = make_simulator("Reach-v0", other);
  CHECK_THROWS(load(*refused, saved.data(), int64_t(saved.size())), Error,
               "the save differs in assets: it has \"" + one->assets()->hash());
}

GE_TEST(forks_go_on_in_the_same_maze) {
  Simulation simulation("Gather-v0", config_of(2));
  simulation.reset(5);
  simulation.step_random(8, 0);
  const int64_t from[] = {0}, to[] = {1};
  simulation->copy_worlds(from, to, false);
  for (uint32_t step = 1; step < 9; ++step) {
    simulation.step({int32_t(step % 4)});
    CHECK_EQ(simulation.outputs_of(0), simulation.outputs_of(1));
  }
}

GE_TEST(a_maze_that_does_not_exist_is_the_last) {
  Simulation simulation("Reach-v0", config_of(2)), last("Reach-v0", config_of(2));
  for (Simulation* const one : {&simulation, &last}) {
    one->reset(5);
    const uint32_t mazes[] = {one == &last ? 11u : ~0u, one == &last ? 11u : 1u << 20};
    set_column(**one, find_column(**one, "board.maze"), mazes, {});
    for (const int32_t way : {0, 2, 0, 2}) one->step({way});
  }
  for (int world = 0; world < 2; ++world)
    CHECK_EQ(simulation.outputs_of(world), last.outputs_of(world));
}
