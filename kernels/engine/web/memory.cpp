// Memory of a module for web pages. It grows up to GE_WEB_MEMORY bytes, a limit that the build
// gives to the compiler and to the linker.
#include "engine/simulator/memory.hpp"

#include "engine/base/platform_web.hpp"

namespace ge {

int64_t total_memory() {
  return GE_WEB_MEMORY;
}
/// Bytes by which the module may still grow. Memory that it has taken and uses no longer is left
/// out.
int64_t available_memory() {
  return total_memory() - memory_taken();
}

}  // namespace ge
