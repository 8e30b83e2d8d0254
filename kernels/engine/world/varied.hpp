// Parameters that may differ by world and change while worlds run: masses, speeds, rewards.
//
// A Schema lists them once, in a struct of its own from which the user's settings derive:
//
//   struct Varied {
//     float force = 10.0f;
//     static constexpr auto describe() {
//       return fields(field("force", &Varied::force, "force of a push").in("N").within(0, 1e3));
//     }
//   };
//   struct Settings : Varied { ... };
//
// What no single field can refuse, `static const char* problem(const Varied&, const Params&)` of
// the Schema does, or, where nothing else decides, `const char* problem() const` of Varied.
//
// Rules read `w.varied().force`. Where they need something that follows from several parameters,
// the Schema has `struct Derived` and `static GE_FN Derived derive(const Varied&, const Params&)`,
// which runs on every machine, and `w.varied()` is a Derived.
//
// While all worlds have the same values, these are one copy that a simulator holds. Once some
// parameter was named as varying, each world's record ends with a row of them, the `own` tables
// below, and with the ranges from which they are drawn when an episode begins.
#pragma once

#include <cstddef>

#include "engine/maths/math.hpp"
#include "engine/maths/random.hpp"
#include "engine/world/record.hpp"

namespace ge {

template <class S>
inline constexpr bool has_varied = requires { typename S::Varied; };

/// The fields of a description that are members of C: `fields_of<Varied>(Settings::describe())`.
template <class C, class... F>
constexpr auto fields_of(const std::tuple<F...>& described) {
  const auto chosen = [](const auto& field) {
    if constexpr (std::is_same_v<typename std::decay_t<decltype(field)>::Owner, C>)
      return fields(field);
    else
      return fields();
  };
  return std::apply([&](const F&... field) { return std::tuple_cat(chosen(field)...); }, described);
}

// ---- the types of an environment

template <class S>
struct VariedOf {
  using type = None;
};
template <class S>
  requires has_varied<S>
struct VariedOf<S> {
  using type = typename S::Varied;
};

/// What rules read: S::Derived, or the parameters themselves.
template <class S>
struct DerivedOf {
  using type = typename VariedOf<S>::type;
};
template <class S>
  requires requires { typename S::Derived; }
struct DerivedOf<S> {
  static_assert(has_varied<S>, "GE: Derived follows from the Schema's Varied, which is missing");
  using type = typename S::Derived;
};
template <class S>
using varied_of = typename VariedOf<S>::type;
template <class S>
using derived_of = typename DerivedOf<S>::type;

/// Number of parameters that may differ by world.
template <class S>
inline constexpr int kVaried = int(std::tuple_size_v<decltype(varied_of<S>::describe())>);

/// The parameters of a simulator, equal for all worlds, and which of the others it lets vary.
template <class S>
struct Held : S::Params {
  int32_t varying = 0;                  // number of them; 0: no record has a row of its own
  uint8_t number[kVaried<S> + 1] = {};  // of each, among the fields of S::Varied
};
template <class S>
struct HeldOf {
  using type = typename S::Params;
};
template <class S>
  requires has_varied<S>
struct HeldOf<S> {
  static_assert(!std::is_base_of_v<typename S::Varied, typename S::Params>,
                "GE: rules would read a parameter that varies from w.params(): derive Settings "
                "from Varied, not Params");
  using type = Held<S>;
};
template <class S>
using held_of = typename HeldOf<S>::type;

template <class S>
GE_FN derived_of<S> derive([[maybe_unused]] const varied_of<S>& varied,
                           [[maybe_unused]] const typename S::Params& params) {
  if constexpr (requires { typename S::Derived; })
    return S::derive(varied, params);
  else
    return varied;
}

/// Whether some combinations of the parameters are refused; and why one is, or null.
template <class S>
inline constexpr bool has_problem = requires(const varied_of<S>& varied) {
  varied.problem();
} || requires(const varied_of<S>& varied, const typename S::Params& params) {
  S::problem(varied, params);
};
template <class S>
const char* problem_of(const varied_of<S>& varied, [[maybe_unused]] const held_of<S>& params) {
  if constexpr (requires { S::problem(varied, params); })
    return S::problem(varied, params);
  else
    return varied.problem();
}

// ---- ranges

struct Range {
  static constexpr int kNumbers = 8;
  int32_t law, count;
  double number[kNumbers];
  static constexpr auto describe() {
    return fields(field("law", &Range::law,
                        "how a varying parameter is drawn at a reset; 0: it stays, 1: uniform, 2: "
                        "log-uniform, 3: choice, 4: normal within bounds")
                      .within(0, 4),
                  field("count", &Range::count, "numbers of a choice").within(0, kNumbers),
                  field("number", &Range::number,
                        "lowest and highest; of a normal distribution also mean and standard "
                        "deviation; or the numbers of a choice"));
  }
  double at(int k) const { return number[k]; }
};

/// The first word of a Range: what a world reads of one that is not drawn.
struct RangeHead {
  alignas(8) int32_t law;
  int32_t count;
};
static_assert(unit_of<RangeHead> == unit_of<Range> && offsetof(Range, law) == 0);
/// A Range where it lies in a record, its words `stride` apart: a copy in registers could not be
/// indexed.
struct StoredRange {
  const char* words;
  int stride, law, count;

  GE_FN StoredRange(const char* range, int stride) : words(range), stride(stride) {
    const auto head = load_words<RangeHead>(range, stride);
    law = head.law, count = head.count;
  }
  GE_FN double at(int k) const {
    constexpr int first = int(offsetof(Range, number)) / unit_of<Range>;
    return load_words<double>(words + int64_t{first + k} * stride * unit_of<Range>, stride);
  }
};

/// The largest whole number that is not above x, which a 64-bit number holds.
GE_FN double whole_below(double x) {
  const double cut = double(int64_t(x));
  return cut > x ? cut - 1.0 : cut;
}
GE_FN double clamped(double x, double low, double high) {
  return x >= low ? (x <= high ? x : high) : low;  // a NaN is the lowest
}

/// What a range draws from, within [lowest, highest] whatever it holds.
struct Bounds {
  double low, high;
};
GE_EITHER_MACHINE
template <class R>
GE_FN Bounds bounds_of(const R& range, double lowest, double highest) {
  const double low = clamped(range.at(0), lowest, highest), high = range.at(1);
  return {low, high >= low && high <= highest ? high : highest};
}
template <class R>
GE_FN int choices_of(const R& range) {
  return range.count < 1 ? 1 : range.count > Range::kNumbers ? Range::kNumbers : range.count;
}

/// A normal number of mean 0 and deviation 1 within bounds, by rejection sampling. Candidates
/// follow an exponential distribution in a tail, a uniform one in a narrow range, else a normal
/// one; three in ten are accepted, or more. If all are rejected, the likeliest value is taken.
template <class Draws>
GE_FN double normal_within(double low, double high, const Draws& draws) {
  constexpr int kBlocks = 32;  // of two candidates each
  constexpr double kTail = 0.5, kNarrow = 2.5;
  // A tail on the left is one on the right, mirrored.
  const bool mirrors = high < -kTail;
  const double from = mirrors ? -high : low, to = mirrors ? -low : high, width = to - from;
  const bool in_tail = from > kTail, narrow = width <= kNarrow;
  const double likeliest = clamped(0.0, from, to);
  double found = likeliest;
  bool accepted = false;
  for (int block = 0; block < kBlocks && !accepted; ++block) {
    const Draw d = draws(block);
    const NormalPair pair = d.normal(0);
    for (int k = 0; k < 2 && !accepted; ++k) {
      const double part = double(d.uniform(2 * k)), chance = double(d.uniform(2 * k + 1));
      double x, odds = 1.0;
      if (in_tail) {  // the density falls at least as fast as exp(-from * x)
        const double rest = 1.0 - part * (1.0 - ge::exp(-from * width));
        const double beyond = -ge::log(rest) / from;
        x = from + beyond;
        odds = ge::exp(-0.5 * beyond * beyond);
      } else if (narrow) {
        x = from + width * part;
        odds = ge::exp(-0.5 * (x * x - likeliest * likeliest));
      } else {
        x = double(k == 0 ? pair.first : pair.second);
      }
      accepted = chance < odds && x >= from && x <= to;
      found = accepted ? x : found;
    }
  }
  return mirrors ? -found : found;
}

/// The numbers that a parameter may have.
struct VariedLimits {
  double lowest, highest;
  bool is_whole;
};
/// A value of the range that the parameter may have, whatever the range holds. Whole numbers have
/// equal chances, both ends included. `draws(k)` is the k-th block of random words.
template <class Draws>
GE_FN double drawn(const StoredRange& range, const VariedLimits& limits, const Draws& draws) {
  const double lowest = limits.lowest, highest = limits.highest;
  const Bounds bounds = bounds_of(range, lowest, highest);
  const double low = bounds.low, high = bounds.high;
  const Draw first = draws(0);
  const double part = first.uniform64(0), half = limits.is_whole ? 0.5 : 0.0;
  double value = low;
  switch (Law(range.law)) {
    case Law::uniform:
      value = low + (high - low + 2.0 * half) * part;
      break;
    case Law::log_uniform: {
      const double from = ge::log(low);
      value = ge::exp(from + (ge::log(high) - from) * part) + half;
      break;
    }
    case Law::choice: {
      value = clamped(range.at(int(first.below(2, uint32_t(choices_of(range))))), lowest, highest);
      return limits.is_whole ? whole_below(value) : value;
    }
    case Law::normal: {
      const double mean = range.at(2) + half, spread = range.at(3);
      const double end = high + 2.0 * half;
      value = clamped(mean, low, end);
      if (spread > 0.0 && end > low)
        value = mean + spread * normal_within((low - mean) / spread, (end - mean) / spread, draws);
      break;
    }
    default:
      break;
  }
  value = clamped(value, low, high + half);  // rounding may have reached beyond an end
  return clamped(limits.is_whole ? whole_below(value) : value, low, high);
}

/// Field k of the parameters that may vary.
template <class V, int k>
struct VariedField {
  static constexpr auto field = std::get<k>(V::describe());
  using Member = typename decltype(field)::Member;
  static_assert(std::is_same_v<Member, float> || std::is_same_v<Member, double> ||
                    std::is_same_v<Member, int32_t>,
                "GE: a parameter that varies is a float, a double or an int32_t");
  static_assert(field.low > -kUnbounded && field.high < kUnbounded,
                "GE: a parameter that varies has a range: say .within(low, high)");
  static constexpr VariedLimits limits = {field.low, field.high, std::is_same_v<Member, int32_t>};
  static GE_FN void set(V& varied, double value) {
    constexpr auto member = field.member;
    varied.*member = Member(value);
  }
  static GE_FN double get(const V& varied) {
    constexpr auto member = field.member;
    return double(varied.*member);
  }
};
/// Calls f(VariedField) for field `number`, or for all of them.
GE_EITHER_MACHINE
template <class V, class F>
GE_FN constexpr void with_field(int number, const F& f) {
  [&]<int... k>(std::integer_sequence<int, k...>) GE_LAMBDA {
    ((number == k ? f(VariedField<V, k>{}) : void()), ...);
  }(std::make_integer_sequence<int, int(std::tuple_size_v<decltype(V::describe())>)>{});
}
GE_EITHER_MACHINE
template <class V, class F>
GE_FN constexpr void each_field(const F& f) {
  [&]<int... k>(std::integer_sequence<int, k...>) GE_LAMBDA {
    (f(std::integral_constant<int, k>{}, VariedField<V, k>{}), ...);
  }(std::make_integer_sequence<int, int(std::tuple_size_v<decltype(V::describe())>)>{});
}

/// A row of the output `parameters`: those that may differ by world, in the order of their
/// description.
template <class S>
struct ParameterRow {
  float value[kVaried<S>];
  static constexpr bool complete = true;
  static constexpr auto describe() {
    return fields(field("parameters", &ParameterRow::value,
                        "the parameters of the world that may differ by world, in the order of "
                        "their description"));
  }
};

// ---- the tables at the end of a record

// What each world has of its own once parameters vary: no row, or one, of what rules read and what
// it follows from; and a range for each parameter that varies.

template <class S, class Components>
struct OwnTable;
template <class S, class... Cs>
struct OwnTable<S, Types<Cs...>> : Fixed<1, Cs...> {
  static constexpr const char* name = "world";
  static constexpr bool is_own = true;
  static GE_FN constexpr int count(const Held<S>& held) { return held.varying > 0 ? 1 : 0; }
};
template <class S>
using OwnComponents = std::conditional_t<std::is_same_v<derived_of<S>, varied_of<S>>,
                                         Types<varied_of<S>>, Types<derived_of<S>, varied_of<S>>>;
template <class S>
struct OwnParameters : OwnTable<S, OwnComponents<S>> {};
template <class S>
struct OwnRanges : Fixed<kVaried<S>, Range> {
  static constexpr const char* name = "ranges";
  static constexpr bool is_own = true;
  static GE_FN constexpr int count(const Held<S>& held) { return held.varying; }
};

template <class S>
struct OwnTables {
  using type = Types<>;
};
template <class S>
  requires has_varied<S>
struct OwnTables<S> {
  using type = Types<OwnParameters<S>, OwnRanges<S>>;
};

}  // namespace ge
