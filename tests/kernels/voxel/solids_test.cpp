// What there is to draw of a world laid out by hand: an obstacle course whose text lists solids.
#include "voxel/solids.hpp"

#include "courses.hpp"
#include "engine/cpu/entry.hpp"
#include "envs/obstacles/tasks/obstacles_easy.hpp"

namespace {

using namespace ge;
using namespace ge::test;
namespace obstacles = gpu_envs::envs::obstacles;

using Game = obstacles::Game<gpu_envs::envs::obstacles_easy::Defaults, obstacles::Small>;
std::vector<voxel::Solid> seen;

std::string list_solids(const World<Game::Schema>& w, int) {
  seen.clear();
  for (int i = 0; i < voxel::solid_count<Game>(w); ++i) {
    voxel::Solid solid{};
    if (!voxel::is_seen<Game>(w, i)) continue;
    voxel::make_solid<Game>(w, i, solid);
    seen.push_back(solid);
  }
  return "";
}
struct Listing : obstacles::Environment<Game::D, Game::T> {
  static constexpr Hooks<Schema> hooks{.text = &list_solids};
};

/// Two agents, a box, a diamond, a pad, lava and a wall that is hidden.
class Scenery : public Simulation {
 public:
  Scenery() : Simulation(make()) {
    ResetRequest request;
    request.options = {
        {"layout",
         "floor 0 0 0 9 9 0; wall 0 9 0 9 9 4; walls hidden; lava 1 1 1 2 2 1;"
         "pad 7 7 1 8 8 2; box 4 5 1; diamond 6 6 1; agent 4.5 4.5 1; agent 2.5 7.5 1"}};
    reset(request);
  }
  const std::vector<voxel::Solid>& solids() {
    (*this)->text(0, -1);
    return seen;
  }

 private:
  static std::unique_ptr<Simulator> make() {
    Config config;
    config.parameters = {{"agent_count", int64_t{2}}};
    return make_simulator(cpu_entry<Builds<Build<"Listing-v0", Listing>>>(), "Listing-v0", config);
  }
};

void check_at(const voxel::Solid& solid, float x, float y, float z) {
  CHECK(geometry::length(geometry::vec(solid.at) - voxel::Vec3{x, y, z}) < 1e-5f);
}
void check_half(const voxel::Solid& solid, float x, float y, float z) {
  CHECK(geometry::length(geometry::vec(solid.half) - voxel::Vec3{x, y, z}) < 1e-5f);
}

}  // namespace

GE_TEST(everything_that_can_be_seen_is_listed_with_its_place_and_colour) {
  Scenery scenery;
  const auto& all = scenery.solids();
  CHECK_EQ(all.size(), size_t{10});
  check_at(all[0], 5, 4.5f, 0.5f);  // the floor, without what the wall has taken
  check_half(all[0], 5, 4.5f, 0.5f);
  check_at(all[1], 2, 2, 1.025f);
  CHECK_EQ(all[1].colour, voxel::kRed);
  check_half(all[2], 1, 1, 0.025f);
  CHECK_EQ(all[2].colour, voxel::kLightGreen);
  check_at(all[3], 4.5f, 5.5f, 1.5f);
  check_half(all[3], 0.39f, 0.39f, 0.39f);
  CHECK_EQ(all[3].colour, voxel::kLightBlue);
  // A diamond: from 0.5 of its height above its point to 1.5 below.
  check_at(all[4], 6.5f, 6.5f, 1.7f);
  check_at(all[5], 6.5f, 6.5f, 1.7f - 0.36f);
  check_half(all[5], 0.136f, 0.136f, 0.18f);
  CHECK_EQ(cameras::placed(all[4]).turn.z.z, 1.0f);
  CHECK_EQ(cameras::placed(all[5]).turn.z.z, -1.0f);
  check_at(all[6], 4.5f, 4.5f, 1 + 0.905f + 0.09f);
  CHECK_EQ(all[6].owner, 0);
  CHECK_EQ(all[6].colour, voxel::kYellow);
  check_at(all[7], 4.5f, 4.5f + 0.19f, 1 + 1.315f);
  CHECK_EQ(all[9].owner, 1);
  CHECK_EQ(all[8].colour, voxel::kGreen);
}

GE_TEST(carried_box_is_small_and_below_the_spot_and_pitches_with_the_gaze) {
  Scenery scenery;
  std::vector<int32_t> actions;
  append_action(actions, "i"), append_action(actions, "-");
  scenery.step(actions);
  const voxel::Solid level = scenery.solids()[3];
  CHECK_EQ(level.shape, int32_t{geometry::kBox});
  check_half(level, 0.3042f, 0.3042f, 0.3042f);
  check_at(level, 4.5f, 5.5f, 1 + 1.315f - 0.74f);
  actions.clear();
  append_action(actions, "u"), append_action(actions, "-");
  scenery.step(actions), scenery.step(actions);
  const voxel::Solid lifted = scenery.solids()[3];
  const float sine = std::sin(0.2f), cosine = std::cos(0.2f);
  check_at(lifted, 4.5f, 4.5f + cosine + 0.74f * sine, 1 + 1.315f + sine - 0.74f * cosine);
}

GE_TEST(taken_diamond_is_not_seen) {
  Scenery scenery;
  scenery.set<int32_t>("diamonds.left", std::vector<int32_t>(8, 0));
  CHECK_EQ(scenery.solids().size(), size_t{8});
}
