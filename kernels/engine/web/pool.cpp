// The pool of a module for web pages: the one thread that there is does all parts.
#include "engine/simulator/pool.hpp"

namespace ge {

int available_threads() {
  return 1;
}
void run_parts(int64_t parts, int, PartFunction fn, void* context) {
  for (int64_t part = 0; part < parts; ++part) fn(context, part, 0);
}
/// As where the pool is busy: the caller does the work alone.
bool run_crew(int, PartFunction, void*) {
  return false;
}
void CrewBarrier::meet() {}

}  // namespace ge
