// TowerBuilding: carry boxes into a zone, and stack them as high as the time allows.
//
//   who acts    1 to 8 agents at once: six heads, 15 steps a second
//   reward      the first box picked up, the first visit to the zone with a box, and what the zone
//               gains in value whenever a box is put down; each a parameter, the last two shared
//               among the team by team_spirit
//   ends        when the time is up. Falls send an agent home
//   rules from  Megaverse (Petrenko, Wijmans, Shacklett, Koltun, ICML 2021)
//
// Parts: settings.hpp (what a user sets), tables.hpp (what there is), level.hpp, rules.hpp. How
// bodies move, hands, time and levels by hand are those of all voxel games: kernels/voxel.
#pragma once

#include "envs/tower_building/rules.hpp"
#include "voxel/keys.hpp"
#include "voxel/scene.hpp"
#include "voxel/state.hpp"
#include "voxel/text.hpp"

namespace gpu_envs::envs::tower_building {

/// What the game adds to the state row.
struct OwnState {
  static constexpr int columns = 2, numbers = 2;
  static constexpr const char* doc =
      ", 1 after its first box picked up, 1 after its first visit to the zone with a box";
  static constexpr const char* numbers_doc =
      "greatest height at which a box was put down, value of the zone at the last one";
  static GE_FN void show(const W& w, voxel::Pen& pen, int agent) {
    const Score score = get<Players, Score>(w, agent);
    pen.put(float(score.picked));
    pen.put(float(score.visited));
  }
  static GE_FN void show_numbers(const W& w, voxel::Pen& pen) {
    const Tower tower = get<Tower>(w);
    pen.put(float(tower.highest));
    pen.put(float(tower.worth) * 0.05f);
  }
};
/// And to its text.
struct Notes {
  static constexpr const char* legend = "= the building zone, ";
  static std::string note(const W&, int) { return ""; }
  static std::string summary(const W& w) {
    return ", height " + std::to_string(get<Tower>(w).highest);
  }
};

struct Environment {
  using Schema = Game::Schema;
  using Observation = voxel::Picture;
  using State = voxel::StateOf<Game, OwnState>;
  using RewardParts = Parts;
  using Reset = chain<Stages<Each<&begin_agent>, EachWorld<&make_level>>,
                      voxel::Levels<Game, voxel::Counts>::Finish, Stages<EachWorld<&begin_tower>>>;
  using Step = Stages<EachWorld<&voxel::move_agents<Game>>, EachWorld<&play>>;
  using Observe = chain<voxel::DrawSights<Game>, Stages<ObserveState<&State::show>>>;
  static constexpr Card card{.doc = "Stack boxes in a zone as high as possible, as a team.",
                             .agents = "agent_count",
                             .render_fps = voxel::kStepsPerSecond};
  static constexpr Hooks<Schema> hooks{.objective = &objective,
                                       .action_name = &voxel::act_name<Params>,
                                       .action_key = &voxel::act_key<Params>,
                                       .text = &voxel::Texts<Game, Notes>::world_text,
                                       .scene = &voxel::scene_of<Game>};
};
using Builds = ge::Builds<Build<"TowerBuilding-v0", Environment>>;

}  // namespace gpu_envs::envs::tower_building
