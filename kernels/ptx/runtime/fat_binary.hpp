// What nvcc puts into an object for a GPU: a fat binary, a list of parts that are PTX or machine
// code for one architecture each. NVIDIA does not document the format; what is read here was
// compared with what nvcc 13.0 writes. Machine code is not run: it only says how many registers
// ptxas gave to a kernel.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ge::ptx {

/// What machine code says of a kernel.
struct Resources {
  int registers = 0;
  int64_t local_bytes = 0;  // of a thread: its stack
};

struct FatBinary {
  struct Part {
    int architecture;       // 90: compute capability 9.0
    std::string_view text;  // as long as the object is loaded
  };
  std::vector<Part> ptx, machine_code;
  bool has_compressed = false;  // parts that were left out

  /// The PTX of the highest architecture that is not above the device's; null: there is none.
  const Part* best(int device) const;
};

/// Reads the structure that host code registers. A part that is cut off ends the list.
FatBinary read_fat_binary(const void* wrapper);

/// Resources of the kernels in a cubin, an ELF file, by name. Empty where it is not one.
std::map<std::string, Resources> resources_of(std::string_view cubin);

}  // namespace ge::ptx
