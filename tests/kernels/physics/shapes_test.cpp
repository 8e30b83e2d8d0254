// The tables of boxes and wedges against their vertices.
#include "physics/shapes.hpp"

#include "physics/geometry.hpp"
#include "test.hpp"

namespace {

using namespace ge::physics;
using namespace ge::test;

constexpr double kTolerance = 1e-5;  // rounding of coordinates of some metres

double nearest_corner(const std::vector<Point>& all, Vec3 p) {
  double least = 1e30;
  for (Point q : all) least = std::min(least, norm(q - wide(p)));
  return least;
}

GE_TEST(vertices_and_face_corners_are_those_of_the_description) {
  Source source{1};
  for (int trial = 0; trial < 50; ++trial) {
    const Placed p = random_shape(source, trial & 1 ? kWedge : kBox, 3.0f);
    const auto all = corners(p);
    CHECK_EQ(vertex_count(p), static_cast<int>(all.size()));
    for (int i = 0; i < vertex_count(p); ++i) {
      CHECK(nearest_corner(all, to_world(p, vertex(p, i))) < kTolerance);
      for (int j = 0; j < i; ++j) CHECK(length(vertex(p, i) - vertex(p, j)) > 0.1f);
    }
    CHECK_EQ(face_count(p), static_cast<int>(half_spaces(all).size()));
    for (int i = 0; i < face_count(p); ++i) {
      const Face f = in_world(p, face(p, i));
      CHECK(length(cross(f.u, f.v) - f.normal) < kTolerance);
      const int count = f.triangle ? 3 : 4;
      for (int k = 0; k < count; ++k) {
        const Vec3 here = face_vertex(f, k), next = face_vertex(f, (k + 1) % count);
        CHECK(nearest_corner(all, here) < kTolerance);
        for (int other = 0; other < count; ++other)  // counter-clockwise
          CHECK(dot(cross(next - here, face_vertex(f, other) - here), f.normal) > -1e-4f);
      }
      const Point normal = wide(f.normal);
      double high = -1e30;
      for (Point q : all) high = std::max(high, inner(q, normal));
      CHECK(std::abs(high - face_offset(f)) < kTolerance);
    }
  }
}

GE_TEST(edges_join_vertices_and_the_supporting_one_is_farthest) {
  Source source{2};
  for (int trial = 0; trial < 200; ++trial) {
    const Placed p = random_shape(source, trial & 1 ? kWedge : kBox, 3.0f);
    const auto all = corners(p);
    for (int i = 0; i < edge_count(p); ++i) {
      const Edge e = edge(p, i);
      for (float side : {-1.0f, 1.0f})
        CHECK(nearest_corner(all, to_world(p, e.middle + e.direction * (side * e.half))) <
              kTolerance);
    }
    const Vec3 towards = source.direction();
    for (int d = 0; d < edge_direction_count(p); ++d) {
      const Vec3 along = edge_direction(p, d);
      const Vec3 flat = towards - along * dot(towards, along);
      const Edge e = support_edge(p, d, flat);
      CHECK(length(e.direction - along) < kTolerance);
      CHECK(std::abs(dot(e.middle, flat) - [&] {
              float most = -1e30f;
              for (int i = 0; i < edge_count(p); ++i) {
                const Edge other = edge(p, i);
                if (length(other.direction - along) < 1e-3f)
                  most = std::max(most, dot(other.middle, flat));
              }
              return most;
            }()) < kTolerance);
    }
    const Vec3 normal = face(p, face_towards(p, towards)).normal;
    for (int i = 0; i < face_count(p); ++i)
      CHECK(dot(face(p, i).normal, towards) < dot(normal, towards) + kTolerance);
  }
}

GE_TEST(extents_and_bounds_hold_the_shape_exactly) {
  Source source{3};
  const int32_t kinds[4] = {kBox, kWedge, kSphere, kCapsule};
  for (int trial = 0; trial < 200; ++trial) {
    const Placed p = random_shape(source, kinds[trial & 3], 3.0f);
    const Vec3 n = source.direction();
    double low = 1e30, high = -1e30;
    if (is_hull(p)) {
      for (Point q : corners(p)) {
        low = std::min(low, inner(q, wide(n))), high = std::max(high, inner(q, wide(n)));
      }
    } else {
      for (float end : {-1.0f, 1.0f}) {
        const Segment s = segment_of(p);
        const double c = dot(s.middle + s.axis * end, n);
        low = std::min(low, c - p.half.x), high = std::max(high, c + p.half.x);
      }
    }
    CHECK(std::abs(extent(p, n).low - low) < kTolerance);
    CHECK(std::abs(extent(p, n).high - high) < kTolerance);
    CHECK_EQ(bounds(p).low.y, extent(p, {0, 1, 0}).low);
    CHECK_EQ(bounds(p).high.z, extent(p, {0, 0, 1}).high);
  }
}

}  // namespace
