// Tables: an archetype is a list of components with a capacity per world, a table holds its rows.
// Three kinds:
//
//   Fixed  every row lives; how many may depend on the parameters (`static int count(const
//          Params&)` in the table)
//   List   dense, rewritten whole by For and Emit
//   Pool   Spawn and Destroy: a bitmap of live slots and a generation per slot; rows never move
//
// A table is declared by deriving, so that it has a name in messages and columns:
//
//   struct Shots : ge::Pool<64, Position, Velocity> {
//     static constexpr const char* name = "shots";
//   };
//
// A table of capacity kAny has as many rows as its `static int64_t count(const Params&)` returns
// when a simulator is made (Fixed), or room for that many (List): for worlds of thousands of
// agents, where tiers of fixed capacities would waste memory or run out. Its columns lie behind
// those of all others.
//
// Persistent tables live in the world's record. Scratch tables (`static constexpr bool scratch =
// true`) and transient components (`static constexpr bool transient = true` in the component) live
// within one phase of one step. Tables or transient components that are needed one after the other
// may share memory: they name `static constexpr int lifetime = 1`, 2, 3 or 4. Members of one
// lifetime live together, those of 0 always. A stage that names another lifetime than the stage
// before it finds its memory undefined.
#pragma once

#include "engine/described/describe.hpp"

namespace ge {

enum class Kind { fixed, list, pool };

/// The capacity of a table whose number of rows is known at run time only.
inline constexpr int kAny = 1 << 30;

template <Kind kKind, int N, class... Cs>
struct Table {
  static_assert(N > 0, "GE: a table needs a capacity of at least one row");
  static_assert(N <= (1 << 20) || N == kAny,
                "GE: a table holds at most 2^20 rows, or any number of them with kAny");
  static_assert(N != kAny || kKind != Kind::pool,
                "GE: a Pool has a capacity known to the compiler");
  static_assert((Checked<Cs>::value && ...));
  static constexpr Kind kind = kKind;
  static constexpr int capacity = N;
  static constexpr bool scratch = false;
  static constexpr int lifetime = 0;
  using components = Types<Cs...>;
};

template <class T>
inline constexpr bool is_any = T::capacity == kAny;
/// Whether T is one of the tables at the end of a record, which exist where parameters vary
/// (varied.hpp).
template <class T>
inline constexpr bool is_own = requires { T::is_own; };
/// Capacity of T in worlds with these parameters.
template <class T, class Params>
GE_FN constexpr int64_t room_of([[maybe_unused]] const Params& params) {
  if constexpr (is_any<T> || is_own<T>)
    return T::count(params);
  else
    return T::capacity;
}

/// Rows of Fixed T in worlds with these parameters.
template <class T, class Params>
GE_FN constexpr int64_t rows_of([[maybe_unused]] const Params& params) {
  if constexpr (requires { T::count(params); })
    return T::count(params);
  else
    return T::capacity;
}

template <int N, class... Cs>
using Fixed = Table<Kind::fixed, N, Cs...>;
template <int N, class... Cs>
using List = Table<Kind::list, N, Cs...>;
template <int N, class... Cs>
using Pool = Table<Kind::pool, N, Cs...>;
template <class... Cs>
using Single = Table<Kind::fixed, 1, Cs...>;

template <class C>
consteval bool is_transient() {
  if constexpr (requires { C::transient; }) return C::transient;
  return false;
}

template <class T, class C>
inline constexpr bool in_scratch = T::scratch || is_transient<C>();

inline constexpr int kLifetimes = 4;
/// The lifetime of a column in scratch memory.
template <class T, class C>
consteval int lifetime_of() {
  int lifetime = T::lifetime;
  if constexpr (requires { C::lifetime; }) lifetime = C::lifetime;
  return lifetime;
}

/// The row of T that a handle names; stale once the row has been destroyed, local to its world.
template <class T>
struct Handle {
  uint32_t slot, generation;
};

// ---- queries: which tables have the components that a system names

template <class T, class List>
struct Covers;
template <class T, class... Cs>
struct Covers<T, Types<Cs...>> : std::bool_constant<(contains<Cs, typename T::components> && ...)> {
};
template <class T, class List>
inline constexpr bool covers = Covers<T, List>::value;

template <class List, class Tables>
struct Matching;
template <class List, class... Ts>
struct Matching<List, Types<Ts...>> {
  using type = concat<std::conditional_t<covers<Ts, List>, Types<Ts>, Types<>>...>;
};
/// The tables that have every component in the list.
template <class List, class Tables>
using matching = typename Matching<List, Tables>::type;

template <class C, class Tables>
struct Owned {
  static_assert(matching<Types<C>, Tables>::size > 0,
                "GE: no archetype of this environment has component C (see 'Owned<C, ...>' beside "
                "this line)");
  static constexpr bool value = matching<Types<C>, Tables>::size > 0;
};

template <auto F, class Tables, class List = Components<F>>
struct Served;
template <auto F, class Tables, class... Cs>
struct Served<F, Tables, Types<Cs...>> {
  static constexpr bool owned = (Owned<Cs, Tables>::value && ...);
  static_assert(sizeof...(Cs) > 0,
                "GE: a system of Each names at least one component; EachWorld takes none");
  static_assert(!owned || matching<Types<Cs...>, Tables>::size > 0,
                "GE: no single archetype has all the components of this system");
  static constexpr bool value = owned && matching<Types<Cs...>, Tables>::size > 0;
};

/// The one table of capacity 1 that has component C: the tables that EachWorld, predicates and the
/// target of Reduce may name.
template <class C, class Tables>
struct SingleOf;
template <class C, class... Ts>
struct SingleOf<C, Types<Ts...>> {
  using found = concat<
      std::conditional_t<(Ts::capacity == 1 && covers<Ts, Types<C>>), Types<Ts>, Types<>>...>;
  static_assert(found::size == 1,
                "GE: EachWorld, When and Reduce name components of singletons, and exactly one "
                "singleton must have "
                "component C (see 'SingleOf<C, ...>' beside this line)");
  template <class L>
  struct First {
    using type = void;
  };
  template <class A, class... Rest>
  struct First<Types<A, Rest...>> {
    using type = A;
  };
  using type = typename First<found>::type;
};
template <class C, class Tables>
using single_of = typename SingleOf<C, Tables>::type;

}  // namespace ge
