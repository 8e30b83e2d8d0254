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
#include "engine/field_info.hpp"

namespace ge {

/// What a catalogue prints of an environment.
struct Card {
  const char* doc;
  int max_episode_steps = 0;             // 0: no limit
  double reward_threshold = kUnbounded;  // unbounded: none
  const char* agents = "1";              // or the name of the parameter that counts them
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

struct ListColumns {
  std::vector<Column>& columns;
  std::vector<Segment>& segments;
  template <class T>
  void header(int at) {
    segments.push_back({at, header_bytes<T>(), 4});
    if constexpr (T::kind == Kind::list) {
      columns.push_back(
          {table_name<T>() + ".count", Type::uint32, {}, 1, at, 4, 4, "", "live rows"});
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
  void column(int at) {
    segments.push_back({at, int(sizeof(C)) * T::capacity, unit_of<C>});
    for (const FieldInfo& info : field_infos<C>())
      columns.push_back({table_name<T>() + "." + info.name, info.type, info.shape, T::capacity,
                         at + info.offset, int64_t(sizeof(C)), info.bytes, info.unit, info.doc});
  }
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
std::string describe_build(const std::string& id) {
  using S = typename E::Schema;
  std::string columns = "[";
  std::vector<Column> list;
  std::vector<Segment> segments;
  ListColumns visit{list, segments};
  Walk<false, AllTables<S>>::run(visit);
  for (const Column& column : list) {
    if (columns.size() > 1) columns += ", ";
    columns += "{\"name\": " + json(column.name) +
               ", \"type\": " + json(std::string(name_of(column.type))) +
               ", \"shape\": " + shape_json(column.shape) + ", \"unit\": " + json(column.unit) +
               ", \"doc\": " + json(column.doc) + "}";
  }
  const Card card = E::card;
  std::string state = "[]";
  if constexpr (StateOf<E>::exists) state = json(field_infos<typename StateOf<E>::Row>());
  char threshold[40] = "null";
  if (card.reward_threshold != kUnbounded)
    std::snprintf(threshold, sizeof threshold, "%.17g", card.reward_threshold);
  return "\"id\": " + json(id) + ", \"doc\": " + json(std::string(card.doc)) +
         ", \"max_episode_steps\": " + std::to_string(card.max_episode_steps) +
         ", \"reward_threshold\": " + threshold +
         ", \"agents\": " + json(std::string(card.agents)) +
         ", \"parameters\": " + json(field_infos<typename S::Params>(true)) +
         ", \"reset_options\": " + json(field_infos<typename OptionsOf<S>::type>(true)) +
         ", \"action\": " + json(field_infos<typename S::Action>()) +
         ", \"observation\": " + json(field_infos<typename E::Observation>()) +
         ", \"state\": " + state +
         ", \"action_mask\": " + (ActionMaskOf<E>::exists ? "true" : "false") +
         ", \"columns\": " + columns + "]";
}

/// Everything about one simulator that no machine changes.
template <class E>
class Plan {
 public:
  using S = typename E::Schema;
  using Params = typename S::Params;

  Plan(const std::string& id, const Config& config, const Params& params, int tier)
      : id_(id), config_(config), params_(params), tier_(tier) {
    agents_ = agents_of_params(params);
    if (config.worlds < 1 || config.worlds > (int64_t{1} << 31) - 64)
      throw Error(Fault::value, "num_envs must be from 1 to " +
                                    std::to_string((int64_t{1} << 31) - 64) + ", got " +
                                    std::to_string(config.worlds));
    if (config.first_world < 0 || config.first_world > 0xffffffffll - config.worlds)
      throw Error(Fault::value,
                  "first_world must be from 0 to 2^32 less the number of worlds, got " +
                      std::to_string(config.first_world));
    max_steps_ =
        config.max_episode_steps < 0 ? E::card.max_episode_steps : config.max_episode_steps;
    if (max_steps_ > 0x7fffffff)
      throw Error(Fault::value,
                  "max_episode_steps must be below 2^31, got " + std::to_string(max_steps_));
    ListColumns visit{columns_, segments_};
    Walk<false, AllTables<S>>::run(visit);
    hash_layout();
    set_shapes();
    for (int k = 0; k < ActionShape<typename S::Action>::words; ++k) {
      ranges_.push_back(ActionShape<typename S::Action>::ranges.at[k].low);
      ranges_.push_back(ActionShape<typename S::Action>::ranges.at[k].high);
    }
    write_instance();
  }

  static int agents_of_params(const Params& params) {
    if constexpr (requires { S::Agent::count(params); }) return S::Agent::count(params);
    return S::Agent::capacity;
  }

  std::string id_;
  Config config_;
  Params params_;
  int tier_, agents_;
  int64_t max_steps_;
  std::vector<Column> columns_;
  std::vector<Segment> segments_;
  std::vector<double> ranges_;
  std::string layout_, instance_;
  OutputShape outputs_[kOutputCount];

 private:
  void hash_layout() {
    std::string text;
    for (const Column& column : columns_)
      text += column.name + " " + name_of(column.type) + " " + shape_json(column.shape) + " " +
              std::to_string(column.rows) + " " + std::to_string(column.offset) + " " +
              std::to_string(column.stride) + "\n";
    layout_ = Blake2b(16).update(text.data(), text.size()).hex_digest();
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
    using Element = typename RowShape<Row>::Element;
    output(which, type_of<Element>(), per_agent, {RowShape<Row>::elements}, exists);
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
    if constexpr (ActionMaskOf<E>::exists)
      row_output<typename ActionMaskOf<E>::Row>(kActionMask, true);
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
    for (const FieldInfo& info : field_infos<Params>(true))
      values += (values.empty() ? "" : ", ") + json(info.name) + ": " + json_value(info, &params_);
    instance_ = "{" + describe_build<E>(id_) +
                ", \"num_worlds\": " + std::to_string(config_.worlds) +
                ", \"agents_per_world\": " + std::to_string(agents_) +
                ", \"autoreset_mode\": " + json(std::string(name_of(config_.autoreset))) +
                ", \"time_limit\": " + std::to_string(max_steps_) +
                ", \"record_bytes\": " + std::to_string(kRecordBytes<AllTables<S>>) +
                ", \"layout\": " + json(layout_) + ", \"tier\": " + std::to_string(tier_) +
                ", \"outputs\": {" + outputs + "}, \"values\": {" + values + "}}";
  }
};

/// Makes the simulator of the smallest tier that fits. Factory<E>::make(plan) is the machine's
/// part.
template <template <class> class Factory, class... Tiers>
std::unique_ptr<Simulator> make_tier(const std::string& id, const Config& config) {
  using First = typename Tail<Types<Tiers...>>::first;
  const auto params = from_values<typename First::Schema::Params>(config.parameters, "parameter");
  std::unique_ptr<Simulator> made;
  int tier = 0;
  auto attempt = [&](auto t) {
    using E = typename decltype(t)::type;
    bool fits = made == nullptr;
    if constexpr (requires { E::fits(params); }) fits = fits && E::fits(params);
    if (fits) made = Factory<E>::make(Plan<E>(id, config, params, tier));
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
    out += (out.empty() ? "{" : ", {") + describe_build<First>(id.text) + "}";
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
