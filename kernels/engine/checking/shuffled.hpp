// The `shuffled` executor, for tests: shows that a graph does not depend on the order in which rows
// run, and names the stage, row and column where it does. It is built with one world per block and
// runs world by world, stage by stage.
//
// A stage is a list of tasks (one per row) with the bytes that each may write. Its world is an
// image: the canonical record, then scratch memory. For each stage:
//
//   alone     each task on the bytes before the stage. Two tasks that change one byte are a write
//             race; a change outside a task's own columns and row breaks its grant. The changes of
//             all tasks together are the expected image.
//   shuffled  all tasks in a random order, and in its reverse, so that of any two tasks each comes
//             first once. Both must leave the expected image: otherwise a row reads what another
//             row of the stage writes.
//   poisoned  at the beginning of a phase scratch memory is filled with a pattern, a different one
//             in each of three images (zeros among them). They go through the stages side by side;
//             a difference at the end, in a record, an output or a decision, comes from scratch
//             memory that no stage of the phase has written. Memory that is shared with another
//             lifetime is poisoned again where a stage names another one.
//
// The engine's own work (lengths of lists, live bits, folding of reductions) runs in the plain form
// of graph/tables.hpp, sorting.hpp and reduction.hpp.
//
//   WorldImages  bytes of a world, their names, what is said of a breach     shuffled_images.hpp
//   Trial        one world, and the three checks                             shuffled_trial.hpp
//   Task         of a row, with the bytes that it is granted                 shuffled_tasks.hpp
//   stages       stage(trial, X{}) makes the tasks of a stage X              shuffled_rows.hpp,
//                                                _emission, _pools, _reductions, _control, _outputs
#pragma once

// Systems that leave their tables are breaches too, and must not end the process. Before any other
// header of the engine.
#define GE_ASSERT(condition) ((condition) ? (void)0 : ::ge::broken_assertion(#condition))
namespace ge {
[[noreturn]] void broken_assertion(const char* condition);
}

#include "engine/checking/shuffled_control.hpp"
#include "engine/checking/shuffled_emission.hpp"
#include "engine/checking/shuffled_outputs.hpp"
#include "engine/checking/shuffled_pools.hpp"
#include "engine/checking/shuffled_reductions.hpp"
#include "engine/checking/shuffled_rows.hpp"
#include "engine/checking/shuffled_trial.hpp"
#include "engine/graph/lifetimes.hpp"
#include "engine/simulator/host.hpp"

namespace ge {

[[noreturn]] inline void broken_assertion(const char* condition) {
  throw Error(Fault::runtime, std::string("leaves its table, since not ") + condition);
}

template <class E, class X>
void run_stage(Trial<E>& trial, X x) {
  trial.images.stage = type_name<X>();
  trial.enter_lifetime(lifetimes_of_stage<typename E::Schema, X>());
  stage(trial, x);
}
template <class E, class... X>
void run_stages(Trial<E>& trial, Types<X...>) {
  (run_stage(trial, X{}), ...);
}

/// Scratch memory lives within a phase, so each begins with poison. Lists that lie there are
/// emptied by the engine, in every image: their lengths are not unwritten memory.
template <class E, Name kName, class L, class... X>
void run_phase(Trial<E>& trial, Phase<kName, L, X...>) {
  trial.images.phase = kName.text;
  trial.images.poison_scratch();
  trial.lifetime = 0;
  trial.engine([](const auto& cells) { clear_tables<true>(cells); });
  run_stages(trial, Types<X...>{});
}
template <class E, auto P, class... Inner>
void run_phase(Trial<E>& trial, Rare<P, Inner...>) {
  trial.images.stage = type_name<Rare<P>>();
  if (trial.template has<P>()) (run_phase(trial, Inner{}), ...);
}

/// Worlds in a random order too.
template <class E>
class ShuffledRunner {
 public:
  using S = typename E::Schema;
  static_assert(kBlock<S> == 1, "GE: shuffled is built with GE_BLOCK=1");

  ShuffledRunner(const Config& config, const held_of<S>& params)
      : trial_(config.shuffle_seed, params) {}
  int64_t memory_bytes() const { return trial_.images.memory_bytes(); }

  template <class... P>
  void run(Types<P...>, const Shared<S>& shared) {
    trial_.take(shared);
    std::vector<int> order;
    for (int world = 0; world < shared.worlds; ++world) order.push_back(world);
    trial_.shuffle(order);
    for (const int world : order) {
      trial_.world = world;
      // With one world per block the stored record is the canonical one: an image is a plain copy.
      char* const record = shared.base + world * block_bytes<AllTables<S>, 1>(shared.params);
      trial_.images.load(record);
      (run_phase(trial_, P{}), ...);
      trial_.images.store(record);
    }
  }

 private:
  Trial<E> trial_;
};

}  // namespace ge
