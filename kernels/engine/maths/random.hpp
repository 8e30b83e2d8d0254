// Random numbers as a pure function of where they are used: Philox 4x32-10 (Salmon, Moraes, Dror
// and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011). There is no generator state,
// so that a draw in one place cannot shift the draws of another, and all lanes draw at once. Which
// step and stream a world uses is engine/world/world.hpp's matter.
#pragma once

#include "engine/maths/math.hpp"

namespace ge {

/// A string as a template argument: draw<"wind">(slot). One type for every length, since nvcc
/// cannot deduce arguments of a class template that is one of each.
struct Name {
  static constexpr size_t kMost = 48;
  char text[kMost];  // zeros behind the characters, one at least

  // Implicit, so that a literal can stand where a Name is wanted.
  template <size_t N>
  consteval Name(const char (&literal)[N]) : text{} {
    static_assert(N <= kMost, "GE: a name of a stream, phase or build has at most 47 characters");
    for (size_t i = 0; i < N; ++i) text[i] = literal[i];
  }

  /// Makes a Name from a text that is not a literal, such as a field's; longer texts are cut.
  static consteval Name of(const char* characters) {
    Name name("");
    for (size_t i = 0; i + 1 < kMost && characters[i] != 0; ++i) name.text[i] = characters[i];
    return name;
  }

  /// FNV-1a over the characters.
  consteval uint32_t hash() const {
    uint32_t value = 0x811c9dc5u;
    for (size_t i = 0; text[i] != 0; ++i)
      value = (value ^ static_cast<uint8_t>(text[i])) * 0x01000193u;
    return value;
  }
};

struct NormalPair {
  float first;
  float second;
};

/// Four independent random words and distributions made of them; functions that use one word are
/// not independent.
struct Draw {
  uint32_t word[4];

  /// In [0, 1), a multiple of 2^-24, from word i.
  GE_FN float uniform(int i) const {
    // Through int32_t: before AVX-512 there is no conversion from unsigned.
    return static_cast<float>(static_cast<int32_t>(word[i] >> 8)) * 0x1p-24f;
  }

  /// In [0, 1), a multiple of 2^-53, from words 2 i and 2 i + 1.
  GE_FN double uniform64(int i) const {
    const double high = static_cast<int32_t>(word[2 * i] >> 5);
    const double low = static_cast<int32_t>(word[2 * i + 1] >> 6);
    return (high * 0x1p26 + low) * 0x1p-53;
  }

  /// In [0, n), from word i; 0 for n = 0. Each value's probability is within 2^-32 of 1/n: it is
  /// off by at most one part in 4,000 for n up to a million.
  GE_FN uint32_t below(int i, uint32_t n) const {
    return static_cast<uint32_t>(static_cast<uint64_t>(word[i]) * n >> 32);
  }

  /// A whole number from low to high, both included; `low` where there is none.
  GE_FN int between(int i, int low, int high) const {
    const uint32_t first = uint32_t(low), count = uint32_t(high) - first + 1u;
    return int(first + below(i, high > low ? count : 1u));
  }

  /// Two independent standard normals (Box and Muller), from words 2 i and 2 i + 1; none is
  /// beyond 5.77.
  GE_FN NormalPair normal(int i) const {
    const float u = 1.0f - uniform(2 * i);  // in (0, 1], so that its logarithm is finite
    const float radius = sqrt(-2.0f * log(u));
    float sine, cosine;
    sincos_bounded(uniform(2 * i + 1) * 0x1.921fb6p+2f, sine, cosine);
    return {radius * cosine, radius * sine};
  }
};

namespace detail {

/// Recursion instead of a loop: g++ unrolls loops fully only after it has looked for loops to
/// vectorise.
template <int kRounds>
GE_FN Draw philox_rounds(uint32_t key0, uint32_t key1, uint32_t c0, uint32_t c1, uint32_t c2,
                         uint32_t c3) {
  if constexpr (kRounds == 0) {
    return {{c0, c1, c2, c3}};
  } else {
    const uint64_t a = static_cast<uint64_t>(c0) * 0xd2511f53u;
    const uint64_t b = static_cast<uint64_t>(c2) * 0xcd9e8d57u;
    const uint32_t next0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ key0;
    const uint32_t next2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ key1;
    return philox_rounds<kRounds - 1>(key0 + 0x9e3779b9u, key1 + 0xbb67ae85u, next0,
                                      static_cast<uint32_t>(b), next2, static_cast<uint32_t>(a));
  }
}

}  // namespace detail

/// Philox 4x32 with ten rounds.
GE_FN Draw philox(uint32_t key0, uint32_t key1, uint32_t c0, uint32_t c1, uint32_t c2,
                  uint32_t c3) {
  return detail::philox_rounds<10>(key0, key1, c0, c1, c2, c3);
}

/// The draw at a place. 192 bits hold all of it: the stream's hash is folded into the key, and slot
/// (20 bits) and block (12 bits) share a word; the upper bits of larger slots are folded into the
/// stream's part of the key. Streams of an environment must not collide.
GE_FN Draw draw(uint32_t seed_low, uint32_t seed_high, uint32_t identity, uint32_t episode,
                uint32_t step, uint32_t stream_hash, uint32_t slot, uint32_t block) {
  const uint32_t stream = stream_hash ^ (slot >> 20) * 0x9e3779b9u;
  const uint32_t turned = stream << 16 | stream >> 16;
  return philox(seed_low ^ stream, seed_high ^ turned, identity, episode, step,
                (slot & 0xfffffu) | block << 20);
}

}  // namespace ge
