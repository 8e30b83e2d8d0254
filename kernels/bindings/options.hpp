// Arguments from Python that make and reset a simulator: keyword arguments into a Config, values by
// name, seeds.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/simulator/simulator.hpp"

namespace ge::python {

namespace py = pybind11;

/// Tests bool before integers, since Python's bool is one; objects outside the four kinds are asked
/// for __index__, which NumPy's integers have.
inline Value value_of(const py::handle& value, const std::string& name) {
  if (PyBool_Check(value.ptr())) return value.ptr() == Py_True;
  if (PyFloat_Check(value.ptr())) return PyFloat_AS_DOUBLE(value.ptr());
  if (PyUnicode_Check(value.ptr())) {
    py::ssize_t size = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
    // A lone surrogate, as from a broken file name; pybind11's own error names no option.
    if (text == nullptr) {
      PyErr_Clear();
      throw Error(Fault::value, "'" + name + "' is not text that UTF-8 can encode");
    }
    return std::string(text, size_t(size));
  }
  if (PyIndex_Check(value.ptr())) {
    const py::object index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!index) throw py::error_already_set();
    int overflow = 0;
    const long long n = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    // Outside of every range, so that the range check refuses it by name.
    if (overflow != 0) return overflow > 0 ? 1e300 : -1e300;
    return int64_t(n);
  }
  // Last, and recursively: `item` of NumPy scalars and of arrays or tensors with one number returns
  // a plain Python number.
  if (PyObject_HasAttrString(value.ptr(), "item")) return value_of(value.attr("item")(), name);
  throw Error(Fault::type, "'" + name + "' must be a bool, a number or a string, got " +
                               py::str(py::type::of(value)).cast<std::string>());
}

inline Values values_of(const py::dict& dict) {
  Values values;
  for (const auto& [key, value] : dict) {
    const std::string name = py::str(key).cast<std::string>();
    values[name] = value_of(value, name);
  }
  return values;
}

/// Refuses bools and 3.0: both would hide a caller's slip.
inline int64_t whole(const py::handle& value, const std::string& name, int64_t low) {
  const Value number = value_of(value, name);
  const int64_t* n = std::get_if<int64_t>(&number);
  if (n == nullptr || *n < low)
    throw Error(Fault::value, name + " must be a whole number of at least " + std::to_string(low) +
                                  ", got " + py::repr(value).cast<std::string>());
  return *n;
}

/// Parses a word of an enumeration; the error lists the valid words.
template <class E>
E word_of(const py::handle& value, const std::string& name) {
  const std::string text = value.cast<std::string>();
  if (const auto found = named<E>(text)) return *found;
  std::string known;
  for (const char* const word : Words<E>::at)
    if (std::string(word) != "own")
      known += (known.empty() ? "'" : ", '") + std::string(word) + "'";
  throw Error(Fault::value, name + " must be one of " + known + ", got '" + text + "'");
}

/// Reads new parameters: `changes` has a law and its numbers for each name; `worlds` is None for
/// all of them. Whether there is anything to do: a list of no worlds means none to a caller, but
/// all to the engine.
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

/// The arguments of a native simulator.
struct Wish {
  Config config;
  py::object outputs = py::none();  // names; none: all that exist
};

/// Stores the value of an option.
using Take = std::function<void(const py::handle& value, const std::string& name)>;

/// The options of the constructor by name, as _native.pyi lists them. They write into `wish`, which
/// must outlive the table.
inline std::map<std::string, Take> known_options(Wish& wish) {
  Config& config = wish.config;
  const auto number = [](auto& target, int64_t low) -> Take {
    return [&target, low](const py::handle& value, const std::string& name) {
      target = std::remove_reference_t<decltype(target)>(whole(value, name, low));
    };
  };
  const auto word = []<class E>(E& target) -> Take {
    return [&target](const py::handle& value, const std::string& name) {
      target = word_of<E>(value, name);
    };
  };
  return {
      {"first_world", number(config.first_world, 0)},
      {"first_level", number(config.first_level, 0)},
      {"level_count", number(config.level_count, 0)},
      {"autoreset_mode", word(config.autoreset)},
      {"ends", word(config.ends)},
      {"max_episode_steps", number(config.max_episode_steps, -1)},
      {"threads", number(config.threads, 0)},
      {"device", number(config.device, 0)},
      {"dtype", word(config.elements)},
      {"actions", word(config.actions)},
      {"roles", word(config.roles)},
      {"final_rows", word(config.final_rows)},
      {"parameters",
       [&](const py::handle& value, const std::string&) {
         config.parameters = values_of(value.cast<py::dict>());
       }},
      {"varies",
       [&](const py::handle& value, const std::string&) {
         config.varying = value.cast<std::vector<std::string>>();
       }},
      {"changes",
       [&](const py::handle& value, const std::string&) {
         read_change(config.own, value.cast<py::dict>(), py::none());
       }},
      {"data_files",
       [&](const py::handle& value, const std::string&) {
         const auto given = value.cast<std::pair<py::dict, std::string>>();
         for (const auto& [file, held] : given.first) {
           const auto [path, hash] = held.cast<std::pair<std::string, std::string>>();
           config.data_files.by_name[file.cast<std::string>()] = {path, hash};
         }
         config.data_files.remedy = given.second;
       }},
      {"outputs",
       [&](const py::handle& value, const std::string&) {
         wish.outputs = py::reinterpret_borrow<py::object>(value);
       }},
      {"tile", number(config.tile, 0)},
      {"crew", number(config.crew, 0)},
      {"lanes", number(config.lanes, 0)},
      {"block", number(config.block, 0)},
      {"schedule", word(config.schedule)},
      {"dependent_launch",
       [&](const py::handle& value, const std::string&) {
         config.dependent_launch = value.cast<bool>();
       }},
  };
}

inline Wish wish_of(int64_t num_worlds, const py::kwargs& options) {
  Wish wish;
  wish.config.worlds = num_worlds;
  const auto known = known_options(wish);
  for (const auto& [key, value] : options) {
    const std::string name = py::str(key).cast<std::string>();
    const auto found = known.find(name);
    if (found == known.end())
      throw Error(Fault::type, "a native simulator has no option '" + name + "'");
    found->second(value, name);
  }
  return wish;
}

/// The seeds of a reset: a number seeds the batch, a list each world (ResetRequest).
inline std::vector<uint64_t> seeds_of(const py::object& seeds, int64_t worlds) {
  if (seeds.is_none()) return {};
  if (PyLong_Check(seeds.ptr())) return {seeds.cast<uint64_t>()};
  auto list = seeds.cast<std::vector<uint64_t>>();
  if (int64_t(list.size()) != worlds)
    throw Error(Fault::value, "seed: a list needs one seed per world, " + std::to_string(worlds) +
                                  ", got " + std::to_string(list.size()));
  // A list of one for one world stays a list, so that the seed is the world's own as in a larger
  // batch.
  if (list.size() == 1) list.resize(2, list.front());
  return list;
}

}  // namespace ge::python
