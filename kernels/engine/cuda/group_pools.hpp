// Stages of the group that no shipped environment uses: slots of Pools that are taken and freed,
// and pairs of rows.
#pragma once

#include "engine/cuda/group_emission.hpp"

namespace ge {

/// Position of the k-th set bit.
GE_FN int set_bit(uint32_t bits, int k) {
  GE_NO_UNROLL
  for (; k > 0; --k) bits &= bits - 1;
  return lowest_bit(bits);
}

/// The lowest free slots, in order, a word of them at a time. Every lane computes them from the
/// word that it read, so that nothing has to be communicated.
template <bool kFinal, AnyGroup Group, auto Count, auto Make, class T>
GE_FN void stage(Group& group, Spawn<Count, Make, T>, bool on) {
  static_assert(T::kind == Kind::pool, "GE: Spawn fills a Pool");
  constexpr int G = Group::kLanes;
  const auto& cells = group.cells;
  const int wanted = on ? int(ask<Count>(cells)) : 0;
  int made = 0;
  GE_NO_UNROLL
  for (int word = 0; word < kLiveWords<T>; ++word) {
    if (G == 1 ? made >= wanted : !group.any(made < wanted)) break;
    const int slots = T::capacity - word * 32;
    const uint32_t live = on ? *cells.template header<T>(word) : ~0u;
    const uint32_t free = ~live & (slots < 32 ? bits_below(slots) : ~0u);
    const int missing = wanted - made, found = count_bits(free);
    const int now = missing < found ? (missing < 0 ? 0 : missing) : found;
    group.settle();  // all have read the word that lane 0 is about to write
    // The lowest `now` bits of `free`, one by one.
    uint32_t taken = 0, rest = free;
    GE_NO_UNROLL
    for (int k = 0; k < now; ++k) {
      taken |= rest & (0u - rest);
      rest &= rest - 1;
    }
    if (group.leads(on) && now > 0) set_header<T>(group, word, live | taken);
    for (int k = group.lane; k < now; k += G)
      make_row<Make, T>(cells, word * 32 + set_bit(free, k), made + k);
    made += now;
  }
  if (group.leads(on)) count_overflow<T>(cells, T::capacity + wanted - made, T::capacity);
}

// ---- slots become free

template <class T, AnyGroup Group>
GE_FN void free_slot(const Group& group, int row) {
  uint32_t* const generation = group.cells.template generation<T>(row);
  GE_WATCH(generation, 4, true);
  *generation = *generation + 1;
  zero_row<T>(group.cells, row, typename T::components{});
}
/// Rows that Destroy has found, a bit each, behind the tables of the world's scratch memory.
template <AnyGroup Group>
GE_FN uint32_t* dead_word(const Group& group, int word) {
  using Plan = typename Group::Plan;
  const auto& cells = group.cells;
  const int64_t at = Plan::bitmap(cells.shared->params) + 4 * word;
  return reinterpret_cast<uint32_t*>(cells.scratch + at * Plan::stride) + cells.scratch_lane;
}
template <AnyGroup Group>
GE_FN uint32_t dead_bits(const Group& group, int word) {
  GE_WATCH(dead_word(group, word), 4, false);
  return *dead_word(group, word);
}
/// All rows are judged before any dies: a test may look at others.
template <bool kFinal, AnyGroup Group, auto Test, class T>
GE_FN void stage(Group& group, Destroy<Test, T>, bool on) {
  static_assert(T::kind == Kind::pool, "GE: Destroy empties slots of a Pool");
  constexpr int G = Group::kLanes;
  const auto& cells = group.cells;
  const int lane = group.lane;
  GE_NO_UNROLL
  for (int word = 0; word < kLiveWords<T>; ++word) {
    uint32_t dead = 0;
    for (int part = 0; part < 32; part += G) {
      const int row = word * 32 + part + lane;
      const bool hit = on && lane < 32 && row < T::capacity && cells.template alive<T>(row) &&
                       value_of_row<Test, T>(cells, row);
      if constexpr (G == 1)
        dead |= hit ? 1u << part : 0u;
      else
        dead |= (G > 32 ? Group::Service::ballot(hit) : group.votes(hit)) << part;
    }
    if (group.leads(on)) {
      GE_WATCH(dead_word(group, word), 4, true);
      *dead_word(group, word) = dead;
    }
  }
  group.settle();
  const int rows = on ? T::capacity : 0;
  GE_NO_UNROLL
  for (int row = lane; row < rows; row += G)
    if (dead_bits(group, row >> 5) >> (row & 31) & 1u) free_slot<T>(group, row);
  for (int word = lane; word * 32 < rows; word += G)
    set_header<T>(group, word, *cells.template header<T>(word) & ~dead_bits(group, word));
}
template <class T, AnyGroup Group>
GE_FN void clear_pool(const Group& group, bool on) {
  constexpr int G = Group::kLanes;
  const int rows = on ? T::capacity : 0;
  GE_NO_UNROLL
  for (int row = group.lane; row < rows; row += G) {
    if constexpr (T::scratch)
      set_header<T>(group, kLiveWords<T> + row, 0);
    else if (group.cells.template alive<T>(row))
      free_slot<T>(group, row);
  }
  group.settle();  // a lane that frees a slot tests whether it was live
  for (int word = group.lane; word * 32 < rows; word += G) set_header<T>(group, word, 0);
}

// ---- pairs

template <bool kFinal, AnyGroup Group, class A, class C, auto Test, auto Make, class T>
GE_FN void stage(Group& group, EmitPairs<A, C, Test, Make, T>, bool on) {
  static_assert(A::kind != Kind::list && C::kind != Kind::list,
                "GE: EmitPairs walks Fixed and Pool tables; over a List use Emit with its count");
  constexpr bool same = std::is_same_v<A, C>;
  const auto& cells = group.cells;
  const int count_a = cells.template rows<A>(), count_c = cells.template rows<C>();
  const auto pair = [=](int i) GE_LAMBDA {
    return same ? pair_at(i, count_a) : Pair{i / count_c, i % count_c};
  };
  emit<T, true>(
      group, on, same ? pair_count(count_a) : count_a * count_c,
      [&](int i) GE_LAMBDA {
        const Pair p = pair(i);
        return cells.template alive<A>(p.a) && cells.template alive<C>(p.b) &&
               bool(Test(World<typename Group::S>(cells), p.a, p.b));
      },
      [&](int row, int i) GE_LAMBDA {
        const Pair p = pair(i);
        make_row<Make, T>(cells, row, p.a, p.b);
      });
}
}  // namespace ge
