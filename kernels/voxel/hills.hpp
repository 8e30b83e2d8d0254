// Hills as cameras see them: from columns to few boxes, all of one colour, from the ground on. They
// may overlap, which nobody sees: so a box reaches as far as all columns are as high as its top.
#pragma once

#include "cameras/solids.hpp"
#include "voxel/columns.hpp"

namespace ge::voxel {

/// Columns from `low` up to `high`, which is exclusive.
struct Hill {
  uint8_t low[2], high[2], height;
  static constexpr auto describe() {
    return fields(field("low", &Hill::low, "lowest column, x and y").any_value(),
                  field("high", &Hill::high, "highest column + 1, x and y").any_value(),
                  field("height", &Hill::height, "cells above the floor").any_value());
  }
};
template <int N>
struct Hills : List<N, Hill> {
  static constexpr const char* name = "hills";
};
template <int N>
struct RawHills : Fixed<N, Hill> {
  static constexpr const char* name = "raw_hills";
  static constexpr bool scratch = true;
};
/// A model with `Hills`, and `uint32_t hill_colour(w)`, has them drawn.
template <class M>
concept HasHills = requires { typename M::Hills; };
/// Columns of one x whose top is drawn, by bits of y.
struct Covered {
  uint32_t low, high;
  static constexpr auto describe() {
    return fields(field("low", &Covered::low, "columns 0 to 31"),
                  field("high", &Covered::high, "columns 32 to 63"));
  }
};
template <int N>
struct Cover : Fixed<N, Covered> {
  static constexpr const char* name = "cover";
  static constexpr bool scratch = true;
};

GE_FN cameras::Solid solid_of(const Hill& hill, uint32_t colour) {
  const Vec3 low = {float(hill.low[0]), float(hill.low[1]), kGround};
  const Vec3 high = {float(hill.high[0]), float(hill.high[1]), kGround + float(hill.height)};
  const Vec3 half = (high - low) * 0.5f;
  return cameras::solid(geometry::kBox, half, low + half, colour);
}

/// Finds the boxes of a world's columns.
template <class M>
class HillMerger {
 public:
  using W = WorldOf<M>;
  using CoverRows = Rows<typename M::Cover, Covered>;
  static constexpr int kSide = M::Columns::kSide;
  static_assert(kSide <= 64);

  GE_FN HillMerger(const W& w, const CoverRows& cover) : w_(w), cover_(cover) {}

  /// Writes the boxes; returns how many there are, which may be more than there is room for.
  GE_FN int merge(const Rows<typename M::RawHills, Hill>& hills) {
    int count = 0;
    for (int x = 0; x < kSide; ++x) cover_.set(x, {0, 0});
    for (int x = 0; x < kSide; ++x)
      for (int y = 0; y < kSide; ++y) {
        const int height = height_at<M>(w_, x, y);
        if (height == 0 || has(x, y)) continue;
        const Found along_y = grow(x, y, height, true), along_x = grow(x, y, height, false);
        const Found& best = along_x.gain > along_y.gain ? along_x : along_y;
        cover(best.hill);
        if (count < M::RawHills::capacity) hills.set(count, best.hill);
        ++count;
      }
    return count;
  }

 private:
  struct Found {
    Hill hill;
    int gain;  // tops that it draws first
  };
  GE_FN bool has(int x, int y) const {
    const Covered row = cover_.get(x);
    return ((y < 32 ? row.low : row.high) >> (y & 31) & 1u) != 0;
  }
  GE_FN bool is_as_high(int x, int x_end, int y, int y_end, int height) const {
    for (int i = x; i < x_end; ++i)
      for (int j = y; j < y_end; ++j)
        if (height_at<M>(w_, i, j) < height) return false;
    return true;
  }
  /// From a column: first along one axis as far as columns are high enough, then along the other.
  GE_FN Found grow(int x, int y, int height, bool y_first) const {
    int x_end = x + 1, y_end = y + 1;
    for (int k = 0; k < 2; ++k) {
      if ((k == 0) == y_first) {
        while (y_end < kSide && is_as_high(x, x_end, y_end, y_end + 1, height)) ++y_end;
        while (y > 0 && is_as_high(x, x_end, y - 1, y, height)) --y;
      } else {
        while (x_end < kSide && is_as_high(x_end, x_end + 1, y, y_end, height)) ++x_end;
        while (x > 0 && is_as_high(x - 1, x, y, y_end, height)) --x;
      }
    }
    Found found = {{{uint8_t(x), uint8_t(y)}, {uint8_t(x_end), uint8_t(y_end)}, uint8_t(height)},
                   0};
    for (int i = x; i < x_end; ++i)
      for (int j = y; j < y_end; ++j)
        found.gain += (height_at<M>(w_, i, j) == height) & !has(i, j) ? 1 : 0;
    return found;
  }
  GE_FN void cover(const Hill& hill) const {
    for (int i = hill.low[0]; i < hill.high[0]; ++i) {
      Covered row = cover_.get(i);
      for (int j = hill.low[1]; j < hill.high[1]; ++j) {
        const uint32_t bit = uint32_t{height_at<M>(w_, i, j) == hill.height} << (j & 31);
        (j < 32 ? row.low : row.high) |= bit;
      }
      cover_.set(i, row);
    }
  }

  const W& w_;
  const CoverRows& cover_;
};

}  // namespace ge::voxel
