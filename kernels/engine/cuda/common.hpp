// What the worlds of a block have in common, beside the records: where it is known, a warp that
// brings its worlds' records into registers need not read those words.
//
//   quiet     no episode is over and no agent has ended, as after every step with SameStep: two
//             words of a record are zero
//   one seed  world k of the block draws as number first + k of one seed: three words of a record
//             are numbers of the block
//
// It lies in device memory and is updated by the launches that change those words, so a captured
// step uses the facts that hold when it is replayed. Zero (no facts) is always valid: a simulator
// begins so, and other writers of records reset it.
#pragma once

#include "engine/cuda/group_plan.hpp"

namespace ge {

struct alignas(16) Common {
  uint32_t known;
  uint32_t seed_low, seed_high, first;  // with kOneSeed
  static constexpr uint32_t kQuiet = 1, kOneSeed = 2, kSeedsSeen = 4;
};

/// Worlds of a block: those of a warp of which each lane owns one.
inline constexpr int kInCommon = 32;
template <class S>
inline constexpr bool has_common = is_small_record<AllTables<S>> && kBlock<S> == kInCommon;

/// Words that Common may know.
template <class S, class T, class C>
inline constexpr bool is_common = std::is_same_v<C, Identity> || std::is_same_v<C, Progress> ||
                                  (contains<T, agent_tables_of<S>> && std::is_same_v<C, Fate>);

/// Copies a world's record: `visit` of Walk. kCommon: what Common may know, else the rest, which is
/// asked for first, since it waits for nothing.
template <class S, bool kCommon>
struct BringRecord {
  const Cells<S>&from, &to;
  const Common& common;

  template <class T>
  GE_FN void header(int64_t) {}
  template <class T, class C>
  GE_FN void column(int64_t) {
    if constexpr (is_common<S, T, C> != kCommon) {
      return;
    } else if constexpr (!kCommon) {
      to.template store<T, C>(0, from.template load<T, C>(0));
    } else if constexpr (std::is_same_v<C, Identity>) {
      if ((common.known & Common::kOneSeed) != 0)
        to.template store<T, C>(
            0, {common.seed_low, common.seed_high, common.first + uint32_t(from.lane)});
      else
        to.template store<T, C>(0, from.template load<T, C>(0));
    } else {
      to.template store<T, C>(
          0, (common.known & Common::kQuiet) != 0 ? C{} : from.template load<T, C>(0));
    }
  }
};

/// Records the facts that hold for the warp's worlds now. `was` is what its lanes found, `before`
/// and `own` are their records then and now. All lanes take part; lanes without a world, the last,
/// are not `on`.
template <class Service, class S>
GE_FN void note_common(Common* at, const Common& was, const Cells<S>& before, const Cells<S>& own,
                       bool on, int lane) {
  Service::template enter<Common>();
  Identity old{}, id{};
  uint32_t unrest = 0;
  if (on) {
    old = before.template load<EpisodeTable, Identity>(0);
    id = own.template load<EpisodeTable, Identity>(0);
    unrest = own.template load<EpisodeTable, Progress>(0).over;
    for_each_type(agent_tables_of<S>{}, [&](auto agents) GE_LAMBDA {
      unrest |= own.template load<typename decltype(agents)::type, Fate>(0).bits;
    });
  }
  const bool changed =
      id.seed_low != old.seed_low || id.seed_high != old.seed_high || id.world != old.world;
  Common now = was;
  if (Service::any(on && (changed || (was.known & Common::kSeedsSeen) == 0))) {
    now = {Common::kSeedsSeen, Service::shuffle(id.seed_low, 0), Service::shuffle(id.seed_high, 0),
           Service::shuffle(id.world, 0)};
    const bool same = id.seed_low == now.seed_low && id.seed_high == now.seed_high &&
                      id.world == now.first + uint32_t(lane);
    if (!Service::any(on && !same)) now.known |= Common::kOneSeed;
  }
  now.known &= ~Common::kQuiet;
  if (!Service::any(unrest != 0)) now.known |= Common::kQuiet;
  const bool news = now.known != was.known || now.seed_low != was.seed_low ||
                    now.seed_high != was.seed_high || now.first != was.first;
  if (lane == 0 && on && news) {
    GE_WATCH(at, sizeof now, true);
    *at = now;
  }
}

}  // namespace ge
