// Hooks: optional functions of an environment beyond its rules, all in one struct, so that a name
// that does not exist does not compile:
//
//   static constexpr Hooks<Schema> hooks{
//       .fits = [](const Params& p) { return p.agent_count <= N; },
//       .text = &board_text,
//   };
//
// Each is a function or a lambda without captures.
#pragma once

#include <string>
#include <type_traits>
#include <vector>

#include "engine/described/symmetry.hpp"
#include "engine/world/world.hpp"

namespace ge {

struct Scene;

/// An optional function. Whether it was given is a flag of its own: compilers that check for
/// undefined behaviour do not treat its address as a constant.
template <class F>
struct Hook {
  F* call = nullptr;
  bool given = false;
  consteval Hook() = default;
  template <class G>
    requires std::is_convertible_v<G, F*>
  // NOLINTNEXTLINE(google-explicit-constructor): `.text = &board_text`
  consteval Hook(G function) : call(function), given(true) {}
};

template <class S>
struct Hooks {
  using Params = typename S::Params;
  using W = World<S>;

  /// Whether worlds with these parameters fit this tier; the first tier that fits is taken.
  Hook<bool(const Params& params)> fits = {};
  /// Whether episodes of `max_steps` steps fit this tier; 0: episodes without a limit.
  Hook<bool(int64_t max_steps)> fits_steps = {};
  /// Whether it is an agent's turn: shown as `agent_active` and used by PettingZoo's AEC interface.
  /// Runs on the simulator's machine, so it is a GE_FN function.
  Hook<bool(const W& w, int agent)> acts = {};
  /// How well an agent has met the goal of the game, which its rewards may hide: reported in
  /// `true_objective` where its episode ends. A GE_FN function, like `acts`.
  Hook<float(const W& w, int agent)> objective = {};
  /// The name of an agent; without it player_0, player_1, ...
  Hook<std::string(const Params& params, int agent)> agent_name = {};
  /// The name of an action, and the key that a person presses for it. The categories of an action
  /// of several words are counted through, word by word. A word that is a number has three places
  /// instead: its lowest value, the one nearest to 0, and its highest.
  Hook<std::string(const Params& params, int action)> action_name = {};
  Hook<std::string(const Params& params, int action)> action_key = {};
  /// Ways of naming what is seen and done by which the game is the same (the colours of cards): all
  /// of them, the first of which changes nothing. For actions of one field, in categories.
  Hook<std::vector<Symmetry>(const Params& params)> symmetries = {};
  /// One world as text for a terminal: as agent `viewer` knows it, or all of it for -1.
  Hook<std::string(const W& w, int viewer)> text = {};
  /// One world as a scene to draw (pictures/scene.hpp). Grids get text and scene without hooks
  /// (simulator/sketch.hpp).
  Hook<Scene(const W& w)> scene = {};
  /// The same for agent `viewer`, as it knows worlds with secrets, or with a ring around it on a
  /// board: views "agent:<viewer>" and "top:<viewer>".
  Hook<Scene(const W& w, int viewer)> scene_for = {};
};

template <class E>
consteval Hooks<typename E::Schema> hooks_of() {
  if constexpr (requires { E::hooks; }) return E::hooks;
  return {};
}
template <class E>
inline constexpr Hooks<typename E::Schema> kHooks = hooks_of<E>();

/// Environments derived from this before hooks and tuning had structs.
struct Defaults {};

/// Refuses hooks and tuning as members of the environment, their old form: they would do nothing.
template <class E>
consteval bool has_no_loose_hooks() {
  using S = typename E::Schema;
  static_assert(!std::is_base_of_v<Defaults, E>,
                "GE: an Environment derives from nothing: `struct Environment {`; numbers of lanes "
                "are `.step_lanes = ...` of the Schema's Tuning");
  static_assert(!requires { &E::fits; }, "GE: say `.fits = ...` in Hooks<Schema> hooks{}");
  static_assert(!requires { &E::acts; }, "GE: say `.acts = ...` in Hooks<Schema> hooks{}");
  static_assert(!requires { &E::objective; }, "GE: say `.objective = ...` in hooks{}");
  static_assert(!requires { &E::text; }, "GE: say `.text = ...` in Hooks<Schema> hooks{}");
  static_assert(!requires { &E::scene; }, "GE: say `.scene = ...` in Hooks<Schema> hooks{}");
  static_assert(!requires { &E::agent_name; }, "GE: say `.agent_name = ...` in hooks{}");
  static_assert(!requires { &E::action_name; }, "GE: say `.action_name = ...` in hooks{}");
  static_assert(!requires { &E::action_key; }, "GE: say `.action_key = ...` in hooks{}");
  static_assert(!requires { &E::schedule; }, "GE: say `.flat = true` in the Schema's Tuning");
  static_assert(!requires { E::rare_reset; }, "GE: say `.rare_resets = true` in Tuning");
  static_assert(!requires { E::most_threads; }, "GE: say `.most_threads = ...` in Tuning");
  static_assert(!requires { typename E::StepLanes; }, "GE: say `.step_lanes = ...` in Tuning");
  static_assert(
      !requires { S::cpu_block; } && !requires { S::cuda_block; },
      "GE: say `.cpu_block = ..., .cuda_block = ...` in the Schema's Tuning");
  return true;
}

}  // namespace ge
