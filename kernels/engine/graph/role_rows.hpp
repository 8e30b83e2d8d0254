// Rows of roles: which types of rows a role has, where they lie in the caller's arrays in either
// form (RoleForm), and where its actions come from. Environments whose agents are all of one kind
// have none of this.
//
//   padded   |w0 governor 0 ....000|w0 governor 1 ....000| ... |w0 planner 0 .............|w1 ...
//   split    |w0 governor 0|w0 governor 1| ... |w1 governor 0| ... |w0 planner 0|w1 planner 0| ...
//
// Numbers per agent (rewards, flags, lengths) are (worlds, agents) in both.
#pragma once

#include <new>

#include "engine/graph/channels.hpp"

namespace ge {

// ---- masks: of every role, or of those that name one

/// What a role that names no mask shows where others do: all that it can do.
template <int kChoices>
struct EveryAction {
  uint8_t legal[kChoices];
  static constexpr auto describe() {
    return fields(field("legal", &EveryAction::legal, "1: the action may be taken").within(0, 1));
  }
};

template <class R>
inline constexpr bool names_mask = requires { typename R::ActionMask; };
/// Whether an action is one category.
template <class A>
inline constexpr bool is_choice = !ActionShape<A>::is_float && ActionShape<A>::words == 1;

template <class List>
struct TraitsOfRoles;
template <class... Rs>
struct TraitsOfRoles<Types<Rs...>> {
  static constexpr int count = sizeof...(Rs);
  /// Padded, each has as many categories as the role with the most, so a mask has to tell.
  static constexpr bool choices = (is_choice<typename Rs::Action> && ...);
  static constexpr bool masks = choices || (names_mask<Rs> || ...);
  static constexpr bool floats = (ActionShape<typename Rs::Action>::is_float && ...);
  static constexpr bool mixed = !floats && (ActionShape<typename Rs::Action>::is_float || ...);
  static constexpr int most_words = [] {
    int most = 0;
    ((most = ActionShape<typename Rs::Action>::words > most
                 ? ActionShape<typename Rs::Action>::words
                 : most),
     ...);
    return most;
  }();
};
/// Of the roles of S.
template <class S>
using RoleTraits = TraitsOfRoles<roles_of<S>>;

template <class R>
struct MaskOf {
  using A = typename R::Action;
  using type = EveryAction<is_choice<A> ? int(ActionShape<A>::ranges.at[0].high) + 1 : 1>;
};
template <class R>
  requires names_mask<R>
struct MaskOf<R> {
  using type = typename R::ActionMask;
};

/// The type of a role's rows of an output: of an observation, or else of a mask.
template <class R, Output kOutput>
struct RowOfRole {
  using type = typename R::Observation;
};
template <class R>
struct RowOfRole<R, kActionMask> {
  using type = typename MaskOf<R>::type;
};
template <class R, Output kOutput>
using role_row = typename RowOfRole<R, kOutput>::type;

/// Of all roles together.
template <Output kOutput, class List>
struct RowsOfRoles;
template <Output kOutput, class First, class... Rest>
struct RowsOfRoles<kOutput, Types<First, Rest...>> {
  using Element = typename RowShape<role_row<First, kOutput>>::Element;
  static_assert((std::is_same_v<Element, typename RowShape<role_row<Rest, kOutput>>::Element> &&
                 ...),
                "GE: the rows of all roles have one element type");
  static constexpr int longest = [] {
    int most = RowShape<role_row<First, kOutput>>::elements;
    ((most = RowShape<role_row<Rest, kOutput>>::elements > most
                 ? RowShape<role_row<Rest, kOutput>>::elements
                 : most),
     ...);
    return most;
  }();
  /// Elements of one world, split: of a role, and of all.
  template <class R, class Params>
  static GE_FN int64_t elements_of(const Params& params) {
    return int64_t{agents_in<R>(params)} * RowShape<role_row<R, kOutput>>::elements;
  }
  template <class Params>
  static GE_FN int64_t of_world(const Params& params) {
    return (elements_of<First>(params) + ... + elements_of<Rest>(params));
  }
  /// Those of the roles before R.
  template <class R, class Params>
  static GE_FN int64_t before(const Params& params) {
    int64_t sum = 0;
    bool found = false;
    const auto visit = [&]<class Q>(Type_<Q>) {
      found = found || std::is_same_v<Q, R>;
      if (!found) sum += elements_of<Q>(params);
    };
    visit(Type_<First>{});
    (visit(Type_<Rest>{}), ...);
    return sum;
  }
};
template <class S, Output kOutput>
using RoleRows = RowsOfRoles<kOutput, roles_of<S>>;

/// Where a role's rows of an output lie, in elements: the first row of world 0, how far it is to
/// the next world's and to the next row, and the zeros behind a row's own elements.
struct RowsAt {
  int64_t first, world, row;
  int32_t tail;

  GE_FN int64_t of(int at_world, int at_row) const {
    return first + at_world * world + at_row * row;
  }
};
template <Output kOutput, class R, class S>
GE_FN RowsAt rows_at(const Shared<S>& shared) {
  using Rows = RoleRows<S, kOutput>;
  constexpr int elements = RowShape<role_row<R, kOutput>>::elements;
  if (shared.role_form == RoleForm::padded) {
    constexpr int64_t longest = Rows::longest;
    return {first_agent<S, R>(shared.params) * longest, agents_of(shared) * longest, longest,
            int32_t(longest - elements)};
  }
  return {shared.worlds * Rows::template before<R>(shared.params),
          int64_t{agents_in<R>(shared.params)} * elements, elements, 0};
}
/// The number of an agent of R among those of the batch.
template <class R, class S>
GE_FN int64_t agent_index(const Shared<S>& shared, int world, int row) {
  return int64_t{world} * agents_of(shared) + first_agent<S, R>(shared.params) + row;
}

/// An agent's row of a role, with `tail` zeros behind it, made where it belongs: such rows are
/// long, and a copy of one waits for what has just been written, or lies in a GPU's slow memory.
template <auto F, class T, class Row, class S>
GE_FN void make_role_row(const Cells<S>& cells, int row, bool into_final,
                         typename RowShape<Row>::Element* to, int tail) {
  const RowFate fate = row_fate<T>(cells, row, into_final);
  if (!fate.wanted) return;
  GE_WATCH(to, int(sizeof(Row) + size_t(tail) * sizeof *to), true);
  Row& out = *new (to) Row;
  if (fate.shows)
    fill_row_of<F, T, Row>(cells, row, out, Arguments<F>{});
  else
    for (int k = 0; k < RowShape<Row>::elements; ++k) to[k] = {};
  for (int k = RowShape<Row>::elements; k < RowShape<Row>::elements + tail; ++k) to[k] = {};
}

/// Bytes of a world's observations.
template <class S>
GE_FN int64_t role_observation_bytes(const Shared<S>& shared) {
  using Rows = RoleRows<S, kObservation>;
  const int64_t elements = shared.role_form == RoleForm::padded
                               ? int64_t{agents_of(shared)} * Rows::longest
                               : Rows::of_world(shared.params);
  return elements * int64_t(sizeof(typename Rows::Element));
}

// ---- actions

namespace detail {

/// Words of a world's actions of the roles before R, split.
template <class R, class Params, class... Rs>
GE_FN int64_t words_before(const Params& params, Types<Rs...>) {
  int64_t words = 0;
  bool found = false;
  ((found = found || std::is_same_v<R, Rs>,
    words += found ? 0 : int64_t{agents_in<Rs>(params)} * ActionShape<typename Rs::Action>::words),
   ...);
  return words;
}

/// How many categories the role with the most has.
template <class Params, class... Rs>
GE_FN int64_t most_choices(const Params& params, Types<Rs...>) {
  int64_t most = 0, of[] = {int64_t(highest_action<typename Rs::Action>(
                                params, 0, ActionShape<typename Rs::Action>::ranges.at[0].high)) +
                            1 ...};
  for (const int64_t choices : of) most = choices > most ? choices : most;
  return most;
}

}  // namespace detail

/// Whether a category that the role lacks is one of another's: padded, it is one of the space that
/// all share, which a mask forbids, and no fault of the caller's.
template <class From, class S>
GE_FN bool is_of_another_role([[maybe_unused]] const Shared<S>& shared,
                              [[maybe_unused]] int64_t at) {
  if constexpr (RoleTraits<S>::choices) {
    if (shared.role_form != RoleForm::padded) return false;
    const int64_t value = int64_t(load_once(static_cast<const From*>(shared.actions) + at));
    return value >= 0 && value < detail::most_choices(shared.params, roles_of<S>{});
  }
  return false;
}

/// The action of an agent of R; as `take_action`.
template <class E, class R, class From, bool kCount>
GE_FN void take_role_action(const Cells<typename E::Schema>& cells, int row) {
  using S = typename E::Schema;
  using A = typename R::Action;
  const Shared<S>& shared = *cells.shared;
  constexpr int words = ActionShape<A>::words;
  const int64_t index = agent_index<R>(shared, cells.world, row);
  int64_t first = index * RoleTraits<S>::most_words;
  if (shared.role_form == RoleForm::split)
    first = shared.worlds * detail::words_before<R>(shared.params, roles_of<S>{}) +
            (int64_t{cells.world} * agents_in<R>(shared.params) + row) * words;
  bool bad = false;
  const auto values = read_words<A, From>(shared, first, bad);
  if (bad && is_of_another_role<From>(shared, first)) {
    bad = false;
    const bool gone = (cells.template load<typename R::Agent, Fate>(row).bits & Fate::kGone) != 0;
    const bool rests = cells.template load<EpisodeTable, Clock>(0).step == 0;  // takes no action
    if (!gone && !rests) World<S>(cells).template count_illegal<typename R::Agent>(row);
  }
  store_action<A, typename R::Agent, kCount>(cells, row, index, values, bad);
}

/// As with_action_type, of a role: where roles' actions are of both kinds, all come as words.
GE_EITHER_MACHINE
template <class S, class R, class F>
GE_FN void with_role_action_type(Type type, F&& f) {
  if constexpr (RoleTraits<S>::mixed && kReadsCallersType)
    f(Type_<int32_t>{});
  else
    with_action_type<typename R::Action>(type, f);
}

}  // namespace ge
