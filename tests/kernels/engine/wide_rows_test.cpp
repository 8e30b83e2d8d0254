// Writers of wide rows, and the forms in which a row reaches the caller, against plain loops. How
// executors stage and cut rows is held by the golden hashes of Hanabi and Overcooked.
#include "engine/graph/wide_rows.hpp"

#include <vector>

#include "engine/graph/host_rows.hpp"
#include "engine/maths/random.hpp"
#include "test.hpp"

using namespace ge;
using namespace ge::test;

namespace {

struct BitsRow : WideRow<bool> {
  static constexpr int capacity = 700;
};
struct BytesRow : WideRow<uint8_t> {
  static constexpr int capacity = 10'000;
};
struct FloatsRow : WideRow<float> {
  static constexpr int capacity = 64;
};

uint32_t random_word(int k) {
  return draw(1, 2, 3, 4, 5, 6, uint32_t(k), 0).word[0];
}

/// Pieces of 0 to 32 bits until `elements` are reached, appended and listed.
std::vector<uint8_t> append_random(BitRow& row, int elements) {
  std::vector<uint8_t> listed;
  for (int k = 0; int(listed.size()) < elements; ++k) {
    const int left = elements - int(listed.size());
    int count = int(random_word(2 * k) % 33);
    count = count < left ? count : left;
    const uint32_t bits =
        count == 32 ? random_word(2 * k + 1) : random_word(2 * k + 1) & ((1u << count) - 1);
    row.append(bits, count);
    for (int b = 0; b < count; ++b) listed.push_back(bits >> b & 1);
  }
  return listed;
}

std::vector<char> put_bits(Elements format, int elements, std::vector<uint8_t>& expected,
                           bool shows = true) {
  // Guards on both sides: a row writes its own bytes only.
  const int64_t bytes = wide_bytes(format, elements);
  std::vector<char> memory(size_t(3 * bytes), char(0x5a));
  const WideTarget target{memory.data(), format, elements, nullptr};
  HostWideRow<BitsRow>::put(target, 1, shows,
                            [&](BitRow& row) { expected = append_random(row, elements); });
  for (int64_t i = 0; i < bytes; ++i) {
    CHECK_EQ(memory[size_t(i)], char(0x5a));
    CHECK_EQ(memory[size_t(2 * bytes + i)], char(0x5a));
  }
  return {memory.begin() + bytes, memory.begin() + 2 * bytes};
}

}  // namespace

GE_TEST(appended_bits_come_out_as_bytes_floats_and_packed) {
  for (const int elements : {1, 7, 8, 31, 32, 33, 64, 658, 700}) {
    std::vector<uint8_t> expected;
    const std::vector<char> bytes = put_bits(Elements::uint8, elements, expected);
    CHECK_EQ(bytes.size(), size_t(elements));
    for (int i = 0; i < elements; ++i) CHECK_EQ(int(bytes[size_t(i)]), int(expected[size_t(i)]));
    const std::vector<char> floats = put_bits(Elements::float32, elements, expected);
    for (int i = 0; i < elements; ++i) {
      float value;
      std::memcpy(&value, floats.data() + 4 * i, 4);
      CHECK_EQ(value, float(expected[size_t(i)]));
    }
    const std::vector<char> packed = put_bits(Elements::bits, elements, expected);
    CHECK_EQ(packed.size(), size_t((elements + 7) / 8));
    for (int i = 0; i < int(packed.size()) * 8; ++i)
      CHECK_EQ(packed[size_t(i / 8)] >> (i % 8) & 1, i < elements ? expected[size_t(i)] : 0);
  }
}

GE_TEST(rows_that_do_not_show_are_zero) {
  std::vector<uint8_t> unused;
  for (const Elements format : {Elements::uint8, Elements::float32, Elements::bits})
    for (const char byte : put_bits(format, 77, unused, false)) CHECK_EQ(int(byte), 0);
}

GE_TEST(sixty_four_bits_and_zeros_are_appended_like_their_parts) {
  uint32_t words[8] = {};
  BitRow row(words);
  row.append(1, 3);
  row.append64(0x8000'0000'0000'0001u, 64);
  row.zeros(70);
  row.append64(5, 3);
  CHECK_EQ(row.finish(), 3 + 64 + 70 + 3);
  for (int bit = 0; bit < 140; ++bit) {
    const bool set = bit == 0 || bit == 3 || bit == 66 || bit == 137 || bit == 139;
    CHECK_EQ(words[bit / 32] >> (bit % 32) & 1u, set ? 1u : 0u);
  }
}

GE_TEST(bytes_are_set_over_the_background_in_any_order) {
  std::vector<uint8_t> background(10'000);
  for (int i = 0; i < 10'000; ++i) background[size_t(i)] = uint8_t(i * 7);
  const auto make = [](ByteRow& row) {
    row.set(9'999, 3);
    row.set(0, 1);
    row.set(5'000, 2);
    row.set(-1, 9);      // outside of the row: dropped
    row.set(10'000, 9);  // dropped too
  };
  std::vector<uint8_t> expected = background;
  expected[9'999] = 3, expected[0] = 1, expected[5'000] = 2;
  std::vector<uint8_t> bytes(10'000);
  std::vector<float> floats(10'000);  // made in pieces
  const auto target = [&](void* to, Elements format, const uint8_t* from) {
    return WideTarget{static_cast<char*>(to), format, 10'000, from};
  };
  HostWideRow<BytesRow>::put(target(bytes.data(), Elements::uint8, background.data()), 0, true,
                             make);
  HostWideRow<BytesRow>::put(target(floats.data(), Elements::float32, background.data()), 0, true,
                             make);
  CHECK(bytes == expected);
  for (int i = 0; i < 10'000; ++i) CHECK_EQ(floats[size_t(i)], float(expected[size_t(i)]));
  HostWideRow<BytesRow>::put(target(bytes.data(), Elements::uint8, nullptr), 0, true, make);
  CHECK_EQ(int(bytes[1]), 0);
  CHECK_EQ(int(bytes[5'000]), 2);
}

GE_TEST(floats_are_set_over_zeros) {
  std::vector<float> floats(64, 7.0f);
  const WideTarget target{reinterpret_cast<char*>(floats.data()), Elements::float32, 64, nullptr};
  HostWideRow<FloatsRow>::put(target, 0, true, [](FloatRow& row) { row.set(63, 0.5f); });
  CHECK_EQ(floats[63], 0.5f);
  CHECK_EQ(floats[0], 0.0f);
}
