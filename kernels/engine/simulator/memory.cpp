// See memory.hpp: memory of a host.
#include "engine/simulator/memory.hpp"

#include <unistd.h>

#include <cstdio>

namespace ge {

/// MemAvailable, not MemFree: caches of files are given up when memory is asked for.
int64_t available_memory() {
  if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
    char line[128];
    long long kilobytes = -1;
    while (std::fgets(line, sizeof line, file) != nullptr)
      if (std::sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1) break;
    std::fclose(file);
    if (kilobytes >= 0) return int64_t(kilobytes) * 1024;
  }
  return total_memory();
}
int64_t total_memory() {
  return int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

}  // namespace ge
