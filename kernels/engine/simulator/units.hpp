// An environment that takes long to compile is several units, side by side: its header says `inline
// constexpr int kUnits = 2;`, the number of its tiers, at most 8, and unit k compiles what runs
// tier k. Unit 0 has all the rest. Written by the build into each unit (templates/unit.in):
// GE_UNIT, which one, and GE_UNITS, of how many.
#pragma once

#include "engine/simulator/build.hpp"

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

}  // namespace ge

/// Says, or with an empty first argument decides, that tier k of an environment is compiled in one
/// unit.
#define GE_TIER(elsewhere, Factory, B, k)                                   \
  elsewhere template std::unique_ptr<ge::Simulator>                         \
      ge::make_planned<Factory, ge::TypeAt<k, ge::TiersOf<B>::type>::type>( \
          ge::Plan<ge::TypeAt<k, ge::TiersOf<B>::type>::type>);             \
  elsewhere template std::shared_ptr<const ge::cuda::LaunchList>            \
  ge::list_planned<Factory, ge::TypeAt<k, ge::TiersOf<B>::type>::type>(     \
      const ge::Plan<ge::TypeAt<k, ge::TiersOf<B>::type>::type>&);

/// Says in unit 0 that all other tiers of an environment of n units are compiled elsewhere.
#define GE_TIERS_ELSEWHERE(n, Factory, B) GE_TIERS_ELSEWHERE_(n, Factory, B)
#define GE_TIERS_ELSEWHERE_(n, Factory, B) GE_TIERS_##n(Factory, B)
#define GE_TIERS_1(Factory, B)
#define GE_TIERS_2(Factory, B) GE_TIER(extern, Factory, B, 1)
#define GE_TIERS_3(Factory, B) GE_TIERS_2(Factory, B) GE_TIER(extern, Factory, B, 2)
#define GE_TIERS_4(Factory, B) GE_TIERS_3(Factory, B) GE_TIER(extern, Factory, B, 3)
#define GE_TIERS_5(Factory, B) GE_TIERS_4(Factory, B) GE_TIER(extern, Factory, B, 4)
#define GE_TIERS_6(Factory, B) GE_TIERS_5(Factory, B) GE_TIER(extern, Factory, B, 5)
#define GE_TIERS_7(Factory, B) GE_TIERS_6(Factory, B) GE_TIER(extern, Factory, B, 6)
#define GE_TIERS_8(Factory, B) GE_TIERS_7(Factory, B) GE_TIER(extern, Factory, B, 7)
