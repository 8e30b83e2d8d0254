// How a swarm looks to people: for now a disc per agent.
#pragma once

#include "engine/scene.hpp"
#include "spatial/motion.hpp"

namespace ge::spatial {

template <class M, class Colour>
Scene swarm_scene(const WorldOf<M>& w, float radius, const Colour& colour) {
  Scene scene;
  const float side = M::grid(w.params()).square.side;
  const int count = M::count(w.params());
  for (int row = 0; row < count; ++row) {
    const Position at = w.template get<typename M::Agents, Position>(row);
    Solid solid;
    solid.shape = Solid::kSphere;
    solid.half[0] = radius;
    solid.position[0] = at.x, solid.position[1] = at.y;
    solid.colour = colour(row);
    scene.solids.push_back(solid);
  }
  scene.low[0] = scene.low[1] = 0, scene.high[0] = scene.high[1] = side, scene.high[2] = 0.1f * side;
  return scene;
}

}  // namespace ge::spatial
