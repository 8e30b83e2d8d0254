// The tables of a voxel game that has room for R. A game adds its agents, its one row of numbers and
// what it draws levels with:
//
//   struct Room {
//     static constexpr int parts = 24;     // floors and walls, before and after they are merged
//     static constexpr int marks = 8, boxes = 80, diamonds = 0;
//   };
//   struct Game : voxel::Tables<Room> { ... };
#pragma once

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

}  // namespace ge::voxel
