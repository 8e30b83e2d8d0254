// Shuffled: conditions. A world's decision must not depend on unwritten memory, so every decision
// is taken on all images. Other stages with inner stages are graph/host_walk.hpp's.
#pragma once

#include "engine/checking/shuffled_trial.hpp"
#include "engine/graph/host_walk.hpp"

namespace ge {

template <class E, auto P, class... X>
void stage(Trial<E>& trial, When<P, X...>) {
  if (trial.template has<P>()) run_stages(trial, Types<X...>{});
}

}  // namespace ge
