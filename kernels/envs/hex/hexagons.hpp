// A field of hexagonal cells around the world's origin, and the edges between them.
//
// Cell (u, v) has its middle at x = 3.5 sqrt(3) (u / 2 + v) m, y = 3.5 (3 / 2) u m; its six
// neighbours lie in ways 0 to 5, counter-clockwise from +x. A field of `side` has all cells with
// |u|, |v| and |u + v| below side: 3 side (side - 1) + 1 of them.
#pragma once

#include "engine/environment.hpp"
#include "voxel/fences.hpp"

namespace gpu_envs::envs::hex {

using namespace ge;
namespace voxel = ge::voxel;
using voxel::Flat;
using voxel::Vec3;

inline constexpr int kMostSide = 7, kAcross = 2 * kMostSide - 1;
/// Numbers of cells, of all that fit into kAcross rows and columns: more than there are cells.
inline constexpr int kNumbers = kAcross * kAcross;
inline constexpr int kWays = 6,
                     kOwnWays = 3;  // an edge within a field is way 0, 1 or 2 of one cell
/// In a field of the greatest side.
inline constexpr int kMostCells = 3 * kMostSide * (kMostSide - 1) + 1;
inline constexpr int kOuterEdges = 6 * (2 * kMostSide - 1);
inline constexpr int kInnerEdges = (6 * kMostCells - kOuterEdges) / 2;

inline constexpr float kSide = 3.5f;  // length of an edge [m]
inline constexpr float kRoot3 = 0x1.bb67aep+0f;
inline constexpr float kInner = 0.5f * kRoot3 * kSide;  // from a middle to an edge [m]

struct Hex {
  int32_t u, v;
};
GE_FN bool operator==(const Hex& a, const Hex& b) {
  return (a.u == b.u) & (a.v == b.v);
}
GE_FN Hex hex_of(int number) {
  return {number / kAcross - (kMostSide - 1), number % kAcross - (kMostSide - 1)};
}
GE_FN int number_of(const Hex& at) {
  return (at.u + kMostSide - 1) * kAcross + at.v + kMostSide - 1;
}
GE_FN bool is_within(const Hex& at, int side) {
  const int sum = at.u + at.v;
  return (at.u < side) & (-at.u < side) & (at.v < side) & (-at.v < side) & (sum < side) &
         (-sum < side);
}
/// The cell next to (0, 0) in a way.
GE_FN Hex step_of(int way) {
  return {int{(way == 1) | (way == 2)} - int{(way == 4) | (way == 5)},
          int{(way == 0) | (way == 5)} - int{(way == 2) | (way == 3)}};
}
GE_FN Hex beside(const Hex& at, int way) {
  const Hex step = step_of(way);
  return {at.u + step.u, at.v + step.v};
}
GE_FN int opposite(int way) {
  return way < kOwnWays ? way + kOwnWays : way - kOwnWays;
}
/// A way as a vector of length 1.
GE_FN Flat direction_of(int way) {
  const Hex step = step_of(way);
  return {0.5f * float(step.u) + float(step.v), 0.5f * kRoot3 * float(step.u)};
}
GE_FN Vec3 middle_of(const Hex& at) {
  return {kSide * kRoot3 * (0.5f * float(at.u) + float(at.v)), kSide * 1.5f * float(at.u), 0.0f};
}
GE_FN int cell_count(int side) {
  return 3 * side * (side - 1) + 1;
}
/// The cell in which a point lies, or its neighbour where the point is on an edge. It may lie out
/// of any field.
GE_FN Hex hex_at(Vec3 p) {
  constexpr float kFarthest = 1000.0f;
  const float u = clamp(p.y * (1.0f / (1.5f * kSide)), -kFarthest, kFarthest);
  const float v = clamp(p.x * (1.0f / (kRoot3 * kSide)) - 0.5f * u, -kFarthest, kFarthest);
  const auto nearest = [](float x) GE_LAMBDA { return floor(x + 0.5f); };
  const float w = -u - v;
  const float ru = nearest(u), rv = nearest(v), rw = nearest(w);
  const float du = abs(ru - u), dv = abs(rv - v), dw = abs(rw - w);
  // The one that was rounded most follows from the others.
  const bool u_worst = (du > dv) & (du > dw), v_worst = !u_worst & (dv > dw);
  return {to_int(select(u_worst, -rv - rw, ru)), to_int(select(v_worst, -ru - rw, rv))};
}

/// The wall on an edge.
GE_FN voxel::Fence fence_on(const Hex& at, int way, float height, float thickness) {
  const Flat out = direction_of(way);
  const Vec3 middle = middle_of(at);
  return {{middle.x + out.x * kInner, middle.y + out.y * kInner, 0.5f * height},
          {0.5f * kSide, 0.5f * thickness, 0.5f * height},
          {-out.y, out.x}};
}

}  // namespace gpu_envs::envs::hex
