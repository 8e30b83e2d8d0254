// The code of objects that are loaded: what their host code registers before main, or when a module
// is opened. PTX is read when a kernel or a variable of it is first asked for.
#pragma once

#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ptx/instruction.hpp"
#include "ptx/runtime/errors.hpp"
#include "ptx/runtime/fat_binary.hpp"

namespace ge::ptx {

struct Runtime;

/// A fat binary that was registered. It outlives its object, whose counters are reported later.
struct Binary {
  FatBinary parts;
  std::string object;                          // file name of the shared object
  bool is_registered = true;                   // the object is loaded
  std::map<std::string, Resources> resources;  // by kernel, from machine code for this device
  std::shared_ptr<Program> program;            // null until it is read
  std::map<std::string, Kernel*> kernels;      // of the program, as far as they were asked for
  std::optional<Refusal> problem;              // why it cannot be
};

/// What a host function stands for.
struct Entry {
  Binary* binary;
  std::string name;
  Kernel* kernel = nullptr;                   // decoded
  int64_t dynamic_limit = int64_t{48} << 10;  // bytes of dynamic shared memory
};
/// What a host variable stands for.
struct Symbol {
  Binary* binary;
  std::string name;
  size_t bytes;
};
struct Loaded {
  std::vector<std::unique_ptr<Binary>> binaries;
  std::map<const void*, Entry> entries;
  std::map<const void*, Symbol> symbols;
};

/// The program of a binary; throws a Refusal. It may be replaced by forget_programs(): work that is
/// captured keeps its own.
Program& program_of(Runtime& runtime, Binary& binary);
/// The kernel of a host function, decoded; throws a Refusal. Loading one is a call that captures
/// forbid.
Entry& entry_of(Runtime& runtime, const void* function);
/// Registers of a thread; from the machine code beside the PTX, else the runtime's setting.
int registers_of(const Runtime& runtime, const Binary& binary, const std::string& kernel);
/// Address of a variable of the device; throws a Refusal where the range is not in it.
char* address_of(Runtime& runtime, const void* symbol, size_t offset, size_t bytes);
/// Forgets all programs with their counters: they are read again when they are asked for.
void forget_programs(Runtime& runtime);

}  // namespace ge::ptx
