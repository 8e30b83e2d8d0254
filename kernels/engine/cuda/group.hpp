// The `cuda/group` executor: G lanes own a world and run a phase's stages back to back, with a barrier of the group between
// two stages. G is 1, 2, 4, 8, 16, 32, or a block of 64 to 256 threads.
//
//   lane (of its group)   rows lane, lane + G, ... of a table; lane 0 also what is done once per world
//   team                  the lanes that meet: a warp (32 / G worlds), or the block where a block owns a world
//   on                    whether the group's world takes part; a group that does not is masked and stays in step
//
// Control flow is uniform over a team: loops run to the longest trip of its groups, a branch is entered when any group wants
// it, and threads of worlds beyond the last do not leave early. So every collective names all 32 lanes (a mask known only
// at run time costs a search for its members: 7 % more instructions and four kinds of them that nobody wants in a step).
// The one exception needs no collective: with G = 1 a branch without a rendezvous inside is a plain branch.
//
// A predicate or count is evaluated by every lane, from the same data, before the first write of its stage: a vote, or a
// barrier (`settle`) where there is none, lies between. A vote orders no memory, but who has voted has read.
//
// What the lanes are is a parameter: those of a GPU (lanes_device.hpp), or fibres of a test (lanes_emulated.hpp).
#pragma once

#include "engine/cuda/launches.hpp"
#include "engine/cuda/rows.hpp"
#include "engine/episode.hpp"

namespace ge {

// ---- what a stage contains, and what it needs of its team

/// The stages inside a stage.
template <class X>
struct InnerOf {
  using type = Types<>;
};
template <auto N, class... X>
struct InnerOf<Repeat<N, X...>> {
  using type = Types<X...>;
};
template <auto P, class... X>
struct InnerOf<RepeatWhile<P, X...>> {
  using type = Types<X...>;
};
template <auto P, class... X>
struct InnerOf<When<P, X...>> {
  using type = Types<X...>;
};
template <class... X>
struct InnerOf<WhenRunning<X...>> {
  using type = Types<X...>;
};
template <int Mode, class... X>
struct InnerOf<InMode<Mode, X...>> {
  using type = Types<X...>;
};
template <class... X>
struct InnerOf<IntoFinal<X...>> {
  using type = Types<X...>;
};

/// Bytes of shared memory for the rows that a stage hands out, and whether its team meets in it even with G = 1.
template <class E, int G, class X>
struct StageNeeds {
  template <class... Inner>
  static consteval int most(Types<Inner...>) {
    int bytes = 0;
    ((bytes = StageNeeds<E, G, Inner>::bytes > bytes ? StageNeeds<E, G, Inner>::bytes : bytes), ...);
    return bytes;
  }
  template <class... Inner>
  static consteval bool any(Types<Inner...>) {
    return (StageNeeds<E, G, Inner>::meets || ...);
  }
  static constexpr int bytes = most(typename InnerOf<X>::type{});
  static constexpr bool meets = any(typename InnerOf<X>::type{});
};
template <class Plan>
struct RowNeeds {
  static constexpr int bytes = Plan::shared;
  static constexpr bool meets = Plan::staging;
};
template <class E, int G, auto F>
struct StageNeeds<E, G, Observe<F>> : RowNeeds<RowsPlan<RowOf<F>, E::Schema::Agent::capacity, G>> {};
template <class E, int G, auto F>
struct StageNeeds<E, G, ObserveMask<F>> : RowNeeds<RowsPlan<RowOf<F>, E::Schema::Agent::capacity, G>> {};
template <class E, int G, auto F>
struct StageNeeds<E, G, ObserveState<F>> : RowNeeds<RowsPlan<RowOf<F>, 1, G>> {};
template <class E, int G>
struct StageNeeds<E, G, ClearFinal> {
  static constexpr int bytes = 0;
  static constexpr bool meets = !RowsPlan<typename E::Observation, E::Schema::Agent::capacity, G>::direct;
};

template <class X>
inline constexpr bool is_write_stage = false;
template <int O, auto F>
inline constexpr bool is_write_stage<Write<O, F>> = true;

// ---- scratch memory

template <class... Ts>
consteval int largest_pool_words(Types<Ts...>) {
  int words = 0;
  ((words = Ts::kind == Kind::pool && kLiveWords<Ts> > words ? kLiveWords<Ts> : words), ...);
  return words;
}
/// Whether a world's scratch is a handful of numbers at fixed places, which a lane that owns the world keeps in registers.
template <class... Ts>
consteval bool scratch_is_flat(Types<Ts...>) {
  bool flat = true;
  auto look = [&]<class T, class... Cs>(Type_<T>, Types<Cs...>) {
    const bool any = T::scratch || (in_scratch<T, Cs> || ...);
    flat = flat && T::kind != Kind::pool && !(any && (T::capacity > 1 || T::kind != Kind::fixed));
  };
  (look(Type_<Ts>{}, typename Ts::components{}), ...);
  return flat;
}

/// Whether a world's record is a handful of numbers at fixed places too.
template <class... Ts>
consteval bool record_is_flat(Types<Ts...>) {
  return ((Ts::scratch || (Ts::kind == Kind::fixed && Ts::capacity == 1)) && ...);
}

/// Copies every column of a world's record from the one place to the other: `visit` of Walk.
template <class S>
struct CopyRecord {
  const Cells<S>&from, &to;
  template <class T>
  GE_FN void header(int) {}
  template <class T, class C>
  GE_FN void column(int) {
    to.template store<T, C>(0, from.template load<T, C>(0));
  }
};
/// Stores the words of a record that have changed.
template <class S>
struct StoreChanges {
  const Cells<S>&before, &now, &to;
  template <class T>
  GE_FN void header(int) {}
  template <class T, class C>
  GE_FN void column(int) {
    using Word = typename WordOf<unit_of<C>>::type;
    const auto old = __builtin_bit_cast(Words<C>, before.template load<T, C>(0));
    const auto own = __builtin_bit_cast(Words<C>, now.template load<T, C>(0));
    Word* const words = reinterpret_cast<Word*>(to.template at<T, C>(0));
    GE_UNROLL
    for (int k = 0; k < Words<C>::count; ++k) {
      if (old.at[k] == own.at[k]) continue;
      GE_WATCH(words + k * Cells<S>::B, sizeof(Word), true);
      words[k * Cells<S>::B] = own.at[k];
    }
  }
};

/// Sizes of one phase with G lanes per world.
template <class E, class PhaseT, int G>
struct GroupPlan;
template <class E, Name kName, class L, class... X, int G>
struct GroupPlan<E, Phase<kName, L, X...>, G> {
  static_assert((G & (G - 1)) == 0 && G >= 1 && G <= 256, "GE: lanes per world are 1, 2, 4, ... 256");
  using Tables = AllTables<typename E::Schema>;
  static constexpr int team = G < 32 ? 32 : G;
  static constexpr int worlds = team / G;
  // The bitmap of the rows that Destroy has found lies behind the tables.
  static constexpr int bitmap = kScratchBytes<Tables>;
  static constexpr int world_scratch = int(round_up(bitmap + 4 * largest_pool_words(Tables{}), 16));
  static constexpr bool registers = G == 1 && scratch_is_flat(Tables{}) && world_scratch <= 256;
  // A lane that owns a world brings a small record into registers, all loads at once, and stores what has changed: stage by
  // stage, each load would wait for a branch or for stores to the caller's arrays, which might be the record for all that
  // the compiler knows.
  static constexpr bool whole_record = G == 1 && record_is_flat(Tables{}) && kRecordBytes<Tables> <= 128;
  static constexpr int stride = G == 1 && !registers ? 32 : 1;  // worlds interleaved in scratch memory
  static constexpr int scratch = registers ? 0 : worlds * world_scratch;                      // bytes of a team
  static constexpr int stage = StageNeeds<E, G, Stages<X...>>::most(Types<X...>{});           // bytes of a team
  static constexpr bool meets = StageNeeds<E, G, Stages<X...>>::any(Types<X...>{});
  static constexpr int counts = G > 32 ? 64 : 0;  // bytes of a block: hits of its warps, twice
};

/// A group's place among the threads of its block.
struct GroupPlace {
  int lane;        // in the group
  int group;       // in the team
  int team_lane;
  int team_first;  // world of the team's first group, where worlds follow one another; else kNoList
  char* stage;     // of the team
  int32_t* counts;  // of the block
};

template <class E, class PhaseT, int G, class Service>
class Group {
 public:
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  using Agent = typename S::Agent;
  using Plan = GroupPlan<E, PhaseT, G>;

  GE_FN Group(const Cells<S>& cells, const GroupPlace& place) : cells_(cells), place_(place), lane_(place.lane) {}

  template <Name kName, class L, class... X>
  GE_FN void run(Phase<kName, L, X...>, bool on) {
    if constexpr (has_dynamic<true>(Tables{})) {
      Service::template enter<PhaseT>();
      clear<true>(on, Tables{});
      settle();
    }
    if constexpr (G == 1 && !Plan::meets) {
      if (on) all<false, X...>(true);
    } else {
      all<false, X...>(on);
    }
  }

  /// Appends the group's world to a list if it has P: one atomic per warp.
  template <auto P>
  GE_FN void append(bool on, int32_t* count, int32_t* worlds) {
    Service::template enter<Rare<P>>();
    const bool wanted = on && lane_ == 0 && bool(ask<P>(cells_));
    const uint32_t votes = Service::ballot(wanted);
    if (votes == 0) return;
    const int warp_lane = place_.team_lane & 31, first = lowest_bit(votes);
    int32_t at = warp_lane == first ? Service::add(count, count_bits(votes)) : 0;
    at = Service::shuffle(at, first);
    if (wanted) worlds[at + count_bits(votes & below(warp_lane))] = cells_.world;
  }

 private:
  // ---- running stages

  template <bool kFinal, class... X>
  GE_FN void all(bool on) {
    run_list<kFinal>(on, Types<X...>{});
  }
  template <bool kFinal>
  GE_FN void run_list(bool, Types<>) {}
  template <bool kFinal, class X, class... Rest>
  GE_FN void run_list(bool on, Types<X, Rest...>) {
    Service::template enter<X>();
    stage<kFinal>(X{}, on);
    // Stages that contain stages end with the barrier of the last of them, staged rows with one of their team; stages
    // that only write to the caller's arrays may follow one another.
    constexpr bool inside = InnerOf<X>::type::size > 0, staged = StageNeeds<E, G, X>::bytes > 0;
    constexpr bool writes = is_write_stage<X> && first_writes(Types<Rest...>{});
    if constexpr (G > 1 && !inside && !staged && !writes) Service::template sync_after<X, (G > 32)>();
    run_list<kFinal>(on, Types<Rest...>{});
  }
  static consteval bool first_writes(Types<>) { return false; }
  template <class X, class... Rest>
  static consteval bool first_writes(Types<X, Rest...>) {
    return is_write_stage<X>;
  }

  /// The barrier inside a stage.
  GE_FN void settle() const {
    if constexpr (G > 1) sync_team();
  }
  GE_FN void sync_team() const {
    if constexpr (G > 32)
      Service::sync_block();
    else
      Service::sync_warp();
  }
  /// Whether any group of the team says yes; a rendezvous. A block has one world, so all its lanes say the same.
  GE_FN bool any(bool mine) const {
    if constexpr (G > 32) {
      Service::sync_block();
      return mine;
    } else {
      return Service::any(mine);
    }
  }
  static GE_FN uint32_t below(int bit) { return (1u << bit) - 1u; }
  GE_FN bool leads(bool on) const { return on && lane_ == 0; }
  /// The votes of the lanes of this group, lowest lane first; G <= 32.
  GE_FN uint32_t group_votes(bool mine) const {
    const uint32_t votes = Service::ballot(mine);
    if constexpr (G < 32)
      return (votes >> (place_.group * G)) & below(G);
    else
      return votes;
  }

  // ---- stages over rows

  /// f(row) on this lane's rows of a table of `rows` rows. A table of one has its row's number known at compile time.
  template <int kCapacity, class F>
  GE_FN void my_rows(bool on, int rows, const F& f) const {
    if constexpr (kCapacity == 1) {
      if (leads(on) && rows > 0) f(0);
    } else {
      const int count = on ? rows : 0;
      GE_UNROLL_ROWS
      for (int row = lane_; row < count; row += G) f(row);
    }
  }

  template <bool kFinal, auto F>
  GE_FN void stage(Each<F>, bool on) {
    if constexpr (Served<F, Tables>::value)
      for_each_type(matching<Components<F>, Tables>{}, [&](auto t) {
        using T = typename decltype(t)::type;
        my_rows<T::capacity>(on, on ? cells_.template rows<T>() : 0, [&](int row) {
          if (cells_.template alive<T>(row)) call_row<F, T>(cells_, row);
        });
      });
  }
  template <bool kFinal, auto F>
  GE_FN void stage(EachWorld<F>, bool on) {
    if (leads(on)) call_world<F>(cells_);
  }
  template <bool kFinal, auto Count, auto F, class T>
  GE_FN void stage(For<Count, F, T>, bool on) {
    static_assert(T::kind == Kind::list, "GE: For fills a List");
    const int wanted = on ? int(ask<Count>(cells_)) : 0;
    const int count = wanted < T::capacity ? wanted : T::capacity;
    if constexpr (is_number<Count>)
      static_assert(Count <= T::capacity, "GE: For has more rows than its table");
    else
      settle();
    my_rows<T::capacity>(on, count, [&](int row) { make_row<F, T>(cells_, row, row); });
    if (leads(on)) {
      set_header<T>(0, uint32_t(count < 0 ? 0 : count));
      count_overflow<T>(cells_, wanted, T::capacity);
    }
  }

  // ---- emission: each round tests G indices; a hit's row is the number of hits before it

  template <bool kFinal, auto Count, auto Test, auto Make, class T>
  GE_FN void stage(Emit<Count, Test, Make, T>, bool on) {
    const auto test = [&](int i) { return bool(Test(World<S>(cells_), i)); };
    const auto make = [&](int row, int i) { make_row<Make, T>(cells_, row, i); };
    if constexpr (is_number<Count>) {
      emit<T, true>(on, Count, test, make);
    } else {
      const int count = on ? int(ask<Count>(cells_)) : 0;
      settle();
      emit<T, false>(on, count, test, make);
    }
  }
  template <bool kFinal, class A, class C, auto Test, auto Make, class T>
  GE_FN void stage(EmitPairs<A, C, Test, Make, T>, bool on) {
    static_assert(A::kind != Kind::list && C::kind != Kind::list,
                  "GE: EmitPairs walks Fixed and Pool tables; over a List use Emit with its count");
    constexpr bool same = std::is_same_v<A, C>;
    const int count_a = cells_.template rows<A>(), count_c = cells_.template rows<C>();
    const auto pair = [=](int i) { return same ? pair_at(i, count_a) : Pair{i / count_c, i % count_c}; };
    emit<T, true>(
        on, same ? pair_count(count_a) : count_a * count_c,
        [&](int i) {
          const Pair p = pair(i);
          return cells_.template alive<A>(p.a) && cells_.template alive<C>(p.b) &&
                 bool(Test(World<S>(cells_), p.a, p.b));
        },
        [&](int row, int i) {
          const Pair p = pair(i);
          make_row<Make, T>(cells_, row, p.a, p.b);
        });
  }
  /// kSame: the count is that of every world.
  template <class T, bool kSame, class Test, class Make>
  GE_FN void emit(bool on, int count, const Test& test, const Make& make) {
    static_assert(T::kind == Kind::list, "GE: Emit appends to a List");
    int hits = 0;
    if constexpr (G == 1) {
      GE_UNROLL_ROWS
      for (int i = 0; on && i < count; ++i) {
        if (!test(i)) continue;
        if (hits < T::capacity) make(hits, i);
        ++hits;
      }
    } else {
      GE_NO_UNROLL
      for (int first = 0; kSame || G > 32 ? first < count : any(first < count); first += G) {
        const int i = first + lane_;
        const bool hit = on && i < count && test(i);
        const Rank rank = rank_of(hit);
        const int row = hits + rank.before;
        if (hit && row < T::capacity) make(row, i);
        hits += rank.all;
      }
    }
    if (leads(on)) {
      set_header<T>(0, uint32_t(hits < T::capacity ? hits : T::capacity));
      count_overflow<T>(cells_, hits, T::capacity);
    }
  }
  struct Rank {
    int before, all;
  };
  GE_FN Rank rank_of(bool hit) {
    if constexpr (G <= 32) {
      const uint32_t votes = group_votes(hit);
      return {count_bits(votes & below(lane_)), count_bits(votes)};
    } else {
      // Two sets of counts in turn: a warp may still read one round's while another begins the next.
      const uint32_t votes = Service::ballot(hit);
      int32_t* const counts = place_.counts + turn_ * 8;
      turn_ ^= 1;
      const int warp = lane_ >> 5;
      if ((lane_ & 31) == 0) {
        GE_WATCH(counts + warp, 4, true);
        counts[warp] = count_bits(votes);
      }
      Service::sync_block();
      Rank rank{count_bits(votes & below(lane_ & 31)), 0};
      GE_UNROLL
      for (int k = 0; k < G / 32; ++k) {
        GE_WATCH(counts + k, 4, false);
        const int n = counts[k];
        rank.before += k < warp ? n : 0;
        rank.all += n;
      }
      return rank;
    }
  }

  // ---- tables that come and go

  template <class T>
  GE_FN void set_header(int word, uint32_t value) const {
    uint32_t* const at = cells_.template header<T>(word);
    GE_WATCH(at, 4, true);
    *at = value;
  }
  template <class T>
  GE_FN void free_slot(int row) const {
    uint32_t* const generation = cells_.template generation<T>(row);
    GE_WATCH(generation, 4, true);
    *generation = *generation + 1;
    zero_row<T>(cells_, row, typename T::components{});
  }

  template <bool kFinal, auto Count, auto Make, class T>
  GE_FN void stage(Spawn<Count, Make, T>, bool on) {
    static_assert(T::kind == Kind::pool, "GE: Spawn fills a Pool");
    const int wanted = on ? int(ask<Count>(cells_)) : 0;
    int made = 0;
    GE_NO_UNROLL
    for (int word = 0; word < kLiveWords<T>; ++word) {
      if (G == 1 ? made >= wanted : !any(made < wanted)) break;
      const int slots = T::capacity - word * 32;
      const uint32_t live = on ? *cells_.template header<T>(word) : ~0u;
      const uint32_t free = ~live & (slots < 32 ? below(slots) : ~0u);
      const int missing = wanted - made, found = count_bits(free);
      const int now = missing < found ? (missing < 0 ? 0 : missing) : found;
      settle();  // all have read the word that lane 0 is about to write
      uint32_t taken = 0, rest = free;
      GE_NO_UNROLL
      for (int k = 0; k < now; ++k) {
        taken |= rest & (0u - rest);
        rest &= rest - 1;
      }
      if (leads(on) && now > 0) set_header<T>(word, live | taken);
      for (int k = lane_; k < now; k += G) make_row<Make, T>(cells_, word * 32 + set_bit(free, k), made + k);
      made += now;
    }
    if (leads(on)) count_overflow<T>(cells_, T::capacity + wanted - made, T::capacity);
  }
  /// Position of the k-th set bit.
  static GE_FN int set_bit(uint32_t bits, int k) {
    GE_NO_UNROLL
    for (; k > 0; --k) bits &= bits - 1;
    return lowest_bit(bits);
  }

  template <bool kFinal, auto Test, class T>
  GE_FN void stage(Destroy<Test, T>, bool on) {
    static_assert(T::kind == Kind::pool, "GE: Destroy empties slots of a Pool");
    GE_NO_UNROLL
    for (int word = 0; word < kLiveWords<T>; ++word) {
      uint32_t dead = 0;
      for (int part = 0; part < 32; part += G) {
        const int row = word * 32 + part + lane_;
        const bool hit = on && lane_ < 32 && row < T::capacity && cells_.template alive<T>(row) &&
                         value_of_row<Test, T>(cells_, row);
        if constexpr (G == 1)
          dead |= hit ? 1u << part : 0u;
        else
          dead |= (G > 32 ? Service::ballot(hit) : group_votes(hit)) << part;
      }
      if (leads(on)) {
        GE_WATCH(bitmap(word), 4, true);
        *bitmap(word) = dead;
      }
    }
    settle();
    const int rows = on ? T::capacity : 0;
    GE_NO_UNROLL
    for (int row = lane_; row < rows; row += G)
      if (dead_bits(row >> 5) >> (row & 31) & 1u) free_slot<T>(row);
    for (int word = lane_; word * 32 < rows; word += G)
      set_header<T>(word, *cells_.template header<T>(word) & ~dead_bits(word));
  }
  GE_FN uint32_t* bitmap(int word) const {
    return reinterpret_cast<uint32_t*>(cells_.scratch + (Plan::bitmap + 4 * word) * Plan::stride) + cells_.scratch_lane;
  }
  GE_FN uint32_t dead_bits(int word) const {
    GE_WATCH(bitmap(word), 4, false);
    return *bitmap(word);
  }

  template <bool kFinal>
  GE_FN void stage(ClearTables, bool on) {
    clear<false>(on, Tables{});
  }
  template <bool kScratch, class... Ts>
  GE_FN void clear(bool on, Types<Ts...>) {
    (clear_one<kScratch, Ts>(on), ...);
  }
  template <bool kScratch, class T>
  GE_FN void clear_one(bool on) {
    if constexpr (T::scratch == kScratch && T::kind == Kind::list) {
      if (leads(on)) set_header<T>(0, 0);
    } else if constexpr (T::scratch == kScratch && T::kind == Kind::pool) {
      const int rows = on ? T::capacity : 0;
      GE_NO_UNROLL
      for (int row = lane_; row < rows; row += G) {
        if constexpr (kScratch)
          set_header<T>(kLiveWords<T> + row, 0);
        else if (cells_.template alive<T>(row))
          free_slot<T>(row);
      }
      settle();
      for (int word = lane_; word * 32 < rows; word += G) set_header<T>(word, 0);
    }
  }

  // ---- reductions

  template <bool kFinal, auto F, class Op, auto Into>
  GE_FN void stage(Reduce<F, Op, Into>, bool on) {
    if constexpr (Served<F, Tables>::value) {
      const auto total = reduce<F, Op>(on, matching<Components<F>, Tables>{});
      if (leads(on)) call_into<Into>(cells_, total);
    }
  }
  /// All chunks of all tables, in the order of reduce_world (call.hpp); lane 0 has the result.
  template <auto F, class Op, class... Ts>
  GE_FN auto reduce(bool on, Types<Ts...> tables) {
    using R = decltype(Op::identity());
    constexpr int chunks = chunk_capacity(Types<Ts...>{});
    if constexpr (chunks == 1) {
      return reduce_chunk<F, Op, typename Tail<Types<Ts...>>::first>(on, 0);
    } else {
      constexpr int W = reduce_width(chunks);
      return fold<W, Op>([&](int k) {
        R sum = Op::identity();
        GE_NO_UNROLL
        for (int chunk = k; chunk < chunks; chunk += W) {
          R part = Op::identity();
          int first = 0;  // chunk of the table at hand
          for_each_type(tables, [&](auto t) {
            using T = typename decltype(t)::type;
            constexpr int own = (T::capacity + kReduceChunk - 1) / kReduceChunk;
            if (chunk >= first && chunk < first + own) part = reduce_chunk<F, Op, T>(on, (chunk - first) * kReduceChunk);
            first += own;
          });
          sum = Op::combine(sum, part);
        }
        return sum;
      });
    }
  }
  /// Accumulators lane, lane + G, ... of one chunk; the upper halvings stay within a lane, the lower are shuffles.
  template <auto F, class Op, class T>
  GE_FN auto reduce_chunk(bool on, int first) {
    using R = decltype(Op::identity());
    constexpr int W = reduce_width(T::capacity);
    const int rows = on ? cells_.template rows<T>() : 0;
    const int last = first + kReduceChunk < rows ? first + kReduceChunk : rows;
    R mine = fold<(W > G ? W / G : 1), Op>([&](int part) {
      R sum = Op::identity();
      const int k = lane_ + part * G;
      if constexpr (T::capacity == 1) {
        if (k == 0 && last > 0 && cells_.template alive<T>(0)) sum = Op::combine(sum, R(value_of_row<F, T>(cells_, 0)));
      } else {
        GE_UNROLL_ROWS
        for (int row = k < W ? first + k : last; row < last; row += W)
          if (cells_.template alive<T>(row)) sum = Op::combine(sum, R(value_of_row<F, T>(cells_, row)));
      }
      return sum;
    });
    GE_UNROLL
    for (int half = (W < G ? W : G) / 2; half > 0; half /= 2)
      mine = Op::combine(mine, Service::shuffle_down(mine, half));
    return mine;
  }
  /// What remains of W accumulators when k is combined with k + W/2, then k + W/4, ... They are asked for in bit-reversed
  /// order and carried like the digits of a binary counter: an array of them would lie in local memory.
  template <int W, class Op, class Leaf>
  GE_FN auto fold(const Leaf& leaf) {
    using R = decltype(Op::identity());
    if constexpr (W == 1) {
      return leaf(0);
    } else {
      constexpr int levels = W == 2 ? 1 : W == 4 ? 2 : W == 8 ? 3 : W == 16 ? 4 : 5;
      static_assert(1 << levels == W);
      R held[levels], carry = Op::identity();
      GE_UNROLL
      for (int level = 0; level < levels; ++level) held[level] = Op::identity();
      GE_NO_UNROLL
      for (int n = 0; n < W; ++n) {
        int k = 0;
        GE_UNROLL
        for (int level = 0; level < levels; ++level) k |= ((n >> level) & 1) << (levels - 1 - level);
        carry = leaf(k);
        bool rises = true;
        GE_UNROLL
        for (int level = 0; level < levels; ++level) {
          const bool full = ((n >> level) & 1) != 0;
          if (rises && full) carry = Op::combine(held[level], carry);
          if (rises && !full) held[level] = carry;
          rises = rises && full;
        }
      }
      return carry;
    }
  }

  // ---- control

  template <class... X>
  static constexpr bool kAlone = G == 1 && !StageNeeds<E, G, Stages<X...>>::any(Types<X...>{});

  template <bool kFinal, auto N, class... X>
  GE_FN void stage(Repeat<N, X...>, bool on) {
    int times;
    if constexpr (is_number<N>)
      times = N;
    else
      times = N(cells_.shared->params);
    GE_NO_UNROLL
    for (int i = 0; i < times; ++i) all<kFinal, X...>(on);
  }
  template <bool kFinal, auto P, class... X>
  GE_FN void stage(RepeatWhile<P, X...>, bool on) {
    bool p = on && bool(ask<P>(cells_));
    if constexpr (kAlone<X...>) {
      while (p) {
        all<kFinal, X...>(true);
        p = bool(ask<P>(cells_));
      }
    } else {
      GE_NO_UNROLL
      while (any(p)) {
        all<kFinal, X...>(p);
        p = p && bool(ask<P>(cells_));
      }
    }
  }
  template <bool kFinal, auto P, class... X>
  GE_FN void stage(When<P, X...>, bool on) {
    within<kFinal, X...>(on && bool(ask<P>(cells_)));
  }
  template <bool kFinal, class... X>
  GE_FN void stage(WhenRunning<X...>, bool on) {
    // One copy of the rules for the three modes.
    const bool p = on && (cells_.shared->autoreset == Autoreset::same_step || bool(ask<&Life<E>::running>(cells_)));
    within<kFinal, X...>(p);
  }
  /// The stages for the groups with p, which every lane of a group evaluated alike.
  template <bool kFinal, class... X>
  GE_FN void within(bool p) {
    if constexpr (kAlone<X...>) {
      if (p) all<kFinal, X...>(true);
    } else if (any(p)) {
      all<kFinal, X...>(p);
    }
  }
  template <bool kFinal, int Mode, class... X>
  GE_FN void stage(InMode<Mode, X...>, bool on) {
    if (int(cells_.shared->autoreset) == Mode) all<kFinal, X...>(on);
  }
  template <bool kFinal, class... X>
  GE_FN void stage(IntoFinal<X...>, bool on) {
    all<true, X...>(on);
  }

  // ---- the caller's arrays

  GE_FN int agents() const { return agents_of(*cells_.shared); }

  template <bool kFinal>
  GE_FN void stage(TakeActions, bool on) {
    switch (cells_.shared->action_type) {
      case Type::int64: return take<int64_t>(on);
      case Type::int32: return take<int32_t>(on);
      case Type::uint8: return take<uint8_t>(on);
      case Type::float64: return take<double>(on);
      default: return take<float>(on);
    }
  }
  template <class From>
  GE_FN void take(bool on) {
    if constexpr (std::is_floating_point_v<From> == ActionShape<typename S::Action>::is_float) {
      const int rows = agents();
      my_rows<Agent::capacity>(on, rows, [&](int row) { take_action<E, From, true>(cells_, row, rows); });
    }
  }
  template <bool kFinal, int O, auto F>
  GE_FN void stage(Write<O, F>, bool on) {
    using V = typename Signature<decltype(F)>::Result;
    V* const to = static_cast<V*>(cells_.shared->bound.at[O]);
    if (to == nullptr) return;
    const int rows = agents();
    my_rows<Agent::capacity>(on, rows, [&](int row) {
      V* const at = to + (int64_t(cells_.world) * rows + row);
      GE_WATCH(at, sizeof(V), true);
      *at = value_of_row<F, Agent>(cells_, row);
    });
  }
  template <bool kFinal>
  GE_FN void stage(ClearFinal, bool on) {
    using Row = typename E::Observation;
    using Rows = RowsPlan<Row, Agent::capacity, G>;
    auto* const to = static_cast<typename Rows::Element*>(cells_.shared->bound.at[kFinalObservation]);
    if (to == nullptr) return;
    const int rows = agents();
    const int64_t elements = int64_t{rows} * Rows::Shape::elements;  // of a world
    if constexpr (Rows::direct) {
      const bool aligned = offset_in_vector(to) % Rows::bytes == 0;
      my_rows<Agent::capacity>(on, rows, [&](int row) {
        put_vector(to + cells_.world * elements + int64_t{row} * Rows::Shape::elements, Row{}, aligned);
      });
    } else {
      const Run run = run_of(on);
      if (run.whole)
        clear_run(to + place_.team_first * elements, int(run.worlds * elements), place_.team_lane, Plan::team);
      else if (on)
        clear_run(to + cells_.world * elements, int(elements), lane_, G);
      if constexpr (G == 1) sync_team();  // the rows of final observations go to the same places from other lanes
    }
  }

  template <bool kFinal, auto F>
  GE_FN void stage(Observe<F>, bool on) {
    rows_out<kFinal, RowOf<F>, Agent::capacity>(
        kFinal ? kFinalObservation : kObservation, agents(), on,
        [&](int row, RowOf<F>& out) { return observe_into<F, Agent>(cells_, row, kFinal, out); });
  }
  template <bool kFinal, auto F>
  GE_FN void stage(ObserveMask<F>, bool on) {
    if constexpr (!kFinal)
      rows_out<false, RowOf<F>, Agent::capacity>(kActionMask, agents(), on, [&](int row, RowOf<F>& out) {
        return observe_into<F, Agent>(cells_, row, false, out);
      });
  }
  template <bool kFinal, auto F>
  GE_FN void stage(ObserveState<F>, bool on) {
    if constexpr (!kFinal)
      rows_out<false, RowOf<F>, 1>(kState, 1, on, [&](int, RowOf<F>& out) {
        out = state_row<F>(cells_);
        return true;
      });
  }

  /// Whether the team's worlds follow one another from team_first on, and how many there are.
  struct Run {
    bool whole;
    int worlds;
  };
  GE_FN Run run_of(bool on) const {
    if constexpr (G >= 32) {
      return {place_.team_first >= 0, on ? 1 : 0};
    } else {
      const uint32_t votes = Service::ballot(on);
      return {place_.team_first >= 0 && (votes & (votes + 1)) == 0, count_bits(votes) / G};
    }
  }

  /// make(row, out) fills a row and says whether it is to be written; `rows` of each world.
  template <bool kFinal, class Row, int kRows, class Make>
  GE_FN void rows_out(Output output, int rows, bool on, const Make& make) {
    using Rows = RowsPlan<Row, kRows, G>;
    auto* const to = static_cast<typename Rows::Element*>(cells_.shared->bound.at[output]);
    if (to == nullptr) return;
    if constexpr (Rows::staging) {
      const Run run = run_of(on);
      const bool dense = !kFinal && run.whole && rows <= Rows::chunk;
      for (int world = 0; world < Rows::worlds; world += Rows::together) {
        for (int row = 0; row < rows; row += Rows::chunk) {
          const int count = rows - row < Rows::chunk ? rows - row : Rows::chunk;
          const Part part{world, row, count, rows};
          if (dense) {
            fill_dense<Row, Rows>(to, part, on, make);
            sync_team();
            const int left = run.worlds - world, worlds = left < Rows::together ? left : Rows::together;
            if (worlds > 0) {
              auto* const first = dense_target<Rows>(to, part);
              flush<Row>(first, dense_source<Row, Rows>(first), worlds * rows);
            }
          } else {
            fill_slot<kFinal, Row, Rows>(to, part, on, make);
            sync_team();
            flush_slots<kFinal, Row, Rows>(to, part);
          }
          sync_team();
        }
      }
    } else {
      const bool aligned = Rows::direct && offset_in_vector(to) % Rows::bytes == 0;
      my_rows<kRows>(on, rows, [&](int row) {
        Row out;
        if (!make(row, out)) return;
        auto* const at = to + (int64_t(cells_.world) * rows + row) * Rows::Shape::elements;
        if constexpr (Rows::direct)
          put_vector(at, out, aligned);
        else
          put_row(at, out);
      });
    }
  }
  /// Rows [row, row + count) of worlds [world, ...) of the team, of `rows` rows per world.
  struct Part {
    int world, row, count, rows;
  };
  /// Large rows are made where they are staged: indexed at run time, they would lie in local memory.
  template <class Row, class Make>
  GE_FN bool fill(char* at, int row, const Make& make) const {
    GE_WATCH(at, sizeof(Row), true);
    Row& place = *reinterpret_cast<Row*>(at);
    if constexpr (sizeof(Row) > 64) {
      return make(row, place);
    } else {
      Row out;
      const bool wanted = make(row, out);
      place = out;
      return wanted;
    }
  }
  template <class Row>
  GE_FN void flush(typename RowShape<Row>::Element* to, const char* from, int rows) const {
    if constexpr (RowShape<Row>::packed)
      expand_run(to, reinterpret_cast<const Row*>(from), rows, place_.team_lane, Plan::team);
    else
      copy_run(to, reinterpret_cast<const typename RowShape<Row>::Element*>(from),
               rows * RowShape<Row>::elements, place_.team_lane, Plan::team);
  }

  template <class Rows>
  GE_FN auto* dense_target(typename Rows::Element* to, const Part& part) const {
    return to + int64_t(place_.team_first + part.world) * part.rows * Rows::Shape::elements;
  }
  template <class Row, class Rows>
  GE_FN char* dense_source(const void* target) const {
    return place_.stage + Rows::heads + (RowShape<Row>::packed ? 0 : offset_in_vector(target));
  }
  template <class Row, class Rows, class Make>
  GE_FN void fill_dense(typename Rows::Element* to, const Part& part, bool on, const Make& make) const {
    const int slot = place_.group - part.world;
    const bool mine = on && slot >= 0 && slot < Rows::together;
    char* const from = dense_source<Row, Rows>(dense_target<Rows>(to, part)) + slot * part.rows * Rows::staged;
    for (int row = lane_; row < (mine ? part.rows : 0); row += G) fill<Row>(from + row * Rows::staged, row, make);
  }

  template <class Rows>
  GE_FN char* slot_head(int slot) const {
    return place_.stage + slot * Rows::head;
  }
  template <class Rows>
  GE_FN auto* slot_target(typename Rows::Element* to, const Part& part, int world) const {
    return to + (int64_t(world) * part.rows + part.row) * Rows::Shape::elements;
  }
  template <class Row, class Rows>
  GE_FN char* slot_source(int slot, const void* target) const {
    return place_.stage + Rows::heads + slot * Rows::slot + (RowShape<Row>::packed ? 0 : offset_in_vector(target));
  }
  template <bool kFinal, class Row, class Rows, class Make>
  GE_FN void fill_slot(typename Rows::Element* to, const Part& part, bool on, const Make& make) const {
    const int slot = place_.group - part.world;
    if (slot < 0 || slot >= Rows::together) return;
    char* const head = slot_head<Rows>(slot);
    if (lane_ == 0) {
      GE_WATCH(head, 4, true);
      *reinterpret_cast<int32_t*>(head) = on ? cells_.world : kNoList;
    }
    char* const from = slot_source<Row, Rows>(slot, slot_target<Rows>(to, part, cells_.world));
    for (int k = lane_; k < (on ? part.count : 0); k += G) {
      const bool wanted = fill<Row>(from + k * Rows::staged, part.row + k, make);
      if constexpr (kFinal) {
        GE_WATCH(head + 4 + k, 1, true);
        head[4 + k] = wanted ? 1 : 0;
      }
    }
  }
  template <bool kFinal, class Row, class Rows>
  GE_FN void flush_slots(typename Rows::Element* to, const Part& part) const {
    const int left = Rows::worlds - part.world, slots = left < Rows::together ? left : Rows::together;
    GE_NO_UNROLL
    for (int slot = 0; slot < slots; ++slot) {
      const char* const head = slot_head<Rows>(slot);
      GE_WATCH(head, 4, false);
      const int world = *reinterpret_cast<const int32_t*>(head);
      if (world < 0) continue;
      auto* const target = slot_target<Rows>(to, part, world);
      const char* const from = slot_source<Row, Rows>(slot, target);
      if constexpr (kFinal) {
        GE_NO_UNROLL
        for (int k = 0; k < part.count; ++k) {
          GE_WATCH(head + 4 + k, 1, false);
          if (head[4 + k] != 0) flush<Row>(target + int64_t{k} * Rows::Shape::elements, from + k * Rows::staged, 1);
        }
      } else {
        flush<Row>(target, from, part.count);
      }
    }
  }

  const Cells<S> cells_;
  const GroupPlace place_;
  const int lane_;
  int turn_ = 0;
};

// ---- one launch

/// What a kernel gets besides Shared.
struct LaunchMemory {
  int32_t* counts;  // lengths of the worklists
  int32_t* lists;   // their worlds: `worlds` entries each
  char* slab;       // scratch memory of the resident teams, where shared memory is too small for it
};

/// Runs a launch's work for one world on a copy of its record. The copies have the form of a block of which only the first
/// place is used, so that all addresses are constants and the copies are registers.
template <class S, class F>
GE_FN void run_whole(const Cells<S>& cells, bool on, const F& run) {
  constexpr int bytes = kRecordBytes<AllTables<S>> * Cells<S>::B;
  alignas(16) char first[bytes], now[bytes];
  Cells<S> before = cells, own = cells;
  before.block = first, before.lane = 0;
  own.block = now, own.lane = 0;
  CopyRecord<S> keep{cells, before}, begin{before, own};
  StoreChanges<S> end{before, own, cells};
  if (on) {
    Walk<false, AllTables<S>>::run(keep);
    Walk<false, AllTables<S>>::run(begin);
  }
  run(own);
  if (on) Walk<false, AllTables<S>>::run(end);
}

/// The work of one thread of a launch. kSlab: scratch lies in the slab; then, and over a worklist, the grid is smaller than
/// the work and its groups stride over it.
template <class E, class L, int G, bool kSlab, int kListCount, class Service>
GE_FN void run_launch(const Shared<typename E::Schema>& shared, const LaunchMemory& memory) {
  using S = typename E::Schema;
  using PhaseT = typename L::phase;
  using Plan = GroupPlan<E, PhaseT, G>;
  constexpr int B = kBlock<S>;
  constexpr bool strides = kSlab || L::from != kNoList;
  Service::wait_for_previous();

  const int thread = Service::thread(), team = thread / Plan::team, teams = Service::threads() / Plan::team;
  const int group = thread / G, groups = teams * Plan::worlds;
  GroupPlace place{thread % G, group % Plan::worlds, thread % Plan::team, kNoList, Service::shared(), nullptr};
  place.counts = reinterpret_cast<int32_t*>(place.stage);
  place.stage += Plan::counts + team * Plan::stage;
  alignas(16) char registers[Plan::registers && Plan::world_scratch > 0 ? Plan::world_scratch : 16];
  char* scratch = registers;
  if constexpr (!Plan::registers) {
    if constexpr (kSlab)
      scratch = memory.slab + (int64_t(Service::block()) * teams + team) * Plan::scratch;
    else
      scratch = Service::shared() + Plan::counts + teams * Plan::stage + team * Plan::scratch;
    if constexpr (G > 1) scratch += place.group * Plan::world_scratch;
  }

  const int32_t* const list = memory.lists + int64_t(L::from == kNoList ? 0 : L::from) * shared.worlds;
  const int total = L::from == kNoList ? shared.worlds : memory.counts[L::from == kNoList ? 0 : L::from];
  const int64_t step = int64_t(Service::blocks()) * groups;
  for (int64_t first = int64_t(Service::block()) * groups; !strides || first < total; first += step) {
    const int64_t index = first + group;
    const bool on = index < total;
    int world = on ? int(index) : shared.worlds - 1;
    if constexpr (L::from != kNoList)
      world = on ? list[index] : 0;
    else
      place.team_first = int(first) + team * Plan::worlds;
    const Cells<S> cells{&shared,
                         world,
                         shared.base + int64_t(world / B) * kBlockBytes<AllTables<S>, B>,
                         world % B,
                         scratch,
                         Plan::stride,
                         Plan::stride == 1 ? 0 : place.team_lane};
    const auto run = [&](const Cells<S>& own) {
      Group<E, PhaseT, G, Service> executor(own, place);
      executor.run(PhaseT{}, on);
      if constexpr (L::to != kNoList)
        executor.template append<L::predicate>(on, memory.counts + L::to, memory.lists + int64_t(L::to) * shared.worlds);
    };
    if constexpr (Plan::whole_record) {
      run_whole(cells, on, run);
    } else {
      run(cells);
    }
    if constexpr (!strides) break;
  }
  if constexpr (L::close) {
    if (Service::block() == 0 && thread < kListCount) memory.counts[thread] = 0;
  }
}

}  // namespace ge
