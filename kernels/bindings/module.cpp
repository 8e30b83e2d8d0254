// The Python module, compiled once and linked to the engine of each machine and instruction set. It
// knows no environment: it hands names and numbers to the simulators of the modules that were
// loaded, and turns their errors into exceptions. Typed description: gpu_envs/_native.pyi.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <optional>
#include <utility>

#include "bindings/actions.hpp"
#include "bindings/learning.hpp"
#include "bindings/options.hpp"
#include "bindings/outputs.hpp"
#include "bindings/sampling.hpp"
#include "bindings/sketch.hpp"
#include "bindings/unlocked.hpp"
#include "engine/simulator/machine.hpp"
#include "engine/simulator/modules.hpp"
#include "engine/simulator/records.hpp"
#include "pictures/charts.hpp"
#include "pictures/memory.hpp"
#include "pictures/picture.hpp"

namespace ge::python {
namespace {

/// Of arrays that are given by address, so that their type is a word; NumPy's own are read by
/// number (actions.hpp).
Type action_type(const std::string& name) {
  const auto found = named<Type>(name);
  if (!found) throw Error(Fault::type, "actions of dtype " + name + " are not accepted");
  return *found;
}

/// What a grid shows where the environment says nothing; none where it is no grid.
std::optional<Sketch> sketch_of(Simulator& simulator, int64_t world) {
  const auto grid = find_grid(simulator.columns());
  if (!grid) return {};
  std::vector<char> record(size_t(simulator.record_bytes()));
  simulator.read_records(world, 1, record.data());
  return sketch(*grid, record.data());
}
/// What a world's charts said before: a row each.
using Readings = py::array_t<float, py::array::c_style | py::array::forcecast>;

Scene scene_of_world(Simulator& simulator, int64_t world) {
  Scene scene;
  if (simulator.scene(world, scene)) return scene;
  const auto drawn = sketch_of(simulator, world);
  if (!drawn) throw Error(Fault::value, simulator.id() + " has no pictures: it describes no scene");
  return scene_of(*drawn);
}

/// Where a call writes, made once by Python for arrays that it reuses and handed over in each step.
struct Addresses {
  Bound bound;
};

/// What a GPU that need not be there would run; `resident` is asked for blocks of a multiprocessor
/// by environment, graph, launch, lanes, slab, threads and bytes of shared memory.
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

/// A simulator as Python holds it. Calls that may be long let go of the interpreter's lock, so all
/// that needs Python (actions, options, arrays) is read before and made after.
class NativeSimulator {
 public:
  NativeSimulator(const std::string& id, const Wish& wish) {
    simulator_ = make_loaded(id, wish.config);
    if (simulator_ == nullptr)
      throw Error(Fault::value, "no module that is loaded has an environment '" + id + "'");
    // Needs the shapes of outputs and actions, so both come after the simulator.
    pool_ = std::make_shared<OutputPool>(*simulator_, wanted_outputs(wish.outputs));
    actions_.emplace(*simulator_);
  }

  // Marks the simulator as in use; two threads in one simulator would corrupt it.
  class Busy {
   public:
    explicit Busy(NativeSimulator& owner) : owner_(owner) {
      // An exchange, not a lock: who waits for it would hold the interpreter's lock meanwhile.
      if (owner.busy_.exchange(true, std::memory_order_acquire))
        throw Error(Fault::runtime,
                    "this simulator is in use by another thread: give each thread its own");
      if (owner.simulator_ == nullptr) {
        owner.busy_.store(false, std::memory_order_release);
        throw Error(Fault::runtime, "this simulator is closed");
      }
    }
    // Also where a call throws: a refused step leaves the simulator usable.
    ~Busy() { owner_.busy_.store(false, std::memory_order_release); }
    Busy(const Busy&) = delete;
    Simulator* operator->() const { return owner_.simulator_.get(); }
    Simulator& operator*() const { return *owner_.simulator_; }

   private:
    NativeSimulator& owner_;
  };

  /// Arrays of torch, JAX or CuPy by address: Python has judged their shape and where they lie.
  void step(uintptr_t actions, const std::string& type, const Addresses& addresses,
            uintptr_t stream) {
    int64_t illegal;
    {
      const Busy simulator(*this);
      const Actions given{reinterpret_cast<const void*>(actions), action_type(type)};
      {
        const Unlocked unlocked;
        simulator->step(given, addresses.bound, reinterpret_cast<void*>(stream));
      }
      illegal = illegal_to_report(*simulator);
    }
    if (illegal != 0) report_illegal(illegal);
  }

  /// The fast path: actions as an array in, fresh arrays out, one call from Python for a step.
  py::object step_numpy(const py::object& object, bool flat) {
    int64_t illegal;
    py::object results;
    {
      const Busy simulator(*this);
      const Actions actions = actions_->read(object);
      Bound bound;
      char* const memory = pool_->take(bound);
      try {
        const Unlocked unlocked;
        simulator->step(actions, bound, nullptr);
      } catch (...) {
        pool_->give_back(memory);
        throw;
      }
      results = pool_->arrays(memory, flat);
      illegal = illegal_to_report(*simulator);
    }
    if (illegal != 0) report_illegal(illegal);
    return results;
  }

  /// Calls `report` with their number after the first step that had illegal actions; None: nothing.
  void set_illegal_report(const py::object& report) {
    report_illegal_ = report.is_none() ? py::object() : report;
    reported_illegal_ = Busy(*this)->illegal_actions();
  }

  /// Arrays for reuse: the same addresses in each step, until the last of the views dies.
  py::tuple allocate(bool flat) {
    const Busy simulator(*this);
    Addresses addresses;
    char* const memory = pool_->take(addresses.bound);
    return py::make_tuple(addresses, pool_->arrays(memory, flat));
  }

  void reset(const py::object& seeds, uintptr_t mask, const py::dict& options,
             const Addresses& addresses, uintptr_t stream) {
    const Busy simulator(*this);
    std::vector<uint64_t> list;
    // A number seeds the batch, a list each world; see ResetRequest.
    if (PyLong_Check(seeds.ptr())) {
      list.push_back(seeds.cast<uint64_t>());
    } else if (!seeds.is_none()) {
      list = seeds.cast<std::vector<uint64_t>>();
      if (int64_t(list.size()) != simulator->worlds())
        throw Error(Fault::value, "seed: a list needs one seed per world, " +
                                      std::to_string(simulator->worlds()) + ", got " +
                                      std::to_string(list.size()));
      // One world with a list of one: the list stays a list, so the seed is its own as in a larger
      // batch.
      if (list.size() == 1) list.resize(2, list.front());
    }
    ResetRequest request;
    request.seeds = list;
    request.mask = reinterpret_cast<const uint8_t*>(mask);
    // While Python may still be asked; `list` and the options live until the call has returned.
    request.options = values_of(options);
    const Unlocked unlocked;
    simulator->reset(request, addresses.bound, reinterpret_cast<void*>(stream));
  }
  void observe(const Addresses& addresses, uintptr_t stream) {
    const Busy simulator(*this);
    const Unlocked unlocked;
    simulator->observe(addresses.bound, reinterpret_cast<void*>(stream));
  }

  py::bytes read_records(int64_t first, int64_t count) {
    const Busy simulator(*this);
    // A negative count is the simulator's to refuse, in words.
    std::string bytes(size_t(count < 0 ? 0 : count * simulator->record_bytes()), '\0');
    simulator->read_records(first, count, bytes.data());
    return bytes;
  }
  void write_records(int64_t first, const std::string& data) {
    const Busy simulator(*this);
    const int64_t record = simulator->record_bytes();
    if (int64_t(data.size()) % record != 0)
      throw Error(Fault::value, "write_records: " + std::to_string(data.size()) +
                                    " bytes are no whole number of records of " +
                                    std::to_string(record));
    simulator->write_records(first, int64_t(data.size()) / record, data.data());
  }
  void copy_worlds(const std::vector<int64_t>& from, const std::vector<int64_t>& to, bool reseed) {
    const Busy simulator(*this);
    simulator->copy_worlds(from, to, reseed);
  }
  py::array get_column(const std::string& name) {
    const Busy simulator(*this);
    const Column& column = find_column(*simulator, name);
    std::vector<py::ssize_t> shape{simulator->worlds(), column.rows};
    shape.insert(shape.end(), column.shape.begin(), column.shape.end());
    // A copy: records are interleaved, and on a GPU not here at all.
    py::array out(dtype_of(column.type), shape);
    ge::get_column(*simulator, column, out.mutable_data());
    return out;
  }
  void set_column(const std::string& name, const py::array& values, const py::object& worlds) {
    const Busy simulator(*this);
    const Column& column = find_column(*simulator, name);
    std::vector<int64_t> list;
    if (!worlds.is_none()) {
      list = worlds.cast<std::vector<int64_t>>();
      // To the engine an empty list means all worlds; a caller who chose none means none.
      if (list.empty()) return;
    }
    const int64_t count = worlds.is_none() ? simulator->worlds() : int64_t(list.size());
    std::vector<py::ssize_t> shape{count, column.rows};
    shape.insert(shape.end(), column.shape.begin(), column.shape.end());
    // Nothing is converted here: simulator.py brings values into this very form first.
    const bool fits =
        values.dtype().is(dtype_of(column.type)) && (values.flags() & py::array::c_style) != 0 &&
        std::vector<py::ssize_t>(values.shape(), values.shape() + values.ndim()) == shape;
    if (!fits) {
      std::string wanted;
      for (const py::ssize_t extent : shape)
        wanted += (wanted.empty() ? "" : ", ") + std::to_string(extent);
      throw Error(Fault::value, "set: column '" + name + "' needs a contiguous " +
                                    name_of(column.type) + " array of shape (" + wanted +
                                    "), got " + py::str(values.dtype()).cast<std::string>() + " " +
                                    shape_of(values));
    }
    ge::set_column(*simulator, column, values.data(), list);
  }
  py::dict faults() {
    const Busy simulator(*this);
    const FaultReport report = simulator->faults();
    reported_illegal_ = 0;  // the simulator counts from here again
    py::list tables;
    for (const FaultReport::Table& table : report.tables) {
      py::dict one;
      one["name"] = table.name, one["dropped"] = table.dropped;
      one["needed"] = table.needed, one["capacity"] = table.capacity;
      tables.append(one);
    }
    py::dict out;
    out["bad_actions"] = report.bad_actions;
    out["first_bad_world"] = report.first_bad_world;
    out["first_bad_agent"] = report.first_bad_agent;
    out["illegal_actions"] = report.illegal_actions;
    out["first_illegal_world"] = report.first_illegal_world;
    out["first_illegal_agent"] = report.first_illegal_agent;
    out["frozen_steps"] = report.frozen_steps;
    out["lost_views"] = report.lost_views;
    out["first_lost_world"] = report.first_lost_world;
    out["first_lost_agent"] = report.first_lost_agent;
    out["tables"] = tables;
    return out;
  }
  void sample_actions(uintptr_t mask, uint64_t seed, uintptr_t to, uintptr_t stream) {
    const Busy simulator(*this);
    const DrawList list(*simulator, reinterpret_cast<const int8_t*>(mask), seed,
                        reinterpret_cast<int32_t*>(to));
    const Unlocked unlocked;
    for (const PlacedDraw& draw : list.draws())
      simulator->sample_actions(draw.sampling, draw.to, reinterpret_cast<void*>(stream));
  }
  py::bytes save() {
    const Busy simulator(*this);
    return ge::save(*simulator);
  }
  void load(const py::bytes& data) {
    const Busy simulator(*this);
    // The bytes of the Python object itself: a save may be large, and a copy of it as large again.
    char* bytes = nullptr;
    py::ssize_t size = 0;
    if (PyBytes_AsStringAndSize(data.ptr(), &bytes, &size) != 0) throw py::error_already_set();
    ge::load(*simulator, bytes, size);
  }
  std::pair<std::string, std::string> golden(int steps, uint64_t seed, bool clear_ended) {
    const Busy simulator(*this);
    const Golden hashes =
        golden_run(*simulator, steps, seed, clear_ended ? FinalRows::clear_ended : FinalRows::zero);
    return {hashes.records, hashes.outputs};
  }
  /// A second close finds nothing and does nothing; results that are still held keep their memory.
  void close() {
    // Asked before Busy, which would refuse a closed simulator.
    if (simulator_ == nullptr) return;
    const Busy simulator(*this);
    simulator_.reset();
    report_illegal_ = py::object();  // it may hold what holds this simulator
  }

  std::string instance() {
    const Busy simulator(*this);
    return simulator->instance();
  }
  int64_t memory_bytes() {
    const Busy simulator(*this);
    return simulator->memory_bytes();
  }
  int64_t record_bytes() {
    const Busy simulator(*this);
    return simulator->record_bytes();
  }
  std::vector<std::string> action_names() {
    const Busy simulator(*this);
    return simulator->action_names();
  }
  std::vector<std::string> action_keys() {
    const Busy simulator(*this);
    return simulator->action_keys();
  }
  std::string text(int64_t world, int viewer) {
    const Busy simulator(*this);
    const std::string text = simulator->text(world, viewer);
    const auto drawn = text.empty() ? sketch_of(*simulator, world) : std::nullopt;
    return drawn ? text_of(*drawn) : text;
  }
  std::vector<float> reading(int64_t world) {
    const Busy simulator(*this);
    return pictures::reading_of(scene_of_world(*simulator, world));
  }
  py::array render(int64_t world, int height, int width, const std::string& view, int samples,
                   const Readings& past) {
    const Busy simulator(*this);
    pictures::Request request{width, height, view, samples};
    // Before the picture is allocated: its size is the caller's.
    pictures::check(request);
    Scene scene = scene_of_world(*simulator, world);
    if (past.ndim() == 2) pictures::give_past(scene, past.data(), past.shape(0), past.shape(1));
    py::array_t<uint8_t> picture({height, width, 3});
    // The scene is a copy, so drawing needs neither the world nor Python.
    uint8_t* const to = picture.mutable_data();
    const Unlocked unlocked;
    pictures::draw(scene, request, to, &pictures_);
    return picture;
  }
  std::pair<int, int> picture_size(int64_t world) {
    const Busy simulator(*this);
    const Scene scene = scene_of_world(*simulator, world);
    const pictures::Size size = pictures::default_size(scene);
    return {size.rows, size.columns};
  }
  int64_t allocations() const { return pool_->allocations(); }
  std::vector<std::string> outputs() const { return pool_->names(); }

 private:
  int64_t illegal_to_report(const Simulator& simulator) const {
    return report_illegal_ ? simulator.illegal_actions() - reported_illegal_ : 0;
  }
  /// Once, and not while the simulator is in use: what is called may use it.
  void report_illegal(int64_t count) {
    const py::object report = std::exchange(report_illegal_, py::object());
    report(count);
  }

  // Null once closed. The pool outlives it where results do; busy_ is taken by every call.
  std::unique_ptr<Simulator> simulator_;
  std::shared_ptr<OutputPool> pool_;
  std::optional<ActionReader> actions_;
  pictures::Memory pictures_;     // of the picture drawn last
  py::object report_illegal_;     // null once it was called
  int64_t reported_illegal_ = 0;  // illegal actions from before there was a report
  std::atomic<bool> busy_{false};
};

/// An Error's kind says which of Python's exceptions it is; others pass on to pybind11's
/// translator.
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

/// From a list in the order of the results' fields, which is Python's; see ResultType.
Addresses addresses_of(const std::vector<uintptr_t>& list) {
  if (list.size() != size_t{kOutputCount})
    throw Error(Fault::value, "Addresses: one per output, got " + std::to_string(list.size()));
  Addresses addresses;
  for (int o = 0; o < kOutputCount; ++o)
    addresses.bound.at[o] = reinterpret_cast<void*>(list[size_t(result_type.place[o])]);
  return addresses;
}

}  // namespace
}  // namespace ge::python

PYBIND11_MODULE(_native, m) {
  using namespace ge::python;
  using ge::python::NativeSimulator;
  m.doc() = "Native simulators of gpu_envs.";
  Unlocked::watch_the_end();
  add_learning(m);
  // Local, as the classes are: the bindings of several engines live in one process.
  py::register_local_exception_translator(&translate);
  // Of the engine that this is linked with: Python chooses among several by them.
  m.attr("MACHINE") = ge::engine_machine();
  m.attr("INSTRUCTION_SET") = ge::engine_instruction_set();
  m.def("use_results", [](const py::type& type) { result_type.adopt(type); });
  m.def("load", [](const std::string& path) { ge::load_module(path); });
  m.def("describe",
        [](const std::string& path) { return "[" + ge::load_module(path).describe() + "]"; });
  m.def("device_count", &ge::device_count);
  m.def("device_name", &ge::device_name);
  m.def("device_problem", &ge::device_problem);
  m.def("device_of",
        [](uintptr_t address) { return ge::device_of(reinterpret_cast<const void*>(address)); });
  m.def("is_capturing",
        [](uintptr_t stream) { return ge::is_capturing(reinterpret_cast<void*>(stream)); });
  m.def("follow", [](int device, uintptr_t stream, uintptr_t other) {
    ge::follow(device, reinterpret_cast<void*>(stream), reinterpret_cast<void*>(other));
  });
  m.def("wait_for", [](int device, uintptr_t stream, const std::string& call) {
    const Unlocked unlocked;
    ge::wait_for(device, reinterpret_cast<void*>(stream), call.c_str());
  });
  m.def("watch_stages", &ge::watch_stages, py::arg("on"));
  m.def("stage_seconds", &ge::stage_seconds);
  m.def("kernels_on_paper",
        [](const std::string& id, int64_t num_worlds, int architecture, int processors,
           int64_t shared_limit, const py::function& resident, const py::kwargs& options) {
          return ge::python::kernels(id, wish_of(num_worlds, options), architecture, processors,
                                     shared_limit, resident);
        });

  py::class_<Addresses>(m, "Addresses", py::module_local())
      .def(py::init(&addresses_of))
      .def_property(
          "clear_ended",
          [](const Addresses& addresses) {
            return addresses.bound.final_rows == ge::FinalRows::clear_ended;
          },
          [](Addresses& addresses, bool on) {
            addresses.bound.final_rows = on ? ge::FinalRows::clear_ended : ge::FinalRows::zero;
          });

  py::class_<NativeSimulator>(m, "Simulator", py::module_local())
      // Options by name, read in options.hpp: there are many, and Python only passes them on.
      .def(py::init([](const std::string& id, int64_t num_worlds, const py::kwargs& options) {
        return std::make_unique<NativeSimulator>(id, wish_of(num_worlds, options));
      }))
      .def_property_readonly("outputs", &NativeSimulator::outputs)
      .def_property_readonly("instance", &NativeSimulator::instance)
      .def_property_readonly("memory_bytes", &NativeSimulator::memory_bytes)
      .def_property_readonly("record_bytes", &NativeSimulator::record_bytes)
      .def_property_readonly("allocations", &NativeSimulator::allocations)
      .def("step", &NativeSimulator::step)
      .def("step_numpy", &NativeSimulator::step_numpy)
      .def("set_illegal_report", &NativeSimulator::set_illegal_report)
      .def("allocate", &NativeSimulator::allocate)
      .def("reset", &NativeSimulator::reset)
      .def("observe", &NativeSimulator::observe)
      .def("read_records", &NativeSimulator::read_records)
      .def("write_records", &NativeSimulator::write_records)
      .def("copy_worlds", &NativeSimulator::copy_worlds)
      .def("get_column", &NativeSimulator::get_column)
      .def("set_column", &NativeSimulator::set_column)
      .def("faults", &NativeSimulator::faults)
      .def("action_names", &NativeSimulator::action_names)
      .def("action_keys", &NativeSimulator::action_keys)
      .def("text", &NativeSimulator::text)
      .def("render", &NativeSimulator::render)
      .def("reading", &NativeSimulator::reading)
      .def("picture_size", &NativeSimulator::picture_size)
      .def("sample_actions", &NativeSimulator::sample_actions)
      .def("save", &NativeSimulator::save)
      .def("load", &NativeSimulator::load)
      .def("golden", &NativeSimulator::golden, py::arg("steps"), py::arg("seed"),
           py::arg("clear_ended") = false)
      .def("close", &NativeSimulator::close);
}

// One object serves every engine, so it answers to each name under which it is linked.
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
