// A world whose agents' rows of floats are made in the caller's array by emulated lanes: sizes and
// fates by hand, guards around the array, and what each row must show.
#pragma once

#include <functional>
#include <vector>

#include "engine/checking/lanes_emulated.hpp"
#include "engine/graph/wide_rows.hpp"
#include "nothing.hpp"
#include "test.hpp"

namespace ge::test {

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

inline constexpr float kUntouched = 77;

class FloatRows {
 public:
  using FateOf = uint32_t (*)(int row);

  /// `shift`: elements by which the array begins behind a multiple of 16 bytes.
  FloatRows(Sizes sizes, int shift, bool final, FateOf fate_of)
      : sizes_(sizes), shift_(shift), final_(final), fate_of_(fate_of) {
    record_.resize(size_t(block_bytes<AllTables<Schema>, 1>(sizes)) / 8 + 1);
    memory_.resize(size_t(int64_t{sizes.rows} * sizes.elements / 4 + 4));
    std::fill(begin(), begin() + memory_.size() * 4, kUntouched);
    shared_.params = sizes, shared_.autoreset = Autoreset::same_step;
    const Cells<Schema> all = cells(0);
    for (int row = 0; row < sizes.rows; ++row) all.store<Crowd, Fate>(row, {fate_of(row)});
  }
  /// Runs make(cells, target) on all lanes of a squad.
  template <class Make>
  void run(const Make& make) {
    const WideTarget target{reinterpret_cast<char*>(to()), Elements::float32, sizes_.elements,
                            nullptr};
    LaneEmulator().run_block(Squad::kLanes, 0, 1, 64,
                             [&] { make(cells(EmulatedLanes::thread()), target); });
  }
  /// Whether every row that is wanted shows seen(row, k), or zeros, and all else is untouched.
  template <class Seen>
  bool equal(const Seen& seen) {
    const int64_t count = int64_t{sizes_.rows} * sizes_.elements;
    bool equal = to()[-1] == kUntouched && to()[count] == kUntouched;
    for (int row = 0; row < sizes_.rows; ++row)
      for (int k = 0; k < sizes_.elements; ++k)
        equal = equal && to()[int64_t{row} * sizes_.elements + k] == expected(row, k, seen);
    return equal;
  }

 private:
  float* begin() { return reinterpret_cast<float*>(memory_.data()); }
  float* to() { return begin() + 4 + shift_; }
  Cells<Schema> cells(int lane) {
    return {&shared_,     0, reinterpret_cast<char*>(record_.data()), 0, nullptr, 1, 0, lane,
            Squad::kLanes};
  }
  template <class Seen>
  float expected(int row, int k, const Seen& seen) const {
    const bool just = (fate_of_(row) & Fate::kJustEnded) != 0;
    if (final_ && !just) return kUntouched;
    if (!final_ && fate_of_(row) != 0) return 0;
    return seen(row, k);
  }

  Sizes sizes_;
  int shift_;
  bool final_;
  FateOf fate_of_;
  Shared<Schema> shared_{};
  std::vector<uint64_t> record_;
  std::vector<FourFloats> memory_;
};

inline uint32_t all_here(int) {
  return 0;
}
inline uint32_t all_ended(int) {
  return Fate::kGone | Fate::kTruncated | Fate::kJustEnded;
}
/// Those of phase 1 below row 64, and row 259.
inline uint32_t some_ended(int row) {
  return (row % 4 == 1 && row < 64) || row == 259 ? all_ended(row) : 0;
}

}  // namespace ge::test
