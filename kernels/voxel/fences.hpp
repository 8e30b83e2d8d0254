// Walls that stand turned about z, in games whose model has a table `Fences`, and says where the one
// of each row stands:
//
//   using Fences = ...;
//   static GE_FN Fence fence(const W& w, int row);
//
// Cameras see pieces of them: of a wall itself, and of what is fixed to it. `Shown`, a scratch list
// of Piece, has those that somebody may see:
//
//   static GE_FN int piece_count(const W& w);            // with those that are not there
//   static GE_FN bool is_piece_seen(const W& w, int k);
//   static GE_FN cameras::Solid piece(const W& w, int k);
//   using Shown = voxel::Shown<1764>;
//   static constexpr int kTurns = 2;                     // angles other than the axes' at which
//   static GE_FN cameras::Turn turn(int k);              // they stand
#pragma once

#include "voxel/rounded.hpp"
#include "voxel/tables.hpp"

namespace ge::voxel {

struct Fence {
  Vec3 at, half;  // half: of its length, thickness and height
  Flat along;     // of length 1
};
template <class M>
concept HasFences = requires { typename M::Fences; };
template <class M>
consteval int fence_room() {
  if constexpr (HasFences<M>)
    return M::Fences::capacity;
  else
    return 0;
}

/// Half of the box along the axes around a fence.
GE_FN Vec3 half_bounds(const Fence& fence) {
  const float x = abs(fence.along.x), y = abs(fence.along.y);
  return {x * fence.half.x + y * fence.half.y, y * fence.half.x + x * fence.half.y, fence.half.z};
}

struct Piece {
  int32_t number;
  static constexpr auto describe() {
    return fields(field("number", &Piece::number, "which piece of all fences"));
  }
};
template <int N>
struct Shown : List<N, Piece> {
  static constexpr const char* name = "shown";
  static constexpr bool scratch = true;
};

}  // namespace ge::voxel
