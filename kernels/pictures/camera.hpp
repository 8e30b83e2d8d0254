// Cameras: perspective or orthographic, their rays, where points appear, and how to frame a box.
// Picture coordinates are from -1 to 1 over the height, y upwards; x from -aspect to aspect. The
// depth of a point is its distance along the camera's forward axis.
#pragma once

#include <cstddef>
#include <cstring>

#include "pictures/rays.hpp"

namespace ge::pictures {

struct Camera {
  Vec3 eye, right, up, forward;
  float spread;  // half the height of the picture at depth 1, or everywhere if it is flat
  bool is_flat;  // orthographic
};

/// Whether two cameras are bitwise equal.
inline bool is_same(const Camera& a, const Camera& b) {
  constexpr size_t kNumbers = offsetof(Camera, is_flat);  // all floats lie before it
  return std::memcmp(&a, &b, kNumbers) == 0 && a.is_flat == b.is_flat;
}

/// Looks along `forward`; `upward` appears upwards.
inline Camera look_along(Vec3 eye, Vec3 forward, Vec3 upward, float spread, bool is_flat) {
  const Vec3 ahead = normalized(forward);
  const Vec3 right = normalized(cross(ahead, upward));
  return {eye, right, cross(right, ahead), ahead, spread, is_flat};
}

/// Directions are not of unit length but have 1 along `forward`: distances along a ray, in its
/// lengths, are depths.
GE_FN Rays rays_of(const Camera& c, const Floats& x, const Floats& y) {
  const Vecs shift = c.right * (x * c.spread) + c.up * (y * c.spread);
  if (c.is_flat) return {c.eye + shift, spread(c.forward)};
  return {spread(c.eye), c.forward + shift};
}

/// Perspective rays, all from one point: cheaper to cast.
GE_FN geometry::Rays<Floats> rays_from_eye(const Camera& c, const Floats& x, const Floats& y) {
  return {c.eye, c.forward + (c.right * (x * c.spread) + c.up * (y * c.spread))};
}

/// The part of the level plane at height z that a part of a picture shows, up to a depth, or more:
/// everything where the horizon is in it, nothing where all of it looks away from the plane or
/// meets it farther away.
inline Rectangle level_in(const Camera& c, const Rectangle& part, float z, float depth) {
  constexpr float kLevel = 1e-5f, kRounding = 1e-4f;  // of slopes, and of coordinates
  Rectangle out;
  int seen = 0;
  float first = kFar;
  for (int k = 0; k < 4; ++k) {
    const float x = (k & 1) != 0 ? part.high_x : part.low_x;
    const float y = (k & 2) != 0 ? part.high_y : part.low_y;
    const Vec3 shift = c.right * (x * c.spread) + c.up * (y * c.spread);
    const Vec3 from = c.is_flat ? c.eye + shift : c.eye;
    const Vec3 along = c.is_flat ? c.forward : c.forward + shift;
    if (ge::abs(along.z) < kLevel) return Rectangle::all();
    const float at = (z - from.z) / along.z;
    if (at > 0.0f) ++seen, first = ge::min(first, at);
    out.add(from.x + along.x * at, from.y + along.y * at);
  }
  // Slopes change linearly between the corners, so one of these is the nearest.
  if (seen == 0 || first > 1.01f * depth) return {};
  if (seen < 4) return Rectangle::all();
  const float x = ge::max(ge::abs(out.low_x), ge::abs(out.high_x));
  const float y = ge::max(ge::abs(out.low_y), ge::abs(out.high_y));
  return out.widened(kRounding * (1.0f + x + y));
}

/// Picture coordinates and depth of a point; in perspective only where the depth is positive.
GE_FN Vec3 projected(const Camera& c, const Vec3& point) {
  const Vec3 offset = point - c.eye;
  const float depth = dot(offset, c.forward);
  const float scale = 1.0f / (c.is_flat ? c.spread : c.spread * depth);
  return {dot(offset, c.right) * scale, dot(offset, c.up) * scale, depth};
}

inline constexpr float kNear = 0.05f;  // [m], nearer points are behind the camera

inline Vec3 corner(const Vec3& low, const Vec3& high, int k) {
  return {(k & 1) != 0 ? high.x : low.x, (k & 2) != 0 ? high.y : low.y,
          (k & 4) != 0 ? high.z : low.z};
}

/// A camera that sees the whole box, as near as possible. Two steps in turn, six times: move as
/// near as all corners allow, then centre the visible extent in the picture.
inline Camera framed(const Vec3& low, const Vec3& high, const Vec3& look, float aspect) {
  constexpr float kSpread = 0.36f, kMargin = 0.96f;  // 40 degrees from bottom to top
  Vec3 target = (low + high) * 0.5f;
  Camera camera = look_along(target, look, {0, 0, 1}, kSpread, false);
  // The farther half of the box appears smaller, so its middle is not that of the picture.
  for (int round = 0; round < 6; ++round) {
    float distance = 0;
    for (int k = 0; k < 8; ++k) {
      const Vec3 offset = corner(low, high, k) - target;
      const float ahead = dot(offset, camera.forward);
      const float x = ge::abs(dot(offset, camera.right)) / (kSpread * kMargin * aspect);
      const float y = ge::abs(dot(offset, camera.up)) / (kSpread * kMargin);
      distance = ge::max(distance, ge::max(x, y) - ahead);
    }
    camera.eye = target - camera.forward * distance;
    Rectangle seen;
    for (int k = 0; k < 8; ++k) {
      const Vec3 p = projected(camera, corner(low, high, k));
      seen.add(p.x, p.y);
    }
    target = target + camera.up * ((seen.low_y + seen.high_y) * 0.5f * kSpread * distance) +
             camera.right * ((seen.low_x + seen.high_x) * 0.5f * kSpread * distance);
  }
  return camera;
}

/// The box from straight above, +y upwards.
inline Camera above(const Vec3& low, const Vec3& high, float aspect) {
  // Flat, so the height changes nothing but what counts as behind the camera.
  constexpr float kMargin = 0.96f, kHeight = 10.0f;
  const float half = ge::max((high.y - low.y) * 0.5f, (high.x - low.x) * 0.5f / aspect) / kMargin;
  const Vec3 eye{(low.x + high.x) * 0.5f, (low.y + high.y) * 0.5f, high.z + kHeight};
  return look_along(eye, {0, 0, -1}, {0, 1, 0}, half, true);
}

}  // namespace ge::pictures
