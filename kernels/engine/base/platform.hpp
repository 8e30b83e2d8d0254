// What differs between compilers and machines, as a handful of macros and constants. Together with
// platform_numbers.hpp (one instruction each), platform_lanes.hpp (what lanes that run at once do
// to one another) and platform_compress.hpp (vectors) the only file besides the executors that asks
// which machine or compiler it is compiled for; scripts/house/lint_kernels.py holds it to that.
// Everything above the engine says GE_FN and is compiled for all.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define GE_FN __host__ __device__ __forceinline__
#define GE_NOINLINE __host__ __device__ __noinline__
#elif defined(GE_CALLS)
// Builds for tests only need no speed, and forced inlining of whole phases compiles for minutes.
#define GE_FN inline
#define GE_NOINLINE
#else
#define GE_FN inline __attribute__((always_inline))
#define GE_NOINLINE __attribute__((noinline))
#endif

// Before a function that runs once per simulator or message, and must be a template: it is compiled
// for size, once, wherever it is called from. What need not be a template belongs in a .cpp.
#define GE_COLD __attribute__((cold, noinline))

// Before a class whose virtual table or type information several shared objects need: one of them
// throws what another catches, or derives from it.
#define GE_API __attribute__((visibility("default")))

// Before a function template that calls its argument, which may be for the host only or for both
// machines.
#if defined(__CUDACC__)
#define GE_EITHER_MACHINE _Pragma("nv_exec_check_disable")
#else
#define GE_EITHER_MACHINE
#endif

// Behind a lambda's parameters: it is inlined into its loop whatever its size, or the loop would
// not vectorise.
#if defined(GE_CALLS)
#define GE_LAMBDA
#else
#define GE_LAMBDA __attribute__((always_inline))
#endif

// Iterations of the following loop are independent: the engine's contract says so and the shuffled
// executor checks it.
#if defined(__CUDA_ARCH__)
#define GE_INDEPENDENT
#elif defined(__clang__)
#define GE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define GE_INDEPENDENT _Pragma("GCC ivdep")
#endif

#if defined(__clang__) || defined(__CUDACC__)
#define GE_UNROLL _Pragma("unroll")
#else
#define GE_UNROLL _Pragma("GCC unroll 64")
#endif

// Keeps the following loop rolled: its body holds whole stages, and nvcc unrolls every loop whose
// count it knows.
#if defined(__CUDACC__)
#define GE_NO_UNROLL _Pragma("unroll 1")
#else
#define GE_NO_UNROLL
#endif

// Keeps the following loop over the lanes of a pack rolled: g++ 12 makes one wide instruction of
// the loop, but one instruction per lane of an unrolled one.
#if defined(__clang__) || defined(__CUDACC__)
#define GE_LANES_LOOP
#else
#define GE_LANES_LOOP _Pragma("GCC unroll 1")
#endif

// Cheap invariants, in debug and test builds, on both machines.
#if defined(GE_ASSERT)  // the tests' executors throw instead
#elif defined(GE_CHECKED)
#include <cassert>
#define GE_ASSERT(condition) assert(condition)
#else
#define GE_ASSERT(condition) ((void)0)
#endif

// The tests' build of the CUDA executor for emulated lanes learns here which lane touches which
// word of a world, so that it can name the stages between which a barrier is missing
// (engine/checking/lanes_emulated.hpp).
#if defined(GE_CUDA_LAYOUT) && !defined(__CUDACC__)
namespace ge {
void watch(const void* address, int bytes, bool written);
}
#define GE_WATCH(address, bytes, written) ::ge::watch(address, bytes, written)
#else
#define GE_WATCH(address, bytes, written) ((void)0)
#endif

// Whether rules run on lanes, a GPU's or emulated ones, each with its own scalars; else in
// vectorised loops over the worlds of a block. GE_CPU_OR_LANES chooses between two things by it.
#if defined(__CUDACC__) || defined(GE_CUDA_LAYOUT)
#define GE_LANES true
#define GE_CPU_OR_LANES(cpu, lanes) lanes
#else
#define GE_LANES false
#define GE_CPU_OR_LANES(cpu, lanes) cpu
#endif

namespace ge {

inline constexpr bool kOnLanes = GE_LANES;

/// Worlds per interleaved block, where a build is for one number of them; 0: environment and
/// machine decide.
#if defined(GE_BLOCK)
inline constexpr int kBlockOfBuild = GE_BLOCK;
#else
inline constexpr int kBlockOfBuild = 0;
#endif

/// Floats of a register. Of wider vectors g++ 12 compares and selects element by element, 15 times
/// slower; clang splits them, and WebAssembly is 1.7 times as fast with two registers as with one.
#if defined(__AVX512F__)
inline constexpr int kVectorFloats = 16;
#elif defined(__AVX2__) || defined(__wasm_simd128__)
inline constexpr int kVectorFloats = 8;
#else
inline constexpr int kVectorFloats = 4;
#endif

/// Whether a vector of kVectorFloats words has a set bit. g++ would take it apart, word by word:
/// some thirty instructions for one or two.
template <class Words>
GE_FN bool any_bit(const Words& words) {
#if defined(__AVX512F__) && !defined(__clang__)
  return __builtin_ia32_ptestmd512(words, words, 0xffff) != 0;
#elif defined(__AVX2__) && !defined(__clang__)
  typedef long long Wide __attribute__((vector_size(32)));
  return __builtin_ia32_ptestz256(Wide(words), Wide(words)) == 0;
#else
  int32_t any = 0;
  for (int k = 0; k < kVectorFloats; ++k) any |= words[k];
  return any != 0;
#endif
}

/// Whether a word can be loaded from an unaligned address at once; a GPU would load it byte by
/// byte.
#if defined(__CUDA_ARCH__)
inline constexpr bool kLoadsAnywhere = false;
#else
inline constexpr bool kLoadsAnywhere = true;
#endif

/// Whether a graph reads actions in the caller's element type. On a host they have become the
/// rules' own before it runs, in the pass that judges them (host.hpp).
inline constexpr bool kReadsCallersType = kOnLanes;

/// Tells the processor that this thread spins.
inline void relax_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace ge
