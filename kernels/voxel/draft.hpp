// A level while it is made: lists of its things, in rows of scratch tables, and its agents. Things
// without room in a table are counted too, so that the For that copies the rows into the world's
// own table reports how much room there should be.
#pragma once

#include "voxel/painting.hpp"

namespace ge::voxel {

/// Rows of a scratch table, nothing where a game does without it.
template <class T, class C>
struct DraftRows {
  using type = Rows<T, C>;
};
template <class C>
struct DraftRows<NoTable, C> {
  struct type {
    GE_FN void set(int, const C&) const {}
  };
};

/// Wall k, 0 to 3, of a room from cell 0 0 0 up to `end`, which is exclusive: the outermost cells at
/// low x, high x, low y and high y.
GE_FN Painted wall_of_room(int k, const Cell& end, uint32_t colour, uint32_t shown) {
  return {{k == 1 ? end.x - 1 : 0, k == 3 ? end.y - 1 : 0, 0},
          {k == 0 ? 1 : end.x, k == 2 ? 1 : end.y, end.z},
          colour,
          shown};
}

template <class M>
struct Draft {
  Rows<typename M::Canvas, Painted> canvas;
  Rows<typename M::Stock, Crate> stock;
  Rows<typename M::Agents, Home> homes;
  Rows<typename M::Agents, Body> bodies;
  typename DraftRows<typename M::Fields, Mark>::type fields;
  typename DraftRows<typename M::Gems, Diamond>::type gems;
  int parts = 0, marks = 0, crates = 0, diamonds = 0;

  GE_FN void add(const Painted& part) {
    if (parts < M::Canvas::capacity) canvas.set(parts, part);
    ++parts;
  }
  /// Add a room from cell 0 0 0 up to `end`, which is exclusive: a floor of one cell, always shown,
  /// and four walls, which are shown where `shown` is 1.
  GE_FN void add_room(const Cell& end, uint32_t floor, uint32_t wall, uint32_t shown) {
    add(Painted{{0, 0, 0}, {end.x, end.y, 1}, floor, 1u});
    for (int k = 0; k < 4; ++k) add(wall_of_room(k, end, wall, shown));
  }
  GE_FN void add(const Mark& mark) {
    if (marks < M::Fields::capacity) fields.set(marks, mark);
    ++marks;
  }
  GE_FN void add_crate(const Cell& at) {
    Crate crate = {{0, 0, 0}, kEmpty};
    put(crate.cell, at);
    if (crates < M::Stock::capacity) stock.set(crates, crate);
    ++crates;
  }
  GE_FN void add_diamond(const Cell& at, uint32_t colour) {
    Diamond diamond = {{0, 0, 0}, 1, colour};
    put(diamond.cell, at);
    if (diamonds < M::Gems::capacity) gems.set(diamonds, diamond);
    ++diamonds;
  }
  GE_FN void add_agent(int agent, const Cell& home, const Body& body) {
    Home at = {};
    put(at.cell, home);
    homes.set(agent, at);
    bodies.set(agent, body);
  }
};

}  // namespace ge::voxel
