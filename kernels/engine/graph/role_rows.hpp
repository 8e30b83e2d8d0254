// Rows of roles: of which type a role's rows of an output are, and where they lie in the caller's
// array in either form (RoleForm).
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

// ---- which type a role's rows are of

/// The mask of a role that names none where others do: it may do all that it can.
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
/// Whether agents have masks: where somebody names one, and where several roles choose among one
/// category each, for the padded form gives all of them as many as the role with the most has.
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

/// f(output) for every output that final observations of E go to.
GE_EITHER_MACHINE
template <class E, class F>
GE_FN void for_each_final_observation(const F& f) {
  f(kFinalObservation);
  if constexpr (has_pictures<E>) {
    f(kFinalDepth);
    f(kFinalSegmentation);
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

/// Where a role's rows of an output lie, in bytes: the first row of world 0, how far it is to the
/// next world's and to the next row, and the zeros behind a row.
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
      return agents_in<Q>(shared.params) * role_row_bytes<E, Q, kOutput>(shared, output);
    });
    return {shared.worlds * before, agents_in<R>(shared.params) * own, own, 0};
  }
  const int64_t longest = most_of(roles_of<S>{}, [&shared, output](auto role) GE_LAMBDA {
    return role_row_bytes<E, typename decltype(role)::type, kOutput>(shared, output);
  });
  return {first_agent<S, R>(shared.params) * longest, agents_of(shared) * longest, longest,
          longest - own};
}
/// The array of an output from a role's first row on; null where the caller does not want it. Rows
/// that are wide, or pictures, follow one another there: those of world w begin with number
/// w * agents_in<R>.
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

/// Bytes of a world's observations, which may lie in several outputs.
template <class E, class S>
GE_FN int64_t observation_bytes(const Shared<S>& shared) {
  int64_t bytes = world_row_bytes<E, kObservation>(shared, kObservation);
  if constexpr (has_pictures<E>)
    bytes += world_row_bytes<E, kObservation>(shared, kDepth) +
             world_row_bytes<E, kObservation>(shared, kSegmentation);
  return bytes;
}

// ---- clearing rows of final observations

/// f(output, first, bytes) for what the final observations of all worlds are: runs of `bytes` per
/// world, world after world, from byte `first` of an array that the caller wants.
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
/// f(to, bytes) for what the final observation of an agent of R is, one run per array.
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
/// one is made where it belongs: a copy would wait for what has just been written, or lie in a
/// GPU's slow memory.
inline constexpr int kLargestCopied = 64;

/// An agent's row of fixed length, with `tail` bytes of zeros behind it, made where it belongs.
template <auto F, class T, class Row, class S>
GE_FN void make_agent_row(const Cells<S>& cells, int row, bool into_final, char* at, int64_t tail) {
  using Element = typename RowShape<Row>::Element;
  const RowFate fate = row_fate<T>(cells, row, into_final);
  if (!fate.wanted) return;
  Element* const to = reinterpret_cast<Element*>(at);
  const int zeros = int(tail) / int(sizeof(Element));
  GE_WATCH(to, int(sizeof(Row)) + int(tail), true);
  Row& out = *new (to) Row;
  if (fate.shows)
    fill_row_of<F, T, Row>(cells, row, out, Arguments<F>{});
  else
    for (int k = 0; k < RowShape<Row>::elements; ++k) to[k] = {};
  for (int k = RowShape<Row>::elements; k < RowShape<Row>::elements + zeros; ++k) to[k] = {};
}

}  // namespace ge
