// Hills: columns of cells on a grid, on which agents walk. A model with `Columns`, a table of the
// component below with kSide x kSide rows, x by x, has them.
#pragma once

#include "voxel/tables.hpp"

namespace ge::voxel {

/// Columns stand on the floor, which is one cell thick [m].
inline constexpr float kGround = 1.0f;

/// Cells above the floor.
struct Column {
  uint8_t height;
  static constexpr auto describe() {
    return fields(
        field("height", &Column::height, "cells of the column above the floor").any_value());
  }
};
template <int kSide_>
struct Columns : Fixed<kSide_ * kSide_, Column> {
  static constexpr const char* name = "columns";
  static constexpr int kSide = kSide_;
};
template <class M>
concept HasColumns = requires { typename M::Columns; };
template <class M>
inline constexpr bool kHasColumns = HasColumns<M>;

template <class M>
GE_FN int height_at(const WorldOf<M>& w, int x, int y) {
  constexpr int kSide = M::Columns::kSide;
  if ((x < 0) | (x >= kSide) | (y < 0) | (y >= kSide)) return 0;
  return get<typename M::Columns, Column>(w, x * kSide + y).height;
}
/// The first cell above the column at a cell; kDeepest where there is none.
template <class M>
GE_FN int32_t top_at(const WorldOf<M>& w, const Cell& at) {
  const int height = height_at<M>(w, at.x, at.y);
  return height > 0 ? to_int(kGround) + height : kDeepest;
}

/// Columns whose bounds a path may meet; `end`s are exclusive.
struct ColumnRange {
  int32_t x, x_end, y, y_end;
  float low, high;  // of the path
};
template <class M>
GE_FN ColumnRange columns_between(const WorldOf<M>&, Vec3 low, Vec3 high) {
  const Cell from = cell_of<M>(low), to = cell_of<M>(high);
  const auto within = [](int32_t k) { return clamp(k, int32_t{0}, int32_t{M::Columns::kSide}); };
  return {within(from.x), within(to.x + 1), within(from.y), within(to.y + 1), low.z, high.z};
}
template <class M, class F>
GE_FN void visit_columns(const WorldOf<M>& w, const ColumnRange& range, const F& f) {
  if (!(range.high > kGround)) return;
  for (int32_t x = range.x; x < range.x_end; ++x)
    for (int32_t y = range.y; y < range.y_end; ++y) {
      const int height = height_at<M>(w, x, y);
      if ((height > 0) & (kGround + float(height) > range.low)) f(int(x), int(y), height);
    }
}

}  // namespace ge::voxel
