// Hooks: what an environment may tell beyond its rules, all of it in one place, so that a name
// which does not exist does not compile:
//
//   static constexpr Hooks<Schema> hooks{
//       .fits = [](const Params& p) { return p.agent_count <= N; },
//       .text = &board_text,
//   };
//
// A function without captures, or a lambda, each.
#pragma once

#include <string>
#include <type_traits>

#include "engine/world/world.hpp"

namespace ge {

struct Scene;

/// A function that may be missing. Whether it is there is told apart from its address, which
/// compilers that look for undefined behaviour do not take for a constant.
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

  /// Whether worlds with these parameters have room in this tier; of several tiers the first is
  /// taken that has.
  Hook<bool(const Params& params)> fits = {};
  /// Whether episodes of so many steps, 0: of any number, have room in this tier.
  Hook<bool(int64_t max_steps)> fits_steps = {};
  /// Whether it is an agent's turn: `agent_active` shows it, and PettingZoo's AEC interface asks.
  /// Runs on the simulator's machine, so it is a GE_FN function.
  Hook<bool(const W& w, int agent)> acts = {};
  /// How well an agent has done what the game is about, which its rewards may hide: told where its
  /// episode ends, in `true_objective`. A GE_FN function, as `acts`.
  Hook<float(const W& w, int agent)> objective = {};
  /// What agents are called instead of player_0, player_1, ...
  Hook<std::string(const Params& params, int agent)> agent_name = {};
  /// What an action is called, and the key that stands for it where a person plays. Where an action
  /// is several categories they are counted through, one field's after the other's.
  Hook<std::string(const Params& params, int action)> action_name = {};
  Hook<std::string(const Params& params, int action)> action_key = {};
  /// One world as text for a terminal: as agent `viewer` knows it, or all of it with -1.
  Hook<std::string(const W& w, int viewer)> text = {};
  /// One world as a picture shows it (pictures/scene.hpp). A grid has both without
  /// (simulator/sketch.hpp).
  Hook<Scene(const W& w)> scene = {};
};

template <class E>
consteval Hooks<typename E::Schema> hooks_of() {
  if constexpr (requires { E::hooks; }) return E::hooks;
  return {};
}
template <class E>
inline constexpr Hooks<typename E::Schema> kHooks = hooks_of<E>();

/// Base of environments until hooks and tuning had structs.
struct Defaults {};

/// Refuses what hooks and tuning were before they had structs: such a member would do nothing.
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
