// The life cycle of every environment: step counter, termination and truncation, the three
// autoreset modes, final observations, episode statistics, agents that end before their world,
// masked and seeded resets. It is written in the same algebra as the rules and wrapped around them
// here, once:
//
//   begin_step      worlds whose episode is over rest in this step (Disabled: frozen; NextStep:
//                   reset); the others count up
//   TakeActions     the caller's actions into the record
//   rules           the environment's Step, for worlds that run
//   finish          flags, returns, which worlds are over; flags and statistics are written
//   renew           SameStep: final_obs of what ended, then reset
//   observe         the environment's Observe
//
// A world rests exactly when its episode is over or its step counter is 0, so no bit says so and a
// frozen world's record stays as it was.
#pragma once

#include "engine/graph/call.hpp"
#include "engine/maths/math.hpp"

namespace ge {

template <class E>
struct Life {
  using S = typename E::Schema;
  using W = World<S>;
  using Agent = typename S::Agent;
  static constexpr bool kOneAgent = Agent::capacity == 1;

  static_assert(Fate::kGone == 1);
  static GE_FN uint32_t word(bool flag) { return flag ? 1u : 0u; }
  static GE_FN bool resting(const W& w) {
    return (w.template get<EpisodeTable, Progress>(0).over != 0) |
           (w.template get<EpisodeTable, Clock>(0).step == 0);
  }
  static GE_FN bool running(const W& w) { return !resting(w); }
  static GE_FN bool over(const W&, const Progress& progress) { return progress.over != 0; }
  static GE_FN bool ended_same_step(const W& w, const Progress& progress) {
    return (progress.over != 0) & (w.engine().shared->autoreset == Autoreset::same_step);
  }
  static GE_FN bool any_ended(const W&, const Verdict& verdict) { return verdict.any_ended != 0; }

  // ---- a step

  static GE_FN void begin_step(const W&, Clock& clock, const Progress& progress) {
    clock.step += progress.over != 0 ? 0u : 1u;
  }
  static GE_FN void clear_verdict(const W&, Verdict& verdict) { verdict = Verdict{}; }
  static GE_FN void count_frozen(const W& w) {
    count_add(&w.engine().shared->counters->frozen_steps, 1);
  }
  static GE_FN void clear_agent(const W&, Reward& reward, Ending& ending) {
    reward = Reward{};
    ending = Ending{};
  }
  static GE_FN void finish_agent(const W& w, Fate& fate, Return& total, Reward& reward,
                                 Ending& ending) {
    // Whole words of 0 or 1 and single selects: what every vectoriser understands.
    const Clock clock = w.template get<EpisodeTable, Clock>(0);
    const Verdict verdict = w.template get<EpisodeTable, Verdict>(0);
    const uint32_t over = w.template get<EpisodeTable, Progress>(0).over;
    const uint32_t rests = word(over != 0) | word(clock.step == 0);
    const uint32_t acts = ~rests & ~fate.bits & 1u;
    // No limit is 0, which wraps to the largest number; step 0 is that of a world at rest.
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
  // Bit 0: the agent is still in the game; bit 1: it ended in this step.
  static GE_FN int32_t presence(const W&, const Fate& fate, const Ending& ending) {
    return ((fate.bits & Fate::kGone) == 0 ? 1 : 0) | (ending.ended != 0 ? 2 : 0);
  }
  static GE_FN void finish_world(const W&, int32_t presence, Progress& progress, Verdict& verdict) {
    progress.over = (presence & 1) == 0 ? 1u : 0u;
    verdict.any_ended = (presence & 2) != 0 ? 1u : 0u;
  }

  // ---- what a learner reads of it

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
    const uint32_t step = w.template get<EpisodeTable, Clock>(0).step;
    return ending.ended != 0 ? int32_t(step) : 0;
  }
  static GE_FN uint8_t agent_active(const W& w, [[maybe_unused]] Slot agent, const Fate& fate) {
    bool active = (fate.bits & Fate::kGone) == 0;
    if constexpr (requires { E::acts(w, agent.row); }) active = active && E::acts(w, agent.row);
    return active ? uint8_t{1} : uint8_t{0};
  }

  // Parts of a reward, where an environment tells them: as reward, nothing for who does not act.
  template <class Parts>
  static GE_FN void clear_parts(const W&, Parts& parts) {
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
  static GE_FN bool wanted(const W& w) {
    const Cells<S>& cells = w.engine();
    return cells.shared->reset_mask == nullptr || cells.shared->reset_mask[cells.world] != 0;
  }
  // What `reset` does first: new seeds begin episode 0, none go on with the next.
  static GE_FN void begin_reset(const W& w, Identity& identity, Clock& clock, Progress& progress) {
    const Cells<S>& cells = w.engine();
    const Shared<S>& shared = *cells.shared;
    if (shared.seeds != nullptr) {
      const uint64_t seed = shared.seeds[shared.seed_count == 1 ? 0 : cells.world];
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

  // ---- the graphs

  template <class L>
  struct Parts;
  template <class... X>
  struct Parts<Stages<X...>> {
    using renew =
        Stages<EachWorld<&Life::begin_episode>, ClearTables, Each<&Life::begin_agent>, X...>;
    using reset = Stages<When<&Life::wanted, EachWorld<&Life::begin_reset>, ClearTables,
                              Each<&Life::begin_agent>, X...>>;
  };
  using Renew = typename Parts<typename E::Reset>::renew;

  template <class... L>
  using join = chain<L...>;

  template <template <class...> class Wrapper, class L>
  struct Wrap;
  template <template <class...> class Wrapper, class... X>
  struct Wrap<Wrapper, Stages<X...>> {
    using type = Stages<Wrapper<X...>>;
  };
  template <template <class...> class Wrapper, class L>
  using wrap = typename Wrap<Wrapper, L>::type;

  template <auto P, class L>
  struct Only;
  template <auto P, class... X>
  struct Only<P, Stages<X...>> {
    using type = Stages<When<P, X...>>;
  };
  template <int Mode, class L>
  struct In;
  template <int Mode, class... X>
  struct In<Mode, Stages<X...>> {
    using type = Stages<InMode<Mode, X...>>;
  };

  using Final = wrap<IntoFinal, typename E::Observe>;
  using Begin = join<
      Stages<EachWorld<&Life::begin_step>,
             InMode<int(Autoreset::disabled), When<&Life::over, EachWorld<&Life::count_frozen>>>>,
      typename In<int(Autoreset::next_step), typename Only<&Life::over, Renew>::type>::type,
      Stages<TakeActions>>;
  // What the rules say of a step lives within a phase, so the last one begins with a clean slate
  // and is where they say it.
  template <class Environment, class = void>
  struct Parted {
    using clear = Stages<>;
    using finish = Stages<>;
  };
  template <class Environment>
  struct Parted<Environment, std::void_t<typename Environment::RewardParts>> {
    using Row = typename Environment::RewardParts;
    using clear = Stages<Each<&Life::template clear_parts<Row>>>;
    using finish = Stages<Each<&Life::template finish_parts<Row>>,
                          Write<kRewardParts, &Life::template reward_parts<Row>>>;
  };
  using Slate = join<Stages<EachWorld<&Life::clear_verdict>, Each<&Life::clear_agent>>,
                     typename Parted<E>::clear>;
  using Finish =
      join<typename Parted<E>::finish,
           Stages<Each<&Life::finish_agent>, Reduce<&Life::presence, AnyOf, &Life::finish_world>,
                  Write<kReward, &Life::reward>, Write<kTerminated, &Life::terminated>,
                  Write<kTruncated, &Life::truncated>, Write<kEnded, &Life::ended>,
                  Write<kEpisodeReturn, &Life::episode_return>,
                  Write<kEpisodeLength, &Life::episode_length>>>;
  // With one agent the worlds with something to report are those that are over.
  using EndSame = std::conditional_t<
      kOneAgent, typename Only<&Life::over, join<Final, Renew>>::type,
      join<typename Only<&Life::any_ended, Final>::type, typename Only<&Life::over, Renew>::type>>;
  using Show = join<Stages<Write<kAgentActive, &Life::agent_active>>, typename E::Observe>;

  // Whether the reset of ended worlds is a launch of its own over a worklist (Rare) or a branch in
  // the same phase (When).
  static consteval bool rare() {
    if constexpr (requires { E::rare_reset; }) return E::rare_reset;
    return false;
  }

  template <Name kName, class L, class List>
  struct MakePhase;
  template <Name kName, class L, class... X>
  struct MakePhase<kName, L, Stages<X...>> {
    using type = Phase<kName, L, X...>;
  };

  // The environment's phases with the life cycle merged into the first and the last: what the rules
  // leave in transient components is read before the phase ends.
  template <bool kFirst, class... P>
  struct Compose;
  template <bool kFirst, Name kName, class L, class... X, class... More>
  struct Compose<kFirst, Phase<kName, L, X...>, More...> {
    static constexpr bool last = sizeof...(More) == 0;
    using rules = Stages<WhenRunning<X...>>;
    using opening = std::conditional_t<kFirst, Begin, Stages<>>;
    using head = std::conditional_t<last, join<opening, Slate, rules>, join<opening, rules>>;
    using report = join<Stages<ClearFinal>, typename Only<&Life::any_ended, Final>::type>;
    template <class List>
    using same = typename In<int(Autoreset::same_step), List>::type;
    using tail = std::conditional_t<rare(), join<Finish, same<report>>,
                                    join<Finish, same<join<Stages<ClearFinal>, EndSame>>, Show>>;
    using whole = std::conditional_t<last, join<head, tail>, head>;
    using phase = typename MakePhase<kName, L, whole>::type;
    using rest = typename Compose<false, More...>::type;
    using type = concat<Types<phase>, rest>;
  };
  template <bool kFirst>
  struct Compose<kFirst> {
    template <bool kRare, class Dummy = void>
    struct Tail_ {
      using type = Types<>;
    };
    template <class Dummy>
    struct Tail_<true, Dummy> {
      using renew = typename MakePhase<"renew", typename E::ResetLanes, Renew>::type;
      using show = typename MakePhase<"observe", typename E::ObserveLanes, Show>::type;
      using type = Types<Rare<&Life::ended_same_step, renew>, show>;
    };
    using type = typename Tail_<rare()>::type;
  };

  template <class L>
  struct PhasesOf;
  template <class... X>
  struct PhasesOf<Stages<X...>> {
    using type = typename Compose<true, Phase<"step", typename E::StepLanes, X...>>::type;
  };
  template <class... P>
  struct PhasesOf<Phases<P...>> {
    using type = typename Compose<true, P...>::type;
  };

  /// Lists of phases, as Types<Phase<...>...>.
  using StepGraph = typename PhasesOf<typename E::Step>::type;
  using ResetGraph =
      Types<typename MakePhase<"reset", typename E::StepLanes,
                               join<typename Parts<typename E::Reset>::reset, Show>>::type>;
  using ObserveGraph = Types<typename MakePhase<"observe", typename E::StepLanes, Show>::type>;
};

/// What an environment leaves out: lanes per world for its phases.
struct Defaults {
  using StepLanes = Lanes<1, 8, 32>;
  using ResetLanes = Lanes<8, 1, 32>;
  using ObserveLanes = Lanes<1, 8, 32>;
};

}  // namespace ge
