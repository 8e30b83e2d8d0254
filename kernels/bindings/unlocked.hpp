// Native work without the interpreter's lock, safe at the end of the process.
//
// A daemon thread that comes back from native work after the interpreter has begun to end is not
// given the lock: Python before 3.14 ends it there by unwinding its stack, and a destructor that is
// unwound aborts the process. So the end waits until all work without the lock is done, and work
// that begins later keeps the lock: the interpreter ends between two calls, never within one.
#pragma once

#include <pthread.h>
#include <pybind11/pybind11.h>

#include <atomic>

namespace ge::python {

namespace py = pybind11;

/// Releases the interpreter's lock while it lives, unless the interpreter is about to end.
class Unlocked {
 public:
  Unlocked() {
    if (is_ending_.load()) return;  // set with the lock held, which this thread holds too
    running_.fetch_add(1);
    thread_ = PyEval_SaveThread();
  }
  ~Unlocked() {
    if (thread_ == nullptr) return;
    PyEval_RestoreThread(thread_);
    running_.fetch_sub(1);
    if (is_ending_.load()) running_.notify_all();
  }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

  /// Lets the end of the interpreter wait for the work of all threads; for once, at import.
  static void watch_the_end() {
    // A forked child has only the forking thread, whatever the others were doing.
    pthread_atfork(nullptr, nullptr, [] { running_.store(0); });
    py::module_::import("atexit").attr("register")(py::cpp_function(&Unlocked::end));
  }

 private:
  static void end() {
    is_ending_.store(true);
    const py::gil_scoped_release others_need_it;
    for (int count = running_.load(); count != 0; count = running_.load()) running_.wait(count);
  }

  static inline std::atomic<int> running_{0};
  static inline std::atomic<bool> is_ending_{false};

  PyThreadState* thread_ = nullptr;
};

}  // namespace ge::python
