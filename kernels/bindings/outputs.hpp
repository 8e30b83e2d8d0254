// Fresh NumPy arrays over the engine's own aligned memory: every step takes a block from a pool,
// the kernel writes into it, the arrays are views of it, and it goes back when the last view dies.
// No copy, no allocation once the pool is warm.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/simulator/simulator.hpp"

namespace ge::python {

namespace py = pybind11;

/// The engine's names of types are NumPy's.
inline py::dtype dtype_of(Type type) {
  return type == Type::boolean ? py::dtype("bool") : py::dtype(name_of(type));
}

/// The named tuple of a call's outputs, which Python defines (gpu_envs/known/outputs.py): made here
/// like a plain tuple, its fields found by their names. Adopted once, when the module is loaded
/// (use_results); the reference is never given up, for arrays may outlive the module's own objects
/// at the end of a process.
struct ResultType {
  PyTypeObject* type = nullptr;
  int place[kOutputCount] = {};

  void adopt(const py::type& given) {
    const auto fields = given.attr("_fields").cast<std::vector<std::string>>();
    bool equal = fields.size() == size_t{kOutputCount};
    for (int o = 0; o < kOutputCount; ++o) {
      const auto found = std::find(fields.begin(), fields.end(), name_of(Output(o)));
      equal = equal && found != fields.end();
      place[o] = int(found - fields.begin());
    }
    if (!equal)
      throw Error(Fault::value, "the fields of the results must be the outputs of the engine");
    type = reinterpret_cast<PyTypeObject*>(py::type(given).release().ptr());
  }
};
inline ResultType result_type;

/// The outputs to write: the requested names, the outputs that are always written, and the mask
/// that some need.
inline std::vector<bool> wanted_outputs(const py::object& names) {
  std::vector<bool> wanted(kOutputCount);
  if (names.is_none()) {
    for (int o = 0; o < kOutputCount; ++o) wanted[size_t(o)] = !has_trait(Output(o), kByName);
    return wanted;
  }
  for (const py::handle item : names) {
    const std::string name = py::str(item).cast<std::string>();
    const auto output = named<Output>(name);
    if (!output) throw Error(Fault::value, "outputs: there is no output '" + name + "'");
    wanted[*output] = true;
    if (has_trait(*output, kWhereEnded)) wanted[kEnded] = true;
    // A last picture is written with all of its layers, or not at all.
    constexpr Output kLast[] = {kFinalObservation, kFinalDepth, kFinalSegmentation, kFinalNumbers};
    if (std::find(std::begin(kLast), std::end(kLast), *output) != std::end(kLast))
      for (const Output layer : kLast) wanted[layer] = true;
  }
  for (int o = 0; o < kOutputCount; ++o)
    if (has_trait(Output(o), kAlways)) wanted[size_t(o)] = true;
  return wanted;
}

/// Guarded by the interpreter's lock: blocks are taken and given back by threads that hold it.
/// Shared with every living result, so that arrays outlive their simulator.
class OutputPool : public std::enable_shared_from_this<OutputPool> {
 public:
  OutputPool(Simulator& simulator, const std::vector<bool>& wanted) {
    for (int o = 0; o < kOutputCount; ++o) {
      const OutputShape& shape = simulator.output(Output(o));
      Slot& slot = slots_[o];
      slot.wanted = shape.exists && wanted[size_t(o)];
      if (!slot.wanted) continue;
      slot.offset = bytes_;
      // 64 bytes: the alignment that jax needs for zero copy, and a cache line.
      bytes_ += (shape.bytes + 63) / 64 * 64;
      slot.dtype = dtype_of(shape.type);
      const int64_t worlds = simulator.worlds(), agents = simulator.agents();
      // Both shapes of the same bytes, made once: a step only picks one.
      if (!shape.split) {
        slot.nested = shape.per_agent ? std::vector<Py_intptr_t>{worlds, agents}
                                      : std::vector<Py_intptr_t>{worlds};
        slot.flat = {shape.per_agent ? worlds * agents : worlds};
      }
      for (const int64_t extent : shape.row) {
        slot.nested.push_back(extent);
        slot.flat.push_back(extent);
      }
    }
  }
  ~OutputPool() {
    for (char* memory : free_) std::free(memory);
  }
  OutputPool(const OutputPool&) = delete;

  /// A block of memory and the addresses of its outputs.
  char* take(Bound& bound) {
    char* memory;
    if (free_.empty()) {
      memory = static_cast<char*>(std::aligned_alloc(64, size_t(bytes_ > 0 ? bytes_ : 64)));
      if (memory == nullptr)
        throw Error(Fault::memory, "no memory for " + std::to_string(bytes_) + " bytes of outputs");
      ++allocations_;
    } else {
      memory = free_.back();
      free_.pop_back();
    }
    for (int o = 0; o < kOutputCount; ++o)
      bound.at[o] = slots_[o].wanted ? memory + slots_[o].offset : nullptr;
    return memory;
  }
  /// A few free blocks are kept for callers that hold some results; after a caller has dropped
  /// hundreds, their memory goes back to the system.
  void give_back(char* memory) {
    if (free_.size() < kKept)
      free_.push_back(memory);
    else
      std::free(memory);
  }

  /// Arrays over a block, which returns to the pool with the last of them.
  py::object arrays(char* memory, bool flat) {
    // The capsule is the base of every array: NumPy drops its references as the views die.
    PyObject* owner =
        PyCapsule_New(new Lease{shared_from_this(), memory}, nullptr, [](PyObject* capsule) {
          Lease* lease = static_cast<Lease*>(PyCapsule_GetPointer(capsule, nullptr));
          lease->pool->give_back(lease->memory);
          delete lease;
        });
    if (owner == nullptr) throw py::error_already_set();
    const py::object held = py::reinterpret_steal<py::object>(owner);
    const auto& numpy = py::detail::npy_api::get();
    const auto all = py::reinterpret_steal<py::object>(
        result_type.type->tp_alloc(result_type.type, kOutputCount));
    if (!all) throw py::error_already_set();
    for (int o = 0; o < kOutputCount; ++o) {
      const Slot& slot = slots_[o];
      const int place = result_type.place[o];
      if (!slot.wanted) {
        PyTuple_SET_ITEM(all.ptr(), place, py::none().release().ptr());
        continue;
      }
      const std::vector<Py_intptr_t>& shape = flat ? slot.flat : slot.nested;
      PyObject* array = numpy.PyArray_NewFromDescr_(
          numpy.PyArray_Type_, slot.dtype.inc_ref().ptr(), int(shape.size()), shape.data(), nullptr,
          memory + slot.offset,
          py::detail::npy_api::NPY_ARRAY_WRITEABLE_ | py::detail::npy_api::NPY_ARRAY_ALIGNED_,
          nullptr);
      if (array == nullptr) throw py::error_already_set();
      // The tuple owns the array from here on, and with it whatever fails below is released.
      PyTuple_SET_ITEM(all.ptr(), place, array);
      if (numpy.PyArray_SetBaseObject_(array, held.inc_ref().ptr()) < 0)
        throw py::error_already_set();
    }
    return all;
  }

  /// Names of the outputs that are written.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (int o = 0; o < kOutputCount; ++o)
      if (slots_[o].wanted) names.push_back(name_of(Output(o)));
    return names;
  }
  /// Number of blocks ever allocated from the system, for tests.
  int64_t allocations() const { return allocations_; }

 private:
  static constexpr size_t kKept = 8;
  struct Slot {
    bool wanted = false;
    int64_t offset = 0;
    py::dtype dtype;
    std::vector<Py_intptr_t> nested, flat;
  };
  struct Lease {
    std::shared_ptr<OutputPool> pool;
    char* memory;
  };
  Slot slots_[kOutputCount];
  int64_t bytes_ = 0, allocations_ = 0;
  std::vector<char*> free_;
};

}  // namespace ge::python
