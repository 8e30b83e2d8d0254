// Tag in a square: taggers chase runners, who leave the game when they are tagged.
//
//   who acts    taggers and runners at once: accelerate and turn
//   reward      a tagger gets 1 for each runner that it tags, which loses 1; a runner that nobody
//               tagged gets 1 when time is up
//   ends        of a runner when it is tagged, of all when no runner is left; cut short after 100
//               steps
//   rules from  TagContinuous of WarpDrive (Lan, Srinivasa, Wang and Zheng, JMLR 23, 2022), its
//               implementation in NumPy
//
// Parts: settings.hpp and start.hpp (what a user sets and what becomes of it), rules.hpp,
// observe.hpp, keys.hpp, scene.hpp and text.hpp (for people).
#pragma once

#include "envs/tag_continuous/keys.hpp"
#include "envs/tag_continuous/observe.hpp"
#include "envs/tag_continuous/scene.hpp"
#include "envs/tag_continuous/text.hpp"

namespace gpu_envs::envs::tag_continuous {

template <class T>
struct Environment {
  using Schema = tag_continuous::Schema<T>;
  using R = Rules<T>;
  using Observation = typename Views<T>::Observation;
  using Reset = Stages<Each<&R::place>, Each<&R::begin>>;
  // Observations show who was in the game before the tags of this step, so `be_seen` runs before
  // `pay`.
  using Step = Stages<Each<&R::look_up>, Each<&R::steer>, Each<&R::move>, Each<&R::be_seen>,
                      Each<&R::find_catcher>, Each<&R::pay>,
                      Reduce<&R::runs, SumInt, &R::end_without_runners>>;
  using Observe = decltype(Views<T>::stages());
  static constexpr Card card{.doc = "Taggers chase runners in a square with walls.",
                             .max_episode_steps = 100,
                             .agents = "num_taggers + num_runners",
                             .render_fps = 15};

  static constexpr Hooks<Schema> hooks{
      .fits =
          [](const Params& p) { return p.agent_count <= T::agents && (p.full != 0) == T::full; },
      .agent_name =
          [](const Params& p, int agent) {
            return (is_tagger(p, agent) ? "tagger_" : "runner_") + std::to_string(agent);
          },
      .action_name = &change_name,
      .action_key = &change_key,
      .text = &world_text<T>,
      .scene = &Picture<T>::world_scene,
      .scene_for = &Picture<T>::scene_for};
};

using Builds = ge::Builds<Build<"TagContinuous-v0", Environment<Tier<8, true>>,
                                Environment<Tier<16, true>>, Environment<Tier<16, false>>,
                                Environment<Tier<kAny, true>>, Environment<Tier<kAny, false>>>>;

}  // namespace gpu_envs::envs::tag_continuous
