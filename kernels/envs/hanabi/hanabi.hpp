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
#include "envs/hanabi/text.hpp"

namespace gpu_envs::envs::hanabi {

template <int N>
GE_FN bool is_turn_of(const W<N>& w, int player) {
  return player_of(w.params(), get<Board>(w)) == player;
}
template <Belief kBelief, int N>
bool fits(const Params& p) {
  return p.belief == kBelief && p.player_count * p.hand_size <= N;
}

/// What all builds share; N cards fit in the hands.
template <Belief kBelief, int N>
struct Game {
  using Schema = hanabi::Schema<N>;
  using ActionMask = hanabi::ActionMask;
  using State = hanabi::State<N>;
  // The deck is in order before hands are dealt from it.
  using Reset = Stages<EachWorld<&shuffle<N>>, EachWorld<&deal<N>>, EachWorld<&begin_game<N>>>;
  using Step = Stages<EachWorld<&take_turn<N>>, Each<&pay<N>>>;
  static constexpr ge::Card card{
      .doc = "Play cards in order with partners who alone can see yours.",
      .agents = "player_count"};
  static constexpr Hooks<Schema> hooks{.fits = &fits<kBelief, N>,
                                       .acts = &is_turn_of<N>,
                                       .action_name = &move_name,
                                       .text = &table_text<N>};
};

template <int N>
struct Environment : Game<kBits, N> {
  using Observation = hanabi::Observation<N>;
  using Observe =
      Stages<ge::Observe<&observe<N>>, ObserveMask<&mask_moves<N>>, ObserveState<&show_state<N>>>;
};

template <int N>
struct BeliefEnvironment : Game<kV0, N> {
  using Observation = BeliefObservation<N>;
  using Observe = Stages<ge::Observe<&observe_beliefs<N>>, ObserveMask<&mask_moves<N>>,
                         ObserveState<&show_state<N>>>;
};

// Five hands of five, which is every game with the usual hands, and the most that a deck holds.
using Builds =
    ge::Builds<Build<"Hanabi-v0", Environment<25>, Environment<50>, BeliefEnvironment<kMostCards>>>;

}  // namespace gpu_envs::envs::hanabi
