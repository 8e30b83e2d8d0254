// Loads and stores of data that a launch touches once: a GPU's L2 cache evicts their lines first,
// so that data the next step needs again stays. Plain loads and stores elsewhere.
#pragma once

#include "engine/base/platform.hpp"

namespace ge {

#if defined(__CUDA_ARCH__)

namespace detail {

// Volatile keeps stores to one address in order among themselves; code that writes an address by
// store_once, and accesses it in another way, needs a barrier or before_once() between.
GE_FN void store_word(void* at, uint8_t value) {
  asm volatile("st.global.cs.u8 [%0], %1;" ::"l"(at), "r"(uint32_t(value)));
}
GE_FN void store_word(void* at, uint16_t value) {
  asm volatile("st.global.cs.u16 [%0], %1;" ::"l"(at), "h"(value));
}
GE_FN void store_word(void* at, uint32_t value) {
  asm volatile("st.global.cs.u32 [%0], %1;" ::"l"(at), "r"(value));
}
GE_FN void store_word(void* at, uint64_t value) {
  asm volatile("st.global.cs.u64 [%0], %1;" ::"l"(at), "l"(value));
}
GE_FN void store_word(void* at, uint4 value) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(value.x), "r"(value.y),
               "r"(value.z), "r"(value.w));
}
GE_FN void load_word(const void* at, uint8_t& value) {
  uint32_t word;
  asm("ld.global.cs.u8 %0, [%1];" : "=r"(word) : "l"(at));
  value = uint8_t(word);
}
GE_FN void load_word(const void* at, uint16_t& value) {
  asm("ld.global.cs.u16 %0, [%1];" : "=h"(value) : "l"(at));
}
GE_FN void load_word(const void* at, uint32_t& value) {
  asm("ld.global.cs.u32 %0, [%1];" : "=r"(value) : "l"(at));
}
GE_FN void load_word(const void* at, uint64_t& value) {
  asm("ld.global.cs.u64 %0, [%1];" : "=l"(value) : "l"(at));
}
template <int Bytes>
struct OnceWord;
template <>
struct OnceWord<1> {
  using type = uint8_t;
};
template <>
struct OnceWord<2> {
  using type = uint16_t;
};
template <>
struct OnceWord<4> {
  using type = uint32_t;
};
template <>
struct OnceWord<8> {
  using type = uint64_t;
};
template <>
struct OnceWord<16> {
  using type = uint4;
};

}  // namespace detail

/// Stores a value of 1, 2, 4, 8 or 16 bytes to an address that is a multiple of them.
template <class T>
GE_FN void store_once(void* at, const T& value) {
  detail::store_word(at, __builtin_bit_cast(typename detail::OnceWord<sizeof(T)>::type, value));
}
/// Loads one of at most 8 bytes, which nothing of this launch writes.
template <class T>
GE_FN T load_once(const T* at) {
  typename detail::OnceWord<sizeof(T)>::type word;
  detail::load_word(at, word);
  return __builtin_bit_cast(T, word);
}

/// Orders a lane's earlier reads and writes before its store_once.
GE_FN void before_once() {
  asm volatile("" ::: "memory");
}

#else

GE_FN void before_once() {}
template <class T>
GE_FN void store_once(void* at, const T& value) {
  *static_cast<T*>(at) = value;
}
template <class T>
GE_FN T load_once(const T* at) {
  return *at;
}

#endif

}  // namespace ge
