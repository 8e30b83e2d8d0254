// Flat: stages that meet the caller's arrays. A thread or a warp makes each row where it belongs;
// rows of bytes and bits of a length that the parameters decide are staged by a team
// (flat_teams.hpp).
#pragma once

#include "engine/cuda/flat_teams.hpp"
#include "engine/graph/channels.hpp"

namespace ge {

namespace flat {

template <class E, class From>
struct ActionJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    const int agents = agents_of(work.shared);
    const FlatPlace at = flat_place(i, agents);
    if (work.on(at.world)) take_action<E, From, true>(work.cells(at.world), at.row, agents);
  }
};
/// Outputs of one number per agent, those that follow one another in one go: a launch takes longer
/// than the numbers.
template <class E, class... W>
struct WriteJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    const FlatPlace at = flat_place(i, agents_of(work.shared));
    if (!work.on(at.world)) return;
    const auto cells = work.cells(at.world);
    (write(W{}, cells, at.row, i), ...);
  }

 private:
  template <Output O, auto F, class C>
  static GE_FN void write(Write<O, F>, const C& cells, int row, int64_t i) {
    using V = typename Signature<decltype(F)>::Result;
    V* const to = static_cast<V*>(cells.shared->bound.at[O]);
    if (to != nullptr) to[i] = value_of_row<F, typename SchemaOf<E>::Agent>(cells, row);
  }
};

// ---- of roles: row i is the (i % n)-th of the n agents of a role in its world

template <class E, class R, class From>
struct RoleActionJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    const FlatPlace at = flat_place(i, agents_in<R>(work.shared.params));
    if (work.on(at.world)) take_role_action<E, R, From, true>(work.cells(at.world), at.row);
  }
};
template <class E, Output O, auto F, class R>
struct RoleWriteJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    using V = typename Signature<decltype(F)>::Result;
    const FlatPlace at = flat_place(i, agents_in<R>(work.shared.params));
    if (!work.on(at.world)) return;
    V* const to = static_cast<V*>(work.shared.bound.at[O]);
    to[agent_index<R>(work.shared, at.world, at.row)] =
        value_of_row<F, typename R::Agent>(work.cells(at.world), at.row);
  }
};
template <class E, Output kOutput, auto F, class R>
struct RoleRowJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    using Row = RowOf<F>;
    const FlatPlace at = flat_place(i, agents_in<R>(work.shared.params));
    if (!work.on(at.world)) return;
    const RowsAt rows = rows_at<kOutput, R>(work.shared);
    auto* const to = static_cast<typename RowShape<Row>::Element*>(
        work.shared.bound.at[target_of<kOutput>(work.final)]);
    make_role_row<F, typename R::Agent, Row>(work.cells(at.world), at.row, work.final,
                                             to + rows.of(at.world, at.row), rows.tail);
  }
};
template <class E, class R>
struct ClearEndedRoleJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    using Row = role_row<R, kFinalObservation>;
    const Bound& bound = work.shared.bound;
    const FlatPlace at = flat_place(i, agents_in<R>(work.shared.params));
    const int64_t index = agent_index<R>(work.shared, at.world, at.row);
    if (static_cast<const uint8_t*>(bound.at[kEnded])[index] == 0) return;
    auto* const to = static_cast<typename RowShape<Row>::Element*>(bound.at[kFinalObservation]);
    clear_run(to + rows_at<kFinalObservation, R>(work.shared).of(at.world, at.row),
              RowShape<Row>::elements, 0, 1);
  }
};

/// Zeros for the rows of final observations that `ended`, still of the step before, marks.
template <class E>
struct ClearEndedJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    const Bound& bound = work.shared.bound;
    if (static_cast<const uint8_t*>(bound.at[kEnded])[i] == 0) return;
    for_each_final_observation<E>([&](Output output) GE_LAMBDA {
      if (bound.at[output] == nullptr) return;
      const int64_t bytes = row_bytes<typename E::Observation>(work.shared, output);
      clear_run(static_cast<uint8_t*>(bound.at[output]) + i * bytes, bytes, 0, 1);
    });
  }
};

template <class E, Output kOutput, auto F>
struct WorldRowJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    using Row = RowOf<F>;
    const Output output = target_of<kOutput>(work.final);
    auto* const to = static_cast<typename RowShape<Row>::Element*>(work.shared.bound.at[output]);
    if (work.on(int(i)))
      put_row(to + i * RowShape<Row>::elements, state_row<F>(work.cells(int(i))));
  }
};

// ---- observations

template <class E, Output kOutput, auto F>
struct ObserveJob {
  using Agent = typename SchemaOf<E>::Agent;
  static GE_FN void run(const Work<E>& work, int64_t i) {
    using Row = RowOf<F>;
    const FlatPlace at = flat_place(i, agents_of(work.shared));
    if (!work.on(at.world)) return;
    const Output output = target_of<kOutput>(work.final);
    auto* const to = static_cast<typename RowShape<Row>::Element*>(work.shared.bound.at[output]);
    Row row;
    if (observe_into<F, Agent>(work.cells(at.world), at.row, work.final, row))
      put_row(to + i * RowShape<Row>::elements, row);
  }
};
/// A tile of a picture, by a squad.
template <class E, Output kOutput, auto F>
struct TileJob {
  static GE_FN void run(const Work<E>& work, int64_t i, int lane) {
    using Row = row_of<E, kOutput>;
    const ImageTarget target = image_target<Row>(work.shared, work.final);
    const int agents = agents_of(work.shared), tiles = tiles_of(target.form);
    const int64_t picture = i / tiles;
    const FlatPlace at = flat_place(picture, agents);
    if (!work.on(at.world)) return;
    put_part<F, typename SchemaOf<E>::Agent>(
        work.cells(at.world, lane, Squad::kLanes), at.row, picture, target,
        tile_of(target.form, int(i - picture * tiles)), work.final);
  }
};
/// Rows of floats, made where they belong by a lane or by a squad.
template <class E, Output kOutput, auto F>
struct FloatRowJob {
  using Row = row_of<E, kOutput>;
  static GE_FN void run(const Work<E>& work, int64_t i, int lane = 0, int lanes = 1) {
    const FlatPlace at = flat_place(i, agents_of(work.shared));
    if (!work.on(at.world)) return;
    const WideTarget target = wide_target<Row>(work.shared, target_of<kOutput>(work.final));
    put_together<F, typename SchemaOf<E>::Agent, Row>(work.cells(at.world, lane, lanes), at.row,
                                                      target, i, work.final);
  }
};
template <class E, Output kOutput, auto F>
struct FloatRowTogetherJob {
  static GE_FN void run(const Work<E>& work, int64_t i, int lane) {
    FloatRowJob<E, kOutput, F>::run(work, i, lane, Squad::kLanes);
  }
};

}  // namespace flat

template <class E, class M>
void stage(FlatWalk<E, M>& walk, TakeActions) {
  using A = typename E::Schema::Action;
  with_action_type<A>(walk.work.shared.action_type, [&](auto type) {
    enqueue_rows<flat::ActionJob<E, typename decltype(type)::type>>(walk, walk.agents());
  });
}
template <class E, class M, class R>
void stage(FlatWalk<E, M>& walk, TakeActionsOf<R>) {
  with_role_action_type<typename E::Schema, R>(walk.work.shared.action_type, [&](auto type) {
    enqueue_rows<flat::RoleActionJob<E, R, typename decltype(type)::type>>(
        walk, agents_in<R>(walk.work.shared.params));
  });
}
template <class E, class M, Output O, auto F, class R>
void stage(FlatWalk<E, M>& walk, Write<O, F, R>) {
  if (walk.bound(O))
    enqueue_rows<flat::RoleWriteJob<E, O, F, R>>(walk, agents_in<R>(walk.work.shared.params));
}
template <class E, class M, Output kOutput, auto F, class R>
void stage(FlatWalk<E, M>& walk, Show<kOutput, F, R>) {
  const bool final = walk.work.final;
  if (is_made<kOutput>(final) && walk.bound(target_of<kOutput>(final)))
    enqueue_rows<flat::RoleRowJob<E, kOutput, F, R>>(walk, agents_in<R>(walk.work.shared.params));
}
/// Of the observations of roles, which in either form fill their array.
template <class E, class M>
void clear_roles(FlatWalk<E, M>& walk, FinalRows wanted) {
  const auto& shared = walk.work.shared;
  if (wanted == FinalRows::zero && walk.bound(kFinalObservation))
    walk.machine.zero(shared.bound.at[kFinalObservation],
                      role_observation_bytes(shared) * shared.worlds);
  if (wanted == FinalRows::clear_ended)
    for_each_type(roles_of<typename E::Schema>{}, [&](auto role) {
      using R = typename decltype(role)::type;
      enqueue_rows<flat::ClearEndedRoleJob<E, R>>(walk, agents_in<R>(shared.params));
    });
}
template <class E, class M>
void clear_observations(FlatWalk<E, M>& walk, FinalRows wanted) {
  const auto& shared = walk.work.shared;
  if (wanted == FinalRows::zero)
    for_each_final_observation<E>([&](Output output) {
      if (walk.bound(output))
        walk.machine.zero(
            shared.bound.at[output],
            row_bytes<typename E::Observation>(shared, output) * walk.agents() * shared.worlds);
    });
  else if (wanted == FinalRows::clear_ended)
    enqueue_rows<flat::ClearEndedJob<E>>(walk, walk.agents());
}
template <class E, class M>
void stage(FlatWalk<E, M>& walk, ClearFinal) {
  const auto& shared = walk.work.shared;
  const FinalRows wanted = shared.bound.rows_of_final();
  if constexpr (has_roles<typename E::Schema>)
    clear_roles(walk, wanted);
  else
    clear_observations(walk, wanted);
  if constexpr (has_rows<E, kFinalState>)
    if (shared.bound.clears_final_states())
      walk.machine.zero(shared.bound.at[kFinalState],
                        row_bytes<typename E::State>(shared, kFinalState) * shared.worlds);
}
template <class E, class M, Output kOutput, auto F>
void stage(FlatWalk<E, M>& walk, Show<kOutput, F>) {
  using Row = row_of<E, kOutput>;
  const bool final = walk.work.final;
  if constexpr (AnyImage<Row>) {
    const ImageTarget target = image_target<Row>(walk.work.shared, final);
    if (target.wanted())
      enqueue_squads<flat::TileJob<E, kOutput, F>>(walk, walk.agents() * tiles_of(target.form));
    return;
  } else if (!is_made<kOutput>(final) || !walk.bound(target_of<kOutput>(final))) {
    return;
  }
  if constexpr (AnyImage<Row>)
    return;
  else if constexpr (has_trait(kOutput, kOfAWorld) && !Wide<Row>)
    enqueue_worlds<flat::WorldRowJob<E, kOutput, F>>(walk);
  else if constexpr (!Wide<Row>)
    enqueue_rows<flat::ObserveJob<E, kOutput, F>>(walk, walk.agents());
  else if constexpr (wants_squad<F> && !has_trait(kOutput, kOfAWorld))
    enqueue_squads<flat::FloatRowTogetherJob<E, kOutput, F>>(walk, walk.agents());
  else if constexpr (std::is_same_v<typename Row::Element, float> && !has_trait(kOutput, kOfAWorld))
    enqueue_rows<flat::FloatRowJob<E, kOutput, F>>(walk, walk.agents());
  else if (kFinalOf<kOutput> != kOutput && final)
    enqueue_teams<IntoFinal<Show<kOutput, F>>>(walk);
  else
    enqueue_teams<Show<kOutput, F>>(walk);
}

}  // namespace ge
