// Flat: stages that meet the caller's arrays. A thread or a warp makes each row where it belongs;
// rows of bytes and bits of a length that the parameters decide are staged by a team
// (flat_teams.hpp).
#pragma once

#include "engine/cuda/alike_rows.hpp"
#include "engine/cuda/flat_teams.hpp"
#include "engine/graph/row_jobs.hpp"

namespace ge {

namespace flat {

/// Outputs of one number per agent, those that follow one another in one go: a launch takes longer
/// than the numbers.
template <class E, class... W>
struct WriteJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    const FlatPlace at = work.place(i);
    if (!work.on(at.world)) return;
    const auto cells = work.cells(at.world);
    (write(W{}, cells, at.row), ...);
  }

 private:
  template <Output O, auto F, class R, class C>
  static GE_FN void write(Write<O, F, R>, const C& cells, int agent) {
    using S = SchemaOf<E>;
    const auto& params = cells.shared->params;
    const int row = agent - first_agent<S, R>(params);
    if (!has_one_role<S> && (row < 0 || row >= agents_in<R>(params))) return;
    for_each_job<E>(Write<O, F, R>{}, *cells.shared,
                    [&](const auto& job) GE_LAMBDA { job(cells, row); });
  }
};

/// Zeros for the rows of final observations that `ended`, still of the step before, marks.
template <class E, class R>
struct ClearEndedJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    const FlatPlace at = work.place(i);
    if (!has_ended<R>(work.shared, at.world, at.row)) return;
    for_each_final_row<E, R>(work.shared, at.world, at.row, [](char* to, int64_t bytes) GE_LAMBDA {
      clear_run(reinterpret_cast<uint8_t*>(to), bytes, 0, 1);
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

// ---- rows of a role's agents

template <class E, Output kOutput, auto F, class R>
struct FixedRowJob {
  static GE_FN void run(const Work<E>& work, int64_t i) {
    using Row = RowOf<F>;
    const FlatPlace at = work.place(i);
    if (!work.on(at.world)) return;
    const Output output = output_for<E, R, kOutput>(work.shared, work.final);
    const RowsAt rows = rows_at<E, R, kPlacedAs<kOutput>>(work.shared, output);
    char* const to = static_cast<char*>(work.shared.bound.at[output]) + rows.of(at.world, at.row);
    const auto cells = work.cells(at.world);
    if constexpr (sizeof(Row) > kLargestCopied || !has_one_role<SchemaOf<E>>) {
      make_agent_row<F, typename R::Agent, Row>(cells, at.row, work.final, to, rows.tail);
    } else {
      Row row;
      if (observe_into<F, typename R::Agent>(cells, at.row, work.final, row))
        put_row(reinterpret_cast<typename RowShape<Row>::Element*>(to), row);
    }
  }
};
/// A tile of a picture, by a squad.
template <class E, Output kOutput, auto F, class R>
struct TileJob {
  static GE_FN void run(const Work<E>& work, int64_t i, int lane) {
    const ImageTarget target = image_target<E, R>(work.shared, work.final);
    const int tiles = tiles_of(target.form);
    const FlatPlace at = work.place(i);
    if (!work.on(at.world)) return;
    const int row = at.row / tiles;
    const int64_t picture = int64_t{at.world} * agents_in<R>(work.shared.params) + row;
    put_part<F, typename R::Agent>(work.cells(at.world, lane, Squad::kLanes), row, picture, target,
                                   tile_of(target.form, at.row - row * tiles), work.final);
  }
};
/// Makes rows of floats in place, by a lane or by a squad.
template <class E, Output kOutput, auto F, class R>
struct FloatRowJob {
  using Row = role_row<E, R, kOutput>;
  static GE_FN void run(const Work<E>& work, int64_t i, int lane = 0, int lanes = 1) {
    const FlatPlace at = work.place(i);
    if (!work.on(at.world)) return;
    const WideTarget target =
        role_target<E, R, kOutput>(work.shared, target_of<kOutput>(work.final));
    put_together<F, typename R::Agent, Row>(work.cells(at.world, lane, lanes), at.row, target, i,
                                            work.final);
  }
};
template <class E, Output kOutput, auto F, class R>
struct FloatRowTogetherJob {
  static GE_FN void run(const Work<E>& work, int64_t i, int lane) {
    FloatRowJob<E, kOutput, F, R>::run(work, i, lane, Squad::kLanes);
  }
};
/// A tile of rows of floats that are alike, by a squad.
template <class E, Output kOutput, auto F, class R>
struct AlikeRowsJob {
  using Row = role_row<E, R, kOutput>;
  static GE_FN void run(const Work<E>& work, int64_t i, int lane) {
    const WideTarget target =
        role_target<E, R, kOutput>(work.shared, target_of<kOutput>(work.final));
    const int rows = agents_in<R>(work.shared.params);
    const FlatPlace at = work.place(i);
    if (!work.on(at.world)) return;
    put_tile<F, typename R::Agent, Row>(work.cells(at.world, lane, Squad::kLanes), at.row, rows,
                                        target, row_index<R>(work.shared, at.world, 0), work.final);
  }
};

/// How the rows of a Show are made: tiles of pictures and squads' rows by squads, rows of fixed
/// length and of floats by threads, other wide rows by teams.
enum class RowMaker { tiles, squads, threads, worlds, teams };
template <class Row, Output kOutput, auto F>
consteval RowMaker maker_of() {
  if constexpr (AnyImage<Row>) return RowMaker::tiles;
  if constexpr (has_trait(kOutput, kOfAWorld))
    return Wide<Row> ? RowMaker::teams : RowMaker::worlds;
  if constexpr (!Wide<Row>) return RowMaker::threads;
  if constexpr (wants_squad<F>) return RowMaker::squads;
  if constexpr (Wide<Row>)
    if constexpr (std::is_same_v<typename Row::Element, float>) return RowMaker::threads;
  return RowMaker::teams;
}

}  // namespace flat

template <class E, class M>
void stage(FlatWalk<E, M>& walk, ClearFinal) {
  const auto& shared = walk.work.shared;
  const FinalRows wanted = shared.bound.rows_of_final();
  const flat::OnHost zero{[&](Output output, int64_t first, int64_t bytes) {
    walk.machine.zero(static_cast<char*>(shared.bound.at[output]) + first, bytes * shared.worlds);
  }};
  if (wanted == FinalRows::zero) for_each_final_run<E>(shared, zero);
  if (wanted == FinalRows::clear_ended)
    for_each_type(roles_of<typename E::Schema>{}, [&](auto role) {
      using R = typename decltype(role)::type;
      enqueue_rows<flat::ClearEndedJob<E, R>>(walk, walk.template agents<R>());
    });
  if constexpr (has_rows<E, kFinalState>)
    if (shared.bound.clears_final_states())
      walk.machine.zero(shared.bound.at[kFinalState],
                        row_bytes<typename E::State>(shared, kFinalState) * shared.worlds);
}
/// Rows that squads make in the caller's array.
template <Output kOutput, auto F, class R, class Row, class E, class M>
void squads_out(FlatWalk<E, M>& walk) {
  const int64_t rows = walk.template agents<R>();
  if constexpr (may_be_alike<Row>) {
    const auto& params = walk.work.shared.params;
    if (are_tiled<Row>(params, int(rows)))
      return enqueue_squads<flat::AlikeRowsJob<E, kOutput, F, R>>(
          walk, AlikeTile::count(int(rows), Row::elements(params)));
  }
  enqueue_squads<flat::FloatRowTogetherJob<E, kOutput, F, R>>(walk, rows);
}
template <class E, class M, Output kOutput, auto F, class R>
void stage(FlatWalk<E, M>& walk, Show<kOutput, F, R>) {
  using Row = shown_row<E, kOutput, R>;
  using flat::RowMaker;
  constexpr RowMaker maker = flat::maker_of<Row, kOutput, F>();
  const bool final = walk.work.final;
  if constexpr (maker == RowMaker::tiles) {
    const ImageTarget target = image_target<E, R>(walk.work.shared, final);
    if (target.wanted())
      enqueue_squads<flat::TileJob<E, kOutput, F, R>>(
          walk, walk.template agents<R>() * tiles_of(target.form));
  } else if (is_made<kOutput>(final) &&
             walk.bound(output_for<E, R, kOutput>(walk.work.shared, final))) {
    if constexpr (maker == RowMaker::worlds)
      enqueue_worlds<flat::WorldRowJob<E, kOutput, F>>(walk);
    else if constexpr (maker == RowMaker::squads)
      squads_out<kOutput, F, R, Row>(walk);
    else if constexpr (maker == RowMaker::threads && Wide<Row>)
      enqueue_rows<flat::FloatRowJob<E, kOutput, F, R>>(walk, walk.template agents<R>());
    else if constexpr (maker == RowMaker::threads)
      enqueue_rows<flat::FixedRowJob<E, kOutput, F, R>>(walk, walk.template agents<R>());
    else if (kFinalOf<kOutput> != kOutput && final)
      enqueue_teams<IntoFinal<Show<kOutput, F, R>>>(walk);
    else
      enqueue_teams<Show<kOutput, F, R>>(walk);
  }
}

}  // namespace ge
