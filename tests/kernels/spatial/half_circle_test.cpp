// A circle cut by a half-plane has every cell with an agent in both, and few others.
#include <cmath>

#include "engine/maths/random.hpp"
#include "spatial/grid.hpp"
#include "test.hpp"

namespace {

using namespace ge;
using namespace ge::spatial;

Draw words(uint32_t k) {
  return draw(11, 0, 0, 0, 0, 7, k, 0);
}
bool contains(const Stretch& cells, int cell, int count) {
  for (int shown = cells.first; shown <= cells.last; ++shown)
    if (wrapped_cell(shown, count) == cell) return true;
  return false;
}
template <class C>
bool has_cell(const C& circle, const Grid& grid, int column, int row) {
  for (int shown = circle.rows().first; shown <= circle.rows().last; ++shown)
    if (wrapped_cell(shown, grid.rows) == row)
      return contains(circle.columns(shown), column, grid.columns);
  return false;
}
template <class C>
int cells_of(const C& circle) {
  int count = 0;
  for (int row = circle.rows().first; row <= circle.rows().last; ++row)
    count += circle.columns(row).last - circle.columns(row).first + 1;
  return count;
}

struct Case {
  Grid grid;
  float x, y, range;
  HalfPlane half;
};
Case case_of(uint32_t k) {
  const Draw d = words(3 * k), e = words(3 * k + 1);
  const double ranges[] = {0.02, 0.1, 0.24, 0.5, 0.8};
  const int64_t agents[] = {10, 300, 4'000, 20'000};
  Case c{};
  const double range = ranges[d.below(0, 5)];
  c.range = float(range);
  c.grid = make_grid(k % 2 == 0 ? torus(1) : walled(1), range, agents[d.below(1, 4)]);
  const float edges[] = {0.0f, 0.99999994f, 0.5f};
  c.x = k % 5 == 0 ? edges[e.below(1, 3)] : d.uniform(2);
  c.y = k % 7 == 0 ? edges[e.below(2, 3)] : d.uniform(3);
  // Directions along the axes too, and nearly so.
  const float angle = k % 3 == 0 ? float(e.below(0, 4)) * 1.5707964f + float(k % 9) * 1e-7f
                                 : e.uniform(0) * 6.2831855f;
  const float leasts[] = {-0.04f, 0.0f, -1.0f, 0.3f};
  c.half = {std::cos(angle), std::sin(angle), leasts[e.below(3, 4)] * c.range};
  return c;
}

GE_TEST(half_circle_has_the_cell_of_every_agent_in_it) {
  int met = 0;
  for (uint32_t k = 0; k < 3'000; ++k) {
    const Case c = case_of(k);
    const CircleOf<true> cut(c.grid, c.x, c.y, c.range, c.half);
    for (uint32_t agent = 0; agent < 60; ++agent) {
      const Draw d = draw(12, 0, 0, 0, 0, 7, k, agent);
      // Many lie on the edge of the half-plane.
      const float across = (2 * d.uniform(0) - 1) * c.range;
      const float along = agent % 2 == 0 ? c.half.least : (2 * d.uniform(1) - 1) * c.range;
      const float side = c.grid.square.side;
      float x = c.x + along * c.half.x - across * c.half.y;
      float y = c.y + along * c.half.y + across * c.half.x;
      if (wraps(c.grid.square)) x = wrapped(c.grid.square, x), y = wrapped(c.grid.square, y);
      if (!(x >= 0 && x < side && y >= 0 && y < side)) continue;
      const float dx = shortest(c.grid.square, x - c.x), dy = shortest(c.grid.square, y - c.y);
      if (dx * dx + dy * dy > c.range * c.range) continue;
      if (dx * c.half.x + dy * c.half.y < c.half.least) continue;
      ++met;
      CHECK(has_cell(cut, c.grid, cell_along(x, c.grid.columns_per_length, c.grid.columns),
                     cell_along(y, c.grid.rows_per_length, c.grid.rows)));
    }
  }
  CHECK(met > 20'000);
}
GE_TEST(half_circle_has_about_half_of_the_cells) {
  const Grid grid = make_grid(torus(1), 0.1, 16'384);
  const int whole = cells_of(Circle(grid, 0.4f, 0.3f, 0.1f));
  for (int k = 0; k < 16; ++k) {
    const float angle = 0.4f * float(k);
    const HalfPlane half{std::cos(angle), std::sin(angle), 0.0f};
    const int cut = cells_of(CircleOf<true>(grid, 0.4f, 0.3f, 0.1f, half));
    CHECK(2 * cut >= whole && cut < 0.7 * whole);
  }
}
GE_TEST(circle_is_inside_where_plain_differences_are_the_shortest) {
  int inside = 0;
  for (uint32_t k = 0; k < 3'000; ++k) {
    const Case c = case_of(k);
    const Circle circle(c.grid, c.x, c.y, c.range);
    if (!circle.inside()) continue;
    ++inside;
    for (int row = circle.rows().first; row <= circle.rows().last; ++row) {
      CHECK(row >= 0 && row < c.grid.rows);
      const Stretch columns = circle.columns(row);
      CHECK(columns.first >= 0 && columns.last < c.grid.columns);
      for (const int column : {columns.first, columns.last + 1}) {
        const float dx = float(column) / c.grid.columns_per_length - c.x;
        CHECK(shortest(c.grid.square, dx) == dx);
      }
      const float dy = float(row + 1) * c.grid.row_height - c.y;
      CHECK(shortest(c.grid.square, dy) == dy);
    }
  }
  CHECK(inside > 500);
}

}  // namespace
