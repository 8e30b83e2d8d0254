// Makes the tree of a mesh (mesh.hpp), on the host: the same bytes on every machine.
#pragma once

#include <span>
#include <vector>

#include "geometry/mesh.hpp"

namespace ge::geometry {

/// The most triangles of a mesh: their numbers are floats.
inline constexpr int64_t kMostTriangles = int64_t{1} << 24;

/// A tree over triangles that are stored in `order`: first those of the first leaf.
struct Tree {
  std::vector<TreeNode> nodes;
  std::vector<int32_t> order;
};

/// `triangles`: at least one, at most kMostTriangles, with finite corners.
Tree make_tree(std::span<const Triangle> triangles);

/// What a ray is expected to cost by the surface-area heuristic: boxes and triangles tested, in the
/// units of one triangle.
double expected_cost(const Tree& tree, std::span<const Triangle> triangles);

}  // namespace ge::geometry
