// The learner's native code in Python: constant arguments are given once, by name, so that a call
// passes only a few addresses. Python owns all arrays and keeps them alive.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "bindings/unlocked.hpp"
#include "engine/base/error.hpp"
#include "learning/learning.hpp"

namespace ge::python {

namespace py = pybind11;

/// Keyword arguments: every one is required, and no other is allowed.
class Named {
 public:
  explicit Named(const py::kwargs& given) : given_(given) {}

  template <class T>
  T number(const char* name) {
    ++taken_;
    if (!given_.contains(name)) throw Error(Fault::type, std::string(name) + " is missing");
    return given_[name].cast<T>();
  }
  template <class T>
  T* address(const char* name) {
    return reinterpret_cast<T*>(number<uintptr_t>(name));
  }
  void finish() const {
    if (taken_ != given_.size()) throw Error(Fault::type, "there is an argument too many");
  }

 private:
  const py::kwargs& given_;
  size_t taken_ = 0;
};

inline learning::Space space_of(Named& given) {
  learning::Space space{};
  space.numbers = given.number<bool>("numbers");
  space.parts = given.number<int>("parts");
  space.outputs = given.number<int>("outputs");
  space.counts = given.address<const int32_t>("counts");
  space.low = given.address<const float>("low");
  space.high = given.address<const float>("high");
  space.centre = given.address<const float>("centre");
  space.reach = given.address<const float>("reach");
  return space;
}

/// Draws the actions of some rows in every step of a rollout.
class Drawing {
 public:
  explicit Drawing(const py::kwargs& arguments) {
    Named given(arguments);
    space_ = space_of(given);
    device_ = given.number<int>("device");
    all_ = given.number<int64_t>("all");
    hold_ = given.number<int64_t>("hold");
    draw_.rows = given.address<const int64_t>("rows");
    draw_.count = given.number<int64_t>("count");
    draw_.noise.key = given.number<uint64_t>("key");
    draw_.noise.clock = given.address<const int64_t>("clock");
    draw_.noise.factor = given.number<int64_t>("factor");
    draw_.noise.first_row = given.number<int64_t>("first_row");
    draw_.log_std = given.address<const float>("log_std");
    draw_.mean = given.address<const float>("mean");
    draw_.deviation = given.address<const float>("deviation");
    draw_.mask = given.address<const int8_t>("mask");
    draw_.action = given.address<char>("action");
    draw_.bounded_action = given.address<float>("bounded_action");
    draw_.log_prob = given.address<float>("log_prob");
    draw_.real_value = given.address<float>("real_value");
    draw_.entropy = given.address<float>("entropy");
    given.finish();
  }

  /// Step t of the rollout, with one output for each of the rows; 0 for none.
  void operator()(int64_t t, uintptr_t outputs, uintptr_t value, uintptr_t stream) const {
    learning::Draw draw = draw_;
    draw.noise.offset = t / hold_;
    draw.outputs = reinterpret_cast<const float*>(outputs);
    draw.value = reinterpret_cast<const float*>(value);
    const int64_t step = t * all_;
    move(draw.mask, step * space_.outputs);
    auto* action = static_cast<char*>(draw.action);
    move(action, step * space_.parts * (space_.numbers ? 4 : 8));
    draw.action = action;
    move(draw.bounded_action, step * space_.parts);
    move(draw.log_prob, step), move(draw.real_value, step), move(draw.entropy, step);
    const Unlocked unlocked;
    learning::draw(space_, draw, device_, reinterpret_cast<void*>(stream));
  }

 private:
  template <class T>
  static void move(T*& at, int64_t by) {
    if (at != nullptr) at += by;
  }

  learning::Space space_{};
  learning::Draw draw_{};
  int device_ = 0;
  int64_t all_ = 0, hold_ = 1;  // rows of the rollout; steps in a row with the same noise
};

/// The gradient of a loss with respect to a policy's outputs for some samples.
class Losing {
 public:
  explicit Losing(const py::kwargs& arguments) {
    Named given(arguments);
    space_ = space_of(given);
    device_ = given.number<int>("device");
    loss_.stride = given.number<int64_t>("stride");
    loss_.log_std = given.address<const float>("log_std");
    loss_.action = given.address<const char>("action");
    loss_.old = given.address<const float>("old");
    loss_.advantage = given.address<const float>("advantage");
    loss_.target = given.address<const float>("target");
    loss_.mask = given.address<const int8_t>("mask");
    loss_.entropy_weight = given.address<const float>("entropy_weight");
    loss_.clip = given.number<float>("clip");
    loss_.far = given.number<float>("far");
    loss_.value_weight = given.number<float>("value_weight");
    given.finish();
  }

  /// `known` and `counted` are 0 where all samples count.
  void operator()(uintptr_t index, int64_t count, int64_t steps, uintptr_t outputs, uintptr_t value,
                  uintptr_t known, uintptr_t counted, uintptr_t gradient,
                  uintptr_t log_std_gradient, uintptr_t value_gradient, uintptr_t stats,
                  uintptr_t stream) const {
    learning::Loss loss = loss_;
    loss.index = reinterpret_cast<const int64_t*>(index);
    loss.count = count, loss.steps = steps;
    loss.outputs = reinterpret_cast<const float*>(outputs);
    loss.value = reinterpret_cast<const float*>(value);
    loss.known = reinterpret_cast<const int8_t*>(known);
    loss.counted = reinterpret_cast<const float*>(counted);
    loss.gradient = reinterpret_cast<float*>(gradient);
    loss.log_std_gradient = reinterpret_cast<float*>(log_std_gradient);
    loss.value_gradient = reinterpret_cast<float*>(value_gradient);
    loss.stats = reinterpret_cast<float*>(stats);
    const Unlocked unlocked;
    learning::lose(space_, loss, device_, reinterpret_cast<void*>(stream));
  }

 private:
  learning::Space space_{};
  learning::Loss loss_{};
  int device_ = 0;
};

/// Short work keeps Python's lock: releasing it would take as long.
inline void take_tanh(uintptr_t at, int64_t count) {
  std::optional<Unlocked> unlocked;
  if (count > 65536) unlocked.emplace();
  learning::tanh(reinterpret_cast<float*>(at), count);
}

inline void add_learning(py::module_& module) {
  module.def("tanh", &take_tanh);
  py::class_<Drawing>(module, "Drawing", py::module_local())
      .def(py::init([](const py::kwargs& given) { return Drawing(given); }))
      .def("__call__", &Drawing::operator());
  py::class_<Losing>(module, "Losing", py::module_local())
      .def(py::init([](const py::kwargs& given) { return Losing(given); }))
      .def("__call__", &Losing::operator());
}

}  // namespace ge::python
