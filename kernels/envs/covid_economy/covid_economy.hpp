// CovidEconomy: the governors of 51 US states close and open them, the federal government pays
// subsidies, while COVID-19 spreads and jobs are lost. A toy for research on policies; no forecast.
//
//   who acts    51 governors: keep the level of closure, or set one of ten; the planner: one of 21
//               levels of subsidy, every 90 days
//   reward      of a governor: health and economic index of the state, weighed as its real policy
//               did; of the planner: those of the country, the subsidies' cost taken off
//   ends        never by the rules; cut short after 540 days
//   rules from  Trott, Srinivasa, van der Wal, Haneuse and Zheng, arXiv:2108.02904, as in
//               ai-economist 1.7.1 (NumPy), with its fitted numbers (data/covid_attribution.md)
//
// Parts: settings.hpp (what a user sets), constants.hpp and presets.hpp (what becomes of it and of
// the data), tables.hpp (worlds and rows), rules.hpp, observe.hpp, layout.hpp, scene.hpp and
// text.hpp (for people).
#pragma once

#include "envs/covid_economy/observe.hpp"
#include "envs/covid_economy/scene.hpp"
#include "envs/covid_economy/text.hpp"

namespace gpu_envs::envs::covid_economy {

/// What becomes of a level of 600 days ago: known before the episode, or kept in the window.
template <class T>
struct Remembering {
  using Reset = Stages<>;
  using Step = Stages<When<&history_leaves<T>, Each<&forget_history<T>>>>;
};
template <>
struct Remembering<AnyLength> {
  using Reset = Stages<Each<&recall<AnyLength>>>;
  using Step = Stages<EachWorld<&turn_window<AnyLength>>>;
};

template <class T>
struct Environment {
  using Schema = covid_economy::Schema<T>;
  using Reset = chain<Stages<Each<&begin_state<T>>, EachWorld<&begin_country<T>>>,
                      typename Remembering<T>::Reset, Stages<EachWorld<&announce<T>>>>;
  // The disease goes by levels of 29 days ago, jobs by today's; deaths and the unemployed of today
  // are missing at work, and the planner is paid when all states have been.
  using Choose =
      Stages<When<&is_free<T>, Each<&close<T>>>, When<&is_replayed<T>, Each<&close_as_it_was<T>>>,
             EachWorld<&begin_day<T>>, Reduce<&illegal_choice<T>, AnyOf, &note_illegal<T>>,
             When<&has_illegal<T>, EachWorld<&count_illegal<T>>>>;
  using Live = Stages<Each<&spread<T>>, Each<&employ<T>>, Each<&produce<T>>,
                      Reduce<&deaths_of<T>, Sum, &note_deaths<T>>,
                      Reduce<&product_of<T>, Sum, &pay_planner<T>>, EachWorld<&announce<T>>>;
  using Step = chain<Choose, typename Remembering<T>::Step, Live>;
  using Observe =
      Stages<ObserveAs<Governor, &show_governor<T>>, ObserveMaskAs<Governor, &mask_governor<T>>,
             ObserveAs<Planner, &show_planner<T>>, ObserveMaskAs<Planner, &mask_planner<T>>>;
  static constexpr Card card{.doc =
                                 "51 governors and a planner weigh closures against jobs in the "
                                 "COVID-19 pandemic: a toy, no forecast.",
                             .max_episode_steps = 540,
                             .agents = "52"};
  static constexpr Hooks<Schema> hooks{.fits_steps =
                                           [](int64_t max_steps) {
                                             return T::keeps_window ||
                                                    (max_steps > 0 && max_steps <= kWindow);
                                           },
                                       .text = &map_text<T>,
                                       .scene = &map_scene<T>};
};

using Builds =
    ge::Builds<Build<"CovidEconomy-v0", Environment<UpTo600Days>, Environment<AnyLength>>>;

}  // namespace gpu_envs::envs::covid_economy
