// Errors as CUDA's runtime keeps them: the last one of each thread, with words of our own where a
// call was refused for a reason that its code does not say; and the fault of a kernel, with which
// every later call fails.
#pragma once

#include <cuda_runtime.h>

#include <string>

namespace ge::ptx {

/// Ends a call with an error. Without text CUDA's name of the code has to do.
struct Refusal {
  cudaError_t code;
  std::string text;
};

/// Refuses a call unless it is a success.
inline void check(cudaError_t code) {
  if (code != cudaSuccess) throw Refusal{code, {}};
}

/// Notes the result of a call in the calling thread, and returns it.
cudaError_t note(cudaError_t code, const std::string& text);

/// Prints the fault of a kernel. From now on every call fails with its first line.
[[noreturn]] void lose(const std::string& fault);
/// The fault as it was printed; null: there was none.
const char* fault_of_process();
/// Lets calls succeed again. For tests and tools; what the kernel has written stays.
void forget_fault();

}  // namespace ge::ptx
