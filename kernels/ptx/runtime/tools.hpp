// C functions for tests and tools, which reach them through the shared library (ctypes). All of
// them may be called at any time, from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

// ---- settings, by name: `shuffle`, `poison`, `races`, `counts` and `limit` of ge::ptx::Settings;
// `registers`, of a thread where no machine code says how many; `memory`, bytes of the device;
// `shared`, bytes of shared memory that a block may ask for; `multiprocessors`, their number. With
// less shared memory the engine chooses kernels whose scratch memory lies in a slab of global
// memory, and with fewer multiprocessors their blocks stride over the worlds.

/// 0, or -1: there is no such setting.
int ge_ptx_set(const char* name, uint64_t value);
/// 0 too where there is no such setting.
uint64_t ge_ptx_get(const char* name);

// ---- counters, see report.hpp

/// Copies as much of the report as there is room for, and a zero; returns the bytes that it needs.
size_t ge_ptx_report(char* to, size_t room);
/// 0, or -1: the file cannot be written.
int ge_ptx_write_report(const char* path);
/// Instructions that some lane has executed since the counters were cleared.
uint64_t ge_ptx_executed(void);
/// Calls of a function of CUDA's runtime, by its name, since the counters were cleared. Functions
/// that are another one with fewer arguments count as that one; nodes of a graph, which a launch of
/// the graph runs, are no calls.
uint64_t ge_ptx_calls(const char* name);
/// Copies the names of all functions that were called, each with a line's end, as far as there is
/// room, and a zero; returns the bytes that it needs.
size_t ge_ptx_called(char* to, size_t room);
void ge_ptx_clear_counts(void);

// ---- planted faults: PTX is changed when it is read, which is when a kernel of its object is
// first asked for; ge_ptx_reload lets objects that were read be read again

/// Replaces matches of a regular expression (see edits.hpp); `nth` from 0, -1: all. Several edits
/// follow one another. 0, or -1: the expression is wrong.
int ge_ptx_edit(const char* pattern, const char* replacement, int64_t nth);
/// Calls a function with every text; it returns a new one, or null. Null instead of a function ends
/// that.
void ge_ptx_edit_with(const char* (*edit)(const char* text, void* context), void* context);
void ge_ptx_clear_edits(void);
/// Places that were changed since the edits were cleared.
uint64_t ge_ptx_edited(void);
/// Forgets what was read, with its counters and the values of its variables.
void ge_ptx_reload(void);

// ---- faults

/// The fault with which every call fails, all of its lines; null: there was none.
const char* ge_ptx_fault(void);
/// Lets calls succeed again; memory stays as the kernel has left it.
void ge_ptx_forget_fault(void);

}  // extern "C"
