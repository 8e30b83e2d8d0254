// Steps of some worlds, by a byte per world: which part of a tile runs, and how the others beside
// it stay as they are.
//
//   block of worlds   none named     is not visited
//                     few            its named worlds run one by one
//                     more           runs whole, vectorised: the words of the others are copied
//                                    before and put back afterwards, in the record and in what was
//                                    cleared for the step
//
// The copies lie in memory of the thread, which the first step of some worlds allocates.
#pragma once

#include <cstring>

#include "engine/cpu/tile_control.hpp"

namespace ge {

/// A word of every world of a block, side by side.
template <class Word, int B>
using Abreast [[gnu::vector_size(B * sizeof(Word))]] = Word;

/// The worlds of a block that a mask leaves out: all bits of their words, or none.
template <int B>
struct LeftOut {
  Abreast<int32_t, B> bits;
  int count = 0;
  explicit LeftOut(const uint8_t* named) {
    Abreast<uint8_t, B> bytes;
    std::memcpy(&bytes, named, B);
    const Abreast<int8_t, B> left = bytes == 0;
    bits = __builtin_convertvector(left, Abreast<int32_t, B>);
    if constexpr (B % 8 == 0) {  // eight ones at a time, added up by one product
      uint64_t ones[B / 8];
      std::memcpy(ones, &left, B);
      for (const uint64_t eight : ones)
        count += int((eight & 0x0101'0101'0101'0101u) * 0x0101'0101'0101'0101u >> 56);
    } else {
      for (int lane = 0; lane < B; ++lane) count -= left[lane];
    }
  }
};

/// Whether a block runs whole: below a quarter, its worlds are faster one by one.
template <int B>
inline bool runs_whole(const LeftOut<B>& left) {
  return (B - left.count) * 4 > B;
}

/// The worlds of `set` that the mask names, in `space`, and those that run beside them.
template <class E>
GE_NOINLINE Set named_part(const Tile<E>& tile, const Set& set, int32_t* space) {
  constexpr int B = Tile<E>::B;
  const uint8_t* const named = tile.shared.step_mask;
  int32_t* const blocks = space;
  int32_t* const loose = space + set.block_count;
  int whole = 0, single = 0;
  for (int i = 0; i < set.block_count; ++i) {
    const int first = set.blocks[i] * B;
    const LeftOut<B> left(named + first);
    if (runs_whole(left)) {
      blocks[whole++] = set.blocks[i];
      continue;
    }
    for (int lane = 0; lane < B && left.count < B; ++lane) {
      loose[single] = first + lane;
      single += 1 + left.bits[lane];
    }
  }
  for (int i = 0; i < set.loose_count; ++i) {
    loose[single] = set.loose[i];
    single += named[set.loose[i]] != 0 ? 1 : 0;
  }
  return {blocks, whole, loose, single};
}

// ---- words of worlds that are left out

/// Keeps `words` words of worlds that step; those of the others become what `before` has, or zeros
/// where it is null. Vectors are spelled out: of loops compilers made branches, or shuffles.
template <class Word, int B>
inline void put_back(char* to, const char* before, int64_t words, const LeftOut<B>& left) {
  using Row = Abreast<Word, B>;
  const auto bits = __builtin_convertvector(left.bits, Abreast<std::make_signed_t<Word>, B>);
  const Row mask = __builtin_bit_cast(Row, bits);
  for (int64_t k = 0; k < words; ++k) {
    Row now, old{};
    std::memcpy(&now, to + k * int64_t(sizeof now), sizeof now);
    if (before != nullptr) std::memcpy(&old, before + k * int64_t(sizeof now), sizeof now);
    now ^= (now ^ old) & mask;
    std::memcpy(to + k * int64_t(sizeof now), &now, sizeof now);
  }
}
/// Puts back every header and column of a block: `visit` of Walk. No step writes an Identity.
template <class S>
struct PutBack {
  static constexpr int B = kBlock<S>;
  char* to;
  const char* from;
  const LeftOut<B>& left;
  const held_of<S>& params;
  template <class T>
  void header(int64_t at) {
    put_back<uint32_t>(to + at * B, from + at * B, header_bytes<T>() / 4, left);
  }
  template <class T, class C>
  void column(int64_t at) {
    if constexpr (!std::is_same_v<C, Identity>)
      put_back<typename WordOf<unit_of<C>>::type>(to + at * B, from + at * B,
                                                  room_of<T>(params) * Words<C>::count, left);
  }
};

/// Whether the clean slate of a step has C.
template <class E, class C>
consteval bool is_cleared() {
  return []<class... Rs>(Types<Rs...>) {
    const auto is_parts = [](auto role) {
      using R = typename decltype(role)::type;
      if constexpr (Life<E>::template has_own_parts<R>)
        return std::is_same_v<C, role_row<E, R, kRewardParts>>;
      else
        return false;
    };
    return std::is_same_v<C, Verdict> || std::is_same_v<C, Reward> || std::is_same_v<C, Ending> ||
           (is_parts(Type_<Rs>{}) || ...);
  }(roles_of<typename E::Schema>{});
}
/// Clears what `clear` of the step has cleared: `visit` of Walk.
template <class E>
struct ClearAgain {
  using S = typename E::Schema;
  static constexpr int B = kBlock<S>;
  char* scratch;  // of the block
  const LeftOut<B>& left;
  const typename S::Params& params;
  template <class T>
  void header(int64_t) {}
  template <class T, class C>
  void column(int64_t at) {
    if constexpr (is_cleared<E, C>())
      put_back<typename WordOf<unit_of<C>>::type>(scratch + at * B, nullptr,
                                                  room_of<T>(params) * Words<C>::count, left);
  }
};

/// Calls f(block, left) for each block of which some worlds are left out, by the first of a crew.
template <class E, class F>
inline void each_mixed_block(const Tile<E>& tile, const Set& set, F&& f) {
  constexpr int B = Tile<E>::B;
  for (int i = 0; i < set.block_count && tile.crew.first(); ++i) {
    const LeftOut<B> left(tile.shared.step_mask + set.blocks[i] * B);
    if (left.count > 0) f(set.blocks[i], left);
  }
  tile.crew.meet();
}
template <class E>
GE_NOINLINE void keep_left(const Tile<E>& tile, const Set& set) {
  const int64_t bytes = tile.block_bytes();
  each_mixed_block(tile, set, [&](int block, const auto&) {
    std::memcpy(tile.kept + (block - tile.first) * bytes, tile.shared.base + block * bytes,
                size_t(bytes));
  });
}
/// The worlds of a block that are left out, in its records and in the clean slate.
template <class E>
GE_NOINLINE void put_back_block(const Tile<E>& tile, int block, const LeftOut<Tile<E>::B>& left) {
  using Tables = typename Tile<E>::Tables;
  const auto& params = tile.shared.params;
  const int64_t bytes = tile.block_bytes(), place = block - tile.first;
  PutBack<typename E::Schema> record{tile.shared.base + block * bytes, tile.kept + place * bytes,
                                     left, params};
  ClearAgain<E> slate{tile.scratch + place * Tile<E>::scratch_block(params), left, params};
  Walk<false, Tables>::run(record);
  Walk<true, Tables>::run(slate);
  if constexpr (has_any<Tables>) {
    Walk<false, Tables>::run_any(record, params, measure<false, Tables>());
    Walk<true, Tables>::run_any(slate, params, measure<true, Tables>());
  }
}

template <class E, class... X>
inline void stage(Tile<E>& tile, WhenStepped<X...>, const Set& set) {
  if (tile.shared.step_mask == nullptr) return run_stages(tile, Types<X...>{}, set);
  int32_t* const mark = tile.free;
  tile.free += index_room(tile, set);
  const Set inner = named_part(tile, set, mark);
  if (!inner.empty()) {
    if constexpr (Tile<E>::B > 1) keep_left(tile, inner);
    run_stages(tile, Types<X...>{}, inner);
    if constexpr (Tile<E>::B > 1)
      each_mixed_block(tile, inner,
                       [&](int block, const auto& left) { put_back_block(tile, block, left); });
  }
  tile.free = mark;
}

}  // namespace ge
