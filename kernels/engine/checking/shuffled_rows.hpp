// Shuffled: stages over the rows of tables. A row is a task; Coloured runs colour by colour. Races
// among the lanes of a squad are found by the emulated lanes.
#pragma once

#include "engine/checking/shuffled_tasks.hpp"
#include "engine/graph/coloured.hpp"
#include "engine/graph/row_jobs.hpp"
#include "engine/graph/sorting.hpp"

namespace ge {

template <class E, class X>
  requires is_row_stage<X>
void stage(Trial<E>& trial, X x) {
  TaskList<E> tasks;
  for_each_job<E>(x, trial.shared, [&](auto job) {
    using T = typename decltype(job)::Table;
    for (const int row : live_rows<T>(trial))
      tasks.push_back({[job, row](const CellsOf<E>& cells) { job(cells, row); },
                       std::is_same_v<T, EpisodeTable> ? "the world" : row_name<T>(row),
                       granted(trial, job, row)});
  });
  if (!tasks.empty()) trial.rows(tasks);
}

// ---- lists of a length that is known before

template <class E, auto Count, auto F, class T>
void stage(Trial<E>& trial, For<Count, F, T>) {
  const int wanted = count_of<Count>(trial);
  const int length = std::clamp(wanted, 0, room_in<T>(trial));
  TaskList<E> tasks;
  for (int row = 0; row < length; ++row) tasks.push_back(maker<F, T>(trial, row, row));
  tasks.push_back(length_task<T>(trial, length));
  trial.rows(tasks);
  overflow<T>(trial, wanted);
}
template <class E, auto Count, auto F, class T>
void stage(Trial<E>& trial, ForPacks<Count, F, T>) {
  using C = typename OneFloat<T, typename T::components>::type;
  const int wanted = count_of<Count>(trial);
  const int length = std::clamp(wanted, 0, room_in<T>(trial));
  TaskList<E> tasks;
  for (int first = 0; first < length; first += kPack) {
    Task<E> task{
        [first, length](const CellsOf<E>& cells) { make_pack<F, T>(cells, first, length); },
        row_name<T>(first),
        {}};
    for (int row = first; row < std::min(first + kPack, length); ++row)
      task.grants.push_back(cell_bytes<T, C>(trial, row));
    tasks.push_back(std::move(task));
  }
  tasks.push_back(length_task<T>(trial, length));
  trial.rows(tasks);
  overflow<T>(trial, wanted);
}

template <class E, auto Count, auto P, auto F, class T>
void stage(Trial<E>& trial, ForPacksWhere<Count, P, F, T>) {
  stage(trial, ForPacks<Count, F, T>{});
}

// ---- rows in an order

/// Its own row, and any row of the columns that it was lent: races are found by the bytes.
template <class T, class E, class... Args>
std::vector<ByteRange> written_coloured(const Trial<E>& trial, int row, Types<Args...>) {
  std::vector<ByteRange> ranges;
  [[maybe_unused]] auto add = [&](auto arg) {
    using Arg = typename decltype(arg)::type;
    std::vector<ByteRange> more;
    if constexpr (is_rows<bare<Arg>>)
      more = written_singles(trial, Types<Arg>{});
    else
      more = written<T>(trial, row, Types<Arg>{});
    ranges.insert(ranges.end(), more.begin(), more.end());
  };
  (add(Type_<Args>{}), ...);
  return ranges;
}
/// The rows of one colour are a stage: what another colour writes, they may read.
template <class E, auto Count, auto F>
void stage(Trial<E>& trial, Coloured<Count, F>) {
  using T = typename ColouredTable<F, typename Trial<E>::Tables>::type;
  const int colours = count_of<Count>(trial);
  for (int colour = 0; colour < colours; ++colour) {
    TaskList<E> tasks;
    for (const int row : live_rows<T>(trial)) {
      const uint32_t own = trial.template agreed<uint32_t>(
          [row](const CellsOf<E>& cells) { return cells.template load<T, Colour>(row).value; });
      if (own != uint32_t(colour)) continue;
      tasks.push_back({[row](const CellsOf<E>& cells) { call_coloured<F, T>(cells, row); },
                       row_name<T>(row), written_coloured<T>(trial, row, Arguments<F>{})});
    }
    trial.rows(tasks);
  }
}
/// The keys are rules; the sorting is the engine's.
template <class E, auto Key, class T, class Order, class Starts>
void stage(Trial<E>& trial, SortRows<Key, T, Order, Starts>) {
  for (const int row : live_rows<T>(trial))
    trial.template agreed<uint32_t>(
        [row](const CellsOf<E>& cells) { return value_of_row<Key, T>(cells, row); },
        row_name<T>(row));
  trial.engine([](const CellsOf<E>& cells) { sort_rows<Key, T, Order, Starts>(cells); });
  trial.compare_poisons();
}

}  // namespace ge
