// A world's view for people, as plain data on the host, in metres and radians: either solids,
// translucent sectors on the floor and thin lines, z upwards, or a flat board full of pieces for
// worlds of thousands of agents. An environment with a hook `scene` can be drawn; kernels/pictures/
// draws it and knows no environment. Solids are plain structs without pointers, so that code on a
// GPU can make them too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "geometry/measures.hpp"

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
inline constexpr Rgb kDark = rgb(0x2b3440), kPale = rgb(0xf8fafc), kFaded = rgb(0xb4bcc8);

/// A colour for a direction [rad]: the hue goes around once for a full turn.
inline Rgb of_heading(float heading) {
  constexpr int kCount = 6;
  constexpr Rgb kAround[kCount] = {rgb(0xdc4c46), rgb(0xe8973a), rgb(0x86a83c),
                                   rgb(0x2fa79b), rgb(0x3b82d6), rgb(0x9a62cc)};
  const float turns = heading * 0.15915494f;
  const float at = (turns - float(int64_t(turns)) + (turns < 0 ? 1.0f : 0.0f)) * float(kCount);
  const int first = int(at) % kCount;
  const float share = at - float(int(at));
  const Rgb a = kAround[first], b = kAround[(first + 1) % kCount];
  return {a.red + (b.red - a.red) * share, a.green + (b.green - a.green) * share,
          a.blue + (b.blue - a.blue) * share};
}
}  // namespace palette

/// A rigid thing: one of the shapes of geometry/measures.hpp.
struct Solid {
  // Not `using enum`, which g++ 12 fails at within templates.
  static constexpr geometry::Shape kFloor = geometry::kFloor, kPlane = geometry::kPlane,
                                   kBox = geometry::kBox, kWedge = geometry::kWedge,
                                   kSphere = geometry::kSphere, kCapsule = geometry::kCapsule;
  /// Bits of `marks`, drawn in `second`.
  enum Mark : uint32_t {
    kBanded = 1,   // a band along the edges of box or wedge
    kPadlock = 2,  // on the side that faces up
    kEyes = 4,     // looking towards +y of its own frame
  };

  int32_t shape = kBox;
  float half[3] = {};  // of a floor, half[0]: side of its squares, 0: plain
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

/// The viewpoint of an agent.
struct Viewpoint {
  float position[3] = {};
  float forward[3] = {0, 1, 0};
};

/// A flat thing on a board. It is drawn enlarged if it would be too small to see.
struct Piece {
  enum Kind : int32_t {
    kDisc,
    kArrow,   // points along `heading`, `radius` from its middle to its tip
    kSquare,  // with sides along the board's, of length 2 `radius`; never enlarged
    kRing,    // around a piece that matters, at `radius`; drawn just outside of it
  };

  float x = 0, y = 0;
  float heading = 0;  // from +x towards +y [rad]
  float radius = 0;   // [m], 0: a point
  Rgb colour = palette::kBlue;
  float opacity = 1;
  int32_t kind = kDisc;
};

/// The field of view of a piece: a translucent sector, or a whole disc from half a turn upwards.
struct FieldOfView {
  float x = 0, y = 0;
  float heading = 0;              // of its middle, as of a piece [rad]
  float half_angle = 3.1415927f;  // [rad]
  float radius = 1;               // [m]
  Rgb colour = palette::kBlue;
  float opacity = 0.16f;
};

/// A rectangle with sides along the board's.
struct Plate {
  float low[2] = {}, high[2] = {};
  Rgb colour = palette::kFloorSquare;
  float opacity = 1;
};

/// One line of printable ASCII; a frame stands for any other character.
struct Caption {
  enum Anchor : int32_t { kLeft, kMiddle, kRight };

  std::string text;
  float x = 0, y = 0;   // of the anchor, at the foot of the letters
  float height = 0.3f;  // of a capital letter [m]
  Rgb colour = palette::kDark;
  int32_t anchor = kLeft;
  float weight = 1;  // 1.5: bold
};

/// A number over time. A scene sets the present value; a caller that draws a world repeatedly adds
/// the earlier ones (charts.hpp).
struct Curve {
  std::string label;  // with the number in it, as people read it
  float now = 0;
  Rgb colour = palette::kBlue;
  std::vector<float> past;  // step and number by turns, oldest first
};
/// Curves over the steps of an episode in a frame of their own.
struct Chart {
  float low[2] = {}, high[2] = {};  // of the frame; labels stand above it
  std::string title;
  float last_step = 0;  // at the right end; 0: as many steps as there were, 100 at least
  float top = 1;        // number at the upper end, raised where a curve is higher; 0 is below
  std::string unit;     // behind the number at the upper end
  std::vector<Curve> curves;
};

/// A rectangle seen straight from above, +x to the right and +y upwards.
struct Board {
  float low[2] = {0, 0}, high[2] = {1, 1};
  float cell = 0;             // distance of the grid's lines, from `low` onwards [m]; 0: no grid
  bool wraps = false;         // opposite edges are one: what crosses an edge is seen at both
  std::vector<Plate> plates;  // under all else
  std::vector<FieldOfView> views;  // under all pieces
  std::vector<Piece> pieces;       // later ones cover earlier ones
  std::vector<Line> lines;         // over pieces, flat
  std::vector<Chart> charts;
  std::vector<Caption> captions;  // over all else

  /// A board of cells of 1 m, counted as in text: columns to the right, rows downwards.
  static Board of_cells(int columns, int rows) {
    Board board;
    board.high[0] = float(columns), board.high[1] = float(rows);
    board.cell = 1;
    return board;
  }
  /// Puts a piece onto the middle of a cell and returns it.
  Piece& put(int column, int row, Piece::Kind kind, float radius, Rgb colour) {
    Piece piece;
    piece.x = low[0] + float(column) + 0.5f, piece.y = high[1] - float(row) - 0.5f;
    piece.kind = kind, piece.radius = radius, piece.colour = colour;
    return pieces.emplace_back(piece);
  }
};

struct Scene {
  std::optional<Board> board;      // where there is one, the picture shows it and nothing else
  uint32_t episode = 0, step = 0;  // of the world; the engine says them
  int32_t viewer = -1;             // the agent whose knowledge it shows; the engine says it

  std::vector<Solid> solids;
  std::vector<Fan> fans;  // later ones cover earlier ones
  std::vector<Line> lines;
  std::vector<Viewpoint> viewpoints;  // one per agent, or none
  /// The box that a picture has to show; the floor fades away outside of it.
  float low[3] = {-1, -1, 0}, high[3] = {1, 1, 1};
  float look[3] = {0.3f, 1.0f, -1.1f};  // where the perspective view looks, from above
  std::string view = "both";            // that is drawn where nobody chooses one
};

}  // namespace ge
