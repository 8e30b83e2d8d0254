// Stages that are serial within a world, or rare in worlds of thousands of agents: a block per
// world, with the group executor's own code. Every stage that has no form of its own here runs so.
#pragma once

#include "engine/cuda/flat_walk.hpp"

namespace ge {

namespace flat {

template <class E, class X, class Service>
struct TeamJob {
  using PhaseT = FlatPhase<X>;
  using Plan = GroupPlan<E, PhaseT, kFlatTeam>;
  static constexpr int shared_bytes = Plan::counts + Plan::stage;
  static GE_FN void run(const Work<E>& work, int world) {
    const int lane = Service::thread();
    GroupPlace place{lane, 0, lane, world, Service::shared(), nullptr};
    place.counts = reinterpret_cast<int32_t*>(place.stage);
    place.stage += Plan::counts;
    // All threads of the block run, also where the world is off: they meet inside.
    LaneGroup<E, PhaseT, kFlatTeam, Service> group(work.cells(world), place);
    run_stages<false>(group, Types<X>{}, work.on(world));
  }
};

}  // namespace flat

template <class X, class E, class M>
void enqueue_teams(FlatWalk<E, M>& walk) {
  walk.work.count = walk.work.shared.worlds;
  walk.machine.template teams<flat::TeamJob<E, X, typename M::Service>>(walk.work);
}
template <class E, class M, class X>
  requires IsLeaf<X>
void stage(FlatWalk<E, M>& walk, X) {
  enqueue_teams<X>(walk);
}

}  // namespace ge
