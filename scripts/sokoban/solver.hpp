// The least number of pushes that solve a level: A* over the cells of the boxes and the part of the
// floor in which the player is. The bound is the cheapest assignment of boxes to goals, each pushed
// as if it were alone; one push changes it by at most one, so whatever is taken from the queue was
// reached in the fewest pushes. Knows nothing of how levels are made.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "moves.hpp"

namespace gpu_envs::envs::sokoban {

/// A box at `cell` is pushed by one cell.
struct Push {
  int cell, way;
};

class Solver {
 public:
  /// Most positions that are looked at before a search is given up.
  explicit Solver(size_t limit) : limit_(limit), slots_(std::bit_ceil(2 * limit)) {}

  /// The pushes of a shortest solution; nothing where there is none, or where the search was given
  /// up (`was_cut` says so).
  std::optional<std::vector<Push>> solve(const Position& position);
  bool was_cut() const { return was_cut_; }
  size_t positions() const { return nodes_.size(); }

 private:
  struct Node {
    uint32_t key, parent;
    Push push;
    int pushes;
    bool is_done;
  };
  static constexpr int kNever = 1 << 12;

  void measure(const Position& position);
  int bound_of(Cells boxes) const;
  void offer(Cells boxes, int player, uint32_t parent, Push push, int pushes);
  void expand(uint32_t node);
  uint32_t& slot_of(uint32_t key);

  size_t limit_;
  std::vector<uint32_t> slots_;  // 1 + a node, by a hash of its key
  std::vector<Node> nodes_;
  std::vector<std::vector<uint32_t>> waiting_;              // by pushes made and bound together
  std::array<std::array<int, kInner>, kBoxes> distance_{};  // pushes from a cell to each goal
  Cells floor_ = 0;
  bool was_cut_ = false;
};

/// Pulls a box from each goal as far as it goes on the empty board.
inline void Solver::measure(const Position& position) {
  floor_ = ~position.walls;
  int goal = 0;
  each(position.goals, [&](int cell) {
    auto& distance = distance_[size_t(goal++)];
    distance.fill(kNever);
    Cells seen = bit_of(cell), front = seen;
    for (int pushes = 0; front != 0; ++pushes) {
      each(front, [&](int at) { distance[size_t(at)] = pushes; });
      Cells next = 0;
      for (int way = 0; way < kWays; ++way) {
        const Cells pulled = moved(front, way) & floor_;
        next |= pulled & moved(moved(pulled, way) & floor_, opposite(way));
      }
      front = next & ~seen;
      seen |= next;
    }
  });
}

inline int Solver::bound_of(Cells boxes) const {
  std::array<int, kBoxes> at{};
  int count = 0;
  each(boxes, [&](int cell) { at[size_t(count++)] = cell; });
  std::array<int, kBoxes> order = {0, 1, 2, 3};
  int best = kNever;
  do {
    int sum = 0;
    for (size_t k = 0; k < kBoxes; ++k) sum += distance_[size_t(order[k])][size_t(at[k])];
    best = std::min(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

inline uint32_t& Solver::slot_of(uint32_t key) {
  const size_t mask = slots_.size() - 1;
  size_t at = key * 0x9e3779b97f4a7c15u >> 20 & mask;
  while (slots_[at] != 0 && nodes_[slots_[at] - 1].key != key) at = (at + 1) & mask;
  return slots_[at];
}

inline void Solver::offer(Cells boxes, int player, uint32_t parent, Push push, int pushes) {
  const int bound = bound_of(boxes);
  if (bound >= kNever) return;
  const Cells region = reached(bit_of(player), floor_ & ~boxes);
  const uint32_t key = packed(boxes, lowest(region));
  uint32_t& slot = slot_of(key);
  if (slot == 0) {
    if (nodes_.size() == limit_) {
      was_cut_ = true;
      return;
    }
    nodes_.push_back({key, parent, push, pushes, false});
    slot = uint32_t(nodes_.size());
  } else {
    Node& known = nodes_[slot - 1];
    if (known.is_done || known.pushes <= pushes) return;
    known.parent = parent, known.push = push, known.pushes = pushes;
  }
  const size_t total = size_t(pushes + bound);
  if (waiting_.size() <= total) waiting_.resize(total + 1);
  waiting_[total].push_back(slot - 1);
}

inline void Solver::expand(uint32_t node) {
  const uint32_t key = nodes_[node].key;
  const int pushes = nodes_[node].pushes + 1;
  Cells boxes = 0;
  for (int k = 0; k < kBoxes; ++k) boxes |= bit_of(int(key >> 6 * k & (kInner - 1u)));
  const Cells free = floor_ & ~boxes;
  const Cells region = reached(bit_of(int(key >> 6 * kBoxes)), free);
  for (int way = 0; way < kWays; ++way) {
    const Cells pushed = moved(region, way) & boxes & moved(free, opposite(way));
    each(pushed, [&](int cell) {
      const Cells next = boxes ^ bit_of(cell) ^ moved(bit_of(cell), way);
      offer(next, cell, node, {cell, way}, pushes);
    });
  }
}

inline std::optional<std::vector<Push>> Solver::solve(const Position& position) {
  measure(position);
  std::fill(slots_.begin(), slots_.end(), 0u);
  nodes_.clear();
  for (auto& list : waiting_) list.clear();
  was_cut_ = false;
  offer(position.boxes, position.player, 0, {0, 0}, 0);
  for (size_t total = 0; total < waiting_.size(); ++total) {
    // The bound never falls by more than a push adds, so lists before this one stay empty; this
    // one may grow while it is read. The last one in is the deepest.
    while (!waiting_[total].empty() && !was_cut_) {
      const uint32_t node = waiting_[total].back();
      waiting_[total].pop_back();
      if (nodes_[node].is_done) continue;
      nodes_[node].is_done = true;
      if (total == size_t(nodes_[node].pushes)) {  // nothing is left to be done
        std::vector<Push> found;
        for (uint32_t k = node; nodes_[k].pushes > 0; k = nodes_[k].parent)
          found.push_back(nodes_[k].push);
        std::reverse(found.begin(), found.end());
        return found;
      }
      expand(node);
    }
  }
  return std::nullopt;
}

}  // namespace gpu_envs::envs::sokoban
