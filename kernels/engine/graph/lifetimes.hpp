// Which lifetimes of scratch memory (world/table.hpp) a stage names, as bits: those of its tables
// and of its functions' arguments. A stage with inner stages is asked for its own functions only.
#pragma once

#include "engine/graph/coloured.hpp"

namespace ge {

template <class T, class... Cs>
consteval uint32_t lifetimes_of_columns(Types<Cs...>) {
  uint32_t mask = 0;
  (..., [&] {
    if constexpr (in_scratch<T, Cs>) mask |= 1u << lifetime_of<T, Cs>();
  }());
  return mask;
}
template <class T>
inline constexpr uint32_t kLifetimesOfTable = lifetimes_of_columns<T>(typename T::components{});

/// Lifetimes that an argument names: those of its component, in whichever table has it.
template <class Arg, class... Ts>
consteval uint32_t lifetimes_of_argument(Types<Ts...>) {
  using A = bare<Arg>;
  uint32_t mask = 0;
  if constexpr (is_rows<A>) {
    mask = lifetimes_of_columns<typename A::Table>(Types<typename A::Component>{});
  } else {
    (..., [&] {
      if constexpr (contains<A, typename Ts::components>)
        mask |= lifetimes_of_columns<Ts>(Types<A>{});
    }());
  }
  return mask;
}
template <class Tables, class... Args>
consteval uint32_t lifetimes_of_arguments(Types<Args...>) {
  return (0u | ... | lifetimes_of_argument<Args>(Tables{}));
}
template <auto F, class Tables>
consteval uint32_t lifetimes_of_function() {
  if constexpr (std::is_integral_v<decltype(F)>)
    return 0;
  else
    return lifetimes_of_arguments<Tables>(Arguments<F>{});
}
template <class Tables, auto... F>
inline constexpr uint32_t kLifetimesOf = (0u | ... | lifetimes_of_function<F, Tables>());

template <class S, class X>
struct StageLifetimes {
  static constexpr uint32_t mask = 0;
};
template <class S, auto F>
struct StageLifetimes<S, Each<F>> {
  static constexpr uint32_t mask = kLifetimesOf<AllTables<S>, F>;
};
template <class S, auto P, auto F>
struct StageLifetimes<S, EachWhere<P, F>> {
  static constexpr uint32_t mask = kLifetimesOf<AllTables<S>, P, F>;
};
template <class S, auto F>
struct StageLifetimes<S, EachTogether<F>> : StageLifetimes<S, Each<F>> {};
template <class S, auto F>
struct StageLifetimes<S, EachWorld<F>> : StageLifetimes<S, Each<F>> {};
template <class S, auto Count, auto F>
struct StageLifetimes<S, Coloured<Count, F>> {
  using T = typename ColouredTable<F, AllTables<S>>::type;
  static constexpr uint32_t mask =
      kLifetimesOf<AllTables<S>, Count, F> | lifetimes_of_columns<T>(Types<Colour>{});
};
template <class S, auto Count, auto F, class T>
struct StageLifetimes<S, For<Count, F, T>> {
  static constexpr uint32_t mask = kLifetimesOf<AllTables<S>, Count, F> | kLifetimesOfTable<T>;
};
template <class S, auto Count, auto F, class T>
struct StageLifetimes<S, ForPacks<Count, F, T>> {
  static constexpr uint32_t mask = kLifetimesOf<AllTables<S>, Count> | kLifetimesOfTable<T>;
};
template <class S, auto Count, auto P, auto F, class T>
struct StageLifetimes<S, ForPacksWhere<Count, P, F, T>> : StageLifetimes<S, ForPacks<Count, F, T>> {
};
template <class S, auto Count, auto Test, auto Make, class T>
struct StageLifetimes<S, Emit<Count, Test, Make, T>> {
  static constexpr uint32_t mask =
      kLifetimesOf<AllTables<S>, Count, Test, Make> | kLifetimesOfTable<T>;
};
template <class S, auto Key, class T, class Order, class Starts>
struct StageLifetimes<S, SortRows<Key, T, Order, Starts>> {
  static constexpr uint32_t mask =
      kLifetimesOf<AllTables<S>, Key> | kLifetimesOfTable<Order> | kLifetimesOfTable<Starts>;
};
template <class S, auto Count, auto Make, class T>
struct StageLifetimes<S, Spawn<Count, Make, T>> {
  static constexpr uint32_t mask = kLifetimesOf<AllTables<S>, Count, Make> | kLifetimesOfTable<T>;
};
template <class S, auto Test, class T>
struct StageLifetimes<S, Destroy<Test, T>> {
  static constexpr uint32_t mask = kLifetimesOf<AllTables<S>, Test> | kLifetimesOfTable<T>;
};
template <class S, auto F, class Op, auto Into>
struct StageLifetimes<S, Reduce<F, Op, Into>> {
  static constexpr uint32_t mask = kLifetimesOf<AllTables<S>, F, Into>;
};
template <class S, auto P, class... X>
struct StageLifetimes<S, When<P, X...>> {
  static constexpr uint32_t mask = kLifetimesOf<AllTables<S>, P>;
};
template <class S, Output kOutput, auto F, class R>
struct StageLifetimes<S, Show<kOutput, F, R>> {
  static constexpr uint32_t mask = kLifetimesOf<AllTables<S>, F>;
};
template <class S, Output kOutput, auto F, class R>
struct StageLifetimes<S, Write<kOutput, F, R>> : StageLifetimes<S, Show<kOutput, F, R>> {};

template <class S, class R>
struct StageLifetimes<S, TakeActions<R>> {
  static constexpr uint32_t mask = lifetimes_of_argument<typename R::Action>(AllTables<S>{});
};

/// Lifetimes that a stage names: at most one besides lifetime 0, which always lives.
template <class S, class X>
consteval uint32_t lifetimes_of_stage() {
  constexpr uint32_t mask = StageLifetimes<S, X>::mask & ~1u;
  static_assert((mask & (mask - 1)) == 0,
                "GE: this stage names scratch memory of two lifetimes, which share their place");
  return mask;
}

/// Lifetimes that a list of stages and all their inner stages name.
template <class S, class... X>
consteval uint32_t lifetimes_of_stages(Types<X...>);
template <class S, class X>
consteval uint32_t lifetimes_within() {
  return lifetimes_of_stage<S, X>() | lifetimes_of_stages<S>(typename InnerOf<X>::type{});
}
template <class S, class... X>
consteval uint32_t lifetimes_of_stages(Types<X...>) {
  return (0u | ... | lifetimes_within<S, X>());
}

}  // namespace ge
