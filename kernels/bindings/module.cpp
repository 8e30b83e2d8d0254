// The Python module, compiled once and linked to the engine of each machine and instruction set. It
// knows no environment: it hands names and numbers to the simulators of the modules that were
// loaded, and turns their errors into exceptions. Typed description: gpu_envs/_native.pyi.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/jit.hpp"
#include "bindings/learning.hpp"
#include "bindings/simulator.hpp"
#include "engine/simulator/machine.hpp"
#include "engine/simulator/modules.hpp"

namespace ge::python {
namespace {

/// The kernels that a GPU, which need not be present, would run; `resident` returns the blocks per
/// multiprocessor of an environment, graph, launch, lanes, slab, threads and bytes of shared
/// memory.
std::string kernels(const std::string& id, const Wish& wish, int architecture, int processors,
                    int64_t shared_limit, const py::function& resident) {
  const auto list = launches_loaded(id, wish.config);
  if (list == nullptr)
    throw Error(Fault::value, "no module for GPUs that is loaded has an environment '" + id + "'");
  return kernels_on_paper(
      *list, wish.config.worlds, wish.config.lanes,
      {architecture, processors, shared_limit, [&](const KernelName& k, int threads, int shared) {
         return resident(k.environment, k.graph, k.launch, k.lanes, k.slab, threads, shared)
             .template cast<int>();
       }});
}

/// Maps an Error's kind to a Python exception; other exceptions pass on to pybind11's translator.
void translate(std::exception_ptr pointer) {
  try {
    if (pointer) std::rethrow_exception(pointer);
  } catch (const Error& error) {
    switch (error.kind()) {
      case Fault::value:
        PyErr_SetString(PyExc_ValueError, error.what());
        return;
      case Fault::type:
        PyErr_SetString(PyExc_TypeError, error.what());
        return;
      case Fault::memory:
        PyErr_SetString(PyExc_MemoryError, error.what());
        return;
      case Fault::reset_needed: {
        // Looked up when it is needed: the package imports this module, not the other way round.
        const py::object type = py::module_::import("gpu_envs.errors").attr("ResetNeeded");
        PyErr_SetString(type.ptr(), error.what());
        return;
      }
      default:
        PyErr_SetString(PyExc_RuntimeError, error.what());
        return;
    }
  }
}

/// Reads a list in the order of the results' fields, which Python defines; see ResultType.
Addresses addresses_of(const std::vector<uintptr_t>& list) {
  if (list.size() != size_t{kOutputCount})
    throw Error(Fault::value, "Addresses: one per output, got " + std::to_string(list.size()));
  Addresses addresses;
  for (int o = 0; o < kOutputCount; ++o)
    addresses.bound.at[o] = reinterpret_cast<void*>(list[size_t(result_type.place[o])]);
  return addresses;
}

/// Each symmetry as a pair: places of the observation, and actions.
py::list symmetries_of(Simulator& simulator) {
  py::list all;
  for (const Symmetry& one : simulator.symmetries())
    all.append(py::make_tuple(one.observation, one.actions));
  return all;
}

/// Functions of the engine, and of the modules that it loads.
void add_engine(py::module_& m) {
  // Identify the linked engine: Python chooses among several by these.
  m.attr("MACHINE") = engine_machine();
  m.attr("INSTRUCTION_SET") = engine_instruction_set();
  m.def("use_results", [](const py::type& type) { result_type.adopt(type); });
  m.def("load", [](const std::string& path) { load_module(path); });
  m.def("describe",
        [](const std::string& path) { return "[" + load_module(path).describe() + "]"; });
  m.def("outline", [](const std::string& id, const py::dict& parameters) {
    return outline_loaded(id, values_of(parameters));
  });
  m.def("device_count", &device_count);
  m.def("device_name", &device_name);
  m.def("device_problem", &device_problem);
  m.def("device_of",
        [](uintptr_t address) { return device_of(reinterpret_cast<const void*>(address)); });
  m.def("is_capturing",
        [](uintptr_t stream) { return is_capturing(reinterpret_cast<void*>(stream)); });
  m.def("follow", [](int device, uintptr_t stream, uintptr_t other) {
    follow(device, reinterpret_cast<void*>(stream), reinterpret_cast<void*>(other));
  });
  m.def("wait_for", [](int device, uintptr_t stream, const std::string& call) {
    const Unlocked unlocked;
    wait_for(device, reinterpret_cast<void*>(stream), call.c_str());
  });
  m.def("watch_stages", &watch_stages, py::arg("on"));
  m.def("stage_seconds", &stage_seconds);
  m.def("kernels_on_paper",
        [](const std::string& id, int64_t num_worlds, int architecture, int processors,
           int64_t shared_limit, const py::function& resident, const py::kwargs& options) {
          return kernels(id, wish_of(num_worlds, options), architecture, processors, shared_limit,
                         resident);
        });
}

void add_addresses(py::module_& m) {
  py::class_<Addresses>(m, "Addresses", py::module_local())
      .def(py::init(&addresses_of))
      .def_property(
          "clear_ended",
          [](const Addresses& addresses) {
            return addresses.bound.final_rows == FinalRows::clear_ended;
          },
          [](Addresses& addresses, bool on) {
            addresses.bound.final_rows = on ? FinalRows::clear_ended : FinalRows::zero;
          });
}

void add_simulator(py::module_& m) {
  py::class_<NativeSimulator>(m, "Simulator", py::module_local())
      // Options by name, read in options.hpp: there are many, and Python only passes them on.
      .def(py::init([](const std::string& id, int64_t num_worlds, const py::kwargs& options) {
        return std::make_unique<NativeSimulator>(id, wish_of(num_worlds, options));
      }))
      .def_property_readonly("outputs", &NativeSimulator::outputs)
      .def_property_readonly("instance", kMethod<&Simulator::instance>)
      .def_property_readonly("memory_bytes", kMethod<&Simulator::memory_bytes>)
      .def_property_readonly("record_bytes", kMethod<&Simulator::record_bytes>)
      .def_property_readonly("allocations", &NativeSimulator::allocations)
      .def("step", &NativeSimulator::step)
      .def("step_numpy", &NativeSimulator::step_numpy)
      .def("step_some", &NativeSimulator::step_some)
      .def("step_some_numpy", &NativeSimulator::step_some_numpy)
      .def("set_illegal_report", &NativeSimulator::set_illegal_report)
      .def("allocate", &NativeSimulator::allocate)
      .def("reset", &NativeSimulator::reset, py::arg("seeds"), py::arg("mask"), py::arg("options"),
           py::arg("addresses"), py::arg("stream"), py::arg("changes") = py::dict(),
           py::arg("worlds") = py::none())
      .def("observe", &NativeSimulator::observe)
      .def("read_records", kMethod<&records_of>)
      .def("write_records", kChange<&put_records>)
      .def("copy_worlds", kChange<&copy_worlds>)
      .def("get_column", kMethod<&column_of>)
      .def("assets", kMethod<&assets_of>)
      .def("set_column", kChange<&put_column>)
      .def("set_parameters", kChange<&put_parameters>)
      .def("faults", &NativeSimulator::faults)
      .def("action_names", kMethod<&Simulator::action_names>)
      .def("action_keys", kMethod<&Simulator::action_keys>)
      .def("symmetries", kMethod<&symmetries_of>)
      .def("text", kMethod<&text_of_world>)
      .def("render", &NativeSimulator::render)
      .def("reading", kMethod<&reading_of_world>)
      .def("picture_size", kMethod<&picture_size>)
      .def("sample_actions", &NativeSimulator::sample_actions)
      .def("save", kMethod<&save_of>, py::arg("worlds") = py::none())
      .def("load", kChange<&load_save>, py::arg("data"), py::arg("worlds") = py::none())
      .def("golden", kChange<&golden>, py::arg("steps"), py::arg("seed"),
           py::arg("clear_ended") = false, py::arg("in_a_row") = 1, py::arg("parts") = 1)
      .def("open_session", &NativeSimulator::open_session)
      .def("program_resets", &NativeSimulator::program_resets)
      .def("close", &NativeSimulator::close);
}

}  // namespace
}  // namespace ge::python

PYBIND11_MODULE(_native, m) {
  using namespace ge::python;
  m.doc() = "Native simulators of gpu_envs.";
  Unlocked::watch_the_end();
  add_learning(m);
  jit::add_handlers(m);
  // Local, as the classes are: the bindings of several engines live in one process.
  py::register_local_exception_translator(&translate);
  add_engine(m);
  add_addresses(m);
  add_simulator(m);
}

// One object serves every engine, so it exports its init function under each name it is linked as.
#define GE_ALSO(name)                                   \
  extern "C" PYBIND11_EXPORT PyObject* PyInit_##name(); \
  PyObject* PyInit_##name() {                           \
    return PyInit__native();                            \
  }
GE_ALSO(_cpu_v2)
GE_ALSO(_cpu_v3)
GE_ALSO(_cpu_v4)
GE_ALSO(_cpu_generic)
GE_ALSO(_cuda)
GE_ALSO(_cuda_ptx)
