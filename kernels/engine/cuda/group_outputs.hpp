// Stages of the group that write rows into the caller's arrays, and clear those of final
// observations. How a team stages its rows is rows.hpp's and staged_*.hpp's. An
// array that the caller does not want is null, and its stage does nothing.
#pragma once

#include "engine/cuda/alike_rows.hpp"
#include "engine/cuda/group_lanes.hpp"
#include "engine/cuda/staged_wide.hpp"

namespace ge {

// ---- rows

/// Rows of fixed length; make(row, out) fills one and says whether it is to be written; `rows` of
/// each world, the first of world 0 at `to`.
template <bool kFinal, class Row, int kRows, AnyGroup Group, class Make>
GE_FN void rows_out_at(const Group& group, typename RowShape<Row>::Element* to, int rows, bool on,
                       const Make& make) {
  using Rows = StagingPlan<Row, kRows, Group::kLanes>;
  const auto& cells = group.cells;
  if constexpr (Rows::staging) {
    using Staged = StagedRows<Row, kRows, Group::kLanes, kFinal, typename Group::Service>;
    const Staged staged{group.place, to, rows, cells.world};
    staged.run(on, make);
  } else {
    // The caller's array may begin anywhere; the same for all rows, whose size is the store's.
    const bool aligned = Rows::direct && offset_in_vector(to) % Rows::bytes == 0;
    my_rows<kRows>(group, on, rows, [&](int row) GE_LAMBDA {
      Row out;
      if (!make(row, out)) return;
      auto* const at = to + (int64_t(cells.world) * rows + row) * Rows::Shape::elements;
      if constexpr (Rows::direct)
        put_vector(at, out, aligned);
      else
        put_row(at, out);
    });
  }
}
/// Rows that a squad makes in the caller's array itself, its lanes side by side; fewer lanes than a
/// squad's make whole rows each.
template <class T, AnyGroup Group, class Put>
GE_FN void squad_rows_out(const Group& group, int rows, bool on, const Put& put) {
  if constexpr (Group::kLanes >= Squad::kLanes)
    squad_rows(group, on, rows, put);
  else
    my_rows<T::capacity>(group, on, rows, [&](int row) GE_LAMBDA { put(group.cells, row); });
}
/// Rows of a role that lie `at`, padded: in the caller's array itself, over zeros that all lanes
/// wrote, where a row is not whole.
template <bool kFinal, auto F, class R, class Row, AnyGroup Group>
GE_FN void padded_rows_out(const Group& group, char* to, const RowsAt& at, bool on) {
  using Element = typename RowShape<Row>::Element;
  constexpr bool zeroed = !kFinal && !is_complete<Row>();
  const int world = group.cells.world, rows = agents_in<R>(group.cells.shared->params);
  int64_t tail = at.tail;
  if (zeroed || (!kFinal && tail > 0)) {  // the same for all lanes
    if (on)
      clear_run(reinterpret_cast<Element*>(to + at.of(world, 0)),
                rows * at.row / int64_t{sizeof(Element)}, group.lane, Group::kLanes);
    group.settle();
    tail = 0;
  }
  my_rows<R::Agent::capacity>(group, on, rows, [&](int row) GE_LAMBDA {
    make_agent_row<F, typename R::Agent, Row, zeroed>(group.cells, row, kFinal,
                                                      to + at.of(world, row), tail);
  });
}
/// Rows of a role: by squads where its function asks for one, all lanes together where they follow
/// one another, else padded.
template <bool kFinal, Output kOutput, auto F, class R, class Row, AnyGroup Group>
GE_FN void fixed_rows_out(const Group& group, Output output, bool on) {
  using E = typename Group::Environment;
  using Agent = typename R::Agent;
  static_assert(std::is_same_v<Row, RowOf<F>>);
  const auto& shared = *group.cells.shared;
  char* const to = static_cast<char*>(shared.bound.at[output]);
  if (to == nullptr) return;
  const int rows = agents_in<R>(shared.params);
  if constexpr (wants_squad<F>) {
    const RowsAt at = rows_at<E, R, kPlacedAs<kOutput>>(shared, output);
    return squad_rows_out<Agent>(group, rows, on, [&](const auto& cells, int row) GE_LAMBDA {
      make_agent_row<F, Agent, Row>(cells, row, kFinal, to + at.of(cells.world, row), at.tail);
    });
  }
  constexpr bool zeroed = StagingPlan<Row, Agent::capacity, Group::kLanes>::zeroed;
  if (is_split(shared)) {  // the same for all lanes
    auto* const first = reinterpret_cast<typename RowShape<Row>::Element*>(
        rows_of_role<E, R, kPlacedAs<kOutput>>(shared, output));
    return rows_out_at<kFinal, Row, Agent::capacity>(
        group, first, rows, on, [&](int row, Row& out) GE_LAMBDA {
          return observe_into<F, Agent, zeroed>(group.cells, row, kFinal, out);
        });
  }
  if constexpr (!has_one_role<typename Group::S>) {
    padded_rows_out<kFinal, F, R, Row>(group, to, rows_at<E, R, kPlacedAs<kOutput>>(shared, output),
                                       on);
    // Split rows that are staged end with a barrier, and the form is unknown at compile time.
    if constexpr (StagingPlan<Row, Agent::capacity, Group::kLanes>::staging) group.settle();
  }
}

/// Wide rows that squads make: a squad a row, or a tile of rows that are alike, or a row for each
/// lane of a squad.
template <bool kFinal, auto F, class R, class Row, AnyGroup Group>
GE_FN void wide_rows_by_squads(const Group& group, const WideTarget& target, bool on) {
  using Agent = typename R::Agent;
  const auto& shared = *group.cells.shared;
  const int rows = agents_in<R>(shared.params);
  const auto put = [&](const auto& cells, int row) GE_LAMBDA {
    put_together<F, Agent, Row>(cells, row, target, row_index<R>(shared, cells.world, row), kFinal);
  };
  if constexpr (Group::kLanes >= Squad::kLanes) {
    if constexpr (may_be_alike<Row>)
      if (are_tiled<Row>(shared.params, rows))  // the same for all
        return squad_rows(group, on, AlikeTile::count(rows, target.elements),
                          [&](const auto& cells, int k) GE_LAMBDA {
                            put_tile<F, Agent, Row>(cells, k, rows, target,
                                                    row_index<R>(shared, cells.world, 0), kFinal);
                          });
    if constexpr (kTuning<typename Group::S>.abreast && is_complete<Row>()) {
      // By 32, and what is left by itself.
      const int whole = rows / Squad::kLanes, left = rows % Squad::kLanes;
      return squad_rows(group, on, whole + left, [&](const auto& cells, int k) GE_LAMBDA {
        const int row = k < whole ? k * Squad::kLanes : whole * Squad::kLanes + k - whole;
        if (k >= whole) return put(cells, row);
        put_abreast<F, Agent, Row>(cells, row, target, row_index<R>(shared, cells.world, row),
                                   kFinal);
      });
    }
  }
  squad_rows_out<Agent>(group, rows, on, put);
}
template <bool kFinal, Output kOutput, auto F, class R, class Row, AnyGroup Group>
GE_FN void wide_rows_out(const Group& group, Output output, bool on) {
  using Agent = typename R::Agent;
  const auto& shared = *group.cells.shared;
  const WideTarget target = role_target<typename Group::Environment, R, kOutput>(shared, output);
  if (target.to == nullptr) return;
  // Such rows need no staging: a squad's lanes write neighbours at once.
  if constexpr (wants_squad<F>) return wide_rows_by_squads<kFinal, F, R, Row>(group, target, on);
  const StagedWideRows<Row, Group, kFinal> staged{group, target, agents_in<R>(shared.params)};
  staged.run(
      on, [](const auto& cells, int row) GE_LAMBDA { return row_fate<Agent>(cells, row, kFinal); },
      [](const auto& cells, int row, auto& writer)
          GE_LAMBDA { write_row<F, Agent>(cells, row, writer); });
}
/// Pictures: a squad draws a tile, its lanes the pixels; lanes that are fewer than a squad's draw
/// whole pictures each.
template <bool kFinal, auto F, class R, AnyGroup Group>
GE_FN void pictures_out(const Group& group, bool on) {
  using Agent = typename R::Agent;
  const auto& shared = *group.cells.shared;
  const ImageTarget target = image_target<typename Group::Environment, R>(shared, kFinal);
  if (!target.wanted()) return;
  const int rows = agents_in<R>(shared.params);
  const int64_t first = int64_t(group.cells.world) * rows;
  if constexpr (Group::kLanes >= Squad::kLanes) {
    const int tiles = tiles_of(target.form);
    squad_rows(group, on, rows * tiles, [&](const auto& cells, int k) GE_LAMBDA {
      const int row = k / tiles;
      put_part<F, Agent>(cells, row, first + row, target, tile_of(target.form, k - row * tiles),
                         kFinal);
    });
  } else {
    my_rows<Agent::capacity>(group, on, rows, [&](int row) GE_LAMBDA {
      put_part<F, Agent>(group.cells, row, first + row, target, whole_of(target.form), kFinal);
    });
  }
}

template <auto F, class Row, AnyGroup Group>
GE_FN void world_rows_out(const Group& group, Output output, bool on) {
  const auto& cells = group.cells;
  if constexpr (Wide<Row>) {
    const WideTarget target = wide_target<Row>(*cells.shared, output);
    if (target.to == nullptr) return;
    if constexpr (wants_squad<F>) {
      const auto put = [&](const auto& own, int)
                           GE_LAMBDA { put_state_together<F, Row>(own, target); };
      if constexpr (Group::kLanes >= Squad::kLanes)
        return squad_rows(group, on, 1, put);
      else
        return my_rows<1>(group, on, 1, [&](int row) GE_LAMBDA { put(cells, row); });
    }
    const StagedWideRows<Row, Group, false> staged{group, target, 1};
    staged.run(
        on, [](const auto&, int) GE_LAMBDA { return RowFate{true, true}; },
        [](const auto& world, int, auto& writer) GE_LAMBDA { write_state<F>(world, writer); });
  } else {
    auto* const to = static_cast<typename RowShape<Row>::Element*>(cells.shared->bound.at[output]);
    if (to != nullptr)
      rows_out_at<false, Row, 1>(group, to, 1, on, [&](int, Row& out) GE_LAMBDA {
        out = state_row<F>(cells);
        return true;
      });
  }
}

template <bool kFinal, AnyGroup Group, Output kOutput, auto F, class R>
GE_FN void stage(Group& group, Show<kOutput, F, R>, bool on) {
  using Row = shown_row<typename Group::Environment, kOutput, R>;
  if constexpr (is_made<kOutput>(kFinal)) {
    if constexpr (AnyImage<Row>)
      pictures_out<kFinal, F, R>(group, on);
    else if constexpr (has_trait(kOutput, kOfAWorld))
      world_rows_out<F, Row>(group, target_of<kOutput>(kFinal), on);
    else if constexpr (Wide<Row>)
      wide_rows_out<kFinal, kOutput, F, R, Row>(group, target_of<kOutput>(kFinal), on);
    else
      fixed_rows_out<kFinal, kOutput, F, R, Row>(
          group, output_for<typename Group::Environment, R, kOutput>(*group.cells.shared, kFinal),
          on);
  }
}

// ---- zeros for the rows of agents that have not ended in this step

/// Clears `elements` elements of every world that is on. Other lanes may write there later: a
/// barrier has to follow. No condition stands in front of it, so the worlds are one run.
template <class Element, AnyGroup Group>
GE_FN void clear_worlds(const Group& group, Element* to, int64_t elements, bool on) {
  const Run run = team_run<Group::kLanes, typename Group::Service>(group.place, on);
  GE_ASSERT(run.whole);
  clear_run(to + group.place.team_first * elements, run.worlds * elements, group.place.team_lane,
            Group::Plan::team);
}
/// Clears the rows that `ended`, still of the step before, marks: few, each by the lane that will
/// report this step's ends.
template <AnyGroup Group>
GE_FN void clear_ended(const Group& group, bool on) {
  using E = typename Group::Environment;
  const auto& shared = *group.cells.shared;
  const int world = group.cells.world;
  for_each_type(roles_of<typename Group::S>{}, [&](auto role) GE_LAMBDA {
    using R = typename decltype(role)::type;
    my_rows<R::Agent::capacity>(group, on, agents_in<R>(shared.params), [&](int row) GE_LAMBDA {
      if (!has_ended<R>(shared, world, row)) return;
      for_each_final_row<E, R>(shared, world, row, [](char* to, int64_t bytes) GE_LAMBDA {
        clear_run(reinterpret_cast<uint8_t*>(to), bytes, 0, 1);
      });
    });
  });
  before_once();  // the same lane may store the row's final observation, and `ended` itself
}
/// Clears the final observations of all worlds that are on.
template <AnyGroup Group>
GE_FN void clear_all(const Group& group, bool on) {
  using E = typename Group::Environment;
  using R = typename TypeAt<0, roles_of<typename Group::S>>::type;
  constexpr int kRows = R::Agent::capacity;
  using Row = role_row<E, R, kFinalObservation>;
  const auto& shared = *group.cells.shared;
  if constexpr (has_one_role<typename Group::S> && OutputNeeds<Row, kRows, Group::kLanes>::direct) {
    // By the lane that may also write the row's final observation: no barrier between.
    using Element = typename RowShape<Row>::Element;
    auto* const first = static_cast<Element*>(shared.bound.at[kFinalObservation]);
    const bool aligned = offset_in_vector(first) % int(sizeof(Row)) == 0;
    my_rows<kRows>(group, on, agents_in<R>(shared.params), [&](int row) GE_LAMBDA {
      const int64_t index = row_index<R>(shared, group.cells.world, row);
      put_vector(first + index * RowShape<Row>::elements, Row{}, aligned);
    });
  } else {
    for_each_final_run<E>(shared, [&](Output output, int64_t first, int64_t bytes) GE_LAMBDA {
      clear_worlds(group, static_cast<uint8_t*>(shared.bound.at[output]) + first, bytes, on);
    });
  }
}
template <AnyGroup Group>
GE_FN void clear_states(const Group& group, bool on) {
  using E = typename Group::Environment;
  if constexpr (has_rows<E, kFinalState>) {
    const auto& shared = *group.cells.shared;
    if (!shared.bound.clears_final_states()) return;  // the same for all
    clear_worlds(group, static_cast<uint8_t*>(shared.bound.at[kFinalState]),
                 row_bytes<typename E::State>(shared, kFinalState), on);
    group.sync_team();  // other lanes may make the rows
  }
}
template <bool kFinal, AnyGroup Group>
GE_FN void stage(Group& group, ClearFinal, bool on) {
  using E = typename Group::Environment;
  clear_states(group, on);
  const FinalRows wanted = group.cells.shared->bound.rows_of_final();
  if (wanted == FinalRows::keep) return;  // the same for all, so the branch is uniform
  if (wanted == FinalRows::clear_ended)
    clear_ended(group, on);
  else
    clear_all(group, on);
  // Other lanes may make the rows of final observations.
  if constexpr (!has_one_role<typename Group::S> ||
                (Group::kLanes == 1 && StageNeeds<E, 1, ClearFinal>::meets))
    group.sync_team();
}

}  // namespace ge
