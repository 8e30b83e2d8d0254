// Vectors, and rays side by side: a pack of rays is cast at once (engine/maths/packs.hpp), as SIMD lanes
// here and as threads where the same code runs on a GPU.
#pragma once

#include "engine/maths/math.hpp"
#include "engine/maths/packs.hpp"

namespace ge::pictures {

using ge::spread;

/// Three numbers, or three packs of them.
template <class F>
struct Vector {
  F x, y, z;
};
using Vec3 = Vector<float>;
using Vecs = Vector<Floats>;

GE_FN Vec3 vec(const float (&a)[3]) {
  return {a[0], a[1], a[2]};
}
template <class F, class G>
GE_FN auto operator+(const Vector<F>& a, const Vector<G>& b) -> Vector<decltype(a.x + b.x)> {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class F, class G>
GE_FN auto operator-(const Vector<F>& a, const Vector<G>& b) -> Vector<decltype(a.x - b.x)> {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class F, class G>
GE_FN auto operator*(const Vector<F>& a, const G& s) -> Vector<decltype(a.x * s)> {
  return {a.x * s, a.y * s, a.z * s};
}
template <class F, class G>
GE_FN auto dot(const Vector<F>& a, const Vector<G>& b) -> decltype(a.x * b.x) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
GE_FN Vec3 cross(const Vec3& a, const Vec3& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
GE_FN Vec3 unit(const Vec3& a) {
  return a * (1.0f / ge::sqrt(dot(a, a)));
}
GE_FN Vecs spread(const Vec3& a) {
  return {ge::spread(a.x), ge::spread(a.y), ge::spread(a.z)};
}
GE_FN Vecs choose(const Mask& mask, const Vecs& a, const Vecs& b) {
  return {select(mask, a.x, b.x), select(mask, a.y, b.y), select(mask, a.z, b.z)};
}
/// From a at 0 to b at 1.
template <class F, class G>
GE_FN auto mix(const Vector<F>& a, const Vector<G>& b, const Floats& share) -> Vecs {
  return {a.x + (b.x - a.x) * share, a.y + (b.y - a.y) * share, a.z + (b.z - a.z) * share};
}

GE_FN Floats roots(const Floats& a) {
  Floats out{};
  for (int k = 0; k < kPack; ++k) set_lane(out, k, ge::sqrt(lane(a, k)));
  return out;
}
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

/// Where rays begin and where they go; directions need not have length one.
struct Rays {
  Vecs origin, direction;
};

/// An axis-aligned rectangle of a plane.
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
