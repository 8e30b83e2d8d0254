// Overcooked: chefs in a small kitchen put onions and tomatoes into pots, cook, plate and serve.
//
//   who acts    1 to 40 chefs at once: walk, or interact with the cell in front
//   reward      value of the soups served by anybody, plus shaping_factor times one's own small
//               rewards for filling pots, taking dishes when they are needed, and plating
//   ends        never by the rules; cut short after 400 steps
//   rules from  Overcooked-AI (Carroll et al., "On the Utility of Learning about Humans for
//               Human-AI Coordination", NeurIPS 2019), both generations: `dynamics`
//
// Parts: settings.hpp (what a user sets), layout.hpp and recipes.hpp (what becomes of it),
// rules.hpp, observe.hpp, text.hpp and scene.hpp (for people).
#pragma once

#include "envs/overcooked/layout.hpp"
#include "envs/overcooked/observe.hpp"
#include "envs/overcooked/recipes.hpp"
#include "envs/overcooked/scene.hpp"
#include "envs/overcooked/text.hpp"

namespace gpu_envs::envs::overcooked {

inline Params resolve_settings(Settings& s) {
  Params p{};
  resolve_layout(s, p);  // first: a named layout brings its own recipes
  p.dynamics = s.dynamics, p.encoding = s.encoding;
  resolve_recipes(s, p);
  p.player_count = s.player_count;
  p.planes = planes_of(s.encoding, s.player_count);
  p.shaped_total = s.shaped_total, p.random_positions = s.random_start_positions;
  return p;
}

inline constexpr const char* kActionNames[] = {"north", "south", "east",
                                               "west",  "stay",  "interact"};

template <class T>
struct Environment {
  using Schema = overcooked::Schema<T>;
  using R = Rules<T>;
  using V = Views<T>;
  using Observation = typename V::Observation;
  using State = typename V::State;
  using RewardParts = Parts;
  using Reset = Stages<EachWorld<&R::clear_board>, Each<&R::set_table>, EachWorld<&R::place_chefs>>;
  // Chefs interact from where they stood, then walk; time passes last, so a pot that was started in
  // this step counts it.
  using Step =
      Stages<EachWorld<&R::interact>, EachWorld<&R::walk>, EachWorld<&R::cook>, Each<&R::pay>>;
  using Observe = Stages<ge::Observe<&V::observe>, ObserveState<&V::show_state>>;
  static constexpr Card card{
      .doc = "Chefs share a kitchen: fill pots, cook, plate and serve soups.",
      .max_episode_steps = 400,
      .agents = "player_count",
      .render_fps = 6};
  static constexpr Hooks<Schema> hooks{
      .fits =
          [](const Params& p) { return p.cell_count <= T::cells && p.player_count <= T::chefs; },
      .action_name = [](const Params&, int action) { return std::string(kActionNames[action]); },
      .action_key = [](const Params&, int action) { return std::string(1, "wsda. "[action]); },
      .text = &Text<T>::world_text,
      .scene = &Picture<T>::kitchen_scene,
      .scene_for = &Picture<T>::scene_for};
};

using Builds =
    ge::Builds<Build<"Overcooked-v0", Environment<Tier<64, 4>>, Environment<Tier<256, 40>>>>;

}  // namespace gpu_envs::envs::overcooked
