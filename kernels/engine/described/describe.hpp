// Description: each component, parameter set and observation row lists its fields once, in its
// header, with name, range, unit and a line of meaning. Spaces, keyword arguments, messages,
// documentation, the check for padding and the columns that `get` reads all come from that list.
//
//   struct Motion {
//     float x, velocity;
//     static constexpr auto describe() {
//       return ge::fields(ge::field("x", &Motion::x, "cart position").in("m"),
//                         ge::field("velocity", &Motion::velocity, "cart velocity").in("m/s"));
//     }
//   };
#pragma once

#include <limits>
#include <tuple>
#include <type_traits>

#include "engine/base/types.hpp"

namespace ge {

inline constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// One described member of C.
template <class C, class M>
struct Field {
  const char* name;
  M C::* member;
  const char* doc;
  const char* unit = "";
  double low = -kUnbounded, high = kUnbounded;
  int choices = 0;
  const char* table = nullptr;  // the table that the values index
  bool is_free = false;         // every value of the type is safe
  bool is_of_reset = false;     // of parameters that vary: only a reset reads it
  // A fixed number, so that a Field is a constant: no list of names is allocated at run time.
  static constexpr int kNames = 8;
  const char* names[kNames] = {};  // of the choices, for parameters

  using Owner = C;
  using Member = M;
  using Element = std::remove_all_extents_t<M>;

  // Each of these returns a changed copy: a description is written as one expression.
  constexpr Field in(const char* text) const {
    Field copy = *this;
    copy.unit = text;
    return copy;
  }
  /// The inclusive range of every element.
  constexpr Field within(double lowest, double highest) const {
    Field copy = *this;
    copy.low = lowest, copy.high = highest;
    return copy;
  }
  /// An index into the rows of the named table: from 0, or from `lowest`, such as -1 for none, to
  /// its last row. For a Fixed table with a count, the last row of worlds with these parameters.
  constexpr Field row_of(const char* table_name, int lowest = 0) const {
    Field copy = *this;
    copy.table = table_name;
    copy.low = lowest;
    return copy;
  }
  /// A whole number that may be any of its type: bits, a colour, a count that is only shown. No
  /// rule uses it as an index or as the end of a loop.
  constexpr Field any_value() const {
    static_assert(std::is_integral_v<Element>, "GE: any_value() is for whole numbers");
    Field copy = *this;
    copy.is_free = true;
    return copy;
  }
  /// Says that a change of this parameter, which may vary, acts from a world's next episode on:
  /// only a reset reads it.
  constexpr Field from_reset() const {
    Field copy = *this;
    copy.is_of_reset = true;
    return copy;
  }
  /// A category: whole numbers from 0 to count - 1.
  constexpr Field one_of(int count) const {
    Field copy = within(0, count - 1);
    copy.choices = count;
    return copy;
  }
  /// A category whose members the caller names: the k-th name stands for k.
  template <class... Texts>
  constexpr Field named(Texts... texts) const {
    static_assert(sizeof...(texts) <= kNames, "GE: a field has at most 8 names");
    static_assert(std::is_same_v<M, int32_t>, "GE: a choice with names is an int32_t");
    Field copy = one_of(int(sizeof...(texts)));
    int k = 0;
    ((copy.names[k++] = texts), ...);
    return copy;
  }
};

template <class C, class M>
constexpr Field<C, M> field(const char* name, M C::* member, const char* doc) {
  return {name, member, doc};
}

/// In the order of the members: columns, spaces and recorded hashes follow it.
template <class... Fs>
constexpr std::tuple<Fs...> fields(Fs... all) {
  return {all...};
}

/// Whether the legal values of a persistent column of this field are described: integers name rows,
/// kinds and counts, and one that is set from outside must not index beyond a table.
template <class C, class M>
constexpr bool says_its_values(const Field<C, M>& field) {
  using Element = typename Field<C, M>::Element;
  if (!std::is_integral_v<Element> || std::is_same_v<Element, bool>) return true;
  if (field.is_free || field.table != nullptr) return true;
  return (field.low > -kUnbounded || std::is_unsigned_v<Element>) && field.high < kUnbounded;
}

template <class C>
concept Described = requires { C::describe(); };

/// Bytes that the described fields of C cover; with no padding this is sizeof(C).
template <class C>
consteval std::size_t described_bytes() {
  return std::apply(
      [](auto... f) { return (std::size_t{0} + ... + sizeof(typename decltype(f)::Member)); },
      C::describe());
}

/// Saves and hashes take components as bytes, so a component is nothing but its described fields:
/// padding would hold whatever was there before, and two equal worlds would differ.
template <class C>
struct Checked {
  static_assert(Described<C>, "GE: this component has no describe() that lists its fields");
  static_assert(std::is_trivially_copyable_v<C>, "GE: a component must be a plain struct");
  static_assert(described_bytes<C>() == sizeof(C),
                "GE: the described fields of this component do not cover it: a field is not "
                "described or there is "
                "padding, which would make saves and hashes lie");
  static constexpr bool value = true;
};

/// Nothing: for environments without parameters or options.
struct None {
  static constexpr auto describe() { return fields(); }
};

}  // namespace ge
