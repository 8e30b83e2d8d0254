// Stages of the group that meet the caller's arrays: actions come in, numbers and rows go out,
// final observations are cleared. How a team stages its rows is rows.hpp's and staged_*.hpp's. An
// array that the caller does not want is null, and its stage does nothing.
#pragma once

#include "engine/cuda/group_lanes.hpp"
#include "engine/cuda/staged_wide.hpp"

namespace ge {

template <bool kFinal, AnyGroup Group>
GE_FN void stage(Group& group, TakeActions, bool on) {
  using A = typename Group::S::Action;
  const auto& cells = group.cells;
  const int rows = group.agents();
  with_action_type<A>(cells.shared->action_type, [&](auto type) GE_LAMBDA {
    using From = typename decltype(type)::type;
    my_rows<Group::Agent::capacity>(group, on, rows, [&](int row) GE_LAMBDA {
      take_action<typename Group::Environment, From, true>(cells, row, rows);
    });
  });
}
template <bool kFinal, AnyGroup Group, Output O, auto F>
GE_FN void stage(Group& group, Write<O, F>, bool on) {
  using V = typename Signature<decltype(F)>::Result;
  using Agent = typename Group::Agent;
  const auto& cells = group.cells;
  V* const to = static_cast<V*>(cells.shared->bound.at[O]);
  if (to == nullptr) return;
  const int rows = group.agents();
  my_rows<Agent::capacity>(group, on, rows, [&](int row) GE_LAMBDA {
    V* const at = to + (int64_t(cells.world) * rows + row);
    GE_WATCH(at, sizeof(V), true);
    if constexpr (std::is_arithmetic_v<V>)
      store_once(at, value_of_row<F, Agent>(cells, row));
    else
      *at = value_of_row<F, Agent>(cells, row);
  });
}

template <bool kFinal, AnyGroup Group, class R>
GE_FN void stage(Group& group, TakeActionsOf<R>, bool on) {
  const auto& cells = group.cells;
  const int rows = agents_in<R>(cells.shared->params);
  with_role_action_type<typename Group::S, R>(cells.shared->action_type, [&](auto type) GE_LAMBDA {
    using From = typename decltype(type)::type;
    my_rows<R::Agent::capacity>(group, on, rows, [&](int row) GE_LAMBDA {
      take_role_action<typename Group::Environment, R, From, true>(cells, row);
    });
  });
}
template <bool kFinal, AnyGroup Group, Output O, auto F, class R>
GE_FN void stage(Group& group, Write<O, F, R>, bool on) {
  using V = typename Signature<decltype(F)>::Result;
  const auto& cells = group.cells;
  V* const to = static_cast<V*>(cells.shared->bound.at[O]);
  if (to == nullptr) return;
  my_rows<R::Agent::capacity>(group, on, agents_in<R>(cells.shared->params),
                              [&](int row) GE_LAMBDA {
                                V* const at = to + agent_index<R>(*cells.shared, cells.world, row);
                                GE_WATCH(at, sizeof(V), true);
                                store_once(at, value_of_row<F, typename R::Agent>(cells, row));
                              });
}

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
/// The same in the array of an output.
template <bool kFinal, class Row, int kRows, AnyGroup Group, class Make>
GE_FN void rows_out(const Group& group, Output output, int rows, bool on, const Make& make) {
  auto* const to =
      static_cast<typename RowShape<Row>::Element*>(group.cells.shared->bound.at[output]);
  if (to != nullptr) rows_out_at<kFinal, Row, kRows>(group, to, rows, on, make);
}
/// Of a role: as any others where they lie side by side, else row by row, zeros behind each.
template <bool kFinal, Output kOutput, auto F, class R, AnyGroup Group>
GE_FN void role_rows_out(const Group& group, Output output, bool on) {
  using Row = RowOf<F>;
  using Agent = typename R::Agent;
  const auto& shared = *group.cells.shared;
  auto* const to = static_cast<typename RowShape<Row>::Element*>(shared.bound.at[output]);
  if (to == nullptr) return;
  const RowsAt at = rows_at<kOutput, R>(shared);
  const int rows = agents_in<R>(shared.params);
  if (shared.role_form == RoleForm::split) {  // the same for all lanes
    const auto make = [&](int row, Row& out) GE_LAMBDA {
      return observe_into<F, Agent>(group.cells, row, kFinal, out);
    };
    return rows_out_at<kFinal, Row, Agent::capacity>(group, to + at.first, rows, on, make);
  }
  my_rows<Agent::capacity>(group, on, rows, [&](int row) GE_LAMBDA {
    make_role_row<F, Agent, Row>(group.cells, row, kFinal, to + at.of(group.cells.world, row),
                                 at.tail);
  });
  // Split, rows that are staged end with a barrier, and nobody knows which form it will be.
  if constexpr (StagingPlan<Row, Agent::capacity, Group::kLanes>::staging) group.settle();
}

/// Wide rows that a squad makes in the caller's array itself: its lanes write side by side.
template <bool kFinal, auto F, class Row, AnyGroup Group>
GE_FN void squad_rows_out(const Group& group, const WideTarget& target, bool on) {
  using Agent = typename Group::Agent;
  const int rows = group.agents();
  const auto put = [&](const auto& cells, int row) GE_LAMBDA {
    put_together<F, Agent, Row>(cells, row, target, int64_t(cells.world) * rows + row, kFinal);
  };
  if constexpr (Group::kLanes >= Squad::kLanes)
    squad_rows(group, on, rows, put);
  else
    my_rows<Agent::capacity>(group, on, rows, [&](int row) GE_LAMBDA { put(group.cells, row); });
}
template <bool kFinal, auto F, class Row, AnyGroup Group>
GE_FN void wide_rows_out(const Group& group, Output output, bool on) {
  using Agent = typename Group::Agent;
  const WideTarget target = wide_target<Row>(*group.cells.shared, output);
  if (target.to == nullptr) return;
  // Such rows need no staging: a squad's lanes write neighbours at once.
  if constexpr (wants_squad<F>) return squad_rows_out<kFinal, F, Row>(group, target, on);
  const StagedWideRows<Row, Group> staged{group, target, group.agents()};
  staged.run(
      on, [](const auto& cells, int row) GE_LAMBDA { return row_fate<Agent>(cells, row, kFinal); },
      [](const auto& cells, int row, auto& writer)
          GE_LAMBDA { write_row<F, Agent>(cells, row, writer); });
}
/// Rows of agents, whatever their length.
template <bool kFinal, auto F, class Row, AnyGroup Group>
GE_FN void agent_rows_out(const Group& group, Output output, bool on) {
  using Agent = typename Group::Agent;
  if constexpr (Wide<Row>)
    wide_rows_out<kFinal, F, Row>(group, output, on);
  else
    rows_out<kFinal, RowOf<F>, Agent::capacity>(
        group, output, group.agents(), on, [&](int row, RowOf<F>& out) GE_LAMBDA {
          return observe_into<F, Agent>(group.cells, row, kFinal, out);
        });
}

/// Pictures: a squad draws a tile, its lanes the pixels; lanes that are fewer than a squad's draw
/// whole pictures each.
template <bool kFinal, auto F, class Row, AnyGroup Group>
GE_FN void pictures_out(const Group& group, bool on) {
  using Agent = typename Group::Agent;
  const ImageTarget target = image_target<Row>(*group.cells.shared, kFinal);
  if (!target.wanted()) return;
  const int rows = group.agents();
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
    const StagedWideRows<Row, Group> staged{group, target, 1};
    staged.run(
        on, [](const auto&, int) GE_LAMBDA { return RowFate{true, true}; },
        [](const auto& world, int, auto& writer) GE_LAMBDA { write_state<F>(world, writer); });
  } else {
    rows_out<false, RowOf<F>, 1>(group, output, 1, on, [&](int, RowOf<F>& out) GE_LAMBDA {
      out = state_row<F>(cells);
      return true;
    });
  }
}

template <bool kFinal, AnyGroup Group, Output kOutput, auto F>
GE_FN void stage(Group& group, Show<kOutput, F>, bool on) {
  using Row = row_of<typename Group::Environment, kOutput>;
  if constexpr (is_made<kOutput>(kFinal)) {
    if constexpr (AnyImage<Row>)
      pictures_out<kFinal, F, Row>(group, on);
    else if constexpr (has_trait(kOutput, kOfAWorld))
      world_rows_out<F, Row>(group, target_of<kOutput>(kFinal), on);
    else
      agent_rows_out<kFinal, F, Row>(group, target_of<kOutput>(kFinal), on);
  }
}

template <bool kFinal, AnyGroup Group, Output kOutput, auto F, class R>
GE_FN void stage(Group& group, Show<kOutput, F, R>, bool on) {
  if constexpr (is_made<kOutput>(kFinal))
    role_rows_out<kFinal, kOutput, F, R>(group, target_of<kOutput>(kFinal), on);
}

// ---- zeros for the rows of agents that have not ended in this step

/// Zeros for so many elements of every world that is on.
template <class Element, AnyGroup Group>
GE_FN void clear_worlds(const Group& group, Element* to, int64_t elements, bool on) {
  constexpr int G = Group::kLanes;
  const GroupPlace& place = group.place;
  const Run run = team_run<G, typename Group::Service>(place, on);
  if (run.whole)
    clear_run(to + place.team_first * elements, run.worlds * elements, place.team_lane,
              Group::Plan::team);
  else if (on)
    clear_run(to + group.cells.world * elements, elements, group.lane, G);
  if constexpr (G == 1)
    group.sync_team();  // the rows of final observations go to the same places from other lanes
}
/// Zeros for the rows that `ended`, still of the step before, marks: few, and each by the lane that
/// will say what ends in this one.
template <AnyGroup Group>
GE_FN void clear_ended(const Group& group, const Bound& bound, bool on) {
  using E = typename Group::Environment;
  const auto& cells = group.cells;
  const uint8_t* const ended = static_cast<const uint8_t*>(bound.at[kEnded]);
  const int rows = group.agents();
  my_rows<Group::Agent::capacity>(group, on, rows, [&](int row) GE_LAMBDA {
    const int64_t index = int64_t(cells.world) * rows + row;
    GE_WATCH(ended + index, 1, false);
    if (ended[index] == 0) return;
    for_each_final_observation<E>([&](Output output) GE_LAMBDA {
      if (bound.at[output] == nullptr) return;
      const int64_t bytes = row_bytes<typename E::Observation>(*cells.shared, output);
      clear_run(static_cast<uint8_t*>(bound.at[output]) + index * bytes, bytes, 0, 1);
    });
  });
  before_once();  // the same lane may store the row's final observation, and `ended` itself
  if constexpr (Group::kLanes == 1 && StageNeeds<E, 1, ClearFinal>::meets)
    group.sync_team();  // as in clear_worlds
}
/// The rows of roles, in either form.
template <class R, AnyGroup Group>
GE_FN void clear_ended_of(const Group& group, bool on) {
  using Row = role_row<R, kFinalObservation>;
  const auto& shared = *group.cells.shared;
  const uint8_t* const ended = static_cast<const uint8_t*>(shared.bound.at[kEnded]);
  auto* const to =
      static_cast<typename RowShape<Row>::Element*>(shared.bound.at[kFinalObservation]);
  const RowsAt at = rows_at<kFinalObservation, R>(shared);
  const int world = group.cells.world;
  my_rows<R::Agent::capacity>(group, on, agents_in<R>(shared.params), [&](int row) GE_LAMBDA {
    const int64_t index = agent_index<R>(shared, world, row);
    GE_WATCH(ended + index, 1, false);
    if (ended[index] != 0) clear_run(to + at.of(world, row), RowShape<Row>::elements, 0, 1);
  });
}
template <AnyGroup Group>
GE_FN void clear_roles(const Group& group, FinalRows wanted, bool on) {
  using S = typename Group::S;
  using Element = typename RoleRows<S, kFinalObservation>::Element;
  const auto& shared = *group.cells.shared;
  Element* const to = static_cast<Element*>(shared.bound.at[kFinalObservation]);
  if (wanted == FinalRows::clear_ended) {
    for_each_type(roles_of<S>{}, [&](auto role) GE_LAMBDA {
      clear_ended_of<typename decltype(role)::type>(group, on);
    });
    before_once();
  } else if (shared.role_form == RoleForm::padded) {
    clear_worlds(group, to, role_observation_bytes(shared) / int64_t(sizeof(Element)), on);
  } else {
    for_each_type(roles_of<S>{}, [&](auto role) GE_LAMBDA {
      const RowsAt at = rows_at<kFinalObservation, typename decltype(role)::type>(shared);
      clear_worlds(group, to + at.first, at.world, on);
    });
  }
  group.sync_team();  // other lanes may make the rows
}
template <AnyGroup Group>
GE_FN void clear_states(const Group& group, bool on) {
  using E = typename Group::Environment;
  if constexpr (has_rows<E, kFinalState>) {
    const auto& shared = *group.cells.shared;
    if (!shared.bound.clears_final_states()) return;  // the same for all
    clear_worlds(group, static_cast<uint8_t*>(shared.bound.at[kFinalState]),
                 row_bytes<typename E::State>(shared, kFinalState), on);
    if constexpr (Group::kLanes > 1) group.sync_team();  // other lanes may make the rows
  }
}
template <AnyGroup Group>
GE_FN void clear_observations(const Group& group, FinalRows wanted, bool on) {
  using Row = typename Group::Environment::Observation;
  using Agent = typename Group::Agent;
  const auto& cells = group.cells;
  const Bound& bound = cells.shared->bound;
  if (wanted == FinalRows::clear_ended) return clear_ended(group, bound, on);
  const int rows = group.agents();
  if constexpr (Wide<Row> || AnyImage<Row>) {
    for_each_final_observation<typename Group::Environment>([&](Output output) GE_LAMBDA {
      auto* const rows_of = static_cast<uint8_t*>(bound.at[output]);
      if (rows_of != nullptr)
        clear_worlds(group, rows_of, row_bytes<Row>(*cells.shared, output) * rows, on);
    });
  } else {
    using Rows = StagingPlan<Row, Agent::capacity, Group::kLanes>;
    auto* const first = static_cast<typename Rows::Element*>(bound.at[kFinalObservation]);
    const int64_t elements = int64_t{rows} * Rows::Shape::elements;  // of a world
    if constexpr (Rows::direct) {
      // By the lane that may also write the row's final observation: no barrier between.
      const bool aligned = offset_in_vector(first) % Rows::bytes == 0;
      my_rows<Agent::capacity>(group, on, rows, [&](int row) GE_LAMBDA {
        put_vector(first + cells.world * elements + int64_t{row} * Rows::Shape::elements, Row{},
                   aligned);
      });
    } else {
      clear_worlds(group, first, elements, on);
    }
  }
}
template <bool kFinal, AnyGroup Group>
GE_FN void stage(Group& group, ClearFinal, bool on) {
  clear_states(group, on);
  const FinalRows wanted = group.cells.shared->bound.rows_of_final();
  if (wanted == FinalRows::keep) return;  // the same for all, so the branch is uniform
  if constexpr (has_roles<typename Group::S>)
    clear_roles(group, wanted, on);
  else
    clear_observations(group, wanted, on);
}

}  // namespace ge
