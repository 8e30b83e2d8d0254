// The one device: an H100 in its limits, and the interpreter in its name. Numbers are those of the
// table "Technical Specifications per Compute Capability" of the "CUDA C++ Programming Guide".
#pragma once

#include <cstdint>

namespace ge::ptx {

inline constexpr const char* kDeviceName = "interpreted PTX";
inline constexpr int kArchitecture = 90, kMultiprocessors = 132, kWarpThreads = 32;

// Limits of a launch.
inline constexpr unsigned kMostThreads = 1024, kMostBlockZ = 64, kMostGridX = 0x7fffffff,
                          kMostGridYZ = 65535;
inline constexpr int kMostRegisters = 255;  // of a thread

// Bytes of shared memory: of a block that asks for no more, of one that does, what the system keeps
// of each block, of a multiprocessor.
inline constexpr int64_t kPlainShared = 48 << 10, kMostShared = 227 << 10, kKeptShared = 1 << 10,
                         kAllShared = 228 << 10;

// What the blocks of a multiprocessor have together.
inline constexpr int kAllRegisters = 64 << 10, kAllThreads = 2048, kMostBlocks = 32;
inline constexpr int64_t kConstantBytes = 64 << 10, kCacheBytes = 50 << 20;

/// Blocks of a shape that a multiprocessor holds at once. Registers are given to a warp in pieces
/// of 256, by each of four schedulers; shared memory to a block in pieces of 128 bytes.
int resident_blocks(int threads, int registers, int64_t shared_bytes);

}  // namespace ge::ptx
