// A player that knows nothing: uniformly random actions among those that a mask allows. For
// benchmarks, tests and opponents; one row after the other, the same numbers on every machine.
#pragma once

#include <cstring>

#include "engine/base/platform_numbers.hpp"
#include "engine/maths/random.hpp"

namespace ge {

/// Agents of a world up to number `end`, and how many categories their actions have.
struct SampledRole {
  int32_t end, choices;
};

/// Which actions are drawn: rows of one category each.
struct Sampling {
  const int8_t* mask;  // rows x choices, 0 or 1; null: every category is legal
  int64_t rows;
  int choices;  // at most 64 where there is a mask
  uint32_t seed_low, seed_high;
  uint32_t number = 0;  // of the draw: another one for every call, as the simulator counts them
  // Where roles have fewer categories than `choices` and there is no mask to tell.
  static constexpr int kRoles = 8;
  int32_t agents = 1, role_count = 0;
  SampledRole roles[kRoles] = {};
};

inline constexpr uint32_t kSamplingStream = Name("sampled_actions").hash();

/// Four rows share a draw.
inline constexpr int kSampledTogether = 4;
GE_FN Draw sampling_draw(const Sampling& s, int64_t row) {
  const int64_t group = row / kSampledTogether;
  return draw(s.seed_low, s.seed_high, uint32_t(group), uint32_t(group >> 32), s.number,
              kSamplingStream, 0, 0);
}

/// Bit k: category k of a row is legal.
GE_FN uint64_t legal_bits(const int8_t* mask, int choices) {
  uint64_t bits = 0;
  int k = 0;
  if constexpr (kLoadsAnywhere) {
    // Eight bytes of 0 or 1 at once: the product moves byte i to bit 56 + i.
    for (; k + 8 <= choices; k += 8) {
      uint64_t bytes;
      std::memcpy(&bytes, mask + k, 8);
      bits |= ((bytes & 0x0101010101010101u) * 0x0102040810204080u >> 56) << k;
    }
  }
  for (; k < choices; ++k) bits |= uint64_t(mask[k] & 1) << k;
  return bits;
}

/// How many categories a row has.
GE_FN int32_t choices_of_row(const Sampling& s, int64_t row) {
  if (s.role_count == 0) return s.choices;
  const int32_t agent = int32_t(row % s.agents);
  int32_t choices = s.roles[0].choices;
  GE_UNROLL  // with an index that is not constant, a GPU would copy them all
      for (int k = 1; k < Sampling::kRoles; ++k) choices =
          k < s.role_count && agent >= s.roles[k - 1].end ? s.roles[k].choices : choices;
  return choices;
}

/// The legal category of a row that a word picks; 0 where none is legal.
GE_FN int32_t sampled_action(const Sampling& s, int64_t row, uint32_t word) {
  if (s.mask == nullptr) return int32_t(uint64_t{word} * uint32_t(choices_of_row(s, row)) >> 32);
  uint64_t bits = legal_bits(s.mask + row * s.choices, s.choices);
  if (bits == 0) return 0;
  for (uint32_t left = uint32_t(uint64_t{word} * uint32_t(count_ones(bits)) >> 32); left > 0;
       --left)
    bits &= bits - 1;
  return lowest_one(bits);
}

}  // namespace ge
