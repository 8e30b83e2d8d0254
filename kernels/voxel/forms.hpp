// Forms of things to carry: how they look and collide.
#pragma once

#include "geometry/measures.hpp"
#include "voxel/colours.hpp"
#include "voxel/tables.hpp"

namespace ge::voxel {

/// In the middle of a cell [m]. Every form collides as a box, which lies within its cell, or ends a
/// little above and below it.
struct FormOf {
  int32_t shape;     // geometry::Shape
  float drawn[3];    // its measures
  float across, up;  // half of the box that bodies meet
  float lower;       // how far that box lies below the middle
  float sunk;        // how far below the middle it is drawn
};
GE_FN FormOf form_of(int32_t form) {
  // A crate is drawn as a cube, and collides as a larger and lower one.
  if (form == kCrateForm)
    return {geometry::kBox, {0.39f, 0.39f, 0.39f}, 0.4485f, 0.4485f, 0.05f, 0.0f};
  if (form == kBallForm)
    return {geometry::kSphere, {0.45f, 0.45f, 0.45f}, 0.45f, 0.45f, 0.0f, 0.0f};
  if (form == kPillForm) return {geometry::kPill, {0.36f, 0.36f, 0.225f}, 0.36f, 0.45f, 0.0f, 0.0f};
  if (form == kDrumForm)
    return {geometry::kCylinder, {0.405f, 0.405f, 0.45f}, 0.405f, 0.45f, 0.0f, 0.0f};
  // So low that one sees over it, and so high that nobody jumps onto it.
  if (form == kPushForm) return {geometry::kBox, {0.8f, 0.8f, 0.36f}, 0.92f, 1.08f, 0.0f, 0.6f};
  return {geometry::kBox, {0.45f, 0.45f, 0.45f}, 0.45f, 0.45f, 0.0f, 0.0f};
}
/// The look of a thing: its own in games whose things have looks, else that of all things of the
/// game, `look()` of its model, or of a crate.
template <class M>
GE_FN Look look_of([[maybe_unused]] const WorldOf<M>& w, [[maybe_unused]] int row) {
  if constexpr (kHasLooks<M>)
    return get<typename M::Crates, Look>(w, row);
  else if constexpr (requires { M::look(); })
    return M::look();
  else
    return {kCrateForm, kLightBlue, 0};
}
template <class M>
GE_FN FormOf form_at(const WorldOf<M>& w, int row) {
  return form_of(look_of<M>(w, row).form);
}

}  // namespace ge::voxel
