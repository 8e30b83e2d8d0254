// Actions as NumPy arrays: only type and shape are checked, in a few integer comparisons, since
// this is the fast path of the most common caller. The engine checks the values.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "engine/simulator/simulator.hpp"

namespace ge::python {

namespace py = pybind11;

inline constexpr int kNumpyBool = 0;

// NumPy's type numbers, the same in every version.
// 7 is `long`, 9 `long long`: which of them an int64 array has depends on the platform.
inline bool type_numbered(int number, Type& type) {
  switch (number) {
    case 2:
      type = Type::uint8;
      return true;
    case 5:
      type = Type::int32;
      return true;
    case 7:
      type = sizeof(long) == 8 ? Type::int64 : Type::int32;
      return true;
    case 9:
      type = Type::int64;
      return true;
    case 11:
      type = Type::float32;
      return true;
    case 12:
      type = Type::float64;
      return true;
    default:
      return false;
  }
}

inline std::string shape_of(const py::array& array) {
  std::string out = "(";
  for (py::ssize_t k = 0; k < array.ndim(); ++k)
    out += (k > 0 ? ", " : "") + std::to_string(array.shape(k));
  return out + (array.ndim() == 1 ? ",)" : ")");
}

/// Reads the actions of one simulator.
class ActionReader {
 public:
  explicit ActionReader(const Simulator& simulator)
      : worlds_(simulator.worlds()),
        agents_(simulator.agents()),
        words_(int64_t(simulator.action_ranges().size()) / 2),
        split_(simulator.config().roles == RoleForm::split ? simulator.action_count() : 0),
        is_float_(simulator.action_is_float()),
        is_choice_(words_ == 1 && !is_float_),
        takes_bools_(!is_float_ && chooses_between_two(simulator.action_ranges())) {}

  Actions read(const py::object& object) const {
    // pybind11's views of NumPy's own structs: a cast to py::array would convert other objects, and
    // cost several times the step of a small simulator.
    if (!py::detail::npy_api::get().PyArray_Check_(object.ptr()))
      throw Error(Fault::type, "actions must be a NumPy array here, got " +
                                   py::str(py::type::of(object)).cast<std::string>());
    const auto* array = py::detail::array_proxy(object.ptr());
    const auto* descriptor = py::detail::array_descriptor1_proxy(array->descr);
    Type type;
    // Engines run on little-endian machines only.
    const bool native = descriptor->byteorder != '>';
    bool known = type_numbered(descriptor->type_num, type) && native;
    if (takes_bools_ && descriptor->type_num == kNumpyBool) {
      known = true;
      type = Type::uint8;  // a byte, 0 or 1
    }
    const bool floats = known && (type == Type::float32 || type == Type::float64);
    if (!known || floats != is_float_)
      throw Error(Fault::type, std::string("actions must be ") +
                                   (is_float_ ? "float32 or float64" : "int64, int32 or uint8") +
                                   ", got " +
                                   py::str(py::reinterpret_borrow<py::object>(object).attr("dtype"))
                                       .cast<std::string>());
    if (!fits(array->nd, array->dimensions) || (array->flags & py::array::c_style) == 0)
      refuse_shape(object);
    // Not owned: the caller holds the array until the step has returned.
    return {array->data, type};
  }

 private:
  // Shapes (worlds * agents[, k]) or (worlds, agents[, k]), without k only for a single choice;
  // with one agent per world its axis is optional.
  bool fits(int nd, const py::ssize_t* shape) const {
    if (split_ != 0) return nd == 1 && shape[0] == split_;
    if (!is_choice_) {
      if (nd < 2 || shape[nd - 1] != words_) return false;
      --nd;
    }
    return (nd == 1 && shape[0] == worlds_ * agents_) ||
           (nd == 2 && shape[0] == worlds_ && shape[1] == agents_);
  }
  static bool chooses_between_two(const std::vector<double>& ranges) {
    for (size_t word = 0; 2 * word < ranges.size(); ++word)
      if (ranges[2 * word] != 0.0 || ranges[2 * word + 1] != 1.0) return false;
    return true;
  }
  [[noreturn]] void refuse_shape(const py::object& object) const {
    const std::string k = !is_choice_ ? ", " + std::to_string(words_) : "";
    const py::array array = py::reinterpret_borrow<py::array>(object);
    if (split_ != 0)
      throw Error(Fault::value,
                  "actions of all roles, one after the other, must be a contiguous "
                  "array of shape (" +
                      std::to_string(split_) + ",), got " + shape_of(array));
    throw Error(Fault::value, "actions must be a contiguous array of shape (" +
                                  std::to_string(worlds_ * agents_) + (k.empty() ? "," : k) +
                                  ") or (" + std::to_string(worlds_) + ", " +
                                  std::to_string(agents_) + k + ") (" + counted(worlds_, " world") +
                                  " x " + counted(agents_, " agent") + " = " +
                                  counted(worlds_ * agents_, " row") + "), got " + shape_of(array));
  }

  static std::string counted(int64_t count, const char* what) {
    return std::to_string(count) + what + (count == 1 ? "" : "s");
  }

  int64_t worlds_, agents_, words_;
  int64_t split_;  // elements of the actions of all roles, role after role; else 0
  bool is_float_;
  bool is_choice_;  // the action is one category: its rows have no axis
  bool takes_bools_;
};

}  // namespace ge::python
