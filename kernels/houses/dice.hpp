// Random choices of the generator: one sequence for each part of each house, so that a change to
// one part leaves the others as they are.
#pragma once

#include "engine/maths/random.hpp"

namespace ge::houses {

class Dice {
 public:
  /// `part`: such as Name("plan").hash().
  Dice(uint64_t seed, uint32_t part) : seed_(seed), part_(part) {}

  /// In [0, 1).
  float share() { return next().uniform(0); }
  float within(float low, float high) { return low + (high - low) * share(); }
  /// From 0 to count - 1.
  int below(int count) { return int(next().below(0, uint32_t(count))); }
  /// From low to high, both included.
  int between(int low, int high) { return low + below(high - low + 1); }
  bool chance(float probability) { return share() < probability; }

 private:
  Draw next() {
    return draw(uint32_t(seed_), uint32_t(seed_ >> 32), 0, 0, 0, part_, count_++ & 0xfffffu, 0);
  }

  uint64_t seed_;
  uint32_t part_, count_ = 0;
};

/// The nearest multiple of 1/256 m. Coordinates of plans are such multiples, so that their sums and
/// differences are exact.
inline float snapped(float metres) {
  return float(int32_t(metres * 256.0f + (metres < 0.0f ? -0.5f : 0.5f))) * 0x1p-8f;
}

}  // namespace ge::houses
