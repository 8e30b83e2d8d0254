// Actions of roles: where an agent's action lies in the caller's array in either form (RoleForm),
// its element type, and how values outside the role's range are treated.
//
//   padded   |w0 governor 0  |w0 governor 1  | ... |w0 planner 0     |w1 ...
//   split    |w0 governor 0|w0 governor 1|w1 governor 0| ... |w0 planner 0|w1 planner 0| ...
//
// Padded, each action has room for the words of the longest. With one role both forms are one.
#pragma once

#include "engine/graph/channels.hpp"

namespace ge {

/// Whether an action is one category.
template <class A>
inline constexpr bool is_choice = !ActionShape<A>::is_float && ActionShape<A>::words == 1;

template <class List>
struct TraitsOfRoles;
template <class... Rs>
struct TraitsOfRoles<Types<Rs...>> {
  static constexpr bool choices = (is_choice<typename Rs::Action> && ...);
  static constexpr bool floats = (ActionShape<typename Rs::Action>::is_float && ...);
  /// Whether some roles act in floats and some in categories.
  static constexpr bool mixed = !floats && (ActionShape<typename Rs::Action>::is_float || ...);
  static constexpr int most_words = int(most_of(Types<Rs...>{}, [](auto role) {
    return ActionShape<typename decltype(role)::type::Action>::words;
  }));
};
template <class S>
using RoleTraits = TraitsOfRoles<roles_of<S>>;

/// The position of the action of an agent of R in the caller's array, in words.
template <class R, class S>
GE_FN int64_t action_at(const Shared<S>& shared, int world, int row) {
  if (!is_split(shared)) return agent_index<R>(shared, world, row) * RoleTraits<S>::most_words;
  const int64_t before = sum_before<R>(roles_of<S>{}, [&shared](auto role) GE_LAMBDA {
    using Q = typename decltype(role)::type;
    return int64_t{agents_in<Q>(shared.params)} * ActionShape<typename Q::Action>::words;
  });
  const int64_t own = has_one_agent<S> ? world : int64_t{world} * agents_in<R>(shared.params) + row;
  return shared.worlds * before + own * ActionShape<typename R::Action>::words;
}

/// The largest number of categories of any role.
template <class S>
GE_FN int64_t most_choices(const Shared<S>& shared) {
  return most_of(roles_of<S>{}, [&shared](auto role) GE_LAMBDA {
    using A = typename decltype(role)::type::Action;
    return int64_t(highest_action<A>(shared.params, 0, ActionShape<A>::ranges.at[0].high)) + 1;
  });
}
/// Whether a category that the role lacks belongs to another role: in the padded form it is in the
/// space that all roles share, and the mask forbids it, so it is not a caller's mistake.
template <class From, class S>
GE_FN bool is_of_another_role([[maybe_unused]] const Shared<S>& shared,
                              [[maybe_unused]] int64_t at) {
  if constexpr (RoleTraits<S>::choices && !has_one_role<S>) {
    if (is_split(shared)) return false;
    const int64_t value = int64_t(load_once(static_cast<const From*>(shared.actions) + at));
    return value >= 0 && value < most_choices(shared);
  }
  return false;
}

/// Takes the action of an agent of R. kCount: bad values are counted (see store_action).
template <class R, class From, bool kCount, class S>
GE_FN void take_action(const Cells<S>& cells, int row) {
  using A = typename R::Action;
  const Shared<S>& shared = *cells.shared;
  const int64_t index = agent_index<R>(shared, cells.world, row);
  const int64_t at = action_at<R>(shared, cells.world, row);
  bool bad = false;
  typename ActionShape<A>::Row values;
  if constexpr (!ActionShape<A>::is_float && ActionShape<A>::words > 1)
    values = shared.flat_actions != 0 ? split_number<A, From>(shared, index, bad)
                                      : read_words<A, From>(shared, at, bad);
  else
    values = read_words<A, From>(shared, at, bad);
  if (bad && is_of_another_role<From>(shared, at)) {
    bad = false;
    const bool gone = (cells.template load<typename R::Agent, Fate>(row).bits & Fate::kGone) != 0;
    const bool rests = cells.template load<EpisodeTable, Clock>(0).step == 0;  // takes no action
    if (!gone && !rests) ge::count_illegal<typename R::Agent>(World<S>(cells), row);
  }
  store_action<A, typename R::Agent, kCount>(cells, row, index, values, bad);
}

/// Calls f(Type_<From>{}) with the element type that a graph reads the actions of R in. Where some
/// roles act in floats and some in categories, all are words of 32 bits.
GE_EITHER_MACHINE
template <class S, class R, class F>
GE_FN void with_action_type([[maybe_unused]] Type type, F&& f) {
  using Shape = ActionShape<typename R::Action>;
  if constexpr (!kReadsCallersType) {
    f(Type_<typename Shape::Element>{});
  } else if constexpr (RoleTraits<S>::mixed) {
    f(Type_<int32_t>{});
  } else if constexpr (Shape::is_float) {
    return type == Type::float64 ? f(Type_<double>{}) : f(Type_<float>{});
  } else {
    switch (type) {
      case Type::int64:
        return f(Type_<int64_t>{});
      case Type::uint8:
        return f(Type_<uint8_t>{});
      default:
        return f(Type_<int32_t>{});
    }
  }
}

}  // namespace ge
