// Stages that hold stages, for executors that walk through a graph on the host: the tile, the flat
// walk and the shuffled trial. Which worlds the inner stages run on is the executor's, by its own
// form of When; repetition and choices that hold for a whole simulator are the same in all of them.
#pragma once

#include <concepts>

#include "engine/graph/episode.hpp"

namespace ge {

/// An executor that walks on the host says so, and gives the graph's parameters and whether rows go
/// to final observations.
template <class T>
concept HostWalk = T::walks_on_host && requires(T& walk) {
  walk.call();
  { walk.writes_final() } -> std::same_as<bool&>;
};

/// Whether a stage holds stages.
template <class X>
inline constexpr bool holds_stages = false;
template <auto N, class... X>
inline constexpr bool holds_stages<Repeat<N, X...>> = true;
template <auto P, class... X>
inline constexpr bool holds_stages<When<P, X...>> = true;
template <class... X>
inline constexpr bool holds_stages<WhenRunning<X...>> = true;
template <class... X>
inline constexpr bool holds_stages<WhenStepped<X...>> = true;
template <auto kChoice, class... X>
inline constexpr bool holds_stages<InMode<kChoice, X...>> = true;
template <class... X>
inline constexpr bool holds_stages<IntoFinal<X...>> = true;

template <class X>
concept IsLeaf = !holds_stages<X>;

// `worlds...` is the set of a tile; the others know theirs.

template <HostWalk Walk, auto N, class... X, class... Worlds>
void stage(Walk& walk, Repeat<N, X...>, const Worlds&... worlds) {
  int times;
  if constexpr (is_number<N>)
    times = N;
  else
    times = N(walk.call().params);
  for (int i = 0; i < times; ++i) run_stages(walk, Types<X...>{}, worlds...);
}
template <HostWalk Walk, class... X, class... Worlds>
void stage(Walk& walk, WhenRunning<X...>, const Worlds&... worlds) {
  if (walk.call().autoreset == Autoreset::same_step)
    run_stages(walk, Types<X...>{}, worlds...);
  else
    stage(walk, When<&Life<typename Walk::Environment>::running, X...>{}, worlds...);
}
template <HostWalk Walk, class... X, class... Worlds>
void stage(Walk& walk, WhenStepped<X...>, const Worlds&... worlds) {
  if (walk.call().step_mask == nullptr)
    run_stages(walk, Types<X...>{}, worlds...);
  else
    stage(walk, When<&Life<typename Walk::Environment>::stepped, X...>{}, worlds...);
}
template <HostWalk Walk, auto kChoice, class... X, class... Worlds>
void stage(Walk& walk, InMode<kChoice, X...>, const Worlds&... worlds) {
  if (has_choice(walk.call(), kChoice)) run_stages(walk, Types<X...>{}, worlds...);
}
template <HostWalk Walk, class... X, class... Worlds>
void stage(Walk& walk, IntoFinal<X...>, const Worlds&... worlds) {
  walk.writes_final() = true;
  run_stages(walk, Types<X...>{}, worlds...);
  walk.writes_final() = false;
}

}  // namespace ge
