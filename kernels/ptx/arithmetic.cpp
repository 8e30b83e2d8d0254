// Arithmetic, logic and shifts (9.7.1, 9.7.3, 9.7.8). Floats are rounded to nearest even,
// as this processor does; no handler flushes subnormals or contracts.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "ptx/lanes.hpp"

namespace ge::ptx {

namespace {

template <class T>
using Bits = std::make_unsigned_t<T>;  // wraps around
template <class T>
struct TwiceOf;
template <>
struct TwiceOf<int16_t> {
  using type = int32_t;
};
template <>
struct TwiceOf<uint16_t> {
  using type = uint32_t;
};
template <>
struct TwiceOf<int32_t> {
  using type = int64_t;
};
template <>
struct TwiceOf<uint32_t> {
  using type = uint64_t;
};
template <>
struct TwiceOf<int64_t> {
  using type = __int128;
};
template <>
struct TwiceOf<uint64_t> {
  using type = unsigned __int128;
};
template <class T>
using Twice = typename TwiceOf<T>::type;
template <class T>
inline constexpr uint32_t kBits = 8 * sizeof(T);

// ---- one operand after the other

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return T(Bits<T>(Bits<T>(a) + Bits<T>(b)));
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a - b;
    else
      return T(Bits<T>(Bits<T>(a) - Bits<T>(b)));
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return T(uint64_t(Bits<T>(a)) * uint64_t(Bits<T>(b)));
  }
};
struct MultiplyHigh {
  template <class T>
  T operator()(T a, T b) const {
    return T((Twice<T>(a) * Twice<T>(b)) >> kBits<T>);
  }
};
struct MultiplyWide {
  template <class T>
  Twice<T> operator()(T a, T b) const {
    return Twice<T>(a) * Twice<T>(b);
  }
};
struct MultiplyAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(Multiply{}(a, b), c);
  }
};
struct MultiplyAddHigh {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(MultiplyHigh{}(a, b), c);
  }
};
struct MultiplyAddWide {
  template <class T>
  Twice<T> operator()(T a, T b, Twice<T> c) const {
    return Add{}(MultiplyWide{}(a, b), c);
  }
};
struct Fused {
  template <class T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};
/// Whole numbers: by 0 the manual leaves the quotient open (9.7.1.8); the machine gives all ones.
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      return a / b;
    } else {
      if (b == 0) return T(-1);
      if (std::is_signed_v<T> && b == T(-1)) return Subtract{}(T(0), a);
      return T(a / b);
    }
  }
};
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == T(-1)) return 0;
    return T(a % b);
  }
};
/// The other operand where one is NaN; -0 is below +0 (9.7.3.11).
struct Least {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a) return b;
      if (b != b) return a;
      if (a == b) return std::signbit(a) ? a : b;
    }
    return a < b ? a : b;
  }
};
struct Greatest {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a != a) return b;
      if (b != b) return a;
      if (a == b) return std::signbit(a) ? b : a;
    }
    return a > b ? a : b;
  }
};
struct Negate {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>)
      return -a;
    else
      return Subtract{}(T(0), a);
  }
};
struct Absolute {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(a);
    else
      return a < 0 ? Subtract{}(T(0), a) : a;
  }
};
struct Root {
  template <class T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
struct Reciprocal {
  template <class T>
  T operator()(T a) const {
    return T(1) / a;
  }
};
/// b with the sign of a, bit by bit (9.7.3.2).
struct CopySign {
  template <class T>
  T operator()(T a, T b) const {
    constexpr T sign = T(T(1) << (kBits<T> - 1));
    return T((b & T(~sign)) | (a & sign));
  }
};
struct And {
  template <class T>
  T operator()(T a, T b) const {
    return T(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return T(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return T(a ^ b);
  }
};
struct Not {
  template <class T>
  T operator()(T a) const {
    return T(~a);
  }
};
struct IsZero {
  template <class T>
  T operator()(T a) const {
    return T(a == 0 ? 1 : 0);
  }
};
/// Shifts by the width or more leave zeros, or the sign (9.7.8.8, 9.7.8.9).
struct ShiftLeft {
  template <class T>
  T operator()(T a, uint32_t by) const {
    return by >= kBits<T> ? T(0) : T(Bits<T>(a) << by);
  }
};
struct ShiftRight {
  template <class T>
  T operator()(T a, uint32_t by) const {
    if (by >= kBits<T>) return T(std::is_signed_v<T> && a < 0 ? -1 : 0);
    return T(a >> by);
  }
};
struct CountOnes {
  template <class T>
  uint32_t operator()(T a) const {
    return uint32_t(std::popcount(a));
  }
};
struct CountZeros {
  template <class T>
  uint32_t operator()(T a) const {
    return uint32_t(std::countl_zero(a));
  }
};
struct Reverse {
  template <class T>
  T operator()(T a) const {
    T made = 0;
    for (uint32_t k = 0; k < kBits<T>; ++k) made |= T((a >> k & 1) << (kBits<T> - 1 - k));
    return made;
  }
};
/// The highest bit that differs from the sign; ~0: none (9.7.1.16).
struct HighestBit {
  template <class T>
  uint32_t operator()(T a) const {
    const auto bits = Bits<T>(std::is_signed_v<T> && a < 0 ? ~a : a);
    return bits == 0 ? ~0u : kBits<T> - 1 - uint32_t(std::countl_zero(bits));
  }
};
/// The shift that brings the highest bit to the front.
struct HighestShift {
  template <class T>
  uint32_t operator()(T a) const {
    const uint32_t highest = HighestBit{}(a);
    return highest == ~0u ? highest : kBits<T> - 1 - highest;
  }
};
/// Bits from `at` on, extended by the sign's (9.7.1.19).
struct Extract {
  template <class T>
  T operator()(T a, uint32_t at, uint32_t count) const {
    at &= 255, count &= 255;
    if (count == 0) return 0;
    const Bits<T> shifted = Bits<T>(ShiftRight{}(a, at));
    if (count >= kBits<T>) return T(shifted);
    const Bits<T> low = Bits<T>((Bits<T>(1) << count) - 1);
    if constexpr (std::is_signed_v<T>) {
      const uint32_t top = std::min(at + count - 1, kBits<T> - 1);
      if ((Bits<T>(a) >> top & 1) != 0) return T((shifted & low) | Bits<T>(~low));
    }
    return T(shifted & low);
  }
};
/// Ones from `at` on, clamped (9.7.1.22).
struct Ones {
  uint32_t operator()(uint32_t at, uint32_t count) const {
    const uint64_t ones = count >= 32 ? 0xffffffffull : (uint64_t(1) << count) - 1;
    return at >= 32 ? 0 : uint32_t(ones << at);
  }
};
struct DistanceAdd {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(a < b ? Subtract{}(b, a) : Subtract{}(a, b), c);
  }
};

// ---- handlers

template <class D, class A, class F>
void one_operand(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) { put<D>(x, i.d, lane, F{}(get<A>(x, i.a, lane))); });
}
template <class D, class A, class B, class F>
void two_operands(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes,
       [&](int lane) { put<D>(x, i.d, lane, F{}(get<A>(x, i.a, lane), get<B>(x, i.b, lane))); });
}
template <class D, class A, class B, class C, class F>
void three_operands(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) {
    put<D>(x, i.d, lane, F{}(get<A>(x, i.a, lane), get<B>(x, i.b, lane), get<C>(x, i.c, lane)));
  });
}
/// bfi d, a, b, at, count: the low bits of a, inserted into b (9.7.1.20).
template <class T>
void insert(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) {
    const T a = get<T>(x, i.a, lane), b = get<T>(x, i.b, lane);
    const uint32_t at = get<uint32_t>(x, i.c, lane) & 255;
    const uint32_t count = get<uint32_t>(x, i.more[0], lane) & 255;
    const T low = count >= kBits<T> ? T(~T(0)) : T((T(1) << count) - 1);
    const T changed = ShiftLeft{}(low, at);
    put<T>(x, i.d, lane, T((b & ~changed) | (ShiftLeft{}(a, at) & changed)));
  });
}
/// Bytes of b:a, chosen by a nibble each; its high bit spreads the byte's sign (9.7.9.7).
void permute(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) {
    const uint64_t both = uint64_t(get<uint32_t>(x, i.b, lane)) << 32 | get<uint32_t>(x, i.a, lane);
    const uint32_t how = get<uint32_t>(x, i.c, lane);
    uint32_t made = 0;
    for (uint32_t k = 0; k < 4; ++k) {
      const uint32_t nibble = how >> 4 * k & 15;
      uint32_t byte = uint32_t(both >> 8 * (nibble & 7)) & 255;
      if ((nibble & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      made |= byte << 8 * k;
    }
    put<uint32_t>(x, i.d, lane, made);
  });
}
/// A word of b:a, shifted by c, which is clamped or wraps (9.7.8.7).
template <bool kRight, bool kClamps>
void funnel(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) {
    const uint64_t both = uint64_t(get<uint32_t>(x, i.b, lane)) << 32 | get<uint32_t>(x, i.a, lane);
    const uint32_t given = get<uint32_t>(x, i.c, lane);
    const uint32_t by = kClamps ? std::min(given, 32u) : given & 31;
    put<uint32_t>(x, i.d, lane, kRight ? uint32_t(both >> by) : uint32_t(both << by >> 32));
  });
}
/// Any logic of three bits, whose table is the constant (9.7.8.6).
void logic_of_three(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) {
    const uint32_t a = get<uint32_t>(x, i.a, lane), b = get<uint32_t>(x, i.b, lane),
                   c = get<uint32_t>(x, i.c, lane);
    uint32_t made = 0;
    for (int k = 0; k < 8; ++k)
      if ((i.constant >> k & 1) != 0)
        made |= ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
    put<uint32_t>(x, i.d, lane, made);
  });
}

// ---- which handler an opcode has

template <class T>
Handler number(const std::string& op) {
  if (op == "add") return &two_operands<T, T, T, Add>;
  if (op == "sub") return &two_operands<T, T, T, Subtract>;
  if (op == "mul") return &two_operands<T, T, T, Multiply>;
  if (op == "div") return &two_operands<T, T, T, Divide>;
  if (op == "min") return &two_operands<T, T, T, Least>;
  if (op == "max") return &two_operands<T, T, T, Greatest>;
  if (op == "neg") return &one_operand<T, T, Negate>;
  if (op == "abs") return &one_operand<T, T, Absolute>;
  return nullptr;
}
template <class T>
Handler real(const std::string& op) {
  if (op == "fma") return &three_operands<T, T, T, T, Fused>;
  if (op == "sqrt") return &one_operand<T, T, Root>;
  if (op == "rcp") return &one_operand<T, T, Reciprocal>;
  if (op == "copysign") return &two_operands<Word<T>, Word<T>, Word<T>, CopySign>;
  return number<T>(op);
}
template <class T>
Handler whole(const std::string& op, const Statement& s) {
  if (op == "mul" || op == "mad") {
    const bool adds = op == "mad";
    if (s.has("hi"))
      return adds ? &three_operands<T, T, T, T, MultiplyAddHigh>
                  : &two_operands<T, T, T, MultiplyHigh>;
    if constexpr (sizeof(T) < 8)
      if (s.has("wide"))
        return adds ? &three_operands<Twice<T>, T, T, Twice<T>, MultiplyAddWide>
                    : &two_operands<Twice<T>, T, T, MultiplyWide>;
    if (!s.has("lo")) return nullptr;
    return adds ? &three_operands<T, T, T, T, MultiplyAdd> : &two_operands<T, T, T, Multiply>;
  }
  if (op == "rem") return &two_operands<T, T, T, Remainder>;
  if (op == "sad") return &three_operands<T, T, T, T, DistanceAdd>;
  if (op == "shr") return &two_operands<T, T, uint32_t, ShiftRight>;
  if constexpr (sizeof(T) >= 4) {
    if (op == "bfe") return &three_operands<T, T, uint32_t, uint32_t, Extract>;
    if (op == "bfind")
      return s.has("shiftamt") ? &one_operand<uint32_t, T, HighestShift>
                               : &one_operand<uint32_t, T, HighestBit>;
  }
  return number<T>(op);
}
Handler funnel_of(const Statement& s) {
  if (s.has("l") == s.has("r") || s.has("clamp") == s.has("wrap")) return nullptr;
  if (s.has("l")) return s.has("clamp") ? &funnel<false, true> : &funnel<false, false>;
  return s.has("clamp") ? &funnel<true, true> : &funnel<true, false>;
}
template <class T>
Handler bits(const std::string& op, const Statement& s) {
  if (op == "and") return &two_operands<T, T, T, And>;
  if (op == "or") return &two_operands<T, T, T, Or>;
  if (op == "xor") return &two_operands<T, T, T, Xor>;
  if (op == "not") return &one_operand<T, T, Not>;
  if (op == "cnot") return &one_operand<T, T, IsZero>;
  if (op == "shl") return &two_operands<T, T, uint32_t, ShiftLeft>;
  if constexpr (sizeof(T) >= 4) {
    if (op == "brev") return &one_operand<T, T, Reverse>;
    if (op == "popc") return &one_operand<uint32_t, T, CountOnes>;
    if (op == "clz") return &one_operand<uint32_t, T, CountZeros>;
    if (op == "bfi") return &insert<T>;
  }
  if constexpr (sizeof(T) == 4) {
    if (op == "prmt") return &permute;
    if (op == "bmsk") return &two_operands<uint32_t, uint32_t, uint32_t, Ones>;
    if (op == "shf") return funnel_of(s);
    if (op == "lop3") return &logic_of_three;
  }
  return whole<T>(op, s);
}

}  // namespace

Handler arithmetic_of(const Statement& s, const std::string& type) {
  const std::string& op = s.opcode;
  if (type == "f32") return real<float>(op);
  if (type == "f64") return real<double>(op);
  if (type == "s16") return whole<int16_t>(op, s);
  if (type == "s32") return whole<int32_t>(op, s);
  if (type == "s64") return whole<int64_t>(op, s);
  if (type == "u16" || type == "b16") return bits<uint16_t>(op, s);
  if (type == "u32" || type == "b32") return bits<uint32_t>(op, s);
  if (type == "u64" || type == "b64") return bits<uint64_t>(op, s);
  return nullptr;
}

size_t operands_of(const Statement& s) {
  static const std::map<std::string, size_t> others{
      {"abs", 2},  {"neg", 2}, {"not", 2},  {"cnot", 2},  {"sqrt", 2}, {"rcp", 2},
      {"popc", 2}, {"clz", 2}, {"brev", 2}, {"bfind", 2}, {"mad", 4},  {"fma", 4},
      {"sad", 4},  {"bfe", 4}, {"prmt", 4}, {"shf", 4},   {"bfi", 5},  {"lop3", 5}};
  const auto found = others.find(s.opcode);
  return found == others.end() ? 3 : found->second;
}

}  // namespace ge::ptx
