// The process-wide pool of threads. One job at a time: a job is a number of parts, taken from a counter by the caller and
// by as many helpers as asked for. A caller that finds the pool busy does its parts alone, so two simulators in two
// threads never wait for each other. Helpers spin briefly between jobs, because steps follow each other in microseconds,
// then sleep. After fork the child starts a pool of its own.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ge {

/// Processors this process may use.
int available_threads();

using PartFunction = void (*)(void* context, int64_t part, int worker);

/// Runs fn(context, part, worker) for every part < parts on at most `threads` threads, the caller being worker 0.
/// An exception thrown by a part is rethrown here after all parts have ended.
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

}  // namespace ge
