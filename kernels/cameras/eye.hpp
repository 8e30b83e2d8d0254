// Where a picture is taken from, and which way its pixels look.
#pragma once

#include "geometry/ray_cast.hpp"

namespace ge::cameras {

using namespace geometry;
using geometry::Vector;  // not what moves rows on a GPU

/// Axes of length 1, at right angles.
struct Eye {
  Vec3 at, right, up, forward;
};

/// An eye at a place, turned to the left by `yaw` from looking along +y, then up by `pitch` [rad],
/// both within the bound of sincos_bounded.
GE_FN Eye eye_at(Vec3 at, float yaw, float pitch) {
  float sine, cosine, rise, level;
  sincos_bounded(yaw, sine, cosine);
  sincos_bounded(pitch, rise, level);
  return {at,
          {cosine, sine, 0.0f},
          {sine * rise, -(cosine * rise), level},
          {-(sine * level), cosine * level, rise}};
}
/// Whether every number of the eye is finite.
GE_FN bool is_sound(const Eye& eye) {
  const Vec3 sum =
      (eye.at - eye.at) + (eye.right - eye.right) + (eye.up - eye.up) + (eye.forward - eye.forward);
  return (sum.x == 0.0f) & (sum.y == 0.0f) & (sum.z == 0.0f);
}

/// Size of a picture, and the half of a pixel as a slope from the axis of sight.
struct Lens {
  int32_t rows, columns;
  float slope;

  /// Slopes of pixels' centres and edges: the centre of column c is 2 c + 1, its left edge 2 c,
  /// both in halves of a pixel; a fraction where a pixel is sampled more than once.
  GE_FN float to_right(float halves) const { return (halves - float(columns)) * slope; }
  GE_FN float to_top(float halves) const { return (float(rows) - halves) * slope; }
};

GE_FN Floats slopes_of(const Lens& lens, const Floats& across) {
  return (across - float(lens.columns)) * lens.slope;
}
/// Directions along which depths are multiples: their part along the axis of sight is 1.
GE_FN Vecs directions(const Eye& eye, const Lens& lens, const Floats& across, float down) {
  const Vec3 row = eye.forward + eye.up * lens.to_top(down);
  const Floats slopes = slopes_of(lens, across);
  return {slopes * eye.right.x + row.x, slopes * eye.right.y + row.y, slopes * eye.right.z + row.z};
}

}  // namespace ge::cameras
