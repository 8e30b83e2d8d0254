// Bits on their way to the caller's array (engine/cuda/staged_wide.hpp): vectors of elements equal
// the elements one by one, wherever rows begin and end.
#include <vector>

#include "engine/checking/lanes_emulated.hpp"
#include "engine/cuda/staged_wide.hpp"
#include "split_mix.hpp"
#include "test.hpp"

namespace {

using namespace ge;
using namespace ge::test;

/// Rows of random bits, as a team stages them; what no bit covers is noise.
struct BitRows {
  int elements, count, stride;
  std::vector<uint32_t> words;
  std::vector<uint8_t> plain;

  BitRows(int n, int rows) : elements(n), count(rows), stride(((n + 31) / 32) | 1) {
    SplitMix random{uint64_t(n) * 77 + 1};
    words.resize(size_t(stride * count));
    for (uint32_t& word : words) word = uint32_t(random.next());
    for (int row = 0; row < count; ++row)
      for (int bit = 0; bit < n; ++bit)
        plain.push_back(words[size_t(row * stride + bit / 32)] >> (bit % 32) & 1u);
  }
  Expanded source() const { return {words.data(), stride, elements}; }
};

/// As a lane goes: from `first` on, every `step` elements.
template <class Out>
bool vectors_equal(const BitRows& rows, int first, int step) {
  constexpr int each = 16 / int(sizeof(Out));
  Expanded from = rows.source();
  from.seek(first);
  for (int at = first; at + each <= int(rows.plain.size()); at += step) {
    struct Items {
      Out at[each];
    };
    const auto items = __builtin_bit_cast(Items, from.template vector<Out>());
    for (int k = 0; k < each; ++k)
      if (items.at[k] != Out(rows.plain[size_t(at + k)])) return false;
    from.skip(step, step / rows.elements);
  }
  return true;
}

}  // namespace

GE_TEST(bits_become_bytes_and_floats_by_vectors_as_one_by_one) {
  for (const int elements : {16, 17, 20, 31, 32, 33, 47, 63, 64, 65, 96, 127, 658, 1041}) {
    const BitRows rows(elements, 7);
    for (int first = 0; first < 40 && first < elements; ++first)
      for (const int step : {16, 20, 512, 513}) {
        CHECK(vectors_equal<uint8_t>(rows, first, step));
        CHECK(vectors_equal<float>(rows, first, step));
      }
  }
}

GE_TEST(bits_of_the_shortest_rows_become_floats_by_vectors) {
  for (int elements = 4; elements < 16; ++elements) {
    const BitRows rows(elements, 40);
    for (int first = 0; first < elements; ++first) CHECK(vectors_equal<float>(rows, first, 128));
  }
}

GE_TEST(bits_become_elements_one_by_one_in_rows_of_any_length) {
  for (int elements = 1; elements < 70; ++elements) {
    const BitRows rows(elements, 5);
    Expanded from = rows.source();
    for (size_t at = 0; at < rows.plain.size(); ++at) {
      from.seek(int(at));
      CHECK_EQ(int(from.one<uint8_t>()), int(rows.plain[at]));
    }
  }
}
