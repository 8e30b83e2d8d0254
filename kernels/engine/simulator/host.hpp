// A simulator in host memory. What runs the graph is a parameter: the tiles of `cpu`, or the
// executors of the tests. HostBase holds records and actions as plain bytes and is compiled once.
#pragma once

#include <string>
#include <vector>

#include "engine/simulator/fitting.hpp"
#include "engine/simulator/memory.hpp"
#include "engine/simulator/planned.hpp"
#include "engine/simulator/records.hpp"

namespace ge {

/// Refuses actions of the wrong element type, and none at all.
void check_action_type(const Simulator& simulator, const Actions& actions);
/// Refuses actions of the wrong element type, and actions outside their range, before any world
/// moves; names the first offending agent. Returns the actions in the rules' own type, int32 or
/// float32: the caller's array if that is its type, else `room`, which receives the converted
/// actions.
const void* own_actions(const Simulator& simulator, const Actions& actions,
                        std::vector<char>& room);
/// The actions of a step of some worlds, copied into `room`: those of the others, which may be
/// anything, become safe ones.
Actions stepped_actions(const Simulator& simulator, const Actions& actions,
                        std::vector<char>& room);
/// Draws actions of all rows with at most `threads` threads (0: as many as there are).
void sample_on_host(const Sampling& sampling, int32_t* to, int threads);

class GE_API HostBase : public PlannedBase {
 public:
  ~HostBase() override;

  void read_records(int64_t first, int64_t count, void* to) override;
  void write_records(int64_t first, int64_t count, const void* from) override;
  void copy_worlds(std::span<const int64_t> from, std::span<const int64_t> to,
                   bool reseed) override;
  std::string text(int64_t world, int viewer) const override;
  bool scene(int64_t world, Scene& into, int viewer) const override;
  void sample_actions(const Sampling& sampling, int32_t* to, void* stream) override;
  int64_t illegal_actions() const override;
  FaultReport faults() override;

  void* allocate(int64_t bytes) override;
  void release(void* memory) override;
  void copy_to_host(void* to, const void* from, int64_t bytes) override;
  void copy_from_host(void* to, const void* from, int64_t bytes) override;

 protected:
  using PlannedBase::PlannedBase;
  void read_own(int64_t first, int64_t count, char* to) override;
  void write_own(int64_t first, int64_t count, const char* from) override;

  /// The hooks behind `text` and `scene`, of a world that exists.
  virtual std::string text_of(int64_t world, int viewer) const = 0;
  virtual bool scene_of(int64_t world, Scene& into, int viewer) const = 0;
  /// Refuses a viewer beyond the agents.
  void check_looks(int viewer) const;

  void allocate_records();
  /// Bytes of records, and of converted actions once there are some.
  int64_t held_bytes() const;
  /// The actions in the form that a step reads.
  const void* actions_of_step(const Actions& actions);
  // Clears the outputs that only a step fills: a reset shows no reward and no flags.
  void clear_transient(const Bound& out) const;

  // Owned; allocated only after the plan was found to fit, so null in a simulator that was refused.
  char* base_ = nullptr;
  Counters counters_{};

 private:
  /// The records' bytes from `begin` on.
  RecordBlocks blocks(int64_t begin = 0) const;
  std::vector<char> actions_;  // in the rules' type, where the caller's is another
  std::vector<char> safe_;     // in the caller's type, where worlds are left out
  uint32_t draws_ = 0;         // of random actions
};

/// Every call runs to its end before it returns, so memory that shared_ points to (actions,
/// outputs, masks) need not outlive the call.
template <class E, template <class> class Runner>
class HostSimulator final : public PlannedSimulator<E, HostBase> {
 public:
  using Base = PlannedSimulator<E, HostBase>;
  using Base::B;
  using typename Base::S;

  GE_COLD explicit HostSimulator(Plan<E>&& plan)
      : Base(checked(std::move(plan))), runner_(plan_.config_, plan_.params_) {
    this->allocate_records();
    shared_.base = this->base_;
    shared_.aside = this->base_ + this->shape_.aside_of(this->worlds());
    shared_.counters = &this->counters_;
    shared_.assets = plan_.assets_;
    this->begin_parameters();
  }

  int64_t memory_bytes() const override {
    return this->held_bytes() + runner_.memory_bytes() + plan_.asset_bytes();
  }

  void step(const Actions& actions, const Bound& out, void*) override {
    const FloatMode standard;
    // On lanes the rules read each action in the caller's type and check it themselves.
    if constexpr (kReadsCallersType) {
      this->need_reset("step");
      check_action_type(*this, actions);
      shared_.actions = actions.data;
      shared_.action_type = actions.type;
    } else {
      shared_.actions = this->actions_of_step(actions);
    }
    shared_.step_mask = actions.worlds;
    this->take_bound(out);
    runner_.run(StepGraph<E>{}, shared_);
  }
  void reset(const ResetRequest& request, const Bound& out, void*) override {
    const FloatMode standard;
    this->take_request(request);
    // The caller's memory: forget_request() drops these pointers again.
    shared_.seeds = request.seeds.empty() ? nullptr : request.seeds.data();
    this->clear_transient(out);
    this->take_bound(out);
    runner_.run(ResetGraph<E>{}, shared_);
    this->forget_request();
    this->begun_ = true;
  }
  void observe(const Bound& out, void*) override {
    const FloatMode standard;
    this->need_reset("observe");
    this->clear_transient(out);
    this->take_bound(out);
    shared_.shows_only = true;  // until the next reset
    shared_.step_mask = nullptr;
    runner_.run(ResetGraph<E>{}, shared_);
  }

  GE_COLD void write_records(int64_t first, int64_t count, const void* from) override {
    Base::write_records(first, count, from);
    if constexpr (requires { runner_.forget(); }) runner_.forget();
  }

  Runner<E>& runner() { return runner_; }

 private:
  using Base::plan_;
  using Base::shared_;

  /// Called in the list of initialisers: before the base, and so before anything is allocated.
  static Plan<E>&& checked(Plan<E>&& plan) {
    check_fits(plan, {available_memory(), total_memory()}, later_bytes(plan));
    return std::move(plan);
  }
  /// Bytes per world that steps allocate later: its actions where the caller's type differs from
  /// the rules', and the runner's memory.
  static int64_t later_bytes(const Plan<E>& plan) {
    int64_t of_runner = 0;
    if constexpr (requires { Runner<E>::later_bytes(plan.config_, plan.params_); })
      of_runner = Runner<E>::later_bytes(plan.config_, plan.params_);
    const int64_t worlds = plan.config_.worlds;
    return plan.action_bytes() + (of_runner + worlds - 1) / worlds;
  }
  /// One world for hooks that only look at it.
  World<S> seen(int64_t world) const {
    const int lane = int(world % B);
    char* const at = this->base_ + world / B * this->shape_.block_bytes;
    // No scratch memory: between calls there is none, and reading a world needs none.
    return World<S>(Cells<S>{&shared_, int32_t(world), at, lane, nullptr, B, lane, 0, 1, nullptr,
                             own_of(shared_, at)});
  }
  GE_COLD std::string text_of([[maybe_unused]] int64_t world,
                              [[maybe_unused]] int viewer) const override {
    if constexpr (kHooks<E>.text.given) return kHooks<E>.text.call(seen(world), viewer);
    return "";
  }
  GE_COLD bool scene_of([[maybe_unused]] int64_t world, [[maybe_unused]] Scene& into,
                        [[maybe_unused]] int viewer) const override {
    if constexpr (kHooks<E>.scene.given) {
      const World<S> w = seen(world);
      auto scene = scene_as(w, viewer);
      scene.episode = w.episode(), scene.step = w.step();
      into = std::move(scene);
    }
    return kHooks<E>.scene.given;
  }

  /// The type is deduced, since a Scene is known only where an environment describes one.
  GE_COLD auto scene_as(const World<S>& w, [[maybe_unused]] int viewer) const {
    if constexpr (kHooks<E>.scene_for.given) {
      this->check_looks(viewer);
      auto scene = viewer < 0 ? kHooks<E>.scene.call(w) : kHooks<E>.scene_for.call(w, viewer);
      scene.viewer = viewer;
      return scene;
    } else {
      return kHooks<E>.scene.call(w);
    }
  }

  // After the base: the runner is made from its plan.
  Runner<E> runner_;
};

}  // namespace ge
