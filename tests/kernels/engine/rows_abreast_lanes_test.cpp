// Rows that the lanes of a warp make abreast, each its own, on emulated lanes: they equal rows that
// a squad makes, wherever the array begins and whoever is absent, and leave all else untouched.
#include "engine/float_rows.hpp"

namespace {

using namespace ge;
using namespace ge::test;

struct Observation : WideRow<float> {
  static constexpr int capacity = 4096;
  static constexpr bool complete = true;
};
/// All elements but the last: 1, or lower where a span of this row passes; the last: its row.
float element(int elements, int row, int k) {
  if (k == elements - 1) return float(row);
  const int first = row % elements, last = first + row % 7;
  return k >= first && k <= last ? 0.5f : 1.0f;
}
void look(const World<Schema>& w, FloatRow& row, const Squad& squad, Slot me) {
  const int elements = w.params().elements, first = me.row % elements;
  row.change([](float) { return 9.0f; });
  // The lanes of a squad have a part each, and meet in the middle of some spans.
  const int last = min(first + me.row % 7, elements - 1);
  for (int k = first + squad.lane(); k <= last; k += squad.size())
    row.lower(k, min(k + 1, last), 4);
  row.change([](float x) { return x < 9.0f ? 0.5f : 1.0f; });
  if (squad.lane() == 0) row.set(elements - 1, float(me.row));
}

bool equal(Sizes sizes, int shift, bool final, FloatRows::FateOf fate_of) {
  FloatRows rows(sizes, shift, final, fate_of);
  for (int first = 0; first < sizes.rows; first += Squad::kLanes)
    rows.run([&](const Cells<Schema>& cells, const WideTarget& target) {
      put_abreast<&look, Crowd, Observation>(cells, first, target, first, final);
    });
  return rows.equal([&](int row, int k) { return element(sizes.elements, row, k); });
}

}  // namespace

GE_TEST(rows_abreast_equal_their_elements_wherever_vectors_begin) {
  for (const int elements : {1, 2, 3, 4, 5, 31, 37, 129, 130})
    for (int shift = 0; shift < 4; ++shift) CHECK(equal({64, elements}, shift, false, &all_here));
}
GE_TEST(rows_abreast_with_absent_agents_show_zeros_for_them) {
  for (int shift = 0; shift < 4; ++shift) {
    CHECK(equal({96, 33}, shift, false, &some_ended));
    CHECK(equal({32, 34}, shift, false, &all_ended));
  }
}
GE_TEST(final_rows_abreast_leave_those_of_others_untouched) {
  CHECK(equal({96, 33}, 1, true, &some_ended));
  CHECK(equal({96, 33}, 2, true, &all_here));
  CHECK(equal({96, 33}, 3, true, &all_ended));
}
