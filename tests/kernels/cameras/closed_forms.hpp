// Where rays meet solids and how these are lit, in double and from the definitions alone: the roots
// of each surface that lie on the solid, of which the nearest is seen. No function of kernels/
// takes part, so what it gets wrong shows.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "cameras/solids.hpp"

namespace ge::test {

using Real3 = std::array<double, 3>;

inline Real3 real(geometry::Vec3 v) {
  return {v.x, v.y, v.z};
}
inline Real3 plus(const Real3& a, const Real3& b, double by = 1) {
  return {a[0] + by * b[0], a[1] + by * b[1], a[2] + by * b[2]};
}
inline double dot_of(const Real3& a, const Real3& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Real3 unit(const Real3& a) {
  return plus({0, 0, 0}, a, 1 / std::sqrt(dot_of(a, a)));
}
inline Real3 crossed(const Real3& a, const Real3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// An eye by yaw and pitch: to the left from +y, then up.
struct RealEye {
  Real3 at, right, up, forward;
  RealEye(geometry::Vec3 place, double yaw, double pitch)
      : at(real(place)),
        right{std::cos(yaw), std::sin(yaw), 0},
        forward{-std::sin(yaw) * std::cos(pitch), std::cos(yaw) * std::cos(pitch),
                std::sin(pitch)} {
    up = crossed(right, forward);
  }
  /// Through a place of a picture, in pixels from its upper left corner: of depth 1.
  Real3 direction(double row, double column, int rows, int columns, double hfov_deg) const {
    const double half = std::tan(hfov_deg * std::acos(-1.0) / 360), pixel = 2 * half / columns;
    return plus(plus(forward, right, (column - 0.5 * columns) * pixel), up,
                (0.5 * rows - row) * pixel);
  }
};

/// A solid's frame, and its measures, as many times as large.
struct RealSolid {
  int shape;
  Real3 half, at, x, y, z;
  explicit RealSolid(const cameras::Solid& s, double larger = 1)
      : shape(s.shape),
        half{larger * s.half[0], larger * s.half[1], larger * s.half[2]},
        at{s.at[0], s.at[1], s.at[2]} {
    const double length = std::sqrt(double(s.turn[0]) * s.turn[0] + double(s.turn[1]) * s.turn[1] +
                                    double(s.turn[2]) * s.turn[2] + double(s.turn[3]) * s.turn[3]);
    const double w = s.turn[0] / length, i = s.turn[1] / length, j = s.turn[2] / length,
                 k = s.turn[3] / length;
    x = {1 - 2 * (j * j + k * k), 2 * (i * j + w * k), 2 * (i * k - w * j)};
    y = {2 * (i * j - w * k), 1 - 2 * (i * i + k * k), 2 * (j * k + w * i)};
    z = crossed(x, y);
  }
  Real3 turned_in(const Real3& v) const { return {dot_of(x, v), dot_of(y, v), dot_of(z, v)}; }
  Real3 turned_out(const Real3& v) const {
    return plus(plus(plus({0, 0, 0}, x, v[0]), y, v[1]), z, v[2]);
  }
  /// Half of the part along z that is a tube, and what is measured in radii.
  bool is_pill() const { return shape == geometry::kPill || shape == geometry::kCapsule; }
  Real3 radii() const {
    if (shape == geometry::kSphere || shape == geometry::kCapsule)
      return {half[0], half[0], half[0]};
    return half;
  }
  double tube() const { return shape == geometry::kCapsule ? half[2] / half[0] : 1; }
};

struct RealHit {
  double distance = 1e30;  // in directions
  Real3 normal{};
  double slant = 1;  // cosine between ray and normal
  bool meets() const { return distance < 1e30; }
};

/// Both roots of a t^2 + 2 b t + c.
inline std::vector<double> roots_of(double a, double b, double c) {
  const double discriminant = b * b - a * c;
  if (discriminant < 0 || a == 0) return {};
  return {(-b - std::sqrt(discriminant)) / a, (-b + std::sqrt(discriminant)) / a};
}

inline RealHit meet(const RealSolid& s, const Real3& from, const Real3& direction) {
  const Real3 radii = s.radii();
  Real3 o = s.turned_in(plus(from, s.at, -1)), d = s.turned_in(direction);
  for (size_t k = 0; k < 3; ++k) o[k] /= radii[k], d[k] /= radii[k];
  RealHit best;
  const auto offer = [&](double t, const Real3& normal) {
    if (t <= 0 || t >= best.distance) return;
    Real3 n = normal;
    for (size_t k = 0; k < 3; ++k) n[k] /= radii[k];
    best.distance = t, best.normal = unit(s.turned_out(n));
    best.slant = std::abs(dot_of(best.normal, unit(direction)));
  };
  const auto at = [&](double t) { return plus(o, d, t); };
  // Faces of a box, ends of cylinders and cones.
  for (size_t axis = 0; axis < 3; ++axis)
    for (const double side : {-1.0, 1.0}) {
      if (s.shape != geometry::kBox && axis != 2) continue;
      const double t = (side - o[axis]) / d[axis];
      const Real3 p = at(t);
      Real3 normal{};
      normal[axis] = side;
      bool on = false;
      if (s.shape == geometry::kBox)
        on = std::abs(p[(axis + 1) % 3]) <= 1 && std::abs(p[(axis + 2) % 3]) <= 1;
      else if (s.shape == geometry::kCylinder || (s.shape == geometry::kCone && side < 0))
        on = p[0] * p[0] + p[1] * p[1] <= 1;
      if (on) offer(t, normal);
    }
  const double flat = d[0] * d[0] + d[1] * d[1], across = d[0] * o[0] + d[1] * o[1],
               out = o[0] * o[0] + o[1] * o[1];
  if (s.shape == geometry::kCylinder || s.is_pill())
    for (const double t : roots_of(flat, across, out - 1)) {
      const Real3 p = at(t);
      if (std::abs(p[2]) <= s.tube()) offer(t, {p[0], p[1], 0});
    }
  if (s.shape == geometry::kCone) {
    const double width = (1 - o[2]) / 2, narrows = -d[2] / 2;
    for (const double t :
         roots_of(flat - narrows * narrows, across - narrows * width, out - width * width)) {
      const Real3 p = at(t);
      if (std::abs(p[2]) <= 1) offer(t, {p[0], p[1], (1 - p[2]) / 4});
    }
  }
  const bool ball = s.shape == geometry::kSphere || s.shape == geometry::kEllipsoid;
  if (ball || s.is_pill())
    for (const double end : {-1.0, 1.0}) {
      const double middle = ball ? 0 : end * s.tube(), above = o[2] - middle;
      for (const double t :
           roots_of(flat + d[2] * d[2], across + d[2] * above, out + above * above - 1)) {
        const Real3 p = at(t);
        if (ball || end * (p[2] - middle) >= 0) offer(t, {p[0], p[1], p[2] - middle});
      }
    }
  return best;
}

/// What is seen: 0 to 1. `point` and `normal` are seen from the eye, in its axes right, up, back.
inline Real3 lit_in_double(const Real3& colour, const Real3& point, const Real3& normal) {
  const Real3 lamp = {0, 4, 2}, to_lamp = unit(plus(lamp, point, -1));
  const double facing = dot_of(normal, to_lamp);
  const Real3 mirrored = plus(plus({0, 0, 0}, normal, 2 * facing), to_lamp, -1);
  const double towards = std::max(0.0, -dot_of(unit(point), mirrored));
  const double shine = facing > 0.001 ? std::min(1.0, std::pow(towards, 300)) : 0;
  Real3 result{};
  for (size_t k = 0; k < 3; ++k)
    result[k] =
        std::min(1.0, 0.33 * colour[k] + 0.73 * 0.66 * colour[k] * std::max(0.0, facing) + shine);
  return result;
}
inline Real3 in_axes(const RealEye& eye, const Real3& v) {
  return {dot_of(eye.right, v), dot_of(eye.up, v), -dot_of(eye.forward, v)};
}
inline Real3 real_colour(uint32_t colour) {
  return {double(colour >> 16 & 255) / 255, double(colour >> 8 & 255) / 255,
          double(colour & 255) / 255};
}

}  // namespace ge::test
