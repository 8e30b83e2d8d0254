// The picture of a world for people: its solids from outside, and where agents look. Host only.
#pragma once

#include "pictures/scene.hpp"
#include "voxel/solids.hpp"

namespace ge::voxel {

/// A solid for people; a diamond, two cones to a camera, becomes a box on its tip.
inline ge::Solid shown_solid(const Solid& seen) {
  ge::Solid shown;
  for (int k = 0; k < 3; ++k) shown.half[k] = seen.half[k], shown.position[k] = seen.at[k];
  for (int k = 0; k < 4; ++k) shown.orientation[k] = seen.turn[k];
  shown.colour = rgb(seen.colour & 0xffffffu);
  if (seen.shape == geometry::kSphere) shown.shape = ge::Solid::kSphere;
  if ((seen.shape == geometry::kPill) | (seen.shape == geometry::kCylinder))
    shown.shape = ge::Solid::kCapsule;
  if (seen.shape == geometry::kCone) {
    // Turned by a quarter of pi about y, then by atan(sqrt(1/2)) about x: its diagonal is upright.
    constexpr float kTip[4] = {0.8804762f, 0.2798481f, 0.3647052f, 0.1159169f};
    for (int k = 0; k < 3; ++k) shown.half[k] = seen.half[0] * 0.9f;
    for (int k = 0; k < 4; ++k) shown.orientation[k] = kTip[k];
    shown.position[2] -= seen.half[2];
  }
  return shown;
}

/// Whether a solid is the lower cone of a diamond, which is turned over.
inline bool is_lower_half(const Solid& seen) {
  return seen.shape == geometry::kCone && seen.turn[0] == 0.0f;
}
inline void add_solid(Scene& scene, const Solid& seen) {
  scene.solids.push_back(shown_solid(seen));
  for (int k = 0; k < 3; ++k) {
    scene.low[k] = min(scene.low[k], seen.at[k] - seen.half[k]);
    scene.high[k] = max(scene.high[k], seen.at[k] + seen.half[k]);
  }
}
template <class M>
Scene scene_of(const WorldOf<M>& w) {
  Scene scene;
  for (int k = 0; k < 3; ++k) scene.low[k] = 1e9f, scene.high[k] = -1e9f;
  for (int i = 0; i < solid_count<M>(w); ++i) {
    if (!is_seen<M>(w, i)) continue;
    Solid seen;
    make_solid<M>(w, i, seen);
    if (!is_lower_half(seen)) add_solid(scene, seen);
  }
  if constexpr (HasHills<M>)
    for (int k = 0; k < FixedSolids<M>::fixed_count(w); ++k)
      add_solid(scene, FixedSolids<M>::fixed(w, k));
  for (int agent = 0; agent < team_size<M>(w); ++agent) {
    const View eyes = eyes_of(get<typename M::Agents, Body>(w, agent));
    Viewpoint view;
    geometry::put(view.position, eyes.at);
    geometry::put(view.forward, eyes.turn.y);
    scene.viewpoints.push_back(view);
  }
  scene.view = "perspective";
  return scene;
}

}  // namespace ge::voxel
