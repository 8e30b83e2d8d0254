// Forms of things to carry: how they look and collide.
#pragma once

#include "geometry/measures.hpp"
#include "voxel/colours.hpp"
#include "voxel/tables.hpp"

namespace ge::voxel {

/// In the middle of a cell [m]. Every form collides as a box, which lies within its cell.
struct FormOf {
  int32_t shape;     // geometry::Shape
  float drawn[3];    // its measures
  float across, up;  // half of the box that bodies meet
  float lower;       // how far that box lies below the middle
};
GE_FN FormOf form_of(int32_t form) {
  // A crate is drawn as a cube, and collides as a larger and lower one.
  if (form == kCrateForm) return {geometry::kBox, {0.39f, 0.39f, 0.39f}, 0.4485f, 0.4485f, 0.05f};
  if (form == kBallForm) return {geometry::kSphere, {0.45f, 0.45f, 0.45f}, 0.45f, 0.45f, 0.0f};
  if (form == kPillForm) return {geometry::kPill, {0.36f, 0.36f, 0.225f}, 0.36f, 0.45f, 0.0f};
  if (form == kDrumForm) return {geometry::kCylinder, {0.405f, 0.405f, 0.45f}, 0.405f, 0.45f, 0.0f};
  return {geometry::kBox, {0.45f, 0.45f, 0.45f}, 0.45f, 0.45f, 0.0f};
}
/// The look of a thing in a game whose things have looks, else of a crate.
template <class M>
GE_FN Look look_of([[maybe_unused]] const WorldOf<M>& w, [[maybe_unused]] int row) {
  if constexpr (kHasLooks<M>)
    return get<typename M::Crates, Look>(w, row);
  else
    return {kCrateForm, kLightBlue, 0};
}
template <class M>
GE_FN FormOf form_at(const WorldOf<M>& w, int row) {
  return form_of(look_of<M>(w, row).form);
}

}  // namespace ge::voxel
