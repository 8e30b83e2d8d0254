// Uniformly random actions among those that a mask allows: for benchmarks, tests and opponents, row
// by row, with the same numbers on every machine. An action of several words is drawn word by word.
#pragma once

#include <cstring>

#include "engine/base/platform_numbers.hpp"
#include "engine/maths/random.hpp"
#include "engine/maths/scalar.hpp"

namespace ge {

/// Agents of a world up to number `end`, and how many categories their actions have.
struct SampledRole {
  int32_t end, choices;
};

/// One draw: a word of the action of every row.
struct Sampling {
  const int8_t* mask;  // of the first row; nonzero: the category is legal. Null: all are legal
  int64_t rows;
  int64_t choices;  // integers from `first`; 0: a float from `low` to `high`
  uint32_t seed_low, seed_high;
  uint32_t number = 0;  // of the draw: another one for every call, as the simulator counts them
  // For roles with fewer categories than `choices`, where there is no mask.
  static constexpr int kRoles = 64;
  int32_t agents = 1, role_count = 0;
  SampledRole roles[kRoles] = {};
  int64_t stride = 1;       // words from one row's action to the next one's
  int64_t mask_stride = 0;  // bytes from one row's mask to the next one's
  int32_t first = 0;        // lowest integer; 0 where there is a mask
  float low = 0, high = 0;
};

inline constexpr uint32_t kSamplingStream = Name("sampled_actions").hash();

/// Four rows share a draw.
inline constexpr int kSampledTogether = 4;
GE_FN Draw sampling_draw(const Sampling& s, uint32_t number, int64_t row) {
  const int64_t group = row / kSampledTogether;
  return draw(s.seed_low, s.seed_high, uint32_t(group), uint32_t(group >> 32), number,
              kSamplingStream, 0, 0);
}

inline constexpr int kLegalBits = 64;  // categories whose legality fits one word

/// Bit k: category k is legal; of at most kLegalBits categories.
GE_FN uint64_t legal_bits(const int8_t* mask, int choices) {
  uint64_t bits = 0;
  int k = 0;
  if constexpr (kLoadsAnywhere) {
    for (; k + 8 <= choices; k += 8) {
      uint64_t bytes;
      std::memcpy(&bytes, mask + k, 8);
      // Into the lowest bit of each byte: whether the byte has any.
      bytes |= bytes >> 4, bytes |= bytes >> 2, bytes |= bytes >> 1;
      // The product moves byte i to bit 56 + i.
      bits |= ((bytes & 0x0101010101010101u) * 0x0102040810204080u >> 56) << k;
    }
  }
  for (; k < choices; ++k) bits |= uint64_t{mask[k] != 0} << k;
  return bits;
}

/// The index of the lowest set bit after `left` lower ones are cleared.
GE_FN int32_t nth_one(uint64_t bits, uint32_t left) {
  for (; left > 0; --left) bits &= bits - 1;
  return lowest_one(bits);
}

/// The legal category that a word picks; 0 where none is legal.
GE_FN int32_t legal_category(const int8_t* mask, int64_t choices, uint32_t word) {
  if (choices <= kLegalBits) {
    const uint64_t bits = legal_bits(mask, int(choices));
    if (bits == 0) return 0;
    return nth_one(bits, uint32_t(uint64_t{word} * uint32_t(count_ones(bits)) >> 32));
  }
  const auto part = [&](int64_t at) {
    return legal_bits(mask + at, int(choices - at < kLegalBits ? choices - at : kLegalBits));
  };
  uint32_t legal = 0;
  for (int64_t at = 0; at < choices; at += kLegalBits) legal += uint32_t(count_ones(part(at)));
  uint32_t left = uint32_t(uint64_t{word} * legal >> 32);
  for (int64_t at = 0; at < choices; at += kLegalBits) {
    const uint64_t bits = part(at);
    const uint32_t ones = uint32_t(count_ones(bits));
    if (left < ones) return int32_t(at) + nth_one(bits, left);
    left -= ones;
  }
  return 0;
}

/// The number of categories of a row's action.
GE_FN int64_t choices_of_row(const Sampling& s, int64_t row) {
  if (s.role_count == 0) return s.choices;
  const int32_t agent = int32_t(row % s.agents);
  int role = 0;
  while (role + 1 < s.role_count && agent >= s.roles[role].end) ++role;
  return s.roles[role].choices;
}

/// The float that a word picks, in [low, high]; of the ends by their shares, since their difference
/// may be too large for a float.
GE_FN float sampled_float(float low, float high, uint32_t word) {
  const float share = Draw{{word}}.uniform(0);
  return clamp(low * (1.0f - share) + high * share, low, high);
}

/// The word of a row's action that a random word picks; floats by their bits.
GE_FN int32_t sampled_action(const Sampling& s, int64_t row, uint32_t word) {
  if (s.choices == 0) return int32_t(detail::to_bits(sampled_float(s.low, s.high, word)));
  if (s.mask != nullptr) return legal_category(s.mask + row * s.mask_stride, s.choices, word);
  const uint64_t below = uint64_t{word} * uint64_t(choices_of_row(s, row)) >> 32;
  return int32_t(int64_t{s.first} + int64_t(below));
}

}  // namespace ge
