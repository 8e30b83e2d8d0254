// The tables of boxes and wedges against their vertices, and extents of all shapes.
#include "geometry/shapes.hpp"

#include "geometry/slow_shapes.hpp"
#include "test.hpp"

namespace {

using namespace ge::geometry;
using namespace ge::test;

constexpr double kTolerance = 1e-5;  // rounding of coordinates of some metres

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
        const float half = p.shape == kCapsule ? p.half.z : 0.0f;
        const double c = dot(p.at + p.turn.z * (end * half), n);
        low = std::min(low, c - p.half.x), high = std::max(high, c + p.half.x);
      }
    }
    CHECK(std::abs(extent(p, n).low - low) < kTolerance);
    CHECK(std::abs(extent(p, n).high - high) < kTolerance);
    CHECK_EQ(bounds(p).low.y, extent(p, {0, 1, 0}).low);
    CHECK_EQ(bounds(p).high.z, extent(p, {0, 0, 1}).high);
  }
}

GE_TEST(origin_of_a_wedge_is_its_centroid) {
  const Placed p = shape(kWedge, {0.7f, 3.0f, 1.5f});
  double y = 0, z = 0;  // of a prism, the mean of its triangle's corners
  for (int i = 0; i < 3; ++i) {
    y += wedge_corner(p.half, i).y, z += wedge_corner(p.half, i).z;
  }
  CHECK(std::abs(y) < kTolerance && std::abs(z) < kTolerance);
  for (int i : {0, 2}) {  // both ends of the slope
    const Corner c = wedge_corner(p.half, i);
    CHECK(std::abs(p.slope_y * c.y + p.slope_z * c.z - slope_offset(p)) < kTolerance);
  }
}

GE_TEST(nearest_face_is_the_one_farthest_out_of_its_plane) {
  Source source{4};
  for (int trial = 0; trial < 100; ++trial) {
    const Placed p = random_shape(source, trial & 1 ? kWedge : kBox, 3.0f);
    const Vec3 point = source.point(4.0f);
    const Exit<float> way = nearest_face(p, to_body(p.turn, point - p.at));
    const Vec3 normal = p.turn * way.normal;
    CHECK(std::abs(way.distance - distance_to(p, wide(point))) < kTolerance);
    bool is_face = false;
    for (int i = 0; i < face_count(p); ++i) {
      const Plane plane = plane_of(p, i);
      CHECK(dot(plane.normal, point) - plane.offset < way.distance + kTolerance);
      is_face = is_face || length(plane.normal - normal) < kTolerance;
    }
    CHECK(is_face);
  }
}

}  // namespace
