#include "ptx/run_text.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>

#include "ptx/machine.hpp"

const char* ge_ptx_run_text(const char* text, const char* kernel, unsigned threads,
                            const void* const* params, size_t param_count, void* memory,
                            size_t bytes) {
  using namespace ge::ptx;
  static thread_local std::string why;
  try {
    Program program{std::string(text)};
    Kernel* const found = program.kernel(kernel);
    if (found == nullptr) throw Fault(std::string("no kernel ") + kernel);
    if (found->param_bytes != int64_t(param_count * sizeof *params))
      throw Fault(std::string("other parameters than those of ") + kernel);
    Machine machine(Settings{});
    machine.memory.add(memory, int64_t(bytes), true, "memory");
    program.for_each_variable([&](const Variable& v, char* at) {
      machine.memory.add(at, v.bytes, v.space != "const", v.name);
    });
    Launch launch;
    launch.block.x = threads;
    machine.run(*found, launch, reinterpret_cast<const char*>(params));
    return nullptr;
  } catch (const std::exception& problem) {
    why = problem.what();
    return why.c_str();
  }
}
