// A simulator in host memory. What runs the graph is a parameter: the tiles of `cpu`, or the executors of the tests.
#pragma once

#include <cstdlib>
#include <new>

#include "engine/build.hpp"
#include "engine/records.hpp"

namespace ge {

/// Refuses actions outside their range before any world moves; names the first offending agent.
void check_actions(const Simulator& simulator, const Actions& actions);
/// Bytes the system would still give.
int64_t available_memory();

template <class E, template <class> class Runner>
class HostSimulator final : public Simulator {
 public:
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  static constexpr int B = kBlock<S>;

  explicit HostSimulator(Plan<E> plan) : plan_(std::move(plan)), runner_(plan_.config_) {
    const int64_t blocks = (plan_.config_.worlds + B - 1) / B;
    bytes_ = blocks * kBlockBytes<Tables, B>;
    const int64_t available = available_memory();
    if (bytes_ > available) {
      const int64_t each = kBlockBytes<Tables, B> / B;
      throw Error(Fault::memory, std::to_string(plan_.config_.worlds) + " worlds of " + plan_.id_ + " need " +
                                     std::to_string(bytes_) + " bytes (" + std::to_string(each) + " a world); about " +
                                     std::to_string(available / each) + " would fit");
    }
    base_ = static_cast<char*>(std::aligned_alloc(64, size_t(bytes_)));
    if (base_ == nullptr) throw Error(Fault::memory, "the system gave no " + std::to_string(bytes_) + " bytes");
    std::memset(base_, 0, size_t(bytes_));
    shared_.base = base_;
    shared_.worlds = int32_t(plan_.config_.worlds);
    shared_.max_steps = uint32_t(plan_.max_steps_);
    shared_.first_world = uint32_t(plan_.config_.first_world);
    shared_.autoreset = plan_.config_.autoreset;
    shared_.params = plan_.params_;
    shared_.counters = &counters_;
  }
  ~HostSimulator() override { std::free(base_); }
  HostSimulator(const HostSimulator&) = delete;

  const std::string& instance() const override { return plan_.instance_; }
  const OutputShape& output(Output which) const override { return plan_.outputs_[which]; }
  int64_t worlds() const override { return plan_.config_.worlds; }
  int agents() const override { return plan_.agents_; }
  int64_t memory_bytes() const override { return bytes_ + runner_.memory_bytes(); }
  const Config& config() const override { return plan_.config_; }
  const std::string& id() const override { return plan_.id_; }
  const std::vector<Column>& columns() const override { return plan_.columns_; }
  const std::string& layout() const override { return plan_.layout_; }
  const std::vector<double>& action_ranges() const override { return plan_.ranges_; }
  bool action_is_float() const override { return ActionShape<typename S::Action>::is_float; }
  int64_t record_bytes() const override { return kRecordBytes<Tables>; }

  void step(const Actions& actions, const Bound& out, void*) override {
    if (!begun_) throw Error(Fault::reset_needed, "step before the first reset: call reset() once");
    check_actions(*this, actions);
    shared_.actions = actions.data;
    shared_.action_type = actions.type;
    shared_.bound = out;
    runner_.run(typename Life<E>::StepGraph{}, shared_);
  }
  void reset(const ResetRequest& request, const Bound& out, void*) override {
    if (!begun_ && request.mask != nullptr)
      throw Error(Fault::reset_needed, "the first reset must be of all worlds: call reset() once without a mask");
    using Options = typename OptionsOf<S>::type;
    Options options{};
    set_fields(&options, field_infos<Options>(true), request.options, "reset option");
    shared_.options = options;
    shared_.reset_mask = request.mask;
    shared_.seeds = request.seeds.empty() ? nullptr : request.seeds.data();
    shared_.seed_count = int32_t(request.seeds.size());
    clear_transient(out);
    shared_.bound = out;
    runner_.run(typename Life<E>::ResetGraph{}, shared_);
    shared_.options = Options{};
    shared_.seeds = nullptr;
    shared_.reset_mask = nullptr;
    begun_ = true;
  }
  void observe(const Bound& out, void*) override {
    if (!begun_) throw Error(Fault::reset_needed, "observe before the first reset: call reset() once");
    clear_transient(out);
    shared_.bound = out;
    runner_.run(typename Life<E>::ObserveGraph{}, shared_);
  }

  void read_records(int64_t first, int64_t count, void* to) override {
    check_range(first, count);
    unpack_records<B>(plan_.segments_, kRecordBytes<Tables>, kBlockBytes<Tables, B>, base_, first, count,
                      static_cast<char*>(to));
  }
  void write_records(int64_t first, int64_t count, const void* from) override {
    check_range(first, count);
    pack_records<B>(plan_.segments_, kRecordBytes<Tables>, kBlockBytes<Tables, B>, base_, first, count,
                    static_cast<const char*>(from));
    begun_ = true;
  }
  void copy_worlds(std::span<const int64_t> from, std::span<const int64_t> to, bool reseed) override {
    check_copy(from, to, worlds());
    std::vector<char> record(kRecordBytes<Tables>);
    for (size_t i = 0; i < from.size(); ++i) {
      Identity kept;
      read_records(to[i], 1, record.data());
      constexpr int at = kOffset<Tables, EpisodeTable, Identity>;
      std::memcpy(&kept, record.data() + at, sizeof kept);
      read_records(from[i], 1, record.data());
      if (reseed) std::memcpy(record.data() + at, &kept, sizeof kept);
      write_records(to[i], 1, record.data());
    }
  }
  FaultReport faults() override {
    const FaultReport report = read_faults(counters_, plan_.agents_);
    counters_ = Counters{};
    return report;
  }

  void* allocate(int64_t bytes) override { return std::aligned_alloc(64, size_t(round_up(bytes < 1 ? 1 : bytes, 64))); }
  void release(void* memory) override { std::free(memory); }
  void copy_to_host(void* to, const void* from, int64_t bytes) override { std::memcpy(to, from, size_t(bytes)); }
  void copy_from_host(void* to, const void* from, int64_t bytes) override { std::memcpy(to, from, size_t(bytes)); }

  Runner<E>& runner() { return runner_; }

 private:
  void check_range(int64_t first, int64_t count) const {
    if (first < 0 || count < 0 || first + count > worlds())
      throw Error(Fault::value, "worlds " + std::to_string(first) + " to " + std::to_string(first + count) +
                                    " are not within the " + std::to_string(worlds()) + " of this simulator");
  }
  // What only a step can fill: a reset shows no reward and no flags.
  void clear_transient(const Bound& out) const {
    for (int o = kReward; o <= kEpisodeLength; ++o)
      if (out.at[o] != nullptr) std::memset(out.at[o], 0, size_t(plan_.outputs_[o].bytes));
  }
  static FaultReport read_faults(const Counters& counters, int agents) {
    FaultReport report;
    report.bad_actions = int64_t(counters.bad_actions);
    if (counters.first_bad != 0) {
      const int64_t row = int64_t(~counters.first_bad);
      report.first_bad_world = row / agents, report.first_bad_agent = row % agents;
    }
    report.frozen_steps = int64_t(counters.frozen_steps);
    int table = 0;
    for_each_type(Tables{}, [&](auto t) {
      using T = typename decltype(t)::type;
      if (counters.dropped[table] != 0)
        report.tables.push_back(
            {table_name<T>(), int64_t(counters.dropped[table]), int64_t(counters.needed[table]), T::capacity});
      ++table;
    });
    return report;
  }

  Plan<E> plan_;
  Runner<E> runner_;
  char* base_ = nullptr;
  int64_t bytes_ = 0;
  bool begun_ = false;
  Counters counters_{};
  Shared<S> shared_{};
};

}  // namespace ge
