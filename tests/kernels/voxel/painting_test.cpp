// Painted boxes against a grid of cells that is painted in the same order.
#include "voxel/painting.hpp"

#include <array>
#include <map>
#include <tuple>

#include "engine/maths/random.hpp"
#include "test.hpp"

namespace {

using namespace ge;
using namespace ge::test;
using namespace ge::voxel;

constexpr int kSide = 10;

template <int N>
struct Sheet : Fixed<N, Painted> {
  static constexpr const char* name = "sheet";
};
/// Pieces in memory of their own.
template <int N>
struct Paper {
  std::array<uint32_t, N * sizeof(Painted) / 4> words{};
  Pieces<Sheet<N>> pieces{{reinterpret_cast<char*>(words.data()), 1, int(sizeof(Painted))}};
};

/// Paint by cell: colour and whether it is shown.
using Grid = std::map<std::tuple<int, int, int>, std::pair<uint32_t, uint32_t>>;
template <class F>
void visit_cells(const Painted& box, const F& f) {
  for (int x = box.low[0]; x < box.high[0]; ++x)
    for (int y = box.low[1]; y < box.high[1]; ++y)
      for (int z = box.low[2]; z < box.high[2]; ++z) f(std::tuple(x, y, z));
}
Painted random_box(uint32_t number, bool flat) {
  Painted box{};
  const Draw place = draw(1, 0, 0, 0, 0, 0, number, 0), size = draw(1, 0, 0, 0, 0, 0, number, 1);
  for (int k = 0; k < 3; ++k) {
    box.low[k] = int(place.below(k, kSide));
    const uint32_t longest = flat && int(size.below(3, 3)) == k ? 1u : uint32_t(kSide - box.low[k]);
    box.high[k] = box.low[k] + 1 + int(size.below(k, longest));
  }
  box.colour = place.below(3, 3), box.shown = place.word[3] & 1;
  return box;
}

}  // namespace

GE_TEST(pieces_have_no_overlaps_and_the_last_paint_of_every_cell) {
  for (uint32_t trial = 0; trial < 300; ++trial) {
    Paper<400> paper;
    Grid grid;
    for (uint32_t k = 0; k < 1 + trial % 12; ++k) {
      const Painted box = random_box(trial * 16 + k, trial % 2 != 0);
      paint(paper.pieces, box);
      visit_cells(box, [&](auto at) { grid[at] = {box.colour, box.shown}; });
    }
    CHECK(paper.pieces.needed <= 400);
    const int before = paper.pieces.count;
    unite_all(paper.pieces);
    CHECK(paper.pieces.count <= before);
    Grid found;
    for (int k = 0; k < paper.pieces.count; ++k) {
      const Painted piece = paper.pieces.rows.get(k);
      visit_cells(piece, [&](auto at) {
        CHECK(found.count(at) == 0);
        found[at] = {piece.colour, piece.shown};
      });
    }
    CHECK(found == grid);
  }
}

GE_TEST(neighbours_that_look_alike_become_one_box) {
  Paper<32> paper;
  for (int x = 0; x < 4; ++x)
    for (int y = 0; y < 3; ++y) paint(paper.pieces, {{x, y, 0}, {x + 1, y + 1, 1}, 0xffffff, 1});
  unite_all(paper.pieces);
  CHECK_EQ(paper.pieces.count, 1);
  paint(paper.pieces, {{4, 0, 0}, {5, 3, 1}, 0xffffff, 0});  // hidden: looks different
  unite_all(paper.pieces);
  CHECK_EQ(paper.pieces.count, 2);
}

GE_TEST(what_has_no_room_is_counted) {
  Paper<4> paper;
  for (int k = 0; k < 7; ++k) paint(paper.pieces, {{2 * k, 0, 0}, {2 * k + 1, 1, 1}, 1, 1});
  CHECK_EQ(paper.pieces.count, 4);
  CHECK_EQ(paper.pieces.needed, 7);
}
