// A world as people see it: text, a scene for a picture, and the readings of its charts. For the
// Python module and for a web page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/base/error.hpp"
#include "engine/simulator/simulator.hpp"
#include "pictures/charts.hpp"
#include "pictures/picture.hpp"
#include "views/sketch.hpp"

namespace ge::views {

/// What a world's columns show as a grid; none where they make no grid.
inline std::optional<Sketch> sketch_of(Simulator& simulator, int64_t world) {
  const auto grid = find_grid(simulator.columns());
  if (!grid) return {};
  std::vector<char> record(size_t(simulator.record_bytes()));
  simulator.read_records(world, 1, record.data());
  return sketch(*grid, record.data());
}
/// The scene of a world in a view such as "agent:0"; "" shows the whole world.
inline Scene scene_of_world(Simulator& simulator, int64_t world, const std::string& view = "") {
  Scene scene;
  if (simulator.scene(world, scene, pictures::agent_of(view))) return scene;
  const auto drawn = sketch_of(simulator, world);
  if (!drawn) throw Error(Fault::value, simulator.id() + " has no pictures: it describes no scene");
  return scene_of(*drawn);
}

inline std::string text_of_world(Simulator& simulator, int64_t world, int viewer) {
  const std::string text = simulator.text(world, viewer);
  const auto drawn = text.empty() ? sketch_of(simulator, world) : std::nullopt;
  return drawn ? text_of(*drawn) : text;
}
inline std::vector<float> reading_of_world(Simulator& simulator, int64_t world) {
  return pictures::reading_of(scene_of_world(simulator, world));
}

}  // namespace ge::views
