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
  using Schema = typename G::Schema;
  using Observation = voxel::Picture;
  using State = voxel::StateOf<G, OwnState<G>>;
  using RewardParts = Parts;
  using Reset = typename Levels<G>::NewLevel;
  using Step = Stages<EachWorld<&voxel::move_agents<G>>, EachWorld<&Rules<G>::play>>;
  using Observe = chain<voxel::DrawSights<G>, Stages<ObserveState<&State::show>>>;
  static constexpr Card card{
      .doc = D::kDoc, .agents = "agent_count", .render_fps = voxel::kStepsPerSecond};
  static constexpr Hooks<Schema> hooks{.fits = &T::fits,
                                       .objective = &Rules<G>::objective,
                                       .action_name = &voxel::act_name<Params>,
                                       .action_key = &voxel::act_key<Params>,
                                       .text = &voxel::Texts<G, Notes<G>>::world_text,
                                       .scene = &voxel::scene_of<G>};
};

}  // namespace gpu_envs::envs::obstacles
