// Bits on their way to the caller's array (engine/cuda/staged_wide.hpp): rows that share words of a
// stream, and vectors of elements that equal the elements one by one.
#include <vector>

#include "engine/checking/lanes_emulated.hpp"
#include "engine/cuda/staged_wide.hpp"
#include "split_mix.hpp"
#include "test.hpp"

namespace {

using namespace ge;
using namespace ge::test;

/// BitRows of random bits behind `skew` bits that nobody sets.
struct BitRows {
  std::vector<uint32_t> words;
  std::vector<uint8_t> plain;

  BitRows(int skew, int elements, int count)
      : words(size_t(skew + elements * count + 31) / 32 + 1) {
    SplitMix random{uint64_t(elements) * 77 + 1};
    plain.resize(size_t(skew));
    for (int k = 0; k < elements * count; ++k) plain.push_back(random.next() & 1u);
    // The last row first: lanes come in any order.
    for (int row = count - 1; row >= 0; --row) append(skew + row * elements, elements);
  }

 private:
  void append(int first, int elements) {
    BitRow row(words.data(), first);
    SplitMix random{uint64_t(first)};
    for (int bit = 0; bit < elements;) {
      const int most = elements - bit, wanted = int(random.next() % 65);
      const int count = wanted < most ? wanted : most;
      uint64_t bits = 0;
      for (int k = 0; k < count; ++k) bits |= uint64_t{plain[size_t(first + bit + k)]} << k;
      row.append64(bits, count);
      bit += count;
    }
    CHECK_EQ(row.finish(), elements);
  }
};

/// As a lane goes: from `first` on, every `step` elements.
template <class Out>
bool vectors_equal(const BitRows& rows, int first, int step) {
  constexpr int each = 16 / int(sizeof(Out));
  BitStream from(rows.words.data(), first);
  for (int at = first; at + each <= int(rows.plain.size()); at += step) {
    struct Items {
      Out at[each];
    };
    const auto items = __builtin_bit_cast(Items, from.template vector<Out>());
    for (int k = 0; k < each; ++k)
      if (items.at[k] != Out(rows.plain[size_t(at + k)])) return false;
    from.skip(step);
  }
  return true;
}

}  // namespace

GE_TEST(rows_that_share_words_keep_their_bits) {
  for (int elements = 1; elements < 100; ++elements)
    for (const int skew : {0, 1, 15, 31, 32, 40}) {
      const BitRows rows(skew, elements, 7);
      for (size_t at = 0; at < rows.plain.size(); ++at)
        CHECK_EQ(int(BitStream(rows.words.data(), int(at)).one<uint8_t>()), int(rows.plain[at]));
    }
}

GE_TEST(bits_become_bytes_and_floats_by_vectors_as_one_by_one) {
  for (const int elements : {1, 4, 16, 17, 31, 32, 33, 64, 127, 658, 1041})
    for (const int skew : {0, 5, 12}) {
      const BitRows rows(skew, elements, 9);
      for (int first = 0; first < 512; first += 4)
        for (const int step : {32, 128, 512}) {
          CHECK(vectors_equal<float>(rows, first, step));
          if (first % 16 == 0) CHECK(vectors_equal<uint8_t>(rows, first, step));
        }
    }
}
