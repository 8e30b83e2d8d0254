// Which of the numbers of lanes that a phase lists are compiled for a GPU. Each is a kernel of its
// own, and half of the compile time would be kernels that no measurement has asked for:
//
//   its own   one number, which runs unless something else is asked for (own_lanes, below)
//   tuned     the numbers that tuning_table.hpp names for this phase of a step: scripts/gpu/tune.py
//             puts them there once a GPU has timed them
//
// A build with GE_ALL_LANES has all that are listed, so that they can be timed, and recorded hashes
// be compared with 1, 8 and 32 lanes. What runs by itself is the same in every build.
#pragma once

#include <string_view>

#include "engine/cuda/group_plan.hpp"
#include "engine/cuda/shapes.hpp"
#include "engine/simulator/build.hpp"
#include "engine/world/roles.hpp"

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
template <class E, Output kOutput, auto F, class R>
struct SharesRows<E, Show<kOutput, F, R>>
    : std::bool_constant<ge::Wide<shown_row<E, kOutput, R>> || AnyImage<shown_row<E, kOutput, R>>> {
};

/// The batch and the GPU that lanes are chosen for: as many agents as scripts/gpu/tune.py times,
/// and the multiprocessors of an H100 or H200.
inline constexpr int64_t kUsualAgents = 1 << 20;
inline constexpr int kUsualProcessors = 132;

}  // namespace detail

/// The lanes per world that a phase runs with where nobody asks and nothing is tuned:
///
///   one row     1, where it is listed. A world of one row in every table gives a group's other
///               lanes nothing to do, and with one lane the record passes through registers
///               (GroupPlan::whole_record)
///   few worlds  the most that are listed for which the GPU is not yet full with kUsualAgents
///               agents: worlds of a thousand agents are so few that one lane each leaves it idle
///   others      the first that is listed
///
/// The number of agents is that of the tier's capacity; where any number may be, or agents have
/// several roles, the first that is listed runs.
template <class E, Name kName, int kFirst, int... kMore, class... X>
consteval int own_lanes(Phase<kName, Lanes<kFirst, kMore...>, X...>) {
  using S = typename E::Schema;
  constexpr bool one =
      detail::have_one_row(AllTables<S>{}) && !(detail::SharesRows<E, X>::value || ...);
  if constexpr (one && (kFirst == 1 || ((kMore == 1) || ...))) return 1;
  constexpr int agents = has_one_role<S> ? TypeAt<0, agent_tables_of<S>>::type::capacity : kAny;
  int lanes = kFirst;
  if (one || agents == kAny) return lanes;
  const cuda::Wanted usual{detail::kUsualAgents / agents, false, 0, 0};
  const auto prefer = [&](int more) {
    if (more > lanes && cuda::are_few(usual, more, detail::kUsualProcessors)) lanes = more;
  };
  (prefer(kMore), ...);
  return lanes;
}

/// The numbers of lanes that rows of a tuning table name, whatever the GPU, for a phase of E, which
/// is a tier of one of these builds.
template <class E, Name kPhase, const auto& kRows, class... B>
consteval LaneCounts tuned_lanes(Builds<B...>) {
  LaneCounts found(0);
  int count = 0;
  const auto note = [&](int lanes) {
    for (int k = 0; k < count; ++k)
      if (found.at[k] == lanes) return;
    found.at[count++] = lanes;  // a fifth does not compile
  };
  const auto look = [&]<Name kId, class... Tiers>(Build<kId, Tiers...>) {
    int tier = 0;
    const auto of_tier = [&](bool is_own) {
      for (const cuda::Tuning& row : kRows)
        if (is_own && row.tier == tier && std::string_view(row.environment) == kId.text &&
            std::string_view(row.phase) == kPhase.text)
          note(row.lanes);
      ++tier;
    };
    (of_tier(std::is_same_v<E, Tiers>), ...);
  };
  (look(B{}), ...);
  return found;
}

/// Whether a phase is compiled for a number of lanes that is not its own.
template <LaneCounts kTuned>
consteval bool keeps_lanes([[maybe_unused]] int lanes) {
#if defined(GE_ALL_LANES)
  return true;
#else
  for (const int tuned : kTuned.at)
    if (tuned == lanes) return true;
  return false;
#endif
}

}  // namespace ge
