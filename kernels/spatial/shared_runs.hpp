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

/// `Starts` has of each cell the place of its first agent, and one more; get(cell).place.
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
    int first = 0, count = 0;
    edge_ = back_ = 0;
    if (row <= circle_.rows().last) {
      const Stretch columns = circle_.columns(row);
      const int length = circle_.row_length(), base = circle_.first_cell(row);
      const bool over = columns.first < 0 || columns.last >= length;
      first = place_of(base + wrapped_cell(columns.first, length));
      count = place_of(base + wrapped_cell(columns.last, length) + 1) - first;
      if (over) edge_ = place_of(base + length), back_ = edge_ - place_of(base), count += back_;
    }
    end_ = squad_.sum_so_far(count);
    offset_ = first - (end_ - count);
    count_ = squad_.from(end_, Squad::kLanes - 1);
    next_row_ += Squad::kLanes, first_ = run_ = 0;
  }
  GE_FN int place_of(int cell) const { return int(starts_.get(cell).place); }

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
