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
template <class Starts>
GE_FN RowRun run_in_row(const Circle& circle, int row, const Starts& starts) {
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

template <class Starts>
class SharedRuns {
 public:
  GE_FN SharedRuns(const Circle& circle, const Squad& squad, const Starts& starts)
      : circle_(circle), squad_(squad), starts_(starts), next_row_(circle.rows().first) {}

  /// The next candidates, one for each lane; false, in all lanes: there are none left.
  GE_FN bool next() {
    first_ += Squad::kLanes;
    while (first_ >= count_) {
      if (next_row_ > circle_.rows().last) return false;
      take_rows();
    }
    // Lanes beyond the last candidate stay with it.
    const int mine = min(first_ + squad_.lane(), count_ - 1);
    int end = squad_.from(end_, run_);
    while (squad_.any(mine >= end)) {
      run_ += mine >= end ? 1 : 0;
      end = squad_.from(end_, run_);
    }
    place_ = mine + squad_.from(offset_, run_);
    if (squad_.any(back_ != 0)) {
      const int edge = squad_.from(edge_, run_), back = squad_.from(back_, run_);
      place_ -= place_ >= edge ? back : 0;
    }
    return true;
  }
  /// Where this lane's candidate stands among the sorted agents, and whether it has one; the place
  /// is an agent's even if it has none.
  GE_FN int place() const { return place_; }
  GE_FN bool there() const { return first_ + squad_.lane() < count_; }

 private:
  /// Gives each lane a row, and computes the exclusive prefix sum of their candidates.
  GE_FN void take_rows() {
    const int row = next_row_ + squad_.lane();
    RowRun mine;
    if (row <= circle_.rows().last) mine = run_in_row(circle_, row, starts_);
    edge_ = mine.edge, back_ = mine.back;
    end_ = squad_.sum_so_far(mine.count);
    offset_ = mine.first - (end_ - mine.count);
    count_ = squad_.from(end_, Squad::kLanes - 1);
    next_row_ += Squad::kLanes, first_ = run_ = 0;
  }

  Circle circle_;
  Squad squad_;
  Starts starts_;
  int next_row_;
  // Candidates of the current rows, and the first that the lanes hold.
  int count_ = 0, first_ = 0;
  // This lane's row: the candidate behind its last, the offset from candidate to place, and where
  // and how far places jump back over the edge.
  int end_ = 0, offset_ = 0, edge_ = 0, back_ = 0;
  // This lane's candidate: the lane that holds its row, and its place.
  int run_ = 0, place_ = 0;
};

}  // namespace ge::spatial
