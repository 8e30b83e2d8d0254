// Helpers of the stages: the bytes that a row's arguments grant it, according to the signature of
// its system, and tasks that several kinds of stages share.
#pragma once

#include "engine/checking/shuffled_trial.hpp"
#include "engine/graph/row_jobs.hpp"

namespace ge {

// ---- rows

template <class T, class E>
int room_in(const Trial<E>& trial) {
  return int(room_of<T>(trial.shared.params));
}
template <class T>
std::string row_name(int row) {
  return "row " + std::to_string(row) + " of " + table_name<T>();
}
template <class T, class E>
std::vector<int> live_rows(Trial<E>& trial) {
  std::vector<int> live;
  const CellsOf<E> here = trial.cells(0);
  for (int row = 0; row < here.template rows<T>(); ++row)
    if (here.template alive<T>(row)) live.push_back(row);
  return live;
}
template <auto Count, class E>
int count_of(Trial<E>& trial) {
  return trial.template agreed<int>([](const CellsOf<E>& cells) { return int(ask<Count>(cells)); });
}

// ---- bytes

/// Columns of a kAny table, and of worlds' own parameters, lie at offsets that depend on the
/// parameters, so not at constants.
template <class T, class C, class E>
int64_t offset_in_image(const Trial<E>& trial) {
  using Tables = typename Trial<E>::Tables;
  if constexpr (is_own<T>)
    return own_offset<Tables>(trial.shared.params) + kOwnOffset<Tables, T, C>;
  else if constexpr (is_any<T>)
    return any_offset<Tables, T, C>(trial.shared.params);
  else
    return kOffset<Tables, T, C>;
}
template <class T, class C, class E>
ByteRange cell_bytes(const Trial<E>& trial, int row) {
  const int64_t at = (in_scratch<T, C> ? trial.images.record : 0) + offset_in_image<T, C>(trial) +
                     int64_t{row} * int64_t(sizeof(C));
  return {at, at + int64_t(sizeof(C))};
}
template <class T, class E>
ByteRange header_range(const Trial<E>& trial) {
  const int64_t at = (T::scratch ? trial.images.record : 0) + offset_in_image<T, void>(trial);
  return {at, at + header_bytes<T>()};
}
template <class T, class E, class... Cs>
std::vector<ByteRange> whole_row(const Trial<E>& trial, int row, Types<Cs...>) {
  return {cell_bytes<T, Cs>(trial, row)...};
}
/// The bytes that a system on a row of T may write, by its arguments.
template <class T, class E, class... Args>
std::vector<ByteRange> written(const Trial<E>& trial, int row, Types<Args...>) {
  std::vector<ByteRange> ranges;
  [[maybe_unused]] auto add = [&](auto arg) {
    using Arg = typename decltype(arg)::type;
    if constexpr (is_written<Arg>) ranges.push_back(cell_bytes<T, bare<Arg>>(trial, row));
  };
  (add(Type_<Args>{}), ...);
  return ranges;
}
/// The bytes that a system that runs once per world may write; for Rows the whole column.
template <class E, class... Args>
std::vector<ByteRange> written_singles(const Trial<E>& trial, Types<Args...>) {
  using Tables = typename Trial<E>::Tables;
  std::vector<ByteRange> ranges;
  [[maybe_unused]] auto add = [&](auto arg) {
    using Arg = typename decltype(arg)::type;
    using A = bare<Arg>;
    if constexpr (is_rows<A>) {
      using T = typename A::Table;
      const ByteRange first = cell_bytes<T, typename A::Component>(trial, 0);
      ranges.push_back({first.begin, first.begin + (first.end - first.begin) * room_in<T>(trial)});
    } else if constexpr (is_written<Arg>) {
      ranges.push_back(cell_bytes<single_of<A, Tables>, A>(trial, 0));
    }
  };
  (add(Type_<Args>{}), ...);
  return ranges;
}

/// The bytes that a row job may write.
template <class E, auto F, class T>
std::vector<ByteRange> granted(const Trial<E>& trial, SystemJob<F, T>, int row) {
  return written<T>(trial, row, Arguments<F>{});
}
template <class E, auto P, auto F, class T>
std::vector<ByteRange> granted(const Trial<E>& trial, ChosenJob<P, F, T>, int row) {
  return written<T>(trial, row, Arguments<F>{});
}
template <class E, auto F>
std::vector<ByteRange> granted(const Trial<E>& trial, WorldSystemJob<F>, int) {
  return written_singles(trial, Arguments<F>{});
}
template <class E, class R, class From>
std::vector<ByteRange> granted(const Trial<E>& trial, ActionJob<R, From>, int row) {
  return {cell_bytes<typename R::Agent, typename R::Action>(trial, row)};
}

// ---- tasks

/// The header of a table, written by the engine at any moment of the stage.
template <class T, class E, class F>
Task<E> header_task(const Trial<E>& trial, F&& f) {
  return {f, "the header of " + table_name<T>(), {header_range<T>(trial)}};
}
template <class T, class E>
Task<E> length_task(const Trial<E>& trial, int length) {
  return header_task<T>(trial, [length](const CellsOf<E>& cells) {
    *cells.template header<T>(0) = uint32_t(length);
  });
}
template <auto Make, class T, class E, class... Index>
Task<E> maker(const Trial<E>& trial, int row, Index... index) {
  return {[row, index...](const CellsOf<E>& cells) { make_row<Make, T>(cells, row, index...); },
          row_name<T>(row), whole_row<T>(trial, row, typename T::components{})};
}
/// Applied once per stage to the counted image, however often its tasks run.
template <class T, class E>
void overflow(Trial<E>& trial, int needed) {
  count_overflow<T>(trial.cells_of(trial.images.at[0], true), needed, room_in<T>(trial));
}

}  // namespace ge
