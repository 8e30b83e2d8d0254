// CovidEconomy: the governors of the 50 US states and Washington, D.C., close and open them, the
// federal government pays subsidies, while COVID-19 spreads and jobs are lost. A toy for research
// on policies, not a forecast.
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

template <class T>
struct Environment {
  using Schema = covid_economy::Schema<T>;
  using R = Rules<T>;
  using V = Views<T>;
  // What changed 600 days ago is known before the episode, or kept in the window.
  using Recall = std::conditional_t<T::keeps_window, Stages<Each<&R::recall>>, Stages<>>;
  using Forget = std::conditional_t<T::keeps_window, Stages<EachWorld<&R::turn_window>>,
                                    Stages<When<&R::history_leaves, Each<&R::forget_history>>>>;
  using Reset = chain<Stages<Each<&R::begin_state>, EachWorld<&R::begin_country>>, Recall,
                      Stages<EachWorld<&V::announce>>>;
  // The disease goes by levels of 29 days ago, jobs by today's; deaths and the unemployed of today
  // are missing at work, and the planner is paid when all states have been.
  using Choose =
      Stages<When<&R::is_free, Each<&R::close>>, When<&R::is_replayed, Each<&R::close_as_it_was>>,
             EachWorld<&R::begin_day>, Reduce<&R::illegal_choice, AnyOf, &R::note_illegal>,
             When<&R::has_illegal, EachWorld<&R::report_illegal>>>;
  using Live = Stages<Each<&R::spread>, Each<&R::employ>, Each<&R::produce>,
                      Reduce<&R::deaths_of, Sum, &R::note_deaths>,
                      Reduce<&R::product_of, Sum, &R::pay_planner>, EachWorld<&V::announce>>;
  using Step = chain<Choose, Forget, Live>;
  using Observe =
      Stages<ObserveAs<Governor, &V::show_governor>, ObserveMaskAs<Governor, &V::mask_governor>,
             ObserveAs<Planner, &V::show_planner>, ObserveMaskAs<Planner, &V::mask_planner>>;
  static constexpr Card card{.doc =
                                 "51 governors and a planner weigh closures against jobs in the "
                                 "COVID-19 pandemic: a toy, no forecast.",
                             .max_episode_steps = 540,
                             .agents = "52",
                             .render_fps = 15};
  static constexpr Hooks<Schema> hooks{.fits_steps =
                                           [](int64_t max_steps) {
                                             return T::keeps_window ||
                                                    (max_steps > 0 && max_steps <= kWindow);
                                           },
                                       .action_name = &choice_name<Params>,
                                       .text = &map_text<World<Schema>>,
                                       .scene = &map_scene<World<Schema>>};
};

using Builds =
    ge::Builds<Build<"CovidEconomy-v0", Environment<UpTo600Days>, Environment<AnyLength>>>;

}  // namespace gpu_envs::envs::covid_economy
