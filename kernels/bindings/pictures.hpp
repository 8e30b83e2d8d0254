// Views of a world for people: text, a picture, and the charts that go with it.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/unlocked.hpp"
#include "engine/base/error.hpp"
#include "engine/simulator/simulator.hpp"
#include "pictures/charts.hpp"
#include "pictures/memory.hpp"
#include "pictures/picture.hpp"
#include "views/world.hpp"

namespace ge::python {

namespace py = pybind11;

using views::reading_of_world, views::scene_of_world, views::text_of_world;

/// Earlier readings of a world's charts, a row each.
using Readings = py::array_t<float, py::array::c_style | py::array::forcecast>;

inline std::pair<int, int> picture_size(Simulator& simulator, int64_t world) {
  const pictures::Size size = pictures::default_size(scene_of_world(simulator, world));
  return {size.rows, size.columns};
}
/// Draws without the interpreter's lock. `memory` is of the picture that was drawn last.
inline py::array picture_of_world(Simulator& simulator, int64_t world,
                                  const pictures::Request& request, const Readings& past,
                                  pictures::Memory& memory) {
  // Before the picture is allocated: its size is the caller's.
  pictures::check(request);
  Scene scene = scene_of_world(simulator, world, request.view);
  if (past.ndim() == 2) pictures::give_past(scene, past.data(), past.shape(0), past.shape(1));
  py::array_t<uint8_t> picture({request.height, request.width, 3});
  // The scene is a copy, so drawing needs neither the world nor Python.
  uint8_t* const to = picture.mutable_data();
  const Unlocked unlocked;
  pictures::draw(scene, request, to, &memory);
  return picture;
}

}  // namespace ge::python
