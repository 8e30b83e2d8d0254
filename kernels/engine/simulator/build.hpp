// Builds: how a header names the simulators made from it, and the facts that an environment's types
// imply on every machine: resolved parameters, columns of the record, shapes of outputs. plan.hpp
// works with these facts.
//
//   struct Environment {
//     using Schema = ...;            // Params, Action, Agent, tables; how it runs best
//     using Observation = ...;       // row type
//     using Reset = ge::Stages<...>; using Step = ...; using Observe = ...;
//     static constexpr ge::Card card{.doc = "...", .max_episode_steps = 500};
//     static constexpr ge::Hooks<Schema> hooks{.text = ..., .scene = ...};  // hooks.hpp
//   };
//   using Builds = ge::Builds<ge::Build<"CartPole-v0", Environment>>;
//
// A build with capacity tiers lists one Environment per tier, smallest first; each has a hook
// `fits`.
#pragma once

#include <algorithm>

#include "engine/base/platform_float_mode.hpp"
#include "engine/graph/channels.hpp"
#include "engine/graph/episode.hpp"
#include "engine/graph/outputs.hpp"
#include "engine/graph/wide_rows.hpp"
#include "engine/simulator/assets.hpp"
#include "engine/simulator/plan.hpp"

namespace ge {

/// Whether an environment is built for the flat executor too.
template <class E>
inline constexpr bool has_flat = kTuning<typename E::Schema>.flat;

/// These two hold nothing: an environment's builds are a list of types, from which the entry of a
/// machine (EntryOf, below) is generated.
template <Name kId, class... Tiers>
struct Build {};
template <class... B>
struct Builds {};

template <class T>
std::string table_name() {
  static_assert(
      requires { std::string(T::name); },
      "GE: a table says what its columns are called: static constexpr const char* name");
  return T::name;
}

/// Whether an id is a name and a version, as CartPole-v0 is.
consteval bool is_versioned(const Name& id) {
  size_t end = 0, digits = 0;
  while (id.text[end] != 0) ++end;
  while (digits < end && id.text[end - digits - 1] >= '0' && id.text[end - digits - 1] <= '9')
    ++digits;
  return digits > 0 && end > digits + 2 && id.text[end - digits - 1] == 'v' &&
         id.text[end - digits - 2] == '-';
}
consteval bool are_equal(const Name& a, const Name& b) {
  for (size_t i = 0; i < Name::kMost; ++i)
    if (a.text[i] != b.text[i]) return false;
  return true;
}
template <class B>
struct IdOf;
template <Name kId, class... Tiers>
struct IdOf<Build<kId, Tiers...>> {
  static constexpr Name id = kId;
};
template <class... B>
consteval bool are_versioned() {
  return (is_versioned(IdOf<B>::id) && ...);
}
template <class... B>
consteval bool are_distinct() {
  const Name ids[] = {IdOf<B>::id...};
  for (size_t i = 0; i < sizeof...(B); ++i)
    for (size_t j = 0; j < i; ++j)
      if (are_equal(ids[i], ids[j])) return false;
  return true;
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
  Walk<kScratch, Tables>::run_any(visit, params, end);
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

// The user's options of a reset and the kernels' options: the same struct, or ResetSettings (which
// may hold texts) that S::resolve_options(settings, params) turns into Options, on the host.
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
GE_COLD typename OptionsOf<S>::type resolve_options(const Values& values,
                                                    const typename S::Params& params) {
  const auto settings = from_values<typename ResetSettingsOf<S>::type>(values, "reset option");
  if constexpr (requires { typename S::ResetSettings; })
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
/// Elements of one row; of a picture those of its first layer.
template <class Row, class Params>
GE_COLD int64_t elements_of([[maybe_unused]] const Params& params) {
  if constexpr (AnyImage<Row>)
    return image_fields(Row::form(params)).front().elements();
  else if constexpr (Wide<Row>)
    return Row::elements(params);
  else
    return RowShape<Row>::elements;
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
  using Row = role_row<E, R, kObservation>;
  role.observation = row_fields<Row>(params);
  role.is_choice = is_choice<A>;
  role.sees_pictures = AnyImage<Row>;
  role.shape.elements = elements_of<Row>(params);
  if constexpr (has_role_rows<E, R, kActionMask>)
    role.shape.mask_elements = elements_of<role_row<E, R, kActionMask>>(params);
  if constexpr (has_role_rows<E, R, kRewardParts>)
    role.reward_parts = row_fields<role_row<E, R, kRewardParts>>(params);
  role.shape.has_mask = RoleTraits<S>::choices || has_rows<R, kActionMask>;
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
GE_COLD BuildFacts facts_of_build(const std::string& id, const typename E::Schema::Params& params) {
  using S = typename E::Schema;
  BuildFacts facts(id, E::card);
  std::vector<Segment> segments;
  list_columns<false, AllTables<S>>(facts.columns, segments, params);
  facts.parameters = field_infos<typename SettingsOf<S>::type>(true);
  facts.reset_options = field_infos<typename ResetSettingsOf<S>::type>(true);
  facts.roles = facts_of_roles<E>(params);
  facts.names_roles = has_roles<S>;
  facts.can_pad = !has_roles<S> || can_pad<E>;
  if constexpr (has_roles<S>) {
    describe_padded(facts);
    if constexpr (has_masks<E>) facts.rows[kActionMask].emplace();
  } else {
    facts.action = facts.roles.front().action;
    facts.pictures = has_pictures<E>;
  }
  for_each_row_type<E>([&](auto output, auto row) {
    facts.rows[output] = row_fields<typename decltype(row)::type>(params);
  });
  facts.turns = kHooks<E>.acts.given;
  facts.text = kHooks<E>.text.given;
  facts.scene = kHooks<E>.scene.given;
  return facts;
}

/// Facts of one simulator that are the same on every machine.
template <class E>
class Plan : public PlanFacts {
 public:
  using S = typename E::Schema;
  using Params = typename S::Params;
  using Settings = typename SettingsOf<S>::type;
  GE_COLD Plan(const std::string& id, const Config& config, const Settings& settings,
               const Params& params, int tier)
      : PlanFacts(id, config, tier, agents_with<S>(params), has_roles<S>),
        settings_(settings),
        params_(params) {
    // The order matters: shapes need the format, the JSON needs everything above it. Assets are
    // made before anything is allocated, since the check whether worlds fit counts their bytes.
    check_config(has_long_rows(), E::card.max_episode_steps);
    list_columns<false, AllTables<S>>(columns_, segments_, params_);
    hash_layout();
    set_shapes();
    shelf_ = make_assets<S>(id_, config_.data_files, settings_, params_, assets_);
    choose_actions(RoleTraits<S>::floats);
    // Names serve dictionaries of agents, which are impractical for millions.
    std::vector<std::string> names;
    for (int agent = 0; agents_ <= kMostNamed && agent < agents_; ++agent)
      names.push_back(name_of_agent<E>(params_, agent));
    write_instance(facts_of_build<E>(id_, params_), &settings_, names,
                   record_bytes<AllTables<S>>(params_));
  }

  Settings settings_;
  Params params_;
  typename AssetsOf<S>::type assets_{};  // on the host

 private:
  template <class Row>
  struct ElementOf {
    using type = typename RowShape<Row>::Element;
  };
  template <Wide Row>
  struct ElementOf<Row> {
    using type = typename Row::Element;
  };
  template <AnyImage Row>
  struct ElementOf<Row> {
    using type = void;  // each layer has its own
  };
  /// The default element type: floats if the row has floats, else bytes.
  template <class Row>
  static constexpr Elements own_format() {
    return std::is_same_v<typename ElementOf<Row>::type, float> ? Elements::float32
                                                                : Elements::uint8;
  }
  /// The element types that the environment can write a row in.
  template <class Row>
  static std::vector<Elements> formats() {
    using Element = typename ElementOf<Row>::type;
    if constexpr (std::is_same_v<Element, float>) return {Elements::float32};
    if constexpr (Wide<Row> && std::is_same_v<Element, bool>)
      return {Elements::uint8, Elements::float32, Elements::bits};
    if constexpr (Wide<Row>) return {Elements::uint8, Elements::float32};
    if constexpr (std::is_same_v<Element, uint8_t>) return {Elements::uint8};
    return {};
  }

  template <class Row>
  GE_COLD void row_output(Output which) {
    if constexpr (AnyImage<Row>)
      add_image_outputs(Row::form(params_), which == kFinalObservation);
    else if constexpr (Wide<Row>)
      add_wide_output(which, own_format<Row>(),
                      {Row::elements(params_), Row::capacity, Row::describe(params_)});
    else
      add_output(which, type_of<typename RowShape<Row>::Element>(), {RowShape<Row>::elements});
    // The type of a mask that Gymnasium's spaces sample with; the bytes are the same.
    if (which == kActionMask && outputs_[which].type == Type::uint8)
      outputs_[which].type = Type::int8;
  }
  /// The one format of the observations of all roles; `own` where each role has another.
  template <class First, class... Rest>
  static consteval Elements own_format_of(Types<First, Rest...>) {
    constexpr Elements first = own_format<role_row<E, First, kObservation>>();
    return ((own_format<role_row<E, Rest, kObservation>>() == first) && ...) ? first
                                                                             : Elements::own;
  }
  /// The element types that the observations of all roles can be written in.
  template <class... Rs>
  static std::vector<Elements> formats_of(Types<Rs...>) {
    std::vector<Elements> all;
    for (const Elements one : {Elements::uint8, Elements::float32, Elements::bits})
      if ((can_write<role_row<E, Rs, kObservation>>(one) && ...)) all.push_back(one);
    return all;
  }
  template <class Row>
  static bool can_write(Elements one) {
    const std::vector<Elements> all = formats<Row>();
    return std::find(all.begin(), all.end(), one) != all.end();
  }

  /// Whether some role's observation is a wide row or a picture.
  static constexpr bool has_long_rows() {
    return []<class... Rs>(Types<Rs...>) {
      return ((Wide<role_row<E, Rs, kObservation>> || AnyImage<role_row<E, Rs, kObservation>>) ||
              ...);
    }(roles_of<S>{});
  }
  GE_COLD void set_shapes() {
    for (const BuildFacts::Role& role : facts_of_roles<E>(params_)) roles_.push_back(role.shape);
    list_ranges();
    choose_form(can_pad<E>);
    choose_format(own_format_of(roles_of<S>{}), formats_of(roles_of<S>{}));
    auto shape = roles_.begin();
    for_each_type(roles_of<S>{}, [&](auto role) {
      row_outputs_of<typename decltype(role)::type>();
      take_rows(*shape++);
    });
    for_each_row_output([&]<Output kOutput>(std::integral_constant<Output, kOutput>) {
      if constexpr (has_role_rows<E, typename TypeAt<0, roles_of<S>>::type, kOutput>)
        join_rows(kOutput, kPartAlign<E, kOutput>);
    });
    for (const Output layer : {kDepth, kSegmentation, kFinalDepth, kFinalSegmentation})
      join_rows(layer, kPartAlign<E, kObservation>);
    add_agent_outputs(has_roles<S> || !has_one_agent<S>);
    if constexpr (kHooks<E>.objective.given) add_output(kObjective, Type::float32, {});
    for_each_row_type<E>([&](auto output, auto row) {
      if constexpr (has_trait(decltype(output)::value, kOfAWorld))
        row_output<typename decltype(row)::type>(output);
    });
  }
  template <class R>
  GE_COLD void row_outputs_of() {
    for_each_row_output([&]<Output kOutput>(std::integral_constant<Output, kOutput>) {
      if constexpr (has_role_rows<E, R, kOutput>) {
        using Row = role_row<E, R, kOutput>;
        constexpr bool is_of_floats = std::is_same_v<typename ElementOf<Row>::type, float>;
        static_assert(kOutput != kRewardParts || is_of_floats,
                      "GE: the parts of a reward are floats");
        static_assert(kOutput != kActionMask || !has_roles<S> || !is_of_floats,
                      "GE: an action mask is of uint8_t or bits");
        row_output<Row>(kOutput);
      }
    });
  }
  /// Calls f(output constant) for every output that the rows of a role may be named for.
  template <class F>
  static void for_each_row_output(const F& f) {
    f(std::integral_constant<Output, kObservation>{});
    f(std::integral_constant<Output, kFinalObservation>{});
    f(std::integral_constant<Output, kActionMask>{});
    f(std::integral_constant<Output, kRewardParts>{});
  }
};

/// The machine's part of making a simulator: Factory<E>::make(plan). One function per tier, so that
/// a long environment is compiled as several units (units.hpp).
template <template <class> class Factory, class E>
GE_COLD std::unique_ptr<Simulator> make_planned(Plan<E> plan) {
  return Factory<E>::make(std::move(plan));
}
/// The launches of a GPU; null where the machine is not one.
template <template <class> class Factory, class E>
GE_COLD std::shared_ptr<const cuda::LaunchList> list_planned(const Plan<E>& plan) {
  if constexpr (requires { Factory<E>::list(plan); })
    return Factory<E>::list(plan);
  else
    return nullptr;
}

/// The time limit; 0: none.
inline int64_t steps_of(const Config& config, const Card& card) {
  return config.max_episode_steps < 0 ? card.max_episode_steps : config.max_episode_steps;
}

/// Calls `use` with the plan of the smallest tier that fits. All tiers have the same settings and
/// parameters, so the first one's types read them; tiers differ only in capacities, and with them
/// in layout.
template <class Made, class... Tiers, class Use>
GE_COLD Made make_tier(const std::string& id, const Config& config, const Use& use) {
  using First = typename Tail<Types<Tiers...>>::first;
  auto settings = from_values<typename SettingsOf<typename First::Schema>::type>(config.parameters,
                                                                                 "parameter");
  const auto params = resolve<typename First::Schema>(settings);
  Made made;
  int tier = 0;
  auto attempt = [&](auto t) {
    using E = typename decltype(t)::type;
    bool fits = made == nullptr;
    if constexpr (kHooks<E>.fits.given) fits = fits && kHooks<E>.fits.call(params);
    if constexpr (kHooks<E>.fits_steps.given)
      fits = fits && kHooks<E>.fits_steps.call(steps_of(config, E::card));
    if (fits) made = use(Plan<E>(id, config, settings, params, tier));
    ++tier;
  };
  for_each_type(Types<Tiers...>{}, attempt);
  if (made == nullptr)
    throw Error(Fault::value, "no build of " + id + " is large enough for these parameters");
  return made;
}

template <template <class> class Factory, class L>
struct EntryOf;
/// The environments of a header on one machine: descriptions of all ids, and simulators by id.
template <template <class> class Factory, class... B>
struct EntryOf<Factory, Builds<B...>> {
  static_assert(sizeof...(B) > 0, "GE: Builds lists what is made: Build<\"Name-v0\", Environment>");
  static_assert(are_versioned<B...>(), "GE: an id is a name and a version, such as CartPole-v0");
  static_assert(are_distinct<B...>(), "GE: an id stands twice in Builds");

  template <Name id, class First, class... Rest>
  GE_COLD static void describe_one(std::string& out, Build<id, First, Rest...>) {
    typename SettingsOf<typename First::Schema>::type settings{};
    const auto params = resolve<typename First::Schema>(settings);
    out += out.empty() ? "{" : ", {";
    out += describe_build(facts_of_build<First>(id.text, params)) + "}";
  }
  GE_COLD static std::string describe() {
    std::string out;
    (describe_one(out, B{}), ...);
    return out;
  }
  template <Name id, class Made, class... Tiers, class Use>
  static void make_one(Made& made, Build<id, Tiers...>, const std::string& wanted,
                       const Config& config, const Use& use) {
    if (made == nullptr && wanted == id.text) made = make_tier<Made, Tiers...>(wanted, config, use);
  }
  template <class Made, class Use>
  GE_COLD static Made make_any(const std::string& id, const Config& config, const Use& use) {
    const FloatMode standard;
    Made made;
    (make_one(made, B{}, id, config, use), ...);
    return made;
  }
  static std::unique_ptr<Simulator> make(const std::string& id, const Config& config) {
    return make_any<std::unique_ptr<Simulator>>(id, config, []<class E>(Plan<E> plan) {
      return make_planned<Factory, E>(std::move(plan));
    });
  }
  static std::shared_ptr<const cuda::LaunchList> list(const std::string& id, const Config& config) {
    return make_any<std::shared_ptr<const cuda::LaunchList>>(
        id, config, []<class E>(const Plan<E>& plan) { return list_planned<Factory, E>(plan); });
  }
  static const Entry& entry() {
    static const Entry found{&describe, &make, nullptr};
    return found;
  }
};

}  // namespace ge
