// The part of a simulator that is the same on every machine: answers from its plan, checks of
// requests, and faults in words. PlannedBase knows the facts of the plan and is compiled once;
// PlannedSimulator adds facts that only an environment's types have.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "engine/simulator/build.hpp"
#include "engine/simulator/varying.hpp"

namespace ge {

class GE_API PlannedBase : public Simulator {
 public:
  PlannedBase(const PlannedBase&) = delete;

  const std::string& instance() const override;
  const OutputShape& output(Output which) const override;
  int64_t worlds() const override;
  int agents() const override;
  const Config& config() const override;
  const std::string& id() const override;
  const std::vector<Column>& columns() const override;
  const std::string& layout() const override;
  const AssetShelf* assets() const override;
  const std::vector<double>& action_ranges() const override;
  bool action_is_float() const override;
  const std::vector<RoleShape>& roles() const override;
  std::vector<std::string> action_names() const override;
  std::vector<std::string> action_keys() const override;
  std::string text(int64_t world, int viewer) const override;
  bool scene(int64_t world, Scene& into, int viewer) const override;
  int64_t record_bytes() const override;
  void set_parameters(const ParameterChange& change) override;
  void settle(char* records, int64_t count) const override;
  std::vector<std::string> own_parameters() const override;

 protected:
  /// `identity`: offset of Identity in a record. The form of records is copied out of the types, so
  /// that the code that moves them is not a template.
  PlannedBase(bool action_is_float, const RecordShape& shape, int identity)
      : action_is_float_(action_is_float), shape_(shape), identity_(identity) {}

  /// The name of category k of the environment's action, and the key that a person presses for it;
  /// empty if it has none.
  virtual std::string name_of_action(int k) const = 0;
  virtual std::string key_of_action(int k) const = 0;
  /// Name and most rows of each table, as the counters number them.
  struct Room {
    std::string table;
    int64_t rows;
  };
  virtual std::vector<Room> rooms() const = 0;

  /// The own parameters of worlds [first, first + count), as canonical records end with them.
  virtual void read_own(int64_t first, int64_t count, char* to);
  virtual void write_own(int64_t first, int64_t count, const char* from);
  /// Gives the parameters of all worlds new values, which were found right one by one.
  virtual void change_common(const ParameterChange& change) = 0;
  /// Fills the rows of all worlds, before there is any episode, with these values.
  void begin_own(std::span<const std::byte> varied);

  void need_reset(const char* call) const;
  void check_request(const ResetRequest& request) const;
  void check_range(int64_t first, int64_t count) const;
  void check_world(int64_t world) const;
  FaultReport report(const Counters& counters) const;

  // Set by the derived class: the plan is its member, and does not exist while this base is made.
  const PlanFacts* facts_ = nullptr;
  const bool action_is_float_;
  const RecordShape shape_;
  const int identity_;
  VariedFacts varied_;
  bool begun_ = false;

 private:
  std::vector<std::string> of_each_action(std::string (PlannedBase::*text)(int) const) const;
};

/// Machine: PlannedBase, or a class of one kind of machine that derives from it.
template <class E, class Machine = PlannedBase>
class PlannedSimulator : public Machine {
 public:
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  static constexpr int B = kBlock<S>;

  GE_COLD explicit PlannedSimulator(Plan<E>&& plan)
      : Machine(RoleTraits<S>::floats, record_shape<Tables, B>(plan.params_),
                kOffset<Tables, EpisodeTable, Identity>),
        plan_(std::move(plan)) {
    this->facts_ = &plan_;
    shared_.worlds = int32_t(plan_.config_.worlds);
    shared_.max_steps = uint32_t(plan_.max_steps_);
    shared_.first_world = uint32_t(plan_.config_.first_world);
    shared_.first_level = uint32_t(plan_.config_.first_level);
    shared_.level_count = uint32_t(plan_.config_.level_count);
    shared_.autoreset = plan_.config_.autoreset;
    shared_.ends = plan_.config_.ends;
    shared_.params = plan_.params_;
    shared_.format = plan_.format_;
    shared_.flat_actions = plan_.flat_actions_;
    shared_.role_form = plan_.config_.roles;
    if constexpr (has_varied<S>) {
      take_varied();
      share_common();
    }
  }

 protected:
  /// Copies the parts of a reset request that go into the kernels' parameters.
  GE_COLD void take_request(const ResetRequest& request) {
    const FloatMode standard;
    this->check_request(request);
    shared_.options = resolve_options<S>(request.options, plan_.params_, plan_.assets_);
    shared_.shows_only = false;
    shared_.step_mask = nullptr;
    shared_.reset_mask = request.mask;
    shared_.seed_count = int32_t(request.seeds.size());
    shared_.seed = request.seeds.empty() ? 0 : request.seeds.front();
    if (!request.parameters.all.empty()) this->set_parameters(request.parameters);
  }
  /// Where a call writes, which goes into the kernels' parameters too.
  void take_bound(const Bound& out) {
    shared_.bound = out;
    if (plan_.config_.final_rows == FinalRows::keep) shared_.bound.final_rows = FinalRows::keep;
  }
  /// Options, mask and seeds hold for one reset only.
  GE_COLD void forget_request() {
    shared_.options = typename OptionsOf<S>::type{};
    shared_.seed_count = 0;
    shared_.seeds = nullptr;
    shared_.reset_mask = nullptr;
  }

  GE_COLD std::string name_of_action([[maybe_unused]] int k) const override {
    if constexpr (kHooks<E>.action_name.given)
      return kHooks<E>.action_name.call(plan_.params_, k);
    else
      return "";
  }
  GE_COLD std::string key_of_action([[maybe_unused]] int k) const override {
    if constexpr (kHooks<E>.action_key.given)
      return kHooks<E>.action_key.call(plan_.params_, k);
    else
      return "";
  }
  GE_COLD std::vector<Symmetry> symmetries() const override {
    if constexpr (kHooks<E>.symmetries.given)
      return kHooks<E>.symmetries.call(plan_.params_);
    else
      return {};
  }
  GE_COLD std::vector<PlannedBase::Room> rooms() const override { return rooms_of(Tables{}); }

  /// Writes the parameters of a simulator whose records exist into each of them.
  GE_COLD void begin_parameters() {
    if constexpr (has_varied<S>) {
      const varied_of<S> varied = plan_.settings_;
      if (this->varied_.own()) this->begin_own(std::as_bytes(std::span(&varied, 1)));
      this->set_parameters(plan_.config_.own);
    }
  }
  GE_COLD void change_common([[maybe_unused]] const ParameterChange& change) override {
    if constexpr (has_varied<S>) {
      varied_of<S> varied = plan_.settings_;
      for (const ParameterChange::One& one : change.all) {
        const FieldInfo& info = this->varied_.field(one.name);
        put_number(info.type, reinterpret_cast<char*>(&varied) + info.offset, one.numbers[0]);
      }
      if (this->varied_.problem != nullptr)
        refuse_problem("parameter", this->varied_.problem(&varied, &plan_.params_));
      static_cast<varied_of<S>&>(plan_.settings_) = varied;
      share_common();
      plan_.write_values();
    }
  }

  // Never moved from here on: facts_ points into it.
  Plan<E> plan_;
  Shared<S> shared_{};

 private:
  GE_COLD void take_varied() {
    VariedFacts& facts = this->varied_;
    using V = varied_of<S>;
    facts.fields = field_infos<V>();
    facts.varying = plan_.varying();
    const int64_t at = own_offset<Tables>(plan_.params_);
    facts.derived = at + kOwnOffset<Tables, OwnParameters<S>, derived_of<S>>;
    facts.given = at + kOwnOffset<Tables, OwnParameters<S>, V>;
    facts.ranges = at + kOwnOffset<Tables, OwnRanges<S>, Range>;
    facts.end = ge::record_bytes<Tables>(plan_.params_);
    facts.params = &plan_.params_;
    facts.derive = [](void* derived, const void* varied, const void* params) {
      const FloatMode standard;
      *static_cast<derived_of<S>*>(derived) =
          derive<S>(*static_cast<const V*>(varied), *static_cast<const held_of<S>*>(params));
    };
    if constexpr (has_problem<S>)
      facts.problem = [](const void* varied, const void* params) {
        return problem_of<S>(*static_cast<const V*>(varied),
                             *static_cast<const held_of<S>*>(params));
      };
  }
  /// What rules read while nothing varies.
  GE_COLD void share_common() {
    const FloatMode standard;
    const varied_of<S> varied = plan_.settings_;
    const derived_of<S> derived = derive<S>(varied, plan_.params_);
    if constexpr (kOnLanes)
      shared_.varied = varied;
    else
      shared_.varied = &plan_.settings_;
    const varied_of<S> defaults{};
    shared_.is_usual =
        plan_.params_.varying == 0 && std::memcmp(&varied, &defaults, sizeof varied) == 0;
    if constexpr (kOnLanes) {
      shared_.derived = derived;
    } else {
      using Derived = derived_of<S>;
      shared_.common = common_;
      for (int lane = 0; lane < B; ++lane)
        store_words<Derived>(common_ + lane * unit_of<Derived>, B, derived);
    }
  }
  // See Shared. On whole lines of the cache, as records are.
  static constexpr int kCommonBytes =
      has_varied<S> && !kOnLanes ? int(sizeof(derived_of<S>)) * B : 1;
  alignas(64) char common_[kCommonBytes];

  template <class... Ts>
  GE_COLD std::vector<PlannedBase::Room> rooms_of(Types<Ts...>) const {
    std::vector<PlannedBase::Room> rooms;
    (rooms.push_back({table_name<Ts>(), room_of<Ts>(plan_.params_)}), ...);
    return rooms;
  }
};

}  // namespace ge
