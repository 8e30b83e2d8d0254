// What a module for web pages asks of its machine: how much memory it has taken; and the mark of
// functions that a page may call.
#pragma once

#include <cstdint>

#if defined(__wasm__)
/// Before a function that a page calls by its name.
#define GE_PAGE_CALLS(name) extern "C" __attribute__((export_name(#name), used))
#else
#define GE_PAGE_CALLS(name) extern "C"
#endif

namespace ge {

/// Bytes that a module for web pages has taken from its page. It never gives memory back.
inline int64_t memory_taken() {
#if defined(__wasm__)
  constexpr int64_t kPage = 65536;
  return static_cast<int64_t>(__builtin_wasm_memory_size(0)) * kPage;
#else
  return 0;
#endif
}

}  // namespace ge
