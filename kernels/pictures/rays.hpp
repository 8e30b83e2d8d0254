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
  float lanes[kPack];  // as in geometry::roots
  store_pack(lanes, a);
  GE_LANES_LOOP
  for (int k = 0; k < kPack; ++k) lanes[k] = ge::floor(lanes[k]);
  return load_pack(lanes);
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

  static Rectangle all() { return {-kFar, -kFar, kFar, kFar}; }
  void add(float x, float y) {
    low_x = ge::min(low_x, x), low_y = ge::min(low_y, y);
    high_x = ge::max(high_x, x), high_y = ge::max(high_y, y);
  }
  void add(const Rectangle& other) {
    low_x = ge::min(low_x, other.low_x), low_y = ge::min(low_y, other.low_y);
    high_x = ge::max(high_x, other.high_x), high_y = ge::max(high_y, other.high_y);
  }
  Rectangle common(const Rectangle& other) const {
    return {ge::max(low_x, other.low_x), ge::max(low_y, other.low_y), ge::min(high_x, other.high_x),
            ge::min(high_y, other.high_y)};
  }
  Rectangle widened(float by) const { return {low_x - by, low_y - by, high_x + by, high_y + by}; }
  /// Nothing meets an empty one.
  bool meets(const Rectangle& other) const {
    return (low_x <= other.high_x) & (other.low_x <= high_x) & (low_y <= other.high_y) &
           (other.low_y <= high_y);
  }
};

/// The rectangle around many points, gathered lane by lane.
struct Ground {
  Floats low_x = spread(kFar), low_y = spread(kFar), high_x = spread(-kFar), high_y = spread(-kFar);

  GE_FN void add(const Floats& x, const Floats& y, const Mask& is_there) {
    low_x = select(is_there, min(low_x, x), low_x), low_y = select(is_there, min(low_y, y), low_y);
    high_x = select(is_there, max(high_x, x), high_x);
    high_y = select(is_there, max(high_y, y), high_y);
  }
  Rectangle bounds() const { return {least(low_x), least(low_y), most(high_x), most(high_y)}; }
};

}  // namespace ge::pictures
