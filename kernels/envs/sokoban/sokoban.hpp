// Sokoban: push four boxes onto four goals, in first person.
//
//   who acts    1 to 8 agents at once: six heads, 15 steps a second
//   reward      a box that comes onto a goal or leaves one, and all boxes on goals: parameters,
//               shared among the team by team_spirit
//   ends        4 steps after all boxes are on goals, or when the time is up
//   rules from  Megaverse (Petrenko, Wijmans, Shacklett, Koltun, ICML 2021)
//
// Parts: levels.hpp (the bank, for tasks/sokoban_grid.hpp too), settings.hpp (what a user sets),
// tables.hpp (what there is), room.hpp, rules.hpp. How bodies move and see is that of all voxel
// games: kernels/voxel.
#pragma once

#include "envs/sokoban/rules.hpp"
#include "pictures/text.hpp"
#include "voxel/keys.hpp"
#include "voxel/scene.hpp"
#include "voxel/state.hpp"

namespace gpu_envs::envs::sokoban {

/// What the game adds to the state row.
struct OwnState {
  static constexpr int columns = 0, numbers = 1;
  static constexpr const char* doc = "";
  static constexpr const char* numbers_doc = "goals without a box";
  static GE_FN void show(const W&, voxel::Pen&, int) {}
  static GE_FN void show_numbers(const W& w, voxel::Pen& pen) {
    const Cells left = get<Plan>(w).goals & ~cells_of_boxes(w);
    pen.put(float(count_bits(uint32_t(left)) + count_bits(uint32_t(left >> 32))));
  }
};

inline std::string text(const W& w, int viewer) {
  const auto plan = get<Plan>(w);
  const Position now = {plan.walls, cells_of_boxes(w), plan.goals, 0, 0};
  std::string map = text_of(now), agents;
  for (int k = 0; k < w.params().agent_count; ++k) {
    const auto body = get<Players, voxel::Body>(w, k);
    const Cell at = voxel::cell_of<Game>(body);
    const voxel::Vec3 ahead = voxel::eyes_of(body).turn.y;
    const bool along_y = abs(ahead.y) >= abs(ahead.x);
    const char mark = along_y ? (ahead.y > 0 ? '^' : 'v') : (ahead.x > 0 ? '>' : '<');
    if (at.x >= 0 && at.x < kRows && at.y >= 0 && at.y < kRows)
      map[size_t((kRows + 1) * (kRows - 1 - at.y) + at.x)] = mark;
    add_number(agents, "agent ", k, 0, k == viewer ? " (you)" : "");
    add_number(agents, " in column ", at.x, 0, "");
    add_number(agents, ", row ", kRows - 1 - at.y, 0, "\n");
  }
  const auto timer = get<voxel::Timer>(w);
  map += "# wall, . goal, $ box, * box on a goal; ^ > v < agents, by where they look\n" + agents;
  add_number(map, "level ", get<Chosen>(w).level, 0, "");
  add_number(map, ", step ", w.step(), 0, "");
  add_number(map, ", ", timer.length - timer.passed, 0, " left");
  return map + (timer.solved != 0 ? ", solved\n" : "\n");
}

struct Environment {
  using Schema = Game::Schema;
  using Observation = voxel::Picture;
  using State = voxel::StateOf<Game, OwnState>;
  using RewardParts = Parts;
  using Reset = chain<Stages<Each<&begin_agent>, EachWorld<&make_room>>,
                      voxel::Levels<Game, voxel::Counts>::Finish>;
  using Step = Stages<EachWorld<&voxel::move_agents<Game>>, EachWorld<&play>>;
  using Observe = chain<voxel::DrawSights<Game>, Stages<ObserveState<&State::show>>>;
  static constexpr Card card{.doc = "Push four boxes onto four goals, in first person.",
                             .agents = "agent_count",
                             .render_fps = voxel::kStepsPerSecond};
  static constexpr Hooks<Schema> hooks{.objective = &objective,
                                       .action_name = &voxel::act_name<Params>,
                                       .action_key = &voxel::act_key<Params>,
                                       .text = &text,
                                       .scene = &voxel::scene_of<Game>};
};
using Builds = ge::Builds<Build<"Sokoban-v0", Environment>>;

}  // namespace gpu_envs::envs::sokoban
