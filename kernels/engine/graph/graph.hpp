// The algebra of stages: a graph is a type. Executors give it meaning; between two stages stands a
// barrier of the world's group, so a stage sees all that the stages before it wrote and nothing
// that its own rows write.
//
// In an environment:
//
//   using Step = ge::Stages<Each<&steer>, Repeat<4, Each<&integrate>, Emit<...>>,
//                           Reduce<&energy, Sum, &store>>;
#pragma once

#include "engine/base/boundary.hpp"
#include "engine/described/describe.hpp"
#include "engine/maths/packs.hpp"
#include "engine/maths/random.hpp"
#include "engine/world/roles.hpp"
#include "engine/world/squad.hpp"

namespace ge {

/// f(World, [Slot,] C&..., const C&...) on every live row of every table that has the components.
template <auto F>
struct Each {};

/// Like Each, but on the rows with p(World, [Slot,] const C&...) only: for tables of which few rows
/// have work. The lanes of a GPU share out these alone.
template <auto P, auto F>
struct EachWhere {};

/// Like Each, but a squad of lanes runs f(World, Squad, [Slot,] C&..., const C&...) for each row:
/// for work that takes one lane long, such as a scan of thousands of neighbours (squad.hpp). Every
/// lane computes the same values.
template <auto F>
struct EachTogether {};

/// f(World, C&..., const C&...) once per world, the components being those of singletons.
template <auto F>
struct EachWorld {};

/// For i < count, row i of List T becomes f(World, i, C&...); T's length becomes count. Count is a
/// number or a system.
template <auto Count, auto F, class T>
struct For {};

/// For each i < count with test(World, i): a row of List T by make(World, i, C&...), appended in
/// index order.
template <auto Count, auto Test, auto Make, class T>
struct Emit {};

/// Like Emit, over pairs of rows: test(World, a, b), make(World, a, b, C&...). Pairs within one
/// table have a != b, each pair once.
template <class A, class B, auto Test, auto Make, class T>
struct EmitPairs {};

/// Like For, for a List whose only component is one float, kPack rows at a time: f(World, first,
/// value) with Floats& value for rows first, first + 1, ... (packs.hpp).
template <auto Count, auto F, class T>
struct ForPacks {};

/// Like ForPacks, where packs without p(World, first) are zeros: the lanes of a GPU run f for the
/// other rows only. The CPU calls f for all, which then gives zeros.
template <auto Count, auto P, auto F, class T>
struct ForPacksWhere {};

/// f(World, [Slot,] C&..., const C&..., Rows<U, D>...) on every row of its one table, which has a
/// Colour: colour by colour, colours 0 to count - 1, with a barrier after each. Rows of one colour
/// run in any order and must touch different rows of U; rows of other colours (kNoColour) do not
/// run. This is how a constraint writes the bodies that it joins.
template <auto Count, auto F>
struct Coloured {};

/// Sorts the rows of Fixed T by key(World, [Slot,] const C&...), an integer from 0; the sort is
/// stable. Row i of Order, which has as many rows as T and a Sorted, gets the number of the i-th
/// row; row k of Starts, which has a First and one row more than there are keys, the number of rows
/// with a smaller key. Larger keys count as the last. Both are Fixed scratch tables.
template <auto Key, class T, class Order, class Starts>
struct SortRows {};

/// Makes count new rows of Pool T, the k-th in the k-th lowest free slot, filled by make(World, k,
/// C&...) from zeros.
template <auto Count, auto Make, class T>
struct Spawn {};

/// Destroys the rows of Pool T with test(World, [Slot,] const C&...): their components become zero,
/// their handles stale.
template <auto Test, class T>
struct Destroy {};

/// Calls into(World, total, C& of singletons...) with the total of the values f(World, [Slot,]
/// const C&...) over all rows, folded in canonical order.
template <auto F, class Op, auto Into>
struct Reduce {};

/// Runs the inner stages n times; n is a number or an int(const Params&), so equal in all worlds.
template <auto N, class... Stages>
struct Repeat {};

/// Runs the inner stages for worlds with p(World, const C& of singletons...).
template <auto P, class... Stages>
struct When {};

// ---- outputs

/// The one role of a schema that lists none, found by the World that a system of it takes.
template <auto F>
using role_by_system = OnlyRole<typename Signature<decltype(F)>::World::Cells::Schema>;

/// Rows of an output, whose type the role or the environment names (role_rows.hpp): of an agent of
/// role R by f(World, Row&, [Slot,] const C& of the role's table...), of a world by
/// f(World, Row&, const C& of singletons...). Of an observation that is a picture (images.hpp) by
/// f(World, const Canvas&, [Slot,] const C& of the role's table...), which fills a part of it.
template <Output kOutput, auto F, class R = role_by_system<F>>
struct Show {};
template <auto F>
using Observe = Show<kObservation, F>;
template <auto F>
using ObserveMask = Show<kActionMask, F>;
template <auto F>
using ObserveState = Show<kState, F>;
template <auto F>
using ObserveNumbers = Show<kNumbers, F>;  // beside a picture
/// Rows of the agents of role R (roles.hpp).
template <class R, auto F>
using ObserveAs = Show<kObservation, F, R>;
template <class R, auto F>
using ObserveMaskAs = Show<kActionMask, F, R>;
template <class R, auto F>
using ObserveNumbersAs = Show<kNumbers, F, R>;

// ---- what the life cycle adds (episode.hpp); environments have no use for these

/// One value of an output per agent of role R: f(World, [Slot,] const C&...).
template <Output kOutput, auto F, class R>
struct Write {};
/// Actions from the caller's array into the action component of the agents of role R.
template <class R>
struct TakeActions {};
/// Clears the rows of final_obs that the caller wants cleared (FinalRows), before `ended` holds the
/// ends of this step.
struct ClearFinal {};
/// Empties every persistent List and Pool of the world: a reset begins with a clean table.
struct ClearTables {};
/// Runs Observe, but into final_obs and only for the rows of agents that ended in this step.
template <class... S>
struct IntoFinal {};
/// Runs the inner stages for worlds that do not rest in this step; under SameStep no world rests.
template <class... S>
struct WhenRunning {};
/// Runs the inner stages for worlds that this step names. What they write of others, where an
/// executor runs these beside them, is as before when it ends.
template <class... S>
struct WhenStepped {};
/// Runs the inner stages if the simulator was made with this Autoreset or Ends, or if a step is of
/// this kind (Waiting).
template <auto kChoice, class... S>
struct InMode {};
/// Run the inner stages while all parameters that may vary have their defaults in all worlds, and
/// otherwise: two forms of one rule, of which the first knows the numbers when it is compiled. For
/// rules of so few instructions that reading a number shows.
template <class... S>
using Usually = InMode<Varying::usual, S...>;
template <class... S>
using Otherwise = InMode<Varying::unusual, S...>;

// ---- structure

template <class... S>
struct Stages {};

template <class... L>
struct ChainOf;
template <class... X>
struct ChainOf<Stages<X...>> {
  using type = Stages<X...>;
};
template <class... X, class... Y, class... Rest>
struct ChainOf<Stages<X...>, Stages<Y...>, Rest...> : ChainOf<Stages<X..., Y...>, Rest...> {};
/// Lists of stages, one after the other.
template <class... L>
using chain = typename ChainOf<L...>::type;

// ---- phases, which the life cycle makes of stages (episode.hpp)

/// Lanes per world that a phase may be compiled for on a GPU (tuning.hpp).
template <int... G>
struct Lanes {};

/// A kernel boundary: its own registers, lanes per world, block size. Scratch memory does not
/// outlive a phase.
template <Name name, class LanesList, class... S>
struct Phase {};

/// Phases that follow a phase: they run only for the worlds with p, from a worklist.
template <auto P, class... P_>
struct Rare {};

/// The stages inside a stage, as a list of types.
template <class X>
struct InnerOf {
  using type = Types<>;
};
template <auto N, class... X>
struct InnerOf<Repeat<N, X...>> {
  using type = Types<X...>;
};
template <auto P, class... X>
struct InnerOf<When<P, X...>> {
  using type = Types<X...>;
};
template <class... X>
struct InnerOf<WhenRunning<X...>> {
  using type = Types<X...>;
};
template <class... X>
struct InnerOf<WhenStepped<X...>> {
  using type = Types<X...>;
};
template <auto kChoice, class... X>
struct InnerOf<InMode<kChoice, X...>> {
  using type = Types<X...>;
};
template <class... X>
struct InnerOf<IntoFinal<X...>> {
  using type = Types<X...>;
};

/// The deepest nesting of stages. Executors keep room for one set of worlds per level.
inline constexpr int kMostNested = 8;
template <class... X>
consteval int nesting(Types<X...>);
template <class X>
consteval int nesting_within() {
  using Inner = typename InnerOf<X>::type;
  return Inner::size == 0 ? 0 : 1 + nesting(Inner{});
}
template <class... X>
consteval int nesting(Types<X...>) {
  int most = 0;
  ((most = most < nesting_within<X>() ? nesting_within<X>() : most), ...);
  return most;
}

/// The colour of a row of a Coloured stage: rows of one colour run together.
struct Colour {
  uint32_t value;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("colour", &Colour::value, "turn in which the row runs"));
  }
};
inline constexpr uint32_t kNoColour = ~0u;

/// The components that SortRows fills.
struct Sorted {
  uint32_t row;
  uint32_t loose;  // the engine's: rows by key, in any order within a key
  static constexpr auto describe() {
    return fields(field("row", &Sorted::row, "row of the sorted table at this place"),
                  field("loose", &Sorted::loose, "row of the same key"));
  }
};
struct First {
  uint32_t place;
  static constexpr auto describe() {
    return fields(field("place", &First::place, "rows with a smaller key"));
  }
};

// ---- operators of Reduce: commutative in exact arithmetic, folded in one order everywhere

template <class T>
struct SumOf {
  static GE_FN constexpr T identity() { return T(-0.0f); }
  static GE_FN constexpr T combine(T a, T b) { return a + b; }
};
template <>
struct SumOf<int32_t> {
  static GE_FN constexpr int32_t identity() { return 0; }
  // Unsigned addition: wraps on every machine instead of being undefined.
  static GE_FN constexpr int32_t combine(int32_t a, int32_t b) {
    return int32_t(uint32_t(a) + uint32_t(b));
  }
};
using Sum = SumOf<float>;
using SumInt = SumOf<int32_t>;
/// NaN loses against a number; -0 is less than +0.
struct Max {
  static GE_FN constexpr float identity() { return -__builtin_huge_valf(); }
  static GE_FN float combine(float a, float b) {
    return a > b || (a == b && __builtin_bit_cast(uint32_t, b) >> 31) || b != b ? a : b;
  }
};
struct Min {
  static GE_FN constexpr float identity() { return __builtin_huge_valf(); }
  static GE_FN float combine(float a, float b) {
    return a < b || (a == b && __builtin_bit_cast(uint32_t, a) >> 31) || b != b ? a : b;
  }
};
struct MaxInt {
  static GE_FN constexpr int32_t identity() { return INT32_MIN; }
  static GE_FN constexpr int32_t combine(int32_t a, int32_t b) { return a > b ? a : b; }
};
struct AnyOf {
  static GE_FN constexpr int32_t identity() { return 0; }
  static GE_FN constexpr int32_t combine(int32_t a, int32_t b) { return a | b; }
};

/// Number of accumulators of a reduction over `rows` rows: fixed by the capacity, so that no
/// machine can choose another order.
GE_FN constexpr int reduce_width(int rows) {
  int width = 1;
  while (width < rows && width < 32) width *= 2;
  return width;
}
inline constexpr int kReduceChunk = 1024;

// ---- pairs

/// The number of pairs (a, b), a < b, of n rows, and the i-th of them. Row a is folded with row n -
/// 2 - a, so that each line of the walk has n entries and one division finds a pair.
GE_FN constexpr int pair_count(int n) {
  return n * (n - 1) / 2;
}
struct Pair {
  int a, b;
};
GE_FN constexpr Pair pair_at(int i, int n) {
  const int line = i / n, place = i - line * n;
  const int first = n - 1 - line;  // entries of row a = line
  if (place < first) return {line, line + 1 + place};
  return {n - 2 - line, n - 1 - line + (place - first)};
}

}  // namespace ge
