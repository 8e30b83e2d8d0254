// The part of a simulator that is the same on every machine: what its plan answers, and faults in
// words.
#pragma once

#include "engine/build.hpp"

namespace ge {

template <class E>
class PlannedSimulator : public Simulator {
 public:
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  static constexpr int B = kBlock<S>;

  explicit PlannedSimulator(Plan<E> plan) : plan_(std::move(plan)) {
    shared_.worlds = int32_t(plan_.config_.worlds);
    shared_.max_steps = uint32_t(plan_.max_steps_);
    shared_.first_world = uint32_t(plan_.config_.first_world);
    shared_.autoreset = plan_.config_.autoreset;
    shared_.params = plan_.params_;
    shared_.format = plan_.format_;
  }
  PlannedSimulator(const PlannedSimulator&) = delete;

  const std::string& instance() const override { return plan_.instance_; }
  const OutputShape& output(Output which) const override { return plan_.outputs_[which]; }
  int64_t worlds() const override { return plan_.config_.worlds; }
  int agents() const override { return plan_.agents_; }
  const Config& config() const override { return plan_.config_; }
  const std::string& id() const override { return plan_.id_; }
  const std::vector<Column>& columns() const override { return plan_.columns_; }
  const std::string& layout() const override { return plan_.layout_; }
  const std::vector<double>& action_ranges() const override { return plan_.ranges_; }
  bool action_is_float() const override { return ActionShape<typename S::Action>::is_float; }
  std::vector<std::string> action_names() const override { return named(&name_of_action); }
  std::vector<std::string> action_keys() const override { return named(&key_of_action); }
  std::string text(int64_t, int) const override {
    throw Error(Fault::value, "text of a world: only with device='cpu'");
  }
  Scene scene(int64_t) const override {
    throw Error(Fault::value, "scene of a world: only with device='cpu'");
  }
  int64_t record_bytes() const override { return ge::record_bytes<Tables>(plan_.params_); }

 protected:
  /// Bytes of all records, and of one world's.
  int64_t arena_bytes() const { return (worlds() + B - 1) / B * block_bytes(); }
  int64_t block_bytes() const { return ge::block_bytes<Tables, B>(plan_.params_); }

  void need_reset(const char* call) const {
    if (!begun_)
      throw Error(Fault::reset_needed,
                  std::string(call) + " before the first reset: call reset() once");
  }
  /// What of a reset request goes into the kernels' parameters as it is.
  void take_request(const ResetRequest& request) {
    if (!begun_ && request.mask != nullptr)
      throw Error(Fault::reset_needed,
                  "the first reset must be of all worlds: call reset() once without a mask");
    shared_.options = resolve_options<S>(request.options, plan_.params_);
    shared_.reset_mask = request.mask;
    shared_.seed_count = int32_t(request.seeds.size());
  }
  /// Options, mask and seeds hold for one reset only.
  void forget_request() {
    shared_.options = typename OptionsOf<S>::type{};
    shared_.seeds = nullptr;
    shared_.reset_mask = nullptr;
  }
  void check_range(int64_t first, int64_t count) const {
    if (first < 0 || count < 0 || first + count > worlds())
      throw Error(Fault::value, "worlds " + std::to_string(first) + " to " +
                                    std::to_string(first + count) + " are not within the " +
                                    std::to_string(worlds()) + " of this simulator");
  }
  void check_world(int64_t world) const {
    if (world < 0 || world >= worlds())
      throw Error(Fault::value, "world must be from 0 to " + std::to_string(worlds() - 1) +
                                    ", got " + std::to_string(world));
  }
  FaultReport report(const Counters& counters) const {
    FaultReport report;
    report.bad_actions = int64_t(counters.bad_actions);
    if (counters.first_bad != 0) {
      const int64_t row = int64_t(~counters.first_bad);
      report.first_bad_world = row / agents(), report.first_bad_agent = row % agents();
    }
    report.illegal_actions = int64_t(counters.illegal_actions);
    if (counters.first_illegal != 0) {
      const int64_t row = int64_t(~counters.first_illegal);
      report.first_illegal_world = row / agents(), report.first_illegal_agent = row % agents();
    }
    report.frozen_steps = int64_t(counters.frozen_steps);
    int table = 0;
    for_each_type(Tables{}, [&](auto t) {
      using T = typename decltype(t)::type;
      if (counters.dropped[table] != 0)
        report.tables.push_back({table_name<T>(), int64_t(counters.dropped[table]),
                                 int64_t(counters.needed[table]), room_of<T>(plan_.params_)});
      ++table;
    });
    return report;
  }

  static std::string name_of_action([[maybe_unused]] const typename S::Params& params,
                                    [[maybe_unused]] int k) {
    if constexpr (requires { E::action_name(params, k); })
      return E::action_name(params, k);
    else
      return "";
  }
  static std::string key_of_action([[maybe_unused]] const typename S::Params& params,
                                   [[maybe_unused]] int k) {
    if constexpr (requires { E::action_key(params, k); })
      return E::action_key(params, k);
    else
      return "";
  }
  /// f(params, k) for each category of an action that is one category; nothing if the first is empty.
  std::vector<std::string> named(std::string (*f)(const typename S::Params&, int)) const {
    std::vector<std::string> texts;
    if (plan_.ranges_.size() != 2 || action_is_float()) return texts;
    for (int k = 0; k <= int(plan_.ranges_[1]); ++k) {
      texts.push_back(f(plan_.params_, k));
      if (k == 0 && texts[0].empty()) return {};
    }
    return texts;
  }

  Plan<E> plan_;
  bool begun_ = false;
  Shared<S> shared_{};
};

}  // namespace ge
