// Houses as assets: their arrays side by side, and where each house's begin.
#pragma once

#include "engine/simulator/assets.hpp"
#include "houses/look.hpp"
#include "houses/make_ground.hpp"

namespace ge::houses {

inline constexpr int kMostHouses = 4096;

/// Which houses are made: `count` from number `first` of a split on.
struct Range {
  Knobs knobs;
  int32_t split, first, count;
};

/// Where a house's parts begin in the arrays of all.
struct HouseAt {
  int32_t nodes, triangles, blocks, corners, block_starts, corner_starts, block_items, corner_items,
      distances, spots, ends, bends, triangle_count, corner_count, spot_count, end_count,
      block_count, thing_count, wall_count, columns, rows;
  float low_x, low_y;
  static constexpr auto describe() {
    return fields(
        field("nodes", &HouseAt::nodes, "first node of its tree"),
        field("triangles", &HouseAt::triangles, "first triangle"),
        field("blocks", &HouseAt::blocks, "first block"),
        field("corners", &HouseAt::corners, "first corner"),
        field("block_starts", &HouseAt::block_starts, "first start of lists of blocks"),
        field("corner_starts", &HouseAt::corner_starts, "first start of lists of corners"),
        field("block_items", &HouseAt::block_items, "first item of lists of blocks"),
        field("corner_items", &HouseAt::corner_items, "first item of lists of corners"),
        field("distances", &HouseAt::distances, "first distance between corners"),
        field("spots", &HouseAt::spots, "first rectangle of the floor"),
        field("ends", &HouseAt::ends, "first end of the floor"),
        field("bends", &HouseAt::bends, "first bend of its ends"),
        field("triangle_count", &HouseAt::triangle_count, "triangles"),
        field("corner_count", &HouseAt::corner_count, "corners"),
        field("spot_count", &HouseAt::spot_count, "rectangles of the floor"),
        field("end_count", &HouseAt::end_count, "ends of the floor"),
        field("block_count", &HouseAt::block_count, "blocks"),
        field("thing_count", &HouseAt::thing_count, "of these, walls and furniture: the first"),
        field("wall_count", &HouseAt::wall_count, "of these, walls: the first"),
        field("columns", &HouseAt::columns, "squares of the lists along x"),
        field("rows", &HouseAt::rows, "squares of the lists along y"),
        field("low_x", &HouseAt::low_x, "least x of the lists").in("m"),
        field("low_y", &HouseAt::low_y, "least y of the lists").in("m"));
  }
};

struct HouseAssets {
  Asset<geometry::TreeNode> nodes;
  Asset<geometry::Triangle> triangles;
  Asset<Skin> skins;
  Asset<Block> blocks;
  Asset<Corner> corners;
  Asset<int32_t> block_starts, corner_starts;
  Asset<uint16_t> block_items, corner_items;
  Asset<float> distances;
  Asset<Spot> spots;
  Asset<End> ends;
  Asset<Bend> bends;
  Asset<HouseAt> houses;
};
/// Makes the houses, as many at a time as there are processors; refuses more than memory holds.
HouseAssets make_houses(const Range& range, AssetMaker& make);

/// Houses that are wanted, the bytes that each takes, and those that are free.
struct Need {
  int count;
  double each, free;
};
/// Refuses more than fit, with the number that does.
void check_fit(const Need& need);

/// The seed of a house: no two splits share one.
constexpr uint64_t seed_of(int split, int number) {
  return uint64_t(uint32_t(split)) << 32 | uint32_t(number);
}

// ---- for rules

GE_FN Ground ground_of(const HouseAssets& a, int house) {
  const HouseAt h = a.houses[house];
  return {a.blocks.at + h.blocks,
          a.corners.at + h.corners,
          a.block_starts.at + h.block_starts,
          a.corner_starts.at + h.corner_starts,
          a.block_items.at + h.block_items,
          a.corner_items.at + h.corner_items,
          a.distances.at + h.distances,
          a.ends.at + h.ends,
          a.bends.at + h.bends,
          h.low_x,
          h.low_y,
          h.columns,
          h.rows,
          h.corner_count,
          h.end_count};
}
GE_FN geometry::Mesh mesh_of(const HouseAssets& a, int house) {
  const HouseAt h = a.houses[house];
  return {a.nodes.at + h.nodes, a.triangles.at + h.triangles, false};
}
GE_FN Skin skin_of(const HouseAssets& a, int house, int triangle) {
  return a.skins[a.houses[house].triangles + triangle];
}
/// The rectangles of a house's floor.
struct Spots {
  const Spot* at;
  int32_t count;
};
GE_FN Spots spots_of(const HouseAssets& a, int house) {
  const HouseAt h = a.houses[house];
  return {a.spots.at + h.spots, h.spot_count};
}
/// Whether a body can stand at a point.
GE_FN bool is_floor(const HouseAssets& a, int house, Point at) {
  const Spots spots = spots_of(a, house);
  for (int k = 0; k < spots.count; ++k) {
    const Spot spot = spots.at[k];
    if ((at.x >= spot.low_x) & (at.x <= spot.high_x) & (at.y >= spot.low_y) & (at.y <= spot.high_y))
      return true;
  }
  return false;
}
/// A point of the floor: the rectangle by its share of the area, the place in it by two numbers.
GE_FN Point point_of_floor(const HouseAssets& a, int house, float which, float x, float y) {
  const Spots spots = spots_of(a, house);
  const float at = which * spots.at[spots.count - 1].area;
  int low = 0, high = spots.count - 1;  // the first rectangle that ends beyond `at`
  while (low < high) {
    const int middle = (low + high) / 2;
    if (spots.at[middle].area > at)
      high = middle;
    else
      low = middle + 1;
  }
  const Spot spot = spots.at[low];
  return {spot.low_x + (spot.high_x - spot.low_x) * x, spot.low_y + (spot.high_y - spot.low_y) * y};
}

}  // namespace ge::houses
