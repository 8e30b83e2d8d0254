// Memory of a page's module: one linear memory that grows up to a limit, which the linker is told
// too (GE_WEB_MEMORY, from the build).
#include "engine/simulator/memory.hpp"

#include "engine/base/platform_web.hpp"

namespace ge {

int64_t total_memory() {
  return GE_WEB_MEMORY;
}
/// Memory that the module never had: what it has and gave back is not counted.
int64_t available_memory() {
  return total_memory() - memory_taken();
}

}  // namespace ge
