// Rows of roles: the type of a role's rows of an output, and where they lie in the caller's array
// in either form (RoleForm).
//
//   padded   |w0 governor 0 ....000|w0 governor 1 ....000| ... |w0 planner 0 .............|w1 ...
//   split    |w0 governor 0|w0 governor 1| ... |w1 governor 0| ... |w0 planner 0|w1 planner 0| ...
//
// Numbers per agent (rewards, flags, lengths) are (worlds, agents) in both. With one role both
// forms are one: |w0 player 0|w0 player 1| ... |w1 player 0| ...
#pragma once

#include <new>

#include "engine/graph/role_actions.hpp"
#include "engine/graph/wide_rows.hpp"

namespace ge {

// ---- types of a role's rows

/// The mask of a role that names none where others do: all of its actions are legal.
template <int kChoices>
struct EveryAction {
  uint8_t legal[kChoices];
  static constexpr auto describe() {
    return fields(field("legal", &EveryAction::legal, "1: the action may be taken").within(0, 1));
  }
};

template <class List>
struct AnyMask;
template <class... Rs>
struct AnyMask<Types<Rs...>> : std::bool_constant<(has_rows<Rs, kActionMask> || ...)> {};
/// Whether agents have masks: where some role names one, and where several roles choose among
/// categories, because the padded form gives every role as many as the largest has.
template <class E, class S = typename E::Schema>
inline constexpr bool has_masks = has_rows<E, kActionMask> || AnyMask<roles_of<S>>::value ||
                                  (!has_one_role<S> && RoleTraits<S>::choices);

template <class E, class R, Output kOutput>
struct RowOfRole : RowOfOutput<E, kOutput> {};  // the only role's, which the environment names
template <class E, class R, Output kOutput>
  requires has_rows<R, kOutput>
struct RowOfRole<E, R, kOutput> : RowOfOutput<R, kOutput> {};
template <class E, class R>
  requires(has_masks<E> && !has_rows<R, kActionMask> && !has_rows<E, kActionMask>)
struct RowOfRole<E, R, kActionMask> {
  using A = typename R::Action;
  static constexpr bool exists = true;
  using type = EveryAction<is_choice<A> ? int(ActionShape<A>::ranges.at[0].high) + 1 : 1>;
};
template <class List>
struct AnyParts;
template <class... Rs>
struct AnyParts<Types<Rs...>> : std::bool_constant<(has_rows<Rs, kRewardParts> || ...)> {};
/// Whether rewards come in parts: the environment or one of its roles names them.
template <class E>
inline constexpr bool has_parts =
    has_rows<E, kRewardParts> || AnyParts<roles_of<typename E::Schema>>::value;
/// The reward parts of a role that names none where others do: a single one.
struct WholeReward {
  float reward;
  static constexpr auto describe() {
    return fields(field("reward", &WholeReward::reward, "the whole reward of this step"));
  }
};
template <class E, class R>
  requires(has_parts<E> && !has_rows<R, kRewardParts> && !has_rows<E, kRewardParts>)
struct RowOfRole<E, R, kRewardParts> {
  static constexpr bool exists = true;
  using type = WholeReward;
};

template <class List>
struct AnyMeasures;
template <class... Rs>
struct AnyMeasures<Types<Rs...>> : std::bool_constant<(has_rows<Rs, kMeasures> || ...)> {};
/// The measures of a role that names none where others do: a zero, which nobody is told of.
struct NoMeasures {
  float none;
  static constexpr auto describe() { return fields(field("none", &NoMeasures::none, "always 0")); }
  template <class W>
  static GE_FN NoMeasures of(const W&, int) {
    return {};
  }
};
template <class E, class R>
  requires(AnyMeasures<roles_of<typename E::Schema>>::value && !has_rows<R, kMeasures> &&
           !has_rows<E, kMeasures>)
struct RowOfRole<E, R, kMeasures> {
  static constexpr bool exists = true;
  using type = NoMeasures;
};

/// The type of a role's rows of an output of agents.
template <class E, class R, Output kOutput>
using role_row = typename RowOfRole<E, R, kOutput>::type;
template <class E, class R, Output kOutput>
inline constexpr bool has_role_rows = RowOfRole<E, R, kOutput>::exists;

/// The type of the rows that Show<kOutput, F, R> makes, of a world or of a role's agents.
template <class E, Output kOutput, class R>
struct ShownRow : RowOfRole<E, R, kOutput> {};
template <class E, Output kOutput, class R>
  requires(has_trait(kOutput, kOfAWorld))
struct ShownRow<E, kOutput, R> : RowOfOutput<E, kOutput> {};
template <class E, Output kOutput, class R>
using shown_row = typename ShownRow<E, kOutput, R>::type;

template <class E, class List>
struct AnyPictures;
template <class E, class... Rs>
struct AnyPictures<E, Types<Rs...>>
    : std::bool_constant<(AnyImage<role_row<E, Rs, kObservation>> || ...)> {};
/// Whether some role sees pictures, whose layers lie in several outputs.
template <class E>
inline constexpr bool has_pictures = AnyPictures<E, roles_of<typename E::Schema>>::value;

/// Calls f(output) for every output that final observations of E go to.
GE_EITHER_MACHINE
template <class E, class F>
GE_FN void for_each_final_observation(const F& f) {
  f(kFinalObservation);
  if constexpr (has_pictures<E>) {
    f(kFinalDepth);
    f(kFinalSegmentation);
    f(kFinalNumbers);
  }
}

// ---- where they lie

/// Bytes of a role's row of kOutput in the array of `output`; 0 where it shows nothing there.
template <class E, class R, Output kOutput, class S>
GE_FN int64_t role_row_bytes([[maybe_unused]] const Shared<S>& shared,
                             [[maybe_unused]] Output output) {
  if constexpr (has_role_rows<E, R, kOutput>)
    return row_bytes<role_row<E, R, kOutput>>(shared, output);
  return 0;
}
/// Bytes of the rows of all agents of one world.
template <class E, Output kOutput, class S>
GE_FN int64_t world_row_bytes(const Shared<S>& shared, Output output) {
  if (is_split(shared))
    return sum_of(roles_of<S>{}, [&shared, output](auto role) GE_LAMBDA {
      using R = typename decltype(role)::type;
      return agents_in<R>(shared.params) * role_row_bytes<E, R, kOutput>(shared, output);
    });
  return agents_of(shared) * most_of(roles_of<S>{}, [&shared, output](auto role) GE_LAMBDA {
           return role_row_bytes<E, typename decltype(role)::type, kOutput>(shared, output);
         });
}

template <class E, Output kOutput, class List>
struct OneElement;
template <class E, Output kOutput, class First, class... Rest>
struct OneElement<E, kOutput, Types<First, Rest...>> {
  template <class R>
  struct Element {
    using type = void;
  };
  template <class R>
    requires IsFixed<role_row<E, R, kOutput>>
  struct Element<R> {
    using type = typename RowShape<role_row<E, R, kOutput>>::Element;
  };
  using type = typename Element<First>::type;
  static constexpr bool value =
      !std::is_void_v<type> && (std::is_same_v<type, typename Element<Rest>::type> && ...);
};
/// Whether the rows of all roles have a length that the compiler knows and one element type, so
/// that they can be padded.
template <class E, Output kOutput>
inline constexpr bool has_one_element = OneElement<E, kOutput, roles_of<typename E::Schema>>::value;
template <class E, Output kOutput>
consteval bool has_one_element_or_none() {
  if constexpr (RowOfRole<E, typename TypeAt<0, roles_of<typename E::Schema>>::type,
                          kOutput>::exists)
    return has_one_element<E, kOutput>;
  else
    return true;
}
/// Whether all that agents show can be padded.
template <class E>
inline constexpr bool can_pad =
    has_one_element<E, kObservation> && has_one_element_or_none<E, kActionMask>();
/// Alignment of each role's rows in bytes where roles are split: 4 if element types differ, so that
/// floats are aligned.
template <class E, Output kOutput>
inline constexpr int kPartAlign = has_one_element<E, kOutput> ? 1 : 4;

/// Where a role's rows of an output lie, in bytes: the first row of world 0, the strides to the
/// next world and to the next row, and the zeros behind a row.
struct RowsAt {
  int64_t first, world, row, tail;

  GE_FN int64_t of(int at_world, int at_row) const {
    return first + at_world * world + at_row * row;
  }
};
template <class E, class R, Output kOutput, class S>
GE_FN RowsAt rows_at(const Shared<S>& shared, Output output) {
  const int64_t own = role_row_bytes<E, R, kOutput>(shared, output);
  if (is_split(shared)) {
    const int64_t before = sum_before<R>(roles_of<S>{}, [&shared, output](auto role) GE_LAMBDA {
      using Q = typename decltype(role)::type;
      return round_up(int64_t{shared.worlds} * agents_in<Q>(shared.params) *
                          role_row_bytes<E, Q, kOutput>(shared, output),
                      kPartAlign<E, kOutput>);
    });
    return {before, agents_in<R>(shared.params) * own, own, 0};
  }
  const int64_t longest = most_of(roles_of<S>{}, [&shared, output](auto role) GE_LAMBDA {
    return role_row_bytes<E, typename decltype(role)::type, kOutput>(shared, output);
  });
  return {first_agent<S, R>(shared.params) * longest, agents_of(shared) * longest, longest,
          longest - own};
}
/// The array of an output from a role's first row on; null if the caller does not want it. Wide
/// rows and pictures follow one another there: those of world w begin with number w * agents_in<R>.
template <class E, class R, Output kOutput, class S>
GE_FN char* rows_of_role(const Shared<S>& shared, Output output) {
  char* const to = static_cast<char*>(shared.bound.at[output]);
  if constexpr (has_one_role<S>)
    return to;
  else
    return to == nullptr ? to : to + rows_at<E, R, kOutput>(shared, output).first;
}
/// The number of an agent's row among those of its role.
template <class R, class S>
GE_FN int64_t row_index(const Shared<S>& shared, int world, int row) {
  if constexpr (has_one_agent<S>)
    return world;
  else
    return int64_t{world} * agents_in<R>(shared.params) + row;
}

/// Where the rows of a role's wide output go, and in which form.
template <class E, class R, Output kOutput, class S>
GE_FN WideTarget role_target(const Shared<S>& shared, Output output) {
  return wide_target<role_row<E, R, kOutput>>(shared, output,
                                              rows_of_role<E, R, kOutput>(shared, output));
}
/// Where the layers of a role's pictures go.
template <class E, class R, class S>
GE_FN ImageTarget image_target(const Shared<S>& shared, bool into_final) {
  ImageTarget target{role_row<E, R, kObservation>::form(shared.params), {}};
  for (int k = 0; k < kLayerCount; ++k)
    if ((target.form.layers & layer_at(k)) != 0)
      target.at[k] = rows_of_role<E, R, kObservation>(
          shared, output_of_layer(target.form, layer_at(k), into_final));
  return target;
}

/// The output among whose rows those of kOutput lie: numbers beside pictures are a layer of these.
template <Output kOutput>
inline constexpr Output kPlacedAs = kOutput == kNumbers ? kObservation : kOutput;
/// The output that a role's rows of kOutput go to.
template <class E, class R, Output kOutput, class S>
GE_FN Output output_for([[maybe_unused]] const Shared<S>& shared, bool into_final) {
  if constexpr (kOutput == kNumbers) {
    using Picture = role_row<E, R, kObservation>;
    static_assert(AnyImage<Picture>, "GE: Numbers stand beside a picture; other rows hold them");
    static_assert(std::is_same_v<typename RowShape<role_row<E, R, kNumbers>>::Element, float>,
                  "GE: the fields of Numbers are floats");
    return output_of_layer(Picture::form(shared.params), kNumberRow, into_final);
  }
  return target_of<kOutput>(into_final);
}

/// Bytes of a world's observations, which may lie in several outputs.
template <class E, class S>
GE_FN int64_t observation_bytes(const Shared<S>& shared) {
  int64_t bytes = world_row_bytes<E, kObservation>(shared, kObservation);
  if constexpr (has_pictures<E>)
    bytes += world_row_bytes<E, kObservation>(shared, kDepth) +
             world_row_bytes<E, kObservation>(shared, kSegmentation) +
             world_row_bytes<E, kObservation>(shared, kNumbers);
  return bytes;
}

/// Stores a value of Write<O, F, R>: numbers lie by agent in either form, parts of a reward as
/// other rows do.
template <class E, class R, Output O, class V, class S>
GE_FN void put_value(const Shared<S>& shared, void* to, int world, int row, const V& value) {
  if constexpr (std::is_arithmetic_v<V>) {
    V* const at = static_cast<V*>(to) + agent_index<R>(shared, world, row);
    GE_WATCH(at, sizeof(V), true);
    store_once(at, value);
  } else {
    const RowsAt rows = rows_at<E, R, O>(shared, O);
    char* const at = static_cast<char*>(to) + rows.of(world, row);
    GE_WATCH(at, int(sizeof(V)) + int(rows.tail), true);
    *reinterpret_cast<V*>(at) = value;
    if constexpr (!has_one_role<S>)
      for (int k = int(sizeof(V)); k < int(sizeof(V)) + int(rows.tail); ++k) at[k] = 0;
  }
}

// ---- clearing rows of final observations

/// Calls f(output, first, bytes) for each array of final observations that the caller wants:
/// `bytes` per world, world after world, from byte `first` on.
GE_EITHER_MACHINE
template <class E, class S, class F>
GE_FN void for_each_final_run(const Shared<S>& shared, const F& f) {
  for_each_final_observation<E>([&](Output output) GE_LAMBDA {
    if (shared.bound.at[output] == nullptr) return;
    if (is_split(shared))
      for_each_type(roles_of<S>{}, [&](auto role) GE_LAMBDA {
        const RowsAt at =
            rows_at<E, typename decltype(role)::type, kFinalObservation>(shared, output);
        f(output, at.first, at.world);
      });
    else
      f(output, int64_t{0}, world_row_bytes<E, kFinalObservation>(shared, output));
  });
}
/// Calls f(to, bytes) for the final observation of an agent of R, once per array.
GE_EITHER_MACHINE
template <class E, class R, class S, class F>
GE_FN void for_each_final_row(const Shared<S>& shared, int world, int row, const F& f) {
  for_each_final_observation<E>([&](Output output) GE_LAMBDA {
    char* const to = static_cast<char*>(shared.bound.at[output]);
    if (to == nullptr) return;
    const RowsAt at = rows_at<E, R, kFinalObservation>(shared, output);
    f(to + at.of(world, row), role_row_bytes<E, R, kFinalObservation>(shared, output));
  });
}
/// Whether `ended`, still that of the step before, marks an agent of R.
template <class R, class S>
GE_FN bool has_ended(const Shared<S>& shared, int world, int row) {
  const uint8_t* const ended = static_cast<const uint8_t*>(shared.bound.at[kEnded]);
  const int64_t index = agent_index<R>(shared, world, row);
  GE_WATCH(ended + index, 1, false);
  return ended[index] != 0;
}

// ---- making a row

/// Rows up to this size are made in registers and copied, which vectorises over worlds. A larger
/// one is made in place: a copy would wait for the stores just made, or lie in a GPU's local
/// memory.
inline constexpr int kLargestCopied = 64;

/// Makes an agent's row of fixed length in place, with `tail` bytes of zeros behind it. Where F
/// asks for a squad, that of `cells` shares the row. kZeroed: the row holds zeros already.
template <auto F, class T, class Row, bool kZeroed = false, class S>
GE_FN void make_agent_row(const Cells<S>& cells, int row, bool into_final, char* at, int64_t tail) {
  using Element = typename RowShape<Row>::Element;
  static_assert(!wants_squad<F> || is_complete<Row>(),
                "GE: a row that a squad makes says `static constexpr bool complete = true`");
  const RowFate fate = row_fate<T>(cells, row, into_final);
  if (!fate.wanted) return;
  const int lane = wants_squad<F> ? cells.squad_lane : 0;
  const int lanes = wants_squad<F> ? cells.squad_size : 1;
  Element* const to = reinterpret_cast<Element*>(at);
  const int end = RowShape<Row>::elements + int(tail) / int(sizeof(Element));
  if (lane == 0) GE_WATCH(to, int(sizeof(Row)) + int(tail), true);
  Row& out = *new (to) Row;
  if (fate.shows) fill_row_of<F, T, Row, kZeroed>(cells, row, out, Arguments<F>{});
  for (int k = (fate.shows ? RowShape<Row>::elements : 0) + lane; k < end; k += lanes) to[k] = {};
}

}  // namespace ge
