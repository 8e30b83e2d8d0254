// The facts that an environment's types imply on every machine: columns of the record, what a user
// sets, fields of rows and actions. build.hpp makes the plan of a simulator of them.
#pragma once

#include <algorithm>

#include "engine/graph/channels.hpp"
#include "engine/graph/episode.hpp"
#include "engine/graph/outputs.hpp"
#include "engine/graph/wide_rows.hpp"
#include "engine/simulator/plan.hpp"
#include "engine/simulator/varying.hpp"

namespace ge {

template <class T>
std::string table_name() {
  static_assert(
      requires { std::string(T::name); },
      "GE: a table says what its columns are called: static constexpr const char* name");
  return T::name;
}

consteval bool are_equal_texts(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}
template <class... Ts>
consteval bool has_table(const char* name, Types<Ts...>) {
  return (are_equal_texts(name, Ts::name) || ...);
}

/// The limits that `set` and `load` hold a persistent integer to, so that no value from outside
/// indexes beyond a table. A refusal's list of instantiations names the field.
template <class Component, Name kField, bool kSaysItsValues, bool kTableExists>
struct ColumnOf {
  static_assert(kSaysItsValues,
                "GE: a whole number of a persistent table has no range (component and field: see "
                "'ColumnOf<...>' beside this line): say .within(low, high), .one_of(count) or "
                ".row_of(\"table\"), or .any_value() where no rule uses it as an index or as the "
                "end of a loop");
  static_assert(kTableExists,
                "GE: .row_of(\"name\") names no table of this environment (see 'ColumnOf<...>' "
                "beside this line)");
};
template <class Component, class Tables, size_t... k>
consteval void check_fields(std::index_sequence<k...>) {
  constexpr auto all = Component::describe();
  ((void)sizeof(ColumnOf < Component, Name::of(std::get<k>(all).name),
                says_its_values(std::get<k>(all)),
                std::get<k>(all).table == nullptr || has_table(std::get<k>(all).table, Tables{}) >),
   ...);
}

/// Visited by Walk with each header and column at its offset. Only facts of the types are collected
/// here; texts are made in plan.cpp, so that an environment's object stays small.
template <class Tables, class Params>
struct ListColumns : ColumnList {
  const Params& params;
  int64_t header_at = -1;  // of the table whose columns come next
  template <class T>
  GE_COLD void header(int64_t at) {
    header_at = at;
    if constexpr (T::kind == Kind::list)
      list_header(table_name<T>(), at, header_bytes<T>(), room_of<T>(params));
    else
      pool_header(table_name<T>(), at, header_bytes<T>(), kLiveWords<T>, T::capacity);
  }
  template <class T, class C>
  GE_COLD void column(int64_t at) {
    if constexpr (is_own<T>)
      own_column<T, C>(at);
    else
      table_column<T, C>(at);
  }
  template <class T, class C>
  GE_COLD void table_column(int64_t at) {
    if constexpr (!in_scratch<T, C>)
      check_fields<C, Tables>(
          std::make_index_sequence<std::tuple_size_v<decltype(C::describe())>>{});
    std::vector<FieldInfo> infos = field_infos<C>();
    if constexpr (requires { C::highest(params, 0); })
      for (size_t k = 0; k < infos.size(); ++k) infos[k].high = C::highest(params, int(k));
    LiveRows live;
    if constexpr (T::kind == Kind::fixed)
      live.fixed = rows_of<T>(params);
    else
      live = {0, header_at, T::kind == Kind::pool};
    component(table_name<T>(), {at, int64_t(sizeof(C)), unit_of<C>}, room_of<T>(params), live,
              infos);
  }
  /// Parameters are columns. What follows from them lies in front of them and cannot be set.
  template <class T, class C>
  GE_COLD void own_column(int64_t at) {
    using Columns = typename T::components;
    constexpr bool is_named = std::is_same_v<C, typename TypeAt<Columns::size - 1, Columns>::type>;
    LiveRows live;
    live.fixed = rows_of<T>(params);
    std::vector<FieldInfo> infos;
    if constexpr (is_named)
      if (live.fixed > 0) infos = field_infos<C>();
    component(table_name<T>(), {at, int64_t(sizeof(C)), unit_of<C>}, live.fixed, live, infos);
  }
};

/// The number of rows of every table, by name; of a Fixed table only the live ones.
template <class... Ts, class Params>
GE_COLD std::vector<std::pair<std::string, int64_t>> row_counts(Types<Ts...>,
                                                                const Params& params) {
  return {
      {table_name<Ts>(), Ts::kind == Kind::fixed ? rows_of<Ts>(params) : room_of<Ts>(params)}...};
}

/// The columns of one of the two memories, in the order of their offsets.
template <bool kScratch, class Tables, class Params>
GE_COLD void list_columns(std::vector<Column>& columns, std::vector<Segment>& segments,
                          const Params& params) {
  ListColumns<Tables, Params> visit{{columns, segments, row_counts(Tables{}, params)}, params};
  const int end = Walk<kScratch, Tables>::run(visit);
  const int64_t last = Walk<kScratch, Tables>::run_any(visit, params, end);
  Walk<kScratch, Tables>::run_own(visit, params, last);
}

// The user's settings and the rules' parameters: the same struct, or Settings that are resolved
// into Params, on the host, once.
template <class S>
struct SettingsOf {
  using type = typename S::Params;
};
template <class S>
  requires requires { typename S::Settings; }
struct SettingsOf<S> {
  using type = typename S::Settings;
};
template <class S>
typename S::Params resolve(typename SettingsOf<S>::type& settings) {
  if constexpr (requires { typename S::Settings; })
    return S::resolve(settings);
  else
    return settings;
}

/// Parameters with the list of those that vary.
template <class S>
GE_COLD held_of<S> held(const typename S::Params& params, const std::vector<std::string>& varying) {
  check_varying(field_infos<typename SettingsOf<S>::type>(), field_infos<varied_of<S>>(), varying);
  if constexpr (has_varied<S>) {
    held_of<S> made{params, 0, {}};
    for (int k = 0; k < kVaried<S>; ++k)
      if (std::find(varying.begin(), varying.end(), kFieldData<varied_of<S>>[size_t(k)].name) !=
          varying.end())
        made.number[made.varying++] = uint8_t(k);
    return made;
  } else {
    return params;
  }
}

// The user's options of a reset and the kernels' options: the same struct, or ResetSettings (which
// may hold texts) that S::resolve_options(settings, params) turns into Options, on the host; with
// assets as a third argument where they say what is possible.
template <class S>
struct ResetSettingsOf {
  using type = typename OptionsOf<S>::type;
};
template <class S>
  requires requires { typename S::ResetSettings; }
struct ResetSettingsOf<S> {
  using type = typename S::ResetSettings;
};
template <class S>
GE_COLD typename OptionsOf<S>::type resolve_options(
    const Values& values, const typename S::Params& params,
    [[maybe_unused]] const typename AssetsOf<S>::type& assets) {
  const auto settings = from_values<typename ResetSettingsOf<S>::type>(values, "reset option");
  if constexpr (requires { S::resolve_options(settings, params, assets); })
    return S::resolve_options(settings, params, assets);
  else if constexpr (requires { typename S::ResetSettings; })
    return S::resolve_options(settings, params);
  else
    return settings;
}

template <class E>
GE_COLD std::string name_of_agent([[maybe_unused]] const typename E::Schema::Params& params,
                                  int agent) {
  if constexpr (kHooks<E>.agent_name.given) {
    return kHooks<E>.agent_name.call(params, agent);
  } else {
    std::string name;
    for_each_type(roles_of<typename E::Schema>{}, [&](auto role) {
      using R = typename decltype(role)::type;
      const int own = agent - first_agent<typename E::Schema, R>(params);
      if (own >= 0 && own < agents_in<R>(params)) name = usual_agent_name(R::name, own);
    });
    return name;
  }
}

/// The described fields of a row, whatever its kind, with the type of its elements.
template <class Row, class Params>
GE_COLD std::vector<FieldInfo> row_fields(const Params& params) {
  if constexpr (AnyImage<Row>) {
    return image_fields(Row::form(params));
  } else if constexpr (Wide<Row>) {
    // A wide row describes itself for given parameters, and its elements are of one type.
    std::vector<FieldInfo> all = Row::describe(params);
    for (FieldInfo& info : all)
      info.type = std::is_same_v<typename Row::Element, float> ? Type::float32 : Type::uint8;
    return all;
  } else {
    return field_infos<Row>();
  }
}

/// The fields of an action, with as many choices as the parameters allow.
template <class A, class Params>
GE_COLD std::vector<FieldInfo> action_fields(const Params& params) {
  std::vector<FieldInfo> all = field_infos<A>();
  if constexpr (has_choices<A, Params>) {
    // Fields and words are then numbered alike.
    static_assert(ActionShape<A>::words == int(std::tuple_size_v<decltype(A::describe())>),
                  "GE: choices(params) is for an action whose fields are one category each");
    for (size_t k = 0; k < all.size(); ++k) {
      all[k].choices = choices_of<A>(params, int(k));
      all[k].high = all[k].choices - 1;
    }
  }
  return all;
}

/// Low and high of each word of an action.
template <class A, class Params>
GE_COLD std::vector<double> ranges_of(const Params& params) {
  std::vector<double> ranges;
  for (int k = 0; k < ActionShape<A>::words; ++k) {
    ranges.push_back(ActionShape<A>::ranges.at[k].low);
    ranges.push_back(highest_action<A>(params, k, ActionShape<A>::ranges.at[k].high));
  }
  return ranges;
}
/// The observation of a role: the fields of its row, or the layers of its picture, and behind these
/// the fields of the numbers beside it.
template <class E, class R>
GE_COLD void describe_observation(const typename E::Schema::Params& params,
                                  BuildFacts::Role& role) {
  using Row = role_row<E, R, kObservation>;
  role.observation = row_fields<Row>(params);
  if constexpr (AnyImage<Row>) {
    const ImageForm& form = Row::form(params);
    role.sees_pictures = !role.observation.empty();
    std::vector<FieldInfo> beside;
    if constexpr (has_role_rows<E, R, kNumbers>)
      beside = row_fields<role_row<E, R, kNumbers>>(params);
    if (elements_in(beside) != form.numbers)
      throw Error(Fault::runtime, "a picture's form has " + std::to_string(form.numbers) +
                                      " numbers beside it, the row of Numbers " +
                                      std::to_string(elements_in(beside)));
    if ((form.layers & kNumberRow) == 0) return;
    role.numbers = int(beside.size());
    role.observation.insert(role.observation.end(), beside.begin(), beside.end());
  }
}

template <class E, class R>
GE_COLD BuildFacts::Role facts_of_role(const typename E::Schema::Params& params) {
  using S = typename E::Schema;
  using A = typename R::Action;
  static_assert(is_transient<A>(),
                "GE: an action is of one step: say static constexpr bool transient = true in it");
  BuildFacts::Role role;
  role.shape.name = R::name;
  role.shape.first = first_agent<S, R>(params);
  role.shape.count = agents_in<R>(params);
  role.shape.is_float = ActionShape<A>::is_float;
  role.shape.ranges = ranges_of<A>(params);
  role.action = action_fields<A>(params);
  describe_observation<E, R>(params, role);
  role.is_choice = is_choice<A>;
  role.shape.elements =
      role.sees_pictures ? role.observation.front().elements() : elements_in(role.observation);
  if constexpr (has_role_rows<E, R, kActionMask>)
    role.shape.mask_elements = elements_in(row_fields<role_row<E, R, kActionMask>>(params));
  if constexpr (has_role_rows<E, R, kRewardParts>)
    role.reward_parts = row_fields<role_row<E, R, kRewardParts>>(params);
  if constexpr (has_rows<E, kMeasures> || has_rows<R, kMeasures>)
    role.measures = row_fields<role_row<E, R, kMeasures>>(params);
  check_names(role);
  role.shape.has_mask = has_masks<E> && (RoleTraits<S>::choices || has_rows<R, kActionMask> ||
                                         has_rows<E, kActionMask>);
  return role;
}
template <class E>
GE_COLD std::vector<BuildFacts::Role> facts_of_roles(const typename E::Schema::Params& params) {
  std::vector<BuildFacts::Role> all;
  for_each_type(roles_of<typename E::Schema>{}, [&](auto role) {
    all.push_back(facts_of_role<E, typename decltype(role)::type>(params));
  });
  return all;
}

/// Facts of a build that need no simulator; `E` is the smallest tier.
template <class E>
GE_COLD BuildFacts facts_of_build(const std::string& id,
                                  const held_of<typename E::Schema>& params) {
  using S = typename E::Schema;
  BuildFacts facts(id, E::card);
  std::vector<Segment> segments;
  list_columns<false, AllTables<S>>(facts.columns, segments, params);
  facts.parameters = field_infos<typename SettingsOf<S>::type>(true);
  for (const FieldInfo& varied : field_infos<varied_of<S>>())
    for (FieldInfo& info : facts.parameters)
      if (info.name == varied.name) info.varies = true;
  facts.reset_options = field_infos<typename ResetSettingsOf<S>::type>(true);
  facts.roles = facts_of_roles<E>(params);
  facts.names_roles = has_roles<S>;
  facts.can_pad = !has_roles<S> || can_pad<E>;
  if constexpr (has_roles<S>) {
    describe_padded(facts);
    if constexpr (has_masks<E>) facts.rows[kActionMask].emplace();
  } else {
    facts.action = facts.roles.front().action;
    facts.pictures = facts.roles.front().sees_pictures;
    facts.numbers = facts.roles.front().numbers;
  }
  for_each_row_type<E>([&](auto output, auto row) {
    facts.rows[output] = row_fields<typename decltype(row)::type>(params);
  });
  if constexpr (!has_roles<S>) facts.rows[kObservation] = facts.roles.front().observation;
  facts.turns = kHooks<E>.acts.given;
  facts.text = kHooks<E>.text.given;
  facts.scene = kHooks<E>.scene.given;
  return facts;
}

}  // namespace ge
