// One world on trial, and the checks that every stage's tasks go through: alone, shuffled, poisoned
// (shuffled.hpp explains each). The stages make the tasks.
#pragma once

#include <functional>

#include "engine/checking/shuffled_images.hpp"
#include "engine/graph/episode.hpp"
#include "engine/graph/tables.hpp"
#include "engine/simulator/build.hpp"

namespace ge {

/// One row of a stage: what it does, its name in messages, the bytes it may change.
template <class E>
struct Task {
  std::function<void(const CellsOf<E>&)> run;
  std::string row;
  std::vector<ByteRange> grants;

  /// Grants may lie side by side, and a range may need several: it is walked from grant to grant.
  bool granted(const ByteRange& range) const {
    int64_t at = range.begin;
    for (bool moved = true; moved && at < range.end;) {
      moved = false;
      for (const ByteRange& grant : grants)
        if (at >= grant.begin && at < grant.end) at = grant.end, moved = true;
    }
    return at >= range.end;
  }
};
template <class E>
using TaskList = std::vector<Task<E>>;

template <class E>
struct Trial {
  using Environment = E;
  using S = typename E::Schema;
  using Tables = AllTables<S>;
  static constexpr int kImages = WorldImages::kCount;

  WorldImages images;
  Shared<S> shared{}, quiet{};  // quiet: what is counted while it runs is forgotten
  int world = 0;
  uint32_t lifetime = 0;    // of scratch memory, as a bit; 0: none has begun
  bool into_final = false;  // rows are final observations, of agents that have just ended

  Trial(uint64_t seed, const held_of<S>& params)
      : images(record_bytes<Tables>(params), scratch_bytes<Tables>(params)), random_(seed) {
    // Scratch columns have offsets of their own; in an image their memory lies behind the record.
    writer_.assign(size_t(images.image), -1);
    std::vector<Segment> segments;
    list_columns<false, Tables>(images.columns, segments, params);
    const size_t persistent = images.columns.size();
    list_columns<true, Tables>(images.columns, segments, params);
    for (size_t i = persistent; i < images.columns.size(); ++i)
      images.columns[i].offset += images.record;
  }
  static constexpr bool walks_on_host = true;  // host_walk.hpp
  const Shared<S>& call() const { return shared; }
  bool& writes_final() { return into_final; }

  void take(const Shared<S>& all) {
    shared = quiet = all;
    // A stage's tasks run five times over, but their counts are to be reported once.
    quiet.counters = &ignored_;
  }
  Cells<S> cells_of(std::string& image, bool counts) const {
    const Shared<S>& call = counts ? shared : quiet;
    return {&call,
            world,
            image.data(),
            0,
            image.data() + images.record,
            1,
            0,
            0,
            1,
            nullptr,
            own_of(call, image.data())};
  }
  Cells<S> cells(int image) { return cells_of(images.at[image], false); }
  void shuffle(std::vector<int>& order) {
    for (size_t i = order.size(); i > 1; --i) {
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      std::swap(order[i - 1], order[size_t((random_ >> 33) % i)]);
    }
  }

  /// Enters the lifetime that a stage names, as a bit; 0: none.
  void enter_lifetime(uint32_t mask) {
    if (mask == 0 || mask == lifetime) return;
    lifetime = mask;
    constexpr int first = scratch_of_lifetimes<Tables>(0);
    images.poison_scratch(first, kScratchBytes<Tables> - first);
  }

  // ---- the checks

  /// Runs the tasks of a stage.
  void rows(const TaskList<E>& tasks) {
    // Image 0 goes through all checks, and is left as the shuffled order left it; the others
    // follow, with their own poison, in the reversed one.
    const std::string before = images.at[0];
    const std::string expected = alone(tasks, before);
    std::vector<int> order;
    for (size_t i = 0; i < tasks.size(); ++i) order.push_back(int(i));
    shuffle(order);
    in_order(tasks, order, images.at[0], true);
    compare(tasks, images.at[0], expected);
    std::reverse(order.begin(), order.end());
    std::string reversed = before;
    in_order(tasks, order, reversed, false);
    compare(tasks, reversed, expected);
    for (int k = 1; k < kImages; ++k) in_order(tasks, order, images.at[k], false);
    compare_poisons();
  }
  /// A value that must not depend on the poison, from a function that only reads.
  template <class V, class F>
  V agreed(F&& f, const std::string& row = "the world") {
    // A copy, so that a write shows without harm.
    std::string image = images.at[0];
    const V value = images.guarded(row, [&] { return f(cells_of(image, false)); });
    if (image != images.at[0]) images.breach(row + " writes while it should only read");
    for (int k = 1; k < kImages; ++k) {
      const V other = images.guarded(row, [&] { return f(cells(k)); });
      if (std::memcmp(&value, &other, sizeof value) != 0)
        images.unwritten("what " + row + " returns");
    }
    return value;
  }
  template <auto P>
  bool has() {
    return agreed<bool>([](const Cells<S>& cells) { return bool(ask<P>(cells)); });
  }
  /// Runs the engine's own work on every image, without checks; counts once.
  template <class F>
  void engine(F&& f) {
    for (int k = 0; k < kImages; ++k) f(cells_of(images.at[k], k == 0));
  }
  /// Images may differ only where all of them still have their poison.
  void compare_poisons() const {
    for (int k = 1; k < kImages; ++k)
      for (const ByteRange& range : images.changes(images.at[0], images.at[k]))
        for (int64_t byte = range.begin; byte < range.end; ++byte)
          if (!images.poisoned(0, byte) || !images.poisoned(k, byte))
            images.unwritten(images.column_at(byte));
  }

 private:
  /// The image that all tasks together leave, each run on the bytes from before the stage.
  std::string alone(const TaskList<E>& tasks, const std::string& before) {
    std::string expected = before, image = before;
    forget_writers();
    std::vector<std::pair<int, ByteRange>> ungranted;
    for (size_t i = 0; i < tasks.size(); ++i) {
      images.guarded(tasks[i].row, [&] { tasks[i].run(cells_of(image, false)); });
      for (const ByteRange& range : images.changes(before, image)) {
        note_writer(tasks, int(i), range);
        if (!tasks[i].granted(range)) ungranted.push_back({int(i), range});
        copy_range(range, image, expected);
        copy_range(range, before, image);
      }
    }
    // Reported last: that two rows write one word says more than that one of them may not.
    for (const auto& [task, range] : ungranted)
      images.breach(tasks[size_t(task)].row + " writes " + images.column_at(range.begin) +
                    ", which the stage does not grant it");
    return expected;
  }
  void note_writer(const TaskList<E>& tasks, int task, const ByteRange& range) {
    touched_.push_back(range);
    for (int64_t byte = range.begin; byte < range.end; ++byte) {
      int& other = writer_[size_t(byte)];
      if (other >= 0)
        images.breach("write race: " + tasks[size_t(other)].row + " and " +
                      tasks[size_t(task)].row + " both write " + images.column_at(byte));
      other = task;
    }
  }
  // Only where something was recorded: images are large, and most stages change little.
  void forget_writers() {
    for (const ByteRange& range : touched_)
      std::fill(writer_.begin() + range.begin, writer_.begin() + range.end, -1);
    touched_.clear();
  }
  void in_order(const TaskList<E>& tasks, const std::vector<int>& order, std::string& image,
                bool counts) {
    for (const int i : order)
      images.guarded(tasks[size_t(i)].row, [&] { tasks[size_t(i)].run(cells_of(image, counts)); });
  }
  void compare(const TaskList<E>& tasks, const std::string& found,
               const std::string& expected) const {
    for (const ByteRange& range : images.changes(expected, found)) {
      std::string reader = "a row";
      // We blame the row whose grant covers these bytes; the actual writer is not recorded.
      for (const Task<E>& task : tasks)
        if (task.granted({range.begin, range.begin + 1})) reader = task.row;
      images.breach("order dependence: " + reader + " leaves another " +
                    images.column_at(range.begin) +
                    " when it runs alone: it reads what another row of the stage writes");
    }
  }

  uint64_t random_;
  Counters ignored_{};
  std::vector<int> writer_;         // of each byte, the task of this stage that changed it, or -1
  std::vector<ByteRange> touched_;  // where writer_ is not -1
};

}  // namespace ge
