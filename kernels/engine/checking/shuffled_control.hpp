// Shuffled: stages that hold stages. What a world decides must not depend on unwritten memory, so
// every decision is asked of all images.
#pragma once

#include "engine/checking/shuffled_trial.hpp"

namespace ge {

template <class E, auto N, class... X>
void stage(Trial<E>& trial, Repeat<N, X...>) {
  int times;
  if constexpr (is_number<N>)
    times = N;
  else
    times = N(trial.shared.params);
  for (int i = 0; i < times; ++i) run_stages(trial, Types<X...>{});
}
/// P is asked of the world in three images: what it decides may not depend on poison.
template <class E, auto P, class... X>
void stage(Trial<E>& trial, When<P, X...>) {
  if (trial.template has<P>()) run_stages(trial, Types<X...>{});
}
template <class E, class... X>
void stage(Trial<E>& trial, WhenRunning<X...>) {
  if (trial.shared.autoreset == Autoreset::same_step || trial.template has<&Life<E>::running>())
    run_stages(trial, Types<X...>{});
}
template <class E, auto kChoice, class... X>
void stage(Trial<E>& trial, InMode<kChoice, X...>) {
  if (has_choice(trial.shared, kChoice)) run_stages(trial, Types<X...>{});
}
/// A flag on the trial, since the stages inside are the same types as outside.
template <class E, class... X>
void stage(Trial<E>& trial, IntoFinal<X...>) {
  trial.into_final = true;
  run_stages(trial, Types<X...>{});
  trial.into_final = false;
}

}  // namespace ge
