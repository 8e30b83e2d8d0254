// Counters as JSON, for tools that show what a step costs and which instructions no test has run:
//
//   {"format": 1,
//    "columns": ["line", "file", "source_line", "opcode", "class", "warps", "lanes", "sectors",
//                "waves", "splits"],
//    "files": ["", "engine/cuda/rows.hpp", ...], "opcodes": ["", "ld.global.f32", ...],
//    "classes": ["integer", ...],
//    "kernels": [
//      {"name": "_Z4stepv", "object": "cartpole.cuda.so", "registers": 64, "shared_bytes": 0,
//       "local_bytes": 0, "launches": 3, "blocks": 12, "threads": 3072, "functions": [
//         {"name": "_Z4stepv", "rows": [[12, 1, 80, 1, 9, 96, 3072, 384, 0, 0], ...]}]}]}
//
// A row is an instruction that exists, run or not. `line` is of the PTX; `file`, `opcode` and
// `class` are indices into the lists above, file 0: unknown; the rest are sums over all launches
// since the counters were cleared. A kernel that has not been asked for has no functions. The `ret`
// that the decoder adds at the end of each function has no row.
#pragma once

#include <string>

namespace ge::ptx {

struct Runtime;

/// Names the file that is written at the end of the process; %p in it is the process's number.
/// Where it is set, instructions are counted. A process that ends by _exit, as workers of Python's
/// multiprocessing do, writes none.
inline constexpr const char* kReportVariable = "GPU_ENVS_PTX_REPORT";

std::string report_of(const Runtime& runtime);
/// False: the file cannot be written.
bool write_report(const Runtime& runtime, const std::string& path);
void write_report_of_environment(const Runtime& runtime);
/// Instructions that some lane has executed since the counters were cleared.
uint64_t executed_of(const Runtime& runtime);
/// Those of instructions, launches and calls.
void clear_counts(Runtime& runtime);

}  // namespace ge::ptx
