// Lists of stages as values, so that what the life cycle adds to an environment's rules can be
// written down in the order in which it runs (episode.hpp):
//
//   Stages<A, B>{} + Stages<C>{}          A, B, C
//   when<&p>(stages)                      for worlds that have p
//   in_mode<Autoreset::same_step>(...)    in simulators made with this Autoreset or Ends
//   unless_resting(...), if_stepped(...), into_final(...)  see graph.hpp: WhenRunning, WhenStepped,
//                                         IntoFinal
//   phase<"step", lanes>(stages)          one kernel of a GPU
//   rare<&p>(a, ...)                     phases for worlds that have p, over a list of them
//   phases(a, b, ...)                     kernels, one after the other
//
// The values are empty: all of it happens while the compiler runs, and decltype of the result is
// the graph.
#pragma once

#include <utility>

#include "engine/graph/graph.hpp"
#include "engine/world/tuning.hpp"

namespace ge {

template <class... X, class... Y>
consteval Stages<X..., Y...> operator+(Stages<X...>, Stages<Y...>) {
  return {};
}

template <auto P, class... X>
consteval Stages<When<P, X...>> when(Stages<X...>) {
  return {};
}
template <auto kChoice, class... X>
consteval Stages<InMode<kChoice, X...>> in_mode(Stages<X...>) {
  return {};
}
template <class... X>
consteval Stages<WhenRunning<X...>> unless_resting(Stages<X...>) {
  return {};
}
template <class... X>
consteval Stages<WhenStepped<X...>> if_stepped(Stages<X...>) {
  return {};
}
template <class... X>
consteval Stages<IntoFinal<X...>> into_final(Stages<X...>) {
  return {};
}

template <LaneCounts kCounts>
consteval auto lanes_of() {
  constexpr int count = [] {
    int n = 0;
    for (const int lanes : kCounts.at) n += lanes > 0 ? 1 : 0;
    return n;
  }();
  return []<int... k>(std::integer_sequence<int, k...>) {
    return Lanes<kCounts.at[k]...>{};
  }(std::make_integer_sequence<int, count>{});
}
template <Name kName, LaneCounts kLanes, class... X>
consteval Phase<kName, decltype(lanes_of<kLanes>()), X...> phase(Stages<X...>) {
  static_assert(nesting(Types<X...>{}) <= kMostNested,
                "GE: stages are nested too deeply: When in When, ..., the life cycle's included");
  return {};
}
template <auto P, class... Inner>
consteval Rare<P, Inner...> rare(Inner...) {
  return {};
}
template <class... P>
consteval Types<P...> phases(P...) {
  return {};
}

}  // namespace ge
