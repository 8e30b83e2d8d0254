// Observations: seven features of every other agent, or of the nearest ones in the game, feature by
// feature: all differences in x, then all in y, and so on; the time comes last.
#pragma once

#include "envs/tag_continuous/rules.hpp"

namespace gpu_envs::envs::tag_continuous {

inline constexpr int kFeatures = 7;

/// Numbers of one agent from which the features are made.
struct Sight {
  float x, y, speed, acceleration, heading;
};

/// Agents first, first + 1, ... are shown as the others k, k + 1, ... of each feature.
struct Range {
  int k, first, count;
};

/// The nearest agents found so far, sorted. A key is the distance above the agent's number, so of
/// equally near agents the first comes first.
struct Nearest {
  static constexpr int kMost = 16;
  uint64_t key[kMost];
  int held = 0, wanted;
  uint32_t worst = kNever;  // agents at this distance or farther are not taken

  GE_FN void take(uint32_t distance, int agent) {
    if (distance >= worst) return;
    const uint64_t mine = uint64_t{distance} << 32 | uint32_t(agent);
    int at = held < wanted ? held++ : held - 1;
    for (; at > 0 && key[at - 1] > mine; --at) key[at] = key[at - 1];
    key[at] = mine;
    if (held == wanted) worst = uint32_t(key[held - 1] >> 32);
  }
};

/// Position of the observer, and the last key that it has listed already, as distance and number +
/// 1: with 0 and 0 nothing is listed yet.
struct Look {
  float x, y;
  int me;
  uint32_t last_distance = 0, last_count = 0;
};

/// Agents per pass of the vectorised search in a large world.
inline constexpr int kLook = 16;

template <class T>
struct Views {
  using W = World<Schema<T>>;
  using Players = typename Schema<T>::Agent;

  struct Observation : WideRow<float> {
    static constexpr int capacity = kFeatures * (T::small ? T::agents : kMostAgents) + 1;
    static constexpr bool complete = T::full;  // else features of absent agents stay 0
    static GE_FN int elements(const Params& p) { return kFeatures * p.seen_count + 1; }
    static std::vector<FieldInfo> describe(const Params& p) {
      const std::vector<int64_t> shape{p.seen_count};
      return {
          wide_field("x", shape,
                     "x of the other agent relative to the observer, in diagonals of the square",
                     -0.7072, 0.7072),
          wide_field("y", shape,
                     "y of the other agent relative to the observer, in diagonals of the square",
                     -0.7072, 0.7072),
          wide_field("speed", shape,
                     "speed of the other agent minus the observer's, in units of max_speed",
                     -kUnbounded, kUnbounded),
          wide_field("acceleration", shape,
                     "acceleration of the other agent minus the observer's, in units of max_speed",
                     -kUnbounded, kUnbounded),
          wide_field("heading", shape,
                     "heading of the other agent minus the observer's, in turns, not wrapped", -1,
                     1),
          wide_field("tagger", shape, "role of the other agent, 1: tagger, 0: runner"),
          wide_field("in_game", shape, "whether the other agent is in the game; 0: tagged and out"),
          wide_field("time", {1}, "share of the time limit that is over; 0 without a limit")};
    }
  };

  static GE_FN Sight sight_of(const W& w, int agent) {
    return {get<Players, X>(w, agent).value, get<Players, Y>(w, agent).value,
            get<Players, Speed>(w, agent).value, get<Players, Acceleration>(w, agent).value,
            get<Players, Heading>(w, agent).value};
  }
  /// Share of the time limit that is over; 0 without a limit.
  static GE_FN float time_of(const W& w) {
    const uint32_t limit = w.max_steps();
    return limit != 0 ? float(w.step()) / float(limit) : 0.0f;
  }

  /// Writes agent `other` as the k-th of `count` that the observer sees.
  static GE_FN void show(const W& w, FloatRow& row, int k, int count, const Sight& own,
                         const Derived& v, int other) {
    const Sight it = sight_of(w, other);
    const auto put = [&](int feature, float value) GE_LAMBDA {
      if constexpr (T::small)
        row.put(k + feature * count, value);
      else
        row.set(k + feature * count, value);
    };
    put(0, (it.x - own.x) * v.per_diagonal);
    put(1, (it.y - own.y) * v.per_diagonal);
    put(2, (it.speed - own.speed) * v.per_speed);
    put(3, (it.acceleration - own.acceleration) * v.per_speed);
    put(4, (it.heading - own.heading) * (1.0f / kTwoPi));
    put(5, float(int32_t(get<Players, Role>(w, other).value)));
    put(6, float(int32_t(get<Players, Seen>(w, other).value)));
  }

  // ---- all others

  /// The row of a small world with use_full_observation.
  static GE_FN void observe_all(const W& w, FloatRow& row, Slot me, const Role&) {
    const Sight own = sight_of(w, me.row);
    const int others = w.params().seen_count;
    const Derived v = w.varied();  // once: after each number that is written it would be read again
    for (int k = 0; k < others; ++k) show(w, row, k, others, own, v, k + (k >= me.row ? 1 : 0));
    row.set(kFeatures * others, time_of(w));
  }

  /// Writes one feature of a range of agents, in vectors.
  static GE_FN void show_numbers(const W& w, FloatRow& row, int feature, const Range& range,
                                 float scale, float own, auto component) {
    row.fill(feature * w.params().seen_count + range.k, range.count, [&](int i) GE_LAMBDA {
      return (float(get<Players, decltype(component)>(w, range.first + i).value) - own) * scale;
    });
  }
  static GE_FN void show_range(const W& w, FloatRow& row, const Range& range, const Sight& own) {
    const Derived v = w.varied();
    show_numbers(w, row, 0, range, v.per_diagonal, own.x, X{});
    show_numbers(w, row, 1, range, v.per_diagonal, own.y, Y{});
    show_numbers(w, row, 2, range, v.per_speed, own.speed, Speed{});
    show_numbers(w, row, 3, range, v.per_speed, own.acceleration, Acceleration{});
    show_numbers(w, row, 4, range, 1.0f / kTwoPi, own.heading, Heading{});
    show_numbers(w, row, 5, range, 1.0f, 0.0f, Role{});
    show_numbers(w, row, 6, range, 1.0f, 0.0f, Seen{});
  }
  /// The row of a large world with use_full_observation: the agents before and behind the observer.
  static GE_FN void observe_crowd(const W& w, FloatRow& row, const Squad&, Slot me, const Role&) {
    const Sight own = sight_of(w, me.row);
    const int others = w.params().seen_count;
    show_range(w, row, {0, 0, me.row}, own);
    show_range(w, row, {me.row, me.row + 1, others - me.row}, own);
    row.fill(kFeatures * others, 1, [&](int) GE_LAMBDA { return time_of(w); });
  }

  // ---- the nearest

  /// Ordered squared distance to an agent; kNever where it is not to be listed.
  static GE_FN uint32_t distance_to(const W& w, const Look& look, int agent) {
    const uint32_t bits = ordered(distance_squared(look.x, look.y, get<Players, X>(w, agent).value,
                                                   get<Players, Y>(w, agent).value));
    const bool listed = (bits < look.last_distance) |
                        ((bits == look.last_distance) & (uint32_t(agent) < look.last_count));
    const bool out = (get<Players, Seen>(w, agent).value == 0) | (agent == look.me) | listed;
    return select(out, kNever, bits);
  }

  /// Upper bound of the distance of the `wanted`-th nearest agent: agents k, k + kLook, ... form
  /// group k, and the bound is the `wanted`-th smallest of the groups' minima.
  static GE_NOINLINE uint32_t enough(const W& world, const Look& at, int wanted) {
    const W w = world;
    const Look look = at;
    const int count = w.params().agent_count;
    uint32_t least[kLook], nearer[kLook];
    for (int k = 0; k < kLook; ++k) least[k] = kNever, nearer[k] = 0;
    for (int first = 0; first + kLook <= count; first += kLook)
      for (int k = 0; k < kLook; ++k) {
        const uint32_t one = distance_to(w, look, first + k);
        least[k] = one < least[k] ? one : least[k];
      }
    for (int other = 0; other < kLook; ++other)
      for (int k = 0; k < kLook; ++k) nearer[k] += least[other] < least[k] ? 1u : 0u;
    uint32_t result = 0;
    for (int k = 0; k < kLook; ++k) {
      const uint32_t one = nearer[k] < uint32_t(wanted) ? least[k] : 0u;
      result = one > result ? one : result;
    }
    return result;
  }

  /// Finds the nearest agents that are not listed yet.
  static GE_NOINLINE void search(const W& world, const Look& at, Nearest& nearest) {
    const W w = world;
    const Look look = at;
    const int count = w.params().agent_count;
    // A table, because g++ does not vectorise shifts by the loop variable.
    constexpr uint32_t kBit[kLook] = {1,   2,   4,    8,    16,   32,   64,    128,
                                      256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    int first = 0;
    if constexpr (!T::small) {
      const uint32_t within = enough(w, look, nearest.wanted);
      nearest.worst = within < kNever ? within + 1u : kNever;
      for (; first + kLook <= count; first += kLook) {
        uint32_t distance[kLook], any = 0;
        const uint32_t worst = nearest.worst;
        for (int k = 0; k < kLook; ++k) distance[k] = distance_to(w, look, first + k);
        for (int k = 0; k < kLook; ++k) any |= distance[k] < worst ? kBit[k] : 0u;
        for (; any != 0; any &= any - 1)
          nearest.take(distance[lowest_one(any)], first + lowest_one(any));
      }
    }
    for (; first < count; ++first) nearest.take(distance_to(w, look, first), first);
  }
  /// The row of the nearest agents, found kMost at a time.
  static GE_FN void observe_nearest(const W& w, FloatRow& row, Slot me, const Role&) {
    const int places = w.params().seen_count;
    const Sight own = sight_of(w, me.row);
    const Derived v = w.varied();
    Look look{own.x, own.y, me.row};
    int k = 0;
    for (bool more = true; more && k < places;) {
      Nearest nearest;
      nearest.wanted = places - k < Nearest::kMost ? places - k : Nearest::kMost;
      search(w, look, nearest);
      for (int i = 0; i < nearest.held; ++i, ++k)
        show(w, row, k, places, own, v, int(uint32_t(nearest.key[i])));
      more = nearest.held == Nearest::kMost;
      if (more) {
        const uint64_t last = nearest.key[Nearest::kMost - 1];
        look.last_distance = uint32_t(last >> 32), look.last_count = uint32_t(last) + 1u;
      }
    }
    row.set(kFeatures * places, time_of(w));
  }

  static consteval auto stages() {
    if constexpr (!T::full)
      return Stages<ge::Observe<&observe_nearest>>{};
    else if constexpr (T::small)
      return Stages<ge::Observe<&observe_all>>{};
    else
      return Stages<ge::Observe<&observe_crowd>>{};
  }
};

}  // namespace gpu_envs::envs::tag_continuous
