// The `cuda/flat` executor: a graph as kernels over all rows of all worlds, one per stage, for worlds
// that are larger than a group of lanes. The same graphs, systems and tables as the group executor,
// and the same bits.
//
//   Each           a thread per row               EachTogether   a warp per row
//   EachWorld      a thread per world             Reduce         a warp per 1,024 rows, then per world
//   SortRows       keys, a radix sort of all worlds' rows, places
//   Observe        a thread or a warp per row     Write          a thread per row, neighbours fused
//   When           a mask of worlds               others         a block per world, as a group
//
// The host walks the graph and enqueues; it reads nothing back, so a step can be captured. What it
// enqueues with is a parameter: a GPU's stream (flat_device.hpp), or loops of a test
// (flat_entry.hpp).
//
//   Machine: Service; rows<Job>(ground), squads<Job>(ground), teams<Job>(ground); zero(at, bytes);
//            sort(memory, count, bits)
#pragma once

#include "engine/cuda/flat_jobs.hpp"
#include "engine/simulator/simulator.hpp"

namespace ge {

/// What a flat simulator needs to be told of its memory before it runs.
template <class E, class... Graphs>
struct FlatSizes {
  using S = typename E::Schema;
  using Params = typename S::Params;
  using Tables = AllTables<S>;

  static int64_t scratch_bytes(const Params& params) {
    return round_up(
        GroupPlan<E, Phase<"flat", Lanes<kFlatTeam>>, kFlatTeam>::world_scratch_of(params), 64);
  }
  static int64_t chunks(const Params& params) { return chunks_of(params, Tables{}); }
  /// Rows of a world that a stage sorts, at most, and their keys.
  struct Sort {
    int64_t rows = 0, keys = 0;
  };
  static Sort sort(const Params& params) {
    Sort most;
    (look(Graphs{}, params, most), ...);
    return most;
  }

 private:
  template <class X>
  static void look(X, const Params& params, Sort& most) {
    look_inside(typename InnerOf<X>::type{}, params, most);
  }
  template <auto Key, class T, class Order, class Starts>
  static void look(SortRows<Key, T, Order, Starts>, const Params& params, Sort& most) {
    const int64_t rows = rows_of<T>(params), keys = rows_of<Starts>(params) - 1;
    if (rows > most.rows) most.rows = rows;
    if (keys > most.keys) most.keys = keys;
  }
  template <Name kName, class L, class... X>
  static void look(Phase<kName, L, X...>, const Params& params, Sort& most) {
    (look(X{}, params, most), ...);
  }
  template <auto P, class... Inner>
  static void look(Rare<P, Inner...>, const Params& params, Sort& most) {
    (look(Inner{}, params, most), ...);
  }
  template <class... X>
  static void look(Types<X...>, const Params& params, Sort& most) {
    (look(X{}, params, most), ...);
  }
  template <class... X>
  static void look_inside(Types<X...>, const Params& params, Sort& most) {
    (look(X{}, params, most), ...);
  }
};

template <class E, class Machine>
class Flat {
 public:
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  using Agent = typename S::Agent;
  using Ground = FlatGround<S>;
  using Service = typename Machine::Service;

  Flat(Machine& machine, const Shared<S>& shared, const FlatMemory& memory)
      : machine_(machine), ground_{shared, memory, 0, 0, false} {}

  template <class... P>
  void run(Types<P...>) {
    (phase(P{}), ...);
  }

 private:
  template <Name kName, class L, class... X>
  void phase(Phase<kName, L, X...>) {
    if constexpr (has_dynamic<true>(Tables{})) worlds<flat::ClearJob<E, true>>();
    all(Types<X...>{});
  }
  template <auto P, class... Inner>
  void phase(Rare<P, Inner...>) {
    within<P>([&] { (phase(Inner{}), ...); });
  }

  // ---- launching

  template <class Job>
  void rows(int64_t per_world) {
    ground_.count = per_world * ground_.shared.worlds;
    if (ground_.count > 0) machine_.template rows<Job>(ground_);
  }
  template <class Job>
  void squads(int64_t per_world) {
    ground_.count = per_world * ground_.shared.worlds;
    if (ground_.count > 0) machine_.template squads<Job>(ground_);
  }
  template <class Job>
  void worlds() {
    rows<Job>(1);
  }
  template <class X>
  void as_group() {
    ground_.count = ground_.shared.worlds;
    machine_.template teams<flat::TeamJob<E, X, Service>>(ground_);
  }
  template <class T>
  int64_t room() const {
    return room_of<T>(ground_.shared.params);
  }
  int64_t agents() const { return agents_of(ground_.shared); }
  bool bound(Output output) const { return ground_.shared.bound.at[output] != nullptr; }

  // ---- running stages

  void all(Types<>) {}
  template <class X, class... Rest>
  void all(Types<X, Rest...>) {
    stage(X{});
    all(Types<Rest...>{});
  }
  template <int O, auto F, class... Rest>
  void all(Types<Write<O, F>, Rest...>) {
    writes(Types<Write<O, F>>{}, Types<Rest...>{});
  }
  template <class... W, int O, auto F, class... Rest>
  void writes(Types<W...>, Types<Write<O, F>, Rest...>) {
    writes(Types<W..., Write<O, F>>{}, Types<Rest...>{});
  }
  template <class... W, class... Rest>
  void writes(Types<W...>, Types<Rest...> rest) {
    rows<flat::WriteJob<E, W...>>(agents());
    all(rest);
  }

  /// Stages that have no form of their own here.
  template <class X>
  void stage(X) {
    as_group<X>();
  }
  template <auto F>
  void stage(Each<F>) {
    if constexpr (Served<F, Tables>::value)
      for_each_type(matching<Components<F>, Tables>{}, [&](auto t) {
        using T = typename decltype(t)::type;
        rows<flat::RowJob<E, F, T>>(room<T>());
      });
  }
  template <auto F>
  void stage(EachTogether<F>) {
    if constexpr (Served<F, Tables>::value)
      for_each_type(matching<Components<F>, Tables>{}, [&](auto t) {
        using T = typename decltype(t)::type;
        squads<flat::TogetherJob<E, F, T>>(room<T>());
      });
  }
  template <auto F>
  void stage(EachWorld<F>) {
    worlds<flat::WorldJob<E, F>>();
  }
  void stage(ClearTables) {
    if constexpr (has_dynamic<false>(Tables{})) worlds<flat::ClearJob<E, false>>();
  }
  template <auto Key, class T, class Order, class Starts>
  void stage(SortRows<Key, T, Order, Starts>) {
    static_assert(can_sort<T, Order, Starts>());
    const auto& params = ground_.shared.params;
    rows<flat::KeyJob<E, Key, T, Starts>>(rows_of<T>(params));
    const int64_t keys = ground_.shared.worlds * (rows_of<Starts>(params) - 1);
    int bits = 1;
    while (keys > int64_t{1} << bits) ++bits;
    machine_.sort(ground_.memory, ground_.count, bits);
    using Place = flat::PlaceJob<E, T, Order, Starts>;
    rows<Place>(Place::per_world(params));
  }
  template <auto F, class Op, auto Into>
  void stage(Reduce<F, Op, Into>) {
    if constexpr (Served<F, Tables>::value) {
      squads<flat::ChunkJob<E, F, Op, Service>>(
          chunks_of(ground_.shared.params, MatchingTables<F, S>{}));
      worlds<flat::IntoJob<E, F, Op, Into>>();
    }
  }

  // ---- control

  template <auto N, class... X>
  void stage(Repeat<N, X...>) {
    int times;
    if constexpr (is_number<N>)
      times = N;
    else
      times = N(ground_.shared.params);
    for (int i = 0; i < times; ++i) all(Types<X...>{});
  }
  template <auto P, class F>
  void within(F&& f) {
    if (ground_.level == kFlatLevels)
      throw Error(Fault::runtime, "the stages of this graph are nested too deeply");
    worlds<flat::MaskJob<E, P>>();
    ++ground_.level;
    f();
    --ground_.level;
  }
  template <auto P, class... X>
  void stage(When<P, X...>) {
    within<P>([&] { all(Types<X...>{}); });
  }
  template <class... X>
  void stage(WhenRunning<X...>) {
    if (ground_.shared.autoreset == Autoreset::same_step)
      all(Types<X...>{});
    else
      stage(When<&Life<E>::running, X...>{});
  }
  template <int Mode, class... X>
  void stage(InMode<Mode, X...>) {
    if (int(ground_.shared.autoreset) == Mode) all(Types<X...>{});
  }
  template <class... X>
  void stage(IntoFinal<X...>) {
    ground_.final = true;
    all(Types<X...>{});
    ground_.final = false;
  }

  // ---- the caller's arrays

  void stage(TakeActions) {
    with_action_type<typename S::Action>(ground_.shared.action_type, [&](auto type) {
      rows<flat::ActionJob<E, typename decltype(type)::type>>(agents());
    });
  }
  void stage(ClearFinal) {
    if (bound(kFinalObservation))
      machine_.zero(
          ground_.shared.bound.at[kFinalObservation],
          row_bytes<typename E::Observation>(ground_.shared) * agents() * ground_.shared.worlds);
  }
  template <auto F>
  void stage(Observe<F>) {
    using Row = typename E::Observation;
    if (!bound(ground_.final ? kFinalObservation : kObservation)) return;
    if constexpr (!Wide<Row>)
      rows<flat::ObserveJob<E, kObservation, F>>(agents());
    else if constexpr (wants_squad<F>)
      squads<flat::FloatRowTogetherJob<E, Row, F>>(agents());
    else if constexpr (std::is_same_v<typename Row::Element, float>)
      rows<flat::FloatRowJob<E, Row, F>>(agents());
    else if (ground_.final)
      as_group<IntoFinal<Observe<F>>>();
    else
      as_group<Observe<F>>();
  }
  template <auto F>
  void stage(ObserveMask<F>) {
    if (ground_.final || !bound(kActionMask)) return;
    if constexpr (Wide<typename E::ActionMask>)
      as_group<ObserveMask<F>>();
    else
      rows<flat::ObserveJob<E, kActionMask, F>>(agents());
  }
  template <auto F>
  void stage(ObserveState<F>) {
    if (ground_.final || !bound(kState)) return;
    if constexpr (Wide<typename E::State>)
      as_group<ObserveState<F>>();
    else
      worlds<flat::StateJob<E, F>>();
  }

  Machine& machine_;
  Ground ground_;
};

}  // namespace ge
