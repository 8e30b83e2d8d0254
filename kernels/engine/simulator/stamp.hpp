// The stamp of a binary: what the engine and a module must share before one may call the other.
// Each is compiled from the same text with its own flags, so no build tool has to be believed.
//   GE_ENGINE_HASH  hash of the engine's headers, and
//   GE_TARGET       machine and instruction set, such as "cpu_v4": both from the build
//   GE_CUDA_RUNTIME major version of the CUDA runtime, for CUDA alone: from the build too
//   then            the C++ library, whose types cross the boundary, and what changes layouts
#pragma once

#include <version>

#include "engine/base/platform.hpp"

#define GE_TEXT_(x) #x
#define GE_TEXT(x) GE_TEXT_(x)

#if defined(_LIBCPP_ABI_VERSION)
#define GE_STAMP_LIBRARY "libc++ " GE_TEXT(_LIBCPP_ABI_VERSION)
#elif defined(_GLIBCXX_USE_CXX11_ABI)
#define GE_STAMP_LIBRARY "libstdc++ " GE_TEXT(_GLIBCXX_USE_CXX11_ABI)
#else
#define GE_STAMP_LIBRARY "unknown"
#endif
#if defined(_GLIBCXX_DEBUG)
// Containers of another size: vectors of the two builds are incompatible.
#define GE_STAMP_CONTAINERS " checked"
#else
#define GE_STAMP_CONTAINERS ""
#endif
// lint: allow machine-test: a stamp says which switches a binary was compiled with
#if defined(GE_BLOCK)
#define GE_STAMP_BLOCK " block" GE_TEXT(GE_BLOCK)
#else
#define GE_STAMP_BLOCK ""
#endif
#if defined(GE_CHECKED)
#define GE_STAMP_CHECKED " asserts"
#else
#define GE_STAMP_CHECKED ""
#endif
#if defined(__SANITIZE_ADDRESS__)
#define GE_STAMP_SANITIZER " address"
#elif defined(__SANITIZE_THREAD__)
#define GE_STAMP_SANITIZER " thread"
#else
#define GE_STAMP_SANITIZER ""
#endif

// lint: allow machine-test: the same
#if defined(GE_CUDA_RUNTIME)
#define GE_STAMP_CUDA " runtime " GE_TEXT(GE_CUDA_RUNTIME)
#else
#define GE_STAMP_CUDA ""
#endif

#define GE_STAMP                                        \
  "engine " GE_ENGINE_HASH ", " GE_TARGET GE_STAMP_CUDA \
  ", " GE_STAMP_LIBRARY GE_STAMP_CONTAINERS GE_STAMP_BLOCK GE_STAMP_CHECKED GE_STAMP_SANITIZER
