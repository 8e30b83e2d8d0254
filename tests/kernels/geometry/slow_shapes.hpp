// Shapes at random places for the tests of kernels/geometry and kernels/physics, and slow plain
// geometry in double that shares no table or formula with what is tested: a hull is the list of its
// vertices here.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "geometry/shapes.hpp"
#include "split_mix.hpp"

namespace ge::test {

using namespace ge::geometry;

struct Source : SplitMix {
  float within(float low, float high) {
    return low + (high - low) * (static_cast<float>(next() >> 40) * 0x1p-24f);
  }
  int below(int n) { return static_cast<int>(next() % static_cast<uint64_t>(n)); }
  Vec3 point(float size) { return {within(-size, size), within(-size, size), within(-size, size)}; }
  Vec3 direction() {
    while (true) {
      const Vec3 v = point(1.0f);
      if (dot(v, v) > 0.01f && dot(v, v) <= 1.0f) return v * (1.0f / length(v));
    }
  }
  Quat turn() {
    while (true) {
      const Quat q = {within(-1, 1), within(-1, 1), within(-1, 1), within(-1, 1)};
      const float square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
      if (square > 0.05f && square <= 1.0f) return normalized(q);
    }
  }
};

inline Placed shape(int32_t kind, Vec3 half, Vec3 at = {0, 0, 0}, Mat3 turn = identity()) {
  return geometry::placed(kind, half, at, turn);
}
inline Placed random_shape(Source& source, int32_t kind, float spread) {
  const Vec3 half = {source.within(0.2f, 1.5f), source.within(0.2f, 1.5f),
                     source.within(0.2f, 1.5f)};
  return shape(kind, half, source.point(spread), matrix(source.turn()));
}
inline Mat3 product(const Mat3& a, const Mat3& b) {
  return {a * b.x, a * b.y, a * b.z};
}
/// The shape after a motion of the whole world.
inline Placed moved(Placed p, const Mat3& turn, Vec3 by) {
  p.at = turn * p.at + by;
  p.turn = product(turn, p.turn);
  return p;
}

// ---- the slow geometry

struct Point {
  double x, y, z;
};
inline Point wide(Vec3 v) {
  return {v.x, v.y, v.z};
}
inline Point operator-(Point a, Point b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Point operator*(Point a, double s) {
  return {a.x * s, a.y * s, a.z * s};
}
inline double inner(Point a, Point b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Point outer(Point a, Point b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double norm(Point a) {
  return std::sqrt(inner(a, a));
}

/// Vertices as geometry/measures.hpp describes the shapes.
inline std::vector<Point> corners(const Placed& p) {
  std::vector<Vec3> local;
  for (float x : {-p.half.x, p.half.x}) {
    if (p.shape == kWedge) {
      const float run = p.half.y, height = p.half.z;
      local.push_back({x, -2 * run / 3, -height / 3});
      local.push_back({x, run / 3, -height / 3});
      local.push_back({x, run / 3, 2 * height / 3});
    } else {
      for (float y : {-p.half.y, p.half.y})
        for (float z : {-p.half.z, p.half.z}) local.push_back({x, y, z});
    }
  }
  std::vector<Point> all;
  for (Vec3 v : local) {
    const Point x = wide(p.turn.x) * v.x, y = wide(p.turn.y) * v.y, z = wide(p.turn.z) * v.z;
    const Point at = wide(p.at);
    all.push_back({at.x + x.x + y.x + z.x, at.y + x.y + y.y + z.y, at.z + x.z + y.z + z.z});
  }
  return all;
}
/// How far a point lies from the nearest vertex.
inline double nearest_corner(const std::vector<Point>& all, Vec3 p) {
  double least = 1e30;
  for (Point q : all) least = std::min(least, norm(q - wide(p)));
  return least;
}

struct HalfSpace {
  Point normal;
  double offset;
};
/// Planes through three vertices that have all others on one side.
inline std::vector<HalfSpace> half_spaces(const std::vector<Point>& v) {
  std::vector<HalfSpace> all;
  for (size_t i = 0; i < v.size(); ++i)
    for (size_t j = i + 1; j < v.size(); ++j)
      for (size_t k = j + 1; k < v.size(); ++k) {
        Point n = outer(v[j] - v[i], v[k] - v[i]);
        n = n * (1 / norm(n));
        double low = 0, high = 0;
        for (Point p : v) {
          low = std::min(low, inner(p - v[i], n));
          high = std::max(high, inner(p - v[i], n));
        }
        if (high > 1e-5 && low < -1e-5) continue;
        if (high > 1e-5) n = n * -1;
        bool known = false;
        for (const HalfSpace& h : all) known = known || inner(h.normal, n) > 1 - 1e-9;
        if (!known) all.push_back({n, inner(v[i], n)});
      }
  return all;
}
/// How far outside: the largest distance from a face's plane; negative inside.
inline double outside(const std::vector<HalfSpace>& hull, Point p) {
  double most = -1e30;
  for (const HalfSpace& h : hull) most = std::max(most, inner(h.normal, p) - h.offset);
  return most;
}
/// lowest of b minus highest of a.
inline double gap_along(const std::vector<Point>& a, const std::vector<Point>& b, Point n) {
  double low = 1e30, high = -1e30;
  for (Point p : a) high = std::max(high, inner(p, n));
  for (Point p : b) low = std::min(low, inner(p, n));
  return low - high;
}
/// The largest gap over all face normals and all cross products of edges: two hulls are apart
/// exactly where it is positive.
inline double separation_of(const std::vector<Point>& a, const std::vector<Point>& b) {
  const auto fa = half_spaces(a), fb = half_spaces(b);
  double best = -1e30;
  for (const HalfSpace& h : fa) best = std::max(best, gap_along(a, b, h.normal));
  for (const HalfSpace& h : fb) best = std::max(best, gap_along(a, b, h.normal * -1));
  const auto edges = [](const std::vector<HalfSpace>& faces) {
    std::vector<Point> all;  // every edge is where two faces meet
    for (size_t i = 0; i < faces.size(); ++i)
      for (size_t j = i + 1; j < faces.size(); ++j) {
        const Point d = outer(faces[i].normal, faces[j].normal);
        if (norm(d) > 1e-6) all.push_back(d * (1 / norm(d)));
      }
    return all;
  };
  for (Point d : edges(fa))
    for (Point e : edges(fb)) {
      const Point n = outer(d, e);
      if (norm(n) < 0.04) continue;
      best = std::max(best, gap_along(a, b, n * (1 / norm(n))));
      best = std::max(best, gap_along(a, b, n * (-1 / norm(n))));
    }
  return best;
}

/// How far a point is outside of a shape; inside a lower bound of the depth, negative.
inline double distance_to(const Placed& p, Point x) {
  const Point d = x - wide(p.at);
  if (p.shape == kPlane) return inner(d, wide(p.half));
  if (p.shape == kFloor) return d.z;
  if (p.shape == kSphere) return norm(d) - p.half.x;
  if (p.shape == kCapsule) {
    const Point axis = wide(p.turn.z);
    const double t = std::max(-double(p.half.z), std::min(double(p.half.z), inner(d, axis)));
    return norm(d - axis * t) - p.half.x;
  }
  return outside(half_spaces(corners(p)), x);
}

/// The distance of a capsule from a hull that it does not enter, by projecting sampled points of
/// its segment onto the hull.
inline double slow_distance(const Placed& capsule, const Placed& hull) {
  const auto faces = half_spaces(corners(hull));
  double best = 1e30;
  const int steps = 400;
  for (int i = 0; i <= steps; ++i) {
    const double t = capsule.half.z * (2.0 * i / steps - 1);
    const Point axis = wide(capsule.turn.z) * -t;
    Point p = wide(capsule.at) - axis;
    // Dykstra's projections onto the half-spaces.
    const Point start = p;
    std::vector<Point> corrections(faces.size(), Point{0, 0, 0});
    for (int round = 0; round < 60; ++round)
      for (size_t k = 0; k < faces.size(); ++k) {
        const Point q = p - corrections[k] * -1;
        const double s = std::max(0.0, inner(faces[k].normal, q) - faces[k].offset);
        p = q - faces[k].normal * s;
        corrections[k] = q - p;
      }
    best = std::min(best, norm(p - start));
  }
  return best - capsule.half.x;
}

}  // namespace ge::test
