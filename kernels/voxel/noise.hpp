// Gradient noise on a plane, after Perlin ("Improving Noise", SIGGRAPH 2002): a permutation of 256
// numbers chooses the gradients at whole places.
#pragma once

#include "engine/maths/math.hpp"

namespace ge::voxel {

namespace detail {

GE_FN float fade(float t) {
  return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f);
}
GE_FN float between_ends(float t, float a, float b) {
  return a + t * (b - a);
}
/// One of 12 gradients, four of them twice, in a plane of space.
GE_FN float slope(int hash, float x, float y) {
  const int h = hash & 15;
  const float u = h < 8 ? x : y, v = h < 4 ? y : (h == 12) | (h == 14) ? x : 0.0f;
  return ((h & 1) == 0 ? u : -u) + ((h & 2) == 0 ? v : -v);
}

}  // namespace detail

/// From -1 to 1. number(k): the permutation at k, which is from 0 to 255. Places from 0 to 2^20.
template <class F>
GE_FN float noise_at(float x, float y, const F& number) {
  const float along = floor(x), across = floor(y);
  const int i = to_int(along) & 255, j = to_int(across) & 255;
  x -= along, y -= across;
  const int a = number(i) + j, b = number((i + 1) & 255) + j;
  const auto corner = [&](int k, float from_x, float from_y) GE_LAMBDA {
    return detail::slope(number(number(k & 255)), from_x, from_y);
  };
  const float u = detail::fade(x);
  return detail::between_ends(
      detail::fade(y), detail::between_ends(u, corner(a, x, y), corner(b, x - 1.0f, y)),
      detail::between_ends(u, corner(a + 1, x, y - 1.0f), corner(b + 1, x - 1.0f, y - 1.0f)));
}
/// A sum of octaves, each of half the size and half the weight of the one before.
template <class F>
GE_FN float octaves_at(float x, float y, int octaves, const F& number) {
  float sum = 0.0f, weight = 1.0f;
  for (int k = 0; k < octaves; ++k) {
    sum += noise_at(x, y, number) * weight;
    x *= 2.0f, y *= 2.0f, weight *= 0.5f;
  }
  return sum;
}

}  // namespace ge::voxel
