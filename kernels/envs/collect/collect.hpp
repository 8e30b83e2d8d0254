// Collect: gather the green diamonds of hilly land, and leave the red ones.
//
//   who acts    1 to 8 agents at once: six heads, 15 steps a second
//   reward      green and red diamonds, the last green one, falls off the land; each a parameter,
//               and all but falls shared among the team by team_spirit
//   ends        4 steps after the last green diamond, or when the time is up. Falls send an agent
//               home
//   rules from  Megaverse (Petrenko, Wijmans, Shacklett, Koltun, ICML 2021)
//
// Parts: settings.hpp (what a user sets), tables.hpp (what there is), land.hpp and level.hpp
// (levels), rules.hpp. How bodies move, hands, time and levels by hand are those of all voxel
// games: kernels/voxel.
#pragma once

#include "envs/collect/rules.hpp"
#include "voxel/keys.hpp"
#include "voxel/scene.hpp"
#include "voxel/state.hpp"
#include "voxel/text.hpp"

namespace gpu_envs::envs::collect {

/// What the game adds to the state row.
struct OwnState {
  static constexpr int columns = 0, numbers = 1;
  static constexpr const char* doc = "";
  static constexpr const char* numbers_doc = "green diamonds that nobody has collected";
  static GE_FN void show(const W&, voxel::Pen&, int) {}
  static GE_FN void show_numbers(const W& w, voxel::Pen& pen) {
    pen.put(float(get<Harvest>(w).good_left));
  }
};
/// And to its text.
struct Notes {
  static constexpr const char* legend = "";
  static std::string note(const W&, int) { return ""; }
  static std::string summary(const W& w) {
    return ", " + std::to_string(get<Harvest>(w).good_left) + " diamonds to collect";
  }
};

struct Environment {
  using Schema = Game::Schema;
  using Observation = voxel::Picture;
  using State = voxel::StateOf<Game, OwnState>;
  using RewardParts = Parts;
  using Reset = chain<NewLand, Stages<Each<&begin_agent>, EachWorld<&make_level>>,
                      voxel::Levels<Game, voxel::Counts>::Finish>;
  using Step = Stages<EachWorld<&voxel::move_agents<Game>>, EachWorld<&play>>;
  using Observe = chain<voxel::DrawSights<Game>, Stages<ObserveState<&State::show>>>;
  static constexpr Card card{.doc = "Gather the green diamonds of hilly land, as a team.",
                             .agents = "agent_count",
                             .render_fps = voxel::kStepsPerSecond};
  static constexpr Hooks<Schema> hooks{.objective = &objective,
                                       .action_name = &voxel::act_name<Params>,
                                       .action_key = &voxel::act_key<Params>,
                                       .text = &voxel::Texts<Game, Notes>::world_text,
                                       .scene = &voxel::scene_of<Game>};
};
using Builds = ge::Builds<Build<"Collect-v0", Environment>>;

}  // namespace gpu_envs::envs::collect
