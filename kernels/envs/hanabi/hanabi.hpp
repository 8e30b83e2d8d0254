// Hanabi: a cooperative card game; everyone sees all hands but their own and plays fireworks of
// each colour in order of rank.
//
//   who acts    2 to 5 players in turn: play a card, discard one, or spend an information token to
//               tell another player all their cards of one colour or rank
//   reward      for everyone 1 per card played in order; losing the last life costs all points
//               (keep_score: none)
//   ends        when the lives are gone, all fireworks are complete, or everyone has had a last
//               turn after the deck ran out
//   rules from  the Hanabi Learning Environment (Bard et al. 2020), observations included
//
// With belief="v0" the observation is one of float32 probabilities.
#pragma once

#include "envs/hanabi/observe.hpp"
#include "envs/hanabi/scene.hpp"
#include "envs/hanabi/symmetries.hpp"

namespace gpu_envs::envs::hanabi {

/// One build: its rows of observations, and how many cards fit in the hands.
template <Belief kBelief, int N>
struct Environment {
  using Schema = hanabi::Schema<N>;
  using R = Rules<N>;
  using V = Views<N>;
  using Observation =
      std::conditional_t<kBelief == kBits, typename V::Observation, typename V::BeliefObservation>;
  using ActionMask = hanabi::ActionMask;
  using State = typename V::State;
  // The deck is in order before hands are dealt from it.
  using Reset = Stages<EachWorld<&R::shuffle>, EachWorld<&R::deal>, EachWorld<&R::begin_game>>;
  using Step = Stages<EachWorld<&R::take_turn>, Each<&R::pay>>;
  using Show = std::conditional_t<kBelief == kBits, ge::Observe<&V::observe>,
                                  ge::Observe<&V::observe_beliefs>>;
  using Observe = Stages<Show, ObserveMask<&V::mask_moves>, ObserveState<&V::show_state>>;
  static constexpr ge::Card card{
      .doc = "Play cards in order with partners who alone can see yours.",
      .agents = "player_count",
      .render_fps = 1};
  static constexpr Hooks<Schema> hooks{
      .fits =
          [](const Params& p) { return p.belief == kBelief && p.player_count * p.hand_size <= N; },
      .acts = &R::is_turn_of,
      .action_name = &move_name,
      .symmetries = &color_symmetries,
      .text = &Text<N>::table_text,
      .scene = &Picture<N>::whole_scene,
      .scene_for = &Picture<N>::table_scene};
};

// 25 cards are five hands of five, enough for every usual game; 50 are all cards of a deck.
using Builds = ge::Builds<Build<"Hanabi-v0", Environment<kBits, 25>, Environment<kBits, 50>,
                                Environment<kV0, kMostCards>>>;

}  // namespace gpu_envs::envs::hanabi
