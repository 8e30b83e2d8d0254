// Parameters that may differ by world, from Python: numbers or ranges by name, and in which worlds.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/options.hpp"
#include "engine/simulator/simulator.hpp"

namespace ge::python {

namespace py = pybind11;

/// `changes` has a law and its numbers for each name; `worlds` is None for all of them. Whether
/// there is anything to do: a list of no worlds means none to a caller, but all to the engine.
inline bool read_change(ParameterChange& change, const py::dict& changes,
                        const py::object& worlds) {
  for (const auto& [name, value] : changes) {
    const auto [law, numbers] = value.cast<std::pair<std::string, std::vector<double>>>();
    change.all.push_back(
        {py::str(name).cast<std::string>(), word_of<Law>(py::str(law), "law"), numbers});
  }
  if (!worlds.is_none()) change.worlds = worlds.cast<std::vector<int64_t>>();
  return !change.all.empty() && (worlds.is_none() || !change.worlds.empty());
}

inline void put_parameters(Simulator& simulator, const py::dict& changes,
                           const py::object& worlds) {
  ParameterChange change;
  if (read_change(change, changes, worlds)) simulator.set_parameters(change);
}

}  // namespace ge::python
