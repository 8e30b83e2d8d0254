// The solids that cameras see: rows of a list in scratch memory that an environment fills before it
// draws. Ties in distance go to the lower row. Solids with NaN or infinite numbers are culled.
//
//   struct Solids : List<200, cameras::Solid> {
//     static constexpr const char* name = "solids";
//     static constexpr bool scratch = true;
//   };
#pragma once

#include "engine/graph/images.hpp"
#include "geometry/round_shapes.hpp"

namespace ge::cameras {

using namespace geometry;
using geometry::Vector;  // not what moves rows on a GPU

inline constexpr int32_t kNobody = -1;

struct Solid {
  int32_t shape;  // geometry::Shape, bounded, not a wedge
  float half[3], at[3];
  float turn[4];    // quaternion: w, x, y, z
  uint32_t colour;  // 0xRRGGBB; kUnlit beside it: as it is, whatever the light
  int32_t owner;    // the agent that does not see it, being inside; or kNobody
  static constexpr uint32_t kUnlit = 1u << 24;

  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("shape", &Solid::shape, "which shape"),
                  field("half", &Solid::half, "its measures").in("m"),
                  field("at", &Solid::at, "where it is").in("m"),
                  field("turn", &Solid::turn, "its orientation, a quaternion w, x, y, z"),
                  field("colour", &Solid::colour, "red, green and blue, a byte each"),
                  field("owner", &Solid::owner, "agent that does not see it; -1: all see it"));
  }
};

GE_FN constexpr Quat upright() {
  return {1.0f, 0.0f, 0.0f, 0.0f};
}

GE_FN Solid solid(int32_t shape, Vec3 half, Vec3 at, uint32_t colour, const Quat& turn = upright(),
                  int32_t owner = kNobody) {
  Solid made{};
  made.shape = shape, made.colour = colour, made.owner = owner;
  put(made.half, half);
  put(made.at, at);
  put(made.turn, turn);
  return made;
}
GE_FN Placed placed(const Solid& s) {
  return {s.shape, vec(s.half), 0.0f, 0.0f, vec(s.at), matrix(quat(s.turn))};
}
/// Red, green and blue from 0 to 1.
GE_FN Vec3 colour_of(uint32_t colour) {
  constexpr float kByte = 1.0f / 255.0f;
  return Vec3{float(colour >> 16 & 255), float(colour >> 8 & 255), float(colour & 255)} * kByte;
}

}  // namespace ge::cameras
