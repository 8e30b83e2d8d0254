// Shuffled: stages that write into the caller's arrays. Rows are made from every image and written
// once all agree.
#pragma once

#include "engine/checking/shuffled_tasks.hpp"
#include "engine/graph/host_rows.hpp"

namespace ge {

template <class E, Output O, auto F, class R>
void stage(Trial<E>& trial, Write<O, F, R>) {
  using V = typename Signature<decltype(F)>::Result;
  using Agent = typename R::Agent;
  void* const to = trial.shared.bound.at[O];
  if (to == nullptr) return;
  // No row of the stage can see another's number: nothing to shuffle.
  for (int row = 0; row < agents_in<R>(trial.shared.params); ++row)
    put_value<E, R, O>(
        trial.shared, to, trial.world, row,
        trial.template agreed<V>(
            [row](const CellsOf<E>& cells) { return value_of_row<F, Agent>(cells, row); },
            row_name<Agent>(row)));
}
/// Straight into the caller's array: no rule runs.
template <class E>
void stage(Trial<E>& trial, ClearFinal) {
  clear_final_observations<E>(trial.shared, trial.world, 1);
  clear_final_states<E>(trial.shared, trial.world, 1);
}

// ---- wide rows

/// One row, by make(cells, writer); `index` in the caller's array.
template <class Row, class E, class Make>
void wide_row_out(Trial<E>& trial, WideTarget target, int64_t index, bool shows,
                  const std::string& name, Make&& make) {
  WorldImages& images = trial.images;
  // `target` is a copy, whose address is turned to a row of our own; the caller's is written last.
  const int64_t bytes = wide_bytes(target.format, target.elements);
  char* const to = target.to + index * bytes;
  std::string first;
  for (int k = 0; k < WorldImages::kCount; ++k) {
    // The row's memory is poisoned too: an element that no rule sets is unwritten memory.
    std::string image = images.at[k], row(size_t(bytes), WorldImages::kPoison[k]);
    target.to = row.data();
    images.guarded(name, [&] {
      HostWideRow<Row>::put(target, 0, shows,
                            [&](auto& writer) { make(trial.cells_of(image, false), writer); });
    });
    if (image != images.at[k]) images.breach(name + " writes while it should only read");
    if (k == 0) first = row;
    if (row != first) images.unwritten("what " + name + " shows");
  }
  std::memcpy(to, first.data(), size_t(bytes));
}
template <Output kOutput, auto F, class R, Wide Row, class E>
void rows_out(Trial<E>& trial, Output output) {
  using Agent = typename R::Agent;
  const WideTarget target = role_target<E, R, kOutput>(trial.shared, output);
  if (target.to == nullptr) return;
  const bool final = trial.into_final;
  for (int row = 0; row < agents_in<R>(trial.shared.params); ++row) {
    // Whether a row is wanted comes from columns too, so it is asked like any other value.
    const auto fate = trial.template agreed<RowFate>(
        [row, final](const CellsOf<E>& cells) { return row_fate<Agent>(cells, row, final); },
        row_name<Agent>(row));
    if (!fate.wanted) continue;
    wide_row_out<Row>(trial, target, row_index<R>(trial.shared, trial.world, row), fate.shows,
                      row_name<Agent>(row), [row](const CellsOf<E>& cells, auto& writer) {
                        write_row<F, Agent>(cells, row, writer);
                      });
  }
}

// ---- rows of fixed length

template <Output kOutput, auto F, class R, class Row, class E>
void rows_out(Trial<E>& trial, Output output) {
  static_assert(std::is_same_v<Row, RowOf<F>>);
  using Agent = typename R::Agent;
  char* const to = static_cast<char*>(trial.shared.bound.at[output]);
  if (to == nullptr) return;
  const RowsAt at = rows_at<E, R, kPlacedAs<kOutput>>(trial.shared, output);
  const bool final = trial.into_final;
  for (int row = 0; row < agents_in<R>(trial.shared.params); ++row) {
    bool wanted = false;
    const Row values = trial.template agreed<Row>(
        [row, final, &wanted](const CellsOf<E>& cells) {
          return observe_row<F, Agent>(cells, row, final, wanted);
        },
        row_name<Agent>(row));
    if (!wanted) continue;
    char* const own = to + at.of(trial.world, row);
    put_host_row(reinterpret_cast<typename RowShape<Row>::Element*>(own), values);
    std::memset(own + sizeof(Row), 0, size_t(at.tail));
  }
}

// ---- pictures

/// In image 0 at once, in the others tile by tile, from the last to the first: what a part shows
/// must not depend on the part.
template <Output, auto F, class R, AnyImage Row, class E>
void rows_out(Trial<E>& trial, Output) {
  using Agent = typename R::Agent;
  WorldImages& images = trial.images;
  const bool final = trial.into_final;
  const ImageTarget target = image_target<E, R>(trial.shared, final);
  if (!target.wanted()) return;
  for (int row = 0; row < agents_in<R>(trial.shared.params); ++row) {
    const std::string name = row_name<Agent>(row);
    const auto fate = trial.template agreed<RowFate>(
        [row, final](const CellsOf<E>& cells) { return row_fate<Agent>(cells, row, final); }, name);
    if (!fate.wanted) continue;
    std::string first[kLayerCount];
    for (int k = 0; k < WorldImages::kCount; ++k) {
      std::string image = images.at[k], drawn[kLayerCount];
      ImageTarget own = target;
      for (int layer = 0; layer < kLayerCount; ++layer)
        if (own.at[layer] != nullptr) {
          drawn[layer].assign(size_t(target.form.pixels() * bytes_of_pixel(layer_at(layer))),
                              WorldImages::kPoison[k]);
          own.at[layer] = drawn[layer].data();
        }
      const auto put = [&](const Part& part) {
        images.guarded(name, [&] {
          put_part<F, Agent>(trial.cells_of(image, k == 0), row, 0, own, part, final);
        });
      };
      if (k == 0) put(whole_of(target.form));
      for (int tile = k == 0 ? 0 : tiles_of(target.form); tile-- > 0;)
        put(tile_of(target.form, tile));
      if (image != images.at[k]) images.breach(name + " writes while it should only read");
      for (int layer = 0; layer < kLayerCount; ++layer) {
        if (k == 0) first[layer] = drawn[layer];
        if (drawn[layer] != first[layer])
          images.breach("what " + name +
                        " sees depends on the part of the picture that is drawn, or on memory that "
                        "nobody has written");
      }
    }
    for (int layer = 0; layer < kLayerCount; ++layer)
      if (target.at[layer] != nullptr)
        std::memcpy(static_cast<char*>(target.at[layer]) +
                        row_index<R>(trial.shared, trial.world, row) * int64_t(first[layer].size()),
                    first[layer].data(), first[layer].size());
  }
}

template <auto F, class Row, class E>
void world_row_out(Trial<E>& trial, Output output) {
  if constexpr (Wide<Row>) {
    const WideTarget target = wide_target<Row>(trial.shared, output);
    if (target.to == nullptr) return;
    wide_row_out<Row>(trial, target, trial.world, true, "the world",
                      [](const CellsOf<E>& cells, auto& writer) { write_state<F>(cells, writer); });
  } else {
    auto* const to = static_cast<typename RowShape<Row>::Element*>(trial.shared.bound.at[output]);
    if (to == nullptr) return;
    put_host_row(
        to + int64_t(trial.world) * RowShape<Row>::elements,
        trial.template agreed<Row>([](const CellsOf<E>& cells) { return state_row<F>(cells); }));
  }
}

template <class E, Output kOutput, auto F, class R>
void stage(Trial<E>& trial, Show<kOutput, F, R>) {
  using Row = shown_row<E, kOutput, R>;
  if (!is_made<kOutput>(trial.into_final)) return;
  const Output output = output_for<E, R, kOutput>(trial.shared, trial.into_final);
  if constexpr (has_trait(kOutput, kOfAWorld))
    world_row_out<F, Row>(trial, output);
  else
    rows_out<kOutput, F, R, Row>(trial, output);
}

}  // namespace ge
