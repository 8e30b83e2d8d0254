// Light: one sun whose disc is wide enough for soft shadows, a sky that is brighter above, and
// ambient occlusion of the sky beside bodies on the ground.
#pragma once

#include "pictures/ray_cast.hpp"
#include "pictures/surfaces.hpp"

namespace ge::pictures {

struct Light {
  Vec3 sun;         // towards it; z > 0
  Vec3 side, rise;  // across it
  float softness;   // radius of its disc at distance 1
  float reach;      // height over which walls darken towards the ground [m]
  float ground;     // height of the lowest thing [m]
  float lift;       // how far above a surface shadow rays begin [m]
};

inline Light light_of(const Camera& camera, const Vec3& low, const Vec3& high) {
  const Vec3 span = high - low;
  // Lengths follow the size of the world, so that a table and a field look alike.
  const float largest = ge::max(span.x, ge::max(span.y, span.z));
  // Behind the eye and to its left: fronts are lit, and shadows fall where they can be seen.
  const Vec3 ahead =
      camera.is_flat ? Vec3{0, 1, 0} : normalized(Vec3{camera.forward.x, camera.forward.y, 0.0f});
  const Vec3 right{ahead.y, -ahead.x, 0};
  const float height = camera.is_flat ? 2.4f : 1.5f;  // long shadows hide much from above
  const Vec3 sun = normalized(Vec3{0, 0, height} - ahead * 0.45f - right * 0.75f);
  const Vec3 side = normalized(cross(sun, {0, 0, 1}));
  return {sun, side, cross(side, sun), 0.03f, 0.035f * largest, low.z, 1e-4f * largest};
}

namespace detail {

/// A body hides no sky beyond this multiple of its height.
inline constexpr float kReach = 2.5f;

/// The share of the sky that a body hides from points on level ground beside it: that of a long
/// wall, which depends only on its angle of elevation, fading with distance.
GE_FN Floats hidden_sky(const Body& body, const Vecs& p) {
  const Vec3 low = body.own.low, high = body.own.high;
  const Vecs offset = p - body.shape.at;
  const Floats x = dot(body.shape.turn.x, offset), y = dot(body.shape.turn.y, offset);
  const Floats across = at_least(max(low.x - x, x - high.x), 0.0f);
  const Floats along = at_least(max(low.y - y, y - high.y), 0.0f);
  const Floats square = across * across + along * along + 1e-6f;
  const float reach = kReach * (high.z - low.z);
  if (!any_of(square < reach * reach)) return spread(0.0f);
  Floats top = spread(high.z - low.z);
  if (body.shape.shape == kWedge) top = top * unit_range((y - low.y) / (high.y - low.y));
  const Floats base = body.shape.at.z + low.z - p.z;
  const Floats over = at_least(base + top, 0.0f), gap = at_least(base, 0.0f);
  const Floats away = roots(square), raised = square + gap * gap;
  // A body that stands on the ground begins at the horizon: away / away.
  const Floats first = any_of(raised != square) ? away / roots(raised) : spread(1.0f);
  const Floats near = at_least(1.0f - square / (reach * reach), 0.0f);
  // Differences of cosines of the elevations of its foot and its top, faded out at kReach.
  const Floats hidden = first - away / roots(square + over * over);
  return 0.5f * hidden * near * near;
}

}  // namespace detail

/// The ground, projected along the sun, where a body may hide part of the sun: larger with its
/// height, since rays to the rim of the sun's disc lean away from `light.sun`.
inline Rectangle shadow_of(const Body& body, const Light& light) {
  float top = 0;
  for (int k = 0; k < 8; ++k) top = ge::max(top, corner_of(body, k).z - light.ground);
  return covered(body, light.sun).widened(light.softness * ge::max(4.0f, 3.0f * top));
}

/// The ground beside a body where it hides some of the sky; empty if it leans or hangs too high.
/// `hidden_sky` measures along the body's own axes, which miss the vertical by `lean`.
inline Rectangle foot_of(const Body& body, const Light& light) {
  const float upright = ge::abs(body.shape.turn.z.z);
  if (!(upright > 0.95f)) return {};
  const float lean = ge::sqrt(ge::max(1.0f - upright * upright, 0.0f));
  const float reach = detail::kReach * (body.own.high.z - body.own.low.z);
  const float top = ge::max(body.shape.at.z + body.own.high.z - light.ground, 0.0f);
  return covered(body, {0, 0, 1}).widened(reach + 1.2f * lean * (top + reach));
}

/// The share of the sky's light that reaches the points.
inline Floats sky(const std::vector<Body>& bodies, const Numbers& listed, const Vecs& p,
                  const Hits& hits) {
  Floats open = spread(1.0f);
  for (const int k : listed) {
    const Floats part = 1.0f - 0.95f * detail::hidden_sky(bodies[size_t(k)], p);
    // A body does not shade itself: its own walls stand on what it would hide.
    open = select(hits.body == float(k), open, open * part);
  }
  return open;
}

/// Light that a surface reflects to the eye.
GE_FN Vecs shaded(const Surface& s, const Light& light, const Floats& height, const Floats& open,
                  const Floats& free) {
  // Surfaces that face up see all of the sky, those that face down see the ground; walls darken at
  // their foot, level ground beside bodies. White level ground in the sun reflects about 1.
  constexpr float kSun = 0.54f, kSky = 0.60f, kBelow = 0.28f;
  const Floats up = 0.5f + 0.5f * s.normal.z;
  const Floats level = unit_range(s.normal.z);
  const Floats foot = 0.72f + 0.28f * unit_range((height - light.ground) / light.reach);
  const Floats around = (kBelow + (kSky - kBelow) * up) * (foot + (open - foot) * level);
  const Floats direct = kSun * at_least(dot(light.sun, s.normal), 0.0f) * free;
  return s.colour * ((around + direct) * (1.0f - 0.55f * s.line));
}

}  // namespace ge::pictures
