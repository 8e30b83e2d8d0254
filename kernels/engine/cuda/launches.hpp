// A graph as a list of launches. A phase is one launch over all worlds; a Rare after it makes that
// launch write the worlds that have its predicate into a worklist, and its inner phases launches
// over the list:
//
//   Phase<"step">, Rare<p, Phase<"renew">>, Phase<"observe">
//
//   step      all worlds         appends to list 0
//   renew     worlds of list 0
//   observe   all worlds         empties the lists
//
// No host ever reads a list's length, so a step can be captured. The order of a list is free:
// worlds are independent.
#pragma once

#include "engine/graph/graph.hpp"

namespace ge {

/// In place of the number of a worklist: a launch over every world, or one that fills no list.
inline constexpr int kNoList = -1;

/// One kernel: a phase, the worklist that it walks, the one that it fills by predicate P, and
/// whether it empties them all.
template <class PhaseT, int From, int To = kNoList, auto P = 0, bool kClose = false>
struct Launch {
  using phase = PhaseT;
  static constexpr int from = From;
  static constexpr int to = To;
  static constexpr auto predicate = P;
  static constexpr bool close = kClose;
};

namespace detail {

/// Phases without stages, where a graph has none to do a list's bookkeeping.
using CollectPhase = Phase<"collect", Lanes<1>>;
using ClosePhase = Phase<"close", Lanes<1>>;

/// Flatten<From, N, phases...>: worlds come from list From, lists below N are taken.
template <int From, int N, class... P>
struct Flatten {
  static constexpr int lists = N;
  using launches = Types<>;
};
template <int From, int N, Name kName, class L, class... X, class... More>
struct Flatten<From, N, Phase<kName, L, X...>, More...> {
  using Rest = Flatten<From, N, More...>;
  static constexpr int lists = Rest::lists;
  using launches = concat<Types<Launch<Phase<kName, L, X...>, From>>, typename Rest::launches>;
};
template <int From, int N, Name kName, class L, class... X, auto P, class... Inner, class... More>
struct Flatten<From, N, Phase<kName, L, X...>, Rare<P, Inner...>, More...> {
  using Within = Flatten<N, N + 1, Inner...>;
  using Rest = Flatten<From, Within::lists, More...>;
  static constexpr int lists = Rest::lists;
  using launches = concat<Types<Launch<Phase<kName, L, X...>, From, N, P>>,
                          typename Within::launches, typename Rest::launches>;
};
template <int From, int N, auto P, class... Inner, class... More>
struct Flatten<From, N, Rare<P, Inner...>, More...>
    : Flatten<From, N, CollectPhase, Rare<P, Inner...>, More...> {};

/// The last launch empties the lists, unless it reads or fills one itself; then a launch of its own
/// does.
template <class... L>
struct Closed;
template <class PhaseT, int From, int To, auto P>
struct Closed<Launch<PhaseT, From, To, P, false>> {
  using type = Types<Launch<PhaseT, From, To, P>, Launch<ClosePhase, kNoList, kNoList, 0, true>>;
};
template <class PhaseT>
struct Closed<Launch<PhaseT, kNoList, kNoList, 0, false>> {
  using type = Types<Launch<PhaseT, kNoList, kNoList, 0, true>>;
};
template <class First, class Second, class... Rest>
struct Closed<First, Second, Rest...> {
  using type = concat<Types<First>, typename Closed<Second, Rest...>::type>;
};

}  // namespace detail

template <class Graph>
struct Launches;
template <class... P>
struct Launches<Types<P...>> {
  using Flat = detail::Flatten<kNoList, 0, P...>;
  static constexpr int lists = Flat::lists;
  template <class L>
  struct Close;
  template <class... L>
  struct Close<Types<L...>> {
    using type = typename detail::Closed<L...>::type;
  };
  using type = typename std::conditional_t<(lists > 0), Close<typename Flat::launches>,
                                           Type_<typename Flat::launches>>::type;
};

/// The launches of a graph (a Types of phases) in running order, and how many worklists they use.
template <class Graph>
using launches_of = typename Launches<Graph>::type;
template <class Graph>
inline constexpr int kLists = Launches<Graph>::lists;

}  // namespace ge
