// Contacts of all pairs of shapes against slow plain geometry: they lie on both surfaces, their
// normal separates as well as the best axis does, they do not depend on the frame, on who is a and
// who is b, and they stay the same contacts while bodies creep.
#include "physics/narrow_phase.hpp"

#include "geometry/slow_shapes.hpp"
#include "test.hpp"

namespace {

using namespace ge::physics;
using namespace ge::test;

constexpr CollideOptions kOptions = {0.1f, 0.02f, 0.0f, false, false};
// The clip's slack, and rounding of coordinates of some metres.
constexpr double kOnSurface = 3e-4;

ContactSet contacts(const Placed& a, const Placed& b, const CollideOptions& options = kOptions) {
  ContactSet out;
  collide(a, b, options, out);
  return out;
}
float deepest(const ContactSet& set) {
  float least = 1e30f;
  for (int i = 0; i < set.count; ++i) least = set.at[i].gap < least ? set.at[i].gap : least;
  return least;
}

/// Points under a segment that is tilted a little are inside of the capsule by as much; only the
/// deepest of them counts.
bool on_surface(const Placed& p, Vec3 point, bool lowest) {
  const double distance = distance_to(p, wide(point));
  if (p.shape != kCapsule) return std::abs(distance) < kOnSurface;
  return distance < kOnSurface && (!lowest || distance > -0.006 * p.half.x - kOnSurface);
}

void check_points(const Placed& a, const Placed& b, const ContactSet& set) {
  CHECK(set.count >= 0 && set.count <= 4);
  if (set.count == 0) return;
  CHECK(std::abs(length(set.normal) - 1) < 1e-5);
  for (int i = 0; i < set.count; ++i) {
    const ContactPoint& p = set.at[i];
    CHECK(p.gap <= kOptions.reach + 1e-5f);
    CHECK(std::abs(dot(p.on_b - p.on_a, set.normal) - p.gap) < 2e-5);
    for (int j = 0; j < i; ++j) CHECK(set.at[j].key != p.key);
    const bool lowest = p.gap == deepest(set);
    CHECK(on_surface(a, p.on_a, lowest));
    CHECK(on_surface(b, p.on_b, lowest));
  }
}

GE_TEST(contacts_of_named_shapes_are_those_among_all) {
  constexpr Shape some[] = {kBox, kWedge, kSphere};
  Source source{11};
  int touching = 0;
  for (int trial = 0; trial < 900; ++trial) {
    const Placed a = random_shape(source, some[trial % 3], 1.0f),
                 b = random_shape(source, some[trial / 3 % 3], 1.0f);
    ContactSet out;
    collide<set_of_shapes(kBox, kWedge, kSphere)>(a, b, kOptions, out);
    const ContactSet all = contacts(a, b);
    CHECK_EQ(out.count, all.count);
    touching += out.count > 0;
    for (int i = 0; i < out.count; ++i)
      CHECK(out.at[i].gap == all.at[i].gap && out.at[i].key == all.at[i].key);
  }
  CHECK(touching > 100);
}

GE_TEST(hulls_at_random_touch_on_both_surfaces_along_the_best_axis) {
  Source source{1};
  int touching = 0, empty = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const Placed a = random_shape(source, trial & 1 ? kWedge : kBox, 1.0f);
    const Placed b = random_shape(source, trial & 2 ? kWedge : kBox, 1.0f);
    const auto va = corners(a), vb = corners(b);
    const double best = separation_of(va, vb);
    const ContactSet set = contacts(a, b);
    if (best > kOptions.reach + 1e-4) CHECK_EQ(set.count, 0);
    if (best < kOptions.reach - 1e-4 && set.count == 0) ++empty;
    if (best < -1e-3) CHECK(set.count > 0);
    if (set.count == 0) continue;
    ++touching;
    check_points(a, b, set);
    const double along = gap_along(va, vb, wide(set.normal));
    CHECK(along < best + 1e-4);
    CHECK(along > best - 1.5 * kOptions.edge_margin - 1e-4);
    CHECK(deepest(set) > along - 1e-4);
    if (best < -1e-3) CHECK(deepest(set) < 0);
  }
  CHECK(touching > 1000);
  CHECK(empty < 30);  // apart, nearest at corners that do not face one another
}

GE_TEST(swapped_bodies_touch_along_an_axis_as_good) {
  Source source{2};
  for (int trial = 0; trial < 2000; ++trial) {
    const Placed a = random_shape(source, trial & 1 ? kWedge : kBox, 0.8f);
    const Placed b = random_shape(source, trial & 2 ? kWedge : kBox, 0.8f);
    const ContactSet one = contacts(a, b), other = contacts(b, a);
    CHECK_EQ(one.count > 0, other.count > 0);
    if (one.count == 0) continue;
    if (dot(one.normal, other.normal) < -0.9999f)
      CHECK(std::abs(deepest(one) - deepest(other)) < 1e-3f + 2 * kOptions.edge_margin);
    const double first = gap_along(corners(a), corners(b), wide(one.normal));
    const double second = gap_along(corners(b), corners(a), wide(other.normal));
    CHECK(std::abs(first - second) < 1.5 * kOptions.edge_margin + 1e-4);
  }
}

GE_TEST(a_motion_of_the_whole_world_moves_the_contacts_along) {
  Source source{3};
  const int32_t kinds[4] = {kBox, kWedge, kSphere, kCapsule};
  int same = 0, all = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const Placed a = random_shape(source, kinds[trial & 3], 0.8f);
    const Placed b = random_shape(source, kinds[trial >> 2 & 3], 0.8f);
    const Mat3 turn = matrix(source.turn());
    const Vec3 by = source.point(10.0f);
    const ContactSet before = contacts(a, b);
    const ContactSet after = contacts(moved(a, turn, by), moved(b, turn, by));
    if (before.count == 0 && after.count == 0) continue;
    ++all;
    same += before.count == after.count && dot(turn * before.normal, after.normal) > 0.9999f &&
            std::abs(deepest(before) - deepest(after)) < 1e-4f;
  }
  CHECK(all > 2000);
  CHECK(same > all - all / 200);  // the rest are ties
}

GE_TEST(flat_stacks_touch_in_four_points) {
  const Placed floor = shape(kBox, {2, 2, 0.5f}, {3, 4, 0.5f});
  for (float yaw : {0.0f, 0.3f, 0.785f, 1.5707964f}) {
    const Mat3 turn = matrix(yaw_quat(yaw));
    for (float z : {1.499f, 1.5f, 1.52f}) {
      for (int kind : {int(kBox), int(kWedge)}) {
        const float rest = kind == kWedge ? z - 0.5f + 1.0f / 3 : z;
        const Placed top = shape(kind, kind == kWedge ? Vec3{0.5f, 1, 1} : Vec3{0.5f, 0.5f, 0.5f},
                                 {3.2f, 4.1f, rest}, turn);
        const ContactSet set = contacts(floor, top);
        CHECK_EQ(set.count, 4);
        check_points(floor, top, set);
        CHECK(set.normal.z > 0.9999f);
        for (int i = 0; i < set.count; ++i) CHECK(std::abs(set.at[i].gap - (z - 1.5f)) < 1e-5f);
        CHECK_EQ(contacts(top, floor).count, 4);
        CHECK(contacts(top, floor).normal.z < -0.9999f);
      }
    }
  }
}

GE_TEST(boxes_of_one_size_touch_in_their_corners) {
  const Placed low = shape(kBox, {0.5f, 0.5f, 0.5f}, {0, 0, 0.5f});
  for (float yaw : {0.0f, 1e-5f, -1e-5f, 1e-3f}) {
    const Placed high =
        shape(kBox, {0.5f, 0.5f, 0.5f}, {1e-6f, -1e-6f, 1.4999f}, matrix(yaw_quat(yaw)));
    const ContactSet set = contacts(low, high);
    CHECK_EQ(set.count, 4);
    for (int i = 0; i < 4; ++i) {
      CHECK(std::abs(std::abs(set.at[i].on_a.x) - 0.5f) < 2e-3f);
      CHECK(std::abs(std::abs(set.at[i].on_a.y) - 0.5f) < 2e-3f);
      for (int j = 0; j < i; ++j) CHECK(length(set.at[i].on_a - set.at[j].on_a) > 0.9f);
    }
  }
}

GE_TEST(turned_by_45_degrees_the_four_points_span_most_of_the_octagon) {
  const Placed low = shape(kBox, {0.5f, 0.5f, 0.5f}, {0, 0, 0.5f});
  const Placed high = shape(kBox, {0.5f, 0.5f, 0.5f}, {0, 0, 1.5f}, matrix(yaw_quat(0.7853982f)));
  const ContactSet set = contacts(low, high);
  CHECK_EQ(set.count, 4);
  Vec3 middle = {0, 0, 0};
  for (int i = 0; i < 4; ++i) middle += set.at[i].on_a * 0.25f;
  CHECK(std::abs(middle.x) < 0.15f && std::abs(middle.y) < 0.15f);
}

GE_TEST(keys_stay_while_bodies_creep) {
  Source source{4};
  int kept = 0, all = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const Placed a = random_shape(source, trial & 1 ? kWedge : kBox, 0.8f);
    Placed b = random_shape(source, trial & 2 ? kWedge : kBox, 0.8f);
    const ContactSet before = contacts(a, b);
    if (before.count == 0) continue;
    b.at += source.point(1e-4f);
    const ContactSet after = contacts(a, b);
    for (int i = 0; i < before.count; ++i) {
      ++all;
      for (int j = 0; j < after.count; ++j) kept += before.at[i].key == after.at[j].key;
    }
  }
  CHECK(kept > all - all / 100);
}

GE_TEST(round_shapes_touch_on_both_surfaces_where_the_distance_says_so) {
  Source source{5};
  const int32_t kinds[4] = {kBox, kWedge, kSphere, kCapsule};
  int touching = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const Placed a = random_shape(source, trial & 1 ? kSphere : kCapsule, 1.5f);
    const Placed b = random_shape(source, kinds[trial >> 1 & 3], 1.5f);
    const ContactSet set = trial & 8 ? contacts(a, b) : contacts(b, a);
    if (set.count == 0) continue;
    ++touching;
    check_points(trial & 8 ? a : b, trial & 8 ? b : a, set);
  }
  CHECK(touching > 1500);
}

GE_TEST(capsules_are_as_far_from_hulls_as_sampled_points_say) {
  Source source{6};
  CollideOptions wide_options = kOptions;
  wide_options.reach = 10.0f;
  for (int trial = 0; trial < 60; ++trial) {
    const Placed a = shape(kCapsule, {0.1f, 0, source.within(0.2f, 1.5f)}, source.point(2.5f),
                           matrix(source.turn()));
    const Placed b = random_shape(source, trial & 1 ? kWedge : kBox, 0.1f);
    const double expected = slow_distance(a, b);
    if (expected < 0) continue;
    const ContactSet set = contacts(a, b, wide_options);
    CHECK(set.count > 0);
    CHECK(std::abs(deepest(set) - expected) < 5e-3);
  }
}

GE_TEST(a_capsule_along_an_edge_and_beyond_it_touches_the_edge_alone) {
  const Mat3 lying = {{1, 0, 0}, {0, 0, -1}, {0, 1, 0}};  // along y
  const Placed box = shape(kBox, {1, 1, 0.5f}, {0, 0, 0.5f});
  for (const float x : {1.005f, 1.01f, 1.015f}) {
    const Placed capsule = shape(kCapsule, {0.25f, 0, 0.5f}, {x, 0, 1.2499f}, lying);
    const ContactSet set = contacts(capsule, box);
    CHECK(set.count > 0);
    check_points(capsule, box, set);
  }
}

GE_TEST(a_lying_capsule_touches_in_two_points) {
  const Mat3 lying = {{0, 0, -1}, {0, 1, 0}, {1, 0, 0}};
  const Placed capsule = shape(kCapsule, {0.25f, 0, 1}, {0.5f, 0, 1.2499f}, lying);
  const Placed box = shape(kBox, {1, 1, 0.5f}, {0, 0, 0.5f});
  const ContactSet on_box = contacts(capsule, box);
  CHECK_EQ(on_box.count, 2);
  check_points(capsule, box, on_box);
  CHECK(std::abs(length(on_box.at[0].on_b - on_box.at[1].on_b) - 1.5f) < 1e-4f);
  Placed other = capsule;
  other.at = {1.0f, 0.1f, 1.72f};
  const ContactSet pair = contacts(capsule, other);
  CHECK_EQ(pair.count, 2);
  check_points(capsule, other, pair);
  const Placed ground = shape(kPlane, {0, 0, 1}, {0, 0, 1});
  CHECK_EQ(contacts(ground, capsule).count, 2);
  CHECK(contacts(ground, capsule).normal.z > 0.9999f);
}

GE_TEST(planes_are_touched_in_the_lowest_vertices) {
  Source source{7};
  for (int trial = 0; trial < 500; ++trial) {
    const int32_t kinds[4] = {kBox, kWedge, kSphere, kCapsule};
    const Vec3 normal = source.direction();
    const Placed plane = shape(kPlane, normal, source.point(1.0f));
    const Placed a = random_shape(source, kinds[trial & 3], 1.0f);
    const ContactSet set = trial & 4 ? contacts(a, plane) : contacts(plane, a);
    check_points(trial & 4 ? a : plane, trial & 4 ? plane : a, set);
    const float low = extent(a, normal).low - dot(plane.at, normal);
    CHECK_EQ(set.count > 0, low <= kOptions.reach);
    if (set.count > 0) CHECK(std::abs(deepest(set) - low) < 1e-4f);
  }
  CHECK_EQ(floor_vertices(shape(kBox, {1, 1, 0.02f}, {0, 0, 0.02f}), 0.1f), 0x0fu);
  CHECK_EQ(floor_vertices(shape(kBox, {1, 1, 0.02f}, {0, 0, 0.2f}), 0.1f), 0u);
  CHECK_EQ(floor_vertices(shape(kWedge, {1, 1, 1}, {0, 0, 1 / 3.0f}), 0.1f), 0x0fu);
}

GE_TEST(an_upright_box_at_a_seam_stands_on_the_other) {
  const Placed low = shape(kBox, {1, 1, 0.5f}, {0, 0, 0.5f});
  Placed walker = shape(kBox, {0.5f, 0.5f, 0.5f}, {1.49f, 0, 1.497f}, matrix(yaw_quat(0.2f)));
  CollideOptions options = kOptions;
  options.edge_margin = 0.002f;
  CHECK(std::abs(contacts(walker, low, options).normal.z) > 0.9f);
  walker.at = {1.58f, 0, 1.47f};  // 3 cm too low and not over it yet: a wall
  CHECK(contacts(walker, low, options).normal.x < -0.9f);
  options.step_height = 0.05f;
  options.upright_a = true;
  const ContactSet set = contacts(walker, low, options);
  CHECK(set.count > 0);
  CHECK(set.normal.z < -0.9999f);
  options.upright_a = false, options.upright_b = true;
  const ContactSet swapped = contacts(low, walker, options);
  CHECK_EQ(swapped.count, set.count);
  CHECK(swapped.normal.z > 0.9999f);
  options.upright_a = true;  // two walkers: no rule
  CHECK(std::abs(contacts(low, walker, options).normal.z) < 0.1f);
}

GE_TEST(degenerate_places_give_finite_contacts) {
  const int32_t kinds[6] = {kBox, kWedge, kSphere, kCapsule, kPlane, kFloor};
  for (int32_t a : kinds)
    for (int32_t b : kinds) {
      const auto make = [](int32_t kind) {
        return shape(kind, kind == kPlane ? Vec3{0, 0, 1} : Vec3{0.5f, 0.5f, 0.5f});
      };
      const ContactSet set = contacts(make(a), make(b));
      const bool flat_a = a == kPlane || a == kFloor, flat_b = b == kPlane || b == kFloor;
      CHECK_EQ(set.count > 0, !(flat_a && flat_b));
      for (int i = 0; i < set.count; ++i) {
        CHECK(std::isfinite(set.at[i].gap));
        CHECK(std::isfinite(dot(set.at[i].on_a, set.at[i].on_b)));
        CHECK(std::abs(length(set.normal) - 1) < 1e-5f);
      }
      CHECK(deepest(set) < 0 || flat_a || flat_b);
    }
}

}  // namespace
