// The pool of threads in a module for web pages, which has one thread: it does all parts.
#include "engine/simulator/pool.hpp"

namespace ge {

int available_threads() {
  return 1;
}
void run_parts(int64_t parts, int, PartFunction fn, void* context) {
  for (int64_t part = 0; part < parts; ++part) fn(context, part, 0);
}
/// Runs nothing and returns false, since a module has one thread: the caller does the work alone.
bool run_crew(int, PartFunction, void*) {
  return false;
}
void CrewBarrier::meet() {}

}  // namespace ge
