// Columns of cells side by side on a grid: hills of voxels. Rays walk from column to column, all of
// a pack in step.
//
// Each column is tested as a box (hit_along_axes), its faces at whole cells from the grid's corner.
// The walk only skips columns that the ray never enters, so the result is that of testing them all.
// A ray that starts inside a column does not hit it.
#pragma once

#include "geometry/ray_cast.hpp"

namespace ge::geometry {

/// A grid of `columns` x `rows` columns (along x and y) of cells of side `cell`, from a corner on.
struct HeightGrid {
  Vec3 corner;
  float cell;
  int32_t columns, rows;
  int32_t highest;  // no column has more cells
};

/// Hits of rays, as multiples of their directions, and the axis of the face that is hit.
struct HeightHits {
  Floats distance;  // the limit: nowhere
  Floats axis;      // 0, 1, 2
};

namespace detail {

/// One axis of the grid as rays go along it.
struct Walk {
  Floats inverse, step;  // one over the slope; 1 or -1
  Floats behind;         // from a column to the line through which it is entered: 0 or 1
  float corner, origin, cell;

  GE_FN Walk(const Floats& one_over, float grid_corner, float from, float side)
      : inverse(one_over),
        step(select(one_over > 0.0f, spread(1.0f), spread(-1.0f))),
        behind(select(one_over > 0.0f, spread(0.0f), spread(1.0f))),
        corner(grid_corner),
        origin(from),
        cell(side) {}
  GE_FN Floats line(const Floats& k) const { return inverse * ((k * cell + corner) - origin); }
  GE_FN Floats enters(const Floats& column) const { return line(column + behind); }
  GE_FN Floats leaves(const Floats& column) const { return line(column + (1.0f - behind)); }
  /// The column of a place, or the one before where rounding might have gone too far.
  GE_FN Floats first(const Floats& place, const Floats& enter, int32_t count) const {
    const Floats last = spread(float(count - 1)), none = spread(0.0f);
    const Floats column = whole(max(none, min(last, (place - corner) * (1.0f / cell))));
    const Floats before = max(none, min(last, column - step));
    return select(enters(column) > enter, before, column);
  }
};

}  // namespace detail

/// The nearest hits within (near, limit). height(x, y): cells of a column.
template <class H>
GE_FN HeightHits hit_heights(const Rays<Floats>& rays, const Vecs& inverse, const HeightGrid& grid,
                             float near, const Floats& limit, const H& height) {
  const detail::Walk along_x(inverse.x, grid.corner.x, rays.origin.x, grid.cell);
  const detail::Walk along_y(inverse.y, grid.corner.y, rays.origin.y, grid.cell);
  const auto level = [&](const Floats& cells) {
    return inverse.z * ((cells * grid.cell + grid.corner.z) - rays.origin.z);
  };
  const auto ends = [](const Floats& a, const Floats& b) {
    return detail::Span<Floats>{min(a, b), max(a, b)};
  };
  const auto all = [](int32_t value) { return spread(float(value)); };
  const Floats zero = all(0), one = all(1);
  // Where rays are within the bounds of all columns.
  const detail::Span<Floats> x = ends(along_x.line(zero), along_x.line(all(grid.columns)));
  const detail::Span<Floats> y = ends(along_y.line(zero), along_y.line(all(grid.rows)));
  const Floats ground = level(zero);
  const detail::Span<Floats> z = ends(ground, level(all(grid.highest)));
  const Floats enter = max(max(max(x.enter, y.enter), z.enter), zero);
  const Floats leave = min(min(min(x.leave, y.leave), z.leave), limit);

  HeightHits hits = {limit, zero};
  Floats column = along_x.first(rays.direction.x * enter + rays.origin.x, enter, grid.columns);
  Floats row = along_y.first(rays.direction.y * enter + rays.origin.y, enter, grid.rows);
  auto walks = enter < leave;
  for (int32_t k = 0; k < grid.columns + grid.rows + 2 && any_of(walks); ++k) {
    const Floats cells = each_lane(column, row, walks, height);
    const detail::Span<Floats> up = ends(ground, level(cells));
    const Floats into_x = along_x.enters(column), into_y = along_y.enters(row);
    const Floats out_x = along_x.leaves(column), out_y = along_y.leaves(row);
    const Floats hit = max(max(into_x, into_y), up.enter), out = min(out_x, out_y);
    const auto meets = both(both(walks, both(cells > 0.0f, hit < min(out, up.leave))),
                            both(hit > near, hit < limit));
    hits.distance = select(meets, hit, hits.distance);
    const Floats level_or_y = select(into_y >= up.enter, one, all(2));
    hits.axis = select(meets, select(into_x >= max(into_y, up.enter), zero, level_or_y), hits.axis);
    const auto goes_x = out_x <= out_y;
    column = column + select(goes_x, along_x.step, zero);
    row = row + select(goes_x, zero, along_y.step);
    const auto inside = both(both(column >= 0.0f, column < all(grid.columns)),
                             both(row >= 0.0f, row < all(grid.rows)));
    walks = both(both(walks, is_not(meets)), both(out < leave, inside));
  }
  return hits;
}

/// The outward normal of a hit.
GE_FN Vecs normal_of_height(const Vecs& inverse, const Floats& axis) {
  const Floats zero = spread(0.0f), one = spread(1.0f);
  const auto against = [&](const Floats& slope) { return select(slope > 0.0f, -one, one); };
  return {select(axis == 0.0f, against(inverse.x), zero),
          select(axis == 1.0f, against(inverse.y), zero),
          select(axis == 2.0f, against(inverse.z), zero)};
}

}  // namespace ge::geometry
