// The `shuffled` executor, for tests: shows that a graph does not depend on the order in which rows
// run, and names the stage, row and column where it does. It is built with one world per block and
// runs world by world, stage by stage.
//
// A stage is a list of tasks (one per row) with the bytes that each may write. Its world is an
// image: the canonical record, then scratch memory. For each stage:
//
//   alone     each task on the bytes before the stage. Two tasks that change one byte are a write
//   race; a change outside a
//             task's own columns and row breaks its grant. The changes of all tasks together are
//             the expected image.
//   shuffled  all tasks in a random order, and in its reverse, so that of any two tasks each comes
//   first once. Both must
//             leave the expected image: otherwise a row reads what another row of the stage writes.
//   poisoned  at the beginning of a phase scratch memory is filled with a pattern, a different one
//   in each of three images
//             (zeros among them). They go through the stages side by side; what differs in the end,
//             in a record, an output or a decision, comes from scratch memory that no stage of the
//             phase has written.
//
// What the engine does by itself (lists' lengths, live bits, folding of reductions) is the plain
// form of call.hpp.
#pragma once

// Systems that leave their tables are breaches too, and must not end the process. Before any other
// header of the engine.
#define GE_ASSERT(condition) ((condition) ? (void)0 : ::ge::broken_assertion(#condition))
namespace ge {
[[noreturn]] void broken_assertion(const char* condition);
}

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "engine/graph/coloured.hpp"
#include "engine/graph/host_rows.hpp"
#include "engine/graph/reduction.hpp"
#include "engine/graph/sorting.hpp"
#include "engine/graph/tables.hpp"
#include "engine/simulator/build.hpp"
#include "engine/simulator/host.hpp"

namespace ge {

[[noreturn]] inline void broken_assertion(const char* condition) {
  throw Error(Fault::runtime, std::string("leaves its table, since not ") + condition);
}

template <class E>
class ShuffledRunner {
 public:
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  using Agent = typename S::Agent;
  static_assert(kBlock<S> == 1, "GE: cpu/shuffled is built with GE_BLOCK=1");

  ShuffledRunner(const Config& config, const typename S::Params& params)
      : random_(config.shuffle_seed),
        record_(record_bytes<Tables>(params)),
        image_(record_ + scratch_bytes<Tables>(params)) {
    for (std::string& image : images_) image.assign(size_t(image_), '\0');
    writer_.assign(size_t(image_), -1);
    list_columns<false, Tables>(columns_, segments_, params);
    const size_t persistent = columns_.size();
    list_columns<true, Tables>(columns_, segments_, params);
    for (size_t i = persistent; i < columns_.size(); ++i) columns_[i].offset += record_;
  }
  int64_t memory_bytes() const { return int64_t(kImages) * image_; }

  template <class... P>
  void run(Types<P...>, const Shared<S>& shared) {
    shared_ = shared;
    quiet_ = shared;
    quiet_.counters = &ignored_;
    std::vector<int> order;
    for (int world = 0; world < shared.worlds; ++world) order.push_back(world);
    shuffle(order);
    for (const int world : order) {
      world_ = world;
      char* const record = shared.base + world * block_bytes<Tables, 1>(shared.params);
      for (std::string& image : images_) std::memcpy(image.data(), record, size_t(record_));
      (phase(P{}), ...);
      std::memcpy(record, images_[0].data(), size_t(record_));
    }
  }

 private:
  static constexpr int kImages = 3;
  static constexpr char kPoison[kImages] = {'\x00', '\x7f', '\xa5'};

  struct Range {
    int64_t begin, end;
  };
  /// One row of a stage: what it does, its name in messages, the bytes it may change.
  struct Task {
    std::function<void(const Cells<S>&)> run;
    std::string row;
    std::vector<Range> grants;
  };

  // ---- images

  Cells<S> cells_of(std::string& image, bool counts) const {
    return {counts ? &shared_ : &quiet_, world_, image.data(), 0, image.data() + record_, 1, 0};
  }
  Cells<S> cells(int image) { return cells_of(images_[image], false); }

  template <Name kName, class L, class... X>
  void phase(Phase<kName, L, X...>) {
    phase_ = kName.text;
    for (int k = 0; k < kImages; ++k) {
      std::memset(images_[k].data() + record_, kPoison[k], size_t(image_ - record_));
      clear_tables<true>(cells(k));
    }
    all<X...>();
  }
  template <auto P, class... Inner>
  void phase(Rare<P, Inner...>) {
    stage_ = type_name<Rare<P>>();
    if (agreed<bool>([](const Cells<S>& cells) { return bool(ask<P>(cells)); }))
      (phase(Inner{}), ...);
  }
  template <class... X>
  void all() {
    (enter(X{}), ...);
  }
  template <class X>
  void enter(X) {
    stage_ = type_name<X>();
    stage(X{});
  }

  // ---- messages

  std::string column_at(int64_t byte) const {
    for (const Column& column : columns_)
      for (int64_t row = 0; row < column.rows; ++row) {
        const int64_t at = column.offset + row * column.stride;
        if (byte >= at && byte < at + column.bytes)
          return column.name + " of row " + std::to_string(row);
      }
    return "byte " + std::to_string(byte);
  }
  [[noreturn]] void breach(const std::string& what) const {
    // A stage that holds others is named by its beginning.
    std::string stage(stage_.substr(0, 160));
    if (stage.size() < stage_.size()) stage += "...";
    throw Error(Fault::runtime,
                "shuffled: phase " + std::string(phase_) + ", stage " + stage + ": " + what);
  }
  template <class F>
  auto guarded(const std::string& row, F&& f) const {
    try {
      return f();
    } catch (const Error& error) {
      breach(row + ": " + error.what());
    }
  }

  // ---- the checks

  std::vector<Range> changes(const std::string& before, const std::string& after) const {
    constexpr int64_t kStride = 64;
    std::vector<Range> all;
    for (int64_t first = 0; first < image_; first += kStride) {
      const int64_t last = std::min<int64_t>(first + kStride, image_);
      if (std::memcmp(before.data() + first, after.data() + first, size_t(last - first)) == 0)
        continue;
      for (int64_t at = first; at < last; ++at) {
        if (before[size_t(at)] == after[size_t(at)]) continue;
        if (!all.empty() && all.back().end == at)
          ++all.back().end;
        else
          all.push_back({at, at + 1});
      }
    }
    return all;
  }
  static void copy(const Range& range, const std::string& from, std::string& to) {
    std::memcpy(to.data() + range.begin, from.data() + range.begin,
                size_t(range.end - range.begin));
  }
  static bool granted(const Task& task, const Range& range) {
    int64_t at = range.begin;
    for (bool moved = true; moved && at < range.end;) {
      moved = false;
      for (const Range& grant : task.grants)
        if (at >= grant.begin && at < grant.end) at = grant.end, moved = true;
    }
    return at >= range.end;
  }

  /// Runs the tasks of a stage, with all checks.
  void rows(const std::vector<Task>& tasks) {
    const std::string before = images_[0];
    const std::string expected = alone(tasks, before);
    std::vector<int> order;
    for (size_t i = 0; i < tasks.size(); ++i) order.push_back(int(i));
    shuffle(order);
    in_order(tasks, order, images_[0], true);
    compare(tasks, images_[0], expected);
    std::reverse(order.begin(), order.end());
    std::string reversed = before;
    in_order(tasks, order, reversed, false);
    compare(tasks, reversed, expected);
    for (int k = 1; k < kImages; ++k) in_order(tasks, order, images_[k], false);
    compare_poisons();
  }
  std::string alone(const std::vector<Task>& tasks, const std::string& before) {
    std::string expected = before, image = before;
    forget_writers();
    std::vector<std::pair<int, Range>> ungranted;
    for (size_t i = 0; i < tasks.size(); ++i) {
      guarded(tasks[i].row, [&] { tasks[i].run(cells_of(image, false)); });
      for (const Range& range : changes(before, image)) {
        touched_.push_back(range);
        for (int64_t at = range.begin; at < range.end; ++at) {
          int& other = writer_[size_t(at)];
          if (other >= 0)
            breach("write race: " + tasks[size_t(other)].row + " and " + tasks[i].row +
                   " both write " + column_at(at));
          other = int(i);
        }
        if (!granted(tasks[i], range)) ungranted.push_back({int(i), range});
        copy(range, image, expected);
        copy(range, before, image);
      }
    }
    for (const auto& [task, range] : ungranted)
      breach(tasks[size_t(task)].row + " writes " + column_at(range.begin) +
             ", which the stage does not grant it");
    return expected;
  }
  void forget_writers() {
    for (const Range& range : touched_)
      std::fill(writer_.begin() + range.begin, writer_.begin() + range.end, -1);
    touched_.clear();
  }
  void in_order(const std::vector<Task>& tasks, const std::vector<int>& order, std::string& image,
                bool counts) {
    for (const int i : order)
      guarded(tasks[size_t(i)].row, [&] { tasks[size_t(i)].run(cells_of(image, counts)); });
  }
  void compare(const std::vector<Task>& tasks, const std::string& found,
               const std::string& expected) const {
    for (const Range& range : changes(expected, found)) {
      std::string reader = "a row";
      for (const Task& task : tasks)
        if (granted(task, {range.begin, range.begin + 1})) reader = task.row;
      breach("order dependence: " + reader + " leaves another " + column_at(range.begin) +
             " when it runs alone: it reads what another row of the stage writes");
    }
  }
  /// Images may differ only where all of them still have their poison.
  void compare_poisons() const {
    for (int k = 1; k < kImages; ++k)
      for (const Range& range : changes(images_[0], images_[k]))
        for (int64_t at = range.begin; at < range.end; ++at)
          if (at < record_ || images_[0][size_t(at)] != kPoison[0] ||
              images_[k][size_t(at)] != kPoison[k])
            unwritten(column_at(at));
  }
  [[noreturn]] void unwritten(const std::string& what) const {
    breach("unwritten scratch: " + what +
           " depends on scratch memory that no stage of this phase has written");
  }

  /// A value that must be the same whatever the poison, from a function that only reads.
  template <class V, class F>
  V agreed(F&& f, const std::string& row = "the world") {
    std::string image = images_[0];
    const V value = guarded(row, [&] { return f(cells_of(image, false)); });
    if (image != images_[0]) breach(row + " writes while it should only read");
    for (int k = 1; k < kImages; ++k) {
      const V other = guarded(row, [&] { return f(cells(k)); });
      if (std::memcmp(&value, &other, sizeof value) != 0) unwritten("what " + row + " returns");
    }
    return value;
  }
  /// What the engine itself does to every image, checks aside; counts once.
  template <class F>
  void engine(F&& f) {
    for (int k = 0; k < kImages; ++k) f(cells_of(images_[k], k == 0));
  }

  void shuffle(std::vector<int>& order) {
    for (size_t i = order.size(); i > 1; --i) {
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      std::swap(order[i - 1], order[size_t((random_ >> 33) % i)]);
    }
  }

  // ---- tasks

  template <class T, class C>
  int64_t offset_of() const {
    if constexpr (is_any<T>)
      return any_offset<Tables, T, C>(shared_.params);
    else
      return kOffset<Tables, T, C>;
  }
  template <class T, class C>
  Range cell(int row) const {
    const int64_t at =
        (in_scratch<T, C> ? record_ : 0) + offset_of<T, C>() + int64_t{row} * int64_t(sizeof(C));
    return {at, at + int64_t(sizeof(C))};
  }
  template <class T, class... Args>
  std::vector<Range> written(int row, Types<Args...>) {
    std::vector<Range> ranges;
    [[maybe_unused]] auto add = [&](auto arg) {
      using Arg = typename decltype(arg)::type;
      if constexpr (is_written<Arg>) ranges.push_back(cell<T, bare<Arg>>(row));
    };
    (add(Type_<Args>{}), ...);
    return ranges;
  }
  template <class... Args>
  std::vector<Range> written_singles(Types<Args...>) {
    std::vector<Range> ranges;
    [[maybe_unused]] auto add = [&](auto arg) {
      using Arg = typename decltype(arg)::type;
      using A = bare<Arg>;
      if constexpr (is_rows<A>) {
        using T = typename A::Table;
        const Range first = cell<T, typename A::Component>(0);
        ranges.push_back({first.begin, first.begin + (first.end - first.begin) * room<T>()});
      } else if constexpr (is_written<Arg>) {
        ranges.push_back(cell<single_of<A, Tables>, A>(0));
      }
    };
    (add(Type_<Args>{}), ...);
    return ranges;
  }
  template <class T, class... Cs>
  std::vector<Range> whole_row(int row, Types<Cs...>) {
    return {cell<T, Cs>(row)...};
  }
  template <class T>
  Range header_range() {
    const int64_t at = (T::scratch ? record_ : 0) + offset_of<T, void>();
    return {at, at + header_bytes<T>()};
  }
  template <class T>
  static std::string row_name(int row) {
    return "row " + std::to_string(row) + " of " + table_name<T>();
  }
  template <class T>
  std::vector<int> live_rows() {
    std::vector<int> live;
    const Cells<S> here = cells(0);
    for (int row = 0; row < here.template rows<T>(); ++row)
      if (here.template alive<T>(row)) live.push_back(row);
    return live;
  }

  // ---- stages over rows

  template <auto F>
  void stage(Each<F>) {
    if constexpr (Served<F, Tables>::value) {
      std::vector<Task> tasks;
      for_each_type(matching<Components<F>, Tables>{}, [&](auto t) {
        using T = typename decltype(t)::type;
        for (const int row : live_rows<T>())
          tasks.push_back({[row](const Cells<S>& cells) { call_row<F, T>(cells, row); },
                           row_name<T>(row), written<T>(row, Arguments<F>{})});
      });
      rows(tasks);
    }
  }
  template <auto F>
  void stage(EachTogether<F>) {
    stage(Each<F>{});
  }
  template <auto F>
  void stage(EachWorld<F>) {
    rows({{[](const Cells<S>& cells) { call_world<F>(cells); }, "the world",
           written_singles(Arguments<F>{})}});
  }

  /// The header of a table, written by the engine at any moment of the stage.
  template <class T, class F>
  Task header_task(F&& f) {
    return {f, "the header of " + table_name<T>(), {header_range<T>()}};
  }
  template <class T>
  Task length_task(int length) {
    return header_task<T>(
        [length](const Cells<S>& cells) { *cells.template header<T>(0) = uint32_t(length); });
  }
  template <class T>
  void overflow(int needed) {
    count_overflow<T>(cells_of(images_[0], true), needed, room<T>());
  }
  template <class T>
  int room() const {
    return int(room_of<T>(shared_.params));
  }
  template <auto Make, class T, class... Index>
  Task maker(int row, Index... index) {
    return {[row, index...](const Cells<S>& cells) { make_row<Make, T>(cells, row, index...); },
            row_name<T>(row), whole_row<T>(row, typename T::components{})};
  }
  template <auto Count>
  int count_of() {
    return agreed<int>([](const Cells<S>& cells) { return int(ask<Count>(cells)); });
  }

  template <auto Count, auto F, class T>
  void stage(For<Count, F, T>) {
    const int wanted = count_of<Count>();
    const int length = std::clamp(wanted, 0, room<T>());
    std::vector<Task> tasks;
    for (int row = 0; row < length; ++row) tasks.push_back(maker<F, T>(row, row));
    tasks.push_back(length_task<T>(length));
    rows(tasks);
    overflow<T>(wanted);
  }
  template <auto Count, auto F, class T>
  void stage(ForPacks<Count, F, T>) {
    using C = typename OneFloat<T, typename T::components>::type;
    const int wanted = count_of<Count>();
    const int length = std::clamp(wanted, 0, room<T>());
    std::vector<Task> tasks;
    for (int first = 0; first < length; first += kPack) {
      Task task{[first, length](const Cells<S>& cells) { make_pack<F, T>(cells, first, length); },
                row_name<T>(first),
                {}};
      for (int row = first; row < std::min(first + kPack, length); ++row)
        task.grants.push_back(cell<T, C>(row));
      tasks.push_back(std::move(task));
    }
    tasks.push_back(length_task<T>(length));
    rows(tasks);
    overflow<T>(wanted);
  }
  template <auto Count, auto F>
  void stage(Coloured<Count, F>) {
    using T = typename ColouredTable<F, Tables>::type;
    const int colours = count_of<Count>();
    for (int colour = 0; colour < colours; ++colour) {
      std::vector<Task> tasks;
      for (const int row : live_rows<T>()) {
        const uint32_t own = agreed<uint32_t>(
            [row](const Cells<S>& cells) { return cells.template load<T, Colour>(row).value; });
        if (own != uint32_t(colour)) continue;
        tasks.push_back({[row](const Cells<S>& cells) { call_coloured<F, T>(cells, row); },
                         row_name<T>(row), written_coloured<T>(row, Arguments<F>{})});
      }
      rows(tasks);
    }
  }
  /// Its own row, and any row of the columns that it was lent: races are found by the bytes.
  template <class T, class... Args>
  std::vector<Range> written_coloured(int row, Types<Args...>) {
    std::vector<Range> ranges;
    [[maybe_unused]] auto add = [&](auto arg) {
      using Arg = typename decltype(arg)::type;
      using A = bare<Arg>;
      std::vector<Range> more;
      if constexpr (is_rows<A>)
        more = written_singles(Types<Arg>{});
      else
        more = written<T>(row, Types<Arg>{});
      ranges.insert(ranges.end(), more.begin(), more.end());
    };
    (add(Type_<Args>{}), ...);
    return ranges;
  }
  template <auto Count, auto Test, auto Make, class T>
  void stage(Emit<Count, Test, Make, T>) {
    const int count = count_of<Count>();
    emit<T>(
        count, [](const Cells<S>& cells, int i) { return bool(Test(World<S>(cells), i)); },
        [this](int row, int i) { return maker<Make, T>(row, i); });
  }
  template <class A, class C, auto Test, auto Make, class T>
  void stage(EmitPairs<A, C, Test, Make, T>) {
    const Cells<S> here = cells(0);
    const int count_a = here.template rows<A>(), count_c = here.template rows<C>();
    constexpr bool same = std::is_same_v<A, C>;
    std::vector<Pair> pairs;  // of live rows, in the engine's order
    for (int i = 0; i < (same ? pair_count(count_a) : count_a * count_c); ++i) {
      const Pair p = same ? pair_at(i, count_a) : Pair{i / count_c, i % count_c};
      if (here.template alive<A>(p.a) && here.template alive<C>(p.b)) pairs.push_back(p);
    }
    emit<T>(
        int(pairs.size()),
        [&pairs](const Cells<S>& cells, int i) {
          return bool(Test(World<S>(cells), pairs[size_t(i)].a, pairs[size_t(i)].b));
        },
        [this, &pairs](int row, int i) {
          return maker<Make, T>(row, pairs[size_t(i)].a, pairs[size_t(i)].b);
        });
  }
  /// Tests alone say which indices hit and so which row each maker fills; in the shuffled orders
  /// each index tests again, among makers and the list's new length, and must say the same.
  template <class T, class Test, class Maker>
  void emit(int count, Test test, Maker make) {
    std::vector<Task> tasks;
    int hits = 0;
    for (int i = 0; i < count; ++i) {
      const std::string name = "index " + std::to_string(i);
      const bool hit = agreed<bool>([&](const Cells<S>& cells) { return test(cells, i); }, name);
      Task task{[](const Cells<S>&) {}, name, {}};
      if (hit && hits < room<T>()) task = make(hits, i);
      hits += hit ? 1 : 0;
      const auto fill = task.run;
      task.run = [test, fill, i, hit](const Cells<S>& cells) {
        if (test(cells, i) != hit) dependent_test();
        fill(cells);
      };
      tasks.push_back(std::move(task));
    }
    tasks.push_back(length_task<T>(std::min(hits, room<T>())));
    rows(tasks);
    overflow<T>(hits);
  }
  [[noreturn]] static void dependent_test() {
    throw Error(Fault::runtime,
                "order dependence: its test reads what another row of the stage writes");
  }

  template <auto Key, class T, class Order, class Starts>
  void stage(SortRows<Key, T, Order, Starts>) {
    for (const int row : live_rows<T>())
      agreed<uint32_t>([row](const Cells<S>& cells) { return value_of_row<Key, T>(cells, row); },
                       row_name<T>(row));
    engine([](const Cells<S>& cells) { sort_rows<Key, T, Order, Starts>(cells); });
    compare_poisons();
  }

  // ---- pools

  template <auto Count, auto Make, class T>
  void stage(Spawn<Count, Make, T>) {
    const int wanted = count_of<Count>();
    std::vector<int> taken;
    for (int row = 0; row < T::capacity && int(taken.size()) < wanted; ++row)
      if (!cells(0).template alive<T>(row)) taken.push_back(row);
    std::vector<Task> tasks;
    for (size_t k = 0; k < taken.size(); ++k) tasks.push_back(maker<Make, T>(taken[k], int(k)));
    tasks.push_back(header_task<T>([taken](const Cells<S>& cells) {
      for (const int row : taken) *cells.template header<T>(row >> 5) |= 1u << (row & 31);
    }));
    rows(tasks);
    overflow<T>(wanted > int(taken.size()) ? T::capacity + wanted - int(taken.size()) : 0);
  }
  template <auto Test, class T>
  void stage(Destroy<Test, T>) {
    std::vector<Task> tasks;
    std::vector<int> dead;
    for (const int row : live_rows<T>()) {
      const bool dies = agreed<bool>(
          [row](const Cells<S>& cells) { return bool(value_of_row<Test, T>(cells, row)); },
          row_name<T>(row));
      Task task{[row, dies](const Cells<S>& cells) {
                  if (bool(value_of_row<Test, T>(cells, row)) != dies) dependent_test();
                  if (dies) zero_row<T>(cells, row, typename T::components{});
                },
                row_name<T>(row), whole_row<T>(row, typename T::components{})};
      if (dies) dead.push_back(row);
      tasks.push_back(std::move(task));
    }
    tasks.push_back(header_task<T>([dead](const Cells<S>& cells) {
      for (const int row : dead) destroy_header<T>(cells, row);
    }));
    rows(tasks);
  }
  template <class T>
  static void destroy_header(const Cells<S>& cells, int row) {
    *cells.template header<T>(row >> 5) &= ~(1u << (row & 31));
    *cells.template generation<T>(row) += 1;
  }
  void stage(ClearTables) {
    engine([](const Cells<S>& cells) { clear_tables<false>(cells); });
    compare_poisons();
  }

  // ---- reductions: every row's value alone, then the plain fold

  template <auto F, class Op, auto Into>
  void stage(Reduce<F, Op, Into>) {
    using R = decltype(Op::identity());
    if constexpr (Served<F, Tables>::value) {
      for_each_type(matching<Components<F>, Tables>{}, [&](auto t) {
        using T = typename decltype(t)::type;
        for (const int row : live_rows<T>())
          agreed<R>([row](const Cells<S>& cells) { return R(value_of_row<F, T>(cells, row)); },
                    row_name<T>(row));
      });
      const R total = agreed<R>([](const Cells<S>& cells) { return reduce_world<F, Op>(cells); });
      using Rest = typename Tail<Arguments<Into>>::type;
      rows({{[total](const Cells<S>& cells) { call_into<Into>(cells, total); }, "the world",
             written_singles(Rest{})}});
    }
  }

  // ---- control

  template <auto N, class... X>
  void stage(Repeat<N, X...>) {
    int times;
    if constexpr (is_number<N>)
      times = N;
    else
      times = N(shared_.params);
    for (int i = 0; i < times; ++i) all<X...>();
  }
  template <auto P>
  bool has() {
    return agreed<bool>([](const Cells<S>& cells) { return bool(ask<P>(cells)); });
  }
  template <auto P, class... X>
  void stage(RepeatWhile<P, X...>) {
    const std::string_view own = stage_;
    while (has<P>()) {
      all<X...>();
      stage_ = own;
    }
  }
  template <auto P, class... X>
  void stage(When<P, X...>) {
    if (has<P>()) all<X...>();
  }
  template <class... X>
  void stage(WhenRunning<X...>) {
    if (shared_.autoreset == Autoreset::same_step || has<&Life<E>::running>()) all<X...>();
  }
  template <int Mode, class... X>
  void stage(InMode<Mode, X...>) {
    if (int(shared_.autoreset) == Mode) all<X...>();
  }

  // ---- the caller's arrays

  void stage(TakeActions) {
    using A = typename S::Action;
    const int agents = agents_of(shared_);
    std::vector<Task> tasks;
    for (int row = 0; row < agents; ++row)
      tasks.push_back({[row, agents](const Cells<S>& cells) {
                         take_action<E, typename ActionShape<A>::Element, false>(cells, row,
                                                                                 agents);
                       },
                       row_name<Agent>(row),
                       {cell<Agent, A>(row)}});
    rows(tasks);
  }
  template <int O, auto F>
  void stage(Write<O, F>) {
    using V = typename Signature<decltype(F)>::Result;
    V* const to = static_cast<V*>(shared_.bound.at[O]);
    if (to == nullptr) return;
    const int agents = agents_of(shared_);
    for (int row = 0; row < agents; ++row)
      to[int64_t(world_) * agents + row] =
          agreed<V>([row](const Cells<S>& cells) { return value_of_row<F, Agent>(cells, row); },
                    row_name<Agent>(row));
  }
  void stage(ClearFinal) {
    char* const to = static_cast<char*>(shared_.bound.at[kFinalObservation]);
    if (to == nullptr) return;
    const int64_t bytes = row_bytes<typename E::Observation>(shared_) * agents_of(shared_);
    std::memset(to + world_ * bytes, 0, size_t(bytes));
  }
  template <auto F>
  void stage(Observe<F>) {
    rows_out<F, typename E::Observation>(final_ ? kFinalObservation : kObservation);
  }
  template <auto F>
  void stage(ObserveMask<F>) {
    if (!final_) rows_out<F, typename E::ActionMask>(kActionMask);
  }
  /// A wide row of every image, by make(cells, writer), written once all agree.
  template <class Row, class Make>
  void wide_row_out(WideTarget target, int64_t index, bool shows, const std::string& name,
                    Make&& make) {
    const int64_t bytes = wide_bytes(target.format, target.elements);
    char* const to = target.to + index * bytes;
    std::string first;
    for (int k = 0; k < kImages; ++k) {
      std::string image = images_[k], row(size_t(bytes), kPoison[k]);
      target.to = row.data();
      guarded(name, [&] {
        HostWideRow<Row>::put(target, 0, shows,
                              [&](auto& writer) { make(cells_of(image, false), writer); });
      });
      if (image != images_[k]) breach(name + " writes while it should only read");
      if (k == 0) first = row;
      if (row != first) unwritten("what " + name + " shows");
    }
    std::memcpy(to, first.data(), size_t(bytes));
  }
  template <auto F, Wide Row>
  void rows_out(Output output) {
    const WideTarget target = wide_target<Row>(shared_, output);
    if (target.to == nullptr) return;
    const int agents = agents_of(shared_);
    const bool final = final_;
    for (int row = 0; row < agents; ++row) {
      const auto fate = agreed<RowFate>(
          [row, final](const Cells<S>& cells) { return row_fate<Agent>(cells, row, final); },
          row_name<Agent>(row));
      if (!fate.wanted) continue;
      wide_row_out<Row>(
          target, int64_t(world_) * agents + row, fate.shows, row_name<Agent>(row),
          [row](const Cells<S>& cells, auto& writer) { write_row<F, Agent>(cells, row, writer); });
    }
  }
  template <auto F, class Row>
  void rows_out(Output output) {
    static_assert(std::is_same_v<Row, RowOf<F>>);
    using Element = typename RowShape<Row>::Element;
    Element* const to = static_cast<Element*>(shared_.bound.at[output]);
    if (to == nullptr) return;
    const int agents = agents_of(shared_);
    const bool final = final_;
    for (int row = 0; row < agents; ++row) {
      bool wanted = false;
      const Row values = agreed<Row>(
          [row, final, &wanted](const Cells<S>& cells) {
            return observe_row<F, Agent>(cells, row, final, wanted);
          },
          row_name<Agent>(row));
      if (wanted) put(to + (int64_t(world_) * agents + row) * RowShape<Row>::elements, values);
    }
  }
  template <class Row>
  static void put(typename RowShape<Row>::Element* to, const Row& row) {
    for (int k = 0; k < RowShape<Row>::elements; ++k) to[k] = element_at(row, k);
  }
  template <auto F>
  void stage(ObserveState<F>) {
    using Row = typename E::State;
    if constexpr (Wide<Row>) {
      const WideTarget target = wide_target<Row>(shared_, kState);
      if (target.to == nullptr || final_) return;
      wide_row_out<Row>(target, world_, true, "the world",
                        [](const Cells<S>& cells, auto& writer) { write_state<F>(cells, writer); });
    } else {
      state_out<F, Row>();
    }
  }
  template <auto F, class Row>
  void state_out() {
    auto* const to = static_cast<typename RowShape<Row>::Element*>(shared_.bound.at[kState]);
    if (to == nullptr || final_) return;
    put(to + int64_t(world_) * RowShape<Row>::elements,
        agreed<Row>([](const Cells<S>& cells) { return state_row<F>(cells); }));
  }
  template <class... X>
  void stage(IntoFinal<X...>) {
    final_ = true;
    all<X...>();
    final_ = false;
  }

  uint64_t random_;
  const int64_t record_, image_;  // bytes
  std::string images_[kImages];
  std::vector<Column> columns_;
  std::vector<Segment> segments_;
  Shared<S> shared_{}, quiet_{};
  Counters ignored_{};
  std::vector<int> writer_;     // of each byte, the task of this stage that changed it, or -1
  std::vector<Range> touched_;  // where writer_ is not -1
  int world_ = 0;
  bool final_ = false;
  const char* phase_ = "";
  std::string_view stage_;
};

}  // namespace ge
