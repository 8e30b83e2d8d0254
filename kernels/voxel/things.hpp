// Marks and diamonds, and their effects on agents in their cells.
#pragma once

#include "voxel/tables.hpp"

namespace ge::voxel {

/// Whether a cell is in a mark of this kind.
template <class M>
GE_FN bool is_marked(const WorldOf<M>& w, const Cell& at, uint32_t kind) {
  bool found = false;
  const int marks = count_of<typename M::Marks>(w);
  for (int k = 0; k < marks; ++k) {
    const Mark mark = get<typename M::Marks, Mark>(w, k);
    found |= (mark.kind == kind) & has_column(mark, at.x, at.y) & (at.z >= mark.low[2]) &
             (at.z < mark.high[2]);
  }
  return found;
}

/// The first zone in whose columns a cell lies, at any height; kEmpty where there is none.
template <class M>
GE_FN int zone_at(const WorldOf<M>& w, const Cell& at) {
  const int marks = count_of<typename M::Marks>(w);
  for (int k = 0; k < marks; ++k) {
    const Mark mark = get<typename M::Marks, Mark>(w, k);
    if ((mark.kind == kZoneMark) & has_column(mark, at.x, at.y)) return k;
  }
  return kEmpty;
}

/// Takes the diamond of a cell; its row, kEmpty where there is none.
template <class M>
GE_FN int take_diamond(const WorldOf<M>& w, const Cell& at,
                       const Rows<typename M::Diamonds, Diamond>& diamonds) {
  const int count = row_count<typename M::Diamonds>(w);
  for (int k = 0; k < count; ++k) {
    Diamond diamond = diamonds.get(k);
    if (diamond.left == 0 || !(cell(diamond.cell) == at)) continue;
    diamond.left = 0;
    diamonds.set(k, diamond);
    return k;
  }
  return kEmpty;
}

}  // namespace ge::voxel
