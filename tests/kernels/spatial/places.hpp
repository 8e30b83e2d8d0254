// Places of walkers for the tests of kernels/spatial, and what is near whom, said plainly.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/maths/random.hpp"

namespace ge::test {

struct Layout {
  std::vector<float> x, y;
  float side = 1, range = 0.1f;
  bool wraps = true;
};

/// From one coordinate to the other, the shorter way around.
inline float difference(const Layout& layout, float from, float to) {
  const float d = to - from, half = 0.5f * layout.side;
  if (!layout.wraps) return d;
  if (d >= half) return d - layout.side;
  return d <= -half ? d + layout.side : d;
}
/// As the environment mixes it.
inline uint32_t checksum(uint32_t row, float dx, float dy) {
  uint32_t value = row * 0x9e3779b9u + 0x85ebca6bu;
  value = (value ^ __builtin_bit_cast(uint32_t, dx)) * 0xc2b2ae35u;
  value = (value ^ value >> 15 ^ __builtin_bit_cast(uint32_t, dy)) * 0x27d4eb2fu;
  return value ^ value >> 13;
}

inline float place(const Draw& draw, int word, float side) {
  const float at = draw.uniform(word) * side;
  return at < side ? at : 0.0f;
}
/// Anywhere within a share of the square.
inline Layout uniform(uint32_t seed, int agents, float side, float range, bool wraps,
                      float spread) {
  Layout layout{{}, {}, side, range, wraps};
  const Draw corner = draw(seed, 1, 0, 0, 0, 1, 0, 0);
  for (int k = 0; k < agents; ++k) {
    const Draw at = draw(seed, 0, 0, 0, 0, 1, uint32_t(k), 0);
    const float room = side * (1.0f - spread);
    layout.x.push_back(corner.uniform(0) * room + place(at, 0, side * spread));
    layout.y.push_back(corner.uniform(1) * room + place(at, 1, side * spread));
  }
  return layout;
}
inline Layout one_point(int agents, float at, float range, bool wraps) {
  const std::vector<float> all(size_t(agents), at);
  return {all, all, 1.0f, range, wraps};
}
/// On the corners of `steps` x `steps` squares.
inline Layout lattice(int steps, float range, bool wraps) {
  Layout layout{{}, {}, 1.0f, range, wraps};
  for (int k = 0; k < steps * steps; ++k) {
    layout.x.push_back(float(k % steps) / float(steps));
    layout.y.push_back(float(k / steps) / float(steps));
  }
  return layout;
}
/// Along both edges: at 0, just below the side, and a little off.
inline Layout seam(uint32_t seed, int agents, float range, bool wraps) {
  Layout layout{{}, {}, 1.0f, range, wraps};
  const float off[] = {0.0f, 0.99999994f, 0x1p-30f, 0.0799999f, 0.08f, 0.92f, 0.9200001f, 0.5f};
  for (int k = 0; k < agents; ++k) {
    const Draw at = draw(seed, 0, 0, 0, 0, 2, uint32_t(k), 0);
    const float edge = off[at.below(0, 8)], along = at.uniform(1);
    layout.x.push_back(k % 2 == 0 ? edge : along);
    layout.y.push_back(k % 2 == 0 ? along : (k % 3 == 0 ? edge : off[at.below(2, 8)]));
  }
  return layout;
}

}  // namespace ge::test
