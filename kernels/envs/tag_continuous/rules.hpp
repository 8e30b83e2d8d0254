// Components and tables, and one step: motion, then tags, rewards, and runners that leave.
#pragma once

#include "envs/tag_continuous/start.hpp"

namespace gpu_envs::envs::tag_continuous {

// ---- components of one number each, so that a large world reads one number of all agents in a row

/// Action of an agent: two numbers of levels, which `look_up` turns into quantities.
struct Action {
  int32_t acceleration, turn;
  static constexpr bool transient = true;
  static GE_FN int choices(const Params& p, int field) {
    return field == 0 ? p.acceleration_choices : p.turn_choices;
  }
  static constexpr auto describe() {
    return fields(field("acceleration", &Action::acceleration,
                        "number of the level that is added to the acceleration; 0: no change")
                      .one_of(kMostLevels + 1),
                  field("turn", &Action::turn, "number of the level of the turn; 0: straight on")
                      .one_of(kMostLevels + 1));
  }
};
template <Name kName, Name kDoc, class Word = float>
struct Number {
  Word value;
  static constexpr auto describe() {
    constexpr auto self = field(kName.text, &Number::value, kDoc.text);
    if constexpr (std::is_same_v<Word, float>)
      return fields(self);
    else
      return fields(self.within(0, 1));
  }
};
using X = Number<"x", "x of the agent's position">;
using Y = Number<"y", "y of the agent's position">;
using Speed = Number<"speed", "speed, in units of length per step">;
using Heading = Number<"heading", "heading [rad], 0 along x, pi/2 along y">;
/// Kept until an action changes it.
using Acceleration = Number<"acceleration", "change of the speed per step">;

using Role = Number<"tagger", "role of the agent, 1: tagger, 0: runner", uint32_t>;
using InGame = Number<"in_game", "whether it is in the game; 0: tagged and out", uint32_t>;
/// `in_game` before the tags of this step, which observations show a step late as in the original.
using Seen = Number<"seen", "in_game as shown, before the tags of this step", uint32_t>;

/// The quantities of the action.
struct Change {
  float acceleration, turn;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("increment", &Change::acceleration, "change of the acceleration in this step"),
        field("turn_by", &Change::turn, "turn in this step").in("rad"));
  }
};
/// The tagger that tags a runner in this step.
struct Catcher {
  int32_t agent;
  static constexpr int32_t kNobody = -1;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("catcher", &Catcher::agent, "row of the tagger that tags this runner; -1: none"));
  }
};

// ---- tables

template <class T>
struct Schema {
  struct Agent : Agents<T::agents, X, Y, Speed, Heading, Acceleration, Role, InGame, Seen, Action,
                        Change, Catcher> {
    static constexpr const char* name = "agents";
    static GE_FN constexpr int64_t count(const tag_continuous::Params& p) { return p.agent_count; }
  };
  using Params = tag_continuous::Params;
  using Settings = tag_continuous::Settings;
  using Varied = tag_continuous::Varied;
  using Derived = tag_continuous::Derived;
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
  static GE_FN Derived derive(const Varied& varied, const Params&) { return derived_from(varied); }
  using Action = tag_continuous::Action;
  using tables = Types<Agent>;
  static constexpr Tuning tuning =
      T::small ? Tuning{}
               : Tuning{.cpu_block = 1, .cuda_block = 1, .step_lanes = {128, 32}, .flat = true};
};

// ---- angles and distances

/// In [0, 2 pi).
GE_FN float wrapped(float angle) {
  const float turns = floor(angle * (1.0f / kTwoPi));
  const float rest = angle - turns * kTwoPi;  // exact for one turn too many or too few
  const float positive = select(rest < 0.0f, rest + kTwoPi, rest);
  return select(positive >= kTwoPi, positive - kTwoPi, positive);
}

/// Bits of a float of at least 0, such as a squared distance; they are ordered as the floats are.
GE_FN uint32_t ordered(float square) {
  return detail::to_bits(square);
}
/// Squared distance of two points.
GE_FN float distance_squared(float x, float y, float other_x, float other_y) {
  const float dx = other_x - x, dy = other_y - y;
  return dx * dx + dy * dy;
}

inline constexpr uint32_t kNever = 0xffffffffu;

// ---- rules

template <class T>
struct Rules {
  using W = World<Schema<T>>;
  using Players = typename Schema<T>::Agent;

  // ---- motion

  /// Turns the levels of the action into an increment and a turn.
  static GE_FN void look_up(const W& w, Change& change, const Action& action) {
    const Params& p = w.params();
    const Derived v = w.varied();
    change = {level_of(v.low_acceleration, v.high_acceleration, p.acceleration_choices,
                       action.acceleration),
              level_of(v.low_turn, v.high_turn, p.turn_choices, action.turn)};
  }

  /// Turns the agent and changes its speed; agents out of the game stay at rest.
  static GE_FN void steer(const W& w, Heading& heading, Speed& speed, Acceleration& acceleration,
                          const Change& change, const Role& role, const InGame& in_game) {
    const Derived v = w.varied();
    const bool plays = in_game.value != 0;
    const float top = select(role.value != 0, v.top_speed[1], v.top_speed[0]);
    heading.value = select(plays, wrapped(heading.value + change.turn), 0.0f);
    const float wanted = acceleration.value + change.acceleration;
    const float reached = clamp(speed.value + wanted, 0.0f, top);
    speed.value = select(plays, reached, 0.0f);
    // The acceleration that took the agent to rest or to its top speed is dropped.
    const float kept = select(speed.value > 0.0f, wanted, 0.0f);
    acceleration.value = select(speed.value < top, kept, 0.0f);
  }

  /// Moves the agent and stops it at the walls, which may cost a penalty.
  static GE_FN void move(const W& w, X& x, Y& y, Reward& reward, const Speed& speed,
                         const Heading& heading) {
    const Derived v = w.varied();
    const float side = v.side;
    float sine, cosine;
    sincos_bounded(heading.value, sine, cosine);
    const float to_x = x.value + speed.value * cosine, to_y = y.value + speed.value * sine;
    x.value = clamp(to_x, 0.0f, side), y.value = clamp(to_y, 0.0f, side);
    const bool crossed = (to_x < 0.0f) | (to_x > side) | (to_y < 0.0f) | (to_y > side);
    reward.value = select(crossed, v.edge_penalty, 0.0f);
  }

  /// Keeps who is in the game before the tags of this step.
  static GE_FN void be_seen(const W&, Seen& seen, const InGame& in_game) {
    seen.value = in_game.value;
  }

  // ---- tags

  /// Ordered squared distance to a tagger; kNever where the agent is a runner.
  static GE_FN uint32_t reach(const W& w, float x, float y, int agent) {
    const float square =
        distance_squared(x, y, get<Players, X>(w, agent).value, get<Players, Y>(w, agent).value);
    // All bits are set for a runner; with a select g++ does not recognise the minimum.
    return ordered(square) | (get<Players, Role>(w, agent).value - 1u);
  }
  /// Least reach over all agents of a large world. Not inlined: g++ vectorises the loop only where
  /// no other loop surrounds it.
  static GE_NOINLINE uint32_t least_reach(const W& w, float x, float y) {
    const W here = w;
    const int count = here.params().agent_count;
    uint32_t least = kNever;
    for (int agent = 0; agent < count; ++agent) {
      const uint32_t one = reach(here, x, y, agent);
      least = one < least ? one : least;
    }
    return least;
  }

  /// Finds the nearest tagger within the margin; of equally near ones the first.
  static GE_FN void find_catcher(const W& w, Catcher& catcher, const X& x, const Y& y,
                                 const Role& role, const InGame& in_game) {
    const bool able = (role.value == 0) & (in_game.value != 0);
    const uint32_t margin = ordered(w.varied().margin_squared);
    catcher.agent = Catcher::kNobody;
    if constexpr (T::small) {
      uint32_t least = kNever;
      int32_t first = Catcher::kNobody;
      GE_UNROLL
      for (int agent = 0; agent < T::agents; ++agent) {
        const uint32_t one = reach(w, x.value, y.value, agent);
        first = select(one < least, agent, first);
        least = one < least ? one : least;
      }
      catcher.agent = select(able & (least < margin), first, Catcher::kNobody);
    } else if (able) {
      const uint32_t least = least_reach(w, x.value, y.value);
      if (least >= margin) return;
      int agent = 0;
      while (reach(w, x.value, y.value, agent) != least) ++agent;
      catcher.agent = agent;
    }
  }

  /// Number of runners that `me` tags. Rows of a small tier beyond agent_count hold garbage.
  static GE_FN int32_t catches(const W& w, int me) {
    const int count = w.params().agent_count;
    int32_t sum = 0;
    GE_UNROLL
    for (int agent = 0; agent < T::agents; ++agent) {
      const bool mine = get<Players, Catcher>(w, agent).agent == me;
      sum += select(mine & (agent < count), 1, 0);
    }
    return sum;
  }
  static GE_NOINLINE int32_t catches_in_crowd(const W& world, int me) {
    const W w = world;
    int32_t sum = 0;
    for (int agent = 0; agent < w.params().agent_count; ++agent)
      sum += get<Players, Catcher>(w, agent).agent == me ? 1 : 0;
    return sum;
  }

  /// Rewards, and runners that leave. A tagger counts its own tags, so no row writes another's
  /// reward.
  static GE_FN void pay(const W& w, Slot me, Reward& reward, Ending& ending, InGame& in_game,
                        const Catcher& catcher, const Role& role) {
    const Params& p = w.params();
    const Derived v = w.varied();
    const bool tagger = role.value != 0, plays = in_game.value != 0;
    int32_t caught = 0;
    if constexpr (T::small)
      caught = catches(w, me.row);
    else if (tagger)
      caught = catches_in_crowd(w, me.row);
    const bool tagged = catcher.agent != Catcher::kNobody;
    const bool leaves = tagged & (p.runners_leave != 0);
    const bool last = (w.step() == w.max_steps()) & !tagger & plays & !leaves;
    float sum = reward.value + select(tagger, v.step_reward[1], v.step_reward[0]);
    sum = select(plays, sum, 0.0f);
    sum += select(tagged, v.tag_penalty, 0.0f);
    sum += float(caught) * v.tag_reward;
    reward.value = sum + select(last, v.end_reward, 0.0f);
    in_game.value = select(leaves, 0u, in_game.value);
    ending.terminated = select(leaves, 1u, 0u);
  }

  /// Counts a runner that is in the game.
  static GE_FN int32_t runs(const W&, const Role& role, const InGame& in_game) {
    return select(role.value == 0, int32_t(in_game.value), 0);
  }
  /// The episode ends for all agents when no runner is in the game.
  static GE_FN void end_without_runners(const W&, int32_t running, Verdict& verdict) {
    verdict.terminated = running == 0 ? 1u : 0u;
  }

  // ---- a new episode

  /// Position and heading at the start: drawn for this episode, shared by all, or given by `start`.
  static GE_FN void place(const W& w, Slot me, X& x, Y& y, Heading& heading) {
    const Params& p = w.params();
    const float side = w.varied().side;
    const Draw own = draw<"tag_start">(w, me.row);
    const Draw all = shared_draw(p.start_seed, me.row);
    const Draw drawn = p.resample != 0 ? own : all;
    x.value = side * drawn.uniform(0), y.value = side * drawn.uniform(1);
    heading.value = float(drawn.below(2, 4)) * (0.25f * kTwoPi);
    if (p.laid != 0) {
      const int k = me.row & (kMostLaid - 1);
      // The text was read for one side; in a world with another it may lie beyond a wall.
      x.value = clamp(p.laid_x[k], 0.0f, side), y.value = clamp(p.laid_y[k], 0.0f, side);
      heading.value = p.laid_heading[k];
    }
  }
  /// Role and speed at the start.
  static GE_FN void begin(const W& w, Slot me, Speed& speed, Acceleration& acceleration, Role& role,
                          InGame& in_game, Seen& seen) {
    speed.value = 0, acceleration.value = 0;
    role.value = is_tagger(w.params(), me.row) ? 1u : 0u;
    in_game.value = 1, seen.value = 1;
  }
};

}  // namespace gpu_envs::envs::tag_continuous
