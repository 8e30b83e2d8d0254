// Rows that are alike (engine/cuda/alike_rows.hpp) on emulated lanes: tiles equal rows that are
// made one by one, wherever the array begins and whoever is absent, and leave all else untouched.
#include "engine/cuda/alike_rows.hpp"
#include "engine/float_rows.hpp"

namespace {

using namespace ge;
using namespace ge::test;

float shared_element(int k) {
  return k % 5 == 0 ? float(k + 1) : 0.0f;
}
float element(int row, int k) {
  return k == row ? -1.0f : shared_element(k);
}
/// Element `me` is -1 and one in five of the others is k + 1; kComplete: all others are set too.
template <bool kComplete>
struct Marked : WideRow<float> {
  static constexpr int capacity = 4096;
  static constexpr bool complete = kComplete;
  static int elements(const Sizes& sizes) { return sizes.elements; }
  static bool alike(const Sizes&) { return true; }
  static void turn(const Sizes&, FloatRow& row, int other, int me) {
    row.set(other, shared_element(other));
    row.set(me, -1.0f);
  }
};
template <bool kComplete>
void look(const World<Schema>& w, FloatRow& row, const Squad& squad, Slot me) {
  const int elements = w.params().elements;
  if constexpr (kComplete) {
    row.fill(0, elements, [me](int k) { return element(me.row, k); });
  } else {
    for (int k = 5 * squad.lane(); k < elements; k += 5 * squad.size())
      row.set(k, shared_element(k));
    squad.meet();
    if (squad.lane() == 0) row.set(me.row, -1.0f);
  }
}

template <bool kComplete>
bool equal(Sizes sizes, int shift, bool final, FloatRows::FateOf fate_of) {
  FloatRows rows(sizes, shift, final, fate_of);
  for (int k = 0; k < AlikeTile::count(sizes.rows, sizes.elements); ++k)
    rows.run([&](const Cells<Schema>& cells, const WideTarget& target) {
      put_tile<&look<kComplete>, Crowd, Marked<kComplete>>(cells, k, sizes.rows, target, 0, final);
    });
  return rows.equal(element);
}

}  // namespace

GE_TEST(tiles_equal_rows_wherever_vectors_begin) {
  for (const int elements : {300, 301, 302, 303, 512, 513, 515, 1025})
    for (int shift = 0; shift < 4; ++shift)
      CHECK(equal<true>({elements < 512 ? 270 : 17, elements}, shift, false, &all_here));
}
GE_TEST(tiles_of_few_rows_and_short_ones_equal_rows) {
  for (int elements = 1; elements < 9; ++elements)
    CHECK(equal<true>({elements, elements}, elements % 4, false, &all_here));
  CHECK(equal<true>({65, 130}, 1, false, &all_here));
  CHECK(equal<true>({66, 133}, 3, false, &all_here));
}
GE_TEST(tiles_of_rows_that_are_not_complete_begin_with_zeros) {
  for (const int elements : {302, 517}) CHECK(equal<false>({271, elements}, 2, false, &all_here));
}
GE_TEST(tiles_with_absent_agents_show_zeros_for_them) {
  CHECK(equal<true>({270, 303}, 1, false, &some_ended));
  CHECK(equal<false>({270, 303}, 1, false, &some_ended));
  CHECK(equal<true>({20, 33}, 0, false, &all_ended));
}
GE_TEST(tiles_of_final_rows_leave_those_of_others_untouched) {
  CHECK(equal<true>({270, 303}, 1, true, &some_ended));
  CHECK(equal<true>({270, 303}, 1, true, &all_here));
  CHECK(equal<true>({270, 303}, 3, true, &all_ended));
}
