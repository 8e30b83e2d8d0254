// Solids made ready for rays: the shape in place, what holds it, its faces in the world, and its
// colours.
#pragma once

#include "pictures/colours.hpp"
#include "pictures/rays.hpp"
#include "pictures/scene.hpp"

namespace ge::pictures {

/// It copies what it needs of the solid.
struct Body {
  Solid solid;
  Placed shape;
  Bounds3 own;    // what holds the shape, in its own frame
  int faces = 0;  // of a hull
  Plane face[kMostFaces];
  Vec3 colour, second;      // linear
  bool is_endless = false;  // floors and planes: seen everywhere, shade nothing
};

inline Body body_of(const Solid& solid) {
  Body body{};
  body.solid = solid;
  body.is_endless = solid.shape == kFloor || solid.shape == kPlane;
  const Vec3 half = vec(solid.half);
  body.shape = placed(solid.shape, solid.shape == kPlane ? normalized(half) : half,
                      vec(solid.position), matrix(quat(solid.orientation)));
  // Bounds of the shape in place would be the world's axes'; the box in its own frame is tighter.
  Placed unmoved = body.shape;
  unmoved.at = {}, unmoved.turn = identity();
  if (!body.is_endless) body.own = bounds(unmoved);
  body.faces = is_hull(body.shape) ? face_count(body.shape) : 0;
  for (int k = 0; k < body.faces; ++k) body.face[k] = plane_of(body.shape, k);
  body.colour = linear(solid.colour), body.second = linear(solid.second);
  return body;
}

}  // namespace ge::pictures
