// Rays at triangle meshes: the tree against all triangles one by one, ties, closed surfaces without
// a gap, and trees of strange meshes.
#include "geometry/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "geometry/mesh_tree.hpp"
#include "geometry/slow_shapes.hpp"
#include "test.hpp"

namespace {

using namespace ge::geometry;
using namespace ge::test;
using ge::Floats;
using ge::kPack;
using ge::lane;
using ge::set_lane;
using ge::spread;

constexpr float kFar = 1e6f, kNear = 1e-3f;
constexpr int kFirst = 100;  // number of the first triangle

Triangle triangle(Vec3 a, Vec3 b, Vec3 c) {
  Triangle t{};
  put(t.a, a), put(t.b, b), put(t.c, c);
  return t;
}

/// A mesh with its tree, in the tree's order.
struct Made {
  Tree tree;
  std::vector<Triangle> triangles;
  bool two_sided = true;

  explicit Made(const std::vector<Triangle>& given) : tree(make_tree(given)) {
    for (const int32_t k : tree.order) triangles.push_back(given[size_t(k)]);
  }
  Mesh mesh() const { return {tree.nodes.data(), triangles.data(), two_sided}; }
  MeshHits cast(const Bundle& rays) const {
    MeshHits hits{spread(kFar), spread(-1.0f)};
    hit_mesh(rays, mesh(), kNear, kFirst, hits);
    return hits;
  }
  /// All triangles, from the last to the first.
  MeshHits cast_slowly(const Bundle& rays) const {
    MeshHits hits{spread(kFar), spread(-1.0f)};
    for (size_t k = triangles.size(); k-- > 0;)
      detail::meet_triangle(rays, triangles[k], two_sided, kNear, float(kFirst + int(k)), hits);
    return hits;
  }
  int depth(int32_t node = 0) const {
    int deepest = 0;
    for (const int32_t child : tree.nodes[size_t(node)].child)
      if (child >= 0) deepest = std::max(deepest, depth(child));
    return deepest + 1;
  }
};

/// Axes of an eye that looks along a direction.
struct Look {
  Vec3 right, up, forward;
  explicit Look(Vec3 along) : forward(normalized(along)) {
    const Tangents sides = tangents(forward);
    right = sides.first, up = cross(right, forward);
  }
  Bundle at(Vec3 eye, const Floats& x, const Floats& y) const {
    const auto along = [&](float r, float u, float f) { return x * r + y * u + f; };
    const Vecs direction = {along(right.x, up.x, forward.x), along(right.y, up.y, forward.y),
                            along(right.z, up.z, forward.z)};
    return bundle_of(eye, right, up, forward, x, y, inverses(direction));
  }
  /// Slopes of the ray to a point from the eye.
  void aim(Vec3 point, int k, Floats& x, Floats& y) const {
    const float deep = dot(point, forward);
    if (!(deep > 0.05f)) return;
    set_lane(x, k, dot(point, right) / deep), set_lane(y, k, dot(point, up) / deep);
  }
};
Floats some(Source& source, float size) {
  Floats pack{};
  for (int k = 0; k < kPack; ++k) set_lane(pack, k, source.within(-size, size));
  return pack;
}
Bundle bundle(Source& source, Vec3 eye, float size) {
  const Floats x = some(source, size), y = some(source, size);
  return Look(source.direction()).at(eye, x, y);
}
Vec3 ray_of(const Look& look, const Floats& x, const Floats& y, int k) {
  return look.forward + look.right * lane(x, k) + look.up * lane(y, k);
}
bool same(const MeshHits& a, const MeshHits& b) {
  for (int k = 0; k < kPack; ++k)
    if (lane(a.distance, k) != lane(b.distance, k) || lane(a.number, k) != lane(b.number, k))
      return false;
  return true;
}
int hits_in(const MeshHits& hits) {
  int count = 0;
  for (int k = 0; k < kPack; ++k) count += lane(hits.number, k) >= 0.0f ? 1 : 0;
  return count;
}

std::vector<Triangle> soup(Source& source, int count, float side) {
  std::vector<Triangle> all;
  for (int k = 0; k < count; ++k) {
    const Vec3 at = source.point(10.0f);
    all.push_back(triangle(at, at + source.point(side), at + source.point(side)));
  }
  return all;
}

/// A sphere of 8 * 4^levels triangles, turned outwards.
std::vector<Triangle> sphere(int levels, float radius, const Quat& turn) {
  const Mat3 m = matrix(turn);
  std::vector<std::array<Vec3, 3>> faces;
  for (int k = 0; k < 8; ++k) {
    const Vec3 x = {(k & 1) != 0 ? 1.0f : -1.0f, 0, 0}, y = {0, (k & 2) != 0 ? 1.0f : -1.0f, 0},
               z = {0, 0, (k & 4) != 0 ? 1.0f : -1.0f};
    const bool is_turned = x.x * y.y * z.z < 0.0f;
    faces.push_back({x, is_turned ? z : y, is_turned ? y : z});
  }
  for (int level = 0; level < levels; ++level) {
    std::vector<std::array<Vec3, 3>> finer;
    for (const auto& [a, b, c] : faces) {
      const Vec3 ab = normalized(a + b), bc = normalized(b + c), ca = normalized(c + a);
      finer.push_back({a, ab, ca}), finer.push_back({ab, b, bc});
      finer.push_back({ca, bc, c}), finer.push_back({ab, bc, ca});
    }
    faces = std::move(finer);
  }
  std::vector<Triangle> all;
  for (const auto& [a, b, c] : faces)
    all.push_back(triangle(m * a * radius, m * b * radius, m * c * radius));
  return all;
}

}  // namespace

GE_TEST(the_tree_finds_what_all_triangles_find) {
  Source source{11};
  int found = 0;
  for (const int count : {1, 2, 3, 9, 100, 3000})
    for (const float side : {0.2f, 3.0f})
      for (const bool two_sided : {false, true}) {
        Made made(soup(source, count, side));
        made.two_sided = two_sided;
        for (int k = 0; k < 200; ++k) {
          const Bundle rays = bundle(source, source.point(8.0f), k % 3 == 0 ? 1.0f : 0.05f);
          const MeshHits hits = made.cast(rays);
          CHECK(same(hits, made.cast_slowly(rays)));
          found += hits_in(hits);
        }
      }
  CHECK(found > 150 * kPack);
}
GE_TEST(rays_along_the_axes_find_what_all_triangles_find) {
  Source source{12};
  std::vector<Triangle> floor;
  for (int x = -4; x < 4; ++x)
    for (int y = -4; y < 4; ++y) {
      const Vec3 a = {float(x), float(y), 0}, b = {float(x + 1), float(y), 0},
                 c = {float(x + 1), float(y + 1), 0}, d = {float(x), float(y + 1), 0};
      floor.push_back(triangle(a, b, c)), floor.push_back(triangle(a, c, d));
    }
  const Made made(floor);
  int found = 0;
  for (int k = 0; k < 600; ++k) {
    const float way = k % 2 == 0 ? 1.0f : -1.0f;
    const Look look(unit_axis(k % 3) * way);
    const Floats zero = spread(0.0f), x = k % 5 == 0 ? some(source, 1.0f) : zero;
    // Above corners, edges and inner points, and within the floor.
    const Vec3 eye = {0.25f * float(source.below(40) - 20), 0.25f * float(source.below(40) - 20),
                      float(source.below(3) - 1)};
    const Bundle rays = look.at(eye, x, zero);
    const MeshHits hits = made.cast(rays);
    CHECK(same(hits, made.cast_slowly(rays)));
    found += hits_in(hits);
  }
  CHECK(found > 10 * kPack);
}
GE_TEST(a_flat_wall_is_at_one_distance_everywhere) {
  const std::vector<Triangle> wall = {triangle({-9, 3, -9}, {9, 3, -9}, {9, 3, 9}),
                                      triangle({-9, 3, -9}, {9, 3, 9}, {-9, 3, 9})};
  const Made made(wall);
  for (int k = -20; k <= 20; ++k) {
    const Floats across = (ge::lane_numbers() + float(k)) * 0.03f;
    const MeshHits hits =
        made.cast(Look({0, 1, 0}).at({0, 0, 0}, across, spread(0.02f * float(k))));
    for (int i = 0; i < kPack; ++i) CHECK(std::abs(lane(hits.distance, i) - 3.0f) < 1e-6f);
  }
}
GE_TEST(of_coincident_triangles_the_lower_number_is_seen) {
  Source source{13};
  std::vector<Triangle> twice = soup(source, 200, 2.0f);
  const std::vector<Triangle> copy = twice;
  twice.insert(twice.end(), copy.begin(), copy.end());
  const Made made(twice);
  const auto at = [&](int k) { return made.triangles[size_t(k)]; };
  int found = 0;
  for (int k = 0; k < 300; ++k) {
    const MeshHits hits = made.cast(bundle(source, source.point(8.0f), 0.3f));
    for (int i = 0; i < kPack; ++i) {
      if (lane(hits.number, i) < 0.0f) continue;
      const int number = int(lane(hits.number, i)) - kFirst;
      for (int lower = 0; lower < number; ++lower)
        CHECK(std::memcmp(&made.triangles[size_t(lower)], &made.triangles[size_t(number)],
                          sizeof(Triangle)) != 0);
      ++found;
    }
  }
  CHECK(found > 10 * kPack && at(0).a[0] == at(0).a[0]);
}
// From within, no ray leaves; from outside, one side of it is seen, and none from within.
GE_TEST(a_closed_surface_has_no_gap) {
  Source source{14};
  for (int turn = 0; turn < 6; ++turn) {
    Made made(sphere(4, 2.0f, source.turn()));
    for (int k = 0; k < 4000; ++k) {
      const Vec3 eye = source.point(0.9f);
      const Look look(source.direction());
      Floats x = some(source, 0.8f), y = some(source, 0.8f);
      for (int i = 0; i < kPack; i += 3) {  // at corners and middles of edges
        const Triangle& t = made.triangles[size_t(source.below(int(made.triangles.size())))];
        look.aim((k % 2 == 0 ? vec(t.a) : (vec(t.a) + vec(t.b)) * 0.5f) - eye, i, x, y);
      }
      const Bundle rays = look.at(eye, x, y);
      made.two_sided = true;
      CHECK_EQ(hits_in(made.cast(rays)), kPack);
      made.two_sided = false;
      CHECK_EQ(hits_in(made.cast(rays)), 0);
    }
  }
}
GE_TEST(weights_are_those_of_the_corners) {
  Source source{15};
  const Made made(soup(source, 300, 4.0f));
  int checked = 0;
  for (int k = 0; k < 300; ++k) {
    const Vec3 eye = source.point(8.0f);
    const Look look(source.direction());
    const Floats x = some(source, 0.3f), y = some(source, 0.3f);
    const Bundle rays = look.at(eye, x, y);
    const MeshHits hits = made.cast(rays);
    for (int i = 0; i < kPack; ++i) {
      if (lane(hits.number, i) < 0.0f) continue;
      const Triangle& t = made.triangles[size_t(lane(hits.number, i)) - kFirst];
      const Vecs weights = weights_in(t, rays);
      const Vec3 w = {lane(weights.x, i), lane(weights.y, i), lane(weights.z, i)};
      const Vec3 meant = vec(t.a) * w.x + vec(t.b) * w.y + vec(t.c) * w.z;
      const Vec3 ray = ray_of(look, x, y, i);
      CHECK(w.x >= 0 && w.y >= 0 && w.z >= 0);
      CHECK(length(meant - (eye + ray * lane(hits.distance, i))) < 2e-3f);
      ++checked;
    }
  }
  CHECK(checked > 10 * kPack);
}

// ---- trees

GE_TEST(trees_hold_every_triangle_once_and_are_never_too_deep) {
  Source source{16};
  std::vector<std::vector<Triangle>> meshes = {soup(source, 5000, 0.3f)};
  meshes.emplace_back(3000, triangle({0, 0, 0}, {1, 0, 0}, {0, 1, 0}));  // all alike
  meshes.emplace_back(77, triangle({2, 2, 2}, {2, 2, 2}, {2, 2, 2}));    // all one point
  std::vector<Triangle> far;  // each ten times as far away as the one before: splits one by one
  for (int k = 0; k < 200; ++k) {
    const float at = std::pow(1.2f, float(k));
    far.push_back(triangle({at, 0, 0}, {at, 1, 0}, {at, 0, 1}));
  }
  meshes.push_back(far);
  for (const std::vector<Triangle>& mesh : meshes) {
    const Made made(mesh);
    std::vector<int32_t> order = made.tree.order;
    std::sort(order.begin(), order.end());
    for (size_t k = 0; k < order.size(); ++k) CHECK_EQ(order[k], int32_t(k));
    CHECK_EQ(order.size(), mesh.size());
    CHECK(made.depth() < kTreeDepth);
    std::vector<int> held(mesh.size());
    for (const TreeNode& node : made.tree.nodes)
      for (int k = 0; k < 2; ++k)
        if (node.child[k] < 0) {
          const Leaf leaf = leaf_of(node.child[k]);
          CHECK(leaf.count >= 1 && leaf.count <= kLeafMost);
          for (int i = leaf.first; i < leaf.first + leaf.count; ++i) ++held[size_t(i)];
        }
    for (const int times : held) CHECK_EQ(times, 1);
  }
}
GE_TEST(leaves_are_named_and_found) {
  for (const int32_t first : {0, 1, 7, 1000000, (1 << 24) - 1})
    for (int32_t count = 1; count <= kLeafMost; ++count) {
      const int32_t child = child_of({first, count});
      CHECK(child < 0);
      CHECK_EQ(leaf_of(child).first, first);
      CHECK_EQ(leaf_of(child).count, count);
    }
}
GE_TEST(a_sphere_costs_what_a_good_tree_costs) {
  const std::vector<Triangle> fine = sphere(6, 2.0f, {1, 0, 0, 0});  // 32,768
  const Made made(fine);
  CHECK(expected_cost(made.tree, made.triangles) < 60.0);
}
