// What rays meet among bodies: the nearest surface, and whether the sun reaches a point. Which
// bodies can matter at all is decided by rectangles, of the picture for the first and of the ground
// as the sun sees it for the second, before any ray is cast.
#pragma once

#include <vector>

#include "pictures/camera.hpp"
#include "pictures/shapes.hpp"

namespace ge::pictures {

struct Hits {
  Floats depth, body;  // body: its number among all, -1 for none
};

/// Which bodies a tile or pack looks at, by number.
using Numbers = std::vector<int>;

/// What is nearest to each ray, once the bodies have been met one after the other by their numbers.
template <class R>
GE_FN void meet(const Body& body, int number, const R& rays, Hits& hits) {
  const Floats depth = hit_distance(rays, body.shape, hits.depth);
  hits.body = select(depth < hits.depth, spread(float(number)), hits.body);
  hits.depth = depth;
}

/// 1 where nothing stands between a ray's origin and the sun, else 0.
inline Floats lit(const std::vector<Body>& bodies, const Numbers& listed, const Rays& rays) {
  Floats free = spread(1.0f);
  for (const int k : listed) {
    const Floats depth = hit_distance(rays, bodies[size_t(k)].shape, spread(kFar));
    free = select(depth < kFar, spread(0.0f), free);
  }
  return free;
}

/// Corner k of what holds the body, in the world.
inline Vec3 corner_of(const Body& body, int k) {
  return to_world(body.shape, corner(body.own.low, body.own.high, k));
}

/// The part of a picture in which a body can appear; everything where it reaches behind the eye.
inline Rectangle seen_in(const Camera& camera, const Body& body) {
  if (body.is_endless) return Rectangle::all();
  Rectangle out;
  for (int k = 0; k < 8; ++k) {
    const Vec3 p = projected(camera, corner_of(body, k));
    if (p.z < kNear && !camera.is_flat) return Rectangle::all();
    out.add(p.x, p.y);
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
