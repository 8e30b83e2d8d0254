// The `lanes` machine, for tests: the CUDA executor's own code, launch by launch and block by
// block, on emulated lanes over host memory. Config.lanes chooses G for every phase (0: the first
// that each names), Config.shuffle_seed the order of lanes; `LaneEmulator::options()` the rest.
#pragma once

#include "engine/checking/lanes_emulated.hpp"
//
#include "engine/cuda/lanes_kept.hpp"
#include "engine/cuda/launch.hpp"
#include "engine/simulator/host.hpp"

namespace ge {

template <class E>
class LanesRunner {
 public:
  using S = typename E::Schema;
  static constexpr int kListRoom = kLists<StepGraph<E>>;

  LanesRunner(const Config& config, const held_of<S>&)
      : lanes_(config.lanes),
        seed_(config.shuffle_seed),
        counts_(size_t(kListRoom) + 1, 0),
        lists_(size_t(kListRoom) * size_t(config.worlds)),
        common_(has_common<S> ? size_t(config.worlds + kInCommon - 1) / kInCommon : 0) {
    // Each is compiled into every environment, so the list is short: one lane, several groups in a
    // warp, a warp, and two warps that share a world. With GE_FEW_LANES, one lane and several: what
    // remains is the executor's, and proven where all are compiled.
#if defined(GE_FEW_LANES)
    const std::pair<std::vector<int>, const char*> known = {{0, 1, 8}, "1 or 8"};
#else
    const std::pair<std::vector<int>, const char*> known = {{0, 1, 2, 8, 32, 64},
                                                            "1, 2, 8, 32 or 64"};
#endif
    for (const int lanes : known.first)
      if (lanes == lanes_) return;
    throw Error(Fault::value, std::string("lanes must be ") + known.second +
                                  ", or 0 for each phase's first, got " + std::to_string(lanes_));
  }
  int64_t memory_bytes() const {
    return int64_t(lists_.size() + counts_.size()) * 4 + int64_t(common_.size() * sizeof(Common));
  }
  /// Drops common facts after records were written from outside.
  void forget() { common_.assign(common_.size(), Common{}); }

  template <class Graph>
  void run(Graph, const Shared<S>& shared) {
    // Set before every run: another simulator of this process may have changed it.
    LaneEmulator::options().seed = seed_;
    for_each_type(launches_of<Graph>{}, [&](auto l) {
      using L = typename decltype(l)::type;
      launch<L, kLists<Graph>>(shared, typename L::phase{});
    });
  }

 private:
  template <class L, int kListCount, Name kName, int kFirst, int... kMore, class... X>
  void launch(const Shared<S>& shared, Phase<kName, Lanes<kFirst, kMore...>, X...>) {
    switch (lanes_) {
      case 1:
        return blocks<L, 1, kListCount>(shared);
      case 8:
        return blocks<L, 8, kListCount>(shared);
#if !defined(GE_FEW_LANES)
      case 2:
        return blocks<L, 2, kListCount>(shared);
      case 32:
        return blocks<L, 32, kListCount>(shared);
      case 64:
        return blocks<L, 64, kListCount>(shared);
#endif
      default:
        return blocks<L, kFirst, kListCount>(shared);
    }
  }
  // Two warps a block where several groups share one, so that neither can rely on the other. Over a
  // worklist, and with scratch in a slab (every second run, tried with two G), the grid is smaller
  // than the work, so that groups stride.
  template <class L, int G, int kListCount>
  void blocks(const Shared<S>& shared) {
    using Plan = GroupPlan<E, typename L::phase, G>;
    constexpr int threads = G > 32 ? G : 64, teams = threads / Plan::team,
                  groups = teams * Plan::worlds;
    constexpr bool may_slab = (Plan::any || Plan::scratch > 0) && (G == 8 || G == 64);
    const int64_t scratch = Plan::scratch_of(shared.params);
    const bool slab = may_slab && (++runs_ & 1) != 0;
    const int all = (shared.worlds + groups - 1) / groups;
    const int64_t slice = Plan::roomy + (slab ? scratch : 0);
    const int grid = slice > 0 || L::from != kNoList ? (all < 2 ? all : 2) : all;
    const int64_t bytes = Plan::counts + int64_t{teams} * (Plan::stage + (slab ? 0 : scratch));
    slab_.resize(size_t(grid) * teams * size_t(slice) / 8);
    const LaunchMemory memory{counts_.data(), lists_.data(), reinterpret_cast<char*>(slab_.data()),
                              common_.data()};
    for (int block = 0; block < grid; ++block) {
      // Blocks one after the other: on a GPU they may not rely on each other's progress anyway.
      emulator_.run_block(threads, block, grid, bytes, [&] {
        if (slab)
          run_launch<E, L, G, may_slab, kListCount, EmulatedLanes>(shared, memory);
        else
          run_launch<E, L, G, false, kListCount, EmulatedLanes>(shared, memory);
      });
    }
  }

  int lanes_;
  uint64_t seed_;
  unsigned runs_ = 0;
  std::vector<int32_t> counts_, lists_;
  std::vector<Common> common_;
  std::vector<uint64_t> slab_;
  LaneEmulator emulator_;
};

template <class E>
struct LanesFactory {
  static std::unique_ptr<Simulator> make(Plan<E> plan) {
    return std::make_unique<HostSimulator<E, LanesRunner>>(std::move(plan));
  }
};

/// Whether a tier of a build, or a build of a header, has a flat form.
template <class>
inline constexpr bool any_flat = false;
template <Name kId, class... Tiers>
inline constexpr bool any_flat<Build<kId, Tiers...>> = (has_flat<Tiers> || ...);
template <class... B>
inline constexpr bool any_flat<Builds<B...>> = (any_flat<B> || ...);

template <class B>
const Entry& lanes_entry() {
#if defined(GE_LISTED_FLAT)
  static_assert(GE_LISTED_FLAT == any_flat<B>,
                "GE: environments.cmake looks for `.flat = ` in an environment's files to know "
                "whether the flat executor is tested with this environment");
#endif
  return EntryOf<LanesFactory, B>::entry();
}

}  // namespace ge
