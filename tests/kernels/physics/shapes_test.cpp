// Edges, and what lies farthest in a direction, of boxes and wedges against their vertices.
#include "physics/shapes.hpp"

#include "geometry/slow_shapes.hpp"
#include "test.hpp"

namespace {

using namespace ge::physics;
using namespace ge::test;

constexpr double kTolerance = 1e-5;  // rounding of coordinates of some metres

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

}  // namespace
