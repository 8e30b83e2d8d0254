// A simulator in host memory. What runs the graph is a parameter: the tiles of `cpu`, or the
// executors of the tests.
#pragma once

#include <cstdlib>
#include <new>

#include "engine/fitting.hpp"
#include "engine/planned.hpp"
#include "engine/records.hpp"
#include "engine/sampling.hpp"

namespace ge {

/// Refuses actions of the wrong element type, and none at all.
void check_action_type(const Simulator& simulator, const Actions& actions);
/// The same and actions outside their range before any world moves; names the first offending
/// agent.
void check_actions(const Simulator& simulator, const Actions& actions);
/// Actions of all rows, by at most so many threads (0: as many as there are).
void sample_on_host(const Sampling& sampling, int32_t* to, int threads);
/// Bytes the system would still give.
int64_t available_memory();
/// Bytes that this process could have if nobody else had any.
int64_t total_memory();

template <class E, template <class> class Runner>
class HostSimulator final : public PlannedSimulator<E> {
 public:
  using Base = PlannedSimulator<E>;
  using Base::B;
  using Base::worlds;
  using typename Base::S;
  using typename Base::Tables;

  explicit HostSimulator(Plan<E> plan)
      : Base(std::move(plan)), bytes_(checked_bytes()), runner_(plan_.config_, plan_.params_) {
    base_ = static_cast<char*>(std::aligned_alloc(64, size_t(bytes_)));
    if (base_ == nullptr)
      throw Error(Fault::memory, "the system gave no " + std::to_string(bytes_) + " bytes");
    std::memset(base_, 0, size_t(bytes_));
    shared_.base = base_;
    shared_.counters = &counters_;
    shared_.background = plan_.background_.empty() ? nullptr : plan_.background_.data();
    shared_.state_background =
        plan_.state_background_.empty() ? nullptr : plan_.state_background_.data();
  }
  ~HostSimulator() override { std::free(base_); }

  int64_t memory_bytes() const override { return bytes_ + runner_.memory_bytes(); }

  void step(const Actions& actions, const Bound& out, void*) override {
    this->need_reset("step");
    check_actions(*this, actions);
    shared_.actions = actions.data;
    shared_.action_type = actions.type;
    shared_.bound = out;
    runner_.run(typename Life<E>::StepGraph{}, shared_);
  }
  void reset(const ResetRequest& request, const Bound& out, void*) override {
    this->take_request(request);
    shared_.seeds = request.seeds.empty() ? nullptr : request.seeds.data();
    clear_transient(out);
    shared_.bound = out;
    runner_.run(typename Life<E>::ResetGraph{}, shared_);
    this->forget_request();
    begun_ = true;
  }
  void observe(const Bound& out, void*) override {
    this->need_reset("observe");
    clear_transient(out);
    shared_.bound = out;
    runner_.run(typename Life<E>::ObserveGraph{}, shared_);
  }

  void read_records(int64_t first, int64_t count, void* to) override {
    this->check_range(first, count);
    unpack_records<B>(plan_.segments_, this->record_bytes(), this->block_bytes(), base_, first,
                      count, static_cast<char*>(to));
  }
  void write_records(int64_t first, int64_t count, const void* from) override {
    this->check_range(first, count);
    pack_records<B>(plan_.segments_, this->record_bytes(), this->block_bytes(), base_, first, count,
                    static_cast<const char*>(from));
    begun_ = true;
  }
  void copy_worlds(std::span<const int64_t> from, std::span<const int64_t> to,
                   bool reseed) override {
    check_copy(from, to, worlds());
    std::vector<char> record(size_t(this->record_bytes()));
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
  std::string text(int64_t world, int viewer) const override {
    this->need_reset("text");
    this->check_world(world);
    if (viewer < -1 || viewer >= this->agents())
      throw Error(Fault::value, "viewer must be from -1 to " + std::to_string(this->agents() - 1) +
                                    ", got " + std::to_string(viewer));
    if constexpr (requires(const World<S>& w) { E::text(w, viewer); })
      return E::text(seen(world), viewer);
    return "";
  }
  Scene scene(int64_t world) const override {
    this->need_reset("render");
    this->check_world(world);
    if constexpr (requires(const World<S>& w) { E::scene(w); }) return E::scene(seen(world));
    throw Error(Fault::value, this->id() + " cannot be drawn: it describes no scene");
  }
  void sample_actions(const Sampling& sampling, int32_t* to, void*) override {
    sample_on_host(sampling, to, plan_.config_.threads);
  }
  FaultReport faults() override {
    const FaultReport report = this->report(counters_);
    counters_ = Counters{};
    return report;
  }

  void* allocate(int64_t bytes) override {
    return std::aligned_alloc(64, size_t(round_up(bytes < 1 ? 1 : bytes, 64)));
  }
  void release(void* memory) override { std::free(memory); }
  void copy_to_host(void* to, const void* from, int64_t bytes) override {
    std::memcpy(to, from, size_t(bytes));
  }
  void copy_from_host(void* to, const void* from, int64_t bytes) override {
    std::memcpy(to, from, size_t(bytes));
  }

  Runner<E>& runner() { return runner_; }

 private:
  using Base::begun_;
  using Base::plan_;
  using Base::shared_;

  /// One world for hooks that only look at it.
  World<S> seen(int64_t world) const {
    const int lane = int(world % B);
    char* const at = base_ + world / B * this->block_bytes();
    return World<S>(Cells<S>{&shared_, int32_t(world), at, lane, nullptr, B, lane});
  }
  // What only a step can fill: a reset shows no reward and no flags.
  void clear_transient(const Bound& out) const {
    for (int o = 0; o < kOutputCount; ++o)
      if (is_of_a_step(Output(o)) && out.at[o] != nullptr)
        std::memset(out.at[o], 0, size_t(plan_.outputs_[o].bytes));
  }
  /// Of all records, if everything fits.
  int64_t checked_bytes() const {
    check_fits(plan_, {available_memory(), total_memory()}, 0);
    return this->arena_bytes();
  }
  int64_t bytes_;
  Runner<E> runner_;
  char* base_ = nullptr;
  Counters counters_{};
};

}  // namespace ge
