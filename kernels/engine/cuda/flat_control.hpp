// Flat: conditions. One is a mask of worlds on the device, since the host reads nothing back: the
// inner jobs are enqueued whether or not a world has it. Other stages that hold stages are
// graph/host_walk.hpp's.
#pragma once

#include "engine/cuda/flat_walk.hpp"

namespace ge {

namespace flat {

/// The mask of the next level: worlds of this one that have P.
template <class E, auto P>
struct MaskJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    // P is not evaluated for a world that the level above has left out.
    const int world = int(i);
    const bool p = work.on(world) && bool(ask<P>(work.cells(world)));
    work.memory.masks[int64_t(work.level) * work.shared.worlds + world] = p ? 1 : 0;
  }
};

}  // namespace flat

template <auto P, class E, class M, class F>
void run_within(FlatWalk<E, M>& walk, F&& f) {
  enqueue_worlds<flat::MaskJob<E, P>>(walk);
  ++walk.work.level;
  f();
  --walk.work.level;
}

template <class E, class M, auto P, class... X>
void stage(FlatWalk<E, M>& walk, When<P, X...>) {
  run_within<P>(walk, [&] { run_stages(walk, Types<X...>{}); });
}

}  // namespace ge
