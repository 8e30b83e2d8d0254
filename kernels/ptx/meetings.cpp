// Where lanes meet again after a branch: its block's immediate post-dominator, by the iteration of
// Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm") over the reversed graph.
#include <utility>
#include <vector>

#include "ptx/layout.hpp"

namespace ge::ptx {

namespace {

bool ends_block(const Instruction& i) {
  return i.flow == Flow::branch || i.flow == Flow::table || i.flow == Flow::leave ||
         i.flow == Flow::finish || i.flow == Flow::refuse;
}
bool leaves(const Instruction& i) {
  return i.flow == Flow::leave || i.flow == Flow::finish || i.flow == Flow::refuse;
}

/// A function's blocks, and one more behind them that all ways out lead to.
class Blocks {
 public:
  explicit Blocks(const Code& code) : code_(code) {
    find_blocks();
    find_ways();
  }

  int count() const { return int(first_.size()); }
  int out() const { return count(); }
  int first(int block) const { return first_[size_t(block)]; }
  int last(int block) const {
    return block + 1 < count() ? first(block + 1) - 1 : int(code_.instructions.size()) - 1;
  }

  /// The block at which all ways from a block meet, by block; -1: none of them ends.
  std::vector<int> meetings() {
    number_from_the_end();
    std::vector<int> meeting(size_t(count()) + 1, -1);
    meeting[size_t(out())] = out();
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t k = order_.size(); k-- > 0;) {
        const int block = order_[k];
        if (block == out()) continue;
        int found = -1;
        for (const int to : next_[size_t(block)])
          if (meeting[size_t(to)] >= 0) found = found < 0 ? to : common(meeting, to, found);
        if (found != std::exchange(meeting[size_t(block)], found)) changed = true;
      }
    }
    return meeting;
  }

 private:
  std::vector<int> targets(const Instruction& i) const {
    if (i.flow == Flow::branch) return {i.target};
    if (i.flow == Flow::table) return code_.tables[size_t(i.side)];
    return {};
  }
  void find_blocks() {
    const size_t size = code_.instructions.size();
    std::vector<bool> begins(size + 1, false);
    begins[0] = true;
    for (size_t k = 0; k < size; ++k) {
      for (const int target : targets(code_.instructions[k])) begins[size_t(target)] = true;
      if (ends_block(code_.instructions[k])) begins[k + 1] = true;
    }
    for (size_t k = 0; k < size; ++k) {
      if (begins[k]) first_.push_back(int(k));
      block_of_.push_back(int(first_.size()) - 1);
    }
  }
  void find_ways() {
    next_.resize(size_t(count()) + 1), before_.resize(size_t(count()) + 1);
    for (int block = 0; block < count(); ++block) {
      const Instruction& i = code_.instructions[size_t(last(block))];
      std::vector<int>& next = next_[size_t(block)];
      for (const int target : targets(i)) next.push_back(block_of_[size_t(target)]);
      if (leaves(i)) next.push_back(out());
      if (!ends_block(i) || i.guard >= 0) next.push_back(block + 1);  // behind the last one: out
      for (const int to : next) before_[size_t(to)].push_back(block);
    }
  }
  /// Numbers the blocks that reach the end, each after those between it and the end.
  void number_from_the_end() {
    number_.assign(size_t(count()) + 1, -1);
    std::vector<bool> seen(size_t(count()) + 1, false);
    std::vector<std::pair<int, size_t>> way{{out(), 0}};
    seen[size_t(out())] = true;
    while (!way.empty()) {
      auto& [block, k] = way.back();
      if (k < before_[size_t(block)].size()) {
        const int to = before_[size_t(block)][k++];
        if (seen[size_t(to)]) continue;
        seen[size_t(to)] = true;
        way.emplace_back(to, 0);
      } else {
        number_[size_t(block)] = int(order_.size());
        order_.push_back(block);
        way.pop_back();
      }
    }
  }
  int common(const std::vector<int>& meeting, int one, int other) const {
    while (one != other) {
      while (number_[size_t(one)] < number_[size_t(other)]) one = meeting[size_t(one)];
      while (number_[size_t(other)] < number_[size_t(one)]) other = meeting[size_t(other)];
    }
    return one;
  }

  const Code& code_;
  std::vector<int> first_, block_of_;
  std::vector<std::vector<int>> next_, before_;
  std::vector<int> order_, number_;
};

}  // namespace

void find_meetings(Code& code) {
  Blocks blocks(code);
  const std::vector<int> meetings = blocks.meetings();
  for (int block = 0; block < blocks.count(); ++block) {
    const int meeting = meetings[size_t(block)];
    code.instructions[size_t(blocks.last(block))].join =
        meeting < 0 || meeting == blocks.out() ? -1 : blocks.first(meeting);
  }
}

}  // namespace ge::ptx
