// What agents of the obstacle courses see, against pictures that are drawn the slow way
// (cameras/slow_pictures.hpp): a thousand views of levels that were drawn and played, equal in
// every byte.
// environment: obstacles_easy
// environment: obstacles_hard
#include "cameras/slow_pictures.hpp"
#include "engine/cpu/entry.hpp"
#include "envs/obstacles/tasks/obstacles_easy.hpp"
#include "envs/obstacles/tasks/obstacles_hard.hpp"

namespace {

using namespace ge;
using namespace ge::test;
namespace obstacles = gpu_envs::envs::obstacles;
namespace easy = gpu_envs::envs::obstacles_easy;
namespace hard = gpu_envs::envs::obstacles_hard;

constexpr const char* kResolution = "36x64";
SlowRoom seen;
cameras::Picture form;

/// Tells what agent `viewer` has around it.
template <class G>
std::string look(const World<typename G::Schema>& w, int viewer) {
  seen = {};
  for (int i = 0; i < voxel::solid_count<G>(w); ++i) {
    if (!voxel::is_seen<G>(w, i)) continue;
    voxel::Solid solid{};
    voxel::make_solid<G>(w, i, solid);
    seen.solids.push_back(solid);
  }
  seen.viewer = viewer;
  seen.eye = voxel::Sight<G>::eye(w, Slot{viewer});
  seen.bar = voxel::Sight<G>::bar(w, Slot{viewer});
  form = w.params().picture;
  return "";
}
template <class G>
struct Looking : obstacles::Environment<typename G::D, typename G::T> {
  static constexpr Hooks<typename G::Schema> hooks{.objective = &obstacles::Rules<G>::objective,
                                                   .text = &look<G>};
};

template <class G>
void check_views(int64_t worlds, int64_t agents) {
  Config config;
  config.worlds = worlds;
  config.parameters = {{"agent_count", agents},
                       {"resolution", std::string(kResolution)},
                       {"observation", std::string("rgb+depth+segmentation")}};
  Simulation played(
      make_simulator(cpu_entry<Builds<Build<"Looking-v0", Looking<G>>>>(), "Looking-v0", config));
  played.reset(5);
  for (uint32_t step = 0; step < 40; ++step) played.step_random(1, step);
  const auto colours = played.out<char>(kObservation), depths = played.out<char>(kDepth),
             segments = played.out<char>(kSegmentation);
  int shown = 0;
  for (int64_t world = 0; world < worlds; ++world)
    for (int viewer = 0; viewer < int(agents); ++viewer) {
      played->text(world, viewer);
      const SlowPicture slow = slow_picture(seen, form);
      const int64_t row = world * agents + viewer;
      const auto is_drawn = [&](const std::vector<char>& all, const std::string& wanted) {
        return std::string(&all[size_t(row) * wanted.size()], wanted.size()) == wanted;
      };
      CHECK(is_drawn(colours, slow.colours));
      CHECK(is_drawn(depths, slow.depths));
      CHECK(is_drawn(segments, slow.segments));
      shown += slow.segments.find_first_not_of('\0') != std::string::npos;
    }
  CHECK(shown > worlds * agents / 2);
}

}  // namespace

GE_TEST(five_hundred_views_of_easy_courses_are_those_of_brute_force) {
  check_views<obstacles::Game<easy::Defaults, obstacles::Small>>(250, 2);
}
GE_TEST(five_hundred_views_of_hard_courses_are_those_of_brute_force) {
  check_views<obstacles::Game<hard::Defaults, obstacles::Large>>(125, 4);
}
