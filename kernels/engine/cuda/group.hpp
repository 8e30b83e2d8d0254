// The `cuda/group` executor: G lanes own a world and run a phase's stages back to back, with a
// barrier of the group between two stages. G is 1, 2, 4, 8, 16, 32, or a block of 64 to 256
// threads.
//
//   lane   of its group: rows lane, lane + G, ... of a table; lane 0 also what is once per world
//   team   the lanes that meet: a warp (32 / G worlds), or the block where a block owns a world
//   on     whether the group's world takes part; a group that does not is masked and stays in step
//
// Control flow is uniform over a team: loops run to the longest trip of its groups, a branch is
// entered when any group wants it, and threads of worlds beyond the last do not leave early. So
// every collective names all 32 lanes (a mask known only at run time costs a search for its
// members: 7 % more instructions and four kinds of them that nobody wants in a step). The one
// exception needs no collective: with G = 1 a branch without a rendezvous inside is a plain branch.
//
// A predicate or count is evaluated by every lane, from the same data, before the first write of
// its stage: a vote, or a barrier (`settle`) where there is none, lies between. A vote orders no
// memory, but who has voted has read.
//
// What the lanes are is a parameter: those of a GPU (lanes_device.hpp), or fibres of a test
// (lanes_emulated.hpp).
#pragma once

#include "engine/cuda/group_sort.hpp"
#include "engine/cuda/staged_wide.hpp"
#include "engine/graph/coloured.hpp"
#include "engine/graph/episode.hpp"
#include "engine/graph/reduction.hpp"
#include "engine/graph/tables.hpp"

namespace ge {

template <class E, class PhaseT, int G, class Service>
class Group {
 public:
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  using Agent = typename S::Agent;
  using Plan = GroupPlan<E, PhaseT, G>;

  GE_FN Group(const Cells<S>& cells, const GroupPlace& place)
      : cells_(cells), place_(place), lane_(place.lane) {}

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

  /// One stage by itself, for executors that run the others in another way.
  template <class X>
  GE_FN void run_one(bool on) {
    all<false, X>(on);
  }
  /// The k-th chunk of a reduction over tables; lane 0 has the result.
  template <auto F, class Op, class... Ts>
  GE_FN auto chunk(int k, Types<Ts...> tables) {
    return reduce_kth<F, Op>(true, k, tables);
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
    // Stages that contain stages end with the barrier of the last of them, staged rows with one of
    // their team; stages that only write to the caller's arrays may follow one another.
    constexpr bool inside = InnerOf<X>::type::size > 0, staged = StageNeeds<E, G, X>::bytes > 0;
    constexpr bool writes = is_write_stage<X> && first_writes(Types<Rest...>{});
    if constexpr (G > 1 && !inside && !staged && !writes)
      Service::template sync_after<X, (G > 32)>();
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
  /// Whether any group of the team says yes; a rendezvous. A block has one world, so all its lanes
  /// say the same.
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

  /// f(row) on this lane's rows of a table of `rows` rows. A table of one has its row's number
  /// known at compile time.
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
      for_each_type(matching<Components<F>, Tables>{}, [&](auto t) GE_LAMBDA {
        using T = typename decltype(t)::type;
        my_rows<T::capacity>(on, on ? cells_.template rows<T>() : 0, [&](int row) GE_LAMBDA {
          if (cells_.template alive<T>(row)) call_row<F, T>(cells_, row);
        });
      });
  }
  template <bool kFinal, auto F>
  GE_FN void stage(EachTogether<F>, bool on) {
    if constexpr (G < Squad::kLanes)
      stage<kFinal>(Each<F>{}, on);
    else if constexpr (Served<F, Tables>::value)
      for_each_type(matching<Components<F>, Tables>{}, [&](auto t) GE_LAMBDA {
        using T = typename decltype(t)::type;
        squad_rows(on, on ? cells_.template rows<T>() : 0,
                   [&](const Cells<S>& cells, int row) GE_LAMBDA {
                     if (cells.template alive<T>(row)) call_together<F, T>(cells, row);
                   });
      });
  }
  /// f(cells, row) by all lanes of a squad on each of its rows; the squads of a group take turns.
  template <class F>
  GE_FN void squad_rows(bool on, int rows, const F& f) const {
    Cells<S> cells = cells_;
    cells.squad_lane = lane_ % Squad::kLanes;
    cells.squad_size = Squad::kLanes;
    const int count = on ? rows : 0;
    GE_NO_UNROLL
    for (int row = lane_ / Squad::kLanes; row < count; row += G / Squad::kLanes) f(cells, row);
  }
  template <bool kFinal, auto F>
  GE_FN void stage(EachWorld<F>, bool on) {
    if (leads(on)) call_world<F>(cells_);
  }
  template <bool kFinal, auto Count, auto F, class T>
  GE_FN void stage(For<Count, F, T>, bool on) {
    static_assert(T::kind == Kind::list, "GE: For fills a List");
    const int wanted = on ? int(ask<Count>(cells_)) : 0;
    const int room = cells_.template room<T>();
    const int count = wanted < room ? wanted : room;
    if constexpr (is_number<Count>)
      static_assert(Count <= T::capacity, "GE: For has more rows than its table");
    else
      settle();
    my_rows<T::capacity>(on, count, [&](int row) GE_LAMBDA { make_row<F, T>(cells_, row, row); });
    if (leads(on)) {
      set_header<T>(0, uint32_t(count < 0 ? 0 : count));
      count_overflow<T>(cells_, wanted, room);
    }
  }

  template <bool kFinal, auto Count, auto F, class T>
  GE_FN void stage(ForPacks<Count, F, T>, bool on) {
    const int wanted = on ? int(ask<Count>(cells_)) : 0;
    const int room = cells_.template room<T>();
    const int count = wanted < room ? wanted : room;
    if constexpr (!is_number<Count>) settle();
    static_assert(kPack == 1);
    my_rows<T::capacity>(on, count,
                         [&](int row) GE_LAMBDA { make_pack<F, T>(cells_, row, count); });
    if (leads(on)) {
      set_header<T>(0, uint32_t(count < 0 ? 0 : count));
      count_overflow<T>(cells_, wanted, room);
    }
  }
  template <bool kFinal, auto Count, auto F>
  GE_FN void stage(Coloured<Count, F>, bool on) {
    using T = typename ColouredTable<F, Tables>::type;
    const int colours = on ? int(ask<Count>(cells_)) : 0;
    const int rows = on ? cells_.template rows<T>() : 0;
    settle();
    GE_NO_UNROLL
    for (int colour = 0; G == 1 || G > 32 ? colour < colours : any(colour < colours); ++colour) {
      my_rows<T::capacity>(on && colour < colours, rows, [&](int row) GE_LAMBDA {
        if (cells_.template load<T, Colour>(row).value == uint32_t(colour))
          call_coloured<F, T>(cells_, row);
      });
      settle();
    }
  }

  // ---- emission: each round tests G indices; a hit's row is the number of hits before it

  template <bool kFinal, auto Count, auto Test, auto Make, class T>
  GE_FN void stage(Emit<Count, Test, Make, T>, bool on) {
    const auto test = [&](int i) GE_LAMBDA { return bool(Test(World<S>(cells_), i)); };
    const auto make = [&](int row, int i) GE_LAMBDA { make_row<Make, T>(cells_, row, i); };
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
    const auto pair = [=](int i) GE_LAMBDA {
      return same ? pair_at(i, count_a) : Pair{i / count_c, i % count_c};
    };
    emit<T, true>(
        on, same ? pair_count(count_a) : count_a * count_c,
        [&](int i) GE_LAMBDA {
          const Pair p = pair(i);
          return cells_.template alive<A>(p.a) && cells_.template alive<C>(p.b) &&
                 bool(Test(World<S>(cells_), p.a, p.b));
        },
        [&](int row, int i) GE_LAMBDA {
          const Pair p = pair(i);
          make_row<Make, T>(cells_, row, p.a, p.b);
        });
  }
  /// kSame: the count is that of every world.
  template <class T, bool kSame, class Test, class Make>
  GE_FN void emit(bool on, int count, const Test& test, const Make& make) {
    static_assert(T::kind == Kind::list, "GE: Emit appends to a List");
    const int room = cells_.template room<T>();
    int hits = 0;
    if constexpr (G == 1) {
      GE_UNROLL_ROWS
      for (int i = 0; on && i < count; ++i) {
        if (!test(i)) continue;
        if (hits < room) make(hits, i);
        ++hits;
      }
    } else {
      GE_NO_UNROLL
      for (int first = 0; kSame || G > 32 ? first < count : any(first < count); first += G) {
        const int i = first + lane_;
        const bool hit = on && i < count && test(i);
        const Rank rank = rank_of(hit);
        const int row = hits + rank.before;
        if (hit && row < room) make(row, i);
        hits += rank.all;
      }
    }
    if (leads(on)) {
      set_header<T>(0, uint32_t(hits < room ? hits : room));
      count_overflow<T>(cells_, hits, room);
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
      // Two sets of counts in turn: a warp may still read one round's while another begins the
      // next.
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

  template <bool kFinal, auto Key, class T, class Order, class Starts>
  GE_FN void stage(SortRows<Key, T, Order, Starts>, bool on) {
    if constexpr (G == 1) {
      if (on) sort_rows<Key, T, Order, Starts>(cells_);
    } else {
      GroupSort<S, T, Order, Starts, G, Service>{cells_, place_}.template run<Key>(on);
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
      for (int k = lane_; k < now; k += G)
        make_row<Make, T>(cells_, word * 32 + set_bit(free, k), made + k);
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
    const int64_t at = Plan::bitmap(cells_.shared->params) + 4 * word;
    return reinterpret_cast<uint32_t*>(cells_.scratch + at * Plan::stride) + cells_.scratch_lane;
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
    if constexpr (one_chunk<Ts...>) {
      return reduce_chunk<F, Op, typename Tail<Types<Ts...>>::first>(on, 0);
    } else {
      const int chunks = chunks_of(cells_.shared->params, tables);
      const auto chunk_at = [&](int chunk)
                                GE_LAMBDA { return reduce_kth<F, Op>(on, chunk, tables); };
      if (chunks == 1) return chunk_at(0);
      const int width = reduce_width(chunks);
      return fold_halves<Op>(width, [&](int k) GE_LAMBDA {
        R sum = Op::identity();
        GE_NO_UNROLL
        for (int chunk = k; chunk < chunks; chunk += width) sum = Op::combine(sum, chunk_at(chunk));
        return sum;
      });
    }
  }
  /// The k-th chunk, counted over the tables in order.
  template <auto F, class Op, class... Ts>
  GE_FN auto reduce_kth(bool on, int k, Types<Ts...> tables) {
    decltype(Op::identity()) part = Op::identity();
    int first = 0;  // chunk of the table at hand
    for_each_type(tables, [&](auto t) GE_LAMBDA {
      using T = typename decltype(t)::type;
      const int own = chunks_of_rows(room_of<T>(cells_.shared->params));
      if (k >= first && k < first + own)
        part = reduce_chunk<F, Op, T>(on, (k - first) * kReduceChunk);
      first += own;
    });
    return part;
  }
  /// Accumulators lane, lane + G, ... of one chunk; the upper halvings stay within a lane, the
  /// lower are shuffles.
  template <auto F, class Op, class T>
  GE_FN auto reduce_chunk(bool on, int first) {
    using R = decltype(Op::identity());
    constexpr int W = reduce_width(T::capacity);
    const int rows = on ? cells_.template rows<T>() : 0;
    const int last = first + kReduceChunk < rows ? first + kReduceChunk : rows;
    R mine = fold<(W > G ? W / G : 1), Op>([&](int part) GE_LAMBDA {
      R sum = Op::identity();
      const int k = lane_ + part * G;
      if constexpr (T::capacity == 1) {
        if (k == 0 && last > 0 && cells_.template alive<T>(0))
          sum = Op::combine(sum, R(value_of_row<F, T>(cells_, 0)));
      } else {
        GE_UNROLL_ROWS
        for (int row = k < W ? first + k : last; row < last; row += W)
          if (cells_.template alive<T>(row))
            sum = Op::combine(sum, R(value_of_row<F, T>(cells_, row)));
      }
      return sum;
    });
    GE_UNROLL
    for (int half = (W < G ? W : G) / 2; half > 0; half /= 2)
      mine = Op::combine(mine, Service::shuffle_down(mine, half));
    return mine;
  }
  template <int W, class Op, class Leaf>
  GE_FN auto fold(const Leaf& leaf) {
    if constexpr (W == 1)
      return leaf(0);
    else
      return fold_halves<Op>(W, leaf);
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
    const bool p = on && (cells_.shared->autoreset == Autoreset::same_step ||
                          bool(ask<&Life<E>::running>(cells_)));
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
    with_action_type<typename S::Action>(cells_.shared->action_type, [&](auto type) GE_LAMBDA {
      take<typename decltype(type)::type>(on);
    });
  }
  template <class From>
  GE_FN void take(bool on) {
    const int rows = agents();
    my_rows<Agent::capacity>(
        on, rows, [&](int row) GE_LAMBDA { take_action<E, From, true>(cells_, row, rows); });
  }
  template <bool kFinal, int O, auto F>
  GE_FN void stage(Write<O, F>, bool on) {
    using V = typename Signature<decltype(F)>::Result;
    V* const to = static_cast<V*>(cells_.shared->bound.at[O]);
    if (to == nullptr) return;
    const int rows = agents();
    my_rows<Agent::capacity>(on, rows, [&](int row) GE_LAMBDA {
      V* const at = to + (int64_t(cells_.world) * rows + row);
      GE_WATCH(at, sizeof(V), true);
      *at = value_of_row<F, Agent>(cells_, row);
    });
  }
  template <bool kFinal>
  GE_FN void stage(ClearFinal, bool on) {
    using Row = typename E::Observation;
    if constexpr (Wide<Row>) {
      auto* const to = static_cast<uint8_t*>(cells_.shared->bound.at[kFinalObservation]);
      if (to == nullptr) return;
      clear_rows(to, row_bytes<Row>(*cells_.shared) * agents(), on);
    } else {
      clear_final<Row>(on);
    }
  }
  /// Zeros for so many elements of every world that is on.
  template <class Element>
  GE_FN void clear_rows(Element* to, int64_t elements, bool on) {
    const Run run = run_of(on);
    if (run.whole)
      clear_run(to + place_.team_first * elements, run.worlds * elements, place_.team_lane,
                Plan::team);
    else if (on)
      clear_run(to + cells_.world * elements, elements, lane_, G);
    if constexpr (G == 1)
      sync_team();  // the rows of final observations go to the same places from other lanes
  }
  template <class Row>
  GE_FN void clear_final(bool on) {
    using Rows = RowsPlan<Row, Agent::capacity, G>;
    auto* const to =
        static_cast<typename Rows::Element*>(cells_.shared->bound.at[kFinalObservation]);
    if (to == nullptr) return;
    const int rows = agents();
    const int64_t elements = int64_t{rows} * Rows::Shape::elements;  // of a world
    if constexpr (Rows::direct) {
      const bool aligned = offset_in_vector(to) % Rows::bytes == 0;
      my_rows<Agent::capacity>(on, rows, [&](int row) GE_LAMBDA {
        put_vector(to + cells_.world * elements + int64_t{row} * Rows::Shape::elements, Row{},
                   aligned);
      });
    } else {
      clear_rows(to, elements, on);
    }
  }

  template <bool kFinal, auto F>
  GE_FN void stage(Observe<F>, bool on) {
    if constexpr (Wide<typename E::Observation>)
      wide_rows_out<kFinal, F, typename E::Observation>(kFinal ? kFinalObservation : kObservation,
                                                        on);
    else
      plain_observe<kFinal, F>(on);
  }
  template <bool kFinal, auto F>
  GE_FN void plain_observe(bool on) {
    rows_out<kFinal, RowOf<F>, Agent::capacity>(
        kFinal ? kFinalObservation : kObservation, agents(), on,
        [&](int row, RowOf<F>& out)
            GE_LAMBDA { return observe_into<F, Agent>(cells_, row, kFinal, out); });
  }
  template <bool kFinal, auto F>
  GE_FN void stage(ObserveMask<F>, bool on) {
    if constexpr (!kFinal && Wide<typename E::ActionMask>)
      wide_rows_out<false, F, typename E::ActionMask>(kActionMask, on);
    else if constexpr (!kFinal)
      rows_out<false, RowOf<F>, Agent::capacity>(
          kActionMask, agents(), on, [&](int row, RowOf<F>& out) GE_LAMBDA {
            return observe_into<F, Agent>(cells_, row, false, out);
          });
  }
  template <bool kFinal, auto F>
  GE_FN void stage(ObserveState<F>, bool on) {
    if constexpr (!kFinal && Wide<typename E::State>) {
      const WideTarget target = wide_target<typename E::State>(*cells_.shared, kState);
      if (target.to == nullptr) return;
      const StagedWideRows<typename E::State, G, Service> staged{place_, target, 1, cells_.world};
      staged.run(
          on, [](int) GE_LAMBDA { return RowFate{true, true}; },
          [&](int, auto& writer) GE_LAMBDA { write_state<F>(cells_, writer); });
    } else if constexpr (!kFinal)
      rows_out<false, RowOf<F>, 1>(kState, 1, on, [&](int, RowOf<F>& out) GE_LAMBDA {
        out = state_row<F>(cells_);
        return true;
      });
  }

  template <bool kFinal, auto F, class Row>
  GE_FN void wide_rows_out(Output output, bool on) {
    const WideTarget target = wide_target<Row>(*cells_.shared, output);
    if (target.to == nullptr) return;
    if constexpr (wants_squad<F>) return squad_rows_out<kFinal, F, Row>(target, on);
    const StagedWideRows<Row, G, Service> staged{place_, target, agents(), cells_.world};
    staged.run(
        on, [&](int row) GE_LAMBDA { return row_fate<Agent>(cells_, row, kFinal); },
        [&](int row, auto& writer) GE_LAMBDA { write_row<F, Agent>(cells_, row, writer); });
  }
  /// Rows that a squad makes in the caller's array itself: its lanes write side by side.
  template <bool kFinal, auto F, class Row>
  GE_FN void squad_rows_out(const WideTarget& target, bool on) const {
    const int rows = agents();
    const auto put = [&](const Cells<S>& cells, int row) GE_LAMBDA {
      put_together<F, Agent, Row>(cells, row, target, int64_t(cells.world) * rows + row, kFinal);
    };
    if constexpr (G >= Squad::kLanes)
      squad_rows(on, rows, put);
    else
      my_rows<Agent::capacity>(on, rows, [&](int row) GE_LAMBDA { put(cells_, row); });
  }
  GE_FN Run run_of(bool on) const { return team_run<G, Service>(place_, on); }

  /// make(row, out) fills a row and says whether it is to be written; `rows` of each world.
  template <bool kFinal, class Row, int kRows, class Make>
  GE_FN void rows_out(Output output, int rows, bool on, const Make& make) {
    using Rows = RowsPlan<Row, kRows, G>;
    auto* const to = static_cast<typename Rows::Element*>(cells_.shared->bound.at[output]);
    if (to == nullptr) return;
    if constexpr (Rows::staging) {
      const StagedRows<Row, kRows, G, kFinal, Service> staged{place_, to, rows, cells_.world};
      staged.run(on, make);
    } else {
      const bool aligned = Rows::direct && offset_in_vector(to) % Rows::bytes == 0;
      my_rows<kRows>(on, rows, [&](int row) GE_LAMBDA {
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

  const Cells<S> cells_;
  const GroupPlace place_;
  const int lane_;
  int turn_ = 0;
};

}  // namespace ge
