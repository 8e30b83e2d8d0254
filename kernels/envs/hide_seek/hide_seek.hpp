// Hide and seek: hiders block doors with boxes and ramps, seekers learn to get in.
// lint: allow file-size: two games of rooms, hands and observations, original and batch version
//
//   who acts    1 to 20 hiders and 1 to 20 seekers at once: move, turn, grab, lock
//   reward      hiders +1 while no seeker sees any of them, else -1; seekers the opposite; nothing
//               during the preparation, in which seekers are frozen; a penalty outside the arena
//   ends        never by the rules; cut short after 240 steps
//   rules from  "Emergent Tool Use From Multi-Agent Autocurricula" (Baker et al. 2020) and its
//               batch version for GPUs (Shacklett et al., SIGGRAPH 2023): `profile`
//
// Parts: settings.hpp, presets.hpp and derived.hpp (what a user sets and what becomes of it),
// tables.hpp (what there is), level.hpp and layout.hpp (levels, drawn and by hand), rules.hpp,
// sight.hpp and observe.hpp, scene.hpp, text.hpp and keys.hpp (for people).
#pragma once

#include "envs/hide_seek/keys.hpp"
#include "envs/hide_seek/level.hpp"
#include "envs/hide_seek/observe.hpp"
#include "envs/hide_seek/presets.hpp"
#include "envs/hide_seek/scene.hpp"
#include "envs/hide_seek/text.hpp"
#include "physics/pipeline.hpp"

namespace gpu_envs::envs::hide_seek {

template <class T>
struct Environment {
  using Schema = hide_seek::Schema<T>;
  using Observation = typename Views<T>::Observation;
  using State = typename Views<T>::State;
  using Reset = typename Levels<T>::NewLevel;
  using Step = chain<typename Rules<T>::BeforePhysics, typename physics::Pipeline<Model<T>>::Step,
                     typename Rules<T>::AfterPhysics>;
  using Observe =
      Stages<Each<&physics::stand<Model<T>>>,
             ForPacks<&Senses<T>::lidar_rows, &Senses<T>::cast_lidar, typename Tables<T>::Lidar>,
             ForPacksWhere<&Senses<T>::sight_rows, &Senses<T>::may_see, &Senses<T>::see,
                           typename Tables<T>::Sights>,
             ge::Observe<&Views<T>::observe>, ObserveState<&Views<T>::show_state>>;
  static constexpr Card card{
      .doc = "Hiders build shelters of boxes and ramps, seekers look for them.",
      .max_episode_steps = 240,
      .agents = "hider_count + seeker_count",
      .render_fps = 30};
  static constexpr Hooks<Schema> hooks{.fits = &T::fits,
                                       .agent_name = &agent_name,
                                       .action_name = &act_name,
                                       .action_key = &act_key,
                                       .text = &Texts<T>::world_text,
                                       .scene = &Scenes<T>::world_scene};
};

inline constexpr int kUnits = 2;  // a minute each, side by side
using Builds = ge::Builds<Build<"HideSeek-v0", Environment<Tier<6, 9, 2>>,
                                Environment<Tier<40, kMostBoxes, kMostRamps>>>>;

}  // namespace gpu_envs::envs::hide_seek
