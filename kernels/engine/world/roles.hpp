// Roles: kinds of agents of one world, each with a table, an action and rows of its own. A schema
// lists them in the place of one Agent and one Action:
//
//   struct Governor {
//     static constexpr const char* name = "governor";
//     using Agent = Governors;            // its table
//     using Action = Order;               // a component of it
//     using Observation = GovernorView;   // a row
//     using ActionMask = GovernorMask;    // a row, where some actions are illegal at times
//   };
//   struct Schema {
//     using roles = ge::Types<Governor, Planner>;
//     ...
//
// The agents of a world are counted through: those of the first role, then those of the second, ...
// Where all agents are of one kind, LoneRole stands for it, and nothing of this is compiled.
#pragma once

#include "engine/world/table.hpp"

namespace ge {

struct LoneRole {};

template <class S>
inline constexpr bool has_roles = requires { typename S::roles; };

template <class S>
struct RolesOf {
  using type = Types<LoneRole>;
};
template <class S>
  requires has_roles<S>
struct RolesOf<S> {
  using type = typename S::roles;
};
template <class S>
using roles_of = typename RolesOf<S>::type;

/// Stands for the one agents' table where there are several.
struct NoAgent {
  static constexpr int capacity = kAny;
};
template <class S>
struct LoneAgent {
  using type = NoAgent;
};
template <class S>
  requires(!has_roles<S>)
struct LoneAgent<S> {
  using type = typename S::Agent;
};
template <class S>
using lone_agent_of = typename LoneAgent<S>::type;
/// Whether a world never has more than one agent.
template <class S>
inline constexpr bool has_one_agent = lone_agent_of<S>::capacity == 1;

/// Agents of a role in worlds with these parameters.
template <class R, class Params>
GE_FN constexpr int agents_in(const Params& params) {
  return int(rows_of<typename R::Agent>(params));
}

namespace detail {

template <class Params, class... Rs>
GE_FN constexpr int agents_in_all(const Params& params, Types<Rs...>) {
  return (0 + ... + agents_in<Rs>(params));
}
/// Agents of the roles before R.
template <class R, class Params, class... Rs>
GE_FN constexpr int agents_before(const Params& params, Types<Rs...>) {
  int count = 0;
  bool found = false;
  ((found = found || std::is_same_v<R, Rs>, count += found ? 0 : agents_in<Rs>(params)), ...);
  return count;
}
/// The same of the role whose table T is.
template <class T, class Params, class... Rs>
GE_FN constexpr int agents_before_table(const Params& params, Types<Rs...>) {
  int count = 0;
  bool found = false;
  ((found = found || std::is_same_v<T, typename Rs::Agent>,
    count += found ? 0 : agents_in<Rs>(params)),
   ...);
  return count;
}

}  // namespace detail

/// The number, among all agents of a world, of the first of a role.
template <class S, class R>
GE_FN constexpr int first_agent(const typename S::Params& params) {
  if constexpr (std::is_same_v<R, LoneRole>)
    return 0;
  else
    return detail::agents_before<R>(params, roles_of<S>{});
}

}  // namespace ge
