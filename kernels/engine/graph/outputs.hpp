// Which types of rows an environment names for which outputs. Every layer that goes through the
// outputs of an environment goes through these: its plan, its executors, its description.
#pragma once

#include <utility>

#include "engine/base/boundary.hpp"
#include "engine/base/types.hpp"
#include "engine/world/varied.hpp"

namespace ge {

/// The type of a row of `kOutput` that E names; none where it names none, and for what the life
/// cycle writes.
template <class E, Output kOutput>
struct RowOfOutput {
  static constexpr bool exists = false;
};

#define GE_ROWS_OF(kOutput, Row)           \
  template <class E>                       \
    requires requires { typename E::Row; } \
  struct RowOfOutput<E, kOutput> {         \
    static constexpr bool exists = true;   \
    using type = typename E::Row;          \
  };
GE_ROWS_OF(kObservation, Observation)
GE_ROWS_OF(kFinalObservation, Observation)
GE_ROWS_OF(kActionMask, ActionMask)
GE_ROWS_OF(kState, State)
GE_ROWS_OF(kRewardParts, RewardParts)
GE_ROWS_OF(kFinalState, State)
GE_ROWS_OF(kNumbers, Numbers)
GE_ROWS_OF(kFinalNumbers, Numbers)
GE_ROWS_OF(kMeasures, Measures)
#undef GE_ROWS_OF
/// The engine's own row: what differs by world.
template <class E>
  requires has_varied<typename E::Schema>
struct RowOfOutput<E, kParameters> {
  static constexpr bool exists = true;
  using type = ParameterRow<typename E::Schema>;
};

template <class E, Output kOutput>
inline constexpr bool has_rows = RowOfOutput<E, kOutput>::exists;
template <class E, Output kOutput>
using row_of = typename RowOfOutput<E, kOutput>::type;

/// The output that receives rows of `kOutput` where an episode ended: final observations and last
/// states have arrays of their own, other rows are dropped.
template <Output kOutput>
inline constexpr Output kFinalOf = kOutput == kObservation ? kFinalObservation
                                   : kOutput == kState     ? kFinalState
                                   : kOutput == kNumbers   ? kFinalNumbers
                                                           : kOutput;
template <Output kOutput>
GE_FN constexpr bool is_made(bool into_final) {
  return kFinalOf<kOutput> != kOutput || !into_final;
}
template <Output kOutput>
GE_FN constexpr Output target_of(bool into_final) {
  return into_final ? kFinalOf<kOutput> : kOutput;
}

/// Calls f(Output constant, Type_<Row>) for each output whose rows E names, in order.
template <class E, class F>
constexpr void for_each_row_type(F&& f) {
  [&]<int... o>(std::integer_sequence<int, o...>) {
    const auto visit = [&]<Output kOutput>(std::integral_constant<Output, kOutput> output) {
      if constexpr (has_rows<E, kOutput>) f(output, Type_<row_of<E, kOutput>>{});
    };
    (visit(std::integral_constant<Output, Output(o)>{}), ...);
  }(std::make_integer_sequence<int, kOutputCount>{});
}

}  // namespace ge
