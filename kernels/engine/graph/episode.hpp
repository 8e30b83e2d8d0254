// The life cycle of every environment: step counter, termination and truncation, the three
// autoreset modes, final observations, episode statistics, agents that end before their world,
// masked and seeded resets. It is written in the same algebra as the rules and wrapped around them
// here, once:
//
//   clear           a clean slate for what the rules say
//   begin_step      worlds whose episode is over rest in this step (Disabled: frozen; NextStep:
//                   reset); the others count up
//   TakeActions     the caller's actions into the record
//   rules           the environment's Step, for worlds that run
//   finish          flags, returns, which worlds are over; flags and statistics are written, of
//                   agents that ended before their world at once or with it (Ends)
//   renew           SameStep: final_obs of what ended, then reset
//   observe         the environment's Observe
//
// A world rests exactly when its episode is over or its step counter is 0, so no bit says so and a
// frozen world's record stays as it was. A world that a step of some worlds leaves out is only
// shown again: it writes a clean slate, and the flags of its end if it is over.
#pragma once

#include "engine/graph/hooks.hpp"
#include "engine/graph/outputs.hpp"
#include "engine/graph/role_rows.hpp"
#include "engine/graph/sewing.hpp"
#include "engine/maths/math.hpp"

namespace ge {

template <class E>
struct Life {
  using S = typename E::Schema;
  using W = World<S>;
  static constexpr bool kOneAgent = has_one_agent<S>;

  static_assert(Fate::kGone == 1);
  static GE_FN uint32_t word(bool flag) { return flag ? 1u : 0u; }
  static GE_FN bool resting(const W& w) {
    return (get<EpisodeTable, Progress>(w, 0).over != 0) |
           (get<EpisodeTable, Clock>(w, 0).step == 0);
  }
  static GE_FN bool running(const W& w) { return !resting(w); }
  static GE_FN bool over(const W&, const Progress& progress) { return progress.over != 0; }
  static GE_FN bool stepped(const W& w) { return is_stepped(w.engine()); }
  static GE_FN bool ended_same_step(const W& w, const Progress& progress) {
    return (progress.over != 0) & (w.engine().shared->autoreset == Autoreset::same_step) &&
           stepped(w);
  }
  static GE_FN bool left_out(const W& w) { return !stepped(w); }
  /// Whether this step reports an agent's end, so that its last observation is shown.
  static GE_FN bool reports_end(const W& w, const Progress& progress, const Verdict& verdict) {
    bool reports = verdict.any_ended != 0;
    if constexpr (!kOneAgent)
      reports = reports & ((progress.over != 0) | (w.engine().shared->ends == Ends::agent));
    return reports;
  }

  // ---- a step

  static GE_FN void begin_step(const W&, Clock& clock, const Progress& progress) {
    clock.step += (progress.over != 0) | (clock.step == Clock::kMostSteps) ? 0u : 1u;
  }
  static GE_FN void clear_verdict(const W&, Verdict& verdict) { verdict = Verdict{}; }
  static GE_FN void count_frozen(const W& w) {
    if (stepped(w)) count_add(&w.engine().shared->counters->frozen_steps, 1);
  }
  static GE_FN void clear_agent(const W&, Reward& reward, Ending& ending) {
    reward = Reward{};
    ending = Ending{};
  }
  static GE_FN void finish_agent(const W& w, Fate& fate, Return& total, Reward& reward,
                                 Ending& ending) {
    // Whole words of 0 or 1 and single selects: the form that every vectoriser understands.
    const Clock clock = get<EpisodeTable, Clock>(w, 0);
    const Verdict verdict = get<EpisodeTable, Verdict>(w, 0);
    const uint32_t over = get<EpisodeTable, Progress>(w, 0).over;
    const uint32_t rests = word(over != 0) | word(clock.step == 0);
    const uint32_t acts = ~rests & ~fate.bits & 1u;
    // 0 means no limit and wraps to the largest number; step 0 belongs to a world at rest.
    const uint32_t limit = word(clock.step - 1u >= w.engine().shared->max_steps - 1u);
    const uint32_t terminated = acts & word((ending.terminated | verdict.terminated) != 0);
    const uint32_t truncated = acts & (word((ending.truncated | verdict.truncated) != 0) | limit);
    const uint32_t ended = terminated | truncated;
    const uint32_t flags = terminated * Fate::kTerminated | truncated * Fate::kTruncated;
    const float sum = total.value + reward.value;
    reward.value = select(acts != 0, reward.value, 0.0f);
    total.value = select(acts != 0, sum, total.value);
    // A frozen world repeats the flags of its end; a gone agent in a running world shows none.
    const uint32_t shown = select(rests != 0, fate.bits, flags);
    const uint32_t kept = fate.bits & ~((rests ^ 1u) * Fate::kJustEnded);
    fate.bits = select(ended != 0, Fate::kGone | Fate::kJustEnded | flags, kept);
    ending.terminated = shown / Fate::kTerminated & 1u;
    ending.truncated = shown / Fate::kTruncated & 1u;
    ending.ended = ended;
  }
  static GE_FN void repeat_flags(const W&, const Fate& fate, Ending& ending) {
    ending.terminated = fate.bits / Fate::kTerminated & 1u;
    ending.truncated = fate.bits / Fate::kTruncated & 1u;
  }
  // Bit 0: the agent is still in the game; bit 1: it ended in this step.
  static GE_FN int32_t presence(const W&, const Fate& fate, const Ending& ending) {
    return ((fate.bits & Fate::kGone) == 0 ? 1 : 0) | (ending.ended != 0 ? 2 : 0);
  }
  static GE_FN void finish_world(const W&, int32_t presence, Progress& progress, Verdict& verdict) {
    progress.over = (presence & 1) == 0 ? 1u : 0u;
    verdict.any_ended = (presence & 2) != 0 ? 1u : 0u;
  }

  // ---- Ends::world: what finish_agent reports of an agent becomes what its row reports

  static GE_FN bool has_flags(const W&, const Progress& progress, const Verdict& verdict) {
    return (progress.over | verdict.any_ended) != 0;
  }
  /// A world that goes on reports no end. In a world that is over, an agent that ended in this step
  /// keeps its flags, and every other agent is terminated; statistics are reported in the step that
  /// ended the world, for agents that took part.
  static GE_FN void end_with_world(const W& w, const Fate& fate, Ending& ending) {
    const uint32_t over = word(get<EpisodeTable, Progress>(w, 0).over != 0);
    const uint32_t now = over & get<EpisodeTable, Verdict>(w, 0).any_ended;
    const bool is_last = (fate.bits & Fate::kJustEnded) != 0;
    ending.terminated = over & select(is_last, ending.terminated, 1u);
    ending.truncated = over & select(is_last, ending.truncated, 0u);
    ending.ended = now & word((fate.bits & Fate::kHow) != 0);
  }

  // ---- what a learner reads of a step

  static GE_FN float reward(const W&, const Reward& reward) { return reward.value; }
  static GE_FN uint8_t terminated(const W&, const Ending& ending) {
    return uint8_t(ending.terminated);
  }
  static GE_FN uint8_t truncated(const W&, const Ending& ending) {
    return uint8_t(ending.truncated);
  }
  static GE_FN uint8_t ended(const W&, const Ending& ending) { return uint8_t(ending.ended); }
  static GE_FN float episode_return(const W&, const Ending& ending, const Return& total) {
    return ending.ended != 0 ? total.value : 0.0f;
  }
  static GE_FN int32_t episode_length(const W& w, const Ending& ending) {
    const uint32_t step = get<EpisodeTable, Clock>(w, 0).step;
    return ending.ended != 0 ? int32_t(step) : 0;
  }
  // Hooks get the number of an agent among all agents of its world.
  template <class R>
  static GE_FN float objective(const W& w, Slot agent, const Ending& ending) {
    const int number = first_agent<S, R>(w.params()) + agent.row;
    return ending.ended != 0 ? called<kHooks<E>.objective.call>(w, number) : 0.0f;
  }
  /// What an episode has come to, by name: `Measures` in the environment or in a role, a row of
  /// floats with `static GE_FN Measures of(const W&, int agent)`.
  template <class R, class Row>
  static GE_FN Row measures(const W& w, Slot agent, const Ending& ending) {
    if (ending.ended == 0) return Row{};
    return Row::of(w, first_agent<S, R>(w.params()) + agent.row);
  }
  template <class R>
  static GE_FN uint8_t agent_active(const W& w, [[maybe_unused]] Slot agent, const Fate& fate) {
    bool active = (fate.bits & Fate::kGone) == 0;
    if constexpr (kHooks<E>.acts.given)
      active = active && called<kHooks<E>.acts.call>(w, first_agent<S, R>(w.params()) + agent.row);
    return active ? uint8_t{1} : uint8_t{0};
  }
  /// The mask of a role that names none: all actions are legal.
  template <class R>
  static GE_FN void every_action(const W& w, role_row<E, R, kActionMask>& row) {
    using A = typename R::Action;
    int choices = RowShape<role_row<E, R, kActionMask>>::elements;
    if constexpr (is_choice<A> && has_choices<A, typename S::Params>)
      choices = choices_of<A>(w.params(), 0);
    for (int k = 0; k < choices; ++k) row.legal[k] = 1;
  }
  /// Called by a name that the compiler knows, not through a pointer, which a GPU could not call.
  template <auto F>
  static GE_FN auto called(const W& w, int agent) {
    return F(w, agent);
  }

  // Reward parts, for roles that name them: zero for an agent that does not act, like its reward.
  template <class R>
  static constexpr bool has_own_parts = has_rows<R, kRewardParts> || has_rows<E, kRewardParts>;
  static GE_FN WholeReward whole_reward(const W&, const Reward& reward) { return {reward.value}; }
  template <class Parts>
  static GE_FN void clear_row(const W&, Parts& parts) {
    parts = Parts{};
  }
  template <class Parts>
  static GE_FN void finish_parts(const W& w, Parts& parts, const Fate& fate) {
    const bool acts = running(w) & ((fate.bits & Fate::kGone) == 0);
    if (!acts) parts = Parts{};
  }
  template <class Parts>
  static GE_FN Parts reward_parts(const W&, const Parts& parts) {
    return parts;
  }

  // ---- a new episode

  static GE_FN void begin_episode(const W&, Clock& clock, Progress& progress) {
    clock.episode += 1;
    clock.step = 0;
    progress.over = 0;
  }
  static GE_FN void begin_agent(const W&, Fate& fate, Return& total) {
    fate = Fate{};
    total = Return{};
  }
  // Levels by number: `Reset` draws as world k does in its first episode with seed 0.
  static GE_FN void enter_level(const W& w, Identity& identity, Clock& clock, OwnDraws& own) {
    const Shared<S>& shared = *w.engine().shared;
    own = {identity.seed_low, identity.seed_high, identity.world, clock.episode};
    identity = {0, 0, shared.first_level + draw<"fixed_level">(w, 0).below(0, shared.level_count)};
    clock.episode = 0;
  }
  static GE_FN void leave_level(const W&, Identity& identity, Clock& clock, const OwnDraws& own) {
    identity = {own.seed_low, own.seed_high, own.world};
    clock.episode = own.episode;
  }
  // Parameters that vary: drawn where they have a range, when an episode begins.
  static GE_FN StoredRange range_of(const W& w, int k) {
    return {w.engine().template at<OwnRanges<S>, Range>(k), Cells<S>::B};
  }
  static GE_FN bool draws(const W& w) {
    // With NextStep an episode begins in a step, and a block may run whole for some of its worlds.
    if (!is_stepped(w.engine())) return false;
    bool draws = false;
    for (int k = 0; k < w.engine().shared->params.varying; ++k)
      draws = draws || range_of(w, k).law != int32_t(Law::given);
    return draws;
  }
  static GE_FN void vary(const W& w, varied_of<S>& varied) {
    const held_of<S>& held = w.engine().shared->params;
    for (int k = 0; k < held.varying; ++k) {
      const StoredRange range = range_of(w, k);
      if (range.law == int32_t(Law::given)) continue;
      // The draw is one piece of code for all fields: with a copy for each, modules took twice as
      // long to compile.
      const int number = held.number[k];
      VariedLimits limits = {};
      with_field<varied_of<S>>(number,
                               [&](auto field) GE_LAMBDA { limits = decltype(field)::limits; });
      const double value = drawn(
          range, limits, [&](int block) GE_LAMBDA { return draw<"parameters">(w, number, block); });
      with_field<varied_of<S>>(number,
                               [&](auto field) GE_LAMBDA { decltype(field)::set(varied, value); });
    }
  }
  static GE_FN void vary_derived(const W& w, derived_of<S>& derived, varied_of<S>& varied) {
    vary(w, varied);
    derived = derive<S>(varied, w.params());
  }
  static GE_FN varied_of<S> common_parameters(const Shared<S>& shared) {
    if constexpr (kOnLanes)
      return shared.varied;
    else
      return *shared.varied;
  }
  /// The output `parameters`.
  static GE_FN void show_parameters(const W& w, ParameterRow<S>& row) {
    const Shared<S>& shared = *w.engine().shared;
    const varied_of<S> varied = shared.params.varying > 0
                                    ? get<OwnParameters<S>, varied_of<S>>(w, 0)
                                    : common_parameters(shared);
    each_field<varied_of<S>>([&](auto k, auto field) GE_LAMBDA {
      row.value[decltype(k)::value] = float(decltype(field)::get(varied));
    });
  }
  static GE_FN bool wanted(const W& w) {
    const Cells<S>& cells = w.engine();
    const uint8_t* const mask = cells.shared->reset_mask;
    return !cells.shared->shows_only && (mask == nullptr || mask[cells.world] != 0);
  }
  // What `reset` does first: new seeds begin episode 0, none go on with the next.
  static GE_FN void begin_reset(const W& w, Identity& identity, Clock& clock, Progress& progress) {
    const Cells<S>& cells = w.engine();
    const Shared<S>& shared = *cells.shared;
    if (shared.seed_count > 0) {
      const uint64_t seed = shared.seed_count == 1 ? shared.seed : shared.seeds[cells.world];
      identity.seed_low = uint32_t(seed);
      identity.seed_high = uint32_t(seed >> 32);
      identity.world = shared.seed_count == 1 ? shared.first_world + uint32_t(cells.world) : 0u;
      clock.episode = 0;
    } else {
      clock.episode += 1;
    }
    clock.step = 0;
    progress.over = 0;
  }
};

/// The life cycle sewn around an environment's graphs:
///
///   step:     clear                                      a clean slate for what the rules say
///             [stepped: begin_step, [over: renew],       whose turn it is,
///                       TakeActions, rules,              and what they do: the environment's Step
///                       finish]                          flags, returns, who is over
///             clear final_obs                            SameStep only
///             report                                     what a learner reads of it
///             [reports_end: Observe into final_obs]      SameStep only ...
///             [over: [stepped: renew]]                   ... in a branch, or phases of their own:
///             show                                       Observe into the caller's arrays
///   renew:    a new episode, then the environment's Reset
///   reset:    [wanted: seeds, Reset], show               and `observe`, where no world is wanted
///
/// Values that the rules leave in transient components live within a phase, so they are read in the
/// phase in which they are written.
template <class E>
struct Sewn {
  using S = typename E::Schema;
  using L = Life<E>;
  static constexpr Tuning kTuned = kTuning<S>;
  static_assert(has_no_loose_hooks<E>());
  static_assert(
      !has_roles<S> || (!has_rows<E, kObservation> && !has_rows<E, kActionMask> &&
                        !has_rows<E, kRewardParts> && !has_rows<E, kNumbers>),
      "GE: where a schema lists roles, these name the rows of agents, and the environment "
      "none");

  static consteval auto begin() {
    return Stages<EachWorld<&L::begin_step>>{} +
           in_mode<Autoreset::disabled>(when<&L::over>(Stages<EachWorld<&L::count_frozen>>{})) +
           in_mode<Autoreset::next_step>(when<&L::over>(renew())) + take(roles_of<S>{});
  }
  template <class... Rs>
  static consteval auto take(Types<Rs...>) {
    return Stages<TakeActions<Rs>...>{};
  }
  /// A value per agent, whatever its role.
  template <Output kOutput, auto F>
  static consteval auto write() {
    return
        []<class... Rs>(Types<Rs...>) { return Stages<Write<kOutput, F, Rs>...>{}; }(roles_of<S>{});
  }
  static consteval auto clear() {
    return Stages<EachWorld<&L::clear_verdict>, Each<&L::clear_agent>>{} +
           clear_parts(roles_of<S>{});
  }
  static consteval auto finish() {
    return finish_parts(roles_of<S>{}) +
           Stages<Each<&L::finish_agent>, Reduce<&L::presence, AnyOf, &L::finish_world>>{};
  }
  static consteval auto report() {
    return repeat_flags() + end_with_world() + write_parts(roles_of<S>{}) +
           write<kReward, &L::reward>() + write<kTerminated, &L::terminated>() +
           write<kTruncated, &L::truncated>() + write<kEnded, &L::ended>() +
           write<kEpisodeReturn, &L::episode_return>() +
           write<kEpisodeLength, &L::episode_length>() + write_objective(roles_of<S>{}) +
           write_measures(roles_of<S>{});
  }
  /// A world that a step of some worlds leaves out after its end repeats its flags, as a frozen one
  /// does. Few are over, so that is asked first.
  static consteval auto repeat_flags() {
    return in_mode<Waiting::some>(
        when<&L::over>(when<&L::left_out>(Stages<Each<&L::repeat_flags>>{})));
  }
  /// The only agent of a world always ends with it.
  static consteval auto end_with_world() {
    if constexpr (L::kOneAgent)
      return Stages<>{};
    else
      return in_mode<Ends::world>(when<&L::has_flags>(Stages<Each<&L::end_with_world>>{}));
  }
  static consteval auto renew() {
    return Stages<EachWorld<&L::begin_episode>, ClearTables, Each<&L::begin_agent>>{} + vary() +
           make_level();
  }
  /// The environment's own. What a world varies is drawn before: it does not belong to a level.
  static consteval auto make_level() {
    return in_mode<FixedLevels::some>(Stages<EachWorld<&L::enter_level>>{}) + typename E::Reset{} +
           in_mode<FixedLevels::some>(Stages<EachWorld<&L::leave_level>>{});
  }
  static consteval auto vary() {
    if constexpr (!has_varied<S>)
      return Stages<>{};
    else if constexpr (std::is_same_v<derived_of<S>, varied_of<S>>)
      return in_mode<Varying::some>(when<&L::draws>(Stages<Each<&L::vary>>{}));
    else
      return in_mode<Varying::some>(when<&L::draws>(Stages<Each<&L::vary_derived>>{}));
  }
  static consteval auto show() {
    return write_active(roles_of<S>{}) + show_every_action(roles_of<S>{}) + show_parameters() +
           typename E::Observe{};
  }
  static consteval auto show_parameters() {
    if constexpr (has_varied<S>)
      // A row of a world, for which the role says nothing.
      return Stages<
          Show<kParameters, &L::show_parameters, typename TypeAt<0, roles_of<S>>::type>>{};
    else
      return Stages<>{};
  }
  template <class... Rs>
  static consteval auto write_active(Types<Rs...>) {
    return Stages<Write<kAgentActive, &L::template agent_active<Rs>, Rs>...>{};
  }
  template <class... Rs>
  static consteval auto show_every_action(Types<Rs...>) {
    return (Stages<>{} + ... + every_action_of<Rs>());
  }
  template <class R>
  static consteval auto every_action_of() {
    if constexpr (has_masks<E> && !has_rows<E, kActionMask> && !has_rows<R, kActionMask>)
      return Stages<Show<kActionMask, &L::template every_action<R>, R>>{};
    else
      return Stages<>{};
  }
  static consteval auto show_final() { return into_final(typename E::Observe{}); }
  /// The end of a step within its phase. With one agent per world, the worlds that report something
  /// are exactly those that are over.
  static consteval auto renew_at_once() {
    if constexpr (L::kOneAgent)
      return when<&L::over>(if_stepped(show_final() + renew()));
    else
      return when<&L::reports_end>(show_final()) + when<&L::over>(if_stepped(renew()));
  }

  static consteval auto step() {
    constexpr auto told = clear() +
                          if_stepped(begin() + unless_resting(typename E::Step{}) + finish()) +
                          in_mode<Autoreset::same_step>(Stages<ClearFinal>{}) + report();
    if constexpr (kTuned.rare_resets)
      return phases(phase<"step", kTuned.step_lanes>(
                        told + in_mode<Autoreset::same_step>(when<&L::reports_end>(show_final()))),
                    rare<&L::ended_same_step>(phase<"renew", kTuned.reset_lanes>(renew())),
                    phase<"observe", kTuned.observe_lanes>(show()));
    else
      return phases(phase<"step", kTuned.step_lanes>(
          told + in_mode<Autoreset::same_step>(renew_at_once()) + show()));
  }
  /// A phase that is the step's too is one kernel (cuda/entry.hpp).
  static consteval auto reset() {
    constexpr auto begin =
        when<&L::wanted>(Stages<EachWorld<&L::begin_reset>, ClearTables, Each<&L::begin_agent>>{} +
                         vary() + make_level());
    if constexpr (kTuned.rare_resets)
      return phases(phase<"reset", kTuned.reset_lanes>(begin),
                    phase<"observe", kTuned.observe_lanes>(show()));
    else
      return phases(phase<"reset", kTuned.step_lanes>(begin + show()));
  }

  /// Whether a role names parts of its reward, in a component that no role before it names: Each
  /// runs on the tables of all roles that have it.
  template <class R, class... Rs>
  static consteval bool names_first(Types<Rs...>) {
    if constexpr (!L::template has_own_parts<R>) {
      return false;
    } else {
      bool found = false, seen = false;
      ((found = found || std::is_same_v<R, Rs>,
        seen =
            seen || (!found &&
                     std::is_same_v<role_row<E, R, kRewardParts>, role_row<E, Rs, kRewardParts>>)),
       ...);
      return !seen;
    }
  }
  template <class... Rs>
  static consteval auto clear_parts(Types<Rs...> all) {
    return (Stages<>{} + ... + [all] {
      if constexpr (names_first<Rs>(decltype(all){}))
        return Stages<Each<&L::template clear_row<role_row<E, Rs, kRewardParts>>>>{};
      else
        return Stages<>{};
    }());
  }
  template <class... Rs>
  static consteval auto finish_parts(Types<Rs...> all) {
    return (Stages<>{} + ... + [all] {
      if constexpr (names_first<Rs>(decltype(all){}))
        return Stages<Each<&L::template finish_parts<role_row<E, Rs, kRewardParts>>>>{};
      else
        return Stages<>{};
    }());
  }
  template <class... Rs>
  static consteval auto write_parts(Types<Rs...>) {
    return (Stages<>{} + ... + [] {
      if constexpr (L::template has_own_parts<Rs>)
        return Stages<
            Write<kRewardParts, &L::template reward_parts<role_row<E, Rs, kRewardParts>>, Rs>>{};
      else if constexpr (has_parts<E>)
        return Stages<Write<kRewardParts, &L::whole_reward, Rs>>{};
      else
        return Stages<>{};
    }());
  }
  template <class... Rs>
  static consteval auto write_objective(Types<Rs...>) {
    if constexpr (kHooks<E>.objective.given)
      return Stages<Write<kObjective, &L::template objective<Rs>, Rs>...>{};
    else
      return Stages<>{};
  }
  template <class... Rs>
  static consteval auto write_measures(Types<Rs...>) {
    return (Stages<>{} + ... + [] {
      if constexpr (has_role_rows<E, Rs, kMeasures>)
        return Stages<
            Write<kMeasures, &L::template measures<Rs, role_row<E, Rs, kMeasures>>, Rs>>{};
      else
        return Stages<>{};
    }());
  }
};

/// Lists of phases, as Types<Phase<...>...>.
template <class E>
using StepGraph = decltype(Sewn<E>::step());
template <class E>
using ResetGraph = decltype(Sewn<E>::reset());

}  // namespace ge
