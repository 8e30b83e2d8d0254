// Runs a kernel: block after block, each warp from one barrier to the next. A warp has one mask and
// a stack of the ways that its lanes have gone; lanes meet where all ways have come together again
// (the immediate post-dominator). That is stricter than a GPU since Volta: what waits for another
// lane of its own warp never ends here, and a collective whose mask names a lane that is elsewhere
// is a fault.
#pragma once

#include <cstdint>
#include <memory>

#include "ptx/instruction.hpp"
#include "ptx/lanes.hpp"
#include "ptx/memory.hpp"

namespace ge::ptx {

/// How kernels run. Each of these may be changed between launches.
struct Settings {
  bool counts = false;   // fill Code::counts
  bool races = false;    // look for races
  uint64_t shuffle = 0;  // seed of the order of blocks, warps and sides of branches; 0: their own
  uint32_t poison = 0xcdcdcdcd;        // what memory and registers hold that nobody wrote
  uint64_t limit = uint64_t(1) << 36;  // instructions of a warp in one launch

  /// As the variables GPU_ENVS_PTX_COUNT, _RACES, _SHUFFLE, _POISON and _LIMIT say.
  static Settings from_environment();
};

struct Extent {
  unsigned x = 1, y = 1, z = 1;
  uint64_t product() const { return uint64_t(x) * y * z; }
};
struct Launch {
  Extent grid, block;
  int64_t dynamic_shared = 0;
  bool is_dependent = false;  // may begin before the launch in front of it has ended
};

class Machine {
 public:
  explicit Machine(const Settings& chosen);
  ~Machine();

  Memory memory;  // what kernels may touch; a module's variables are added by who loads it
  Settings settings;

  /// Runs a kernel to its end. Its parameters lie as PTX lays them out (Kernel::params). Throws a
  /// Fault, which names function, line of PTX, line of source, block and warp.
  void run(Kernel& kernel, const Launch& launch, const char* params);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace ge::ptx
