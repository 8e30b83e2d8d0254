// Rearrange: make the copy of an arrangement of objects look like its model.
//
//   who acts    1 to 8 agents at once: six heads, 15 steps a second
//   reward      whenever more objects are in place than ever before, when all of them are, and (0
//               by default) for first lifts: parameters, shared among the team by team_spirit
//   ends        4 steps after all objects are in place, or when the time is up
//   rules from  Megaverse (Petrenko, Wijmans, Shacklett, Koltun, ICML 2021)
//
// Parts: settings.hpp (what a user sets), room.hpp, layout.hpp (levels by hand), tables.hpp (what
// there is), level.hpp, rules.hpp. How bodies move, hands and time are those of all voxel games:
// kernels/voxel.
#pragma once

#include "envs/rearrange/rules.hpp"
#include "voxel/keys.hpp"
#include "voxel/scene.hpp"
#include "voxel/state.hpp"
#include "voxel/text.hpp"

namespace gpu_envs::envs::rearrange {

/// What the game adds to the state row.
struct OwnState {
  static constexpr int columns = 0, numbers = 2;
  static constexpr const char* doc = "";
  static constexpr const char* numbers_doc =
      "objects of the arrangement, most of them that were in place at a time";
  static GE_FN void show(const W&, voxel::Pen&, int) {}
  static GE_FN void show_numbers(const W& w, voxel::Pen& pen) {
    const Matches matches = get<Matches>(w);
    pen.put(float(matches.objects));
    pen.put(float(matches.best));
  }
};
/// And to its text.
struct Notes {
  static constexpr const char* legend = "";
  static std::string note(const W&, int) { return ""; }
  static std::string summary(const W& w) {
    const Matches matches = get<Matches>(w);
    return ", at best " + std::to_string(matches.best) + " of " + std::to_string(matches.objects) +
           " in place";
  }
};

struct Environment {
  using Schema = Game::Schema;
  using Observation = voxel::Picture;
  using State = voxel::StateOf<Game, OwnState>;
  using RewardParts = Parts;
  using Reset =
      chain<Stages<Each<&begin_agent>, EachWorld<&make_level>>,
            voxel::Levels<Game, voxel::Counts>::Finish, Stages<EachWorld<&begin_matches>>>;
  using Step = Stages<EachWorld<&voxel::move_agents<Game>>, EachWorld<&play>>;
  using Observe = chain<voxel::DrawSights<Game>, Stages<ObserveState<&State::show>>>;
  static constexpr Card card{.doc = "Make the copy of an arrangement look like its model.",
                             .agents = "agent_count",
                             .render_fps = voxel::kStepsPerSecond};
  static constexpr Hooks<Schema> hooks{.objective = &objective,
                                       .action_name = &voxel::act_name<Params>,
                                       .action_key = &voxel::act_key<Params>,
                                       .text = &voxel::Texts<Game, Notes>::world_text,
                                       .scene = &voxel::scene_of<Game>};
};
using Builds = ge::Builds<Build<"Rearrange-v0", Environment>>;

}  // namespace gpu_envs::envs::rearrange
