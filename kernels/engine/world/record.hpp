// The record: all persistent state of one world, every column of every table at an offset known at
// compile time.
//
// Worlds are stored in blocks of B, interleaved word by word, a word being the alignment of the
// component:
//
//   address(world, column, row, word) =
//       base + (world / B) * block_bytes
//            + (offset(column) + row * sizeof(C) + word * unit) * B + (world % B) * unit
//
//   B = 1   the plain record: a group of lanes brings it in by one copy; also the canonical order
//           of saves and hashes
//   B = 16  a SIMD loop over worlds on the CPU: word k of 16 worlds is one vector load
//   B = 32  one lane per world on the GPU: word k of a warp's worlds is one 128-byte line
//
// What no step reads of a world's own parameters (varied.hpp) lies aside: in blocks of the same
// form, behind the last block of records, so that a step reads one line after the other.
//
// Scratch memory has the same form with its own offsets. Nothing here knows the meaning of a
// component: copies, saves and hashes move words, described by the table of `Segment`s.
#pragma once

#include <bit>
#include <cstring>

#include "engine/world/table.hpp"

namespace ge {

/// One run of equal words in the canonical record.
struct Segment {
  int64_t offset, bytes;
  int unit;
};

template <class C>
inline constexpr int unit_of = alignof(C) < 8 ? int(alignof(C)) : 8;

template <int Unit>
struct WordOf;
template <>
struct WordOf<1> {
  typedef uint8_t __attribute__((may_alias)) type;
};
template <>
struct WordOf<2> {
  typedef uint16_t __attribute__((may_alias)) type;
};
template <>
struct WordOf<4> {
  typedef uint32_t __attribute__((may_alias)) type;
};
template <>
struct WordOf<8> {
  typedef uint64_t __attribute__((may_alias)) type;
};

/// The words of a component, as they travel between memory and registers.
template <class C>
struct Words {
  using Word = std::conditional_t<
      unit_of<C> == 8, uint64_t,
      std::conditional_t<unit_of<C> == 4, uint32_t,
                         std::conditional_t<unit_of<C> == 2, uint16_t, uint8_t>>>;
  static constexpr int count = sizeof(C) / unit_of<C>;
  Word at[count];
};

/// Loads a component whose words are `stride` words apart.
template <class C>
GE_FN C load_words(const char* from, int stride) {
  using Word = typename WordOf<unit_of<C>>::type;
  Words<C> words;
  GE_UNROLL
  for (int k = 0; k < Words<C>::count; ++k) {
    GE_WATCH(reinterpret_cast<const Word*>(from) + k * stride, sizeof(Word), false);
    words.at[k] = reinterpret_cast<const Word*>(from)[k * stride];
  }
  return __builtin_bit_cast(C, words);
}

template <class C>
GE_FN void store_words(char* to, int stride, const C& value) {
  using Word = typename WordOf<unit_of<C>>::type;
  const auto words = __builtin_bit_cast(Words<C>, value);
  GE_UNROLL
  for (int k = 0; k < Words<C>::count; ++k) {
    GE_WATCH(reinterpret_cast<Word*>(to) + k * stride, sizeof(Word), true);
    reinterpret_cast<Word*>(to)[k * stride] = words.at[k];
  }
}

// ---- offsets

// The header of a table: the words it keeps besides its components.
template <class T>
inline constexpr int kLiveWords = (T::capacity + 31) / 32;
template <class T>
consteval int header_bytes() {
  if constexpr (T::kind == Kind::list) return 4;
  if constexpr (T::kind == Kind::pool) return 4 * kLiveWords<T> + 4 * T::capacity;
  return 0;
}

/// Off in builds of one world per block, which checking/shuffled uses: a lifetime that has ended
/// must leave poison there, not another lifetime's values.
inline constexpr bool kLifetimesShare = kBlockOfBuild != 1;

/// Walks the columns of all tables in order and hands each its offset. kScratch selects the memory.
template <bool kScratch, class Tables>
struct Walk;
template <bool kScratch, class... Ts>
struct Walk<kScratch, Types<Ts...>> {
  // visit.template header<T>(offset), visit.template column<T, C>(offset)
  GE_EITHER_MACHINE
  template <class Visitor>
  GE_FN static constexpr int run(Visitor& visit) {
    int at = 0;
    (table<Ts>(visit, at, typename Ts::components{}), ...);
    at = int(round_up(at, 8));
    if constexpr (!kScratch) return at;
    // Columns of each lifetime begin at the same place.
    int end = at;
    for (int lifetime = 1; lifetime <= kLifetimes; ++lifetime) {
      int here = kLifetimesShare ? at : end;
      (columns<Ts>(visit, here, lifetime, typename Ts::components{}), ...);
      end = here > end ? here : end;
    }
    return int(round_up(end, 8));
  }
  /// Walks the columns of tables of any number of rows, which begin at `at`, each at a multiple of
  /// 8: visit.template header<T>(offset), visit.template column<T, C>(offset). Returns where they
  /// end.
  GE_EITHER_MACHINE
  template <class Visitor, class Params>
  GE_FN static constexpr int64_t run_any(Visitor& visit, const Params& params, int64_t at) {
    (any_table<Ts>(visit, params, at, typename Ts::components{}), ...);
    return at;
  }
  GE_EITHER_MACHINE
  template <class T, class Visitor, class Params, class... Cs>
  GE_FN static constexpr void any_table(Visitor& visit, const Params& params, int64_t& at,
                                        Types<Cs...>) {
    if constexpr (is_any<T>) {
      if constexpr (T::scratch == kScratch && T::kind == Kind::list) {
        visit.template header<T>(at);
        at += 8;
      }
      (any_column<T, Cs>(visit, params, at), ...);
    }
  }
  /// Walks the columns of the tables at the end of a record, which begin at `at`, each at a
  /// multiple of 8. Returns where they end.
  GE_EITHER_MACHINE
  template <class Visitor, class Params>
  GE_FN static constexpr int64_t run_own(Visitor& visit, const Params& params, int64_t at) {
    if constexpr (!kScratch) (own_table<Ts>(visit, params, at, typename Ts::components{}), ...);
    return at;
  }
  GE_EITHER_MACHINE
  template <class T, class Visitor, class Params, class... Cs>
  GE_FN static constexpr void own_table([[maybe_unused]] Visitor& visit,
                                        [[maybe_unused]] const Params& params,
                                        [[maybe_unused]] int64_t& at, Types<Cs...>) {
    if constexpr (is_own<T>) (own_column<T, Cs>(visit, params, at), ...);
  }
  GE_EITHER_MACHINE
  template <class T, class C, class Visitor, class Params>
  GE_FN static constexpr void own_column(Visitor& visit, const Params& params, int64_t& at) {
    visit.template column<T, C>(at);
    at += round_up(rows_of<T>(params) * int64_t(sizeof(C)), 8);
  }
  GE_EITHER_MACHINE
  template <class T, class C, class Visitor, class Params>
  GE_FN static constexpr void any_column(Visitor& visit, const Params& params, int64_t& at) {
    if constexpr (in_scratch<T, C> == kScratch) {
      visit.template column<T, C>(at);
      at += round_up(room_of<T>(params) * int64_t(sizeof(C)), 8);
    }
  }
  GE_EITHER_MACHINE
  template <class T, class Visitor, class... Cs>
  GE_FN static constexpr void table(Visitor& visit, int& at, Types<Cs...>) {
    if constexpr (is_any<T> || is_own<T>) return;
    if (T::scratch == kScratch && header_bytes<T>() > 0) {
      at = int(round_up(at, 4));
      visit.template header<T>(at);
      at += header_bytes<T>();
    }
    columns<T>(visit, at, 0, Types<Cs...>{});
  }
  GE_EITHER_MACHINE
  template <class T, class Visitor, class... Cs>
  GE_FN static constexpr void columns(Visitor& visit, int& at, int lifetime, Types<Cs...>) {
    (column<T, Cs>(visit, at, lifetime), ...);
  }
  GE_EITHER_MACHINE
  template <class T, class C, class Visitor>
  GE_FN static constexpr void column(Visitor& visit, int& at, [[maybe_unused]] int lifetime) {
    if constexpr (!is_any<T> && !is_own<T> && in_scratch<T, C> == kScratch) {
      static_assert(lifetime_of<T, C>() >= 0 && lifetime_of<T, C>() <= kLifetimes,
                    "GE: a lifetime is 0 (always) to 4");
      if (kScratch && lifetime != lifetime_of<T, C>()) return;
      constexpr int unit = unit_of<C> < 4 ? 4 : unit_of<C>;
      at = int(round_up(at, unit));
      visit.template column<T, C>(at);
      at += int(sizeof(C)) * T::capacity;
    }
  }
};

struct Measure {
  template <class T>
  GE_FN constexpr void header(int64_t) {}
  template <class T, class C>
  GE_FN constexpr void column(int64_t) {}
};

template <class WantT, class WantC>
struct Find {
  int64_t found = -1;
  template <class T>
  GE_FN constexpr void header(int64_t at) {
    if constexpr (std::is_same_v<T, WantT> && std::is_void_v<WantC>) found = at;
  }
  template <class T, class C>
  GE_FN constexpr void column(int64_t at) {
    if constexpr (std::is_same_v<T, WantT> && std::is_same_v<C, WantC>) found = at;
  }
};

/// Offset of column (T, C), or of T's header where C is void, in canonical bytes.
template <class Tables, class T, class C>
consteval int find_offset() {
  Find<T, C> find;
  constexpr bool scratch = [] {
    if constexpr (std::is_void_v<C>)
      return T::scratch;
    else
      return in_scratch<T, C>;
  }();
  Walk<scratch, Tables>::run(find);
  return int(find.found);
}
template <class Tables, class T, class C>
inline constexpr int kOffset = find_offset<Tables, T, C>();

template <bool kScratch, class Tables>
consteval int measure() {
  Measure visit;
  return Walk<kScratch, Tables>::run(visit);
}
/// Bytes of one canonical record, and of one world's scratch memory.
template <class Tables>
inline constexpr int kRecordBytes = measure<false, Tables>();
template <class Tables>
inline constexpr int kScratchBytes = measure<true, Tables>();

/// The end of lifetime 0 in scratch memory, and the bytes that a phase needs which names the
/// lifetimes in `mask`, bit by bit.
struct MeasureLifetimes {
  uint32_t mask;
  int64_t end = 0;
  template <class T>
  GE_FN constexpr void header(int64_t at) {
    reach(at + header_bytes<T>());
  }
  template <class T, class C>
  GE_FN constexpr void column(int64_t at) {
    constexpr int lifetime = lifetime_of<T, C>();
    if (lifetime == 0 || (mask >> lifetime & 1u) != 0) reach(at + int64_t(sizeof(C)) * T::capacity);
  }
  GE_FN constexpr void reach(int64_t at) { end = at > end ? at : end; }
};
template <class Tables>
consteval int scratch_of_lifetimes(uint32_t mask) {
  MeasureLifetimes visit{mask};
  Walk<true, Tables>::run(visit);
  return int(round_up(visit.end, 8));
}

/// Where the columns of one lifetime begin and end in scratch memory.
struct MeasureLifetime {
  int lifetime;
  int64_t first = -1, end = 0;
  template <class T>
  GE_FN constexpr void header(int64_t) {}
  template <class T, class C>
  GE_FN constexpr void column(int64_t at) {
    if (lifetime_of<T, C>() != lifetime) return;
    first = first < 0 ? at : first;
    end = at + int64_t(sizeof(C)) * T::capacity;
  }
};
template <class Tables>
consteval MeasureLifetime lifetime_in_scratch(int lifetime) {
  MeasureLifetime visit{lifetime};
  Walk<true, Tables>::run(visit);
  return visit;
}

template <class Tables>
struct HasAny;
template <class... Ts>
struct HasAny<Types<Ts...>> : std::bool_constant<(is_any<Ts> || ...)> {};
/// Whether some table's number of rows is known only at run time; then so are the sizes below.
template <class Tables>
inline constexpr bool has_any = HasAny<Tables>::value;

/// Offset of a column, or of a header where C is void, of a table of any number of rows.
template <class Tables, class T, class C, class Params>
GE_FN constexpr int64_t any_offset(const Params& params) {
  Find<T, C> find;
  if constexpr (std::is_void_v<C>)
    Walk<T::scratch, Tables>::run_any(find, params, measure<T::scratch, Tables>());
  else
    Walk<in_scratch<T, C>, Tables>::run_any(find, params, measure<in_scratch<T, C>, Tables>());
  return find.found;
}
template <bool kScratch, class Tables, class Params>
GE_FN constexpr int64_t memory_bytes(const Params& params) {
  if constexpr (has_any<Tables>) {
    Measure visit;
    return Walk<kScratch, Tables>::run_any(visit, params, measure<kScratch, Tables>());
  } else {
    return measure<kScratch, Tables>();
  }
}
template <class Tables>
struct HasOwn;
template <class... Ts>
struct HasOwn<Types<Ts...>> : std::bool_constant<(is_own<Ts> || ...)> {};
/// Where the tables of parameters that vary begin in a canonical record.
template <class Tables, class Params>
GE_FN constexpr int64_t own_offset(const Params& params) {
  return memory_bytes<false, Tables>(params);
}
/// Where a column of theirs begins behind that; no table but the last has a number of rows that
/// depends on the parameters and columns behind it.
template <class Tables, class T, class C>
consteval int find_own() {
  struct Filled {};
  Find<T, C> find;
  Walk<false, Tables>::run_own(find, Filled{}, 0);
  return int(find.found);
}
template <class Tables, class T, class C>
inline constexpr int kOwnOffset = find_own<Tables, T, C>();

/// Whether columns of own parameters lie apart from the blocks. Not in builds of one world per
/// block: the shuffled executor copies a stored record as if it were a canonical one.
inline constexpr bool kAsideApart = kBlockOfBuild != 1;
/// Whether a column of a world's own parameters lies aside: all but the first, which rules read.
template <class Tables, class T, class C>
inline constexpr bool is_aside = kAsideApart && kOwnOffset<Tables, T, C> > 0;
/// Finds where the second column of own parameters begins: the first one's bytes.
struct FindSecond {
  int64_t found = -1;
  template <class T, class C>
  GE_FN constexpr void column(int64_t at) {
    if (at > 0 && found < 0) found = at;
  }
};
template <class Tables>
consteval int own_head() {
  struct Filled {};
  FindSecond find;
  Walk<false, Tables>::run_own(find, Filled{}, 0);
  return int(find.found);
}
template <class Tables>
inline constexpr int kOwnHead = own_head<Tables>();
/// Bytes of one canonical record, and of one world's scratch memory, with these parameters.
template <class Tables, class Params>
GE_FN constexpr int64_t record_bytes(const Params& params) {
  if constexpr (HasOwn<Tables>::value) {
    Measure visit;
    return Walk<false, Tables>::run_own(visit, params, own_offset<Tables>(params));
  } else {
    return memory_bytes<false, Tables>(params);
  }
}
template <class Tables, class Params>
GE_FN constexpr int64_t scratch_bytes(const Params& params) {
  return memory_bytes<true, Tables>(params);
}
/// How many bytes of a world's record are stored in its block: all of them, but for columns of own
/// parameters that lie aside (is_aside).
template <class Tables, class Params>
GE_FN constexpr int64_t bytes_in_block(const Params& params) {
  const int64_t all = record_bytes<Tables>(params);
  if constexpr (HasOwn<Tables>::value && kAsideApart) {
    const int64_t own = own_offset<Tables>(params);
    return all > own ? own + kOwnHead<Tables> : own;
  } else {
    return all;
  }
}
/// Bytes of one stored block of B worlds: a multiple of 64, so that threads never share a line.
template <class Tables, int B, class Params>
GE_FN constexpr int64_t block_bytes(const Params& params) {
  return round_up(bytes_in_block<Tables>(params) * B, 64);
}
/// Bytes that the components outside of a block (is_aside) take for its B worlds, a multiple of 64.
template <class Tables, int B, class Params>
GE_FN constexpr int64_t aside_bytes(const Params& params) {
  return round_up((record_bytes<Tables>(params) - bytes_in_block<Tables>(params)) * B, 64);
}

/// The form of stored records, for code that knows no types.
struct RecordShape {
  int64_t record_bytes;    // of one world, canonical
  int64_t bytes_in_block;  // of these, the first that lie in a block; the others lie aside
  int64_t block_bytes, aside_bytes;  // of the worlds that are stored together
  int block;                         // number of those worlds

  int64_t blocks_of(int64_t worlds) const { return (worlds + block - 1) / block; }
  /// Where what lies aside begins, and the bytes of all.
  int64_t aside_of(int64_t worlds) const { return blocks_of(worlds) * block_bytes; }
  int64_t all_bytes(int64_t worlds) const {
    return blocks_of(worlds) * (block_bytes + aside_bytes);
  }
};
template <class Tables, int B, class Params>
RecordShape record_shape(const Params& params) {
  return {record_bytes<Tables>(params), bytes_in_block<Tables>(params),
          block_bytes<Tables, B>(params), aside_bytes<Tables, B>(params), B};
}
/// Where stored records lie.
struct RecordPlace {
  RecordShape shape;
  char *base, *aside;

  /// The word whose first byte is byte `at` of a world's canonical record.
  GE_FN char* word(int64_t world, int64_t at, int unit) const {
    const int64_t number = world / shape.block, lane = world % shape.block;
    char* const block =
        at < shape.bytes_in_block
            ? base + number * shape.block_bytes + at * shape.block
            : aside + number * shape.aside_bytes + (at - shape.bytes_in_block) * shape.block;
    return block + lane * unit;
  }
};

}  // namespace ge
