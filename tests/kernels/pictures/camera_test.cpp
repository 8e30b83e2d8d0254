// Cameras: a ray goes through the point whose projection it is cast for, and framing fits.
#include "pictures/camera.hpp"

#include "test.hpp"

namespace ge::pictures {
namespace {

constexpr float kRounding = 1e-4f;  // of a few float operations on numbers near 10

float off(const Camera& camera, const Vec3& point) {
  const Vec3 p = projected(camera, point);
  const Rays rays = rays_of(camera, spread(p.x), spread(p.y));
  const Vecs reached = rays.origin + rays.direction * spread(p.z);
  const Vec3 d{lane(reached.x, 0) - point.x, lane(reached.y, 0) - point.y,
               lane(reached.z, 0) - point.z};
  return ge::sqrt(dot(d, d));
}

GE_TEST(rays_go_through_what_is_projected) {
  const Camera deep = look_along({1, -8, 5}, {0.2f, 1, -0.5f}, {0, 0, 1}, 0.4f, false);
  const Camera flat = above({-3, -4, 0}, {5, 4, 2}, 1.5f);
  for (const Vec3& point : {Vec3{0, 0, 0}, Vec3{2, 3, 1}, Vec3{-1, 4, 2}}) {
    CHECK(off(deep, point) < kRounding);
    CHECK(off(flat, point) < kRounding);
  }
}

GE_TEST(framing_touches_an_edge_and_crosses_none) {
  const Vec3 low{-18, -10, 0}, high{18, 10, 2};
  for (const float aspect : {0.6f, 1.0f, 2.5f}) {
    const Camera camera = framed(low, high, {0.3f, 1, -1}, aspect);
    float widest = 0;
    for (int k = 0; k < 8; ++k) {
      const Vec3 p = projected(camera, corner(low, high, k));
      CHECK(p.z > 0);
      widest = ge::max(widest, ge::max(ge::abs(p.x) / aspect, ge::abs(p.y)));
    }
    CHECK(widest > 0.85f && widest < 1.0f);
  }
}

GE_TEST(from_above_north_is_up_and_east_is_right) {
  const Camera camera = above({-2, -2, 0}, {2, 2, 1}, 1.0f);
  const Vec3 p = projected(camera, {1, 1.5f, 0});
  CHECK(p.x > 0.4f && p.y > p.x);
}

}  // namespace
}  // namespace ge::pictures
