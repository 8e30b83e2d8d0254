// From boxes painted one over the other to the fewest visible ones: a later box is subtracted from
// the earlier ones, and neighbours of one colour are merged. All of it on the list of boxes, since
// a grid of the cells would be larger than the rest of a world.
//
// The result has no overlaps, and in every cell the colour that was painted last.
#pragma once

#include "voxel/tables.hpp"

namespace ge::voxel {

/// Cells from `low` up to `high`, which is exclusive.
struct Painted {
  int32_t low[3], high[3];
  uint32_t colour, shown;
  static constexpr auto describe() {
    return fields(field("low", &Painted::low, "lowest cell"),
                  field("high", &Painted::high, "highest cell + 1"),
                  field("colour", &Painted::colour, "colour as 0xRRGGBB"),
                  field("shown", &Painted::shown, "0: the box cannot be seen"));
  }
};
GE_FN bool overlap(const Painted& a, const Painted& b) {
  bool meet = true;
  for (int k = 0; k < 3; ++k) meet &= (a.low[k] < b.high[k]) & (b.low[k] < a.high[k]);
  return meet;
}

/// Rows of a table as a list that grows and shrinks. Pieces without room are counted, not stored.
template <class T>
struct Pieces {
  Rows<T, Painted> rows;
  int count = 0, lost = 0;
  int needed = 0;  // the most that there were at a time, with all that were lost

  GE_FN void add(const Painted& piece) {
    needed = max(needed, count + lost + 1);
    if (count < T::capacity)
      rows.set(count++, piece);
    else
      ++lost;
  }
  GE_FN void drop(int k) { rows.set(k, rows.get(--count)); }
};

/// Subtracts `brush` from piece k; returns whether anything of it is left there.
template <class T>
GE_FN bool cut(Pieces<T>& pieces, int k, const Painted& brush) {
  Painted rest = pieces.rows.get(k);
  bool kept = false;
  const auto keep = [&](const Painted& part) {
    if (kept)
      pieces.add(part);
    else
      pieces.rows.set(k, part);
    kept = true;
  };
  // Splits slabs off both ends of each axis in turn; the remainder is covered.
  for (int axis = 0; axis < 3; ++axis) {
    if (rest.low[axis] < brush.low[axis]) {
      Painted part = rest;
      part.high[axis] = rest.low[axis] = brush.low[axis];
      keep(part);
    }
    if (rest.high[axis] > brush.high[axis]) {
      Painted part = rest;
      part.low[axis] = rest.high[axis] = brush.high[axis];
      keep(part);
    }
  }
  return kept;
}

template <class T>
GE_FN void paint(Pieces<T>& pieces, const Painted& brush) {
  for (int k = 0; k < pieces.count;) {
    if (!overlap(pieces.rows.get(k), brush) || cut(pieces, k, brush))
      ++k;
    else
      pieces.drop(k);
  }
  pieces.add(brush);
}

/// Merges two boxes into `a` if they form one box; returns whether they do.
GE_FN bool unite(Painted& a, const Painted& b) {
  if ((a.colour != b.colour) | (a.shown != b.shown)) return false;
  int apart = -1, differing = 0;
  for (int k = 0; k < 3; ++k) {
    const bool same = (a.low[k] == b.low[k]) & (a.high[k] == b.high[k]);
    apart = same ? apart : k;
    differing += same ? 0 : 1;
  }
  if (differing != 1) return false;
  if ((a.high[apart] != b.low[apart]) & (b.high[apart] != a.low[apart])) return false;
  a.low[apart] = min(a.low[apart], b.low[apart]);
  a.high[apart] = max(a.high[apart], b.high[apart]);
  return true;
}
template <class T>
GE_FN void unite_all(Pieces<T>& pieces) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int a = 0; a < pieces.count; ++a) {
      for (int b = a + 1; b < pieces.count;) {
        Painted grown = pieces.rows.get(a);
        if (!unite(grown, pieces.rows.get(b))) {
          ++b;
          continue;
        }
        pieces.rows.set(a, grown);
        pieces.drop(b);
        changed = true;
      }
    }
  }
}

template <class M>
GE_FN Static static_of(const Painted& piece) {
  Static box = {};
  geometry::put(box.low, corner_of<M>(cell(piece.low)));
  geometry::put(box.high, corner_of<M>(cell(piece.high)));
  box.colour = piece.colour, box.shown = piece.shown;
  return box;
}

// ---- as tables of a level that is made

template <int N>
struct Canvas : Fixed<N, Painted> {
  static constexpr const char* name = "canvas";
  static constexpr bool scratch = true;
};
/// Cuts may leave more pieces for a while than are left when neighbours have grown together.
template <int N>
struct Offcuts : Fixed<N, Painted> {
  static constexpr const char* name = "offcuts";
  static constexpr bool scratch = true;
};

/// Merges the `count` boxes of the canvas, which may have had no room for some; returns the number
/// of rows of statics that they need.
template <class M>
GE_FN int merge(const WorldOf<M>& w, int count, const Rows<typename M::Offcuts, Painted>& rows) {
  Pieces<typename M::Offcuts> pieces{rows};
  const int painted = min(count, int(M::Canvas::capacity));
  for (int k = 0; k < painted; ++k) paint(pieces, get<typename M::Canvas, Painted>(w, k));
  unite_all(pieces);
  if (pieces.lost == 0 && count == painted) return pieces.count;
  // Report lost pieces as a table that is too small; its rows beyond the pieces are empty.
  for (int k = pieces.count; k < M::Offcuts::capacity; ++k) rows.set(k, {});
  return max(max(pieces.needed, count), int(M::Statics::capacity) + 1);
}

}  // namespace ge::voxel
