// engine/maths/random.hpp against the vectors that Random123 publishes, and coarse checks of what
// is made from the words: enough to notice a wrong shift, not a test of Philox itself.
#include "engine/maths/random.hpp"

#include <cmath>
#include <set>

#include "test.hpp"

namespace {

using ge::Draw;

bool same_words(const Draw& draw, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return draw.word[0] == a && draw.word[1] == b && draw.word[2] == c && draw.word[3] == d;
}

Draw with_words(uint32_t a, uint32_t b, uint32_t c = 0, uint32_t d = 0) {
  return {{a, b, c, d}};
}

template <ge::Name name>
constexpr uint32_t hash_of() {
  return name.hash();
}

// Random123 1.14, tests/kat_vectors, "philox4x32 10".
GE_TEST(philox_published_vectors_match) {
  CHECK(
      same_words(ge::philox(0, 0, 0, 0, 0, 0), 0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  const uint32_t f = 0xffffffffu;
  CHECK(
      same_words(ge::philox(f, f, f, f, f, f), 0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  CHECK(same_words(
      ge::philox(0xa4093822u, 0x299f31d0u, 0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u),
      0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

GE_TEST(name_hash_is_fnv1a) {
  static_assert(hash_of<"">() == 0x811c9dc5u);
  static_assert(hash_of<"a">() == 0xe40c292cu);
  static_assert(hash_of<"foobar">() == 0xbf9cf968u);
  CHECK_EQ(hash_of<"foobar">(), 0xbf9cf968u);
}

GE_TEST(draw_packs_key_and_counter_as_documented) {
  const Draw packed = ge::draw(0x11111111u, 0x22222222u, 3, 4, 5, 0xabcd1234u, 6, 7);
  const Draw plain =
      ge::philox(0x11111111u ^ 0xabcd1234u, 0x22222222u ^ 0x1234abcdu, 3, 4, 5, 6u | 7u << 20);
  CHECK(same_words(packed, plain.word[0], plain.word[1], plain.word[2], plain.word[3]));
}

GE_TEST(draw_every_coordinate_matters) {
  std::set<uint32_t> first;
  for (uint32_t changed = 0; changed < 9; ++changed) {
    uint32_t at[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    if (changed < 8) at[changed] += 1;
    first.insert(ge::draw(at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]).word[0]);
  }
  CHECK_EQ(first.size(), size_t{9});
}

GE_TEST(draw_slots_beyond_20_bits_are_places_of_their_own) {
  constexpr uint32_t kStream = 6;
  std::set<uint32_t> first;
  uint32_t places = 0;
  for (const uint32_t high : {0u, 1u, 2u, 0xfffu})
    for (const uint32_t low : {0u, 7u, 0xfffffu})
      for (const uint32_t block : {0u, 1u, 8u, 0xfffu}) {
        const Draw far = ge::draw(1, 2, 3, 4, 5, kStream, high << 20 | low, block);
        const Draw folded = ge::draw(1, 2, 3, 4, 5, kStream ^ high * 0x9e3779b9u, low, block);
        CHECK_EQ(far.word[0], folded.word[0]);
        first.insert(far.word[0]);
        ++places;
      }
  CHECK_EQ(first.size(), size_t{places});
}

GE_TEST(uniform_ends_of_range_below_one) {
  CHECK_EQ(with_words(0, 0).uniform(0), 0.0f);
  CHECK_EQ(with_words(0, 0xffffffffu).uniform(1), 1.0f - 0x1p-24f);
  CHECK_EQ(with_words(0x80000000u, 0).uniform(0), 0.5f);
  CHECK_EQ(with_words(0, 0).uniform64(0), 0.0);
  CHECK_EQ(with_words(0, 0, 0xffffffffu, 0xffffffffu).uniform64(1), 1.0 - 0x1p-53);
  CHECK_EQ(with_words(0x80000000u, 0).uniform64(0), 0.5);
  CHECK_EQ(with_words(0, 1u << 6).uniform64(0), 0x1p-53);
}

GE_TEST(below_ends_of_range_stay_inside) {
  CHECK_EQ(with_words(0, 0xffffffffu).below(0, 10), 0u);
  CHECK_EQ(with_words(0, 0xffffffffu).below(1, 10), 9u);
  CHECK_EQ(with_words(0xffffffffu, 0).below(0, 0), 0u);
  CHECK_EQ(with_words(0xffffffffu, 0).below(0, 1), 0u);
  CHECK_EQ(with_words(0xffffffffu, 0).below(0, 0xffffffffu), 0xfffffffeu);
}

GE_TEST(between_has_both_ends) {
  CHECK_EQ(with_words(0, 0xffffffffu).between(0, -3, 4), -3);
  CHECK_EQ(with_words(0, 0xffffffffu).between(1, -3, 4), 4);
  CHECK_EQ(with_words(0xffffffffu, 0).between(0, 5, 5), 5);
  CHECK_EQ(with_words(0xffffffffu, 0).between(0, 5, 3), 5);
  CHECK_EQ(with_words(0xffffffffu, 0).between(0, -2'000'000'000, 2'000'000'000), 2'000'000'000);
}

GE_TEST(normal_smallest_and_largest_words_stay_finite) {
  for (const uint32_t a : {0u, 0xffffffffu})
    for (const uint32_t b : {0u, 0x40000000u, 0xffffffffu}) {
      const ge::NormalPair pair = with_words(a, b).normal(0);
      CHECK(std::abs(pair.first) < 5.78f);
      CHECK(std::abs(pair.second) < 5.78f);
    }
}

constexpr int kDraws = 200'000;

/// The draw of some world: what an environment would do.
Draw sample(int world) {
  return ge::draw(42, 0, static_cast<uint32_t>(world), 1, 2, hash_of<"test">(), 0, 0);
}

// Tolerances below are five standard deviations of the statistic; seeds are fixed, so that no run
// differs.
GE_TEST(uniform_mean_variance_and_correlation_as_expected) {
  for (int i = 0; i < 4; ++i) {
    double sum = 0, squares = 0, products = 0, before = 0;
    for (int world = 0; world < kDraws; ++world) {
      const double x = sample(world).uniform(i) - 0.5;
      sum += x, squares += x * x, products += x * before, before = x;
    }
    CHECK(std::abs(sum / kDraws) < 5 * std::sqrt(1 / 12.0 / kDraws));
    CHECK(std::abs(squares / kDraws - 1 / 12.0) < 5 * std::sqrt(1 / 180.0 / kDraws));
    CHECK(std::abs(products / kDraws) < 5 / 12.0 / std::sqrt(kDraws));
  }
}

GE_TEST(uniform64_mean_as_expected) {
  double sum = 0;
  for (int world = 0; world < kDraws; ++world)
    sum += sample(world).uniform64(0) + sample(world).uniform64(1) - 1;
  CHECK(std::abs(sum / kDraws) < 5 * std::sqrt(1 / 6.0 / kDraws));
}

GE_TEST(below_counts_even) {
  constexpr uint32_t kSides = 6;
  int counts[kSides] = {};
  for (int world = 0; world < kDraws; ++world) ++counts[sample(world).below(2, kSides)];
  const double expected = static_cast<double>(kDraws) / kSides;
  for (const int count : counts) CHECK(std::abs(count - expected) < 5 * std::sqrt(expected));
}

GE_TEST(normal_moments_as_expected) {
  double sum = 0, squares = 0, fourth = 0, product = 0;
  for (int world = 0; world < kDraws; ++world) {
    const ge::NormalPair pair = sample(world).normal(1);
    const double a = pair.first, b = pair.second;
    sum += a + b, squares += a * a + b * b, fourth += a * a * a * a + b * b * b * b,
        product += a * b;
  }
  constexpr int kValues = 2 * kDraws;
  CHECK(std::abs(sum / kValues) < 5 / std::sqrt(kValues));
  CHECK(std::abs(squares / kValues - 1) < 5 * std::sqrt(2.0 / kValues));
  CHECK(std::abs(fourth / kValues - 3) < 5 * std::sqrt(96.0 / kValues));
  CHECK(std::abs(product / kDraws) < 5 / std::sqrt(kDraws));
}

/// Any compiler and instruction set must give these bits.
GE_TEST(draws_same_bits_everywhere) {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&hash](uint64_t value) { hash = (hash ^ value) * 0x100000001b3u; };
  for (int world = 0; world < 20'000; ++world) {
    const Draw draw = sample(world);
    add(draw.word[3]);
    add(draw.below(1, 1000));
    add(__builtin_bit_cast(uint32_t, draw.uniform(0)));
    add(__builtin_bit_cast(uint64_t, draw.uniform64(0)));
    add(__builtin_bit_cast(uint32_t, draw.normal(0).first));
    add(__builtin_bit_cast(uint32_t, draw.normal(1).second));
  }
  CHECK_EQ(hash, 6330558429335321840u);
}

}  // namespace
