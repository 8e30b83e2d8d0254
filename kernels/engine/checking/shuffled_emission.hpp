// Shuffled: stages that append rows to a List by a test, or empty it. Only tests decide which
// indices hit, and with them which row each maker fills; in the shuffled orders each index tests
// again, among makers and the list's new length, and must get the same answer.
#pragma once

#include "engine/checking/shuffled_tasks.hpp"

namespace ge {

[[noreturn]] inline void refuse_dependent_test() {
  throw Error(Fault::runtime,
              "order dependence: its test reads what another row of the stage writes");
}

/// make(row, i) is the task that fills a row with what index i found.
template <class T, class E, class Test, class Maker>
void emit(Trial<E>& trial, int count, Test test, Maker make) {
  TaskList<E> tasks;
  int hits = 0;
  for (int i = 0; i < count; ++i) {
    const std::string name = "index " + std::to_string(i);
    const bool hit =
        trial.template agreed<bool>([&](const CellsOf<E>& cells) { return test(cells, i); }, name);
    Task<E> task{[](const CellsOf<E>&) {}, name, {}};
    // Beyond the table's room a hit is counted, not made; its test still runs, shuffled.
    if (hit && hits < room_in<T>(trial)) task = make(hits, i);
    hits += hit ? 1 : 0;
    // Copied before task.run is replaced by what calls it.
    const auto fill = task.run;
    task.run = [test, fill, i, hit](const CellsOf<E>& cells) {
      if (test(cells, i) != hit) refuse_dependent_test();
      fill(cells);
    };
    tasks.push_back(std::move(task));
  }
  tasks.push_back(length_task<T>(trial, std::min(hits, room_in<T>(trial))));
  trial.rows(tasks);
  overflow<T>(trial, hits);
}

template <class E, auto Count, auto Test, auto Make, class T>
void stage(Trial<E>& trial, Emit<Count, Test, Make, T>) {
  const int count = count_of<Count>(trial);
  emit<T>(
      trial, count,
      [](const CellsOf<E>& cells, int i) {
        return bool(Test(World<typename E::Schema>(cells), i));
      },
      [&trial](int row, int i) { return maker<Make, T>(trial, row, i); });
}
/// No rule runs in it, so there is nothing to shuffle.
template <class E>
void stage(Trial<E>& trial, ClearTables) {
  trial.engine([](const CellsOf<E>& cells) { clear_tables<false>(cells); });
  trial.compare_poisons();
}

}  // namespace ge
