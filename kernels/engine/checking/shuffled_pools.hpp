// Shuffled: stages that no shipped environment uses. Slots of Pools that are taken and freed (live
// bits and generations are the engine's, so a task of their own), and pairs of rows.
#pragma once

#include "engine/checking/shuffled_emission.hpp"

namespace ge {

template <class E, auto Count, auto Make, class T>
void stage(Trial<E>& trial, Spawn<Count, Make, T>) {
  const int wanted = count_of<Count>(trial);
  std::vector<int> taken;
  // The k-th new row has the k-th lowest free slot, so the rows are known before any is made.
  for (int row = 0; row < T::capacity && int(taken.size()) < wanted; ++row)
    if (!trial.cells(0).template alive<T>(row)) taken.push_back(row);
  TaskList<E> tasks;
  for (size_t k = 0; k < taken.size(); ++k)
    tasks.push_back(maker<Make, T>(trial, taken[k], int(k)));
  tasks.push_back(header_task<T>(trial, [taken](const CellsOf<E>& cells) {
    for (const int row : taken) *cells.template header<T>(row >> 5) |= 1u << (row & 31);
  }));
  trial.rows(tasks);
  overflow<T>(trial, wanted > int(taken.size()) ? T::capacity + wanted - int(taken.size()) : 0);
}

/// The engine's part of destroy_row (graph/pools.hpp): the row's components are the row's task.
template <class T, class S>
void destroy_header(const Cells<S>& cells, int row) {
  *cells.template header<T>(row >> 5) &= ~(1u << (row & 31));
  *cells.template generation<T>(row) += 1;
}
template <class E, auto Test, class T>
void stage(Trial<E>& trial, Destroy<Test, T>) {
  TaskList<E> tasks;
  std::vector<int> dead;
  for (const int row : live_rows<T>(trial)) {
    const bool dies = trial.template agreed<bool>(
        [row](const CellsOf<E>& cells) { return bool(value_of_row<Test, T>(cells, row)); },
        row_name<T>(row));
    Task<E> task{[row, dies](const CellsOf<E>& cells) {
                   if (bool(value_of_row<Test, T>(cells, row)) != dies) refuse_dependent_test();
                   if (dies) zero_row<T>(cells, row, typename T::components{});
                 },
                 row_name<T>(row), whole_row<T>(trial, row, typename T::components{})};
    if (dies) dead.push_back(row);
    tasks.push_back(std::move(task));
  }
  tasks.push_back(header_task<T>(trial, [dead](const CellsOf<E>& cells) {
    for (const int row : dead) destroy_header<T>(cells, row);
  }));
  trial.rows(tasks);
}

template <class E, class A, class C, auto Test, auto Make, class T>
void stage(Trial<E>& trial, EmitPairs<A, C, Test, Make, T>) {
  const CellsOf<E> here = trial.cells(0);
  const int count_a = here.template rows<A>(), count_c = here.template rows<C>();
  constexpr bool same = std::is_same_v<A, C>;
  std::vector<Pair> pairs;  // of live rows, in the engine's order
  for (int i = 0; i < (same ? pair_count(count_a) : count_a * count_c); ++i) {
    const Pair p = same ? pair_at(i, count_a) : Pair{i / count_c, i % count_c};
    if (here.template alive<A>(p.a) && here.template alive<C>(p.b)) pairs.push_back(p);
  }
  emit<T>(
      trial, int(pairs.size()),
      [&pairs](const CellsOf<E>& cells, int i) {
        const Pair& p = pairs[size_t(i)];
        return bool(Test(World<typename E::Schema>(cells), p.a, p.b));
      },
      [&trial, &pairs](int row, int i) {
        return maker<Make, T>(trial, row, pairs[size_t(i)].a, pairs[size_t(i)].b);
      });
}

}  // namespace ge
