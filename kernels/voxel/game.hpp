// The schema of a voxel game, and its tables with room for R. A game adds components of its agents,
// its one row of numbers and what it draws levels with:
//
//   using Players = voxel::PlayersOf<Params, Parts>;
//   struct Room {
//     static constexpr int parts = 24;     // floors and walls, before and after they are merged
//     static constexpr int marks = 8, boxes = 80, diamonds = 0;
//   };
//   struct Game : voxel::Tables<Room> {
//     using Agents = Players;
//     struct Schema : voxel::SchemaOf<Settings, Params, Varied, voxel::Laid, Players> {
//       using tables = Types<Agents, Statics, ...>;
//     };
//   };
#pragma once

#include "voxel/layout.hpp"
#include "voxel/painting.hpp"
#include "voxel/solids.hpp"

namespace ge::voxel {

template <class R, class... Looks>
struct Tables {
  template <bool kThere, class T>
  using If = std::conditional_t<kThere, T, NoTable>;
  static constexpr int kMarkRows = R::marks > 0 ? R::marks : 1;
  static constexpr int kDiamondRows = R::diamonds > 0 ? R::diamonds : 1;
  static constexpr bool kDiamondColours = false;  // red ones are bad

  using Statics = voxel::Statics<R::parts>;
  using Crates = voxel::Crates<R::boxes, Looks...>;
  using Marks = If<(R::marks > 0), voxel::Marks<kMarkRows>>;
  using Diamonds = If<(R::diamonds > 0), voxel::Diamonds<kDiamondRows>>;
  // A level while it is made.
  using Canvas = voxel::Canvas<R::parts>;
  using Offcuts = voxel::Offcuts<2 * R::parts>;
  using Stock = voxel::Stock<R::boxes, Looks...>;
  using Fields = If<(R::marks > 0), voxel::Fields<kMarkRows>>;
  using Gems = If<(R::diamonds > 0), voxel::Gems<kDiamondRows>>;
  using Solids = voxel::Solids<R::parts + R::marks + R::boxes + 2 * R::diamonds + 2 * kMostAgents>;
};

/// Bodies meet different things at every turn: nothing is gained from interleaved worlds.
inline constexpr Tuning kTuning{.cpu_block = 1,
                                .cuda_block = 1,
                                .step_lanes = {32},  // last pictures are drawn by squads
                                .reset_lanes = {8},
                                .observe_lanes = {128},
                                .rare_resets = true,
                                .most_threads = 128};

/// The table of the learners: what all voxel games have, and components of the game's own. P:
/// parameters with `agent_count`.
template <class P, class... Own>
struct PlayersOf : Agents<kMostAgents, Act, Body, Hands, Home, Own...> {
  static constexpr const char* name = "agents";
  static GE_FN constexpr int count(const P& params) { return params.agent_count; }
};

/// The table of the learners in a game without things to carry: they have no hands.
template <class P, class... Own>
struct WalkersOf : Agents<kMostAgents, Act, Body, Home, Own...> {
  static constexpr const char* name = "agents";
  static GE_FN constexpr int count(const P& params) { return params.agent_count; }
};

/// The schema of a game without its `tables`. S: settings, P: parameters, V: those that may differ
/// by world, O: options, A: agents. The namespace of S and P has `P resolve_settings(S&)`,
/// `const char* problem_of(const V&, const P&)` and `O read_layout(text, params)`.
template <class S, class P, class V, class O, class A>
struct SchemaOf {
  using Settings = S;
  using Params = P;
  using Varied = V;
  using Options = O;
  using ResetSettings = LayoutSettings;
  using Action = Act;
  using Agent = A;
  static constexpr Tuning tuning = kTuning;
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
  static const char* problem(const Varied& varied, const Params& params) {
    return problem_of(varied, params);
  }
  static Options resolve_options(const ResetSettings& settings, const Params& params) {
    return read_layout(settings.layout, params);
  }
};

}  // namespace ge::voxel
