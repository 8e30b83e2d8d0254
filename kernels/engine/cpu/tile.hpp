// The `cpu` executor: a thread takes a tile of worlds, small enough for its cache, and runs the
// graph stage by stage over it. Inside a stage the order is block, row, lane: the innermost loop
// runs over the B worlds of a block, whose words lie side by side, and vectorises because a
// system's arguments are local copies and rows are independent by contract.
//
//   Set      which worlds of the tile a stage runs on: whole blocks (vectorised) and loose worlds
//            (one by one). A tile begins as its blocks plus the ragged end; When splits a set by
//            its predicate, a block staying whole where all of its worlds agree. Dead worlds beyond
//            the last never run.
//
// `Shared` is copied to a local in every loop: through a reference the compiler would reload
// parameters after each store.
//
// A crew is for worlds so large and so few that tiles cannot feed all threads: its members run the
// same graph over the same tile, each on its share of a stage's rows, and meet after every stage,
// as the lanes of a group do. What is serial inside a world (slots of a Pool, systems of EachWorld)
// is the first member's.
#pragma once

#include "engine/cpu/crew.hpp"
#include "engine/cpu/stage_clock.hpp"
#include "engine/cpu/tile_threads.hpp"
#include "engine/graph/channels.hpp"
#include "engine/graph/coloured.hpp"
#include "engine/graph/episode.hpp"
#include "engine/graph/host_rows.hpp"
#include "engine/graph/reduction.hpp"
#include "engine/graph/sorting.hpp"
#include "engine/graph/tables.hpp"

namespace ge {

/// Worlds of one tile: blocks to run whole, and worlds to run alone.
struct Set {
  const int32_t* blocks;
  int block_count;
  const int32_t* loose;
  int loose_count;
  bool empty() const { return block_count + loose_count == 0; }
};

template <class E>
class Tile {
 public:
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  using Agent = typename S::Agent;
  static constexpr int B = kBlock<S>;
  using Params = typename S::Params;

  /// Bytes of scratch memory of one block, and indices of a tile of so many.
  static GE_FN int64_t scratch_block(const Params& params) {
    return ge::scratch_bytes<Tables>(params) * B;
  }
  static int64_t index_count(int blocks) { return (int64_t{blocks} * (B + 1) + B + 1) * kDepth; }

  Tile(const Shared<S>& shared, const TileSpace& space)
      : shared_(shared),
        scratch_(space.scratch),
        free_(space.indices),
        first_(space.first_block),
        count_(space.block_count),
        crew_(space.crew) {}

  /// Runs the phases over the tile.
  template <class... P>
  void run(Types<P...>) {
    const Set all = whole();
    (phase(P{}, all), ...);
  }

 private:
  static constexpr int kDepth = 8;  // nested sets: tile, When in When in RepeatWhile, ...

  /// All blocks, and the worlds of a last one that is not full.
  GE_NOINLINE Set whole() {
    int32_t* const blocks = free_;
    int32_t* const loose = free_ + count_;
    int full = 0, single = 0;
    for (int b = first_; b < first_ + count_; ++b) {
      const int live = shared_.worlds - b * B < B ? shared_.worlds - b * B : B;
      if (live == B) {
        blocks[full++] = b;
      } else {
        for (int lane = 0; lane < live; ++lane) loose[single++] = b * B + lane;
      }
    }
    free_ = loose + single;
    return {blocks, full, loose, single};
  }

  template <Name kName, class L, class... X>
  void phase(Phase<kName, L, X...>, const Set& set) {
    each_world(set, [&](const Cells<S>& cells) GE_LAMBDA { clear_tables<true>(cells); });
    all<X...>(set);
  }
  template <auto P, class... Inner>
  void phase(Rare<P, Inner...>, const Set& set) {
    within<P>(set, [&](const Set& inner) { (phase(Inner{}, inner), ...); });
  }
  /// Calls f with the worlds of `set` that have P, if there are any.
  template <auto P, class F>
  void within(const Set& set, F&& f) {
    int32_t* const mark = free_;
    free_ += room(set);
    const Set inner = subset<P>(set, mark);
    crew_.meet();  // all have read what p asks for before anyone writes
    if (!inner.empty()) f(inner);
    free_ = mark;
  }
  template <class... X>
  void all(const Set& set) {
    (run_stage(X{}, set), ...);
  }
  /// A function of its own, so that a stage that stands in several graphs, or several times in one,
  /// is compiled once; and the clocks cost one look at a flag, not a second copy. The time of
  /// stages that hold others is the sum of these.
  template <class X>
  GE_NOINLINE void run_stage(X x, const Set& set) {
    if constexpr (InnerOf<X>::type::size > 0) {
      stage(x, set);
    } else {
      const StageClock clock(type_text<X>());
      stage(x, set);
    }
  }

  // ---- where things are

  /// What a loop needs to find a world. Each loop takes a copy: a local whose address goes nowhere
  /// is kept in registers, while a member would be loaded again after every store.
  struct Ground {
    Shared<S> shared;
    char* scratch;
    int first;
    GE_FN Cells<S> at(int block, int lane) const {
      return {&shared,
              block * B + lane,
              shared.base + block * block_bytes<Tables, B>(shared.params),
              lane,
              scratch + (block - first) * scratch_block(shared.params),
              B,
              lane};
    }
    GE_FN Cells<S> of(int world) const { return at(world / B, world % B); }
  };
  Ground ground() const { return {shared_, scratch_, first_}; }

  /// Every world of a set, one by one: for stages that do not vectorise over worlds. The first
  /// member's work.
  template <class F>
  void each_world(const Set& set, F&& f) const {
    if (crew_.first()) walk_worlds(set, f);
    crew_.meet();
  }
  /// The same by every member, who divide the rows inside f.
  template <class F>
  void share_world(const Set& set, F&& f) const {
    walk_worlds(set, f);
    crew_.meet();
  }
  template <class F>
  void walk_worlds(const Set& set, F&& f) const {
    const Ground here = ground();
    for (int i = 0; i < set.block_count; ++i)
      for (int lane = 0; lane < B; ++lane) f(here.at(set.blocks[i], lane));
    for (int i = 0; i < set.loose_count; ++i) f(here.of(set.loose[i]));
  }

  /// f(cells, row) on `rows` rows of every world of a set, vectorised over the worlds of a block
  /// (over rows where B = 1).
  template <class F>
  GE_FN void each_cell(const Set& set, int rows, F&& f) const {
    const Ground here = ground();
    const Crew::Range mine = crew_.share(rows);
    for (int i = 0; i < set.block_count; ++i) {
      if constexpr (B == 1) {
        // Found anew for each row: g++ copies Cells that lie outside of the loop, and then does not
        // vectorise it.
        const int block = set.blocks[i];
        GE_INDEPENDENT
        for (int row = mine.begin; row < mine.end; ++row) f(here.at(block, 0), row);
      } else {
        const int block = set.blocks[i];
        for (int row = mine.begin; row < mine.end; ++row) {
          GE_INDEPENDENT
          for (int lane = 0; lane < B; ++lane) f(here.at(block, lane), row);
        }
      }
    }
    for (int row = mine.begin; row < mine.end; ++row) {
      GE_INDEPENDENT
      for (int i = 0; i < set.loose_count; ++i) f(here.of(set.loose[i]), row);
    }
    crew_.meet();
  }

  template <class T>
  int uniform_rows() const {
    static_assert(T::kind == Kind::fixed);
    if constexpr (requires { T::count(shared_.params); }) return int(T::count(shared_.params));
    return T::capacity;
  }

  /// Index space that any subset of `set` fits in.
  static int64_t room(const Set& set) {
    return int64_t{set.block_count} * (B + 1) + set.loose_count + 1;
  }

  /// The worlds of `set` with P, in `space`. Compiled once for all stages that ask.
  template <auto P>
  GE_NOINLINE Set subset(const Set& set, int32_t* space) const {
    const auto p = [](const Cells<S>& cells) GE_LAMBDA { return bool(ask<P>(cells)); };
    const Ground here = ground();
    int32_t* const blocks = space;
    int32_t* const loose = space + set.block_count;
    int whole = 0, single = 0;
    for (int i = 0; i < set.block_count; ++i) {
      const int block = set.blocks[i];
      uint32_t yes[B];
      uint32_t count = 0;
      GE_INDEPENDENT
      for (int lane = 0; lane < B; ++lane) yes[lane] = p(here.at(block, lane)) ? 1u : 0u;
      for (int lane = 0; lane < B; ++lane) count += yes[lane];
      if (count == 0) continue;
      if (count == B) {
        blocks[whole++] = block;
      } else {
        for (int lane = 0; lane < B; ++lane) {
          loose[single] = block * B + lane;
          single += int(yes[lane]);
        }
      }
    }
    for (int i = 0; i < set.loose_count; ++i) {
      loose[single] = set.loose[i];
      single += p(here.of(set.loose[i])) ? 1 : 0;
    }
    return {blocks, whole, loose, single};
  }

  // ---- stages over rows

  template <auto F>
  void stage(Each<F>, const Set& set) {
    if constexpr (Served<F, Tables>::value)
      for_each_type(matching<Components<F>, Tables>{},
                    [&](auto t) { rows_of<F, typename decltype(t)::type>(set); });
  }
  template <auto F, class T>
  void rows_of(const Set& set) {
    if constexpr (T::kind == Kind::fixed) {
      each_cell(set, uniform_rows<T>(),
                [](const Cells<S>& cells, int row) GE_LAMBDA { call_row<F, T>(cells, row); });
    } else {
      share_world(set, [this](const Cells<S>& cells) GE_LAMBDA {
        const Crew::Range mine = crew_.share(cells.template rows<T>());
        for (int row = mine.begin; row < mine.end; ++row)
          if (cells.template alive<T>(row)) call_row<F, T>(cells, row);
      });
    }
  }
  template <auto F>
  void stage(EachTogether<F>, const Set& set) {
    stage(Each<F>{}, set);
  }
  template <auto F>
  void stage(EachWorld<F>, const Set& set) {
    each_cell(set, 1, [](const Cells<S>& cells, int) GE_LAMBDA { call_world<F>(cells); });
  }
  template <auto Count, auto F, class T>
  void stage(For<Count, F, T>, const Set& set) {
    static_assert(T::kind == Kind::list, "GE: For fills a List");
    if constexpr (is_number<Count>) {
      static_assert(Count <= T::capacity, "GE: For has more rows than its table");
      each_cell(set, 1, [](const Cells<S>& cells, int) GE_LAMBDA {
        *cells.template header<T>(0) = uint32_t(Count);
      });
      each_cell(set, Count,
                [](const Cells<S>& cells, int row) GE_LAMBDA { make_row<F, T>(cells, row, row); });
    } else {
      share_world(set, [this](const Cells<S>& cells) GE_LAMBDA {
        const int wanted = ask<Count>(cells);
        const int room = cells.template room<T>();
        const Crew::Range mine = crew_.share(wanted < room ? wanted : room);
        for (int row = mine.begin; row < mine.end; ++row) make_row<F, T>(cells, row, row);
      });
      each_world(set, [](const Cells<S>& cells) GE_LAMBDA {
        const int wanted = ask<Count>(cells);
        close_list<T>(cells, wanted < 0 ? 0 : wanted);
      });
    }
  }

  template <auto Count, auto F, class T>
  void stage(ForPacks<Count, F, T>, const Set& set) {
    share_world(set, [this](const Cells<S>& cells) GE_LAMBDA {
      const int wanted = ask<Count>(cells);
      const int room = cells.template room<T>();
      const int count = wanted < room ? wanted : room;
      const Crew::Range mine = crew_.share((count + kPack - 1) / kPack);
      for (int pack = mine.begin; pack < mine.end; ++pack)
        make_pack<F, T>(cells, pack * kPack, count);
    });
    each_world(set, [](const Cells<S>& cells) GE_LAMBDA {
      const int wanted = ask<Count>(cells);
      close_list<T>(cells, wanted < 0 ? 0 : wanted);
    });
  }
  template <auto Count, auto F>
  void stage(Coloured<Count, F>, const Set& set) {
    using T = typename ColouredTable<F, Tables>::type;
    share_world(set, [this](const Cells<S>& cells) GE_LAMBDA {
      const int colours = ask<Count>(cells);
      const Crew::Range mine = crew_.share(cells.template rows<T>());
      for (int colour = 0; colour < colours; ++colour) {
        for (int row = mine.begin; row < mine.end; ++row)
          if (cells.template load<T, Colour>(row).value == uint32_t(colour))
            call_coloured<F, T>(cells, row);
        crew_.meet();
      }
    });
  }

  template <auto Key, class T, class Order, class Starts>
  void stage(SortRows<Key, T, Order, Starts>, const Set& set) {
    each_world(set,
               [](const Cells<S>& cells) GE_LAMBDA { sort_rows<Key, T, Order, Starts>(cells); });
  }

  // ---- emission: index outside, worlds inside: the cheap test vectorises, hits alone are made

  template <auto Count, auto Test, auto Make, class T>
  void stage(Emit<Count, Test, Make, T>, const Set& set) {
    const auto test = [](const Cells<S>& cells, int i)
                          GE_LAMBDA { return bool(Test(World<S>(cells), i)); };
    const auto make = [](const Cells<S>& cells, int row, int i)
                          GE_LAMBDA { make_row<Make, T>(cells, row, i); };
    if constexpr (is_number<Count>) {
      emit<T>(set, Count, test, make);
    } else {
      walk_worlds(set,
                  [&](const Cells<S>& cells) { emit_in<T>(cells, ask<Count>(cells), test, make); });
    }
  }
  template <class A, class C, auto Test, auto Make, class T>
  void stage(EmitPairs<A, C, Test, Make, T>, const Set& set) {
    static_assert(A::kind != Kind::list && C::kind != Kind::list,
                  "GE: EmitPairs walks Fixed and Pool tables; over a List use Emit with its count");
    constexpr bool same = std::is_same_v<A, C>;
    const int count_a = pair_rows<A>(), count_c = pair_rows<C>();
    const int count = same ? pair_count(count_a) : count_a * count_c;
    const auto pair = [count_a, count_c](int i) {
      return same ? pair_at(i, count_a) : Pair{i / count_c, i % count_c};
    };
    emit<T>(
        set, count,
        [pair](const Cells<S>& cells, int i) GE_LAMBDA {
          const Pair p = pair(i);
          return cells.template alive<A>(p.a) && cells.template alive<C>(p.b) &&
                 bool(Test(World<S>(cells), p.a, p.b));
        },
        [pair](const Cells<S>& cells, int row, int i) GE_LAMBDA {
          const Pair p = pair(i);
          make_row<Make, T>(cells, row, p.a, p.b);
        });
  }
  template <class T>
  int pair_rows() const {
    if constexpr (T::kind == Kind::fixed) return uniform_rows<T>();
    return T::capacity;
  }
  template <class T, class Test, class Make>
  void emit(const Set& set, int count, Test test, Make make) const {
    static_assert(T::kind == Kind::list, "GE: Emit appends to a List");
    if (crew_.size > 1) {
      walk_worlds(set, [&](const Cells<S>& cells) { emit_in<T>(cells, count, test, make); });
      return;
    }
    const Ground here = ground();
    for (int k = 0; k < set.block_count; ++k) {
      const int block = set.blocks[k];
      int hits[B] = {};
      for (int i = 0; i < count; ++i) {
        uint32_t hit[B];
        uint32_t any = 0;
        GE_INDEPENDENT
        for (int lane = 0; lane < B; ++lane) hit[lane] = test(here.at(block, lane), i) ? 1u : 0u;
        for (int lane = 0; lane < B; ++lane) any |= hit[lane];
        if (any == 0) continue;
        for (int lane = 0; lane < B; ++lane) {
          if (hit[lane] == 0) continue;
          const Cells<S> cells = here.at(block, lane);
          if (hits[lane] < cells.template room<T>()) make(cells, hits[lane], i);
          ++hits[lane];
        }
      }
      for (int lane = 0; lane < B; ++lane) close_list<T>(here.at(block, lane), hits[lane]);
    }
    for (int k = 0; k < set.loose_count; ++k) emit_in<T>(here.of(set.loose[k]), count, test, make);
  }
  /// One world. A crew counts first: then each member knows where its hits begin.
  template <class T, class Test, class Make>
  GE_FN void emit_in(const Cells<S>& cells, int count, Test test, Make make) const {
    const Crew::Range mine = crew_.share(count);
    int place = 0, hits = 0;
    if (crew_.size > 1) {
      for (int i = mine.begin; i < mine.end; ++i) hits += test(cells, i) ? 1 : 0;
      crew_.counts[crew_.member] = hits;
      crew_.meet();
      hits = 0;
      for (int member = 0; member < crew_.size; ++member) {
        place += member < crew_.member ? crew_.counts[member] : 0;
        hits += crew_.counts[member];
      }
    }
    for (int i = mine.begin; i < mine.end; ++i) {
      if (!test(cells, i)) continue;
      if (place < cells.template room<T>()) make(cells, place, i);
      ++place;
    }
    crew_.meet();
    if (crew_.first()) close_list<T>(cells, crew_.size > 1 ? hits : place);
    crew_.meet();
  }
  template <class T>
  GE_FN static void close_list(const Cells<S>& cells, int hits) {
    const int room = cells.template room<T>();
    *cells.template header<T>(0) = uint32_t(hits < room ? hits : room);
    count_overflow<T>(cells, hits, room);
  }

  // ---- pools

  template <auto Count, auto Make, class T>
  void stage(Spawn<Count, Make, T>, const Set& set) {
    static_assert(T::kind == Kind::pool, "GE: Spawn fills a Pool");
    each_world(set, [](const Cells<S>& cells) GE_LAMBDA {
      const int wanted = ask<Count>(cells);
      int made = 0;
      for (int word = 0; word < kLiveWords<T> && made < wanted; ++word) {
        uint32_t free = ~*cells.template header<T>(word);
        while (free != 0 && made < wanted) {
          const int row = word * 32 + __builtin_ctz(free);
          if (row >= T::capacity) break;
          free &= free - 1;
          *cells.template header<T>(word) |= 1u << (row & 31);
          make_row<Make, T>(cells, row, made++);
        }
      }
      count_overflow<T>(cells, T::capacity + wanted - made, T::capacity);
    });
  }
  template <auto Test, class T>
  void stage(Destroy<Test, T>, const Set& set) {
    static_assert(T::kind == Kind::pool, "GE: Destroy empties slots of a Pool");
    each_world(set, [](const Cells<S>& cells) GE_LAMBDA {
      uint32_t dead[kLiveWords<T>] = {};
      for (int row = 0; row < T::capacity; ++row)
        if (cells.template alive<T>(row) && value_of_row<Test, T>(cells, row))
          dead[row >> 5] |= 1u << (row & 31);
      for (int row = 0; row < T::capacity; ++row)
        if (dead[row >> 5] >> (row & 31) & 1u) destroy_row<T>(cells, row);
    });
  }
  void stage(ClearTables, const Set& set) {
    each_world(set, [](const Cells<S>& cells) GE_LAMBDA { clear_tables<false>(cells); });
  }

  // ---- reductions

  template <auto F, class Op, auto Into>
  void stage(Reduce<F, Op, Into>, const Set& set) {
    using Matching = matching<Components<F>, Tables>;
    using R = decltype(Op::identity());
    if constexpr (Served<F, Tables>::value) {
      if constexpr (Matching::size == 1 && only_fixed(Matching{})) {
        using T = typename Tail<Matching>::first;
        if constexpr (T::capacity <= 64 && B > 1) {
          if (crew_.first()) reduce_blocks<F, Op, Into, T, R>(set);
          crew_.meet();
          return;
        }
      }
      if (crew_.size > 1 && !has_one_chunk<Matching>)
        walk_worlds(set, [&](const Cells<S>& cells) { reduce_shared<F, Op, Into>(cells); });
      else
        each_world(set, [](const Cells<S>& cells)
                            GE_LAMBDA { call_into<Into>(cells, reduce_world<F, Op>(cells)); });
    }
  }
  /// A crew takes the chunks of one world in turn; the first member folds their results.
  template <auto F, class Op, auto Into>
  void reduce_shared(const Cells<S>& cells) const {
    using Matching = matching<Components<F>, Tables>;
    using R = decltype(Op::identity());
    static_assert(sizeof(R) <= 8);
    const int chunks = chunks_of(cells.shared->params, Matching{});
    for (int k = crew_.member; k < chunks; k += crew_.size) {
      const R part = reduce_kth_chunk<F, Op>(cells, k, Matching{});
      std::memcpy(crew_.parts + 8 * k, &part, sizeof part);
    }
    crew_.meet();
    if (crew_.first()) {
      call_into<Into>(cells, fold_chunks<Op>(chunks, [&](int k) {
                        R part;
                        std::memcpy(&part, crew_.parts + 8 * k, sizeof part);
                        return part;
                      }));
    }
    crew_.meet();
  }
  template <class... Ts>
  static consteval bool only_fixed(Types<Ts...>) {
    return ((Ts::kind == Kind::fixed) && ...);
  }
  template <auto F, class Op, auto Into, class T, class R>
  void reduce_blocks(const Set& set) const {
    constexpr int W = reduce_width(T::capacity);
    const Ground here = ground();
    const int rows = uniform_rows<T>();
    for (int i = 0; i < set.block_count; ++i) {
      const int block = set.blocks[i];
      R sums[W][B];
      for (int k = 0; k < W; ++k)
        for (int lane = 0; lane < B; ++lane) sums[k][lane] = Op::identity();
      for (int row = 0; row < rows; ++row) {
        GE_INDEPENDENT
        for (int lane = 0; lane < B; ++lane)
          sums[row % W][lane] =
              Op::combine(sums[row % W][lane], value_of_row<F, T>(here.at(block, lane), row));
      }
      for (int half = W / 2; half > 0; half /= 2)
        for (int k = 0; k < half; ++k)
          for (int lane = 0; lane < B; ++lane)
            sums[k][lane] = Op::combine(sums[k][lane], sums[k + half][lane]);
      GE_INDEPENDENT
      for (int lane = 0; lane < B; ++lane) call_into<Into>(here.at(block, lane), sums[0][lane]);
    }
    for (int i = 0; i < set.loose_count; ++i) {
      const Cells<S> cells = here.of(set.loose[i]);
      call_into<Into>(cells, reduce_world<F, Op>(cells));
    }
  }

  // ---- control

  template <int N, class... X>
  void repeat(const Set& set, int times) {
    for (int i = 0; i < times; ++i) all<X...>(set);
  }
  template <auto N, class... X>
  void stage(Repeat<N, X...>, const Set& set) {
    if constexpr (is_number<N>)
      repeat<0, X...>(set, N);
    else
      repeat<0, X...>(set, N(shared_.params));
  }
  template <auto P, class... X>
  void stage(RepeatWhile<P, X...>, const Set& set) {
    int32_t* const mark = free_;
    // Two spaces in turn: each round's worlds are chosen from the last round's, who has left does
    // not come back.
    int32_t* spaces[2] = {free_, free_ + room(set)};
    Set inner = subset<P>(set, spaces[0]);
    crew_.meet();
    free_ = spaces[1] + room(set);
    for (int turn = 1; !inner.empty(); turn ^= 1) {
      all<X...>(inner);
      inner = subset<P>(inner, spaces[turn]);
      crew_.meet();
    }
    free_ = mark;
  }
  template <auto P, class... X>
  void stage(When<P, X...>, const Set& set) {
    within<P>(set, [&](const Set& inner) { all<X...>(inner); });
  }
  template <class... X>
  void stage(WhenRunning<X...>, const Set& set) {
    if (shared_.autoreset == Autoreset::same_step)
      all<X...>(set);
    else
      stage(When<&Life<E>::running, X...>{}, set);
  }
  template <int Mode, class... X>
  void stage(InMode<Mode, X...>, const Set& set) {
    if (int(shared_.autoreset) == Mode) all<X...>(set);
  }

  // ---- the caller's arrays

  void stage(TakeActions, const Set& set) {
    using From = typename ActionShape<typename S::Action>::Element;
    const int agents = agents_of(shared_);
    each_cell(set, agents, [agents](const Cells<S>& cells, int row) GE_LAMBDA {
      take_action<E, From, false>(cells, row, agents);
    });
  }
  template <int O, auto F>
  void stage(Write<O, F>, const Set& set) {
    using V = typename Signature<decltype(F)>::Result;
    V* const to = static_cast<V*>(shared_.bound.at[O]);
    if (to == nullptr) return;
    const int agents = agents_of(shared_);
    if constexpr (Agent::capacity == 1) {
      each_cell(set, 1, [to](const Cells<S>& cells, int row) GE_LAMBDA {
        to[cells.world] = value_of_row<F, Agent>(cells, row);
      });
    } else {
      each_cell(set, agents, [to, agents](const Cells<S>& cells, int row) GE_LAMBDA {
        to[int64_t(cells.world) * agents + row] = value_of_row<F, Agent>(cells, row);
      });
    }
  }
  void stage(ClearFinal, const Set& set) {
    char* const to = static_cast<char*>(shared_.bound.at[kFinalObservation]);
    if (to == nullptr || !crew_.first()) return crew_.meet();
    const int64_t bytes = row_bytes<typename E::Observation>(shared_) * agents_of(shared_);
    // The tile's set is whole here: contiguous blocks, then contiguous loose worlds.
    if (set.block_count > 0)
      std::memset(to + set.blocks[0] * B * bytes, 0, size_t(set.block_count * B * bytes));
    if (set.loose_count > 0)
      std::memset(to + set.loose[0] * bytes, 0, size_t(set.loose_count * bytes));
    crew_.meet();
  }
  template <auto F>
  void stage(Observe<F>, const Set& set) {
    rows_out<F, typename E::Observation>(set, final_ ? kFinalObservation : kObservation);
  }
  template <auto F>
  void stage(ObserveMask<F>, const Set& set) {
    if (!final_) rows_out<F, typename E::ActionMask>(set, kActionMask);
  }
  /// Wide rows, each written where it belongs at once: no row passes through another place.
  template <auto F, Wide Row>
  void rows_out(const Set& set, Output output) {
    const WideTarget target = wide_target<Row>(shared_, output);
    if (target.to == nullptr) return;
    const int agents = agents_of(shared_);
    const bool final = final_;
    const auto params = shared_.params;
    share_world(set, [&](const Cells<S>& cells) {
      HostWideRows<Row, typename S::Params> rows(target, params, int64_t(cells.world) * agents);
      const Crew::Range mine = crew_.share(agents);
      for (int row = mine.begin; row < mine.end; ++row) {
        const RowFate fate = row_fate<Agent>(cells, row, final);
        if (fate.wanted)
          rows.put(row, fate.shows,
                   [&](auto& writer) GE_LAMBDA { write_row<F, Agent>(cells, row, writer); });
      }
    });
  }
  template <auto F, class Row>
  void rows_out(const Set& set, Output output) {
    static_assert(std::is_same_v<Row, RowOf<F>>);
    using Element = typename RowShape<Row>::Element;
    constexpr int elements = RowShape<Row>::elements;
    Element* const to = static_cast<Element*>(shared_.bound.at[output]);
    if (to == nullptr) return;
    const int agents = agents_of(shared_);
    const bool final = final_;
    if (final) {
      // Few worlds: one by one.
      share_world(set, [&](const Cells<S>& cells) GE_LAMBDA {
        const Crew::Range mine = crew_.share(agents);
        for (int row = mine.begin; row < mine.end; ++row) {
          bool wanted;
          const Row values = observe_row<F, Agent>(cells, row, true, wanted);
          if (wanted) put(to + (int64_t(cells.world) * agents + row) * elements, values);
        }
      });
    } else {
      each_cell(set, agents, [to, agents](const Cells<S>& cells, int row) GE_LAMBDA {
        bool wanted;
        const Row values = observe_row<F, Agent>(cells, row, false, wanted);
        const int64_t at = Agent::capacity == 1 ? cells.world : int64_t(cells.world) * agents + row;
        put(to + at * elements, values);
      });
    }
  }
  template <class Row>
  GE_FN static void put(typename RowShape<Row>::Element* to, const Row& row) {
    if constexpr (RowShape<Row>::packed) {
      for (int k = 0; k < RowShape<Row>::elements; ++k) to[k] = element_at(row, k);
    } else {
      struct Plain {
        typename RowShape<Row>::Element at[RowShape<Row>::elements];
      };
      const Plain plain = __builtin_bit_cast(Plain, row);
      GE_UNROLL
      for (int k = 0; k < RowShape<Row>::elements; ++k) to[k] = plain.at[k];
    }
  }
  template <auto F>
  void stage(ObserveState<F>, const Set& set) {
    using Row = typename E::State;
    if constexpr (Wide<Row>) {
      const WideTarget target = wide_target<Row>(shared_, kState);
      if (target.to == nullptr || final_) return;
      each_world(set, [target](const Cells<S>& cells) {
        HostWideRow<Row>::put(target, cells.world, true,
                              [&](auto& writer) GE_LAMBDA { write_state<F>(cells, writer); });
      });
    } else {
      state_out<F, Row>(set);
    }
  }
  template <auto F, class Row>
  void state_out(const Set& set) {
    auto* const to = static_cast<typename RowShape<Row>::Element*>(shared_.bound.at[kState]);
    if (to == nullptr || final_) return;
    each_world(set, [to](const Cells<S>& cells) GE_LAMBDA {
      put(to + int64_t(cells.world) * RowShape<Row>::elements, state_row<F>(cells));
    });
  }
  template <class... X>
  void stage(IntoFinal<X...>, const Set& set) {
    final_ = true;
    all<X...>(set);
    final_ = false;
  }

  const Shared<S>& shared_;
  char* scratch_;
  int32_t* free_;
  int first_, count_;  // blocks
  bool final_ = false;
  Crew crew_;
};

}  // namespace ge
