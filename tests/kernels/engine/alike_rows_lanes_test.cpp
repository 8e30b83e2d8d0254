// Rows that are alike (engine/cuda/alike_rows.hpp) on emulated lanes: tiles equal rows that are
// made one by one, wherever the array begins and whoever is absent, and leave all else untouched.
#include <vector>

#include "engine/checking/lanes_emulated.hpp"
#include "engine/cuda/alike_rows.hpp"
#include "nothing.hpp"
#include "test.hpp"

namespace {

using namespace ge;
using namespace ge::test;

struct Sizes {
  int32_t rows, elements;
};
struct Mark {
  int32_t value;
  static constexpr auto describe() { return fields(field("value", &Mark::value, "a number")); }
};
struct Crowd : Agents<kAny, Mark, Nothing> {
  static constexpr const char* name = "crowd";
  static GE_FN int64_t count(const Sizes& sizes) { return sizes.rows; }
};
struct Schema {
  using Params = Sizes;
  using Action = Nothing;
  using Agent = Crowd;
  using tables = Types<Crowd>;
  static constexpr Tuning tuning{.cpu_block = 1, .cuda_block = 1};
};
using W = World<Schema>;

/// Element `me` is -1 and one other in five is k; kComplete: the others are written too, as 0.
template <bool kComplete>
struct Marked : WideRow<float> {
  static constexpr int capacity = 4096;
  static constexpr bool complete = kComplete;
  static GE_FN int elements(const Sizes& sizes) { return sizes.elements; }
  static GE_FN bool alike(const Sizes&) { return true; }
  static GE_FN float shared(int k) { return k % 5 == 0 ? float(k + 1) : 0.0f; }
  static GE_FN void turn(const Sizes&, FloatRow& row, int other, int me) {
    row.set(other, shared(other));
    row.set(me, -1.0f);
  }
};
template <bool kComplete>
GE_FN void look(const W& w, FloatRow& row, const Squad& squad, Slot me) {
  const int elements = w.params().elements;
  if constexpr (kComplete) {
    row.fill(0, elements,
             [me](int k) GE_LAMBDA { return k == me.row ? -1.0f : Marked<true>::shared(k); });
  } else {
    for (int k = 5 * squad.lane(); k < elements; k += 5 * squad.size())
      row.set(k, Marked<true>::shared(k));
    squad.meet();
    if (squad.lane() == 0) row.set(me.row, -1.0f);
  }
}

constexpr float kUntouched = 77;

template <bool kComplete>
class Trial {
 public:
  Trial(Sizes sizes, int shift, bool final, uint32_t (*fate_of)(int row))
      : sizes_(sizes), shift_(shift), final_(final), fate_of_(fate_of) {
    record_.resize(size_t(block_bytes<AllTables<Schema>, 1>(sizes)) / 8 + 1);
    shared_.params = sizes, shared_.autoreset = Autoreset::same_step;
    const Cells<Schema> all = cells(0, 1);
    for (int row = 0; row < sizes.rows; ++row) all.store<Crowd, Fate>(row, {fate_of(row)});
  }
  bool equals_rows_made_one_by_one() {
    const int64_t count = int64_t{sizes_.rows} * sizes_.elements;
    // 16-byte aligned, with guards on both sides.
    std::vector<Vector> memory(size_t(count / 4 + 4));
    float* const begin = reinterpret_cast<float*>(memory.data());
    float* const to = begin + 4 + shift_;
    std::fill(begin, begin + memory.size() * 4, kUntouched);
    const WideTarget target{reinterpret_cast<char*>(to), Elements::float32, sizes_.elements,
                            nullptr};
    LaneEmulator emulator;
    for (int k = 0; k < AlikeTile::count(sizes_.rows, sizes_.elements); ++k)
      emulator.run_block(Squad::kLanes, k, k + 1, 64, [&] {
        put_tile<&look<kComplete>, Crowd, Marked<kComplete>>(
            cells(EmulatedLanes::thread(), Squad::kLanes), k, sizes_.rows, target, 0, final_);
      });
    bool equal = to[-1] == kUntouched && to[count] == kUntouched;
    for (int row = 0; row < sizes_.rows; ++row)
      for (int k = 0; k < sizes_.elements; ++k)
        equal = equal && to[int64_t{row} * sizes_.elements + k] == expected(row, k);
    return equal;
  }

 private:
  Cells<Schema> cells(int lane, int lanes) {
    return {&shared_, 0, reinterpret_cast<char*>(record_.data()), 0, nullptr, 1, 0, lane, lanes};
  }
  float expected(int row, int k) const {
    const bool just = (fate_of_(row) & Fate::kJustEnded) != 0;
    if (final_ && !just) return kUntouched;
    if (!final_ && fate_of_(row) != 0) return 0;
    return k == row ? -1.0f : Marked<true>::shared(k);
  }

  Sizes sizes_;
  int shift_;
  bool final_;
  uint32_t (*fate_of_)(int);
  Shared<Schema> shared_{};
  std::vector<uint64_t> record_;
};

template <bool kComplete>
bool equal(Sizes sizes, int shift, bool final, uint32_t (*fate_of)(int)) {
  return Trial<kComplete>(sizes, shift, final, fate_of).equals_rows_made_one_by_one();
}
uint32_t all_here(int) {
  return 0;
}
uint32_t all_ended(int) {
  return Fate::kGone | Fate::kTruncated | Fate::kJustEnded;
}
/// Those of phase 1 below row 64, a single one in the second block of rows.
uint32_t some_ended(int row) {
  return (row % 4 == 1 && row < 64) || row == 259 ? all_ended(row) : 0;
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
