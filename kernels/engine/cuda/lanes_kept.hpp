// Which of the numbers of lanes that a phase lists are compiled for a GPU. Each is a kernel of its
// own, and half of a small environment's compile time and of its bytes would be kernels that no
// simulator has ever a reason to choose:
//
//   reset, observe   the first. Resets of whole batches are rare, and `observe` writes what the end
//                    of a step writes too, where the number that was found for the step holds
//   one row          1. A world of one row in every table gives a group's other lanes nothing to
//                    do, and with one lane the record passes through registers
//                    (GroupPlan::whole_record)
//   any other step   all of them: scripts/tune.py finds which is best
//
// A build with GE_ALL_LANES keeps all of them, so that the rule itself can be timed and recorded
// hashes be compared with 1, 8 and 32 lanes.
#pragma once

#include "engine/cuda/group_plan.hpp"

namespace ge {

namespace detail {

template <class... Ts>
consteval bool have_one_row(Types<Ts...>) {
  return ((Ts::capacity == 1) && ...);
}

/// Whether several lanes have something to do in a stage over a table of one row.
template <class E, class X>
struct SharesRows {
  template <class... Inner>
  static consteval bool any(Types<Inner...>) {
    return (SharesRows<E, Inner>::value || ...);
  }
  static constexpr bool value = any(typename InnerOf<X>::type{});
};
template <class E, auto F>
struct SharesRows<E, EachTogether<F>> : std::true_type {};
template <class E, auto Count, auto Test, auto Make, class T>
struct SharesRows<E, Emit<Count, Test, Make, T>> : std::true_type {};  // its indices are shared out
template <class E, Output kOutput, auto F>
struct SharesRows<E, Show<kOutput, F>>
    : std::bool_constant<ge::Wide<row_of<E, kOutput>> || AnyImage<row_of<E, kOutput>>> {};

}  // namespace detail

/// The kept ones of Lanes<...>, the default first; kStep: of a phase of the step graph.
template <class E, bool kStep, Name kName, int kFirst, int... kMore, class... X>
consteval auto lanes_kept(Phase<kName, Lanes<kFirst, kMore...>, X...>) {
#if defined(GE_ALL_LANES)
  return Lanes<kFirst, kMore...>{};
#else
  constexpr bool one = detail::have_one_row(AllTables<typename E::Schema>{}) &&
                       !(detail::SharesRows<E, X>::value || ...);
  constexpr bool has_one = kFirst == 1 || ((kMore == 1) || ...);
  if constexpr (one && has_one)
    return Lanes<1>{};
  else if constexpr (one || !kStep)
    return Lanes<kFirst>{};
  else
    return Lanes<kFirst, kMore...>{};
#endif
}

}  // namespace ge
