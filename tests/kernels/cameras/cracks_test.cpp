// Boxes that touch leave no gap between them, and what is on one plane does not flicker.
// environment: gallery
#include "closed_forms.hpp"
#include "gallery_room.hpp"
#include "geometry/slow_shapes.hpp"

namespace ge::test {
namespace {

using namespace geometry;

constexpr float kSide = 0.75f;  // [m], of a voxel; its multiples are exact

/// A box that fills voxels from low to high, high not included.
Solid voxels(const int (&low)[3], const int (&high)[3], uint32_t colour) {
  float half[3], at[3];
  for (int k = 0; k < 3; ++k) {
    half[k] = 0.5f * kSide * float(high[k] - low[k]);
    at[k] = 0.5f * kSide * float(high[k] + low[k]);
  }
  return cameras::solid(kBox, vec(half), vec(at), colour);
}
/// Voxels around a room of 8 x 8 x 4 of them, joined to boxes in some way that overlaps nowhere.
std::vector<Solid> closed_room() {
  std::vector<Solid> boxes;
  for (const int below : {-1, 4})  // floor and ceiling in strips
    for (int y = -5; y < 5; ++y)
      boxes.push_back(voxels({-5, y, below}, {5, y + 1, below + 1}, 0x888888));
  for (const int side : {-5, 4}) {
    boxes.push_back(voxels({side, -5, 0}, {side + 1, 0, 4}, 0x00ff00));
    boxes.push_back(voxels({side, 0, 0}, {side + 1, 5, 1}, 0xff0000));
    boxes.push_back(voxels({side, 0, 1}, {side + 1, 5, 4}, 0x0000ff));
    boxes.push_back(voxels({-4, side, 0}, {1, side + 1, 2}, 0x00ffff));
    boxes.push_back(voxels({-4, side, 2}, {1, side + 1, 4}, 0xff00ff));
    boxes.push_back(voxels({1, side, 0}, {4, side + 1, 4}, 0xffff00));
  }
  return boxes;
}

GE_TEST(closed_room_shows_no_gap_from_inside) {
  constexpr int kWorlds = rounds(160);
  const std::vector<Solid> boxes = closed_room();
  Gallery gallery({{"resolution", std::string("48x80")},
                   {"observation", std::string("depth+segmentation")},
                   {"thing_count", int64_t(boxes.size())},
                   {"visitors", int64_t{1}}},
                  kWorlds);
  gallery.reset(1);
  Source source{1};
  std::vector<Stand> stands(gallery.get<float>("visitors.yaw").size());
  for (size_t k = 0; k < stands.size(); ++k) {
    // Half of them where edges and corners line up with pixels.
    const auto grid = [&](int count) { return 0.5f * kSide * float(source.below(count)); };
    const bool lined_up = k % 2 == 1;
    stands[k].at = lined_up ? Vec3{grid(14) - 2.5f, grid(14) - 2.5f, grid(7) + 0.25f}
                            : Vec3{source.within(-2.9f, 2.9f), source.within(-2.9f, 2.9f),
                                   source.within(0.1f, 2.9f)};
    stands[k].yaw = lined_up ? float(source.below(8)) * 0.78539816f : source.within(-4, 4);
    stands[k].pitch = lined_up ? 0 : source.within(-1.5f, 1.5f);
  }
  gallery.lay(boxes), gallery.stand_each(stands), gallery.look();
  for (int64_t world = 0; world < kWorlds; ++world) {
    int missed = 0;
    const std::vector<int> segments = gallery.segments(world);
    for (const int segment : segments) missed += segment == 0;
    CHECK_EQ(missed, 0);
    for (const float depth : gallery.depths(world)) CHECK(depth > 0 && depth < 10);
  }
}

/// Cells of a wall at y = 3, seen while the eye moves by parts of a pixel: every pixel shows the
/// cell that it must, but where the edge of two runs through its middle.
GE_TEST(checkerboard_of_boxes_has_no_hole_and_does_not_flicker) {
  constexpr int kCells = 6, kRows = 36, kColumns = 64, kMoves = rounds(40);
  constexpr double kHfov = 60, kEdge = 2e-5;  // [m]
  std::vector<Solid> cells;
  for (int i = 0; i < kCells; ++i)
    for (int j = 0; j < kCells; ++j)
      cells.push_back(voxels({i - 3, 4, j - 3}, {i - 2, 5 + (i + j) % 3, j - 2},
                             ((i + j) % 2 == 0 ? 0xffffffu : 0x400000u) | Solid::kUnlit));
  Gallery gallery({{"resolution", std::string("36x64")},
                   {"observation", std::string("rgb+depth+segmentation")},
                   {"thing_count", int64_t(cells.size())},
                   {"hfov", kHfov},
                   {"visitors", int64_t{1}}},
                  kMoves);
  gallery.reset(1);
  const size_t each = gallery.get<float>("visitors.yaw").size() / kMoves;
  std::vector<Stand> stands;
  const double pixel = 3 * 2 * std::tan(kHfov * std::acos(-1.0) / 360) / kColumns;  // on the wall
  for (int move = 0; move < kMoves; ++move)
    stands.insert(stands.end(), each,
                  {{float(pixel * move / 13), 0, float(pixel * move / 17)}, 0, 0});
  gallery.lay(cells), gallery.stand_each(stands), gallery.look();
  int on_wall = 0, on_edge = 0;
  for (int move = 0; move < kMoves; ++move) {
    const RealEye eye(stands[size_t(move) * each].at, 0, 0);
    const std::vector<int> segments = gallery.segments(move);
    const std::vector<float> depths = gallery.depths(move);
    for (int k = 0; k < kRows * kColumns; ++k) {
      const int row = k / kColumns, column = k % kColumns;
      const Real3 place =
          plus(eye.at, eye.direction(row + 0.5, column + 0.5, kRows, kColumns, kHfov), 3.0);
      const double across = place[0] / kSide + 3, above = place[2] / kSide + 3;
      if (!(across > 0 && across < kCells && above > 0 && above < kCells)) continue;
      ++on_wall;
      CHECK_EQ(depths[size_t(k)], 3.0f);
      const auto off = [](double x) { return std::abs(x - std::round(x)) * kSide; };
      if (off(across) < kEdge || off(above) < kEdge) {
        ++on_edge;
        CHECK(segments[size_t(k)] != 0);
        continue;
      }
      const int i = int(across), j = int(above);
      CHECK_EQ(segments[size_t(k)], 1 + i * kCells + j);
      if (row < kRows - 1)  // above the bar
        CHECK_EQ(gallery.colour(move, row, column)[1], (i + j) % 2 == 0 ? 255 : 0);
    }
  }
  CHECK(on_wall > rounds(40000) && on_edge < on_wall / 100);
}

}  // namespace
}  // namespace ge::test
