// Roles: kinds of agents of one world, each with its own table, action and rows. A schema lists
// them in place of one Agent and one Action:
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
// Every environment has roles: a schema with one Agent and one Action has OnlyRole, whose rows the
// environment names. The agents of a world are numbered role by role: first those of the first
// role, then those of the second, ...
#pragma once

#include "engine/world/table.hpp"

namespace ge {

/// The role of all agents of a schema that lists no roles.
template <class S>
struct OnlyRole {
  static constexpr const char* name = "player";
  using Agent = typename S::Agent;
  using Action = typename S::Action;
};

/// Whether a schema lists roles by name.
template <class S>
inline constexpr bool has_roles = requires { typename S::roles; };

template <class S>
struct RolesOf {
  using type = Types<OnlyRole<S>>;
};
template <class S>
  requires has_roles<S>
struct RolesOf<S> {
  using type = typename S::roles;
};
/// The roles of a schema, at least one.
template <class S>
using roles_of = typename RolesOf<S>::type;
template <class S>
inline constexpr bool has_one_role = roles_of<S>::size == 1;

template <class List>
struct TablesOfRoles;
template <class... Rs>
struct TablesOfRoles<Types<Rs...>> {
  using type = Types<typename Rs::Agent...>;
};
/// The tables of all agents, role by role.
template <class S>
using agent_tables_of = typename TablesOfRoles<roles_of<S>>::type;

/// Whether a world never has more than one agent.
template <class S>
inline constexpr bool has_one_agent =
    has_one_role<S> && TypeAt<0, agent_tables_of<S>>::type::capacity == 1;

/// The exclusive prefix sum of size_of(Type_<R>{}) at role R of a list.
GE_EITHER_MACHINE
template <class R, class F, class... Rs>
GE_FN constexpr int64_t sum_before(Types<Rs...>, const F& size_of) {
  int64_t sum = 0;
  bool found = false;
  ((found = found || std::is_same_v<R, Rs>, sum += found ? 0 : int64_t(size_of(Type_<Rs>{}))), ...);
  return sum;
}
/// The sum of size_of(Type_<R>{}) over all roles R of a list.
GE_EITHER_MACHINE
template <class F, class... Rs>
GE_FN constexpr int64_t sum_of(Types<Rs...>, const F& size_of) {
  return (int64_t{0} + ... + int64_t(size_of(Type_<Rs>{})));
}
/// The largest size_of(Type_<R>{}) of all roles R of a list.
GE_EITHER_MACHINE
template <class F, class... Rs>
GE_FN constexpr int64_t most_of(Types<Rs...>, const F& size_of) {
  int64_t most = 0;
  const auto take = [&most](int64_t size) GE_LAMBDA { most = size > most ? size : most; };
  (take(int64_t(size_of(Type_<Rs>{}))), ...);
  return most;
}

/// Agents of a role in worlds with these parameters.
template <class R, class Params>
GE_FN constexpr int agents_in(const Params& params) {
  return int(rows_of<typename R::Agent>(params));
}
/// Agents of all roles in worlds with these parameters.
template <class S>
GE_FN constexpr int agents_with(const typename S::Params& params) {
  return int(sum_of(roles_of<S>{}, [&params](auto role) GE_LAMBDA {
    return agents_in<typename decltype(role)::type>(params);
  }));
}
/// The number of a role's first agent among all agents of a world.
template <class S, class R>
GE_FN constexpr int first_agent(const typename S::Params& params) {
  return int(sum_before<R>(roles_of<S>{}, [&params](auto role) GE_LAMBDA {
    return agents_in<typename decltype(role)::type>(params);
  }));
}

template <class T, class List>
struct RoleWithTable;
template <class T, class... Rs>
struct RoleWithTable<T, Types<Rs...>> {
  using found =
      concat<std::conditional_t<std::is_same_v<T, typename Rs::Agent>, Types<Rs>, Types<>>...>;
  static_assert(found::size > 0, "GE: no role has its agents in this table");
  using type = typename TypeAt<0, found>::type;
};
/// The role whose agents are the rows of T.
template <class S, class T>
using role_with_table = typename RoleWithTable<T, roles_of<S>>::type;

}  // namespace ge
