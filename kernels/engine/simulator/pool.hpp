// The process-wide pool of threads. One job at a time: a job is a number of parts, taken from a
// counter by the caller and by as many helpers as asked for. A caller that finds the pool busy does
// its parts alone, so two simulators in two threads never wait for each other. Helpers spin briefly
// between jobs, because steps follow each other in microseconds, then sleep. After fork the child
// starts a pool of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace ge {

/// Processors this process may use. By the affinity, which a container or `taskset` may have
/// narrowed; read again at each call.
int available_threads();

using PartFunction = void (*)(void* context, int64_t part, int worker);

/// Runs fn(context, part, worker) for every part < parts on at most `threads` threads, the caller
/// being worker 0. An exception thrown by a part is rethrown here after all parts have ended.
void run_parts(int64_t parts, int threads, PartFunction fn, void* context);

template <class F>
void parallel_for(int64_t parts, int threads, F&& f) {
  run_parts(
      parts, threads,
      [](void* context, int64_t part, int worker) {
        (*static_cast<std::remove_reference_t<F>*>(context))(part, worker);
      },
      &f);
}

/// A crew: `size` threads that run fn(context, member) at the same time and may wait for each other
/// in a CrewBarrier. Returns false, having run nothing, if the pool is busy. fn has to meet the
/// others at least once: a member that arrives after the first has ended is not waited for. None
/// may throw while others wait for it.
bool run_crew(int size, PartFunction fn, void* context);

/// Where the members of a crew meet. Spins, since stages take microseconds; yields where threads
/// outnumber processors.
class CrewBarrier {
 public:
  explicit CrewBarrier(int size) : size_(size) {}
  void meet();

 private:
  const int size_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> round_{0};
};

}  // namespace ge
