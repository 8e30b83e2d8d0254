// Solids made ready for rays: a box or wedge is the set of points behind up to six planes in the
// world, so that no ray has to be turned into a body's frame; spheres and capsules are what they
// are. Every shape is entered at most once by a ray.
#pragma once

#include "pictures/colours.hpp"
#include "pictures/rays.hpp"
#include "pictures/scene.hpp"

namespace ge::pictures {

inline constexpr float kFar = 1e30f;
inline constexpr int kFaces = 6;

/// Points p with dot(normal, p) <= offset.
struct Face {
  Vec3 normal;
  float offset;
};

struct Body {
  Solid solid;
  Vec3 centre, axis_x, axis_y, axis_z;  // of the body's frame, in the world
  Vec3 low, high;                       // what holds the shape, in the body's frame
  int faces = 0;                        // 0: round
  Face face[kFaces];
  /// 1 / sine of the angle between two faces, 0 where they share no edge.
  float edge[kFaces][kFaces];
  Vec3 colour, second;      // linear
  bool is_endless = false;  // floors and planes: seen everywhere, shade nothing

  Vec3 to_world(const Vec3& p) const { return centre + axis_x * p.x + axis_y * p.y + axis_z * p.z; }
  template <class F>
  GE_FN Vector<F> to_body(const Vector<F>& p) const {
    const Vector<F> offset = p - centre;
    return {dot(axis_x, offset), dot(axis_y, offset), dot(axis_z, offset)};
  }
};

namespace detail {

inline void turn(Body& body, const float (&q)[4]) {
  const float w = q[0], x = q[1], y = q[2], z = q[3];
  body.axis_x = {1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)};
  body.axis_y = {2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)};
  body.axis_z = {2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)};
}

/// A face through `point` of the body's frame.
inline void add_face(Body& body, const Vec3& normal, const Vec3& point) {
  const Vec3 n = body.axis_x * normal.x + body.axis_y * normal.y + body.axis_z * normal.z;
  body.face[body.faces++] = {n, dot(n, body.to_world(point))};
}

inline void add_faces(Body& body) {
  const Vec3 half = vec(body.solid.half);
  switch (body.solid.shape) {
    case Solid::kFloor:
      return add_face(body, {0, 0, 1}, {});
    case Solid::kPlane:
      return add_face(body, unit(half), {});
    case Solid::kBox:
      add_face(body, {0, 0, 1}, half), add_face(body, {0, 0, -1}, half * -1.0f);
      add_face(body, {0, 1, 0}, half), add_face(body, {0, -1, 0}, half * -1.0f);
      add_face(body, {1, 0, 0}, half), add_face(body, {-1, 0, 0}, half * -1.0f);
      return;
    case Solid::kWedge:
      add_face(body, unit({0, -half.z, half.y}), body.high);
      add_face(body, {0, 0, -1}, body.low), add_face(body, {0, 1, 0}, body.high);
      add_face(body, {1, 0, 0}, body.high), add_face(body, {-1, 0, 0}, body.low);
      return;
    default:
      return;
  }
}

inline void set_extent(Body& body) {
  const Vec3 half = vec(body.solid.half);
  const float round = half.x;
  switch (body.solid.shape) {
    case Solid::kWedge:
      body.low = {-half.x, half.y * (-2.0f / 3.0f), half.z * (-1.0f / 3.0f)};
      body.high = {half.x, half.y * (1.0f / 3.0f), half.z * (2.0f / 3.0f)};
      return;
    case Solid::kSphere:
      body.high = {round, round, round};
      break;
    case Solid::kCapsule:
      body.high = {round, round, round + half.z};
      break;
    default:
      body.high = half;
  }
  body.low = body.high * -1.0f;
}

}  // namespace detail

inline Body body_of(const Solid& solid) {
  Body body{};
  body.solid = solid;
  body.centre = vec(solid.position);
  body.colour = linear(solid.colour), body.second = linear(solid.second);
  detail::turn(body, solid.orientation);
  body.is_endless = solid.shape == Solid::kFloor || solid.shape == Solid::kPlane;
  detail::set_extent(body);
  detail::add_faces(body);
  for (int a = 0; a < body.faces; ++a)
    for (int b = 0; b < body.faces; ++b) {
      const float c = dot(body.face[a].normal, body.face[b].normal);
      body.edge[a][b] = c * c < 0.999f ? 1.0f / ge::sqrt(1.0f - c * c) : 0.0f;
    }
  return body;
}

/// Where rays enter a body, and through which face; kFar where they miss it or begin inside.
struct Entry {
  Floats depth, face;
};

GE_FN Entry enter_faces(const Body& body, const Rays& rays) {
  Floats in = spread(-kFar), out = spread(kFar), face = spread(0.0f);
  for (int k = 0; k < body.faces; ++k) {
    const Floats slope = dot(body.face[k].normal, rays.direction);
    const Floats room = body.face[k].offset - dot(body.face[k].normal, rays.origin);
    const Floats at = room / slope;
    const Mask later = both(slope<0.0f, at> in);
    in = select(later, at, in);
    face = select(later, spread(float(k)), face);
    out = select(both(slope > 0.0f, at < out), at, out);
    out = select(both(slope == 0.0f, room < 0.0f), spread(-kFar), out);
  }
  return {select(both(in < out, in > 0.0f), in, spread(kFar)), face};
}

/// The nearer root of a t^2 + 2 b t + c = 0, kFar where there is none ahead.
GE_FN Floats first_root(const Floats& a, const Floats& b, const Floats& c) {
  const Floats square = b * b - a * c;
  const Floats at = (-b - roots(at_least(square, 0.0f))) / a;
  return select(both(square > 0.0f, at > 0.0f), at, spread(kFar));
}

GE_FN Floats enter_sphere(const Vec3& centre, float radius, const Rays& rays) {
  const Vecs from = rays.origin - centre;
  return first_root(dot(rays.direction, rays.direction), dot(from, rays.direction),
                    dot(from, from) - radius * radius);
}

GE_FN Floats enter_capsule(const Body& body, const Rays& rays) {
  const float radius = body.solid.half[0], half = body.solid.half[2];
  const Vec3 axis = body.axis_z;
  const Vecs from = rays.origin - body.centre;
  const Floats rise = dot(axis, rays.direction), height = dot(axis, from);
  // The cylinder between the two balls, in the plane across its axis.
  const Floats a = dot(rays.direction, rays.direction) - rise * rise;
  const Floats b = dot(from, rays.direction) - height * rise;
  const Floats c = dot(from, from) - height * height - radius * radius;
  // From inside of one part, a ray would enter the others.
  const Floats beyond = height - at_most(at_least(height, -half), half);
  const Mask inside = c + beyond * beyond <= 0.0f;
  const Floats side = first_root(a, b, c);
  const Mask between = size(height + side * rise) < half;
  const Floats balls = min(enter_sphere(body.centre + axis * half, radius, rays),
                           enter_sphere(body.centre - axis * half, radius, rays));
  return select(inside, spread(kFar), min(balls, select(between, side, spread(kFar))));
}

GE_FN Entry enter(const Body& body, const Rays& rays) {
  if (body.faces > 0) return enter_faces(body, rays);
  if (body.solid.shape == Solid::kSphere)
    return {enter_sphere(body.centre, body.solid.half[0], rays), spread(0.0f)};
  return {enter_capsule(body, rays), spread(0.0f)};
}

}  // namespace ge::pictures
