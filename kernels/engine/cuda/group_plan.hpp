// The needs of one phase with G lanes per world, computed at compile time: which stages meet their
// team, the shared memory in which rows are staged, and the size and place of a world's scratch.
#pragma once

#include "engine/cuda/launches.hpp"
#include "engine/cuda/rows.hpp"
#include "engine/graph/lifetimes.hpp"
#include "engine/graph/role_rows.hpp"

namespace ge {

// ---- what a stage contains, and what it needs of its team

/// Bytes of shared memory for the rows that a stage hands out, and whether its team meets in it
/// even with G = 1.
template <class E, int G, class X>
struct StageNeeds {
  template <class... Inner>
  static consteval int most(Types<Inner...>) {
    int bytes = 0;
    ((bytes = StageNeeds<E, G, Inner>::bytes > bytes ? StageNeeds<E, G, Inner>::bytes : bytes),
     ...);
    return bytes;
  }
  template <class... Inner>
  static consteval bool any(Types<Inner...>) {
    return (StageNeeds<E, G, Inner>::meets || ...);
  }
  static constexpr int bytes = most(typename InnerOf<X>::type{});
  static constexpr bool meets = any(typename InnerOf<X>::type{});
};
/// Needs of the rows of one output; direct: the owner of a row stores it by itself.
template <class Row, int kRows, int G>
struct OutputNeeds {
  using Plan = StagingPlan<Row, kRows, G>;
  static constexpr int bytes = Plan::shared;
  static constexpr bool meets = Plan::staging, direct = Plan::direct;
};
template <Wide Row, int kRows, int G>
struct OutputNeeds<Row, kRows, G> {
  static constexpr int bytes = WidePlan::shared;
  static constexpr bool meets = true, direct = false;
};
template <AnyImage Row, int kRows, int G>
struct OutputNeeds<Row, kRows, G> {  // squads draw where the pictures lie
  static constexpr int bytes = 0;
  static constexpr bool meets = false, direct = false;
};
struct NoNeeds {
  static constexpr int bytes = 0;
  static constexpr bool meets = false;
};
template <class R, bool kOfWorld>
inline constexpr int rows_per_world = R::Agent::capacity;
template <class R>
inline constexpr int rows_per_world<R, true> = 1;
template <class E, int G, Output kOutput, auto F, class R>
struct StageNeeds<E, G, Show<kOutput, F, R>>
    : std::conditional_t<wants_squad<F>, NoNeeds,
                         OutputNeeds<shown_row<E, kOutput, R>,
                                     rows_per_world<R, has_trait(kOutput, kOfAWorld)>, G>> {};
/// Whether lanes other than its own clear a row of final observations.
template <class E, int G, class... Rs>
consteval bool clears_together(Types<Rs...>) {
  return sizeof...(Rs) > 1 ||
         (!OutputNeeds<role_row<E, Rs, kObservation>, Rs::Agent::capacity, G>::direct || ...);
}
template <class E, int G>
struct StageNeeds<E, G, ClearFinal> {
  static constexpr int bytes = 0;
  static constexpr bool meets =
      has_rows<E, kFinalState> || clears_together<E, G>(roles_of<typename E::Schema>{});
};

template <class X>
inline constexpr bool is_write_stage = false;
template <Output O, auto F, class R>
inline constexpr bool is_write_stage<Write<O, F, R>> = true;

// ---- scratch memory

template <class... Ts>
consteval int largest_pool_words(Types<Ts...>) {
  int words = 0;
  ((words = Ts::kind == Kind::pool && kLiveWords<Ts> > words ? kLiveWords<Ts> : words), ...);
  return words;
}
/// Whether a world's scratch is a handful of numbers at fixed places, which a lane that owns the
/// world keeps in registers.
template <class... Ts>
consteval bool scratch_is_flat(Types<Ts...>) {
  bool flat = true;
  auto look = [&]<class T, class... Cs>(Type_<T>, Types<Cs...>) {
    const bool any = T::scratch || (in_scratch<T, Cs> || ...);
    flat = flat && T::kind != Kind::pool && !(any && (T::capacity > 1 || T::kind != Kind::fixed));
  };
  (look(Type_<Ts>{}, typename Ts::components{}), ...);
  return flat;
}

/// Whether a world's record is a handful of numbers at fixed places too, but for its own
/// parameters, which stay where they are.
template <class... Ts>
consteval bool record_is_flat(Types<Ts...>) {
  return ((Ts::scratch || is_own<Ts> || (Ts::kind == Kind::fixed && Ts::capacity == 1)) && ...);
}

template <class Tables>
inline constexpr bool is_small_record = record_is_flat(Tables{}) && kRecordBytes<Tables> <= 128;

/// Lanes that a world gets in a stage that runs as a group does.
inline constexpr int kFlatTeam = 64;
/// The phase that the flat executor runs by such teams: one stage, or none.
template <class... X>
using FlatPhase = Phase<"flat", Lanes<kFlatTeam>, X...>;
/// Whether a phase has all scratch memory, whatever its stages name: a flat stage reads values that
/// an earlier one wrote.
template <class PhaseT>
inline constexpr bool has_all_scratch = false;
template <class... X>
inline constexpr bool has_all_scratch<FlatPhase<X...>> = true;

/// Sizes of one phase with G lanes per world.
template <class E, class PhaseT, int G>
struct GroupPlan;
template <class E, Name kName, class L, class... X, int G>
struct GroupPlan<E, Phase<kName, L, X...>, G> {
  static_assert((G & (G - 1)) == 0 && G >= 1 && G <= 256,
                "GE: lanes per world are 1, 2, 4, ... 256");
  using Tables = AllTables<typename E::Schema>;
  static constexpr int team = G < 32 ? 32 : G;
  static constexpr int worlds = team / G;
  // Scratch memory covers only the lifetimes that the phase's stages name. The bitmap of the rows
  // that Destroy has found lies behind it. Sizes of tables of any number of rows are added below.
  static constexpr bool any = has_any<Tables>;
  static constexpr uint32_t lifetimes = lifetimes_of_stages<typename E::Schema>(Types<X...>{});
  static constexpr int roomy_lifetime = kTuning<typename E::Schema>.roomy_lifetime;
  static constexpr bool has_roomy = roomy_lifetime > 0 && (lifetimes >> roomy_lifetime & 1u) != 0;
  static_assert(roomy_lifetime == 0 || !any, "GE: no roomy_lifetime with tables of kAny rows");
  static constexpr int tables =
      any || has_all_scratch<Phase<kName, L, X...>>
          ? kScratchBytes<Tables>
          : scratch_of_lifetimes<Tables>(lifetimes & ~(has_roomy ? 1u << roomy_lifetime : 0u));
  static constexpr int world_scratch = int(round_up(tables + 4 * largest_pool_words(Tables{}), 16));
  // What lies in the slab in every case: of a world, and of a team.
  static constexpr int world_roomy =
      has_roomy
          ? int(round_up(kRoomy<typename E::Schema>.end - kRoomy<typename E::Schema>.first, 16))
          : 0;
  static constexpr bool registers =
      G == 1 && !any && scratch_is_flat(Tables{}) && world_scratch <= 256;
  // A lane that owns a world brings a small record into registers, all loads at once, and stores
  // what has changed: stage by stage, each load would wait for a branch or for stores to the
  // caller's arrays, which might be the record for all that the compiler knows.
  static constexpr bool whole_record = G == 1 && is_small_record<Tables>;
  static constexpr int stride =
      G == 1 && !registers ? 32 : 1;  // worlds interleaved in scratch memory
  static constexpr int scratch = registers ? 0 : worlds * world_scratch;  // bytes of a team, known
  static constexpr int roomy = worlds * world_roomy;
  static_assert(roomy == 0 || !registers);
  static constexpr int stage =
      StageNeeds<E, G, Stages<X...>>::most(Types<X...>{});  // bytes of a team
  static constexpr bool meets = StageNeeds<E, G, Stages<X...>>::any(Types<X...>{});
  template <class Params>
  static GE_FN int64_t bitmap([[maybe_unused]] const Params& params) {
    if constexpr (!any) return tables;
    return ge::scratch_bytes<Tables>(params);
  }
  /// Bytes of a world's scratch and of a team's.
  template <class Params>
  static GE_FN int64_t world_scratch_of(const Params& params) {
    if constexpr (!any) return world_scratch;
    return round_up(bitmap(params) + 4 * largest_pool_words(Tables{}), 16);
  }
  template <class Params>
  static GE_FN int64_t scratch_of(const Params& params) {
    return registers ? 0 : worlds * world_scratch_of(params);
  }
  // Room for the most lanes, 256: eight warps of four bytes.
  static constexpr int counts = G > 32 ? 64 : 0;  // bytes of a block: hits of its warps, twice
};

/// The barrier of the lanes of a team: of their block where they are more than a warp.
template <int G, class Service>
GE_FN void sync_team() {
  if constexpr (G > 32)
    Service::sync_block();
  else
    Service::sync_warp();
}

/// A group's place among the threads of its block.
struct GroupPlace {
  int lane;   // in the group
  int group;  // in the team
  int team_lane;
  int team_first;  // world of the team's first group, where worlds follow one another; else kNoList
  char* stage;     // of the team
  int32_t* counts;  // of the block
};

}  // namespace ge
