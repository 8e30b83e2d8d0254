// What a world looks like to people: solids, translucent sectors on the floor and thin lines, as
// plain data on the host, in metres and radians, z upwards. An environment that has `static Scene
// scene(const World<Schema>&)` can be drawn; kernels/render/ draws it and knows no environment.
// Solids are plain structs without pointers, so that code that runs on a GPU can make them too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ge {

/// A colour as displays show it (sRGB), from 0 to 1.
struct Rgb {
  float red, green, blue;
};
/// From 0xrrggbb.
constexpr Rgb rgb(uint32_t hex) {
  return {float(hex >> 16 & 255u) / 255.0f, float(hex >> 8 & 255u) / 255.0f,
          float(hex & 255u) / 255.0f};
}

/// Colours that go together and stay apart in print and for the colour-blind.
namespace palette {
inline constexpr Rgb kFloor = rgb(0xf1f2f4), kFloorSquare = rgb(0xe6e8ec);
inline constexpr Rgb kWall = rgb(0x64748b), kBox = rgb(0xf4b642), kLongBox = rgb(0xe8973a);
inline constexpr Rgb kRamp = rgb(0x2fa79b), kBlue = rgb(0x3b82d6), kRed = rgb(0xdc4c46);
inline constexpr Rgb kDark = rgb(0x2b3440), kPale = rgb(0xf8fafc);
}  // namespace palette

/// A rigid thing. The shapes have the numbers and measures of kernels/physics/bodies.hpp.
struct Solid {
  enum Shape : int32_t {
    kFloor,    // half-space below `position`; half[0]: side of its squares, 0: plain
    kPlane,    // half-space behind the normal `half`, through `position`
    kBox,      // half extents
    kWedge,    // half width along x, run along y, height along z; origin at the centroid
    kSphere,   // half[0]: radius
    kCapsule,  // half[0]: radius, half[2]: half of the segment along z
  };
  /// Bits of `marks`, drawn in `second`.
  enum Mark : uint32_t {
    kBanded = 1,   // a band along the edges of box or wedge
    kPadlock = 2,  // on the side that faces up
    kEyes = 4,     // looking towards +y of its own frame
  };

  int32_t shape = kBox;
  float half[3] = {};
  float position[3] = {};
  float orientation[4] = {1, 0, 0, 0};  // w, x, y, z
  Rgb colour = palette::kWall;
  Rgb second = palette::kDark;  // of marks, and of every other square of a floor
  uint32_t marks = 0;
};

/// A flat translucent sector: triangles from `apex` to each two neighbours among the rim's points,
/// so that a field of view can end at walls. Sees nothing of what is above or below it.
struct Fan {
  float apex[3] = {};
  std::vector<float> rim;  // x0, y0, x1, y1, ... at the height of the apex
  Rgb colour = palette::kBlue;
  float opacity = 0.35f;  // at the apex; half of it at `fade`
  float fade = 10.0f;     // [m]
};

/// A thin translucent line, or a dot where both ends are one point.
struct Line {
  float from[3] = {}, to[3] = {};
  Rgb colour = palette::kDark;
  float opacity = 0.6f;
  float width = 1.0f;  // in pixels of a picture of 360 rows
};

/// From where an agent looks.
struct Viewpoint {
  float position[3] = {};
  float forward[3] = {0, 1, 0};
};

struct Scene {
  std::vector<Solid> solids;
  std::vector<Fan> fans;  // later ones cover earlier ones
  std::vector<Line> lines;
  std::vector<Viewpoint> viewpoints;  // one per agent, or none
  /// What has to be in a picture; the floor fades away outside of it.
  float low[3] = {-1, -1, 0}, high[3] = {1, 1, 1};
  float look[3] = {0.3f, 1.0f, -1.1f};  // where the perspective view looks, from above
  std::string view = "both";            // that is drawn where nobody chooses one
};

}  // namespace ge
