// The `cuda` machine: a simulator on a GPU. Kernels are compiled here, per environment: one for
// each launch of its graphs and each number of lanes that lanes_kept.hpp keeps. Memory, shapes and
// launches are the engine's (device.hpp): nothing here calls the CUDA runtime, since this is
// compiled into the environment's object, which has a copy of its own (kernels.hpp).
#pragma once

#include <typeinfo>

#include "engine/cuda/device.hpp"
#include "engine/cuda/flat_device.hpp"
#include "engine/cuda/lanes_device.hpp"
#include "engine/cuda/lanes_kept.hpp"
#include "engine/cuda/launch.hpp"
#include "engine/cuda/tuning_table.hpp"
#include "engine/simulator/fitting.hpp"
#include "engine/simulator/host.hpp"
#include "engine/simulator/machine.hpp"

namespace ge {

/// Most threads of a block. ptxas is asked for two such blocks per multiprocessor only: by default
/// it spills to make room for more.
template <class E>
inline constexpr int most_threads = kTuning<typename E::Schema>.most_threads;

/// A few worlds of thousands of agents would leave most of a GPU idle if each had one group of
/// lanes: those take the flat executor, where an environment has it.
inline constexpr int64_t kManyWorlds = 512;
inline constexpr int kLargeWorld = 2048;  // agents

/// The graphs of an environment, by number: a kernel is named by environment, graph and place in
/// it, since the types of its stages would fill pages in a profiler.
enum Graph : int { kStepGraph, kResetGraph };

template <class E, int kGraph>
using GraphOf = std::conditional_t<kGraph == kStepGraph, StepGraph<E>, ResetGraph<E>>;

/// Parameters stay in constant memory (__grid_constant__): every lane reads the same, and a copy of
/// them would be each thread's own.
template <class E, int kGraph, int kIndex, int G, bool kSlab>
__global__ void __launch_bounds__(G > 32 ? G : most_threads<E>, 2)
    phase_kernel(const __grid_constant__ Shared<typename E::Schema> shared,
                 const __grid_constant__ LaunchMemory memory) {
  using Graph = GraphOf<E, kGraph>;
  using L = typename TypeAt<kIndex, launches_of<Graph>>::type;
  run_launch<E, L, G, kSlab, kLists<Graph>, DeviceLanes>(shared, memory);
}

/// The kernels of an environment, compiled here: which there are for each launch of a graph, and
/// what memory they need. B: the builds that E is a tier of, by which the tuning table knows it.
template <class E, class B>
class KernelsOf {
 public:
  using Params = held_of<typename E::Schema>;

  template <int kGraph>
  static std::vector<cuda::LaunchChoice> choices(const Params& params) {
    return [&params]<class... L>(Types<L...>) {
      return [&params]<int... kIndex>(std::integer_sequence<int, kIndex...>) {
        return std::vector<cuda::LaunchChoice>{
            choice<kGraph, kIndex>(typename L::phase{}, params)...};
      }(std::make_integer_sequence<int, int(sizeof...(L))>{});
    }(launches_of<GraphOf<E, kGraph>>{});
  }

 private:
  // Above the first bound a team's memory may not fit in shared memory (64 KiB with compute
  // capability 7.5, 227 with 9.0), above the second one team would be all that a multiprocessor
  // runs.
  static constexpr int kSurelyShared = 64 * 1024, kNeverShared = 113 * 1024;

  template <int kGraph, int kIndex, class PhaseT, int G>
  static void add_variants(std::vector<cuda::KernelVariant>& variants, const Params& params) {
    using Sizes = GroupPlan<E, PhaseT, G>;
    const auto add = [&]<bool kSlab>(std::bool_constant<kSlab>) {
      variants.push_back({reinterpret_cast<const void*>(&phase_kernel<E, kGraph, kIndex, G, kSlab>),
                          G, kSlab, Sizes::team, Sizes::worlds, Sizes::counts, Sizes::stage,
                          Sizes::scratch_of(params), G > 32 ? G : most_threads<E>, Sizes::roomy});
    };
    constexpr int bytes = Sizes::counts + Sizes::stage + Sizes::scratch;
    // Between the two bounds both are compiled, and the device's limit decides (choosing.cpp).
    if constexpr (Sizes::any || bytes <= kNeverShared) add(std::false_type{});
    if constexpr (Sizes::any || bytes > kSurelyShared) add(std::true_type{});
  }
  /// The place of a launch over all worlds among the step's, where it runs the same phase; else
  /// none. What else the step's launch does, emptying the lists, does no harm.
  template <class L>
  static consteval int place_in_step() {
    return []<class... Of>(Types<Of...>) {
      int place = 0, found = kNoList;
      const auto look = [&](bool same) { found = same ? place : found, ++place; };
      (look(std::is_same_v<typename Of::phase, typename L::phase> && Of::from == kNoList &&
            Of::to == kNoList),
       ...);
      return found;
    }(launches_of<StepGraph<E>>{});
  }
  /// Adds the phase's own kernels, or the step's of the same phase.
  template <int kGraph, int kIndex, class PhaseT>
  static cuda::LaunchChoice choice(PhaseT phase, const Params& params) {
    using L = typename TypeAt<kIndex, launches_of<GraphOf<E, kGraph>>>::type;
    if constexpr (kGraph != kStepGraph && place_in_step<L>() != kNoList)
      return choice_of<kStepGraph, place_in_step<L>()>(phase, params);
    else
      return choice_of<kGraph, kIndex>(phase, params);
  }
  template <int kGraph, int kIndex, Name kName, int... G, class... X>
  static cuda::LaunchChoice choice_of(Phase<kName, Lanes<G...>, X...>, const Params& params) {
    using L = typename TypeAt<kIndex, launches_of<GraphOf<E, kGraph>>>::type;
    using PhaseT = typename L::phase;
    static constexpr Name name = kName;
    cuda::LaunchChoice made{
        name.text, kGraph, kIndex, L::from != kNoList, std::is_same_v<PhaseT, detail::ClosePhase>,
        {G...},    {}};
    constexpr int kOwn = own_lanes<E>(PhaseT{});
    constexpr LaneCounts kTuned =
        kGraph == kStepGraph ? tuned_lanes<E, kName, cuda::kTuning>(B{}) : LaneCounts(0);
    constexpr bool kListed = [](LaneCounts tuned) {
      bool all = true;
      for (const int lanes : tuned.at) all = all && (lanes == 0 || ((lanes == G) || ...));
      return all;
    }(kTuned);
    static_assert(kListed, "GE: tuning_table.hpp has lanes that this phase does not list");
    // The first variant is the default.
    add_variants<kGraph, kIndex, PhaseT, kOwn>(made.variants, params);
    const auto add_other = [&]<int kLanes>(std::integral_constant<int, kLanes>) {
      if constexpr (kLanes != kOwn && keeps_lanes<kTuned>(kLanes))
        add_variants<kGraph, kIndex, PhaseT, kLanes>(made.variants, params);
    };
    (add_other(std::integral_constant<int, G>{}), ...);
    return made;
  }
};

/// Flat where it was requested, or where worlds are few and large; a request for lanes means
/// groups.
template <class E>
bool wants_flat(const Plan<E>& plan) {
  const Schedule wanted = plan.config_.schedule;
  const bool lanes = plan.config_.lanes != 0;
  if (wanted == Schedule::flat && lanes)
    throw Error(Fault::value, "lanes are for the group schedule, not for 'flat'");
  if constexpr (has_flat<E>) {
    if (wanted == Schedule::own)
      return !lanes && plan.config_.worlds < kManyWorlds && plan.agents_ >= kLargeWorld;
  } else if (wanted == Schedule::flat) {
    throw Error(Fault::value, plan.id_ + " is not built for the flat schedule");
  }
  return wanted == Schedule::flat;
}

template <class E, class Kernels>
class DeviceSimulator final : public PlannedSimulator<E> {
 public:
  using Base = PlannedSimulator<E>;
  using Base::B;
  using typename Base::S;
  using typename Base::Tables;

  explicit DeviceSimulator(Plan<E> plan)
      : Base(std::move(plan)),
        store_(plan_.id_, plan_.tier_, plan_.config_, store_layout(plan_),
               kLists<GraphOf<E, kStepGraph>>,
               cuda::kernels_of_this_object(Kernels::template choices<kStepGraph>(plan_.params_)
                                                .front()
                                                .variants.front()
                                                .function)) {
    if constexpr (has_flat<E>) {
      if (wants_flat(plan_)) {
        const cuda::DeviceGuard guard(store_.device());
        flat_ = std::make_unique<DeviceFlat<E>>(store_, plan_.config_, plan_.params_);
      }
    }
    if (flat_ == nullptr) {
      const auto of_a_step = Kernels::template choices<kStepGraph>(plan_.params_);
      step_ = store_.prepare(of_a_step);
      store_.check_lanes(of_a_step, step_);
      reset_ = store_.prepare(Kernels::template choices<kResetGraph>(plan_.params_));
    }
    write_instance();
    shared_.base = store_.records().base;
    shared_.aside = store_.records().aside;
    shared_.counters = static_cast<Counters*>(store_.counters());
    this->begin_parameters();
    if constexpr (has_assets<S>) {
      assets_ = cuda::uploaded(store_.device(), plan_.shelf_->packed());
      // Addresses of the host first, then, one by one, those of the copy on the device.
      shared_.assets = plan_.assets_;
      plan_.shelf_->move(&shared_.assets, sizeof shared_.assets / sizeof(Asset<char>),
                         assets_.template as<char>());
    }
    if constexpr (has_flat<E>) {
      if (flat_ != nullptr) {
        const cuda::DeviceGuard guard(store_.device());
        flat_->template load<StepGraph<E>, ResetGraph<E>>(shared_);
      }
    }
  }

  const std::string& instance() const override { return instance_; }
  int64_t memory_bytes() const override {
    return store_.memory_bytes() + (flat_ == nullptr ? 0 : flat_->memory_bytes()) + assets_.bytes();
  }

  void step(const Actions& actions, const Bound& out, void* stream) override {
    this->need_reset("step");
    check_action_type(*this, actions);
    shared_.actions = actions.data;
    shared_.action_type = actions.type;
    shared_.step_mask = actions.worlds;
    // Enqueued without waiting: shared_ is copied with the launch, so the next call may change it.
    enqueue<kStepGraph>(step_, out, static_cast<cudaStream_t>(stream), true);
  }
  void reset(const ResetRequest& request, const Bound& out, void* stream) override {
    this->take_request(request);
    // However this ends: resets in later steps have the options' defaults.
    const Forgotten forgotten{*this};
    const cuda::DeviceGuard guard(store_.device());
    shared_.seeds = store_.upload(request.seeds, static_cast<cudaStream_t>(stream));
    store_.clear_transient(out, plan_.outputs_, static_cast<cudaStream_t>(stream));
    enqueue<kResetGraph>(reset_, out, static_cast<cudaStream_t>(stream), false);
    begun_ = true;
  }
  void observe(const Bound& out, void* stream) override {
    this->need_reset("observe");
    const cuda::DeviceGuard guard(store_.device());
    store_.clear_transient(out, plan_.outputs_, static_cast<cudaStream_t>(stream));
    shared_.shows_only = true;  // until the next reset
    shared_.step_mask = nullptr;
    enqueue<kResetGraph>(reset_, out, static_cast<cudaStream_t>(stream), false);
  }

  void read_records(int64_t first, int64_t count, void* to) override {
    this->check_range(first, count);
    store_.read_records(first, count, to);
  }
  void write_records(int64_t first, int64_t count, const void* from) override {
    this->check_range(first, count);
    store_.write_records(first, count, from);
    begun_ = true;
  }
  void copy_worlds(std::span<const int64_t> from, std::span<const int64_t> to,
                   bool reseed) override {
    check_copy(from, to, this->worlds());
    store_.copy_worlds(from, to, reseed);
  }
  void sample_actions(const Sampling& sampling, int32_t* to, void* stream) override {
    store_.sample_actions(sampling, to, static_cast<cudaStream_t>(stream));
  }
  FaultReport faults() override {
    Counters counters;
    store_.take_counters(&counters, sizeof counters);
    return this->report(counters);
  }

  void* allocate(int64_t bytes) override { return cuda::allocate(store_.device(), bytes); }
  void release(void* memory) override { cuda::release(memory); }
  void copy_to_host(void* to, const void* from, int64_t bytes) override {
    cuda::copy(store_.device(), to, from, bytes);
  }
  void copy_from_host(void* to, const void* from, int64_t bytes) override {
    cuda::copy(store_.device(), to, from, bytes);
  }

 private:
  using Base::begun_;
  using Base::plan_;
  using Base::shared_;

  /// Drops a reset's options, mask and seeds at the end of a scope.
  struct Forgotten {
    DeviceSimulator& simulator;
    ~Forgotten() { simulator.forget_request(); }
  };

  static constexpr const char* kAdvice =
      ". What PyTorch or CuPy keep for later counts as used: torch.cuda.empty_cache() and "
      "cupy.get_default_memory_pool().free_all_blocks() give it back";
  static int64_t common_bytes(const Plan<E>& plan) {
    const int64_t blocks = (plan.config_.worlds + kInCommon - 1) / kInCommon;
    return has_common<S> ? blocks * int64_t(sizeof(Common)) : 0;
  }
  static cuda::DeviceStore::Layout store_layout(const Plan<E>& plan) {
    return {plan.segments_,
            record_shape<Tables, B>(plan.params_),
            kOffset<Tables, EpisodeTable, Identity>,
            int(sizeof(Identity)),
            common_bytes(plan),
            [&plan](int64_t free, int64_t total) {
              // The map of a record's words, and what blocks have in common.
              const int64_t own = record_bytes<Tables>(plan.params_) + common_bytes(plan);
              const int64_t each = wants_flat(plan) ? DeviceFlat<E>::world_bytes(plan.params_) : 0;
              check_fits(plan, {free - own - plan.asset_bytes(), total, kAdvice}, each,
                         " on cuda:" + std::to_string(plan.config_.device));
            }};
  }

  /// The plan's JSON ends with a brace: the description of the launches goes in front of it.
  void write_instance() {
    instance_ = plan_.instance_;
    instance_.insert(instance_.size() - 1, std::string(", \"schedule\": \"") +
                                               (flat_ == nullptr ? "group" : "flat") +
                                               "\", \"launches\": " + cuda::describe(step_));
  }
  /// What is equal for all worlds is an argument of the kernels, which a captured graph keeps.
  void change_common(const ParameterChange& change) override {
    if (was_captured_)
      throw Error(Fault::value,
                  "set_parameters: '" + change.all.front().name +
                      "' was captured into a CUDA graph with its value: name it in varies=('" +
                      change.all.front().name + "',) where the simulator is made");
    Base::change_common(change);
    write_instance();
  }

  // ---- launching

  /// `early`: the first launch may begin before its predecessor on the stream has ended, if that is
  /// a kernel; not behind a copy or a memset of ours.
  template <int kGraph>
  void enqueue(const std::vector<cuda::PreparedLaunch>& launches, const Bound& out,
               cudaStream_t stream, bool early) {
    const cuda::DeviceGuard guard(store_.device());
    this->take_bound(out);
    if constexpr (has_varied<S>) was_captured_ = was_captured_ || is_capturing(stream);
    if constexpr (has_flat<E>)
      if (flat_ != nullptr) return flat_->run(GraphOf<E, kGraph>{}, shared_, stream);
    LaunchMemory memory{store_.list_counts(), store_.lists(), store_.slab(),
                        static_cast<Common*>(store_.common())};
    void* arguments[] = {&shared_, &memory};
    early = early && !launches.empty() && launches.front().shape.dependent &&
            store_.follows_kernel(stream);
    for (const cuda::PreparedLaunch& launch : launches) {
      cuda::LaunchShape shape = launch.shape;
      shape.dependent = shape.dependent && early;
      store_.launch(launch.function, shape, arguments, stream);
      early = true;
    }
  }
  cuda::DeviceMemory assets_;
  std::unique_ptr<DeviceFlat<E>> flat_;
  cuda::DeviceStore store_;
  std::string instance_;
  bool was_captured_ = false;  // some call of this simulator
  std::vector<cuda::PreparedLaunch> step_, reset_;
};

/// The factory of an environment's builds B.
template <class B>
struct DeviceFactories {
  template <class E>
  struct Factory {
    using Kernels = KernelsOf<E, B>;
    static std::unique_ptr<Simulator> make(Plan<E> plan) {
      const cuda::BesideCaptures beside;
      return std::make_unique<DeviceSimulator<E, Kernels>>(std::move(plan));
    }
    /// Without a device.
    static std::shared_ptr<const cuda::LaunchList> list(const Plan<E>& plan) {
      return std::make_shared<const cuda::LaunchList>(
          cuda::LaunchList{plan.id_,
                           plan.tier_,
                           typeid(E).name(),
                           wants_flat(plan),
                           {Kernels::template choices<kStepGraph>(plan.params_),
                            Kernels::template choices<kResetGraph>(plan.params_)}});
    }
  };
};

template <class B>
const Entry& cuda_entry() {
  static const Entry found = [] {
    using Made = EntryOf<DeviceFactories<B>::template Factory, B>;
    Entry made = Made::entry();
    made.list_launches = &Made::list;
    return made;
  }();
  return found;
}

}  // namespace ge
