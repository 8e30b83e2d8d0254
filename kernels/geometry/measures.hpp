// The shapes of bodies, statics and solids of pictures: their numbers, and the meaning of the three
// lengths `half` of each [m].
//
//   shape     half                                                   origin
//   floor     the half-space below                                   a point of it
//   plane     the half-space behind `half`, a normal of length 1     a point of it
//   box       half: half extents                                     centre
//   wedge     half[0]: half width along x; half[1]: run L along y;   centroid of mass
//             half[2]: height H. Vertices (y, z): (-2L/3, -H/3), (L/3, -H/3), (L/3, 2H/3): the
//             slope rises towards +y and ends in a vertical face
//   sphere    half[0]: radius                                        centre
//   capsule   half[0]: radius, half[2]: half of the segment along z  centre
//
// Round shapes with a scale per axis, which cameras see and physics does not know:
//
//   ellipsoid half: radii                                            centre
//   pill      half[0], half[1]: radii; half[2]: half of the segment  centre
//             along z, and how far each end rises beyond it
//   cylinder  half[0], half[1]: radii; half[2]: half of its height   centre
//   cone      half[0], half[1]: radii of the base at z = -half[2];   middle of its axis
//             the apex is at z = half[2]
//
// A new one is a row and a number here, `extent` in shapes.hpp, `hit_distance` and `normal_at` in
// ray_cast.hpp. Physics has more to say of its own: mass and contacts.
#pragma once

#include <cstdint>

namespace ge::geometry {

enum Shape : int32_t {
  kFloor,
  kPlane,
  kBox,
  kWedge,
  kSphere,
  kCapsule,
  kEllipsoid,
  kPill,
  kCylinder,
  kCone
};

/// A set of shapes, as bits: which of them a caller says there can be.
using ShapeSet = uint32_t;
inline constexpr ShapeSet kAnyShape = ~ShapeSet{0};
template <class... S>
consteval ShapeSet set_of_shapes(S... shapes) {
  return (ShapeSet{0} | ... | (ShapeSet{1} << shapes));
}
consteval bool may_be(ShapeSet set, Shape shape) {
  return (set >> shape & 1u) != 0;
}

}  // namespace ge::geometry
