// The way of an output's rows from the lanes that make them to the caller's array. A team (a warp,
// or the block where a block owns a world) stages the rows of its worlds side by side in shared
// memory, then all of its lanes copy the run with 16-byte stores: alone, a row of 658 bytes could
// not even be written by words.
//
//   dense      the worlds of a team follow one another and all their rows fit: one run
//                  |w0 r0|w0 r1|w1 r0|w1 r1| ... |
//   scattered  worlds from a worklist or a mask, or a piece of each world's rows: one run per
//              world, each in its slot
//                  |w3 r4|w3 r5|   |w9 r4|w9 r5|  ...
//
// A run is staged at the caller's address modulo 16, so that its 16-byte pieces lie alike on both
// sides; what precedes the first and follows the last goes element by element.
//
// Rows of 4, 8 or 16 bytes need none of this: the lane that makes one stores it. A row above
// kLargestRow is written by its lane element by element; pictures, which are that large, are drawn
// where they belong (graph/images.hpp) and never pass here.
#pragma once

#include "engine/base/platform_numbers.hpp"
#include "engine/base/platform_once.hpp"
#include "engine/graph/images.hpp"

#if defined(__CUDACC__)
// Loops over rows: one lane per world has only its own loads in flight, several lanes have each
// other's.
#define GE_UNROLL_ROWS _Pragma("unroll (G > 1 ? 1 : 4)")
#else
#define GE_UNROLL_ROWS
#endif

namespace ge {

/// What one store instruction moves.
/// It may alias whatever elements it carries.
template <int Bytes>
struct __attribute__((may_alias, aligned(Bytes))) StoreWidth {
  uint32_t word[Bytes / 4];
};
using Vector = StoreWidth<16>;

GE_FN int offset_in_vector(const void* address) {
  return int(reinterpret_cast<uintptr_t>(address) & 15);
}

/// Sizes of the staging area for rows of a type: kRows of each world, G lanes per world.
template <class Row, int kRows, int G>
struct StagingPlan {
  using Shape = RowShape<Row>;
  using Element = typename Shape::Element;
  static constexpr int team = G < 32 ? 32 : G;
  static constexpr int worlds = team / G;
  static constexpr int bytes = int(sizeof(Row));
  static constexpr bool vector_sized = bytes == 4 || bytes == 8 || bytes == 16;
  /// The owner of a row stores it: one lane per world leaves several rows of one world to one lane,
  /// far apart.
  static constexpr bool direct = vector_sized && (G > 1 || kRows == 1);

  static constexpr int kBudget = 8 * 1024, kLargestRow = 16 * 1024;  // bytes of a team
  static constexpr bool staging = !direct && bytes <= kLargestRow;
  /// Large rows are made where they are staged; indexed at run time, they would lie in local
  /// memory.
  static constexpr bool in_place = staging && bytes > 64;
  /// All lanes write the zeros of rows that are not complete: the words of one lane's row and those
  /// of another's often share a bank.
  static constexpr bool zeroed = in_place && !is_complete<Row>();

  static constexpr int at_least_one(int n, int most) { return n < 1 ? 1 : n < most ? n : most; }
  static constexpr int chunk =
      at_least_one(kBudget / (worlds * bytes), kRows);  // rows of a world at a time
  static constexpr int together =
      at_least_one(kBudget / (chunk * bytes + 16), worlds);  // worlds at a time
  // 16 bytes more than the rows, for what the target's address leaves over.
  static constexpr int slot = int(round_up(chunk * bytes, 16)) + 16;
  // Per world: its number and a byte per row that says whether the caller's row is to be written.
  static constexpr int head = int(round_up(4 + chunk, 4));
  static constexpr int heads = int(round_up(together * head, 16));
  static constexpr int shared = staging ? heads + together * slot : 0;  // bytes of a team
};

/// Sizes of the staging area for wide rows (staged_wide.hpp), whose length is known at run time.
struct WidePlan {
  static constexpr int budget = 4 * 1024;
  static constexpr int slots = 64;
  static constexpr int heads = 4 * slots + 32;        // and a byte per world of a team
  static constexpr int shared = heads + 16 + budget;  // bytes
};

/// A row as the elements that the caller receives, stored by one lane.
template <class Row>
GE_FN void put_row(typename RowShape<Row>::Element* to, const Row& row) {
  GE_WATCH(to, int(sizeof(*to)) * RowShape<Row>::elements, true);
  struct Plain {
    typename RowShape<Row>::Element at[RowShape<Row>::elements];
  };
  const Plain plain = __builtin_bit_cast(Plain, row);
  GE_UNROLL
  for (int k = 0; k < RowShape<Row>::elements; ++k) to[k] = plain.at[k];
}
/// Stores a row by one instruction, where the caller's address allows it.
template <class Row>
GE_FN void put_vector(typename RowShape<Row>::Element* to, const Row& row, bool aligned) {
  using P = StoreWidth<int(sizeof(Row))>;
  if (aligned) {
    GE_WATCH(to, sizeof(Row), true);
    store_once(to, __builtin_bit_cast(P, row));
  } else {
    put_row(to, row);
  }
}

/// Lane `lane` of `lanes` takes its part in copying a run; both addresses are equal modulo 16.
/// head: elements up to the first multiple of 16; these and the remainder are copied one by one.
template <class Element>
GE_FN void copy_run(Element* to, const Element* from, int count, int lane, int lanes) {
  constexpr int each = 16 / int(sizeof(Element));
  const int lead = ((16 - offset_in_vector(to)) & 15) / int(sizeof(Element));
  const int head = lead < count ? lead : count;
  const int vectors = (count - head) / each;
  const auto copy = [&](int i) GE_LAMBDA {
    GE_WATCH(from + i, sizeof(Element), false);
    GE_WATCH(to + i, sizeof(Element), true);
    to[i] = from[i];
  };
  GE_NO_UNROLL
  for (int i = lane; i < head; i += lanes) copy(i);
  GE_NO_UNROLL
  for (int i = lane; i < vectors; i += lanes) {
    GE_WATCH(from + head + i * each, 16, false);
    GE_WATCH(to + head + i * each, 16, true);
    reinterpret_cast<Vector*>(to + head)[i] = reinterpret_cast<const Vector*>(from + head)[i];
  }
  GE_NO_UNROLL
  for (int i = head + vectors * each + lane; i < count; i += lanes) copy(i);
}

/// Clears a run: lane `lane` of `lanes` takes its part.
template <class Element>
GE_FN void clear_run(Element* to, int64_t count, int lane, int lanes) {
  constexpr int each = 16 / int(sizeof(Element));
  const int64_t lead = ((16 - offset_in_vector(to)) & 15) / int(sizeof(Element));
  const int64_t head = lead < count ? lead : count;
  const int64_t vectors = (count - head) / each;
  const auto clear = [&](int64_t i) GE_LAMBDA {
    GE_WATCH(to + i, sizeof(Element), true);
    to[i] = Element{};
  };
  GE_NO_UNROLL
  for (int64_t i = lane; i < head; i += lanes) clear(i);
  GE_NO_UNROLL
  for (int64_t i = lane; i < vectors; i += lanes) {
    GE_WATCH(to + head + i * each, 16, true);
    reinterpret_cast<Vector*>(to + head)[i] = Vector{};
  }
  GE_NO_UNROLL
  for (int64_t i = head + vectors * each + lane; i < count; i += lanes) clear(i);
}

}  // namespace ge
