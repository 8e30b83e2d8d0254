// Channels: how the described action and observation rows of an environment meet the caller's
// arrays. Element types, conversions, legal ranges; the same functions on every executor.
#pragma once

#include "engine/base/platform_once.hpp"
#include "engine/graph/call.hpp"
#include "engine/graph/outputs.hpp"
#include "engine/maths/math.hpp"

namespace ge {

// ---- actions: a component of 32-bit words, all integers (categories) or all floats

template <class A>
struct ActionShape {
  static constexpr int words = int(sizeof(A) / 4);
  static constexpr bool is_float = [] {
    bool floats = false, ints = false;
    std::apply(
        [&](auto... f) {
          ((std::is_same_v<typename decltype(f)::Element, float> ? floats = true : ints = true),
           ...);
        },
        A::describe());
    return floats && !ints;
  }();
  static constexpr bool plain = std::apply(
      [](auto... f) {
        return ((std::is_same_v<typename decltype(f)::Element, float> ||
                 std::is_same_v<typename decltype(f)::Element, int32_t>) &&
                ...);
      },
      A::describe());
  static_assert(plain, "GE: the fields of an action are float or int32_t");
  static constexpr bool uniform = std::apply(
      [](auto... f) {
        return ((std::is_same_v<typename decltype(f)::Element, float> == is_float) && ...);
      },
      A::describe());
  static_assert(uniform, "GE: an action is all categories or all numbers");
  static constexpr bool bounded =
      std::apply([](auto... f) { return ((is_float || (f.low > -1e9 && f.high < 1e9)) && ...); },
                 A::describe());
  static_assert(bounded, "GE: an integer of an action is a category: say one_of(count)");
  struct Range {
    double low, high;
  };
  struct Ranges {
    Range at[words];
  };
  static constexpr Ranges ranges = [] {
    Ranges all{};
    int at = 0;
    std::apply(
        [&](auto... f) {
          auto put = [&](auto one) {
            for (std::size_t k = 0; k < sizeof(typename decltype(one)::Member) / 4; ++k)
              all.at[at++] = {one.low, one.high};
          };
          (put(f), ...);
        },
        A::describe());
    return all;
  }();
  using Element = std::conditional_t<is_float, float, int32_t>;
  struct Row {
    Element at[words];
  };
};

/// One element of the caller's action, made safe: a category that does not exist becomes 0, a float
/// outside its range the nearest bound, NaN the lower bound (0 where there is none).
template <class A, class From>
GE_FN typename ActionShape<A>::Element take_element(From value, double low, double high,
                                                    bool& bad) {
  using Shape = ActionShape<A>;
  if constexpr (Shape::is_float) {
    const float x = float(value);
    const float lo = float(low), hi = float(high);
    const bool nan = x != x;
    const bool outside = (x < lo) | (x > hi) | nan;
    bad = bad | outside;
    const float rest = low == -kUnbounded ? 0.0f : lo;
    const float clamped = x < lo ? lo : x > hi ? hi : x;
    return nan ? rest : clamped;
  } else {
    // Compared in a type wide enough for the bounds: 999 does not fit a uint8_t.
    using Wide = std::conditional_t<sizeof(From) == 8, From, int32_t>;
    const bool legal = (Wide(value) >= Wide(low)) & (Wide(value) <= Wide(high));
    bad = bad | !legal;
    return legal ? int32_t(value) : 0;
  }
}

/// Whether the number of categories of some word of the action depends on the parameters.
template <class A, class Params>
inline constexpr bool has_choices = requires(const Params& params) { A::choices(params); } ||
                                    requires(const Params& params) { A::choices(params, 0); };
template <class A, class Params>
GE_FN int choices_of(const Params& params, [[maybe_unused]] int word) {
  if constexpr (requires { A::choices(params, word); })
    return A::choices(params, word);
  else
    return A::choices(params);
}
/// The highest value that word `word` of an action may have, inclusive.
template <class A, class Params>
GE_FN double highest_action([[maybe_unused]] const Params& params, [[maybe_unused]] int word,
                            double described) {
  if constexpr (has_choices<A, Params>)
    return double(choices_of<A>(params, word) - 1);
  else
    return described;
}

/// Reads a word of the caller's actions; a float's bits where some roles act in floats and some in
/// categories.
template <class A, class From>
GE_FN auto word_at(const From* from) {
  if constexpr (ActionShape<A>::is_float && std::is_same_v<From, int32_t>)
    return __builtin_bit_cast(float, load_once(from));
  else
    return load_once(from);
}
/// Reads the words of one action from element `first` of the caller's array, each made safe.
template <class A, class From, class S>
GE_FN typename ActionShape<A>::Row read_words(const Shared<S>& shared, int64_t first, bool& bad) {
  using Shape = ActionShape<A>;
  const From* from = static_cast<const From*>(shared.actions) + first;
  typename Shape::Row values;
  GE_UNROLL
  for (int k = 0; k < Shape::words; ++k) {
    constexpr auto ranges = Shape::ranges;
    const double high = highest_action<A>(shared.params, k, ranges.at[k].high);
    GE_WATCH(from + k, sizeof(From), false);
    values.at[k] = take_element<A>(word_at<A>(from + k), ranges.at[k].low, high, bad);
  }
  return values;
}
/// Decodes the one number of a flat action (ActionForm::flat), that of row `row`, into categories.
template <class A, class From, class S>
GE_FN typename ActionShape<A>::Row split_number(const Shared<S>& shared, int64_t row, bool& bad) {
  using Shape = ActionShape<A>;
  const From* from = static_cast<const From*>(shared.actions) + row;
  GE_WATCH(from, sizeof(From), false);
  int32_t rest = take_element<A>(load_once(from), 0.0, double(shared.flat_actions - 1), bad);
  typename Shape::Row values;
  for (int k = Shape::words - 1; k >= 0; --k) {
    constexpr auto ranges = Shape::ranges;
    const int32_t count = int32_t(highest_action<A>(shared.params, k, ranges.at[k].high)) + 1;
    values.at[k] = rest % count;
    rest /= count;
  }
  return values;
}

/// Stores an agent's action, unless the agent has ended. kCount: counts bad values of agent `index`
/// of the batch (the CPU refuses them before any world moves).
template <class A, class Agent, bool kCount, class S>
GE_FN void store_action(const Cells<S>& cells, int row, int64_t index,
                        typename ActionShape<A>::Row values, [[maybe_unused]] bool bad) {
  using Shape = ActionShape<A>;
  const bool gone = (cells.template load<Agent, Fate>(row).bits & Fate::kGone) != 0;
  GE_UNROLL
  for (int k = 0; k < Shape::words; ++k)
    values.at[k] = gone ? typename Shape::Element(0) : values.at[k];
  if constexpr (kCount) {
    if (bad && !gone) {
      count_add(&cells.shared->counters->bad_actions, 1);
      count_first(&cells.shared->counters->first_bad, index);
    }
  }
  cells.template store<Agent, A>(row, __builtin_bit_cast(A, values));
}

// ---- observation rows

/// A row whose length the parameters decide: see wide_rows.hpp.
template <class Element_>
struct WideRow {
  static_assert(std::is_same_v<Element_, bool> || std::is_same_v<Element_, uint8_t> ||
                    std::is_same_v<Element_, float>,
                "GE: the elements of a wide row are bool, uint8_t or float");
  using Element = Element_;
  static constexpr bool wide = true;
};
template <class Row>
concept Wide = requires { Row::wide; };

/// A row type: an array of elements; its fields name them in memory order.
template <class Row>
struct RowShape {
  template <class... Fs>
  static consteval auto element_of(std::tuple<Fs...>) {
    using First = typename std::tuple_element_t<0, std::tuple<Fs...>>::Element;
    static_assert((std::is_same_v<typename Fs::Element, First> && ...),
                  "GE: the fields of an observation row share one element type");
    return First{};
  }
  using Element = decltype(element_of(Row::describe()));
  static_assert(
      !requires { typename Row::Element; },
      "GE: the element type of an observation row is that of its fields: name no Element");
  static_assert(described_bytes<Row>() == sizeof(Row),
                "GE: the described fields of this observation row do not cover it");
  static constexpr int elements = int(sizeof(Row) / sizeof(Element));
};

/// Whether the row's function sets every element, so that the row need not be zeroed first.
template <class Row>
consteval bool is_complete() {
  if constexpr (requires { Row::complete; }) return Row::complete;
  return false;
}

/// Runs an observation function into a row of zeros, wherever the row lies. kZeroed: the row holds
/// zeros already.
template <auto F, class T, class Row, bool kZeroed = false, class S, class... Args>
GE_FN void fill_row_of(const Cells<S>& cells, [[maybe_unused]] int row, Row& out,
                       Types<Row&, Args...>) {
  const World<S> world(cells);
  if constexpr (!kZeroed && !is_complete<Row>()) out = Row{};
  F(world, out, argument<T, Args>(cells, row)...);
}
template <auto F>
using RowOf = bare<typename Tail<Arguments<F>>::first>;

/// Whether an agent's row shows what its function writes (zeros while the agent waits for its
/// world's reset), and whether the caller's row is written at all. With Ends::world the final
/// observation of an agent that ended before its world is zeros.
struct RowFate {
  bool shows, wanted;
};
template <class T, class S>
GE_FN RowFate row_fate(const Cells<S>& cells, int row, bool into_final) {
  const uint32_t fate = cells.template load<T, Fate>(row).bits;
  const bool just = (fate & Fate::kJustEnded) != 0;
  const bool gone = (fate & Fate::kGone) != 0;
  if (into_final) {
    bool wanted = just;
    if constexpr (!has_one_agent<S>)
      wanted = wanted | ((cells.shared->ends == Ends::world) & ((fate & Fate::kHow) != 0));
    return {just, wanted};
  }
  return {bool((!gone) | (just & (cells.shared->autoreset != Autoreset::same_step))), true};
}

/// Makes the row of one agent; returns whether the caller's row is to be written. kZeroed: the
/// row holds zeros already.
template <auto F, class T, bool kZeroed = false, class S>
GE_FN bool observe_into(const Cells<S>& cells, int row, bool into_final, RowOf<F>& out) {
  using Row = RowOf<F>;
  const RowFate fate = row_fate<T>(cells, row, into_final);
  fill_row_of<F, T, Row, kZeroed>(cells, row, out, Arguments<F>{});
  if (!fate.shows) out = Row{};
  return fate.wanted;
}
template <auto F, class T, class S>
GE_FN RowOf<F> observe_row(const Cells<S>& cells, int row, bool into_final, bool& wanted) {
  RowOf<F> out;
  wanted = observe_into<F, T>(cells, row, into_final, out);
  return out;
}

/// The one row of a world's state.
template <auto F, class Row, class S, class... Args>
GE_FN Row state_row(const Cells<S>& cells, Types<Row&, Args...>) {
  Row out{};
  F(World<S>(cells), out, argument<single_of<bare<Args>, AllTables<S>>, Args>(cells, 0)...);
  return out;
}
template <auto F, class S>
GE_FN RowOf<F> state_row(const Cells<S>& cells) {
  return state_row<F, RowOf<F>>(cells, Arguments<F>{});
}

}  // namespace ge
