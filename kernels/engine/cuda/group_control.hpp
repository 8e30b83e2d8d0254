// Stages of the group with inner stages: repetition, and conditions. A condition masks the groups
// that lack it; only a lane that owns its world may branch by itself.
#pragma once

#include "engine/cuda/group_lanes.hpp"
#include "engine/graph/episode.hpp"

namespace ge {

/// Whether these stages contain no rendezvous, so that a plain branch around them is allowed.
template <class Group, class... X>
inline constexpr bool runs_alone =
    Group::kLanes == 1 &&
    !StageNeeds<typename Group::Environment, Group::kLanes, Stages<X...>>::any(Types<X...>{});

/// The stages for the groups with p, which every lane of a group evaluated alike.
template <bool kFinal, AnyGroup Group, class... X>
GE_FN void run_within(Group& group, Types<X...> stages, bool p) {
  if constexpr (runs_alone<Group, X...>) {
    if (p) run_stages<kFinal>(group, stages, true);
  } else if (group.any(p)) {
    run_stages<kFinal>(group, stages, p);
  }
}

template <bool kFinal, AnyGroup Group, auto N, class... X>
GE_FN void stage(Group& group, Repeat<N, X...>, bool on) {
  int times;
  if constexpr (is_number<N>)
    times = N;
  else
    times = N(group.cells.shared->params);
  // Unrolled, the stages of a long step would be compiled once per turn.
  GE_NO_UNROLL
  for (int i = 0; i < times; ++i) run_stages<kFinal>(group, Types<X...>{}, on);
}
template <bool kFinal, AnyGroup Group, auto P, class... X>
GE_FN void stage(Group& group, When<P, X...>, bool on) {
  run_within<kFinal>(group, Types<X...>{}, on && bool(ask<P>(group.cells)));
}
template <bool kFinal, AnyGroup Group, class... X>
GE_FN void stage(Group& group, WhenRunning<X...>, bool on) {
  // One copy of the rules for the three modes.
  const bool p = on && (group.cells.shared->autoreset == Autoreset::same_step ||
                        bool(ask<&Life<typename Group::Environment>::running>(group.cells)));
  run_within<kFinal>(group, Types<X...>{}, p);
}
template <bool kFinal, AnyGroup Group, class... X>
GE_FN void stage(Group& group, WhenStepped<X...>, bool on) {
  run_within<kFinal>(group, Types<X...>{}, on && is_stepped(group.cells));
}
/// The choice is the same for the whole launch, so this branch is uniform without a vote.
template <bool kFinal, AnyGroup Group, auto kChoice, class... X>
GE_FN void stage(Group& group, InMode<kChoice, X...>, bool on) {
  if (has_choice(*group.cells.shared, kChoice)) run_stages<kFinal>(group, Types<X...>{}, on);
}
template <bool kFinal, AnyGroup Group, class... X>
GE_FN void stage(Group& group, IntoFinal<X...>, bool on) {
  run_stages<true>(group, Types<X...>{}, on);
}

}  // namespace ge
