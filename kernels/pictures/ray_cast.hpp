// Ray casts among bodies: the nearest surface, and whether the sun reaches a point. Rectangles cull
// bodies before any ray is cast: of the picture for the first, of the ground projected along the
// sun for the second.
#pragma once

#include <vector>

#include "pictures/camera.hpp"
#include "pictures/shapes.hpp"

namespace ge::pictures {

struct Hits {
  Floats depth, body;  // body: its number among all, -1 for none
};

/// The bodies that a tile or pack tests, by number.
using Numbers = std::vector<int>;

/// The nearest hit of each ray, tested against the bodies in the order of their numbers.
template <class R>
GE_FN void meet(const Body& body, int number, const R& rays, Hits& hits) {
  const Floats depth = hit_distance(rays, body.shape, hits.depth);
  hits.body = select(depth < hits.depth, spread(float(number)), hits.body);
  hits.depth = depth;
}

/// 1 where nothing lies between a ray's origin and the sun, else 0.
inline Floats lit(const std::vector<Body>& bodies, const Numbers& listed, const Rays& rays) {
  Floats free = spread(1.0f);
  for (const int k : listed) {
    const Floats depth = hit_distance(rays, bodies[size_t(k)].shape, spread(kFar));
    free = select(depth < kFar, spread(0.0f), free);
  }
  return free;
}

/// Corner k of a body's bounding box, in the world.
inline Vec3 corner_of(const Body& body, int k) {
  return to_world(body.shape, corner(body.own.low, body.own.high, k));
}

namespace detail {

inline constexpr float kSlice =
    1e-4f;  // [m], what is seen of a body in front of it is not enlarged

/// Whether the eye is in a body or so close to it that it may fill any part of a picture.
inline bool is_close(const Camera& camera, const Body& body) {
  constexpr float kClose = 0.1f;
  const Vec3 p = to_body(body.shape.turn, camera.eye - body.shape.at);
  const Vec3 low = body.own.low - p, high = p - body.own.high;
  return ge::max(low.x, high.x) < kClose && ge::max(low.y, high.y) < kClose &&
         ge::max(low.z, high.z) < kClose;
}

/// Adds the point where an edge of a body's bounding box crosses the near plane.
inline void add_cut(const Camera& camera, const Vec3& a, const Vec3& b, Rectangle& out) {
  constexpr float kRounding = 0.1f;  // of coordinates in the slice, where they are enlarged
  const float from = dot(a - camera.eye, camera.forward) - kSlice;
  const float to = dot(b - camera.eye, camera.forward) - kSlice;
  if ((from > 0.0f) == (to > 0.0f)) return;
  const Vec3 offset = a + (b - a) * (from / (from - to)) - camera.eye;
  const float scale = 1.0f / (camera.spread * kSlice);
  const float x = dot(offset, camera.right) * scale, y = dot(offset, camera.up) * scale;
  out.add(x - kRounding, y - kRounding), out.add(x + kRounding, y + kRounding);
}

}  // namespace detail

/// The part of a picture in which a body can appear.
inline Rectangle seen_in(const Camera& camera, const Body& body) {
  if (body.is_endless) return Rectangle::all();
  if (!camera.is_flat && detail::is_close(camera, body)) return Rectangle::all();
  Rectangle out;
  for (int k = 0; k < 8; ++k) {
    const Vec3 here = corner_of(body, k), p = projected(camera, here);
    if (camera.is_flat || p.z > detail::kSlice) out.add(p.x, p.y);
    for (int bit = 1; bit < 8 && !camera.is_flat; bit *= 2)
      if ((k & bit) == 0) detail::add_cut(camera, here, corner_of(body, k | bit), out);
  }
  return out;
}

/// Where the line from a point along `sun` meets the ground; along (0, 0, 1): straight below.
template <class F>
GE_FN Vector<F> on_ground(const Vector<F>& p, const Vec3& sun) {
  const F height = p.z * (1.0f / sun.z);
  return {p.x - height * sun.x, p.y - height * sun.y, p.z};
}

/// The ground that a body covers along `sun`.
inline Rectangle covered(const Body& body, const Vec3& sun) {
  Rectangle out;
  if (body.is_endless) return out;
  for (int k = 0; k < 8; ++k) {
    const Vec3 p = on_ground(corner_of(body, k), sun);
    out.add(p.x, p.y);
  }
  return out;
}

}  // namespace ge::pictures
