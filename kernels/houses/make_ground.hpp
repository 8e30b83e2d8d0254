// Makes the walkable floor of a house (ground.hpp), on the host.
#pragma once

#include <span>
#include <vector>

#include "houses/ground.hpp"
#include "houses/shell.hpp"

namespace ge::houses {

/// A rectangle to draw points of the floor from, and the floor up to its end.
struct Spot {
  float low_x, low_y, high_x, high_y, area;  // area: of this and all before [m^2]
  static constexpr auto describe() {
    return fields(field("low_x", &Spot::low_x, "least x").in("m"),
                  field("low_y", &Spot::low_y, "least y").in("m"),
                  field("high_x", &Spot::high_x, "greatest x").in("m"),
                  field("high_y", &Spot::high_y, "greatest y").in("m"),
                  field("area", &Spot::area, "of this rectangle and all before it").in("m^2"));
  }
};

struct GroundData {
  std::vector<Block> blocks;
  std::vector<Corner> corners;
  std::vector<int32_t> block_starts, corner_starts;
  std::vector<uint16_t> block_items, corner_items;
  std::vector<float> distances;
  std::vector<Spot> spots;
  std::vector<End> ends;
  std::vector<Bend> bends;
  float low_x, low_y;
  int32_t columns, rows;

  Ground view() const;
  float area() const { return spots.empty() ? 0.0f : spots.back().area; }
};

/// What can be walked on, beside things that stand there: the largest connected part.
struct Walkable {
  std::vector<float> xs, ys;  // lines, in order
  std::vector<bool> open;     // rectangles between lines, row after row
  float area;                 // [m^2]
  float lost;                 // of other parts [m^2]
  bool pinched;               // two things touch, or barely overlap, at a corner only

  int columns() const { return int(xs.size()) - 1; }
  int rows() const { return int(ys.size()) - 1; }
  bool at(int x, int y) const {
    return x >= 0 && x < columns() && y >= 0 && y < rows() && open[size_t(y * columns() + x)];
  }
  bool holds(float x, float y) const;
};
/// `things`: rectangles that stand on the floor, walls among them.
Walkable walkable_of(const Shell& shell, std::span<const Rect> things);

/// Throws Error where a house has more than kMostCorners.
GroundData make_ground(const Shell& shell, std::span<const Rect> things);

}  // namespace ge::houses
