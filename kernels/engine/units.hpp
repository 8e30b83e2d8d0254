// An environment that takes long to compile is several units, side by side: its header says
// `inline constexpr int kUnits = 2;`, the number of its tiers, and unit k compiles what runs tier k.
// Unit 0 has all the rest. Written by the build into each unit (templates/unit.in): GE_UNIT, which
// one, and GE_UNITS, of how many.
#pragma once

#include "engine/build.hpp"

namespace ge {

/// All tiers of all builds, in order.
template <class>
struct TiersOf;
template <Name... kId, class... Tiers>
struct TiersOf<Builds<Build<kId, Tiers>...>> {
  using type = Types<Tiers...>;
};
template <Name kId, class... Tiers>
struct TiersOf<Builds<Build<kId, Tiers...>>> {
  using type = Types<Tiers...>;
};

template <int kIndex, class List>
struct TierAt;
template <int kIndex, class First, class... Rest>
struct TierAt<kIndex, Types<First, Rest...>> : TierAt<kIndex - 1, Types<Rest...>> {};
template <class First, class... Rest>
struct TierAt<0, Types<First, Rest...>> {
  using type = First;
};

/// How many tiers a list has.
template <class... T>
constexpr int tier_count(Types<T...>) {
  return int(sizeof...(T));
}

}  // namespace ge

/// Says, or with an empty first argument decides, that tier k of an environment is compiled in one
/// unit.
#define GE_TIER(elsewhere, Factory, B, k)                                   \
  elsewhere template std::unique_ptr<ge::Simulator>                         \
      ge::make_planned<Factory, ge::TierAt<k, ge::TiersOf<B>::type>::type>( \
          ge::Plan<ge::TierAt<k, ge::TiersOf<B>::type>::type>);
