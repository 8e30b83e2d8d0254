// Flat outlines as signed distances of points of the plane, in packs of neighbours. A distance
// becomes the covered share of a pixel, so edges are smooth at any size.
#pragma once

#include "pictures/rays.hpp"
#include "pictures/scene.hpp"

namespace ge::pictures {

/// A shape of the picture: lengths in pixels, y downwards. Angles keep their sense (y is turned).
struct Outline {
  enum Shape : int32_t { kDisc, kArrow, kSquare, kRing, kSector, kStroke };

  int32_t shape;
  float x, y;          // middle
  float cosine, sine;  // of where it points
  float radius;
  float width = 0;                                // of a ring; half the length of a stroke
  float edge_cosine = -1, edge_sine = 0;          // half angle of a sector
  float reach() const { return radius + width; }  // everything of it is nearer than this
};

namespace detail {

/// A dart: tip, barb and notch of its left half, in units of the radius; without a notch where it
/// would be too small to see.
inline constexpr float kBarbX = -0.85f, kBarbY = 0.68f, kNotch = -0.45f, kNotched = 3.0f;

/// Distance to the line through two points, positive on the right of the way from a to b.
GE_FN Floats right_of(float ax, float ay, float bx, float by, const Floats& x, const Floats& y) {
  const float dx = bx - ax, dy = by - ay;
  const float scale = 1.0f / ge::sqrt(dx * dx + dy * dy);
  return ((x - ax) * dy - (y - ay) * dx) * scale;
}

GE_FN Floats outside_arrow(float r, const Floats& x, const Floats& y) {
  const float notch = r < kNotched ? kBarbX : kNotch;
  const Floats side = right_of(kBarbX * r, kBarbY * r, r, 0, x, y) * -1.0f;
  const Floats back = right_of(notch * r, 0, kBarbX * r, kBarbY * r, x, y) * -1.0f;
  // Corners end on a circle: lines of sharp ones meet far away.
  return max(max(side, back), roots(x * x + y * y) - 1.12f * r);
}

GE_FN Floats outside_sector(const Outline& o, const Floats& x, const Floats& y) {
  const Floats away = roots(x * x + y * y);
  const Floats along = x * o.edge_cosine + y * o.edge_sine;
  const Floats across = y * o.edge_cosine - x * o.edge_sine;
  const Floats beside = select(across > 0.0f, away, -away);  // where the apex is the nearest point
  const Floats edge = select(along > 0.0f, across, beside);
  return o.edge_cosine <= -0.9999f ? away - o.radius : max(away - o.radius, edge);
}

}  // namespace detail

/// Distance from the outline [pixels], negative inside; `x` and `y` from its middle.
GE_FN Floats outside(const Outline& o, const Floats& x, const Floats& y) {
  if (o.shape == Outline::kSquare) return max(size(x), size(y)) - o.radius;
  if (o.shape == Outline::kDisc) return roots(x * x + y * y) - o.radius;
  if (o.shape == Outline::kRing)
    return size(roots(x * x + y * y) - (o.radius + 0.5f * o.width)) - 0.5f * o.width;
  // Both halves are alike, left and right of where it points.
  const Floats ahead = x * o.cosine - y * o.sine, left = size(x * o.sine + y * o.cosine);
  if (o.shape == Outline::kSector) return detail::outside_sector(o, ahead, left);
  if (o.shape == Outline::kStroke) {
    const Floats beyond = at_least(size(ahead) - o.width, 0.0f);
    return roots(beyond * beyond + left * left) - o.radius;
  }
  return detail::outside_arrow(o.radius, ahead, left);
}

}  // namespace ge::pictures
