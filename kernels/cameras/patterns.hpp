// Patterns that surfaces of a mesh are painted with, computed where a ray meets them: no images.
// Each is a factor of the colour, at most 1, from two coordinates on the surface.
#pragma once

#include "cameras/eye.hpp"

namespace ge::cameras {

enum Pattern : int32_t { kPlain, kTiles, kPlanks, kBricks, kStripes, kCarpet, kPatterns };

namespace detail {

/// The largest whole number not above x, and what is left, where x fits into 32 bits.
GE_FN Floats whole_below(const Floats& x) {
  const Floats cut = whole(x);
  return select(cut > x, cut - 1.0f, cut);
}
GE_FN Floats rest_of(const Floats& x) {
  return x - whole_below(x);
}
/// A number in [0, 1) for two whole numbers, as good as drawn for what eyes can tell.
GE_FN Floats scattered(const Floats& i, const Floats& j) {
  return rest_of(i * 0.6180340f + j * 0.7548777f);
}
/// 1, or `dark` within `joint` of the lower end of a cell; both as shares of the cell.
GE_FN Floats jointed(const Floats& share, float joint, const Floats& otherwise, float dark) {
  return select(share < joint, spread(dark), otherwise);
}

}  // namespace detail

/// How much of its colour a surface keeps at (u, v), in metres along it; v is upwards on walls.
GE_FN Floats kept_colour(int32_t pattern, const Floats& u, const Floats& v) {
  using detail::jointed, detail::scattered, detail::rest_of, detail::whole_below;
  switch (pattern) {
    case kTiles: {
      const Floats x = u * (1.0f / 0.3f), y = v * (1.0f / 0.3f);
      const Floats tone = scattered(whole_below(x), whole_below(y)) * 0.06f + 0.94f;
      return jointed(rest_of(x), 0.025f, jointed(rest_of(y), 0.025f, tone, 0.76f), 0.76f);
    }
    case kPlanks: {
      const Floats y = v * (1.0f / 0.14f), row = whole_below(y);
      const Floats x = u * (1.0f / 1.3f) + scattered(row, row);
      const Floats tone = scattered(whole_below(x), row) * 0.16f + 0.84f;
      return jointed(rest_of(y), 0.03f, jointed(rest_of(x), 0.004f, tone, 0.62f), 0.62f);
    }
    case kBricks: {
      const Floats y = v * (1.0f / 0.08f), row = whole_below(y);
      const Floats x = u * (1.0f / 0.25f) + row * 0.5f;
      const Floats tone = scattered(whole_below(x), row) * 0.14f + 0.8f;
      return jointed(rest_of(y), 0.12f, jointed(rest_of(x), 0.04f, tone, 1.0f), 1.0f);
    }
    case kStripes:
      return jointed(rest_of(u * (1.0f / 0.24f)), 0.5f, spread(1.0f), 0.9f);
    case kCarpet: {
      const Floats x = whole_below(u * (1.0f / 0.05f)), y = whole_below(v * (1.0f / 0.05f));
      return scattered(x, y) * 0.12f + 0.88f;
    }
    default:
      return spread(1.0f);
  }
}
/// How much of its colour a surface keeps at a point of space. Its normal chooses the two axes that
/// the pattern lies along.
GE_FN Floats kept_colour(int32_t pattern, const Vecs& at, Vec3 normal) {
  const float x = abs(normal.x), y = abs(normal.y), z = abs(normal.z);
  const bool lies = (z >= x) & (z >= y), faces_x = x >= y;
  return kept_colour(pattern, !lies && faces_x ? at.y : at.x, lies ? at.y : at.z);
}

}  // namespace ge::cameras
