// Static triangle meshes, and rays from one eye cast at them: all of a pack go down a tree of boxes
// together (mesh_tree.hpp makes it).
//
// No ray passes between two triangles that share a corner or an edge (Woop and others 2013): each
// ray sees corners in the plane across it, in coordinates that all triangles of a corner compute
// alike. On which side of an edge the ray is follows from comparing two products. Rounding keeps
// the order of products, so the answer is right, or that the ray meets the edge: then both
// triangles are met. Boxes are tested with slack, so the tree hides no triangle. Of equally near
// hits that of the lowest number counts, so the order of the tests does not matter.
#pragma once

#include "engine/described/describe.hpp"
#include "geometry/ray_cast.hpp"

namespace ge::geometry {

inline constexpr int kTreeDepth = 32;  // most nodes above a leaf
inline constexpr int kLeafMost = 8;    // triangles of a leaf

/// Two boxes, and what is in them: a node further on, or a leaf.
struct TreeNode {
  float low[2][3], high[2][3];
  int32_t child[2];  // a node; below 0, a leaf: see leaf_of
  int32_t axis;      // along which the first box lies before the second
  int32_t spare;

  static constexpr auto describe() {
    return fields(field("low", &TreeNode::low, "lowest corners of two boxes").in("m"),
                  field("high", &TreeNode::high, "highest corners").in("m"),
                  field("child", &TreeNode::child, "node; below 0: leaf").any_value(),
                  field("axis", &TreeNode::axis, "along which the boxes are ordered").within(0, 2),
                  field("spare", &TreeNode::spare, "not used").within(0, 0));
  }
};
/// Triangles of a leaf: `count` from `first` on.
struct Leaf {
  int32_t first, count;
};
GE_FN constexpr int32_t child_of(const Leaf& leaf) {
  return ~(leaf.first * kLeafMost + leaf.count - 1);
}
GE_FN constexpr Leaf leaf_of(int32_t child) {
  return {~child / kLeafMost, ~child % kLeafMost + 1};
}

/// Corners, counter-clockwise as seen from outside.
struct Triangle {
  float a[3], b[3], c[3];

  static constexpr auto describe() {
    return fields(field("a", &Triangle::a, "first corner").in("m"),
                  field("b", &Triangle::b, "second corner").in("m"),
                  field("c", &Triangle::c, "third corner").in("m"));
  }
};

/// A mesh that is cast at; node 0 is the root.
struct Mesh {
  const TreeNode* nodes;
  const Triangle* triangles;
  bool two_sided;  // else triangles are seen from outside only
};

/// Rays from one eye: eye + distance (forward + x right + y up), for slopes x and y.
struct Bundle {
  Vec3 eye, forward;
  Vecs across, along;  // two axes of the plane across each ray: to the right, and up
  Vecs inverse;        // of directions
};
/// An axis, without its part along rays of a slope.
GE_FN Vecs across_rays(Vec3 axis, Vec3 forward, const Floats& slope) {
  return {axis.x - slope * forward.x, axis.y - slope * forward.y, axis.z - slope * forward.z};
}
/// `right`, `up`, `forward`: of length 1, at right angles, so that right x up points to the eye.
/// `inverse`: of forward + x right + y up.
GE_FN Bundle bundle_of(Vec3 eye, Vec3 right, Vec3 up, Vec3 forward, const Floats& x,
                       const Floats& y, const Vecs& inverse) {
  return {eye, forward, across_rays(right, forward, x), across_rays(up, forward, y), inverse};
}

/// The nearest hits so far: distances along `forward`, and numbers as floats.
struct MeshHits {
  Floats distance, number;
};

namespace detail {

/// More than rounding can add to the quotient of two places along a ray.
inline constexpr float kBoxSlack = 1.000001f;

/// Where rays may be inside a box, given from the eye: at least where they are.
GE_FN Mask may_enter(const Vecs& inverse, Vec3 low, Vec3 high, const Floats& limit) {
  const Span<Floats> span = span_along_axes(inverse, low, high);
  const Floats leave = min(span.leave * kBoxSlack, limit);
  return both(span.enter <= leave, leave >= 0.0f);
}

/// A corner in the plane across each ray, which passes through 0.
struct Across {
  Floats x, y;
};
GE_FN Across seen_across(const Bundle& bundle, Vec3 corner) {
  return {dot(bundle.across, corner), dot(bundle.along, corner)};
}
/// Products of which the first is greater where a ray lies to the left of the edge from a to b.
struct Sides {
  Floats left, right;
};
GE_FN Sides sides_of(const Across& a, const Across& b) {
  return {a.x * b.y, a.y * b.x};
}

/// The corners of a triangle from the eye, and on which side of its edges rays are.
struct Seen {
  Vec3 a, b, c;
  Sides bc, ca, ab;

  GE_FN Seen(const Bundle& bundle, const Triangle& t)
      : a(vec(t.a) - bundle.eye), b(vec(t.b) - bundle.eye), c(vec(t.c) - bundle.eye) {
    const Across at_a = seen_across(bundle, a), at_b = seen_across(bundle, b),
                 at_c = seen_across(bundle, c);
    bc = sides_of(at_b, at_c), ca = sides_of(at_c, at_a), ab = sides_of(at_a, at_b);
  }
  GE_FN Mask inside(bool two_sided) const {
    const auto front = both(both(bc.left >= bc.right, ca.left >= ca.right), ab.left >= ab.right);
    if (!two_sided) return front;
    const auto back = both(both(bc.left <= bc.right, ca.left <= ca.right), ab.left <= ab.right);
    return either(front, back);
  }
  /// Weights of the corners, times their sum.
  GE_FN Vecs weights() const {
    return {bc.left - bc.right, ca.left - ca.right, ab.left - ab.right};
  }
};

GE_FN void meet_triangle(const Bundle& bundle, const Triangle& t, bool two_sided, float near,
                         float number, MeshHits& hits) {
  const Seen seen(bundle, t);
  const auto inside = seen.inside(two_sided);
  if (!any_of(inside)) return;
  const Vecs weights = seen.weights();
  const Floats sum = weights.x + weights.y + weights.z;
  const auto is_flat = sum == 0.0f;  // seen from its edge: its neighbours are met
  const Floats deep = weights.x * dot(seen.a, bundle.forward) +
                      weights.y * dot(seen.b, bundle.forward) +
                      weights.z * dot(seen.c, bundle.forward);
  const Floats hit = deep / select(is_flat, spread(1.0f), sum);
  const auto nearer =
      either(hit < hits.distance, both(hit == hits.distance, spread(number) < hits.number));
  const auto taken = both(both(inside, is_not(is_flat)), both(nearer, near < hit));
  hits.distance = select(taken, hit, hits.distance);
  hits.number = select(taken, spread(number), hits.number);
}

}  // namespace detail

/// Takes hits of a mesh that are nearer than those so far, at least `near` away. Triangle k has
/// number `first` + k, which a float holds exactly.
GE_FN void hit_mesh(const Bundle& bundle, const Mesh& mesh, float near, int32_t first,
                    MeshHits& hits) {
  int32_t later[kTreeDepth];
  int waiting = 0;
  int32_t at = 0;
  // The pack's middle ray chooses which of two boxes is tried first.
  const auto goes_up = [](const Floats& inverse) { return lane(inverse, kPack / 2) >= 0.0f; };
  const bool up_x = goes_up(bundle.inverse.x), up_y = goes_up(bundle.inverse.y),
             up_z = goes_up(bundle.inverse.z);
  GE_NO_UNROLL
  for (;;) {
    if (at < 0) {
      const Leaf leaf = leaf_of(at);
      GE_NO_UNROLL
      for (int32_t k = leaf.first; k < leaf.first + leaf.count; ++k)
        detail::meet_triangle(bundle, mesh.triangles[k], mesh.two_sided, near, float(first + k),
                              hits);
    } else {
      const TreeNode& node = mesh.nodes[at];
      bool enters[2];
      GE_UNROLL
      for (int k = 0; k < 2; ++k)
        enters[k] = any_of(detail::may_enter(bundle.inverse, vec(node.low[k]) - bundle.eye,
                                             vec(node.high[k]) - bundle.eye, hits.distance));
      if (enters[0] & enters[1]) {
        const bool up = select(node.axis == 0, up_x, select(node.axis == 1, up_y, up_z));
        later[waiting++] = node.child[up ? 1 : 0];
        at = node.child[up ? 0 : 1];
        continue;
      }
      if (enters[0] | enters[1]) {
        at = node.child[enters[0] ? 0 : 1];
        continue;
      }
    }
    if (waiting == 0) return;
    at = later[--waiting];
  }
}

/// Weights of a triangle's corners where rays meet it.
GE_FN Vecs weights_in(const Triangle& t, const Bundle& bundle) {
  const Vecs weights = detail::Seen(bundle, t).weights();
  const Floats sum = weights.x + weights.y + weights.z;
  const auto is_flat = sum == 0.0f;
  return weights * select(is_flat, spread(0.0f), 1.0f / select(is_flat, spread(1.0f), sum));
}

}  // namespace ge::geometry
