// See registration.hpp.
#include "ptx/runtime/registration.hpp"

#include <dlfcn.h>

#include <utility>

#include "ptx/runtime/device.hpp"
#include "ptx/runtime/runtime.hpp"

namespace ge::ptx {
namespace {

std::string object_of(const void* address) {
  Dl_info found{};
  if (dladdr(address, &found) == 0 || found.dli_fname == nullptr) return "an object";
  const std::string path = found.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

const FatBinary::Part& chosen(const Binary& binary) {
  const FatBinary& parts = binary.parts;
  if (const FatBinary::Part* const best = parts.best(kArchitecture)) return *best;
  if (!parts.ptx.empty())
    throw Refusal{cudaErrorNoKernelImageForDevice, binary.object + " has no PTX for 9.0"};
  throw Refusal{cudaErrorInvalidKernelImage,
                binary.object + " has no PTX that can be read" +
                    (parts.has_compressed ? ", it is compressed" : "") +
                    ": build with GPU_ENVS_CUDA_RUNTIME=interpreted, or give nvcc "
                    "GPU_ENVS_CUDA_ARCHS=ptx and --compress-mode=none"};
}
void read(Runtime& runtime, Binary& binary) {
  const std::string text = runtime.edits.apply(chosen(binary).text);
  try {
    binary.program = std::make_shared<Program>(text);
  } catch (const std::runtime_error& wrong) {
    throw Refusal{cudaErrorInvalidPtx, "PTX of " + binary.object + ": " + wrong.what()};
  }
  binary.program->for_each_variable([&](const Variable& variable, const char* at) {
    runtime.machine.memory.add(at, variable.bytes, variable.space != "const", variable.name);
  });
  for (const FatBinary::Part& part : binary.parts.machine_code)
    if (part.architecture == kArchitecture) binary.resources = resources_of(part.text);
}
void forget(Runtime& runtime, Binary& binary) {
  if (binary.program != nullptr)
    binary.program->for_each_variable(
        [&](const Variable&, const char* at) { runtime.machine.memory.remove(at); });
  for (auto& [function, entry] : runtime.loaded.entries)
    if (entry.binary == &binary) entry.kernel = nullptr;
}

}  // namespace

Program& program_of(Runtime& runtime, Binary& binary) {
  if (binary.problem.has_value()) throw *binary.problem;
  if (binary.program == nullptr) {
    try {
      read(runtime, binary);
    } catch (const Refusal& problem) {
      binary.problem = problem;
      throw;
    }
  }
  return *binary.program;
}

Entry& entry_of(Runtime& runtime, const void* function) {
  const auto found = runtime.loaded.entries.find(function);
  if (found == runtime.loaded.entries.end()) throw Refusal{cudaErrorInvalidDeviceFunction, {}};
  Entry& entry = found->second;
  if (entry.kernel != nullptr) return entry;
  check(runtime.streams.check_unsafe());
  Program& program = program_of(runtime, *entry.binary);
  try {
    entry.kernel = program.kernel(entry.name);
  } catch (const std::runtime_error& wrong) {
    throw Refusal{cudaErrorInvalidPtx, entry.name + ": " + wrong.what()};
  }
  if (entry.kernel == nullptr)
    throw Refusal{cudaErrorInvalidDeviceFunction,
                  "PTX of " + entry.binary->object + " has no kernel " + entry.name};
  entry.binary->kernels[entry.name] = entry.kernel;
  return entry;
}

int registers_of(const Runtime& runtime, const Binary& binary, const std::string& kernel) {
  const auto found = binary.resources.find(kernel);
  const bool is_known = found != binary.resources.end() && found->second.registers > 0;
  return is_known ? found->second.registers : runtime.registers;
}

char* address_of(Runtime& runtime, const void* symbol, size_t offset, size_t bytes) {
  const auto found = runtime.loaded.symbols.find(symbol);
  if (found == runtime.loaded.symbols.end()) throw Refusal{cudaErrorInvalidSymbol, {}};
  const Symbol& variable = found->second;
  char* const at = program_of(runtime, *variable.binary).address_of(variable.name);
  if (at == nullptr)
    throw Refusal{cudaErrorInvalidSymbol,
                  "PTX of " + variable.binary->object + " has no variable " + variable.name};
  if (offset > variable.bytes || bytes > variable.bytes - offset)
    throw Refusal{cudaErrorInvalidValue,
                  variable.name + " has " + std::to_string(variable.bytes) + " bytes"};
  return at + offset;
}

void forget_programs(Runtime& runtime) {
  for (const auto& binary : runtime.loaded.binaries) {
    forget(runtime, *binary);
    if (!binary->is_registered) continue;
    binary->kernels.clear();
    binary->program = nullptr;
    binary->problem.reset();
  }
}

}  // namespace ge::ptx

using namespace ge::ptx;

// ---- what the host code of nvcc calls

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* function, char* device_function,
                            const char* name, int thread_limit, uint3* thread, uint3* block,
                            dim3* block_shape, dim3* grid_shape, int* warp_size);
void __cudaRegisterVar(void** handle, char* variable, char* device_address, const char* name,
                       int is_extern, size_t bytes, int is_constant, int is_global);

void** __cudaRegisterFatBinary(void* wrapper) {
  const Lock lock;
  auto made = std::make_unique<Binary>();
  made->parts = read_fat_binary(wrapper);
  made->object = object_of(wrapper);
  Loaded& all = Runtime::get().loaded;
  all.binaries.push_back(std::move(made));
  return reinterpret_cast<void**>(all.binaries.back().get());
}
void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  const Lock lock;
  Runtime& runtime = Runtime::get();
  auto* const binary = reinterpret_cast<Binary*>(handle);
  forget(runtime, *binary);
  const auto is_own = [&](const auto& one) { return one.second.binary == binary; };
  std::erase_if(runtime.loaded.entries, is_own);
  std::erase_if(runtime.loaded.symbols, is_own);
  binary->is_registered = false;
  binary->parts = {};  // the object may be unloaded
}

// lint: allow parameters: NVIDIA's
void __cudaRegisterFunction(void** handle, const char* function, char*, const char* name, int,
                            uint3*, uint3*, dim3*, dim3*, int*) {
  const Lock lock;
  Runtime::get().loaded.entries[function] = Entry{reinterpret_cast<Binary*>(handle), name};
}
void __cudaRegisterVar(void** handle, char* variable, char*, const char* name, int, size_t bytes,
                       int, int) {
  const Lock lock;
  Runtime::get().loaded.symbols[variable] = {reinterpret_cast<Binary*>(handle), name, bytes};
}

}  // extern "C"
