// Runs a kernel of a PTX text, for tests of what nvcc makes of a few lines (ctypes).
#pragma once

#include <cstddef>

extern "C" {

/// Runs one block of `threads` threads. The kernel's parameters are addresses into the memory, which
/// is all that it may touch besides the module's own variables. Returns null, or why it failed, which
/// is valid until the thread's next call.
const char* ge_ptx_run_text(const char* text, const char* kernel, unsigned threads,
                            const void* const* params, size_t param_count, void* memory,
                            size_t bytes);
}
