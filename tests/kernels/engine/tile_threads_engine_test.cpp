// Tiles, threads and crews, and the clocks of stages, without any environment. Also run under the
// thread sanitizer.
// runs always: threads meet in another order each time
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "engine/base/types.hpp"
#include "engine/cpu/stage_clock.hpp"
#include "engine/cpu/tile_threads.hpp"
#include "test.hpp"

// A failed allocation is not an error here: this file asks for too much memory on purpose.
extern "C" GE_API const char* __asan_default_options();
extern "C" GE_API const char* __tsan_default_options();
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}

using namespace ge;

namespace {

struct Fill {};
struct Shift {};

constexpr int kBlock = 4;
constexpr int64_t kWorlds = 37;

TileThreads::Sizes sizes_of(int64_t scratch_block, int64_t worlds = kWorlds) {
  return {kBlock, worlds, 64, scratch_block, 1000, 3, [](int) { return int64_t{16}; }};
}
Config config_of(int threads, int tile, int crew) {
  Config config;
  config.worlds = kWorlds;
  config.threads = threads, config.tile = tile, config.crew = crew;
  return config;
}

/// A graph of two stages over the blocks of a tile: each writes its number into scratch memory, and
/// then sees its neighbour's within the tile.
struct Visited {
  std::vector<std::atomic<int>> visits;
  std::atomic<bool> fine{true};
  explicit Visited(int blocks) : visits(size_t(blocks)) {}
};
void graph(const void* shared, const TileSpace& space) {
  Visited& visited = *const_cast<Visited*>(static_cast<const Visited*>(shared));
  int* const numbers = reinterpret_cast<int*>(space.scratch);
  const Crew::Range mine = space.crew.share(space.block_count);
  {
    const StageClock clock(type_text<Fill>());
    for (int b = mine.begin; b < mine.end; ++b) numbers[b] = space.first_block + b;
    space.indices[0] = space.crew.member;  // each member's own
    space.crew.meet();
  }
  {
    const StageClock clock(type_text<Shift>());
    for (int b = mine.begin; b < mine.end; ++b) {
      const int next = (b + 1) % space.block_count;
      if (numbers[next] != space.first_block + next) visited.fine = false;
      ++visited.visits[size_t(space.first_block + b)];
    }
    if (space.indices[0] != space.crew.member) visited.fine = false;
    space.crew.meet();
  }
}

void check_steps(TileThreads& threads, int steps) {
  Visited visited(int((kWorlds + kBlock - 1) / kBlock));
  for (int step = 0; step < steps; ++step) threads.run(&graph, &visited);
  CHECK(visited.fine);
  for (const auto& visits : visited.visits) CHECK_EQ(int(visits), steps);
}

}  // namespace

GE_TEST(tiles_and_threads_of_any_number_visit_each_block_once_a_step) {
  for (const int count : {1, 2, 5})
    for (const int tile : {0, 1, 16, 1000}) {
      TileThreads threads(config_of(count, tile, 1), sizes_of(64));
      check_steps(threads, 20);
    }
}

GE_TEST(members_of_a_crew_share_one_tile_and_its_memory_is_told) {
  for (const int crew : {2, 3}) {
    const Config config = config_of(1, 0, crew);
    TileThreads threads(config, sizes_of(64));
    const int64_t before = threads.memory_bytes();
    check_steps(threads, 10);
    CHECK_EQ(threads.memory_bytes() - before, TileThreads::crew_bytes(config, sizes_of(64)));
    CHECK(threads.memory_bytes() > before);
  }
  CHECK_EQ(TileThreads::crew_bytes(config_of(4, 0, 1), sizes_of(64)), 0);
  CHECK_EQ(TileThreads::crew_bytes(config_of(1, 0, 0), sizes_of(64)), 0);
}

GE_TEST(crew_without_memory_is_refused_at_every_step) {
  // A tile of one block has its scratch memory; a crew, which takes all blocks at once, asks for
  // more than addresses reach.
  constexpr int64_t kEach = 1 << 20, kMany = int64_t{1} << 31;
  TileThreads threads(config_of(1, 1, 2), sizes_of(kEach, kMany));
  Visited visited(1);
  for (int step = 0; step < 2; ++step)
    CHECK_THROWS(threads.run(&graph, &visited), Error, "bytes of scratch");
  CHECK_EQ(int(visited.visits[0]), 0);
}

GE_TEST(clocks_tell_seconds_of_each_stage_while_they_are_on) {
  TileThreads tiles(config_of(3, 1, 1), sizes_of(64)), crew(config_of(1, 0, 2), sizes_of(64));
  watch_stages(true);
  check_steps(tiles, 50);
  check_steps(crew, 10);
  std::string names;
  for (const auto& [name, seconds] : stage_seconds()) {
    names += name + " ";
    CHECK(seconds > 0 && seconds < 60);
  }
  CHECK(names.find("Fill ") != std::string::npos && names.find("Shift ") != std::string::npos);
  watch_stages(false);
  check_steps(tiles, 2);
  CHECK(stage_seconds().empty());
}

GE_TEST(clocks_are_read_while_stages_run_and_in_a_child_of_the_process) {
  watch_stages(true);
  std::atomic<bool> stop{false};
  std::vector<std::thread> players;
  for (int k = 0; k < 3; ++k)
    players.emplace_back([&stop] {
      while (!stop) const StageClock clock(type_text<Fill>());
    });
  for (int round = 0; round < 200; ++round) {
    CHECK(stage_seconds().size() <= 2);
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);  // a lock that nobody gives back would keep the child for ever
      _exit(stage_seconds().size() <= 2 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQ(status, 0);
    if (status != 0) break;
  }
  stop = true;
  for (std::thread& player : players) player.join();
  watch_stages(false);
}
