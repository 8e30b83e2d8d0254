// The runs of a circle as the lanes of a squad share them: each row of the grid is handled by one
// lane, once, and a prefix sum over the rows numbers their agents, so that the lanes take 32
// candidates at a time side by side, whichever rows these are in.
//
//    lane              0        1        2          its row of the grid, with
//    agents            5        9        4          ... this many in the circle's columns
//    candidates   0 .. 4   5 .. 13  14 .. 17        of which lane k takes k, k + 32, ...
//
// A row over the edge of a torus is still one run: its cells are contiguous, so its agents begin
// again where the row does. With more rows than lanes, the next 32 rows are taken after these.
#pragma once

#include "engine/world/pack_reads.hpp"
#include "engine/world/squad.hpp"
#include "spatial/grid.hpp"

namespace ge::spatial {

/// Agents in a circle's columns of one row of the grid, in the order of their cells: the k-th
/// stands at place first + k, `back` less from place `edge` on, where a torus begins again.
struct RowRun {
  int first = 0, count = 0, edge = 0, back = 0;

  GE_FN int place(int k) const {
    const int straight = first + k;
    return straight - select(straight >= edge, back, 0);
  }
};
/// `Starts` has of each cell the place of its first agent, and one more; get(cell).place.
template <class C, class Starts>
GE_FN RowRun run_in_row(const C& circle, int row, const Starts& starts) {
  const auto place_of = [&starts](int cell) GE_LAMBDA { return int(starts.get(cell).place); };
  const Stretch columns = circle.columns(row);
  const int length = circle.row_length(), base = circle.first_cell(row);
  RowRun run;
  run.first = place_of(base + wrapped_cell(columns.first, length));
  run.count = place_of(base + wrapped_cell(columns.last, length) + 1) - run.first;
  if (columns.first < 0 || columns.last >= length) {
    run.edge = place_of(base + length);
    run.back = run.edge - place_of(base);
    run.count += run.back;
  }
  return run;
}

template <class C, class Starts>
class SharedRuns {
 public:
  GE_FN SharedRuns(const C& circle, const Squad& squad, const Starts& starts)
      : circle_(circle), squad_(squad), starts_(starts), next_row_(circle.rows().first) {}

  /// The next candidates, one for each lane; false, in all lanes: there are none left. With kInside
  /// the circle is known to be `inside` its square.
  template <bool kInside = false>
  GE_FN bool next() {
    first_ += Squad::kLanes;
    while (first_ >= count_) {
      if (next_row_ > circle_.rows().last) return false;
      take_rows();
    }
    // Lanes beyond the last candidate stay with it.
    const int mine = min(first_ + squad_.lane(), count_ - 1);
    // A bit for each candidate with which a row begins: a lane's row is one of those before its own.
    const uint32_t begins = squad_.bits(begins_in_turn());
    const int run = runs_ + count_bits(begins & ~0u >> (Squad::kLanes - 1 - squad_.lane()));
    runs_ += count_bits(begins);
    place_ = mine + squad_.from(offset_, run);
    if (!kInside && over_edge_ != 0) {
      const int edge = squad_.from(edge_, run), back = squad_.from(back_, run);
      place_ -= place_ >= edge ? back : 0;
    }
    return true;
  }
  /// Where this lane's candidate stands among the sorted agents, and whether it has one. The place
  /// is an agent's even if it has none; a row without agents has one of the padding.
  GE_FN int place() const { return place_; }
  GE_FN bool there() const { return first_ + squad_.lane() < count_; }
  GE_FN const C& circle() const { return circle_; }

 private:
  /// Gives each lane a row, and computes the exclusive prefix sum of their candidates.
  GE_FN void take_rows() {
    const int row = next_row_ + squad_.lane();
    const bool has_row = row <= circle_.rows().last;
    RowRun mine;
    if (has_row) {
      mine = run_in_row(circle_, row, starts_);
      // A row has one at least, so that no two rows begin with the same candidate.
      if (mine.count == 0) mine = {int(starts_.get(circle_.cells()).place), 1};
    }
    edge_ = mine.edge, back_ = mine.back;
    over_edge_ = squad_.votes(mine.back != 0);
    const int end = squad_.sum_so_far(mine.count);
    count_ = squad_.from(end, Squad::kLanes - 1);
    begin_ = has_row ? end - mine.count : count_ + Squad::kLanes;
    offset_ = mine.first - begin_;
    next_row_ += Squad::kLanes, first_ = 0, runs_ = -1;
  }
  GE_FN uint32_t begins_in_turn() const {
    const uint32_t at = uint32_t(begin_ - first_);
    return at < uint32_t(Squad::kLanes) ? 1u << at : 0u;
  }

  C circle_;
  Squad squad_;
  Starts starts_;
  int next_row_;
  // Candidates of the current rows, the first that the lanes hold, and the rows that begin before
  // it, less one.
  int count_ = 0, first_ = 0, runs_ = 0;
  // This lane's row: its first candidate, the offset from candidate to place, and where and how far
  // places jump back over the edge.
  int begin_ = 0, offset_ = 0, edge_ = 0, back_ = 0;
  uint32_t over_edge_ = 0;  // the rows that do
  int place_ = 0;           // of this lane's candidate
};

}  // namespace ge::spatial
