// Obstacle courses: over walls, steps, gaps and lava to the exit, with boxes to build of.
//
//   who acts    1 to 8 agents at once: six heads, 15 steps a second
//   reward      the first step on the exit's pad, all on the pad at once, diamonds, boxes carried
//               to the pad; each a parameter, and shared among the team by team_spirit
//   ends        when the time is up, or 4 steps after all stood on the pad at once. Falls and lava
//               send an agent home
//   rules from  Megaverse (Petrenko, Wijmans, Shacklett, Koltun, ICML 2021)
//
// Parts: settings.hpp (what a user sets), layout.hpp (levels by hand), tables.hpp (what there is),
// plan.hpp and level.hpp (levels), rules.hpp, observe.hpp, text.hpp. How bodies move, hands and
// time are those of all voxel games: kernels/voxel. A task's own are the defaults of its settings.
#pragma once

#include "envs/obstacles/text.hpp"
#include "voxel/keys.hpp"
#include "voxel/scene.hpp"

namespace gpu_envs::envs::obstacles {

template <class D, class T>
struct Environment {
  using G = Game<D, T>;
  using Schema = obstacles::Schema<G>;
  using Observation = voxel::Picture;
  using State = obstacles::State<G>;
  using RewardParts = Parts;
  using Reset = NewLevel<G>;
  using Step = Stages<EachWorld<&voxel::move_agents<Model<G>>>, EachWorld<&play<G>>>;
  using Observe = chain<voxel::DrawSights<Model<G>>, Stages<ObserveState<&show_state<G>>>>;
  static constexpr Card card{
      .doc = D::kDoc, .agents = "agent_count", .render_fps = voxel::kStepsPerSecond};
  static constexpr Hooks<Schema> hooks{.fits = &fits<T>,
                                       .objective = &objective<G>,
                                       .action_name = &voxel::act_name<Params>,
                                       .action_key = &voxel::act_key<Params>,
                                       .text = &world_text<G>,
                                       .scene = &voxel::scene_of<Model<G>>};
};

}  // namespace gpu_envs::envs::obstacles
