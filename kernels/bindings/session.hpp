// A simulator as programs of XLA find it (jit.hpp): by a number, never by an address.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/simulator/simulator.hpp"

namespace ge::python {

class NativeSimulator;

/// Results of a step or of a reset, in order, and their names between commas.
struct CallOutputs {
  std::vector<Output> all;
  std::string names;
  void add(Output output, const std::string& name) {
    all.push_back(output);
    names += (names.empty() ? "" : ",") + name;
  }
};

struct Session {
  std::mutex guard;                      // held during a call, and while the simulator goes
  NativeSimulator* simulator = nullptr;  // null: it is gone
  uint32_t number = 0;
  pid_t process = getpid();
  /// Steps and resets, those in Python too, and whatever changed the worlds there.
  uint64_t calls = 0;
  bool is_pythons = false;  // the last of them
  int64_t resets = 0;       // by programs
  CallOutputs of_step, of_reset;
};
using SessionPtr = std::shared_ptr<Session>;

/// All sessions of the process; those of its parent have no simulators in a forked child.
class Sessions {
 public:
  /// Gives a session, which has everything else already, its number.
  static void add(const SessionPtr& session) {
    const std::lock_guard lock(guard_);
    if (last_ == UINT32_MAX) throw Error(Fault::runtime, "xla(): there were too many simulators");
    session->number = ++last_;
    all_[session->number] = session;
  }
  static SessionPtr find(uint32_t number) {
    const std::lock_guard lock(guard_);
    const auto found = all_.find(number);
    return found == all_.end() ? nullptr : found->second;
  }
  static void remove(uint32_t number) {
    const std::lock_guard lock(guard_);
    all_.erase(number);
  }
  /// For once, at import: a child is forked by one thread, whatever the others were doing.
  static void watch_forks() {
    pthread_atfork([] { guard_.lock(); }, [] { guard_.unlock(); },
                   [] {
                     ++forks_;
                     all_.clear();
                     guard_.unlock();
                   });
  }
  /// How many forks lie between this process and the one that imported the bindings.
  static uint32_t forks() { return forks_; }

 private:
  static inline std::mutex guard_;
  // Never destroyed: a program may run on a thread of XLA until the process is gone.
  static inline auto& all_ = *new std::unordered_map<uint32_t, SessionPtr>;
  static inline uint32_t last_ = 0;
  static inline uint32_t forks_ = 0;  // written while the process has one thread
};

}  // namespace ge::python
