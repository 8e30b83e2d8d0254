// Where rays enter solids, against closed forms, and what they miss.
#include "pictures/shapes.hpp"

#include "test.hpp"

namespace ge::pictures {
namespace {

constexpr float kRounding = 1e-4f;  // of a few float operations on numbers near 10

Solid solid(int32_t shape, Vec3 half, Vec3 at = {}) {
  Solid s;
  s.shape = shape;
  s.half[0] = half.x, s.half[1] = half.y, s.half[2] = half.z;
  s.position[0] = at.x, s.position[1] = at.y, s.position[2] = at.z;
  return s;
}
/// Depth at which a ray enters; kFar for a miss.
float entered(const Solid& s, Vec3 origin, Vec3 direction) {
  const Rays rays{spread(origin), spread(direction)};
  return lane(hit_distance(rays, body_of(s).shape, spread(kFar)), kPack - 1);
}
bool near(float a, float b) {
  return ge::abs(a - b) < kRounding;
}

GE_TEST(box_is_entered_at_its_side_wherever_it_stands) {
  Solid box = solid(Solid::kBox, {1, 2, 3}, {5, 0, 0});
  CHECK(near(entered(box, {0, 0, 0}, {1, 0, 0}), 4));
  CHECK(near(entered(box, {0, 1.99f, 2.99f}, {1, 0, 0}), 4));
  CHECK_EQ(entered(box, {0, 2.01f, 0}, {1, 0, 0}), kFar);
  CHECK_EQ(entered(box, {10, 0, 0}, {1, 0, 0}), kFar);
  box.orientation[0] = box.orientation[3] = ge::sqrt(0.5f);  // a quarter turn about z
  CHECK(near(entered(box, {0, 0, 0}, {1, 0, 0}), 3));
}

GE_TEST(ray_that_begins_inside_meets_nothing) {
  CHECK_EQ(entered(solid(Solid::kBox, {1, 1, 1}), {0, 0, 0}, {1, 0, 0}), kFar);
  CHECK_EQ(entered(solid(Solid::kSphere, {1, 0, 0}), {0.5f, 0, 0}, {1, 0, 0}), kFar);
  const Solid capsule = solid(Solid::kCapsule, {1, 0, 2});
  for (const float z : {-2.9f, -1.0f, 0.0f, 1.0f, 2.9f})
    for (const Vec3 way : {Vec3{1, 0, 0}, Vec3{0.3f, 0, 1}, Vec3{0.3f, 0, -1}})
      CHECK_EQ(entered(capsule, {0.1f, 0, z}, way), kFar);
}

GE_TEST(wedge_rises_towards_y) {
  // Run 3, height 2, origin at the centroid: the slope is z = -2/3 + 2 (y + 2) / 3.
  const Solid wedge = solid(Solid::kWedge, {1, 3, 2});
  const Body wedge_body = body_of(wedge);
  for (const float y : {-1.9f, -1.0f, 0.0f, 0.9f}) {
    const float height = -2.0f / 3.0f + 2.0f * (y + 2.0f) / 3.0f;
    CHECK(near(entered(wedge, {0.5f, y, 10}, {0, 0, -1}), 10 - height));
    const Vec3 normal = normal_at(wedge_body.shape, Vec3{0.5f, y, height});
    CHECK(near(normal.y, -2 / ge::sqrt(13.0f)) && near(normal.z, 3 / ge::sqrt(13.0f)));
  }
  CHECK_EQ(entered(wedge, {0.5f, 1.01f, 10}, {0, 0, -1}), kFar);
  CHECK_EQ(entered(wedge, {0.5f, -2.01f, 10}, {0, 0, -1}), kFar);
  CHECK(near(entered(wedge, {0, 10, 1}, {0, -1, 0}), 9));
}

GE_TEST(sphere_and_capsule_agree_with_their_equations) {
  CHECK(near(entered(solid(Solid::kSphere, {2, 0, 0}, {0, 0, 1}), {-5, 0, 1}, {1, 0, 0}), 3));
  const Solid capsule = solid(Solid::kCapsule, {1, 0, 2});
  CHECK(near(entered(capsule, {-5, 0, 1.5f}, {1, 0, 0}), 4));
  CHECK(near(entered(capsule, {-5, 0, 2.6f}, {1, 0, 0}), 4.2f));  // 0.6 up the ball: 0.8 wide
  CHECK(near(entered(capsule, {0, 0, 9}, {0, 0, -1}), 6));
  CHECK_EQ(entered(capsule, {-5, 0, 3.01f}, {1, 0, 0}), kFar);
}

GE_TEST(floor_and_plane_are_half_spaces) {
  CHECK(near(entered(solid(Solid::kFloor, {}), {4, 5, 3}, {1, 0, -1}), 3));
  CHECK_EQ(entered(solid(Solid::kFloor, {}), {4, 5, 3}, {1, 0, 1}), kFar);
  CHECK(near(entered(solid(Solid::kPlane, {-2, 0, 0}, {7, 0, 0}), {0, 9, 9}, {1, 0, 0}), 7));
}

}  // namespace
}  // namespace ge::pictures
