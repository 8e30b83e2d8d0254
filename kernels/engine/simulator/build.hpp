// Builds: how a header names the simulators made from it, and the plan of one on any machine.
// type_facts.hpp has what an environment's types imply; plan.hpp works with these facts.
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
#include "engine/simulator/assets.hpp"
#include "engine/simulator/type_facts.hpp"

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

/// Names of the agents of a world, for dictionaries by agent, which are impractical for millions.
template <class E, class Params>
GE_COLD std::vector<std::string> agent_names(const Params& params, int agents) {
  std::vector<std::string> names;
  for (int agent = 0; agents <= kMostNamed && agent < agents; ++agent)
    names.push_back(name_of_agent<E>(params, agent));
  return names;
}

/// Facts of one simulator that are the same on every machine.
template <class E>
class Plan : public PlanFacts {
 public:
  using S = typename E::Schema;
  using Params = held_of<S>;
  using Settings = typename SettingsOf<S>::type;
  GE_COLD Plan(const std::string& id, const Config& config, const Settings& settings,
               const typename S::Params& params, int tier)
      : PlanFacts(id, config, tier, agents_with<S>(params), has_roles<S>),
        settings_(settings),
        params_(held<S>(params, config.varying)) {
    // The order matters: shapes need the format, the JSON needs everything above it. Assets are
    // made before anything is allocated, since the check whether worlds fit counts their bytes.
    check_config(has_long_rows(), E::card.max_episode_steps);
    list_columns<false, AllTables<S>>(columns_, segments_, params_);
    hash_layout();
    set_shapes();
    shelf_ = make_assets<S>(id_, config_.data_files, settings_, params_, assets_);
    choose_actions(RoleTraits<S>::floats);
    config_.varying = varying();
    write_instance(facts_of_build<E>(id_, params_), &settings_, agent_names<E>(params_, agents_),
                   record_bytes<AllTables<S>>(params_));
  }
  /// Writes the settings into the JSON again, after one has changed.
  GE_COLD void write_values() { PlanFacts::write_values(field_infos<Settings>(), &settings_); }
  /// Names of the parameters that vary, in the order of their description.
  GE_COLD std::vector<std::string> varying() const {
    std::vector<std::string> names;
    if constexpr (has_varied<S>)
      for (int k = 0; k < params_.varying; ++k)
        names.push_back(kFieldData<varied_of<S>>[params_.number[k]].name);
    return names;
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
    for (const Output layer :
         {kDepth, kSegmentation, kNumbers, kFinalDepth, kFinalSegmentation, kFinalNumbers})
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
        static_assert((kOutput != kRewardParts && kOutput != kMeasures) || is_of_floats,
                      "GE: the parts of a reward, and measures, are floats");
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
    f(std::integral_constant<Output, kMeasures>{});
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
    const auto params = held<typename First::Schema>(resolve<typename First::Schema>(settings), {});
    out += out.empty() ? "{" : ", {";
    out += describe_build(facts_of_build<First>(id.text, params)) + "}";
  }
  GE_COLD static std::string describe() {
    std::string out;
    (describe_one(out, B{}), ...);
    return out;
  }
  template <Name id, class First, class... Rest>
  GE_COLD static void outline_one(std::string& out, Build<id, First, Rest...>,
                                  const std::string& wanted, const Values& given) {
    using S = typename First::Schema;
    using Settings = typename SettingsOf<S>::type;
    if (wanted != id.text) return;
    auto settings = from_values<Settings>(given, "parameter");
    const auto params = held<S>(resolve<S>(settings), {});
    const int agents = agents_with<S>(params);
    out = outline_json(agents, agent_names<First>(params, agents), field_infos<Settings>(),
                       &settings);
  }
  GE_COLD static std::string outline(const std::string& id, const Values& parameters) {
    const FloatMode standard;
    std::string out;
    (outline_one(out, B{}, id, parameters), ...);
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
    static const Entry found{&describe, &outline, &make, nullptr};
    return found;
  }
};

}  // namespace ge
