// What there is in a world, and one step of it: motion, then who is tagged, rewards, who leaves.
#pragma once

#include "envs/tag_continuous/start.hpp"

namespace gpu_envs::envs::tag_continuous {

// ---- components: one number each, so that those of all agents of a large world lie side by side

struct Action {
  int32_t acceleration, turn;
  static constexpr bool transient = true;
  static GE_FN int choices(const Params& p, int field) {
    return field == 0 ? p.acceleration_choices : p.turn_choices;
  }
  static constexpr auto describe() {
    return fields(field("acceleration", &Action::acceleration,
                        "0: as it is; else the level of what is added to the acceleration")
                      .one_of(kMostLevels + 1),
                  field("turn", &Action::turn, "0: straight on; else the level of the turn")
                      .one_of(kMostLevels + 1));
  }
};
template <Name kName, Name kDoc>
struct Number {
  float value;
  static constexpr auto describe() { return fields(field(kName.text, &Number::value, kDoc.text)); }
};
using X = Number<"x", "place">;
using Y = Number<"y", "place">;
using Speed = Number<"speed", "distance per step">;
using Heading = Number<"heading", "in radians, 0 along x, pi/2 along y">;
/// It lasts until an action changes it.
using Acceleration = Number<"acceleration", "what a step adds to the speed">;

template <Name kName, Name kDoc>
struct Flag {
  uint32_t value;
  static constexpr auto describe() {
    return fields(field(kName.text, &Flag::value, kDoc.text).within(0, 1));
  }
};
using Role = Flag<"tagger", "1: chases, 0: flees">;
using InGame = Flag<"in_game", "0: tagged, and out of the game">;
/// Observations are made between motion and tags, so who is tagged shows a step later.
using Seen = Flag<"seen", "in_game as this step's observations show it">;

struct Change {
  float acceleration, turn;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("increment", &Change::acceleration, "of the acceleration in this step"),
                  field("turn_by", &Change::turn, "turn of this step").in("rad"));
  }
};
/// Of a runner.
struct Catcher {
  int32_t agent;
  static constexpr int32_t kNobody = -1;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("catcher", &Catcher::agent, "who tags it in this step; -1: nobody"));
  }
};

// ---- tables

template <class T>
struct Players : Agents<T::agents, X, Y, Speed, Heading, Acceleration, Role, InGame, Seen, Action,
                        Change, Catcher> {
  static constexpr const char* name = "agents";
  static GE_FN constexpr int64_t count(const Params& p) { return p.agent_count; }
};

template <class T>
struct Schema {
  using Params = tag_continuous::Params;
  using Settings = tag_continuous::Settings;
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
  using Action = tag_continuous::Action;
  using Agent = Players<T>;
  using tables = Types<Agent>;
  static constexpr Tuning tuning =
      T::small ? Tuning{}
               : Tuning{.cpu_block = 1, .cuda_block = 1, .step_lanes = {128, 32}, .flat = true};
};
template <class T>
using W = World<Schema<T>>;

// ---- motion

template <class T>
GE_FN void look_up(const W<T>& w, Change& change, const Action& action) {
  change = {w.params().accelerations[action.acceleration], w.params().turns[action.turn]};
}

/// In [0, 2 pi).
GE_FN float wrapped(float angle) {
  const float turns = floor(angle * (1.0f / kTwoPi));
  const float rest = angle - turns * kTwoPi;  // exact for one turn too many or too few
  const float positive = select(rest < 0.0f, rest + kTwoPi, rest);
  return select(positive >= kTwoPi, positive - kTwoPi, positive);
}

template <class T>
GE_FN void steer(const W<T>& w, Heading& heading, Speed& speed, Acceleration& acceleration,
                 const Change& change, const Role& role, const InGame& in_game) {
  const Params& p = w.params();
  const bool plays = in_game.value != 0;
  const float top = select(role.value != 0, p.top_speed[1], p.top_speed[0]);
  heading.value = select(plays, wrapped(heading.value + change.turn), 0.0f);
  const float wanted = acceleration.value + change.acceleration;
  const float reached = clamp(speed.value + wanted, 0.0f, top);
  speed.value = select(plays, reached, 0.0f);
  // At rest or at the top, what pushed the agent there is gone.
  const float kept = select(speed.value > 0.0f, wanted, 0.0f);
  acceleration.value = select(speed.value < top, kept, 0.0f);
}

template <class T>
GE_FN void move(const W<T>& w, X& x, Y& y, Reward& reward, const Speed& speed,
                const Heading& heading) {
  const float side = w.params().side;
  float sine, cosine;
  sincos_bounded(heading.value, sine, cosine);
  const float to_x = x.value + speed.value * cosine, to_y = y.value + speed.value * sine;
  x.value = clamp(to_x, 0.0f, side), y.value = clamp(to_y, 0.0f, side);
  const bool crossed = (to_x < 0.0f) | (to_x > side) | (to_y < 0.0f) | (to_y > side);
  reward.value = select(crossed, w.params().edge_penalty, 0.0f);
}

template <class T>
GE_FN void be_seen(const W<T>&, Seen& seen, const InGame& in_game) {
  seen.value = in_game.value;
}

// ---- tags

/// Squared distances and other floats of at least 0 as numbers that are ordered alike.
GE_FN uint32_t ordered(float square) {
  return detail::to_bits(square);
}
GE_FN float distance_squared(float x, float y, float other_x, float other_y) {
  const float dx = other_x - x, dy = other_y - y;
  return dx * dx + dy * dy;
}

inline constexpr uint32_t kNever = 0xffffffffu;

/// What find_catcher compares: distances to taggers; nobody is as far as the others.
template <class T>
GE_FN uint32_t reach(const W<T>& w, float x, float y, int agent) {
  using P = Players<T>;
  const float square = distance_squared(x, y, get<P, X>(w, agent).value, get<P, Y>(w, agent).value);
  // All bits set where there is no tagger; a select here keeps g++ from seeing a minimum.
  return ordered(square) | (get<P, Role>(w, agent).value - 1u);
}
/// Out of line, for a large world: a loop over the agents vectorises where no other is around it.
template <class T>
GE_NOINLINE uint32_t least_reach(const W<T>& w, float x, float y) {
  const W<T> here = w;
  const int count = here.params().agent_count;
  uint32_t least = kNever;
  for (int agent = 0; agent < count; ++agent) {
    const uint32_t one = reach<T>(here, x, y, agent);
    least = one < least ? one : least;
  }
  return least;
}

/// The nearest tagger, if near enough; of several that are equally near the first.
template <class T>
GE_FN void find_catcher(const W<T>& w, Catcher& catcher, const X& x, const Y& y, const Role& role,
                        const InGame& in_game) {
  const bool able = (role.value == 0) & (in_game.value != 0);
  const uint32_t margin = ordered(w.params().margin_squared);
  catcher.agent = Catcher::kNobody;
  if constexpr (T::small) {
    uint32_t least = kNever;
    int32_t first = Catcher::kNobody;
    GE_UNROLL
    for (int agent = 0; agent < T::agents; ++agent) {
      const uint32_t one = reach<T>(w, x.value, y.value, agent);
      first = select(one < least, agent, first);
      least = one < least ? one : least;
    }
    catcher.agent = select(able & (least < margin), first, Catcher::kNobody);
  } else if (able) {
    const uint32_t least = least_reach<T>(w, x.value, y.value);
    if (least >= margin) return;
    int agent = 0;
    while (reach<T>(w, x.value, y.value, agent) != least) ++agent;
    catcher.agent = agent;
  }
}

/// How many runners `me` tags. Rows of a small world that have no agent are noise.
template <class T>
GE_FN int32_t catches(const W<T>& w, int me) {
  const int count = w.params().agent_count;
  int32_t sum = 0;
  GE_UNROLL
  for (int agent = 0; agent < T::agents; ++agent) {
    const bool mine = get<Players<T>, Catcher>(w, agent).agent == me;
    sum += select(mine & (agent < count), 1, 0);
  }
  return sum;
}
template <class T>
GE_NOINLINE int32_t catches_in_crowd(const W<T>& world, int me) {
  const W<T> w = world;
  int32_t sum = 0;
  for (int agent = 0; agent < w.params().agent_count; ++agent)
    sum += get<Players<T>, Catcher>(w, agent).agent == me ? 1 : 0;
  return sum;
}

/// Rewards, and who leaves. Taggers gather what they earn, so that nobody writes another's reward.
template <class T>
GE_FN void pay(const W<T>& w, Slot me, Reward& reward, Ending& ending, InGame& in_game,
               const Catcher& catcher, const Role& role) {
  const Params& p = w.params();
  const bool tagger = role.value != 0, plays = in_game.value != 0;
  int32_t caught = 0;
  if constexpr (T::small)
    caught = catches<T>(w, me.row);
  else if (tagger)
    caught = catches_in_crowd<T>(w, me.row);
  const bool tagged = catcher.agent != Catcher::kNobody;
  const bool leaves = tagged & (p.runners_leave != 0);
  const bool last = (w.step() == w.max_steps()) & !tagger & plays & !leaves;
  float sum = reward.value + select(tagger, p.step_reward[1], p.step_reward[0]);
  sum = select(plays, sum, 0.0f);
  sum += select(tagged, p.tag_penalty, 0.0f);
  sum += float(caught) * p.tag_reward;
  reward.value = sum + select(last, p.end_reward, 0.0f);
  in_game.value = select(leaves, 0u, in_game.value);
  ending.terminated = select(leaves, 1u, 0u);
}

template <class T>
GE_FN int32_t runs(const W<T>&, const Role& role, const InGame& in_game) {
  return select(role.value == 0, int32_t(in_game.value), 0);
}
template <class T>
GE_FN void end_without_runners(const W<T>&, int32_t running, Verdict& verdict) {
  verdict.terminated = running == 0 ? 1u : 0u;
}

// ---- a new episode

template <class T>
GE_FN void place(const W<T>& w, Slot me, X& x, Y& y, Heading& heading) {
  const Params& p = w.params();
  const Draw own = draw<"tag_start">(w, me.row);
  const Draw all = shared_draw(p.start_seed, me.row);
  const Draw draw = p.resample != 0 ? own : all;
  x.value = p.side * draw.uniform(0), y.value = p.side * draw.uniform(1);
  heading.value = float(draw.below(2, 4)) * (0.25f * kTwoPi);
  if (p.laid != 0) {
    const int k = me.row & (kMostLaid - 1);
    x.value = p.laid_x[k], y.value = p.laid_y[k], heading.value = p.laid_heading[k];
  }
}
template <class T>
GE_FN void begin(const W<T>& w, Slot me, Speed& speed, Acceleration& acceleration, Role& role,
                 InGame& in_game, Seen& seen) {
  speed.value = 0, acceleration.value = 0;
  role.value = is_tagger(w.params(), me.row) ? 1u : 0u;
  in_game.value = 1, seen.value = 1;
}

}  // namespace gpu_envs::envs::tag_continuous
