// See plan.hpp.
#include "engine/simulator/plan.hpp"

#include <algorithm>
#include <cstdio>

#include "engine/graph/wide_rows.hpp"
#include "engine/maths/blake2b.hpp"
#include "engine/simulator/sketch.hpp"

namespace ge {

BuildFacts::BuildFacts(const std::string& name, const Card& build_card)
    : id(name), card(build_card) {}
BuildFacts::~BuildFacts() = default;
PlanFacts::PlanFacts(const std::string& id, const Config& config, int tier, int agents,
                     bool names_roles)
    : id_(id), config_(config), tier_(tier), agents_(agents), names_roles_(names_roles) {
  if (!names_roles_) config_.roles = RoleForm::padded;  // both forms are one
}
PlanFacts::PlanFacts(const PlanFacts&) = default;
PlanFacts::PlanFacts(PlanFacts&&) noexcept = default;
PlanFacts::~PlanFacts() = default;

// ---- columns

void ColumnList::list_header(const std::string& table, int64_t at, int64_t bytes, int64_t room) {
  segments.push_back({at, bytes, 4});
  columns.push_back(
      {table + ".count", Type::uint32, {}, 1, at, 4, 4, "", "live rows", 0, double(room)});
}

void ColumnList::pool_header(const std::string& table, int64_t at, int64_t bytes, int words,
                             int capacity) {
  segments.push_back({at, bytes, 4});
  columns.push_back({table + ".live",
                     Type::uint32,
                     {},
                     words,
                     at,
                     4,
                     4,
                     "",
                     "bitmap of live slots",
                     0,
                     0xffffffffu});
  if (capacity % 32 != 0) columns.back().last_high = double((1u << capacity % 32) - 1);
  columns.push_back({table + ".generation",
                     Type::uint32,
                     {},
                     capacity,
                     at + 4 * words,
                     4,
                     4,
                     "",
                     "how often the slot was freed"});
}

void ColumnList::component(const std::string& table, const Segment& row, int64_t rows,
                           const LiveRows& live, const std::vector<FieldInfo>& fields) {
  segments.push_back({row.offset, row.bytes * rows, row.unit});
  for (const FieldInfo& info : fields) {
    columns.push_back({table + "." + info.name, info.type, info.shape, rows,
                       row.offset + info.offset, row.bytes, info.bytes, info.unit, info.doc,
                       info.low, info.high});
    Column& column = columns.back();
    column.live = live;
    if (info.type == Type::boolean) column.low = 0, column.high = 1;
    for (const auto& [name, count] : row_counts)
      if (name == info.table) column.high = double(count - 1);
    if (info.type != Type::float32) continue;
    column.low = float(info.low);  // a bound is itself within, as the column holds it
    column.high = float(info.high);
  }
}

// ---- JSON of a build

std::string shape_json(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (const int64_t extent : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(extent);
  return out + "]";
}

namespace {

const char* flag(bool value) {
  return value ? "true" : "false";
}

std::string columns_json(const std::vector<Column>& columns) {
  std::string out = "[";
  for (const Column& column : columns) {
    if (out.size() > 1) out += ", ";
    out += "{\"name\": " + json(column.name) +
           ", \"type\": " + json(std::string(name_of(column.type))) +
           ", \"shape\": " + shape_json(column.shape) + ", \"low\": " + json_number(column.low) +
           ", \"high\": " + json_number(column.high) +
           (column.last_high < column.high ? ", \"last_high\": " + json_number(column.last_high)
                                           : "") +
           ", \"unit\": " + json(column.unit) + ", \"doc\": " + json(column.doc) + "}";
  }
  return out + "]";
}

/// Says that the observation is layers of pictures, and how many of its fields are numbers beside
/// these.
std::string pictures_json(bool pictures, int numbers) {
  return std::string(pictures ? ", \"pictures\": true" : "") +
         (numbers > 0 && pictures ? ", \"numbers\": " + std::to_string(numbers) : "");
}

std::string roles_json(const std::vector<BuildFacts::Role>& roles) {
  std::string out;
  for (const BuildFacts::Role& role : roles)
    out += (out.empty() ? "" : ", ") + ("{\"name\": " + json(role.shape.name)) +
           ", \"first\": " + std::to_string(role.shape.first) +
           ", \"count\": " + std::to_string(role.shape.count) + ", \"choices\": " +
           (role.is_choice ? std::to_string(int64_t(role.shape.ranges[1]) + 1) : "null") +
           ", \"masked\": " + flag(role.shape.has_mask) +
           ", \"elements\": " + std::to_string(role.shape.elements) +
           ", \"mask_elements\": " + std::to_string(role.shape.mask_elements) +
           ", \"action\": " + json(role.action) + ", \"observation\": " + json(role.observation) +
           (role.reward_parts.empty() ? "" : ", \"reward_parts\": " + json(role.reward_parts)) +
           (role.measures.empty() ? "" : ", \"measures\": " + json(role.measures)) +
           pictures_json(role.sees_pictures, role.numbers) + "}";
  return ", \"roles\": [" + out + "]";
}

/// Where each role's actions and rows lie in the arrays of a simulator: "begin" counts bytes of
/// rows, and words of actions, and is 0 where the rows of all roles lie side by side.
std::string parts_json(const std::vector<RoleShape>& roles, const Config& config) {
  std::string out;
  int64_t words = 0;
  for (const RoleShape& role : roles) {
    std::string rows;
    for (int o = 0; o < kOutputCount; ++o) {
      const RoleRows& of = role.rows[o];
      if (of.exists)
        rows += (rows.empty() ? "" : ", ") + json(std::string(name_of(Output(o)))) +
                ": {\"type\": " + json(std::string(name_of(of.type))) +
                ", \"shape\": " + shape_json(of.shape) +
                ", \"begin\": " + std::to_string(of.first) + "}";
    }
    out += (out.empty() ? "" : ", ") + ("{\"role\": " + json(role.name)) +
           ", \"first\": " + std::to_string(role.first) +
           ", \"count\": " + std::to_string(role.count) + ", \"begin\": " + std::to_string(words) +
           ", \"is_float\": " + flag(role.is_float) + ", \"outputs\": {" + rows + "}}";
    if (config.roles == RoleForm::split) words += config.worlds * role.count * role.words();
  }
  return ", \"parts\": [" + out + "]";
}

}  // namespace

void check_names(const BuildFacts::Role& role) {
  const auto refuse = [](const char* row, const std::string& name, const char* what) {
    throw Error(Fault::runtime,
                std::string("GE: a field of ") + row + " is called '" + name + "', as " + what);
  };
  const auto is_number = [&](size_t k) {
    return k + size_t(role.numbers) >= role.observation.size();
  };
  for (size_t k = 0; k < role.observation.size(); ++k)
    for (size_t other = 0; is_number(k) && other < role.observation.size(); ++other)
      if (other != k && role.observation[other].name == role.observation[k].name)
        refuse("Numbers", role.observation[k].name, "another part of the observation");
  static constexpr const char* kInfos[] = {"episode_stats", "final_info", "game", "by_game",
                                           "episode"};
  for (const FieldInfo& field : role.measures) {
    for (int o = 0; o < kOutputCount; ++o)
      if (field.name == name_of(Output(o))) refuse("Measures", field.name, "an output");
    for (const char* const info : kInfos)
      if (field.name == info) refuse("Measures", field.name, "an info");
  }
}

void describe_padded(BuildFacts& facts) {
  FieldInfo row{}, action{};
  bool are_choices = true;
  int64_t longest = 0, parts = 0, measures = 0;
  row.low = kUnbounded, row.high = -kUnbounded;
  for (const BuildFacts::Role& role : facts.roles) {
    longest = std::max(longest, role.shape.elements);
    are_choices = are_choices && role.is_choice;
    if (role.is_choice) action.choices = std::max(action.choices, int(role.shape.ranges[1]) + 1);
    for (const FieldInfo& field : role.observation) {
      row.type = field.type;
      row.low = std::min(row.low, field.low), row.high = std::max(row.high, field.high);
    }
    parts = std::max(parts, elements_in(role.reward_parts));
    measures = std::max(measures, elements_in(role.measures));
  }
  // Behind a row's own elements there are zeros.
  row.low = std::min(row.low, 0.0), row.high = std::max(row.high, 0.0);
  row.name = "row", row.doc = "the observation of the agent's role, then zeros";
  row.shape = {longest};
  if (facts.can_pad) facts.rows[kObservation] = {row};
  const auto add_floats = [&](Output output, const char* name, const char* doc, int64_t count) {
    if (count == 0) return;
    FieldInfo field{};
    field.name = name, field.doc = doc;
    field.low = -kUnbounded, field.high = kUnbounded;
    field.type = Type::float32, field.shape = {count};
    facts.rows[output] = {field};
  };
  add_floats(kRewardParts, "parts", "the reward parts of the agent's role, then zeros", parts);
  add_floats(kMeasures, "measures", "the measures of the agent's role, then zeros", measures);
  action.name = "action", action.doc = "an action of the agent's role";
  action.type = Type::int32;
  action.low = 0, action.high = action.choices - 1;
  if (are_choices) facts.action = {action};
}

std::string describe_build(const BuildFacts& facts) {
  const Card& card = facts.card;
  const bool is_grid = find_grid(facts.columns).has_value();  // which shows itself
  char threshold[40] = "null";
  if (card.reward_threshold != kUnbounded)
    std::snprintf(threshold, sizeof threshold, "%.17g", card.reward_threshold);
  const auto rows = [&](Output which) {
    return json(facts.rows[which].value_or(std::vector<FieldInfo>{}));
  };
  return "\"id\": " + json(facts.id) + ", \"doc\": " + json(std::string(card.doc)) +
         ", \"max_episode_steps\": " + std::to_string(card.max_episode_steps) +
         ", \"reward_threshold\": " + threshold +
         ", \"agents\": " + json(std::string(card.agents)) +
         ", \"parameters\": " + json(facts.parameters) +
         ", \"reset_options\": " + json(facts.reset_options) +
         ", \"action\": " + json(facts.action) + ", \"observation\": " + rows(kObservation) +
         ", \"state\": " + rows(kState) + ", \"reward_parts\": " + rows(kRewardParts) +
         (facts.rows[kMeasures] ? ", \"measures\": " + rows(kMeasures) : "") +
         ", \"turns\": " + flag(facts.turns) + ", \"text\": " + flag(facts.text || is_grid) +
         ", \"scene\": " + flag(facts.scene || is_grid) +
         (card.render_fps > 0 ? ", \"render_fps\": " + std::to_string(card.render_fps) : "") +
         pictures_json(facts.pictures, facts.numbers) +
         (facts.names_roles ? roles_json(facts.roles) : "") +
         (facts.can_pad ? "" : ", \"can_pad\": false") +
         ", \"action_mask\": " + flag(facts.rows[kActionMask].has_value()) +
         ", \"columns\": " + columns_json(facts.columns);
}

// ---- a plan

std::string usual_agent_name(const char* role, int agent) {
  return std::string(role) + "_" + std::to_string(agent);
}

void PlanFacts::check_config(bool wide, int card_steps) {
  constexpr int64_t kMostWorlds = (int64_t{1} << 31) - 64;
  if (config_.worlds < 1 || config_.worlds > kMostWorlds)
    throw Error(Fault::value, "num_envs must be from 1 to " + std::to_string(kMostWorlds) +
                                  ", got " + std::to_string(config_.worlds));
  // Rows that are staged one by one are numbered in 32 bits.
  if (wide && config_.worlds * agents_ >= int64_t{1} << 31)
    throw Error(Fault::value,
                "at most 2^31 agents in all are possible: " + std::to_string(config_.worlds) +
                    " worlds have " + std::to_string(agents_) + " each");
  // The number of a world, first_world added, is 32 bits of the key of its draws.
  if (config_.first_world < 0 || config_.first_world > 0xffffffffll - config_.worlds)
    throw Error(Fault::value, "first_world must be from 0 to 2^32 less the number of worlds, got " +
                                  std::to_string(config_.first_world));
  // A level is what the world of its number begins with.
  if (config_.first_level < 0 || config_.level_count < 0 ||
      config_.first_level > 0xffffffffll - config_.level_count)
    throw Error(Fault::value,
                "first_level and level_count must not be negative, and their sum below 2^32, got " +
                    std::to_string(config_.first_level) + " and " +
                    std::to_string(config_.level_count));
  max_steps_ = config_.max_episode_steps < 0 ? card_steps : config_.max_episode_steps;
  if (max_steps_ > 0x7fffffff)
    throw Error(Fault::value,
                "max_episode_steps must be below 2^31, got " + std::to_string(max_steps_));
}

void PlanFacts::hash_layout() {
  std::string text;
  // Everything that determines the place and meaning of a byte: equal hashes, equal records.
  for (const Column& column : columns_)
    text += column.name + " " + name_of(column.type) + " " + shape_json(column.shape) + " " +
            std::to_string(column.rows) + " " + std::to_string(column.offset) + " " +
            std::to_string(column.stride) + "\n";
  layout_ = Blake2b(16).update(text.data(), text.size()).hex_digest();
}

void PlanFacts::choose_format(Elements own, const std::vector<Elements>& possible) {
  format_ = own;
  if (config_.elements == Elements::own) return;
  format_ = config_.elements;
  std::string known;
  bool found = false;
  for (const Elements format : possible) {
    known += (known.empty() ? "'" : ", '") + std::string(name_of(format)) + "'";
    found = found || format == format_;
  }
  if (!found)
    throw Error(Fault::value, "dtype of " + id_ + " must be " +
                                  (known.empty() ? "its own" : "one of " + known) + ", got '" +
                                  name_of(config_.elements) + "'");
}

void PlanFacts::choose_actions(bool is_float) {
  if (config_.actions == ActionForm::own) return;
  const auto refuse = [&](const std::string& why) {
    throw Error(Fault::value, "actions='flat' makes one category of several: " + why);
  };
  if (names_roles_) refuse("the roles of " + id_ + " have actions of their own");
  if (is_float) refuse("an action of " + id_ + " is of numbers");
  if (ranges_.size() == 2) refuse("an action of " + id_ + " is one already");
  if (outputs_[kActionMask].exists) refuse("the action mask of " + id_ + " is of each by itself");
  int64_t count = 1;
  for (size_t k = 0; k < ranges_.size(); k += 2) {
    if (ranges_[k] != 0) refuse("those of " + id_ + " do not count from 0");
    count *= int64_t(ranges_[k + 1]) + 1;
    if (count > 0x7fffffff) refuse("those of " + id_ + " make 2^31 or more");
  }
  flat_actions_ = int32_t(count);
  ranges_ = roles_.front().ranges = {0.0, double(count - 1)};
}

Elements PlanFacts::format_of(Output which, Elements own) const {
  const bool observed = which == kObservation || which == kFinalObservation;
  return observed && format_ != Elements::own ? format_ : own;
}

std::vector<int64_t> PlanFacts::wide_shape(Elements format, const WideShape& row) const {
  if (row.elements < 1 || row.elements > row.capacity)
    throw Error(Fault::runtime, id_ + ": a row of " + std::to_string(row.elements) +
                                    " elements, the build has room for " +
                                    std::to_string(row.capacity));
  int64_t described = 0;
  for (const FieldInfo& info : row.fields) described += info.elements();
  if (described != row.elements)
    throw Error(Fault::runtime, id_ + ": a row of " + std::to_string(row.elements) +
                                    " elements is described as " + std::to_string(described));
  // Packed bits have lost the shape that a row of one field would keep.
  if (format == Elements::bits) return {wide_bytes(format, row.elements)};
  if (row.fields.size() == 1 && !row.fields[0].shape.empty()) return row.fields[0].shape;
  return {row.elements};
}

void PlanFacts::add_output(Output which, Type type, std::vector<int64_t> row) {
  const bool per_agent = !has_trait(which, kOfAWorld);
  OutputShape& shape = outputs_[which];
  // Only in SameStep does the next episode begin within the step.
  const bool exists = !has_trait(which, kOfAnEnd) || config_.autoreset == Autoreset::same_step;
  shape = {type, exists, per_agent, std::move(row), 0};
  shape.bytes = bytes_of(type) * config_.worlds * (per_agent ? agents_ : 1);
  for (const int64_t extent : shape.row) shape.bytes *= extent;
}

void PlanFacts::choose_form(bool can_pad) {
  if (!names_roles_) return;
  if (config_.roles == RoleForm::padded && !can_pad)
    throw Error(Fault::value, "roles='padded': what the roles of " + id_ +
                                  " see differs in kind, so rows of one length cannot hold it; say "
                                  "roles='split'");
  if (config_.roles == RoleForm::own) config_.roles = can_pad ? RoleForm::padded : RoleForm::split;
}
void PlanFacts::take_rows(RoleShape& role) {
  for (int o = 0; o < kOutputCount; ++o) {
    if (!outputs_[o].exists) continue;
    role.rows[o] = {true, outputs_[o].type, outputs_[o].row, 0};
    outputs_[o] = {};
  }
}
void PlanFacts::join_rows(Output which, int align) {
  int64_t longest = 0, all = 0;
  const RoleRows* first = nullptr;
  bool one_type = true;
  for (RoleShape& role : roles_) {
    RoleRows& rows = role.rows[which];
    if (!rows.exists) continue;
    if (first == nullptr) first = &rows;
    one_type = one_type && rows.type == first->type;
    longest = std::max(longest, rows.bytes());
    if (config_.roles == RoleForm::split) rows.first = all;
    all += round_up(config_.worlds * role.count * rows.bytes(), align);
  }
  if (first == nullptr) return;
  if (roles_.size() == 1 && config_.roles == RoleForm::padded)
    return add_output(which, first->type, first->shape);
  const Type type = one_type ? first->type : Type::uint8;
  add_output(which, type, {longest / bytes_of(type)});
  if (config_.roles == RoleForm::padded) return;
  OutputShape& shape = outputs_[which];
  shape.per_agent = false;
  shape.split = true;
  shape.row = {all / bytes_of(type)};
  shape.bytes = all;
}
/// Ranges of the padded action: as many words as the longest, each covering the values of every
/// role and 0. A role's own ranges refuse its values.
void PlanFacts::list_ranges() {
  if (roles_.size() == 1) {
    ranges_ = roles_.front().ranges;
    return;
  }
  for (const RoleShape& role : roles_) {
    ranges_.resize(std::max(ranges_.size(), role.ranges.size()));
    for (size_t k = 0; k < role.ranges.size(); ++k)
      ranges_[k] =
          k % 2 == 0 ? std::min(ranges_[k], role.ranges[k]) : std::max(ranges_[k], role.ranges[k]);
  }
}

void PlanFacts::add_wide_output(Output which, Elements own, const WideShape& row) {
  const Elements format = format_of(which, own);
  add_output(which, format == Elements::float32 ? Type::float32 : Type::uint8,
             wide_shape(format, row));
}

std::vector<FieldInfo> image_fields(const ImageForm& form) {
  struct Facts {
    Layer layer;
    const char *name, *doc;
    Type type;
    int64_t channels;
    double high;
  };
  static constexpr Facts all[] = {
      {kColours, "rgb", "red, green and blue of what is seen", Type::uint8, 3, 255},
      {kDepths, "depth", "distance of what is seen, along the axis of sight; 0: nothing",
       Type::float32, 1, kUnbounded},
      {kSegments, "segmentation", "1 + the number of the solid that is seen; 0: nothing",
       Type::uint16, 1, 65535}};
  std::vector<FieldInfo> fields;
  for (const Facts& facts : all) {
    if ((form.layers & facts.layer) == 0) continue;
    FieldInfo info{};
    info.name = facts.name, info.doc = facts.doc;
    info.type = facts.type;
    info.low = 0, info.high = facts.high;
    if (facts.layer == kDepths) info.unit = "m";
    info.shape = {form.rows, form.columns};
    info.shape.insert(form.channels_last != 0 ? info.shape.end() : info.shape.begin(),
                      facts.channels);
    fields.push_back(std::move(info));
  }
  return fields;
}
void PlanFacts::add_image_outputs(const ImageForm& form, bool into_final) {
  size_t k = 0;
  const std::vector<FieldInfo> fields = image_fields(form);
  for (int layer = 0; layer < kLayerCount; ++layer)
    if ((form.layers & layer_at(layer)) != 0) {
      add_output(output_of_layer(form, layer_at(layer), into_final), fields[k].type,
                 fields[k].shape);
      ++k;
    }
  if ((form.layers & kNumberRow) != 0)
    add_output(output_of_layer(form, kNumberRow, into_final), Type::float32, {form.numbers});
}

void PlanFacts::add_agent_outputs(bool many_agents) {
  add_output(kReward, Type::float32, {});
  add_output(kTerminated, Type::boolean, {});
  add_output(kTruncated, Type::boolean, {});
  add_output(kEnded, Type::boolean, {});
  add_output(kEpisodeReturn, Type::float32, {});
  add_output(kEpisodeLength, Type::int32, {});
  if (many_agents) add_output(kAgentActive, Type::boolean, {});
}

namespace {

/// The single field that encodes all of `fields`, which are categories.
FieldInfo flat_action(const std::vector<FieldInfo>& fields, int32_t count) {
  FieldInfo info{};
  for (const FieldInfo& field : fields) info.doc += (info.doc.empty() ? "" : ", ") + field.name;
  info.doc += " in one number, of which the last is the quickest to change";
  info.name = "action";
  info.type = Type::int32;
  info.choices = count;
  info.low = 0, info.high = count - 1;
  return info;
}

}  // namespace

namespace {

std::string varying_json(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + json(name);
  return names.empty() ? "" : ", \"varying\": [" + out + "]";
}
std::string values_json(const std::vector<FieldInfo>& parameters, const void* values) {
  std::string settings;
  for (const FieldInfo& info : parameters)
    settings += (settings.empty() ? "" : ", ") + json(info.name) + ": " + json_value(info, values);
  return "\"values\": {" + settings + "}}";
}
std::string agents_json(int agents, const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + json(name);
  return "\"agents_per_world\": " + std::to_string(agents) + ", \"agent_names\": [" + all + "]";
}

}  // namespace

std::string outline_json(int agents, const std::vector<std::string>& agent_names,
                         const std::vector<FieldInfo>& parameters, const void* values) {
  return "{" + agents_json(agents, agent_names) + ", " + values_json(parameters, values);
}

void PlanFacts::write_values(const std::vector<FieldInfo>& parameters, const void* values) {
  // They come last, so that no text behind them holds the same words.
  instance_.resize(instance_.rfind("\"values\": {"));
  instance_ += values_json(parameters, values);
}

void PlanFacts::write_instance(BuildFacts build, const void* values,
                               const std::vector<std::string>& agent_names, int64_t record_bytes) {
  if (flat_actions_ != 0) build.action = {flat_action(build.action, flat_actions_)};
  std::string outputs;
  for (int o = 0; o < kOutputCount; ++o) {
    const OutputShape& shape = outputs_[o];
    if (!shape.exists) continue;
    std::vector<int64_t> full;
    if (!shape.split) full.push_back(config_.worlds);
    if (shape.per_agent) full.push_back(agents_);
    full.insert(full.end(), shape.row.begin(), shape.row.end());
    outputs += (outputs.empty() ? "" : ", ") + json(std::string(name_of(Output(o)))) +
               ": {\"type\": " + json(std::string(name_of(shape.type))) +
               ", \"shape\": " + shape_json(full) + ", \"per_agent\": " + flag(shape.per_agent) +
               ", \"by_a_step\": " + flag(has_trait(Output(o), kByAStep)) +
               ", \"where_ended\": " + flag(has_trait(Output(o), kWhereEnded)) + "}";
  }
  instance_ =
      "{" + describe_build(build) + ", \"num_worlds\": " + std::to_string(config_.worlds) + ", " +
      agents_json(agents_, agent_names) +
      ", \"autoreset_mode\": " + json(std::string(name_of(config_.autoreset))) +
      ", \"time_limit\": " + std::to_string(max_steps_) +
      (names_roles_ ? ", \"role_form\": " + json(std::string(name_of(config_.roles))) : "") +
      parts_json(roles_, config_) + ", \"packed\": " + flag(format_ == Elements::bits) +
      ", \"record_bytes\": " + std::to_string(record_bytes) + ", \"layout\": " + json(layout_) +
      (shelf_ == nullptr ? "" : ", \"assets\": " + json(shelf_->hash())) +
      ", \"tier\": " + std::to_string(tier_) + varying_json(config_.varying) + ", \"outputs\": {" +
      outputs + "}, " + values_json(build.parameters, values);
}

}  // namespace ge
