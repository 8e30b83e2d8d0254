// The shell of a house: floors, walls with openings, ceilings. A grid of rectangles, between lines
// along x and y, says of each what stands there; walls and what there is to see follow from it.
#pragma once

#include <cstdint>
#include <vector>

#include "houses/floor_plan.hpp"

namespace ge::houses {

/// A rectangle of the floor [m].
struct Rect {
  float low_x, low_y, high_x, high_y;

  float area() const { return (high_x - low_x) * (high_y - low_y); }
  bool overlaps(const Rect& other) const {
    return low_x < other.high_x && other.low_x < high_x && low_y < other.high_y &&
           other.low_y < high_y;
  }
  bool holds(float x, float y) const {
    return low_x <= x && x <= high_x && low_y <= y && y <= high_y;
  }
  Rect grown(float by) const { return {low_x - by, low_y - by, high_x + by, high_y + by}; }
};

/// A rectangle between neighbouring lines.
struct Patch {
  int32_t room;   // of the floor; -1: a wall, or outside
  float ceiling;  // [m]
  bool is_wall;   // of the house; else outside, where room is -1
};
struct Shell {
  std::vector<float> xs, ys;   // lines, in order
  std::vector<Patch> patches;  // row after row
  float ceiling;               // of rooms [m]

  int columns() const { return int(xs.size()) - 1; }
  int rows() const { return int(ys.size()) - 1; }
  const Patch& at(int x, int y) const { return patches[size_t(y * columns() + x)]; }
  Rect rect(int x, int y) const {
    return {xs[size_t(x)], ys[size_t(y)], xs[size_t(x) + 1], ys[size_t(y) + 1]};
  }
};

/// `finest`: no two neighbouring lines are farther apart [m].
Shell make_shell(const Plan& plan, uint64_t seed, float finest);

/// Walls as rectangles of the floor that do not overlap.
std::vector<Rect> walls_of(const Shell& shell);

}  // namespace ge::houses
