// Slots of a Pool: freeing one, and freeing all. A handle to a destroyed row stays stale forever: a
// slot counts its generations, except in scratch memory, where no handle outlives a phase.
#pragma once

#include "engine/graph/making.hpp"

namespace ge {

template <class T, class S>
GE_FN void destroy_row(const Cells<S>& cells, int row) {
  uint32_t* const live = cells.template header<T>(row >> 5);
  *live = *live & ~(1u << (row & 31));
  uint32_t* const generation = cells.template generation<T>(row);
  *generation = *generation + 1;
  zero_row<T>(cells, row, typename T::components{});
}

template <class T, class S>
GE_FN void clear_pool(const Cells<S>& cells) {
  for (int row = 0; row < T::capacity; ++row) {
    if constexpr (T::scratch)
      *cells.template header<T>(row >> 5) = 0, *cells.template generation<T>(row) = 0;
    else if (cells.template alive<T>(row))
      destroy_row<T>(cells, row);
  }
}

}  // namespace ge
