// The `cpu` machine: tiles over threads. An environment's types become sizes and one function per
// graph here; tile_threads.hpp runs them.
#pragma once

#include <algorithm>
#include <memory>

#include "engine/cpu/tile.hpp"
#include "engine/graph/reduction.hpp"
#include "engine/simulator/host.hpp"

namespace ge {

template <class E>
class TileRunner {
 public:
  using S = typename E::Schema;
  using Params = held_of<S>;

  GE_COLD TileRunner(const Config& config, const Params& params)
      : threads_(config, sizes_of(config, params, AllTables<S>{})) {}

  int64_t memory_bytes() const { return threads_.memory_bytes(); }
  static int64_t later_bytes(const Config& config, const Params& params) {
    return TileThreads::crew_bytes(config, sizes_of(config, params, AllTables<S>{}));
  }

  /// `shared` is read by all threads until this returns, and by none afterwards.
  template <class Graph>
  void run(Graph, const Shared<S>& shared) {
    threads_.run(&run_tile<Graph>, &shared, kBlock<S> > 1 && shared.step_mask != nullptr);
  }

 private:
  // The type that was given up at run() is the one taken up again: both stand in this class.
  template <class Graph>
  static void run_tile(const void* shared, const TileSpace& space) {
    Tile<E> tile(*static_cast<const Shared<S>*>(shared), space);
    run_graph(tile, Graph{});
  }
  template <class... Ts>
  static TileThreads::Sizes sizes_of(const Config& config, const Params& params, Types<Ts...>) {
    constexpr int B = kBlock<S>;
    return {B,
            config.worlds,
            block_bytes<AllTables<S>, B>(params),
            Tile<E>::scratch_block(params),
            std::max({int64_t{0}, int64_t(room_of<Ts>(params))...}),
            chunks_of(params, AllTables<S>{}),
            &Tile<E>::index_count};
  }

  TileThreads threads_;
};

template <class E>
struct CpuFactory {
  static std::unique_ptr<Simulator> make(Plan<E> plan) {
    return std::make_unique<HostSimulator<E, TileRunner>>(std::move(plan));
  }
};

template <class B>
const Entry& cpu_entry() {
  return EntryOf<CpuFactory, B>::entry();
}

}  // namespace ge
