// Rays of pictures, each with an origin of its own, and what is computed with packs of numbers
// (engine/maths/packs.hpp) beside vectors.
#pragma once

#include "geometry/ray_cast.hpp"

namespace ge::pictures {

using namespace geometry;  // its vectors and shapes are what pictures speak of

using Rays = geometry::Rays<Floats, Floats>;

inline constexpr float kFar = 1e30f;  // the limit of rays: nothing is met

/// From a at 0 to b at 1.
GE_FN Vecs mix(const Vecs& a, const Vecs& b, const Floats& share) {
  return a + (b - a) * share;
}

/// Lane by lane, as everything that packs have no operator for.
GE_FN Floats floors(const Floats& a) {
  Floats out{};
  for (int k = 0; k < kPack; ++k) set_lane(out, k, ge::floor(lane(a, k)));
  return out;
}
GE_FN Floats size(const Floats& a) {
  return max(a, -a);
}
GE_FN Floats at_least(const Floats& a, float b) {
  return max(a, ge::spread(b));
}
GE_FN Floats at_most(const Floats& a, float b) {
  return min(a, ge::spread(b));
}
GE_FN Floats unit_range(const Floats& a) {
  return at_most(at_least(a, 0.0f), 1.0f);
}
GE_FN float least(const Floats& a) {
  float out = lane(a, 0);
  for (int k = 1; k < kPack; ++k) out = ge::min(out, lane(a, k));
  return out;
}
GE_FN float most(const Floats& a) {
  float out = lane(a, 0);
  for (int k = 1; k < kPack; ++k) out = ge::max(out, lane(a, k));
  return out;
}

/// An axis-aligned rectangle of a plane.
/// Empty until something is added, and then meets nothing.
struct Rectangle {
  float low_x = 1e30f, low_y = 1e30f, high_x = -1e30f, high_y = -1e30f;

  void add(float x, float y) {
    low_x = ge::min(low_x, x), low_y = ge::min(low_y, y);
    high_x = ge::max(high_x, x), high_y = ge::max(high_y, y);
  }
  bool meets(const Rectangle& other) const {
    return (low_x <= other.high_x) & (other.low_x <= high_x) & (low_y <= other.high_y) &
           (other.low_y <= high_y);
  }
};

}  // namespace ge::pictures
