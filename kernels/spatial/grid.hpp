// The grid: cells in rows over a square, and which cells a circle touches.
//
// Neighbours of a point are found along runs: the cells of one row of the grid that a circle can
// reach lie side by side, and so do their agents once they are sorted by cell. Rows are about as
// high as runs are worth a vector; columns are narrow, since a run may begin in any of them.
//
//    row 3   . . . . . . . .
//    row 2   . . # # # . . .     one run: agents of three cells, one behind the other
//    row 1   . # # # # # . .
//    row 0   . . # # # . . .
//
// Cells are found by one monotone function of a coordinate, and both ends of a run by the same
// function of coordinates slightly beyond the circle, so that no rounding loses an agent. On a
// torus rows and columns are counted on beyond the edges, at most once around: no agent is met
// twice, however large the circle.
#pragma once

#include "spatial/square.hpp"

namespace ge::spatial {

struct Grid {
  Square square;
  int32_t columns, rows;
  float columns_per_length, rows_per_length, row_height;
  float slack;  // what rounding may move an agent against a cell's border
};

/// Cells of a grid.
GE_FN int cell_count(const Grid& grid) {
  return grid.columns * grid.rows;
}

inline constexpr int kMostRowsPerRange = 8, kColumnsPerRange = 4;
/// Up to this number, agents are tested one by one.
inline constexpr int kFewAgents = 64;

/// A grid for looks of range `range` among `agents` agents: at most one cell per agent, so that
/// memory is proportional to the agents, however small the range is.
inline Grid make_grid(const Square& square, double range, int64_t agents) {
  const double side = square.side;
  // A run of 24 agents at least, where they are spread evenly: 1.6 ranges of a row on average.
  const double run = double(agents) * range * range * 1.6 / (side * side);
  double rows_per_range = run / 24;
  rows_per_range = clamp(rows_per_range, 1.0, double(kMostRowsPerRange));
  const double most_rows = ge::sqrt(double(agents) / 2) + 1;
  const auto whole = [](double x, double most) {
    return int32_t(clamp(x, 1.0, most < 1 ? 1.0 : most));
  };
  Grid grid{};
  grid.square = square;
  if (agents <= kFewAgents) {
    grid.rows = grid.columns = 1;
  } else {
    grid.rows = whole(side / range * int32_t(rows_per_range), most_rows);
    grid.columns = whole(side / range * kColumnsPerRange * int32_t(rows_per_range),
                         double(agents) / grid.rows);
  }
  grid.columns_per_length = float(grid.columns / side);
  grid.rows_per_length = float(grid.rows / side);
  grid.row_height = float(side / grid.rows);
  grid.slack = float(side * 0x1p-18);
  return grid;
}

/// Which of `count` cells in a line a coordinate is in; anything beyond is in the first or last.
GE_FN int cell_along(float x, float per_length, int count) {
  return static_cast<int>(clamp(x * per_length, 0.0f, float(count - 1)));
}
GE_FN uint32_t cell_of(const Grid& grid, float x, float y) {
  return uint32_t(cell_along(y, grid.rows_per_length, grid.rows) * grid.columns +
                  cell_along(x, grid.columns_per_length, grid.columns));
}

/// Cells first to last along one axis; on a torus they may be counted on beyond the edges.
struct Stretch {
  int first, last;
};
GE_FN Stretch stretch(const Square& square, float low, float high, float per_length, int count) {
  // Within an int, however large the range is.
  const float most = 2.0f * float(count);
  int first = static_cast<int>(floor(clamp(low * per_length, -most, most)));
  int last = static_cast<int>(floor(clamp(high * per_length, -most, most)));
  if (wraps(square)) {
    const bool around = last - first >= count - 1;
    first = select(around, 0, first), last = select(around, count - 1, last);
  } else {
    first = clamp(first, 0, count - 1), last = clamp(last, 0, count - 1);
  }
  return {first, last};
}
/// A cell counted on beyond an edge.
GE_FN int wrapped_cell(int cell, int count) {
  return select(cell < 0, cell + count, select(cell >= count, cell - count, cell));
}

/// Points with x * dx + y * dy >= least, of offsets (dx, dy); (x, y) has length 1.
struct HalfPlane {
  float x, y, least;
};

/// The rows of the grid that a circle touches, and the columns of each; with kCut, of its part in a
/// half-plane about its centre, where both are fewer.
template <bool kCut>
class CircleOf {
 public:
  GE_FN CircleOf(const Grid& grid, float x, float y, float range, const HalfPlane& half = {})
      // Clamped: whatever was written into a position from outside, no cell is beyond the last.
      : grid_(grid),
        x_(clamp(x, 0.0f, grid.square.side)),
        y_(clamp(y, 0.0f, grid.square.side)),
        range_(range + grid.slack),
        half_(half) {
    float down = range_, up = range_;
    if constexpr (kCut) {
      // A point is a step of `least` or more along (x, y), and one of at most the range across.
      const float across = range_ * abs(half.x) + grid.slack;
      down = half.y >= 0.0f ? min(down, across - half.least * half.y) : down;
      up = half.y <= 0.0f ? min(up, across + half.least * half.y) : up;
      per_x_ = 1.0f / half.x;
    }
    rows_ = stretch(grid.square, y_ - down, y_ + up, grid.rows_per_length, grid.rows);
  }

  /// On a torus rows and columns may be counted on beyond the edges.
  GE_FN Stretch rows() const { return rows_; }
  GE_FN Stretch columns(int row) const {
    // With every row in the list none is its nearest image: the whole width then.
    const bool all = rows_.last - rows_.first == grid_.rows - 1 && wraps(grid_.square);
    const float low = float(row) * grid_.row_height, high = low + grid_.row_height;
    const float off = max(0.0f, max(low - y_, y_ - high) - grid_.slack);
    const float chord = sqrt(max(0.0f, range_ * range_ - off * off)) + grid_.slack;
    const float half = select(all, range_, chord);
    float left = half, right = half;
    if constexpr (kCut) {
      // Offsets dx of the row's points in the half-plane are on one side of `edge`. An infinite one
      // is right; NaN, of no edge, changes nothing.
      const float below = low - grid_.slack - y_, above = high + grid_.slack - y_;
      const float most = max(below * half_.y, above * half_.y);
      const float edge = (half_.least - grid_.slack - most) * per_x_;
      // A point is left where there is none.
      const float to_left = max(-half, min(half, grid_.slack - edge));
      const float to_right = max(-half, min(half, grid_.slack + edge));
      left = !all && half_.x > 0.0f ? to_left : half;
      right = !all && half_.x < 0.0f ? to_right : half;
    }
    return stretch(grid_.square, x_ - left, x_ + right, grid_.columns_per_length, grid_.columns);
  }
  /// Whether the circle, with the cells that it touches, is so far from all edges, or these are
  /// walls, that plain differences are the shortest.
  GE_FN bool inside() const {
    const float side = grid_.square.side, reach = range_ + grid_.slack;
    const bool small = grid_.columns > 4 && grid_.rows > 4 && 4.0f * reach < side;
    const bool within = x_ >= reach && x_ + reach < side - grid_.slack && rows_.first >= 0 &&
                        rows_.last < grid_.rows;
    return !wraps(grid_.square) || (small && within);
  }
  /// Cells of the grid.
  GE_FN int cells() const { return cell_count(grid_); }
  /// The first cell of a row, and how many a row has.
  GE_FN int first_cell(int row) const { return wrapped_cell(row, grid_.rows) * grid_.columns; }
  GE_FN int row_length() const { return grid_.columns; }

 private:
  const Grid& grid_;
  float x_, y_, range_;
  HalfPlane half_;
  float per_x_ = 0;
  Stretch rows_{};
};
using Circle = CircleOf<false>;

/// The cells of a circle as runs, at most two of each row, one after the other.
class CircleRuns {
 public:
  GE_FN explicit CircleRuns(const Circle& circle)
      : circle_(circle), row_(circle.rows().first - 1) {}
  /// Whether there is another run; cells() has it then.
  GE_FN bool next() {
    if (rest_.first <= rest_.last) {
      cells_ = rest_;
      rest_ = {0, -1};
      return true;
    }
    if (row_ >= circle_.rows().last) return false;
    ++row_;
    take_row();
    return true;
  }
  GE_FN Stretch cells() const { return cells_; }
  GE_FN const Circle& circle() const { return circle_; }

 private:
  GE_FN void take_row() {
    const Stretch columns = circle_.columns(row_);
    const int length = circle_.row_length(), most = length - 1;
    const int base = circle_.first_cell(row_);
    const bool left = columns.first<0, right = columns.last> most;
    cells_ = {base + max(columns.first, 0), base + min(columns.last, most)};
    rest_ = {base + select(left, columns.first + length, 0),
             base + select(left, most, select(right, columns.last - length, -1))};
    if (!left && !right) rest_ = {0, -1};
  }

  Circle circle_;
  Stretch cells_{0, -1}, rest_{0, -1};
  int row_;
};

}  // namespace ge::spatial
