// The light of a picture: a lamp that moves with the eye, without shadows.
#pragma once

#include "cameras/eye.hpp"

namespace ge::cameras {

/// Colours are used as they are stored: no gamma, no tone mapping.
struct Headlamp {
  float ambient = 0.33f, diffuse = 0.73f * 0.66f;
  float above = 4.0f, behind = 2.0f;  // [m], of the eye
  bool shines = true;                 // with a highlight, of exponent 300

  GE_FN Vec3 from(const Eye& eye) const { return eye.up * above - eye.forward * behind; }
};

namespace detail {

/// Below it x^300 is less than 2e-11, and counts as 0: no byte of a colour would differ.
inline constexpr float kDimmest = 0.92f;

/// x^300, by squaring: 256 + 32 + 8 + 4.
template <class F>
GE_FN F highlight(F x) {
  const F near = select(x > kDimmest, x, all_lanes<F>(0.0f));
  const F x2 = near * near, x4 = x2 * x2, x8 = x4 * x4, x16 = x8 * x8, x32 = x16 * x16;
  const F x64 = x32 * x32, x128 = x64 * x64;
  return x128 * x128 * x32 * x8 * x4;
}

}  // namespace detail

/// Effect of the light on colours: `scale` times the colour, `shine` added to all of it.
template <class F>
struct Lit {
  F scale, shine;
};
/// `point` is a point of the surface, from the eye; `normal` of length 1; `lamp` from the eye.
template <class F>
GE_FN Lit<F> lit(const Headlamp& light, Vec3 lamp, const Vector<F>& point,
                 const Vector<F>& normal) {
  const F zero = all_lanes<F>(0.0f), one = all_lanes<F>(1.0f);
  const Vector<F> to_lamp = {lamp.x - point.x, lamp.y - point.y, lamp.z - point.z};
  const F away = 1.0f / roots(dot(to_lamp, to_lamp));
  const F facing = dot(normal, to_lamp) * away;
  Lit<F> result{light.ambient + light.diffuse * max(zero, facing), zero};
  if (!light.shines) return result;
  // The mirrored direction to the lamp, along the line to the point: its cosine with the direction
  // to the eye, times the distance. Where no cosine is near kDimmest, none is computed.
  const F square = dot(point, point);
  const F back = dot(to_lamp, point) * away - 2.0f * facing * dot(normal, point);
  constexpr float kNear = 0.99f * detail::kDimmest;
  const auto shines = (facing > 0.001f) & (back > 0.0f);
  if (!geometry::detail::in_any_lane(shines & (back * back > kNear * kNear * square)))
    return result;
  const F shine = min(one, detail::highlight(max(zero, back / roots(square))));
  result.shine = select(shines, shine, zero);
  return result;
}

}  // namespace ge::cameras
