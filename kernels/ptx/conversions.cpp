// cvt (9.7.9.21). A source's register may be wider than the type that is read of it.
#include <cmath>
#include <limits>

#include "ptx/lanes.hpp"

namespace ge::ptx {

namespace {

enum Rounding : uint8_t { kToZero, kDown, kUp, kToEven, kNoRounding };

Rounding rounding_of(const Statement& s) {
  if (s.has("rzi")) return kToZero;
  if (s.has("rmi")) return kDown;
  if (s.has("rpi")) return kUp;
  return s.has("rni") ? kToEven : kNoRounding;
}

template <class A>
A source(const Context& x, const Instruction& i, int lane) {
  if (i.wide_address) return A(get<uint64_t>(x, i.a, lane));  // here: a wide source register
  return get<A>(x, i.a, lane);
}

/// Narrow results fill a wider register by the sign of their type.
template <class D>
void put_extended(Context& x, const Instruction& i, int lane, D value) {
  if (i.wide_result || i.size == 4)
    put_whole(x, i, lane, uint64_t(int64_t(value)));
  else
    put<uint32_t>(x, i.d, lane, uint16_t(value));
}

template <class D, class A>
void whole_to_whole(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) { put_extended(x, i, lane, D(source<A>(x, i, lane))); });
}
template <class D, class A>
void whole_saturated(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) {
    const __int128 given = source<A>(x, i, lane);
    const __int128 low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
    put_extended(x, i, lane, D(given < low ? low : given > high ? high : given));
  });
}
template <class D, class A>
void whole_to_real(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) { put<D>(x, i.d, lane, D(source<A>(x, i, lane))); });
}

template <class A>
A rounded(A a, uint8_t how) {
  switch (how) {
    case kToZero:
      return std::trunc(a);
    case kDown:
      return std::floor(a);
    case kUp:
      return std::ceil(a);
    default:
      return std::nearbyint(a);
  }
}
/// Clamped to the range of the result. NaN becomes 0; where either side has 64 bits, the highest bit
/// alone.
template <class D, class A>
void real_to_whole(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) {
    const A a = rounded(get<A>(x, i.a, lane), i.variant);
    constexpr A low = A(std::numeric_limits<D>::min());
    const A above = std::ldexp(A(1), std::numeric_limits<D>::digits);
    D made;
    if (a != a)
      made = sizeof(D) == 8 || sizeof(A) == 8 ? D(uint64_t{1} << (8 * sizeof(D) - 1)) : D(0);
    else
      made = a < low      ? std::numeric_limits<D>::min()
             : a >= above ? std::numeric_limits<D>::max()
                          : D(a);
    put_extended(x, i, lane, made);
  });
}
template <class T>
void real_to_integral(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) { put<T>(x, i.d, lane, rounded(get<T>(x, i.a, lane), i.variant)); });
}
template <class D, class A>
void real_to_real(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) { put<D>(x, i.d, lane, D(get<A>(x, i.a, lane))); });
}

/// Calls f with a value of the integer type of this name.
template <class F>
Handler with_whole(const std::string& type, const F& f) {
  if (type == "s8") return f(int8_t{});
  if (type == "s16") return f(int16_t{});
  if (type == "s32") return f(int32_t{});
  if (type == "s64") return f(int64_t{});
  if (type == "u8" || type == "b8") return f(uint8_t{});
  if (type == "u16" || type == "b16") return f(uint16_t{});
  if (type == "u32" || type == "b32") return f(uint32_t{});
  if (type == "u64" || type == "b64") return f(uint64_t{});
  return nullptr;
}

Handler from_real(const Statement& s, const std::string& to, const std::string& from,
                  Instruction& made) {
  made.variant = rounding_of(s);
  const bool rounds = made.variant != kNoRounding;
  if (to[0] != 'f') {
    if (!rounds) return nullptr;
    return with_whole(to, [&](auto d) -> Handler {
      if (from == "f32") return &real_to_whole<decltype(d), float>;
      return from == "f64" ? &real_to_whole<decltype(d), double> : nullptr;
    });
  }
  if (s.has("sat")) return nullptr;
  if (to == from && rounds)
    return to == "f32" ? &real_to_integral<float> : &real_to_integral<double>;
  if (to == "f64" && from == "f32" && !rounds) return &real_to_real<double, float>;
  if (to == "f32" && from == "f64" && s.has("rn")) return &real_to_real<float, double>;
  return nullptr;
}

}  // namespace

Handler conversion_of(const Statement& s, const std::string& to, const std::string& from,
                      int source_bytes, Instruction& made) {
  if (from[0] == 'f') return from_real(s, to, from, made);
  made.wide_address = source_bytes == 8;
  if (to[0] == 'f') {
    if (!s.has("rn") || s.has("sat")) return nullptr;
    return with_whole(from, [&](auto a) -> Handler {
      if (to == "f32") return &whole_to_real<float, decltype(a)>;
      return to == "f64" ? &whole_to_real<double, decltype(a)> : nullptr;
    });
  }
  return with_whole(to, [&](auto d) {
    return with_whole(from, [&](auto a) -> Handler {
      if (s.has("sat")) return &whole_saturated<decltype(d), decltype(a)>;
      return &whole_to_whole<decltype(d), decltype(a)>;
    });
  });
}

}  // namespace ge::ptx
