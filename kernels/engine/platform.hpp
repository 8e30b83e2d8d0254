// What differs between compilers and machines, as a handful of macros: the only file besides the executors that asks
// which compiler runs. Everything above it says GE_FN and is compiled for both.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define GE_FN __host__ __device__ __forceinline__
#define GE_NOINLINE __host__ __device__ __noinline__
#else
#define GE_FN inline __attribute__((always_inline))
#define GE_NOINLINE __attribute__((noinline))
#endif

// Iterations of the following loop are independent: the engine's contract says so and cpu/shuffled checks it.
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

// Cheap invariants, in debug and test builds, on both machines.
#if defined(GE_CHECKED)
#include <cassert>
#define GE_ASSERT(condition) assert(condition)
#else
#define GE_ASSERT(condition) ((void)0)
#endif
