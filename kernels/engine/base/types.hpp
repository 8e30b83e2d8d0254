// Compile-time vocabulary of the engine: type lists, what a function's signature says, and readable
// names of things for messages. Owns no data and knows no machine.
#pragma once

#include <string_view>
#include <type_traits>

#include "engine/base/platform.hpp"

namespace ge {

template <class... Ts>
struct Types {
  static constexpr int size = sizeof...(Ts);
};

template <int kIndex, class List>
struct TypeAt;
template <int kIndex, class First, class... Rest>
struct TypeAt<kIndex, Types<First, Rest...>> : TypeAt<kIndex - 1, Types<Rest...>> {};
template <class First, class... Rest>
struct TypeAt<0, Types<First, Rest...>> {
  using type = First;
};

template <class T, class List>
struct Contains;
template <class T, class... Ts>
struct Contains<T, Types<Ts...>> : std::bool_constant<(std::is_same_v<T, Ts> || ...)> {};
template <class T, class List>
inline constexpr bool contains = Contains<T, List>::value;

template <class... Lists>
struct Concat;
template <>
struct Concat<> {
  using type = Types<>;
};
template <class... Ts>
struct Concat<Types<Ts...>> {
  using type = Types<Ts...>;
};
template <class... Ts, class... Us, class... Rest>
struct Concat<Types<Ts...>, Types<Us...>, Rest...> : Concat<Types<Ts..., Us...>, Rest...> {};
template <class... Lists>
using concat = typename Concat<Lists...>::type;

template <class T>
using bare = std::remove_cv_t<std::remove_reference_t<T>>;

template <class T>
struct Type_ {
  using type = T;
};

/// Calls f(Type_<T>{}) for each T in order.
GE_EITHER_MACHINE
template <class F, class... Ts>
GE_FN constexpr void for_each_type(Types<Ts...>, F&& f) {
  (f(Type_<Ts>{}), ...);
}

/// The row on which a system runs, for systems that need to know.
struct Slot {
  int row;
};

/// The parts of a system's type: its return type and the arguments after the World.
template <class F>
struct Signature;
template <class R, class W, class... Args>
struct Signature<R (*)(W, Args...)> {
  using Result = R;
  using World = bare<W>;
  using Arguments = Types<Args...>;
};

template <class Arg>
inline constexpr bool is_slot = std::is_same_v<bare<Arg>, Slot>;
template <class Arg>
inline constexpr bool is_written =
    std::is_lvalue_reference_v<Arg> && !std::is_const_v<std::remove_reference_t<Arg>>;

/// Arguments that are not components of the row: their types declare what they are.
template <class Arg>
concept NoComponent =
    is_slot<Arg> || requires { typename bare<Arg>::Component; } || requires { bare<Arg>::kLanes; };

/// The components among the arguments of a system, in order.
template <class Arguments>
struct ComponentsOf;
template <class... Args>
struct ComponentsOf<Types<Args...>> {
  using type = concat<std::conditional_t<NoComponent<Args>, Types<>, Types<bare<Args>>>...>;
};
template <auto F>
using Arguments = typename Signature<decltype(F)>::Arguments;
template <auto F>
using Components = typename ComponentsOf<Arguments<F>>::type;

/// The compiler's own spelling of a type, with more around it: a constant.
template <class T>
constexpr std::string_view type_text() {
  return __PRETTY_FUNCTION__;
}
/// The part of that spelling that names the type.
constexpr std::string_view type_in(std::string_view text) {
  const auto start = text.find("T = ");
  if (start == std::string_view::npos) return text;
  text.remove_prefix(start + 4);
  const auto end = text.rfind("; std::string_view");
  return text.substr(0, end == std::string_view::npos ? text.size() - 1 : end);
}
/// "Each<&gravity>"; for messages, never for logic.
template <class T>
constexpr std::string_view type_name() {
  return type_in(type_text<T>());
}

/// The next multiple; of a power of two by masking, which is short on a GPU.
GE_FN constexpr int64_t round_up(int64_t value, int64_t multiple) {
  const int64_t beyond = value + multiple - 1;
  return (multiple & (multiple - 1)) == 0 ? beyond & -multiple : beyond / multiple * multiple;
}

}  // namespace ge
