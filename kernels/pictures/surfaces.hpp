// The surface of a body at a point, before light: its normal, its colour with squares and marks,
// and the coverage of an edge drawn there.
#pragma once

#include "pictures/shapes.hpp"

namespace ge::pictures {

struct Surface {
  Vecs normal, colour;
  Floats line;  // 1 on an edge, 0 off it
};

namespace detail {

/// The distance of points on a hull to the nearest edge of their face, whose normal is given.
GE_FN Floats rim_at(const Body& body, const Vecs& p, const Vecs& normal) {
  Floats rim = spread(kFar);
  for (int k = 0; k < body.faces; ++k) {
    const Plane& face = body.face[k];
    const Floats cosine = dot(normal, face.normal), square = 1.0f - cosine * cosine;
    // The plane of another face cuts this one in a line: its distance along this face is the
    // distance from the plane over the sine of the angle between them.
    const Mask meets = square > 0.001f;  // not the face itself, nor the opposite one
    const Floats room = (face.offset - dot(face.normal, p)) / roots(at_least(square, 0.001f));
    rim = select(meets, min(rim, room), rim);
  }
  return rim;
}

/// A padlock seen from above, upright in a picture whose top is +y.
GE_FN Mask in_padlock(const Body& body, const Vecs& p, const Vecs& normal) {
  const Vec3 extent = (body.own.high - body.own.low) * 0.5f;
  const float scale = 1.0f / (0.62f * ge::min(extent.x, ge::min(extent.y, 1.4f * extent.z)));
  const Vec3 middle = to_world(body.shape, (body.own.low + body.own.high) * 0.5f);
  // In units of the padlock's own size, upright whichever way the body is turned.
  const Floats u = (p.x - middle.x) * scale, v = (p.y - middle.y) * scale + 0.12f;
  const Mask plate = both(size(u) < 0.62f, both(v > -0.66f, v < 0.26f));
  const Floats y = at_least(v - 0.42f, 0.0f);
  const Floats away = u * u + y * y;
  const Mask shackle = both(both(away < 0.2304f, away > 0.0841f), v > 0.2f);
  const Mask hole = u * u + (v + 0.2f) * (v + 0.2f) < 0.0225f;
  return both(normal.z > 0.5f, both(either(plate, shackle), is_not(hole)));
}

/// White eyes with dark pupils on the side of +y, high enough to be seen from above.
GE_FN Vecs with_eyes(const Body& body, const Vecs& p, const Vecs& colour) {
  const bool is_round = body.faces == 0;
  const Vec3 high = body.own.high;
  const float r = ge::min(high.x, high.z);
  const Vec3 ahead = is_round ? Vec3{0.36f * r, 0.72f * r, high.z - 0.41f * r}
                              : Vec3{0.40f * r, high.y, 0.45f * high.z};
  const Vecs q = to_body(body.shape.turn, p - body.shape.at);
  Vecs out = colour;
  for (const float side : {-1.0f, 1.0f}) {
    const Vecs white = q - Vec3{side * ahead.x, ahead.y, ahead.z};
    const Vecs pupil =
        q - Vec3{side * (ahead.x - 0.04f * r), ahead.y + (is_round ? 0.07f * r : 0), ahead.z};
    out = choose(dot(white, white) < 0.0784f * r * r, spread(Vec3{0.95f, 0.95f, 0.95f}), out);
    out = choose(dot(pupil, pupil) < 0.0256f * r * r, spread(Vec3{0.02f, 0.02f, 0.03f}), out);
  }
  return out;
}

/// Squares of a floor, of side 1 / `rate`.
GE_FN Mask on_second_square(const Vecs& p, float rate) {
  const Floats sum = (floors(p.x * rate) + floors(p.y * rate)) * 0.5f;
  return sum != floors(sum);
}

}  // namespace detail

/// `pixel`: how wide a line is at the point [m].
inline Surface surface_of(const Body& body, const Vecs& p, const Floats& pixel) {
  const uint32_t marks = body.solid.marks;
  Surface out{normal_at(body.shape, p), spread(body.colour), spread(0.0f)};
  const Floats rim = detail::rim_at(body, p, out.normal);
  if (body.faces > 0) out.line = unit_range(1.4f - rim / pixel);
  const Vecs second = spread(body.second);
  if (body.shape.shape == kFloor && body.solid.half[0] > 0.0f)
    out.colour = choose(detail::on_second_square(p, 1.0f / body.solid.half[0]), second, out.colour);
  if ((marks & Solid::kBanded) != 0) {
    const Vec3 extent = body.own.high - body.own.low;
    const float band = 0.09f * ge::min(extent.x, ge::min(extent.y, extent.z));
    out.colour = choose(rim < band, second, out.colour);
  }
  if ((marks & Solid::kPadlock) != 0)
    out.colour = choose(detail::in_padlock(body, p, out.normal), second, out.colour);
  if ((marks & Solid::kEyes) != 0) out.colour = detail::with_eyes(body, p, out.colour);
  return out;
}

}  // namespace ge::pictures
