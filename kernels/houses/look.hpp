// What there is to see of a house: triangles with colours, into which its light is baked.
#pragma once

#include <span>
#include <vector>

#include "cameras/patterns.hpp"
#include "geometry/mesh_tree.hpp"
#include "houses/furniture.hpp"

namespace ge::houses {

/// Colours of a triangle's corners, and what it belongs to.
struct Skin {
  uint32_t a, b, c;        // 0xRRGGBB
  uint16_t part, pattern;  // see ShellPart, and cameras/patterns.hpp
  static constexpr auto describe() {
    return fields(field("a", &Skin::a, "colour of the first corner as 0xRRGGBB").any_value(),
                  field("b", &Skin::b, "of the second corner").any_value(),
                  field("c", &Skin::c, "of the third corner").any_value(),
                  field("part", &Skin::part, "what it belongs to"),
                  field("pattern", &Skin::pattern, "what it is patterned with"));
  }
};

/// Parts: 0 floors, 1 walls, 2 ceilings, 3 windows, kFirstPiece + k the piece k.
enum ShellPart : int32_t { kFloorPart, kWallPart, kCeilingPart, kWindowPart, kFirstPiece };

struct House {
  Plan plan;
  Shell shell;
  std::vector<Piece> pieces;
  std::vector<geometry::Triangle> triangles;  // in the order of the tree
  std::vector<Skin> skins;
  std::vector<geometry::TreeNode> nodes;

  /// Rectangles that stand on the floor.
  std::vector<Rect> things() const;
};

/// The house of a seed.
House make_house(const Knobs& knobs, uint64_t seed);

}  // namespace ge::houses
