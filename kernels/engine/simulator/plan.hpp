// Plans: the facts of a build, and of a simulator before it runs on any machine. Names,
// descriptions, columns, shapes of outputs, JSON, and the checks of a request: plain data, so that
// code that works with it is compiled once (plan.cpp). build.hpp fills it in from an environment's
// types.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/described/field_info.hpp"
#include "engine/graph/images.hpp"
#include "engine/simulator/assets.hpp"
#include "engine/simulator/simulator.hpp"
#include "engine/world/record.hpp"

namespace ge {

/// An environment's entry in a catalogue.
struct Card {
  const char* doc;
  int max_episode_steps = 0;             // 0: no limit
  double reward_threshold = kUnbounded;  // unbounded: none
  const char* agents = "1";              // or the name of the parameter that counts them
  int render_fps = 0;                    // steps per second of the world's own time, if it has one
};

/// The columns and segments of a record, in the order of their offsets.
/// References into the lists that are filled: it lives for one walk over the tables.
struct ColumnList {
  std::vector<Column>& columns;
  std::vector<Segment>& segments;
  std::vector<std::pair<std::string, int64_t>> row_counts;  // of all tables, by name
  void list_header(const std::string& table, int64_t at, int64_t bytes, int64_t room);
  void pool_header(const std::string& table, int64_t at, int64_t bytes, int words, int capacity);
  void component(const std::string& table, const Segment& row, int64_t rows, const LiveRows& live,
                 const std::vector<FieldInfo>& fields);
};

/// A field for each layer of an image.
std::vector<FieldInfo> image_fields(const ImageForm& form);

std::string shape_json(const std::vector<int64_t>& shape);

/// How many numbers some fields have together.
inline int64_t elements_in(const std::vector<FieldInfo>& fields) {
  int64_t elements = 0;
  for (const FieldInfo& field : fields) elements += field.elements();
  return elements;
}

/// Facts of a build that need no simulator. Constructors and destructor are in plan.cpp, here and
/// below: an environment's object would otherwise hold code for every string and vector.
struct BuildFacts {
  BuildFacts(const std::string& name, const Card& build_card);
  ~BuildFacts();

  std::string id;
  Card card;
  std::vector<Column> columns;
  std::vector<FieldInfo> parameters, reset_options, action;
  std::optional<std::vector<FieldInfo>>
      rows[kOutputCount];  // of outputs that the environment fills
  struct Role {
    RoleShape shape;
    std::vector<FieldInfo> action, observation, reward_parts, measures;
    bool is_choice = false, sees_pictures = false;
    int numbers = 0;  // fields beside a picture
  };
  std::vector<Role> roles;   // at least one
  bool names_roles = false;  // the schema lists them; else the one role holds all agents
  bool can_pad = true;       // the rows of all roles can have one length and type
  bool pictures = false, turns = false, text = false, scene = false;
  int numbers = 0;
};
/// Refuses numbers called like a layer of a picture, and measures called like another info.
void check_names(const BuildFacts::Role& role);
/// Where roles have names: what stands for the action and the observation of all of them, padded.
void describe_padded(BuildFacts& facts);
/// The part of the JSON that is known without a simulator.
std::string describe_build(const BuildFacts& facts);

/// Agents of a world and resolved parameters, as JSON.
std::string outline_json(int agents, const std::vector<std::string>& agent_names,
                         const std::vector<FieldInfo>& parameters, const void* values);

/// The most agents per world that have names; beyond it they have numbers only.
inline constexpr int kMostNamed = 1 << 20;
/// The name of a role's agent where the environment says nothing: player_0, player_1, ...
std::string usual_agent_name(const char* role, int agent);

/// A row whose length depends on the parameters: its type, and its capacity.
struct WideShape {
  int elements, capacity;
  std::vector<FieldInfo> fields;
};

/// Facts of one simulator that are the same on every machine, except its parameters.
struct PlanFacts {
  PlanFacts(const std::string& id, const Config& config, int tier, int agents, bool names_roles);
  PlanFacts(const PlanFacts&);
  PlanFacts(PlanFacts&&) noexcept;
  ~PlanFacts();

  std::string id_;
  Config config_;
  int tier_, agents_;
  int64_t max_steps_ = 0;
  std::vector<Column> columns_;
  std::vector<Segment> segments_;
  bool names_roles_;              // the schema lists roles; else roles_ is the one of all agents
  std::vector<RoleShape> roles_;  // at least one
  std::vector<double> ranges_;    // of a caller's action; padded, as long as the longest role's
  int32_t flat_actions_ = 0;      // number of flat actions where one number encodes all categories;
                                  // else 0
  // layout_: hash of the columns; instance_: JSON that answers whatever Python asks, written once.
  std::string layout_, instance_;
  OutputShape outputs_[kOutputCount];
  Elements format_ = Elements::uint8;        // of observations that are wide rows
  std::shared_ptr<const AssetShelf> shelf_;  // null: the environment has no assets
  int64_t asset_bytes() const { return shelf_ == nullptr ? 0 : shelf_->bytes(); }

  /// Bytes of a world's actions, in the rules' type.
  int64_t action_bytes() const { return 4 * int64_t{agents_} * int64_t(ranges_.size() / 2); }
  /// Refuses numbers of worlds and steps that overflow a counter. wide: the observation is a wide
  /// row.
  void check_config(bool wide, int card_steps);
  /// The hash of columns_.
  void hash_layout();
  /// The element type that was asked for, where it is one of `possible`.
  void choose_format(Elements own, const std::vector<Elements>& possible);
  /// Merges several categories into one if requested, once ranges_ and outputs are known.
  void choose_actions(bool is_float);
  /// The format of a wide row that is written as `which`; `own` is that of its elements.
  Elements format_of(Output which, Elements own) const;
  void add_output(Output which, Type type, std::vector<int64_t> row);
  /// Checks the requested form of roles' rows, and chooses one if none was requested.
  void choose_form(bool can_pad);
  /// Moves the outputs that were added last to the rows of this role.
  void take_rows(RoleShape& role);
  /// Makes one output of the rows of all roles; `align` as kPartAlign.
  void join_rows(Output which, int align);
  /// Computes the legal actions of a caller, once the roles are known.
  void list_ranges();
  void add_image_outputs(const ImageForm& form, bool into_final);
  void add_wide_output(Output which, Elements own, const WideShape& row);
  /// Adds the outputs that the life cycle writes for each agent.
  void add_agent_outputs(bool many_agents);
  /// The whole JSON; `settings` lie in the struct at `values`.
  void write_instance(BuildFacts build, const void* values,
                      const std::vector<std::string>& agent_names, int64_t record_bytes);
  /// Replaces the values of parameters in the JSON.
  void write_values(const std::vector<FieldInfo>& parameters, const void* values);

 private:
  /// A row of one field has that field's shape, all others are flat.
  std::vector<int64_t> wide_shape(Elements format, const WideShape& row) const;
};

}  // namespace ge
