// Builds: how a header names what is made from it, and everything about a simulator that does not
// depend on the machine: resolved parameters, shapes of outputs, columns of the record, JSON.
//
//   struct Environment : ge::Defaults {
//     using Schema = ...;            // Params, Action, Agent, tables
//     using Observation = ...;       // row type
//     using Reset = ge::Stages<...>; using Step = ...; using Observe = ...;
//     static constexpr ge::Card card{.doc = "...", .max_episode_steps = 500};
//   };
//   using Builds = ge::Builds<ge::Build<"CartPole-v0", Environment>>;
//
// A build with capacity tiers lists one Environment per tier, smallest first; each says `static
// bool fits(const Params&)`.
#pragma once

#include "engine/blake2b.hpp"
#include "engine/channels.hpp"
#include "engine/episode.hpp"
#include "engine/wide_rows.hpp"

namespace ge {

/// Whether an environment is built for the flat executor too: it has `static Schedule
/// schedule(const Params&, int64_t worlds)`, which says when it prefers it.
template <class E>
inline constexpr bool has_flat =
    requires(const typename E::Schema::Params& params) { E::schedule(params, int64_t{1}); };

/// What a catalogue prints of an environment.
struct Card {
  const char* doc;
  int max_episode_steps = 0;             // 0: no limit
  double reward_threshold = kUnbounded;  // unbounded: none
  const char* agents = "1";              // or the name of the parameter that counts them
  int render_fps = 0;                    // steps per second of the world's own time, if it has one
};

template <Name kId, class... Tiers>
struct Build {};
template <class... B>
struct Builds {};

template <class T>
std::string table_name() {
  if constexpr (requires { T::name; }) return T::name;
  std::string name(type_name<T>());
  name = name.substr(0, name.find('<'));
  const auto colon = name.rfind(':');
  name = colon == std::string::npos ? name : name.substr(colon + 1);
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return name;
}

template <class Params>
struct ListColumns {
  std::vector<Column>& columns;
  std::vector<Segment>& segments;
  const Params& params;
  template <class T>
  void header(int64_t at) {
    segments.push_back({at, header_bytes<T>(), 4});
    if constexpr (T::kind == Kind::list) {
      columns.push_back({table_name<T>() + ".count",
                         Type::uint32,
                         {},
                         1,
                         at,
                         4,
                         4,
                         "",
                         "live rows",
                         0,
                         room_of<T>(params)});
    } else {
      columns.push_back({table_name<T>() + ".live",
                         Type::uint32,
                         {},
                         kLiveWords<T>,
                         at,
                         4,
                         4,
                         "",
                         "bitmap of live slots"});
      columns.push_back({table_name<T>() + ".generation",
                         Type::uint32,
                         {},
                         T::capacity,
                         at + 4 * kLiveWords<T>,
                         4,
                         4,
                         "",
                         "how often the slot was freed"});
    }
  }
  template <class T, class C>
  void column(int64_t at) {
    const int64_t rows = room_of<T>(params);
    segments.push_back({at, int64_t(sizeof(C)) * rows, unit_of<C>});
    for (const FieldInfo& info : field_infos<C>()) {
      columns.push_back({table_name<T>() + "." + info.name, info.type, info.shape, rows,
                         at + info.offset, int64_t(sizeof(C)), info.bytes, info.unit, info.doc});
      if (info.low > -kUnbounded && info.high < kUnbounded)
        columns.back().low = int64_t(info.low), columns.back().high = int64_t(info.high);
    }
  }
};

/// The columns of one of the two memories, in the order of their offsets.
template <bool kScratch, class Tables, class Params>
void list_columns(std::vector<Column>& columns, std::vector<Segment>& segments,
                  const Params& params) {
  ListColumns<Params> visit{columns, segments, params};
  const int end = Walk<kScratch, Tables>::run(visit);
  Walk<kScratch, Tables>::run_any(visit, params, end);
}

// What a user sets, and what the rules read: the same struct, or Settings that are resolved into
// Params, on the host, once.
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

// What a user passes to a reset, and what the kernels get of it: the same struct, or ResetSettings
// (which may hold texts) that S::resolve_options(settings, params) makes Options of, on the host.
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
typename OptionsOf<S>::type resolve_options(const Values& values,
                                            const typename S::Params& params) {
  const auto settings = from_values<typename ResetSettingsOf<S>::type>(values, "reset option");
  if constexpr (requires { typename S::ResetSettings; })
    return S::resolve_options(settings, params);
  else
    return settings;
}

/// Beyond so many the agents of a world have numbers only.
inline constexpr int kMostNamed = 1 << 20;

/// What an agent is called: E::agent_name(params, agent), or player_0, player_1, ...
template <class E>
std::string name_of_agent([[maybe_unused]] const typename E::Schema::Params& params, int agent) {
  if constexpr (requires { E::agent_name(params, agent); })
    return E::agent_name(params, agent);
  else
    return "player_" + std::to_string(agent);
}

/// The described fields of a row, whatever its kind, with the type of its elements.
template <class Row, class Params>
std::vector<FieldInfo> row_fields(const Params& params) {
  if constexpr (Wide<Row>) {
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
std::vector<FieldInfo> action_fields(const Params& params) {
  std::vector<FieldInfo> all = field_infos<A>();
  if constexpr (has_choices<A, Params>) {
    static_assert(ActionShape<A>::words == int(std::tuple_size_v<decltype(A::describe())>),
                  "GE: choices(params) is for an action whose fields are one category each");
    for (size_t k = 0; k < all.size(); ++k) {
      all[k].choices = choices_of<A>(params, int(k));
      all[k].high = all[k].choices - 1;
    }
  }
  return all;
}

template <class E>
struct RewardPartsOf {
  static constexpr bool exists = false;
};
template <class E>
  requires requires { typename E::RewardParts; }
struct RewardPartsOf<E> {
  static constexpr bool exists = true;
  using Row = typename E::RewardParts;
};

template <class E>
struct ActionMaskOf {
  static constexpr bool exists = false;
};
template <class E>
  requires requires { typename E::ActionMask; }
struct ActionMaskOf<E> {
  static constexpr bool exists = true;
  using Row = typename E::ActionMask;
};
template <class E>
struct StateOf {
  static constexpr bool exists = false;
};
template <class E>
  requires requires { typename E::State; }
struct StateOf<E> {
  static constexpr bool exists = true;
  using Row = typename E::State;
};

inline std::string shape_json(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (const int64_t extent : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(extent);
  return out + "]";
}

/// The part of the JSON that is known without a simulator; `E` is the smallest tier.
template <class E>
std::string describe_build(const std::string& id, const typename E::Schema::Params& params) {
  using S = typename E::Schema;
  std::string columns = "[";
  std::vector<Column> list;
  std::vector<Segment> segments;
  list_columns<false, AllTables<S>>(list, segments, params);
  for (const Column& column : list) {
    if (columns.size() > 1) columns += ", ";
    columns += "{\"name\": " + json(column.name) +
               ", \"type\": " + json(std::string(name_of(column.type))) +
               ", \"shape\": " + shape_json(column.shape) + ", \"unit\": " + json(column.unit) +
               ", \"doc\": " + json(column.doc) + "}";
  }
  const Card card = E::card;
  std::string state = "[]", parts = "[]";
  if constexpr (StateOf<E>::exists) state = json(row_fields<typename StateOf<E>::Row>(params));
  if constexpr (RewardPartsOf<E>::exists)
    parts = json(field_infos<typename RewardPartsOf<E>::Row>());
  char threshold[40] = "null";
  if (card.reward_threshold != kUnbounded)
    std::snprintf(threshold, sizeof threshold, "%.17g", card.reward_threshold);
  return "\"id\": " + json(id) + ", \"doc\": " + json(std::string(card.doc)) +
         ", \"max_episode_steps\": " + std::to_string(card.max_episode_steps) +
         ", \"reward_threshold\": " + threshold +
         ", \"agents\": " + json(std::string(card.agents)) +
         ", \"parameters\": " + json(field_infos<typename SettingsOf<S>::type>(true)) +
         ", \"reset_options\": " + json(field_infos<typename ResetSettingsOf<S>::type>(true)) +
         ", \"action\": " + json(action_fields<typename S::Action>(params)) +
         ", \"observation\": " + json(row_fields<typename E::Observation>(params)) +
         ", \"state\": " + state + ", \"reward_parts\": " + parts +
         ", \"turns\": " + (requires(const World<S>& w) { E::acts(w, 0); } ? "true" : "false") +
         ", \"text\": " + (requires(const World<S>& w) { E::text(w, 0); } ? "true" : "false") +
         ", \"scene\": " + (requires(const World<S>& w) { E::scene(w); } ? "true" : "false") +
         (card.render_fps > 0 ? ", \"render_fps\": " + std::to_string(card.render_fps) : "") +
         ", \"action_mask\": " + (ActionMaskOf<E>::exists ? "true" : "false") +
         ", \"columns\": " + columns + "]";
}

/// Everything about one simulator that no machine changes.
template <class E>
class Plan {
 public:
  using S = typename E::Schema;
  using Params = typename S::Params;
  using Settings = typename SettingsOf<S>::type;

  Plan(const std::string& id, const Config& config, const Settings& settings, const Params& params,
       int tier)
      : id_(id), config_(config), settings_(settings), params_(params), tier_(tier) {
    agents_ = agents_of_params(params);
    if (config.worlds < 1 || config.worlds > (int64_t{1} << 31) - 64)
      throw Error(Fault::value, "num_envs must be from 1 to " +
                                    std::to_string((int64_t{1} << 31) - 64) + ", got " +
                                    std::to_string(config.worlds));
    // Rows that are staged one by one are numbered in 32 bits.
    if (Wide<typename E::Observation> && config.worlds * agents_ >= int64_t{1} << 31)
      throw Error(Fault::value,
                  "at most 2^31 agents in all are possible: " + std::to_string(config.worlds) +
                      " worlds have " + std::to_string(agents_) + " each");
    if (config.first_world < 0 || config.first_world > 0xffffffffll - config.worlds)
      throw Error(Fault::value,
                  "first_world must be from 0 to 2^32 less the number of worlds, got " +
                      std::to_string(config.first_world));
    max_steps_ =
        config.max_episode_steps < 0 ? E::card.max_episode_steps : config.max_episode_steps;
    if (max_steps_ > 0x7fffffff)
      throw Error(Fault::value,
                  "max_episode_steps must be below 2^31, got " + std::to_string(max_steps_));
    list_columns<false, AllTables<S>>(columns_, segments_, params_);
    hash_layout();
    choose_format();
    set_shapes();
    set_backgrounds();
    for (int k = 0; k < ActionShape<typename S::Action>::words; ++k) {
      ranges_.push_back(ActionShape<typename S::Action>::ranges.at[k].low);
      ranges_.push_back(highest_action<typename S::Action>(
          params, k, ActionShape<typename S::Action>::ranges.at[k].high));
    }
    write_instance();
  }

  static int agents_of_params(const Params& params) {
    if constexpr (requires { S::Agent::count(params); }) return int(S::Agent::count(params));
    return S::Agent::capacity;
  }

  std::string id_;
  Config config_;
  Settings settings_;
  Params params_;
  int tier_, agents_;
  int64_t max_steps_;
  std::vector<Column> columns_;
  std::vector<Segment> segments_;
  std::vector<double> ranges_;
  std::string layout_, instance_;
  OutputShape outputs_[kOutputCount];
  Elements format_ = Elements::uint8;  // of observations that are wide rows
  std::vector<uint8_t> background_, state_background_;

 private:
  void hash_layout() {
    std::string text;
    for (const Column& column : columns_)
      text += column.name + " " + name_of(column.type) + " " + shape_json(column.shape) + " " +
              std::to_string(column.rows) + " " + std::to_string(column.offset) + " " +
              std::to_string(column.stride) + "\n";
    layout_ = Blake2b(16).update(text.data(), text.size()).hex_digest();
  }
  /// The element type that was asked for, where the environment can write it.
  void choose_format() {
    using Row = typename E::Observation;
    using Element = typename ElementOf<Row>::type;
    const Elements own = std::is_same_v<Element, float> ? Elements::float32 : Elements::uint8;
    const Elements wanted = config_.elements == Elements::own ? own : config_.elements;
    std::string known;
    for (const Elements format : {Elements::uint8, Elements::float32, Elements::bits}) {
      bool possible;
      if constexpr (Wide<Row>)
        possible = format == own || (format == Elements::float32) ||
                   (format == Elements::bits && std::is_same_v<Element, bool>);
      else
        possible =
            format == own && (std::is_same_v<Element, float> || std::is_same_v<Element, uint8_t>);
      if (possible && format == wanted) format_ = wanted;
      if (possible) known += (known.empty() ? "'" : ", '") + std::string(name_of(format)) + "'";
      if (possible && format == wanted) known_format_ = true;
    }
    if (!known_format_ && config_.elements != Elements::own)
      throw Error(Fault::value, "dtype of " + id_ + " must be " +
                                    (known.empty() ? "its own" : "one of " + known) + ", got '" +
                                    name_of(config_.elements) + "'");
  }
  template <class Row>
  struct ElementOf {
    using type = typename RowShape<Row>::Element;
  };
  template <Wide Row>
  struct ElementOf<Row> {
    using type = typename Row::Element;
  };
  bool known_format_ = false;

  /// A row of one field has that field's shape, all others are flat.
  template <Wide Row>
  std::vector<int64_t> wide_shape(Elements format) const {
    const int elements = Row::elements(params_);
    if (elements < 1 || elements > Row::capacity)
      throw Error(Fault::runtime, id_ + ": a row of " + std::to_string(elements) +
                                      " elements, the build has room for " +
                                      std::to_string(Row::capacity));
    const std::vector<FieldInfo> fields = Row::describe(params_);
    int64_t described = 0;
    for (const FieldInfo& info : fields) described += info.elements();
    if (described != elements)
      throw Error(Fault::runtime, id_ + ": a row of " + std::to_string(elements) +
                                      " elements is described as " + std::to_string(described));
    if (format == Elements::bits) return {wide_bytes(format, elements)};
    if (fields.size() == 1 && !fields[0].shape.empty()) return fields[0].shape;
    return {elements};
  }
  template <class Row>
  static std::vector<uint8_t> background_of(const Params& params) {
    std::vector<uint8_t> bytes;
    if constexpr (Wide<Row>) {
      if constexpr (has_background<Row>) {
        static_assert(std::is_same_v<typename Row::Element, uint8_t>,
                      "GE: a background is for a wide row of bytes");
        bytes.resize(size_t(Row::elements(params)));
        Row::background(params, bytes.data());
      }
    }
    return bytes;
  }
  void set_backgrounds() {
    background_ = background_of<typename E::Observation>(params_);
    if constexpr (StateOf<E>::exists)
      state_background_ = background_of<typename StateOf<E>::Row>(params_);
  }
  void output(Output which, Type type, bool per_agent, std::vector<int64_t> row,
              bool exists = true) {
    OutputShape& shape = outputs_[which];
    shape = {type, exists, per_agent, std::move(row), 0};
    shape.bytes = bytes_of(type) * config_.worlds * (per_agent ? agents_ : 1);
    for (const int64_t extent : shape.row) shape.bytes *= extent;
  }
  template <class Row>
  void row_output(Output which, bool per_agent, bool exists = true) {
    if constexpr (Wide<Row>) {
      const bool observation = which == kObservation || which == kFinalObservation;
      const Elements format = observation                                    ? format_
                              : std::is_same_v<typename Row::Element, float> ? Elements::float32
                                                                             : Elements::uint8;
      output(which, format == Elements::float32 ? Type::float32 : Type::uint8, per_agent,
             wide_shape<Row>(format), exists);
    } else {
      using Element = typename RowShape<Row>::Element;
      output(which, type_of<Element>(), per_agent, {RowShape<Row>::elements}, exists);
    }
  }
  void set_shapes() {
    row_output<typename E::Observation>(kObservation, true);
    output(kReward, Type::float32, true, {});
    output(kTerminated, Type::boolean, true, {});
    output(kTruncated, Type::boolean, true, {});
    row_output<typename E::Observation>(kFinalObservation, true,
                                        config_.autoreset == Autoreset::same_step);
    output(kEnded, Type::boolean, true, {});
    output(kEpisodeReturn, Type::float32, true, {});
    output(kEpisodeLength, Type::int32, true, {});
    output(kAgentActive, Type::boolean, true, {}, S::Agent::capacity > 1);
    if constexpr (ActionMaskOf<E>::exists) {
      row_output<typename ActionMaskOf<E>::Row>(kActionMask, true);
      // The type of a mask that Gymnasium's spaces sample with; the bytes are the same.
      if (outputs_[kActionMask].type == Type::uint8) outputs_[kActionMask].type = Type::int8;
    }
    if constexpr (RewardPartsOf<E>::exists) {
      using Parts = typename RewardPartsOf<E>::Row;
      static_assert(std::is_same_v<typename RowShape<Parts>::Element, float>,
                    "GE: the parts of a reward are floats");
      output(kRewardParts, Type::float32, true, {RowShape<Parts>::elements});
    }
    if constexpr (StateOf<E>::exists) row_output<typename StateOf<E>::Row>(kState, false);
  }
  void write_instance() {
    std::string outputs;
    for (int o = 0; o < kOutputCount; ++o) {
      const OutputShape& shape = outputs_[o];
      if (!shape.exists) continue;
      std::vector<int64_t> full{config_.worlds};
      if (shape.per_agent) full.push_back(agents_);
      full.insert(full.end(), shape.row.begin(), shape.row.end());
      outputs += (outputs.empty() ? "" : ", ") + json(std::string(name_of(Output(o)))) +
                 ": {\"type\": " + json(std::string(name_of(shape.type))) +
                 ", \"shape\": " + shape_json(full) + "}";
    }
    std::string values;
    for (const FieldInfo& info : field_infos<Settings>(true))
      values +=
          (values.empty() ? "" : ", ") + json(info.name) + ": " + json_value(info, &settings_);
    // Names are for dictionaries of agents, which nobody makes of millions.
    std::string agents;
    for (int agent = 0; agents_ <= kMostNamed && agent < agents_; ++agent)
      agents += (agents.empty() ? "" : ", ") + json(name_of_agent<E>(params_, agent));
    instance_ = "{" + describe_build<E>(id_, params_) +
                ", \"num_worlds\": " + std::to_string(config_.worlds) +
                ", \"agents_per_world\": " + std::to_string(agents_) + ", \"agent_names\": [" +
                agents + "]" +
                ", \"autoreset_mode\": " + json(std::string(name_of(config_.autoreset))) +
                ", \"time_limit\": " + std::to_string(max_steps_) +
                ", \"packed\": " + (format_ == Elements::bits ? "true" : "false") +
                ", \"record_bytes\": " + std::to_string(record_bytes<AllTables<S>>(params_)) +
                ", \"layout\": " + json(layout_) + ", \"tier\": " + std::to_string(tier_) +
                ", \"outputs\": {" + outputs + "}, \"values\": {" + values + "}}";
  }
};

/// Makes the simulator of the smallest tier that fits. Factory<E>::make(plan) is the machine's
/// part.
template <template <class> class Factory, class... Tiers>
std::unique_ptr<Simulator> make_tier(const std::string& id, const Config& config) {
  using First = typename Tail<Types<Tiers...>>::first;
  auto settings = from_values<typename SettingsOf<typename First::Schema>::type>(config.parameters,
                                                                                 "parameter");
  const auto params = resolve<typename First::Schema>(settings);
  std::unique_ptr<Simulator> made;
  int tier = 0;
  auto attempt = [&](auto t) {
    using E = typename decltype(t)::type;
    bool fits = made == nullptr;
    if constexpr (requires { E::fits(params); }) fits = fits && E::fits(params);
    if (fits) made = Factory<E>::make(Plan<E>(id, config, settings, params, tier));
    ++tier;
  };
  for_each_type(Types<Tiers...>{}, attempt);
  if (made == nullptr)
    throw Error(Fault::value, "no build of " + id + " is large enough for these parameters");
  return made;
}

template <template <class> class Factory, class L>
struct EntryOf;
template <template <class> class Factory, class... B>
struct EntryOf<Factory, Builds<B...>> {
  template <Name id, class First, class... Rest>
  static void describe_one(std::string& out, Build<id, First, Rest...>) {
    typename SettingsOf<typename First::Schema>::type settings{};
    const auto params = resolve<typename First::Schema>(settings);
    out += (out.empty() ? "{" : ", {") + describe_build<First>(id.text, params) + "}";
  }
  static std::string describe() {
    std::string out;
    (describe_one(out, B{}), ...);
    return out;
  }
  template <Name id, class... Tiers>
  static void make_one(std::unique_ptr<Simulator>& made, Build<id, Tiers...>,
                       const std::string& wanted, const Config& config) {
    if (made == nullptr && wanted == id.text) made = make_tier<Factory, Tiers...>(wanted, config);
  }
  static std::unique_ptr<Simulator> make(const std::string& id, const Config& config) {
    std::unique_ptr<Simulator> made;
    (make_one(made, B{}, id, config), ...);
    return made;
  }
  static const Entry& entry() {
    static const Entry found{&describe, &make};
    return found;
  }
};

}  // namespace ge
