// Comparisons, selections, moves and predicates (9.7.6, 9.7.7, 9.7.9).
#include <cstring>

#include "ptx/lanes.hpp"

namespace ge::ptx {

namespace {

// Ordered comparisons of a NaN are false, unordered ones true (9.3).
struct Equal {
  template <class T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Different {
  template <class T>
  bool operator()(T a, T b) const {
    return std::is_floating_point_v<T> ? (a < b) | (a > b) : a != b;
  }
};
struct Less {
  template <class T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct AtMost {
  template <class T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct More {
  template <class T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct AtLeast {
  template <class T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
template <class Opposite>
struct Unless {
  template <class T>
  bool operator()(T a, T b) const {
    return !Opposite{}(a, b);
  }
};
struct AreNumbers {
  template <class T>
  bool operator()(T a, T b) const {
    return (a == a) & (b == b);
  }
};

/// setp d|p, a, b, c: the result, and its opposite, each joined with c.
template <class T, class F>
void compare(Context& x, const Instruction& i, uint32_t lanes) {
  uint32_t found = 0;
  for (int lane = 0; lane < kLanes; ++lane)
    found |= uint32_t(F{}(get<T>(x, i.a, lane), get<T>(x, i.b, lane)) ? 1 : 0) << lane;
  uint32_t opposite = ~found;
  if ((i.variant & kJoin) != 0) {
    const uint32_t given = predicate_at(x, i.c);
    const uint32_t other = i.is_signed ? ~given : given;  // here: the operand is negated
    const auto joined = [&](uint32_t value) {
      const int how = i.variant & kJoin;
      return how == kJoinAnd ? value & other : how == kJoinOr ? value | other : value ^ other;
    };
    found = joined(found), opposite = joined(opposite);
  }
  put_predicate(x, i.d, lanes, found);
  if ((i.variant & kBoth) != 0) put_predicate(x, i.more[0], lanes, opposite);
}

template <class T>
Handler comparison(const std::string& how) {
  if (how == "eq") return &compare<T, Equal>;
  if (how == "ne") return &compare<T, Different>;
  if (how == "lt" || how == "lo") return &compare<T, Less>;
  if (how == "le" || how == "ls") return &compare<T, AtMost>;
  if (how == "gt" || how == "hi") return &compare<T, More>;
  if (how == "ge" || how == "hs") return &compare<T, AtLeast>;
  if constexpr (std::is_floating_point_v<T>) {
    if (how == "equ") return &compare<T, Unless<Different>>;
    if (how == "neu") return &compare<T, Unless<Equal>>;
    if (how == "ltu") return &compare<T, Unless<AtLeast>>;
    if (how == "leu") return &compare<T, Unless<More>>;
    if (how == "gtu") return &compare<T, Unless<AtMost>>;
    if (how == "geu") return &compare<T, Unless<Less>>;
    if (how == "num") return &compare<T, AreNumbers>;
    if (how == "nan") return &compare<T, Unless<AreNumbers>>;
  }
  return nullptr;
}

template <class T>
void select(Context& x, const Instruction& i, uint32_t lanes) {
  const uint32_t which = predicate_at(x, i.c);
  each(lanes, [&](int lane) {
    put<T>(x, i.d, lane, (which >> lane & 1) != 0 ? get<T>(x, i.a, lane) : get<T>(x, i.b, lane));
  });
}
template <class T>
void copy(Context& x, const Instruction& i, uint32_t lanes) {
  each(lanes, [&](int lane) { put<T>(x, i.d, lane, get<T>(x, i.a, lane)); });
}

}  // namespace

Handler comparison_of(const std::string& how, const std::string& type) {
  if (type == "f32") return comparison<float>(how);
  if (type == "f64") return comparison<double>(how);
  if (type == "s16") return comparison<int16_t>(how);
  if (type == "s32") return comparison<int32_t>(how);
  if (type == "s64") return comparison<int64_t>(how);
  if (type == "u16" || type == "b16") return comparison<uint16_t>(how);
  if (type == "u32" || type == "b32") return comparison<uint32_t>(how);
  if (type == "u64" || type == "b64") return comparison<uint64_t>(how);
  return nullptr;
}

void select_word(Context& x, const Instruction& i, uint32_t lanes) {
  select<uint32_t>(x, i, lanes);
}
void select_long(Context& x, const Instruction& i, uint32_t lanes) {
  select<uint64_t>(x, i, lanes);
}
void copy_word(Context& x, const Instruction& i, uint32_t lanes) {
  copy<uint32_t>(x, i, lanes);
}
void copy_long(Context& x, const Instruction& i, uint32_t lanes) {
  copy<uint64_t>(x, i, lanes);
}

/// mov.b64 d, {a, b}: elements of `size` bytes, the lowest first.
void pack(Context& x, const Instruction& i, uint32_t lanes) {
  const uint64_t low = i.size == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * i.size) - 1;
  each(lanes, [&](int lane) {
    uint64_t made = 0;
    for (int k = 0; k < i.count; ++k)
      made |= (get<uint32_t>(x, i.more[k], lane) & low) << 8 * i.size * k;
    put_whole(x, i, lane, made);
  });
}
void unpack(Context& x, const Instruction& i, uint32_t lanes) {
  const uint64_t low = (uint64_t{1} << 8 * i.size) - 1;
  each(lanes, [&](int lane) {
    // The source is as wide as all elements together.
    const uint64_t from =
        i.size * i.count == 8 ? get<uint64_t>(x, i.a, lane) : get<uint32_t>(x, i.a, lane);
    for (int k = 0; k < i.count; ++k)
      put<uint32_t>(x, i.more[k], lane, uint32_t(from >> 8 * i.size * k & low));
  });
}

void predicate_and(Context& x, const Instruction& i, uint32_t lanes) {
  put_predicate(x, i.d, lanes, predicate_at(x, i.a) & predicate_at(x, i.b));
}
void predicate_or(Context& x, const Instruction& i, uint32_t lanes) {
  put_predicate(x, i.d, lanes, predicate_at(x, i.a) | predicate_at(x, i.b));
}
void predicate_xor(Context& x, const Instruction& i, uint32_t lanes) {
  put_predicate(x, i.d, lanes, predicate_at(x, i.a) ^ predicate_at(x, i.b));
}
void predicate_not(Context& x, const Instruction& i, uint32_t lanes) {
  put_predicate(x, i.d, lanes, ~predicate_at(x, i.a));
}
void predicate_copy(Context& x, const Instruction& i, uint32_t lanes) {
  put_predicate(x, i.d, lanes, predicate_at(x, i.a));
}
void predicate_set(Context& x, const Instruction& i, uint32_t lanes) {
  put_predicate(x, i.d, lanes, uint32_t(i.constant));
}

}  // namespace ge::ptx
