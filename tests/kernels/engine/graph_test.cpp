// Stages against plain loops: the canonical order of reductions, pairs, the order of emitted rows,
// repetition, worlds with a condition.
// runs always: crews meet in another order each time
#include <bit>
#include <cmath>

#include "engine/cpu/entry.hpp"
#include "nothing.hpp"
#include "simulation.hpp"

using namespace ge;
using namespace ge::test;

namespace {

struct Number {
  float value;
  static constexpr auto describe() { return fields(field("number", &Number::value, "any")); }
};
struct Results {
  float sum, highest, lowest;
  int32_t count, bits;
  static constexpr auto describe() {
    return fields(field("sum", &Results::sum, "Sum"), field("highest", &Results::highest, "Max"),
                  field("lowest", &Results::lowest, "Min"),
                  field("count", &Results::count, "SumInt").any_value(),
                  field("bits", &Results::bits, "AnyOf").any_value());
  }
};
struct Hit {
  int32_t first, second;
  static constexpr auto describe() {
    return fields(field("first", &Hit::first, "index or row").any_value(),
                  field("second", &Hit::second, "row").any_value());
  }
};

// How deeply stages lie in one another: that of the deepest, not their sum.
bool always(const int&) {
  return true;
}
static_assert(nesting(Types<>{}) == 0 && nesting(Types<ClearFinal, ClearTables>{}) == 0);
static_assert(nesting(Types<When<&always>, Repeat<3, When<&always, ClearFinal>>>{}) == 2);
static_assert(nesting(Types<WhenRunning<When<&always, IntoFinal<ClearTables>>>,
                            When<&always, ClearTables>>{}) == 3);

struct One : Agents<1, Nothing> {
  static constexpr const char* name = "one";
};
template <int N>
struct Numbers : Fixed<N, Number> {
  static constexpr const char* name = "numbers";
};
template <int N>
struct More : Fixed<N, Number> {
  static constexpr const char* name = "more";
};
struct Board : Single<Results> {
  static constexpr const char* name = "board";
};
struct Hits : List<6, Hit> {
  static constexpr const char* name = "hits";
};
struct Couples : List<200, Hit> {
  static constexpr const char* name = "couples";
};

/// M = 0: one table of numbers; else a second one.
template <int N, int M>
struct Schema {
  using Params = None;
  using Action = Nothing;
  using Agent = One;
  using tables =
      std::conditional_t<M == 0, Types<One, Numbers<N>, Board, Hits, Couples>,
                         Types<One, Numbers<N>, More<M == 0 ? 1 : M>, Board, Hits, Couples>>;
};

template <class S>
struct Rules {
  using W = World<S>;
  static float number(const W&, const Number& n) { return n.value; }
  static int32_t one(const W&, const Number&) { return 1; }
  static int32_t sign(const W&, Slot slot, const Number& n) {
    return n.value < 0 ? 1 << (slot.row % 31) : 0;
  }
  static void sum(const W&, float v, Results& r) { r.sum = v; }
  static void highest(const W&, float v, Results& r) { r.highest = v; }
  static void lowest(const W&, float v, Results& r) { r.lowest = v; }
  static void count(const W&, int32_t v, Results& r) { r.count = v; }
  static void bits(const W&, int32_t v, Results& r) { r.bits = v; }
  static void observe(const W&, Row&, const Fate&) {}
  static void clear(const W&, Results& r) { r = Results{}; }
};

template <int N, int M = 0>
struct Reducing {
  using Schema = ::Schema<N, M>;
  using R = Rules<Schema>;
  using Observation = Row;
  using Reset = Stages<EachWorld<&R::clear>>;
  using Step = Stages<Reduce<&R::number, Sum, &R::sum>, Reduce<&R::number, Max, &R::highest>,
                      Reduce<&R::number, Min, &R::lowest>, Reduce<&R::one, SumInt, &R::count>,
                      Reduce<&R::sign, AnyOf, &R::bits>>;
  using Observe = Stages<ge::Observe<&R::observe>>;
  static constexpr Card card{.doc = ""};
};

/// crew: threads that share each world.
template <class E>
std::unique_ptr<Simulator> make(int64_t worlds, int crew) {
  Config config;
  config.worlds = worlds;
  config.crew = crew;
  return make_simulator(cpu_entry<Builds<Build<"Graph-v0", E>>>(), "Graph-v0", config);
}

// ---- the canonical order, written down once more: W = min(32, bit_ceil(capacity)) accumulators
// from the identity; row k goes to accumulator k mod W; then k with k + W/2 and so on; chunks of
// 1,024, and their results in the same way.

float fold(std::vector<float> sums) {
  for (size_t half = sums.size() / 2; half > 0; half /= 2)
    for (size_t k = 0; k < half; ++k) sums[k] = sums[k] + sums[k + half];
  return sums[0];
}
size_t width(size_t rows) {
  return std::min<size_t>(32, std::bit_ceil(rows));
}
void append_chunks(std::vector<float>& parts, const std::vector<float>& rows) {
  for (size_t first = 0; first < rows.size(); first += 1024) {
    std::vector<float> sums(width(rows.size()), -0.0f);
    for (size_t k = first; k < std::min(first + 1024, rows.size()); ++k)
      sums[(k - first) % sums.size()] = sums[(k - first) % sums.size()] + rows[k];
    parts.push_back(fold(sums));
  }
}
float canonical_sum(const std::vector<std::vector<float>>& tables) {
  std::vector<float> parts;
  for (const auto& rows : tables) append_chunks(parts, rows);
  if (parts.size() == 1) return parts[0];
  std::vector<float> sums(width(parts.size()), -0.0f);
  for (size_t k = 0; k < parts.size(); ++k)
    sums[k % sums.size()] = sums[k % sums.size()] + parts[k];
  return fold(sums);
}

/// Numbers of very different magnitudes, so that any other order has another sum.
std::vector<float> random_numbers(size_t count, uint32_t stream) {
  std::vector<float> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    const Draw d = draw(4, 4, stream, 0, 0, 0, uint32_t(i), 0);
    numbers[i] = (d.uniform(0) - 0.5f) * std::ldexp(1.0f, int(d.below(1, 24)));
  }
  return numbers;
}
template <class T>
std::vector<T> rows_of(const std::vector<T>& all, size_t world, size_t rows) {
  return {all.begin() + long(world * rows), all.begin() + long((world + 1) * rows)};
}

template <int N, int M = 0>
void check_reduce(int crew = 1) {
  constexpr size_t kWorlds = 19;  // a whole block and loose worlds
  Simulation simulation(make<Reducing<N, M>>(kWorlds, crew));
  simulation.reset(1);
  const auto numbers = random_numbers(kWorlds * N, N), more = random_numbers(kWorlds * M, 77);
  simulation.set("numbers.number", numbers);
  if constexpr (M > 0) simulation.set("more.number", more);
  simulation.step({0});
  const auto sums = simulation.get<float>("board.sum"),
             highest = simulation.get<float>("board.highest"),
             lowest = simulation.get<float>("board.lowest");
  const auto counts = simulation.get<int32_t>("board.count"),
             bits = simulation.get<int32_t>("board.bits");
  for (size_t w = 0; w < kWorlds; ++w) {
    std::vector<std::vector<float>> tables{rows_of(numbers, w, N)};
    if constexpr (M > 0) tables.push_back(rows_of(more, w, M));
    float high = -INFINITY, low = INFINITY;
    int32_t any = 0, count = 0;
    for (const auto& table : tables)
      for (size_t row = 0; row < table.size(); ++row) {
        high = std::max(high, table[row]), low = std::min(low, table[row]);
        any |= table[row] < 0 ? 1 << (row % 31) : 0;
        ++count;
      }
    CHECK_EQ(std::bit_cast<uint32_t>(sums[w]), std::bit_cast<uint32_t>(canonical_sum(tables)));
    CHECK_EQ(highest[w], high);
    CHECK_EQ(lowest[w], low);
    CHECK_EQ(counts[w], count);
    CHECK_EQ(bits[w], any);
  }
}

}  // namespace

GE_TEST(reduction_of_few_rows_has_the_canonical_order) {
  check_reduce<1>();
  check_reduce<7>();
  check_reduce<33>();
}
GE_TEST(reduction_of_many_rows_has_the_canonical_order) {
  check_reduce<100>();
  check_reduce<1024>();
}
GE_TEST(reduction_of_more_rows_than_a_chunk_has_the_canonical_order) {
  check_reduce<1025>();
  check_reduce<5000>();
}
GE_TEST(reduction_of_two_tables_has_the_canonical_order) {
  check_reduce<7, 33>();
  check_reduce<1500, 40>();
}
GE_TEST(reduction_by_a_crew_has_the_canonical_order) {
  check_reduce<7>(2);
  check_reduce<1024>(3);
  check_reduce<5000>(3);
  check_reduce<1500, 40>(2);
}

GE_TEST(max_and_min_prefer_numbers_to_nan_and_order_zeros) {
  const float nan = NAN;
  for (const auto& [a, b] : {std::pair{1.0f, nan}, std::pair{nan, 1.0f}}) {
    CHECK_EQ(Max::combine(a, b), 1.0f);
    CHECK_EQ(Min::combine(a, b), 1.0f);
  }
  CHECK(!std::signbit(Max::combine(-0.0f, 0.0f)) && !std::signbit(Max::combine(0.0f, -0.0f)));
  CHECK(std::signbit(Min::combine(-0.0f, 0.0f)) && std::signbit(Min::combine(0.0f, -0.0f)));
  CHECK_EQ(Max::combine(Max::identity(), -INFINITY), -INFINITY);
  CHECK_EQ(Min::combine(Min::identity(), INFINITY), INFINITY);
}
GE_TEST(sum_of_nothing_is_minus_zero_so_that_zeros_keep_their_sign) {
  CHECK(std::signbit(Sum::combine(Sum::identity(), -0.0f)));
  CHECK(!std::signbit(Sum::combine(Sum::identity(), 0.0f)));
  CHECK_EQ(SumInt::combine(INT32_MAX, 1), INT32_MIN);
}

GE_TEST(pair_at_lists_every_pair_once) {
  for (int n = 1; n <= 66; ++n) {
    std::vector<int> seen(size_t(n * n));
    for (int i = 0; i < pair_count(n); ++i) {
      const Pair p = pair_at(i, n);
      CHECK(0 <= p.a && p.a < p.b && p.b < n);
      ++seen.at(size_t(p.a * n + p.b));
    }
    for (int a = 0; a < n; ++a)
      for (int b = 0; b < n; ++b) CHECK_EQ(seen[size_t(a * n + b)], a < b ? 1 : 0);
  }
}
GE_TEST(pair_at_has_a_fixed_order) {
  std::string order;
  for (int i = 0; i < pair_count(5); ++i)
    order += std::to_string(pair_at(i, 5).a) + std::to_string(pair_at(i, 5).b) + " ";
  CHECK_EQ(order, "01 02 03 04 34 12 13 14 23 24 ");
}

// ---- lists and repetition

namespace {

using ListSchema = Schema<9, 0>;
using W = World<ListSchema>;
using Table = Numbers<9>;

bool is_negative(const W& w, int i) {
  return get<Table, Number>(w, i).value < 0;
}
void make_hit(const W&, int i, Hit& hit) {
  hit = {i, hit.second - 1};
}
int nine(const W&) {
  return 9;
}
bool has_negative_product(const W& w, int a, int b) {
  return get<Table, Number>(w, a).value * get<Table, Number>(w, b).value < 0;
}
void make_couple(const W&, int a, int b, Hit& couple) {
  couple = {a, b};
}
int first_number(const W& w) {
  return int(get<Table, Number>(w, 0).value);
}
void make_index(const W&, int i, Hit& hit) {
  hit = {i, 0};
}
void clear(const W&, Results& results) {
  results = Results{};
}
bool is_even(const W& w, const Results&) {
  return int(get<Table, Number>(w, 2).value) % 2 == 0;
}
void mark(const W&, Results& results) {
  results.count = results.count + 100;
}

struct Emitting : Reducing<9> {
  using Step = Stages<Emit<9, &is_negative, &make_hit, Hits>,
                      EmitPairs<Table, Table, &has_negative_product, &make_couple, Couples>>;
};
struct EmittingByFunction : Reducing<9> {
  using Step = Stages<Emit<&nine, &is_negative, &make_hit, Hits>,
                      EmitPairs<Table, Table, &has_negative_product, &make_couple, Couples>>;
};
struct Filling : Reducing<9> {
  using Step = Stages<For<&first_number, &make_index, Hits>>;
};
struct Repeating : Reducing<9> {
  using Step = Stages<EachWorld<&clear>,
                      Repeat<3, EachWorld<&mark>, Repeat<2, When<&is_even, EachWorld<&mark>>>>>;
};

template <class E>
void check_emit(int crew = 1) {
  constexpr size_t kWorlds = 35;
  Simulation simulation(make<E>(kWorlds, crew));
  simulation.reset(1);
  const auto numbers = random_numbers(kWorlds * 9, 5);
  simulation.set("numbers.number", numbers);
  simulation.step({0});
  const auto counts = simulation.get<uint32_t>("hits.count"),
             couple_counts = simulation.get<uint32_t>("couples.count");
  const auto first = simulation.get<int32_t>("hits.first"),
             second = simulation.get<int32_t>("hits.second");
  const auto a = simulation.get<int32_t>("couples.first"),
             b = simulation.get<int32_t>("couples.second");
  int64_t dropped = 0, needed = 0;
  for (size_t w = 0; w < kWorlds; ++w) {
    std::vector<int32_t> hits;
    for (int32_t i = 0; i < 9; ++i)
      if (numbers[w * 9 + size_t(i)] < 0) hits.push_back(i);
    if (hits.size() > 6)
      dropped += int64_t(hits.size()) - 6, needed = std::max(needed, int64_t(hits.size()));
    CHECK_EQ(counts[w], uint32_t(std::min<size_t>(hits.size(), 6)));
    for (size_t k = 0; k < counts[w]; ++k) CHECK_EQ(first[w * 6 + k], hits[k]);
    for (size_t k = 0; k < counts[w]; ++k) CHECK_EQ(second[w * 6 + k], -1);
    size_t k = 0;
    for (int i = 0; i < pair_count(9); ++i) {
      const Pair p = pair_at(i, 9);
      if (numbers[w * 9 + size_t(p.a)] * numbers[w * 9 + size_t(p.b)] >= 0) continue;
      CHECK_EQ(a[w * 200 + k], p.a);
      CHECK_EQ(b[w * 200 + k], p.b);
      ++k;
    }
    CHECK_EQ(couple_counts[w], uint32_t(k));
  }
  const FaultReport report = simulation->faults();
  CHECK_EQ(report.tables.size(), size_t(1));
  CHECK_EQ(report.tables.at(0).dropped, dropped);
  CHECK_EQ(report.tables.at(0).needed, needed);
}

}  // namespace

GE_TEST(emitted_rows_come_in_index_order_and_the_last_are_dropped) {
  check_emit<Emitting>();
  check_emit<Emitting>(3);
}
GE_TEST(emission_with_a_count_by_function_equals_that_with_a_number) {
  check_emit<EmittingByFunction>();
  check_emit<EmittingByFunction>(3);
}

namespace {

void check_lengths(int crew) {
  constexpr size_t kWorlds = 20;
  Simulation simulation(make<Filling>(kWorlds, crew));
  simulation.reset(1);
  std::vector<float> numbers(kWorlds * 9);
  for (size_t w = 0; w < kWorlds; ++w) numbers[w * 9] = float(w) - 4.0f;
  simulation.set("numbers.number", numbers);
  simulation.step({0});
  const auto counts = simulation.get<uint32_t>("hits.count");
  const auto first = simulation.get<int32_t>("hits.first");
  for (size_t w = 0; w < kWorlds; ++w) {
    CHECK_EQ(counts[w], uint32_t(std::clamp(int(w) - 4, 0, 6)));
    for (uint32_t k = 0; k < counts[w]; ++k) CHECK_EQ(first[w * 6 + k], int32_t(k));
  }
  const FaultReport report = simulation->faults();
  CHECK_EQ(report.tables.at(0).dropped, 9 + 8 + 7 + 6 + 5 + 4 + 3 + 2 + 1);
  CHECK_EQ(report.tables.at(0).needed, 15);
}

void check_repetition(int crew) {
  constexpr size_t kWorlds = 50;
  Simulation simulation(make<Repeating>(kWorlds, crew));
  simulation.reset(1);
  std::vector<float> numbers(kWorlds * 9);
  for (size_t w = 0; w < kWorlds; ++w) numbers[w * 9 + 2] = float(w);
  simulation.set("numbers.number", numbers);
  simulation.step({0});
  const auto marks = simulation.get<int32_t>("board.count");
  for (size_t w = 0; w < kWorlds; ++w) CHECK_EQ(marks[w], w % 2 == 0 ? 900 : 300);
}

}  // namespace

GE_TEST(list_filled_by_for_has_as_many_rows_as_each_world_asks) {
  check_lengths(1);
  check_lengths(3);
}
GE_TEST(repeated_stages_run_for_the_worlds_with_the_condition) {
  check_repetition(1);
  check_repetition(3);
}
