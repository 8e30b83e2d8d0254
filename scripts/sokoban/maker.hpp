// Levels by the numbers of their candidates: a room, goals in it, and a search backwards from the
// solved level for a position that is far from it. What is made can be solved, since every pull is
// a push undone.
//
//   room    floor is stamped along a random walk (gym-sokoban's masks and probabilities, after
//           Racaniere et al., "Imagination-Augmented Agents", 2017)
//   search  breadth first by pulls, over a random number of positions: few give easy levels; kept
//           is the greatest product of how often the pulled box changed and how far boxes are from
//           the goals they stood on
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <unordered_set>
#include <vector>

#include "engine/maths/random.hpp"
#include "moves.hpp"

namespace gpu_envs::envs::sokoban {

/// Random numbers of one candidate, one after the other: functions of seed, candidate and count.
class Dice {
 public:
  Dice(uint64_t seed, uint64_t candidate) : seed_(seed), candidate_(candidate) {}

  /// In [0, n).
  int below(int n) {
    if (used_ == 4) {
      words_ = philox(uint32_t(seed_), uint32_t(seed_ >> 32), uint32_t(candidate_),
                      uint32_t(candidate_ >> 32), block_++, 0);
      used_ = 0;
    }
    return int(words_.below(used_++, uint32_t(n)));
  }

 private:
  uint64_t seed_, candidate_;
  Draw words_{};
  uint32_t block_ = 0;
  int used_ = 4;
};

class Maker {
 public:
  /// The level of a candidate, whose least number of pushes is not known; nothing where its room is
  /// too small or no position has every box off the goals.
  std::optional<Position> make(uint64_t seed, uint64_t candidate);

 private:
  struct Node {
    std::array<int8_t, kBoxes> box;  // by the goal on which each stood
    int8_t player, last;             // the box that was pulled last
    int changes;                     // how often the pulled box changed
  };
  void visit(const Node& node, Cells floor);
  void expand(Node from, Cells floor, Dice& dice);
  int64_t worth_of(const Node& node, Cells goals) const;

  std::vector<Node> nodes_;
  std::unordered_set<uint32_t> seen_;
};

namespace making {

inline constexpr int kShortestWalk = 25, kLongestWalk = 45;  // steps
inline constexpr int kTurns = 35;                            // of 100 steps change direction
inline constexpr int kFewestFloor = 6;
inline constexpr int kFewest = 1 << 7, kDoublings = 8;  // positions of a search

/// Three by three masks around the walker, as rows from the top and columns from the left.
inline constexpr int kMasks = 5, kMaskSide = 3;
inline constexpr int kMask[kMasks][kMaskSide * kMaskSide] = {{0, 0, 0, 1, 1, 1, 0, 0, 0},
                                                             {0, 1, 0, 0, 1, 0, 0, 1, 0},
                                                             {0, 0, 0, 1, 1, 0, 0, 1, 0},
                                                             {0, 0, 0, 1, 1, 0, 1, 1, 0},
                                                             {0, 0, 0, 0, 1, 1, 0, 1, 0}};

inline Cells stamp(int mask, int row, int column) {
  Cells made = 0;
  for (int k = 0; k < kMaskSide * kMaskSide; ++k) {
    const int r = row + k / kMaskSide - 1, c = column + k % kMaskSide - 1;
    const bool inside = r >= 0 && r < kSide && c >= 0 && c < kSide;
    if (inside && kMask[mask][k] != 0) made |= bit_of(kSide * r + c);
  }
  return made;
}
inline Cells walk_room(Dice& dice) {
  const int steps = kShortestWalk + dice.below(kLongestWalk - kShortestWalk + 1);
  int row = dice.below(kSide), column = dice.below(kSide), way = dice.below(kWays);
  Cells floor = 0;
  for (int k = 0; k < steps; ++k) {
    if (dice.below(100) < kTurns) way = dice.below(kWays);
    row = std::clamp(row + (way == 0 ? -1 : way == 1 ? 1 : 0), 0, kSide - 1);
    column = std::clamp(column + (way == 2 ? -1 : way == 3 ? 1 : 0), 0, kSide - 1);
    floor |= stamp(dice.below(kMasks), row, column);
  }
  return floor;
}
inline int take_one(Cells& cells, Dice& dice) {
  Cells left = cells;
  for (int skip = dice.below(std::popcount(cells)); skip > 0; --skip) left &= left - 1;
  cells ^= bit_of(lowest(left));
  return lowest(left);
}
inline int across(int a, int b) {
  return std::abs(a / kSide - b / kSide) + std::abs(a % kSide - b % kSide);
}

}  // namespace making

inline int64_t Maker::worth_of(const Node& node, Cells goals) const {
  int apart = 0;
  for (size_t k = 0; k < kBoxes; ++k) {
    if (has(goals, node.box[k])) return 0;
    apart += making::across(node.box[k], nodes_.front().box[k]);
  }
  return int64_t{node.changes} * apart;
}

inline void Maker::visit(const Node& node, Cells floor) {
  Cells boxes = 0;
  for (const int8_t cell : node.box) boxes |= bit_of(cell);
  const Cells region = reached(bit_of(node.player), floor & ~boxes);
  if (seen_.insert(packed(boxes, lowest(region))).second) nodes_.push_back(node);
}

/// Pulls each box in each way, in a random order: of ways that lead to one position the first is
/// kept.
inline void Maker::expand(const Node from, Cells floor, Dice& dice) {
  Cells boxes = 0;
  for (const int8_t cell : from.box) boxes |= bit_of(cell);
  const Cells free = floor & ~boxes;
  const Cells region = reached(bit_of(from.player), free);
  const int first = dice.below(kBoxes * kWays);
  for (int k = 0; k < kBoxes * kWays; ++k) {
    // An odd stride visits all of them.
    const int choice = (first + 5 * k) % (kBoxes * kWays), box = choice / kWays;
    const int way = choice % kWays;
    const Cells stand = moved(bit_of(from.box[size_t(box)]), way) & region;
    const Cells back = moved(stand, way) & free;
    if (back == 0) continue;
    Node next = from;
    next.box[size_t(box)] = int8_t(lowest(stand));
    next.player = int8_t(lowest(back));
    next.changes += from.last != box ? 1 : 0;
    next.last = int8_t(box);
    visit(next, floor);
  }
}

inline std::optional<Position> Maker::make(uint64_t seed, uint64_t candidate) {
  Dice dice(seed, candidate);
  const Cells floor = making::walk_room(dice);
  if (std::popcount(floor) < making::kFewestFloor) return std::nullopt;
  Position position = {~floor, 0, 0, 0, 0};
  Cells left = floor;
  Node solved = {{}, 0, -1, 0};
  for (int8_t& box : solved.box) {
    box = int8_t(making::take_one(left, dice));
    position.goals |= bit_of(box);
  }
  solved.player = int8_t(making::take_one(left, dice));
  if ((position.goals & ~reached(bit_of(solved.player), floor)) != 0) return std::nullopt;

  const int doublings = dice.below(making::kDoublings);
  const size_t most = size_t(making::kFewest + dice.below(making::kFewest)) << doublings;
  nodes_.clear();
  seen_.clear();
  visit(solved, floor);
  Node best = solved;
  int64_t worth = 0;
  for (size_t k = 0; k < nodes_.size(); ++k) {
    if (nodes_.size() < most) expand(nodes_[k], floor, dice);
    if (const int64_t here = worth_of(nodes_[k], position.goals); here > worth) {
      worth = here;
      best = nodes_[k];
    }
  }
  if (worth == 0) return std::nullopt;
  for (const int8_t cell : best.box) position.boxes |= bit_of(cell);
  position.player = best.player;
  return position;
}

}  // namespace gpu_envs::envs::sokoban
