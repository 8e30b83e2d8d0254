// From a draft to a level: the stages behind the one that fills a Draft. L, a component of one row,
// has the counts: `parts`, `pieces`, `boxes`, `diamonds` and `marks`.
#pragma once

#include "voxel/draft.hpp"

namespace ge::voxel {

/// Counts of a level. A game may have them in a component of its own.
struct Counts {
  int32_t parts, pieces, boxes, diamonds, marks;
  /// More than any level has; things without room in a table are counted too.
  static constexpr int kMost = 1 << 16;
  static constexpr auto describe() {
    return fields(
        field("part_count", &Counts::parts, "boxes of floors and walls, before they are merged")
            .within(0, kMost),
        field("piece_count", &Counts::pieces, "boxes of floors and walls, merged").within(0, kMost),
        field("box_count", &Counts::boxes, "boxes to carry").within(0, kMost),
        field("diamond_count", &Counts::diamonds, "diamonds at the start").within(0, kMost),
        field("mark_count", &Counts::marks, "marked fields").within(0, kMost));
  }
};
template <class M>
GE_FN void count(const Draft<M>& draft, auto& level) {
  level.parts = draft.parts, level.marks = draft.marks;
  level.boxes = draft.crates, level.diamonds = draft.diamonds;
}

/// Stages that copy the rows of From to To. The field kCount of L, a component of one row, says how
/// many there are.
template <class M, class L, int32_t L::* kCount, class From, class To,
          class Cs = typename From::components>
struct Copied;
template <class M, class L, int32_t L::* kCount, class From, class To, class... Cs>
struct Copied<M, L, kCount, From, To, Types<Cs...>> {
  using W = WorldOf<M>;
  static GE_FN int count(const W&, const L& level) { return level.*kCount; }
  static GE_FN void copy(const W& w, int k, Cs&... row) { ((row = get<From, Cs>(w, k)), ...); }
  using type = Stages<For<&count, &copy, To>>;
};
template <class M, class L, int32_t L::* kCount>
struct Copied<M, L, kCount, NoTable, NoTable, Types<>> {
  using type = Stages<>;
};

template <class M, class L>
struct Levels {
  using W = WorldOf<M>;

  static GE_FN void merge_parts(const W& w, L& level, Rows<typename M::Offcuts, Painted> rows) {
    level.pieces = merge<M>(w, level.parts, rows);
  }
  /// Statics that every level of a game has: `int M::fixture_count(w)`, `Static M::fixture(w, k)`.
  static constexpr bool kHasFixtures = requires(const W& w) { M::fixture(w, 0); };
  static GE_FN int static_count(const W& w, const L& level) {
    if constexpr (kHasFixtures)
      return level.pieces + M::fixture_count(w);
    else
      return level.pieces;
  }
  static GE_FN void make_static(const W& w, int k, Static& box) {
    if constexpr (kHasFixtures) {
      const int fixtures = M::fixture_count(w);
      if (k < fixtures) {
        box = M::fixture(w, k);
        return;
      }
      k -= fixtures;
    }
    box = static_of<M>(get<typename M::Offcuts, Painted>(w, k));
  }
  template <int32_t L::* kCount, class From, class To>
  using Copy = typename Copied<M, L, kCount, From, To>::type;
  using Finish =
      chain<Stages<EachWorld<&merge_parts>, For<&static_count, &make_static, typename M::Statics>>,
            Copy<&L::marks, typename M::Fields, typename M::Marks>,
            Copy<&L::boxes, typename M::Stock, typename M::Crates>,
            Copy<&L::diamonds, typename M::Gems, typename M::Diamonds>>;
};

}  // namespace ge::voxel
