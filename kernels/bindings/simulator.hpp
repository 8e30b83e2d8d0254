// A simulator in Python: one thread at a time, the interpreter's lock released during long calls, a
// report after the first step with illegal actions. Methods that only read or write a world are in
// columns.hpp and pictures.hpp; kMethod makes methods of them.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/actions.hpp"
#include "bindings/columns.hpp"
#include "bindings/options.hpp"
#include "bindings/outputs.hpp"
#include "bindings/pictures.hpp"
#include "bindings/session.hpp"
#include "bindings/unlocked.hpp"
#include "engine/simulator/action_draws.hpp"
#include "engine/simulator/modules.hpp"

namespace ge::python {

namespace py = pybind11;

/// The addresses of a call's outputs: made once by Python for arrays that it reuses, and handed
/// over in each step.
struct Addresses {
  Bound bound;
};

/// The type of an array that is given by address, from its name; NumPy's own are read by number
/// (actions.hpp).
inline Type action_type(const std::string& name) {
  const auto found = named<Type>(name);
  if (!found) throw Error(Fault::type, "actions of dtype " + name + " are not accepted");
  return *found;
}

/// Who uses a simulator: a process of a line of forks (Sessions), or nobody.
class Busy {
 public:
  /// An exchange, not a lock: a waiting thread would hold the interpreter's lock meanwhile. In a
  /// forked child the thread that used it is gone.
  bool take() {
    const uint32_t own = Sessions::forks() + 1;
    uint32_t user = 0;
    if (user_.compare_exchange_strong(user, own, std::memory_order_acquire)) return true;
    return user != own && user_.compare_exchange_strong(user, own, std::memory_order_acquire);
  }
  void leave() { user_.store(0, std::memory_order_release); }

 private:
  std::atomic<uint32_t> user_{0};
};

/// Marks a simulator as in use while it lives; two threads in one simulator would corrupt it.
class InUse {
 public:
  /// `waits`: for who has no lock of the interpreter's, and whom Python's calls must not disturb.
  InUse(const std::unique_ptr<Simulator>& simulator, Busy& busy, bool waits = false)
      : simulator_(simulator), busy_(busy) {
    while (!busy_.take()) {
      if (!waits)
        throw Error(Fault::runtime,
                    "this simulator is in use by another thread: give each thread its own");
      std::this_thread::yield();
    }
    if (simulator_ == nullptr) {
      busy_.leave();
      throw Error(Fault::runtime, "this simulator is closed");
    }
  }
  // Also where a call throws: a refused step leaves the simulator usable.
  ~InUse() { busy_.leave(); }
  InUse(const InUse&) = delete;
  Simulator* operator->() const { return simulator_.get(); }
  Simulator& operator*() const { return *simulator_; }

 private:
  const std::unique_ptr<Simulator>& simulator_;
  Busy& busy_;
};

/// A simulator in Python. Long calls release the interpreter's lock, so everything that needs
/// Python (actions, options, arrays) is read before and made after.
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

  // A call of XLA may run on another thread, which needs no lock of the interpreter's.
  ~NativeSimulator() {
    if (session_ == nullptr) return;
    Sessions::remove(session_->number);
    if (session_->process != getpid()) return;  // a thread of the parent may hold the guard
    const std::lock_guard lock(session_->guard);
    session_->simulator = nullptr;
  }
  NativeSimulator(const NativeSimulator&) = delete;
  NativeSimulator& operator=(const NativeSimulator&) = delete;

  /// The simulator, for exclusive use by one thread.
  InUse use() { return InUse(simulator_, busy_); }
  /// The simulator for a thread of XLA, which waits until no call of Python uses it.
  InUse use_later() { return InUse(simulator_, busy_, true); }
  /// Makes handles of XLA's programs old: a call of Python has changed worlds. Only while in use.
  void changed() {
    if (session_ != nullptr) ++session_->calls, session_->is_pythons = true;
  }
  /// Resets by programs of XLA so far.
  int64_t program_resets() {
    const InUse simulator = use();
    return session_ == nullptr ? 0 : session_->resets;
  }

  /// A handle for programs of XLA: number, and calls so far.
  std::pair<uint32_t, uint64_t> open_session() {
    const InUse simulator = use();
    if (session_ == nullptr || session_->process != getpid()) {
      auto session = std::make_shared<Session>();
      session->simulator = this;
      for (const std::string& name : pool_->names()) {
        const Output output = *named<Output>(name);
        session->of_step.add(output, name);
        if (!has_trait(output, kByAStep)) session->of_reset.add(output, name);
      }
      Sessions::add(session);
      session_ = session;
    }
    return {session_->number, session_->calls};
  }

  /// Arrays of torch, JAX or CuPy by address: Python has checked their shape and device.
  void step(uintptr_t actions, const std::string& type, const Addresses& addresses,
            uintptr_t stream) {
    step_some(actions, type, addresses, stream, 0);
  }
  /// `worlds`: address of a byte per world, as in Actions.
  void step_some(uintptr_t actions, const std::string& type, const Addresses& addresses,
                 uintptr_t stream, uintptr_t worlds) {
    int64_t illegal;
    {
      const InUse simulator = use();
      const Actions given{reinterpret_cast<const void*>(actions), action_type(type),
                          reinterpret_cast<const uint8_t*>(worlds)};
      {
        const Unlocked unlocked;
        simulator->step(given, addresses.bound, reinterpret_cast<void*>(stream));
      }
      changed();
      illegal = illegal_to_report(*simulator);
    }
    if (illegal != 0) report_illegal(illegal);
  }

  /// The fast path: actions as an array in, fresh arrays out, one call from Python for a step.
  py::object step_numpy(const py::object& object, bool flat) {
    return step_some_numpy(object, flat, 0);
  }
  py::object step_some_numpy(const py::object& object, bool flat, uintptr_t worlds) {
    int64_t illegal;
    py::object results;
    {
      const InUse simulator = use();
      Actions actions = actions_->read(object);
      actions.worlds = reinterpret_cast<const uint8_t*>(worlds);
      Bound bound;
      char* const memory = pool_->take(bound);
      try {
        const Unlocked unlocked;
        simulator->step(actions, bound, nullptr);
      } catch (...) {
        pool_->give_back(memory);
        throw;
      }
      changed();
      results = pool_->arrays(memory, flat);
      illegal = illegal_to_report(*simulator);
    }
    if (illegal != 0) report_illegal(illegal);
    return results;
  }

  /// Sets a function that is called with their number after the first step with illegal actions; or
  /// None.
  void set_illegal_report(const py::object& report) {
    report_illegal_ = report.is_none() ? py::object() : report;
    reported_illegal_ = use()->illegal_actions();
  }

  /// Arrays for reuse: the same addresses in each step, until the last of the views dies.
  py::tuple allocate(bool flat) {
    const InUse simulator = use();
    Addresses addresses;
    char* const memory = pool_->take(addresses.bound);
    return py::make_tuple(addresses, pool_->arrays(memory, flat));
  }

  /// `changes` of parameters in `worlds`, which are those that the mask has.
  void reset(const py::object& seeds, uintptr_t mask, const py::dict& options,
             const Addresses& addresses, uintptr_t stream, const py::dict& changes,
             const py::object& worlds) {
    const InUse simulator = use();
    const std::vector<uint64_t> list = seeds_of(seeds, simulator->worlds());
    ResetRequest request;
    request.seeds = list;
    request.mask = reinterpret_cast<const uint8_t*>(mask);
    // Converted while the lock is held; `list` and the options live until the call has returned.
    request.options = values_of(options);
    if (!read_change(request.parameters, changes, worlds)) request.parameters = {};
    {
      const Unlocked unlocked;
      simulator->reset(request, addresses.bound, reinterpret_cast<void*>(stream));
    }
    changed();
  }
  void observe(const Addresses& addresses, uintptr_t stream) {
    const InUse simulator = use();
    const Unlocked unlocked;
    simulator->observe(addresses.bound, reinterpret_cast<void*>(stream));
  }

  py::dict faults() {
    const InUse simulator = use();
    const FaultReport report = simulator->faults();
    reported_illegal_ = 0;  // the simulator counts from here again
    return dict_of(report);
  }
  void sample_actions(uintptr_t mask, uint64_t seed, uintptr_t to, uintptr_t stream) {
    const InUse simulator = use();
    const auto draws = action_draws(*simulator, reinterpret_cast<const int8_t*>(mask), seed,
                                    reinterpret_cast<int32_t*>(to));
    const Unlocked unlocked;
    for (const PlacedDraw& draw : draws)
      simulator->sample_actions(draw.sampling, draw.to, reinterpret_cast<void*>(stream));
  }
  py::array render(int64_t world, int height, int width, const std::string& view, int samples,
                   const Readings& past) {
    const InUse simulator = use();
    return picture_of_world(*simulator, world, {width, height, view, samples}, past, pictures_);
  }
  /// A second close finds nothing and does nothing; results that are still held keep their memory.
  void close() {
    // Asked before use(), which would refuse a closed simulator.
    if (simulator_ == nullptr) return;
    const InUse simulator = use();
    simulator_.reset();
    report_illegal_ = py::object();  // it may hold what holds this simulator
  }

  int64_t allocations() const { return pool_->allocations(); }
  std::vector<std::string> outputs() const { return pool_->names(); }

 private:
  int64_t illegal_to_report(const Simulator& simulator) const {
    return report_illegal_ ? simulator.illegal_actions() - reported_illegal_ : 0;
  }
  /// Reports once, and not while the simulator is in use: the callback may use it.
  void report_illegal(int64_t count) {
    const py::object report = std::exchange(report_illegal_, py::object());
    report(count);
  }

  // Null once closed. The pool outlives it where results do; every call takes busy_.
  std::unique_ptr<Simulator> simulator_;
  std::shared_ptr<OutputPool> pool_;
  std::optional<ActionReader> actions_;
  pictures::Memory pictures_;     // of the picture drawn last
  SessionPtr session_;            // null until XLA's programs are to call
  py::object report_illegal_;     // null once it was called
  int64_t reported_illegal_ = 0;  // illegal actions from before there was a report
  Busy busy_;
};

/// A function of a simulator as a method of its Python class: no other thread uses the simulator
/// meanwhile.
template <auto F>
struct Method;
template <class Result, class... Given, Result (*F)(Simulator&, Given...)>
struct Method<F> {
  static Result call(NativeSimulator& own, Given... given) {
    const InUse simulator = own.use();
    return F(*simulator, std::forward<Given>(given)...);
  }
};
/// A result behind a reference is copied while the simulator is in use.
template <class Result, class... Given, Result (Simulator::*F)(Given...) const>
struct Method<F> {
  static std::decay_t<Result> call(NativeSimulator& own, Given... given) {
    const InUse simulator = own.use();
    return (*simulator.*F)(std::forward<Given>(given)...);
  }
};
template <auto F>
inline constexpr auto kMethod = &Method<F>::call;
/// A function that changes worlds as a method: handles of XLA's programs are old from then on.
template <auto F>
struct Change;
template <class Result, class... Given, Result (*F)(Simulator&, Given...)>
struct Change<F> {
  static Result call(NativeSimulator& own, Given... given) {
    const InUse simulator = own.use();
    if constexpr (std::is_void_v<Result>) {
      F(*simulator, std::forward<Given>(given)...);
      own.changed();
    } else {
      Result result = F(*simulator, std::forward<Given>(given)...);
      own.changed();
      return result;
    }
  }
};
template <auto F>
inline constexpr auto kChange = &Change<F>::call;

}  // namespace ge::python
