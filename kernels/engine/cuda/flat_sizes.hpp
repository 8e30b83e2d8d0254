// The memory that a flat simulator needs besides its records: scratch for every world, results of
// chunks, and room for the largest sort of its graphs.
#pragma once

#include "engine/cuda/flat_walk.hpp"

namespace ge {

/// Sizes of a flat simulator's memory.
template <class E, class... Graphs>
struct FlatSizes {
  using S = typename E::Schema;
  using Params = held_of<S>;
  using Tables = AllTables<S>;

  static int64_t scratch_bytes(const Params& params) {
    return round_up(GroupPlan<E, FlatPhase<>, kFlatTeam>::world_scratch_of(params), 64);
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
    look(typename InnerOf<X>::type{}, params, most);
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
};

}  // namespace ge
