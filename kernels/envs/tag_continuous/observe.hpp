// Observations: seven numbers of every other agent, or of the nearest ones in the game, number by
// number: all differences in x, then all in y, and so on; last the time.
#pragma once

#include "envs/tag_continuous/rules.hpp"

namespace gpu_envs::envs::tag_continuous {

inline constexpr int kFeatures = 7;

template <class T>
struct Observation : WideRow<float> {
  static constexpr int capacity = kFeatures * (T::small ? T::agents : kMostAgents) + 1;
  static constexpr bool complete = T::full;  // else the zeros stay where nobody is
  static GE_FN int elements(const Params& p) { return kFeatures * p.seen_count + 1; }
  static std::vector<FieldInfo> describe(const Params& p) {
    const std::vector<int64_t> shape{p.seen_count};
    const double speed = p.top_speed[0] > p.top_speed[1] ? p.top_speed[0] : p.top_speed[1];
    const double most = speed * double(p.per_speed);
    return {wide_field("x", shape, "of the other less one's own, in diagonals", -0.7072, 0.7072),
            wide_field("y", shape, "the same along y", -0.7072, 0.7072),
            wide_field("speed", shape, "difference, in units of max_speed", -most, most),
            wide_field("acceleration", shape, "difference, in units of max_speed", -kUnbounded,
                       kUnbounded),
            wide_field("heading", shape, "difference in turns, not wrapped", -1, 1),
            wide_field("tagger", shape, "1: a tagger, 0: a runner"),
            wide_field("in_game", shape, "1 unless it has been tagged and is out of the game"),
            wide_field("time", {1}, "share of the episode that is over")};
  }
};

/// What there is to see of one agent.
struct Sight {
  float x, y, speed, acceleration, heading;
};
template <class T>
GE_FN Sight sight_of(const W<T>& w, int agent) {
  using P = Players<T>;
  return {get<P, X>(w, agent).value, get<P, Y>(w, agent).value, get<P, Speed>(w, agent).value,
          get<P, Acceleration>(w, agent).value, get<P, Heading>(w, agent).value};
}
template <class T>
GE_FN float time_of(const W<T>& w) {
  const uint32_t limit = w.max_steps();
  return limit != 0 ? float(w.step()) / float(limit) : 0.0f;
}

/// Agent `other` becomes the k-th of `count` that `own` sees.
template <class T>
GE_FN void show(const W<T>& w, FloatRow& row, int k, int count, const Sight& own, int other) {
  using P = Players<T>;
  const Params& p = w.params();
  const Sight it = sight_of<T>(w, other);
  const auto put = [&](int feature, float value) GE_LAMBDA {
    if constexpr (T::small)
      row.put(k + feature * count, value);
    else
      row.set(k + feature * count, value);
  };
  put(0, (it.x - own.x) * p.per_diagonal);
  put(1, (it.y - own.y) * p.per_diagonal);
  put(2, (it.speed - own.speed) * p.per_speed);
  put(3, (it.acceleration - own.acceleration) * p.per_speed);
  put(4, (it.heading - own.heading) * (1.0f / kTwoPi));
  put(5, float(int32_t(get<P, Role>(w, other).value)));
  put(6, float(int32_t(get<P, Seen>(w, other).value)));
}

// ---- all others

template <class T>
GE_FN void observe_all(const W<T>& w, FloatRow& row, Slot me, const Role&) {
  const Sight own = sight_of<T>(w, me.row);
  const int others = w.params().seen_count;
  for (int k = 0; k < others; ++k) show<T>(w, row, k, others, own, k + (k >= me.row ? 1 : 0));
  row.set(kFeatures * others, time_of<T>(w));
}

/// For a large world: agents first, first + 1, ... become the others k, k + 1, ... of each feature.
struct Range {
  int k, first, count;
};
template <class T, class C>
GE_FN void show_numbers(const W<T>& w, FloatRow& row, int feature, const Range& range, float scale,
                        float own) {
  row.fill(feature * w.params().seen_count + range.k, range.count, [&](int i) GE_LAMBDA {
    return (float(get<Players<T>, C>(w, range.first + i).value) - own) * scale;
  });
}
template <class T>
GE_FN void show_range(const W<T>& w, FloatRow& row, const Range& range, const Sight& own) {
  const Params& p = w.params();
  show_numbers<T, X>(w, row, 0, range, p.per_diagonal, own.x);
  show_numbers<T, Y>(w, row, 1, range, p.per_diagonal, own.y);
  show_numbers<T, Speed>(w, row, 2, range, p.per_speed, own.speed);
  show_numbers<T, Acceleration>(w, row, 3, range, p.per_speed, own.acceleration);
  show_numbers<T, Heading>(w, row, 4, range, 1.0f / kTwoPi, own.heading);
  show_numbers<T, Role>(w, row, 5, range, 1.0f, 0.0f);
  show_numbers<T, Seen>(w, row, 6, range, 1.0f, 0.0f);
}
template <class T>
GE_FN void observe_crowd(const W<T>& w, FloatRow& row, const Squad&, Slot me, const Role&) {
  const Sight own = sight_of<T>(w, me.row);
  const int others = w.params().seen_count;
  show_range<T>(w, row, {0, 0, me.row}, own);
  show_range<T>(w, row, {me.row, me.row + 1, others - me.row}, own);
  row.fill(kFeatures * others, 1, [&](int) GE_LAMBDA { return time_of<T>(w); });
}

// ---- the nearest

/// The nearest agents found so far, nearest first, of equally near ones the first: a distance's
/// bits above the agent's number.
struct Nearest {
  static constexpr int kMost = 16;
  uint64_t key[kMost];
  int held = 0, wanted;
  uint32_t worst = kNever;  // from this distance on nobody gets in

  GE_FN void take(uint32_t distance, int agent) {
    if (distance >= worst) return;
    const uint64_t mine = uint64_t{distance} << 32 | uint32_t(agent);
    int at = held < wanted ? held++ : held - 1;
    for (; at > 0 && key[at - 1] > mine; --at) key[at] = key[at - 1];
    key[at] = mine;
    if (held == wanted) worst = uint32_t(key[held - 1] >> 32);
  }
};

/// From where an agent looks, and which others it has listed already: those with keys up to a last
/// one, which is kept as distance and number + 1, so that 0 and 0 exclude nobody.
struct Look {
  float x, y;
  int me;
  uint32_t last_distance = 0, last_count = 0;
};
template <class T>
GE_FN uint32_t distance_to(const W<T>& w, const Look& look, int agent) {
  using P = Players<T>;
  const uint32_t bits = ordered(
      distance_squared(look.x, look.y, get<P, X>(w, agent).value, get<P, Y>(w, agent).value));
  const bool listed = (bits < look.last_distance) |
                      ((bits == look.last_distance) & (uint32_t(agent) < look.last_count));
  const bool out = (get<P, Seen>(w, agent).value == 0) | (agent == look.me) | listed;
  return select(out, kNever, bits);
}

/// Agents of a large world are looked at so many at a time.
inline constexpr int kLook = 16;

/// A distance within which there are `wanted` agents or more: every kLook-th agent makes a group,
/// the nearest of each group is one, and so many of these are no farther than the result.
template <class T>
GE_NOINLINE uint32_t enough(const W<T>& world, const Look& at, int wanted) {
  const W<T> w = world;
  const Look look = at;
  const int count = w.params().agent_count;
  uint32_t least[kLook], nearer[kLook];
  for (int k = 0; k < kLook; ++k) least[k] = kNever, nearer[k] = 0;
  for (int first = 0; first + kLook <= count; first += kLook)
    for (int k = 0; k < kLook; ++k) {
      const uint32_t one = distance_to<T>(w, look, first + k);
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

template <class T>
GE_NOINLINE void search(const W<T>& world, const Look& at, Nearest& nearest) {
  const W<T> w = world;
  const Look look = at;
  const int count = w.params().agent_count;
  // A table, since g++ does not vectorise over shifts by the loop's variable.
  constexpr uint32_t kBit[kLook] = {1,   2,   4,    8,    16,   32,   64,    128,
                                    256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  int first = 0;
  if constexpr (!T::small) {
    const uint32_t within = enough<T>(w, look, nearest.wanted);
    nearest.worst = within < kNever ? within + 1u : kNever;
    for (; first + kLook <= count; first += kLook) {
      uint32_t distance[kLook], any = 0;
      const uint32_t worst = nearest.worst;
      for (int k = 0; k < kLook; ++k) distance[k] = distance_to<T>(w, look, first + k);
      for (int k = 0; k < kLook; ++k) any |= distance[k] < worst ? kBit[k] : 0u;
      for (; any != 0; any &= any - 1)
        nearest.take(distance[lowest_one(any)], first + lowest_one(any));
    }
  }
  for (; first < count; ++first) nearest.take(distance_to<T>(w, look, first), first);
}
template <class T>
GE_FN void observe_nearest(const W<T>& w, FloatRow& row, Slot me, const Role&) {
  const int places = w.params().seen_count;
  const Sight own = sight_of<T>(w, me.row);
  Look look{own.x, own.y, me.row};
  int k = 0;
  for (bool more = true; more && k < places;) {
    Nearest nearest;
    nearest.wanted = places - k < Nearest::kMost ? places - k : Nearest::kMost;
    search<T>(w, look, nearest);
    for (int i = 0; i < nearest.held; ++i, ++k)
      show<T>(w, row, k, places, own, int(uint32_t(nearest.key[i])));
    more = nearest.held == Nearest::kMost;
    if (more) {
      const uint64_t last = nearest.key[Nearest::kMost - 1];
      look.last_distance = uint32_t(last >> 32), look.last_count = uint32_t(last) + 1u;
    }
  }
  row.set(kFeatures * places, time_of<T>(w));
}

template <class T>
consteval auto observation_of() {
  if constexpr (!T::full)
    return Stages<ge::Observe<&observe_nearest<T>>>{};
  else if constexpr (T::small)
    return Stages<ge::Observe<&observe_all<T>>>{};
  else
    return Stages<ge::Observe<&observe_crowd<T>>>{};
}

}  // namespace gpu_envs::envs::tag_continuous
