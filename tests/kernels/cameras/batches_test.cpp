// Pictures do not depend on who else is drawn, by how many threads, or in which parts.
// environment: gallery
// runs always: threads and crews meet in another order each time
#include "gallery_room.hpp"

namespace ge::test {
namespace {

GE_TEST(pictures_alone_are_those_of_a_batch_of_4096) {
  constexpr int64_t kWorlds = 4096, kEvery = 32;
  const Values parameters = {{"resolution", std::string("6x10")},
                             {"observation", std::string("rgb+depth+segmentation")},
                             {"visitors", int64_t{2}}};
  Gallery batch(gallery_config(parameters, kWorlds, 2));
  batch.reset(5);
  int differ = 0;
  for (int step = 0; step < 2; ++step) {
    for (int64_t world = 7; world < kWorlds; world += kEvery) {
      Config config = gallery_config(parameters);
      config.first_world = world;
      Gallery alone(config);
      alone.reset(5);
      if (step == 1) alone.step_random(8, 0);
      CHECK(alone.outputs_of(0) == batch.outputs_of(world));
      differ += alone.outputs_of(0) != batch.outputs_of(world - 1);
    }
    batch.step_random(8, 0);
  }
  CHECK_EQ(differ, 2 * kWorlds / kEvery);  // worlds are not alike
}
GE_TEST(pictures_stay_where_other_worlds_are_laid_out_anew) {
  constexpr int64_t kWorlds = 64;
  Gallery batch({{"resolution", std::string("9x17")}}, kWorlds);
  batch.reset(5);
  std::vector<std::string> before;
  for (int64_t world = 0; world < kWorlds; ++world) before.push_back(batch.outputs_of(world));
  // All but worlds 5 and 40: mirrored, larger and of other colours.
  std::vector<int64_t> others;
  for (int64_t world = 0; world < kWorlds; ++world)
    if (world != 5 && world != 40) others.push_back(world);
  for (const char* name : {"things.at", "things.half"}) {
    const std::vector<float> all = batch.get<float>(name);
    const size_t each = all.size() / kWorlds;
    std::vector<float> changed;
    for (const int64_t world : others)
      for (size_t k = 0; k < each; ++k)
        changed.push_back((name[7] == 'a' ? -0.9f : 1.7f) * all[size_t(world) * each + k]);
    batch.set(name, changed, others);
  }
  batch.look();
  int changed = 0;
  for (int64_t world = 0; world < kWorlds; ++world) {
    const bool same = batch.outputs_of(world) == before[size_t(world)];
    changed += !same;
    if (world == 5 || world == 40) CHECK(same);
  }
  CHECK(changed > 50);
}

/// Outputs of a few steps.
std::string history(const Config& config) {
  Gallery gallery(config);
  gallery.reset(9);
  std::string all = gallery.outputs();
  for (uint32_t step = 0; step < 3; ++step) {
    gallery.step_random(4, step);
    all += gallery.outputs();
  }
  return all;
}

// Where there are fewer worlds than threads a crew shares a world, and draws it tile by tile.
GE_TEST(pictures_are_the_same_by_any_number_of_threads_or_crew) {
  for (const char* resolution : {"72x128", "19x50", "1x1", "3x90"})
    for (const int64_t worlds : {1, 2, 5}) {
      const Values parameters = {{"resolution", std::string(resolution)},
                                 {"observation", std::string("rgb+depth+segmentation")},
                                 {"supersample", int64_t{worlds == 2 ? 2 : 1}},
                                 {"visitors", int64_t{3}}};
      Config config = gallery_config(parameters, worlds, 1);
      config.crew = 1;
      const std::string one = history(config);
      config.crew = 0;
      for (const int threads : {2, 3, 8}) {
        config.threads = threads;
        CHECK(history(config) == one);
      }
      for (const int crew : {2, 3}) {
        config.crew = crew;
        CHECK(history(config) == one);
      }
    }
}

}  // namespace
}  // namespace ge::test
