// The candidates that a squad counts through are those of the plain runs, each for one lane.
#include <algorithm>
#include <vector>

#include "engine/checking/lanes_emulated.hpp"
#include "spatial/shared_runs.hpp"
#include "test.hpp"

namespace {

using namespace ge;
using namespace ge::spatial;

/// Where the agents of each cell begin.
struct Begins {
  struct Place {
    uint32_t place;
  };
  const std::vector<uint32_t>* of;
  Place get(int cell) const { return {of->at(size_t(cell))}; }
};

Draw words(uint32_t k) {
  return draw(9, 0, 0, 0, 0, 6, k, 0);
}
/// A grid of its own choice: the one of an environment has seldom more rows in a circle than lanes.
Grid grid_of(bool wrapped, int rows, int columns) {
  Grid grid{};
  grid.square = wrapped ? torus(1) : walled(1);
  grid.rows = rows, grid.columns = columns;
  grid.rows_per_length = float(rows), grid.columns_per_length = float(columns);
  grid.row_height = 1.0f / float(rows);
  grid.slack = 0x1p-18f;
  return grid;
}
/// Cells of 0 to 3 agents, or of none for `empty` of four rows.
std::vector<uint32_t> begins_of(const Grid& grid, uint32_t seed, uint32_t empty) {
  std::vector<uint32_t> begins{0};
  for (int cell = 0; cell < cell_count(grid); ++cell) {
    const bool is_empty = words(seed + uint32_t(cell / grid.columns)).below(1, 4) < empty;
    const uint32_t agents = words(seed + uint32_t(cell)).below(0, 4);
    begins.push_back(begins.back() + (is_empty ? 0 : agents));
  }
  return begins;
}

std::vector<int> plain_places(const Circle& circle, const std::vector<uint32_t>& begins) {
  std::vector<int> places;
  CircleRuns runs(circle);
  while (runs.next())
    for (uint32_t place = begins.at(size_t(runs.cells().first));
         place < begins.at(size_t(runs.cells().last) + 1); ++place)
      places.push_back(int(place));
  std::sort(places.begin(), places.end());
  return places;
}
/// What the 32 lanes of a warp take, and how often each of them took turns.
std::vector<int> shared_places(const Circle& circle, const std::vector<uint32_t>& begins,
                               std::vector<int>& turns) {
  std::vector<int> places;
  turns.assign(Squad::kLanes, 0);
  LaneEmulator().run_block(Squad::kLanes, 0, 1, 64, [&] {
    const int lane = EmulatedLanes::thread();
    SharedRuns<Circle, Begins> runs(circle, Squad(lane, Squad::kLanes), Begins{&begins});
    while (runs.next()) {
      ++turns[size_t(lane)];
      // A row without agents has one of the padding behind the last agent.
      if (runs.there() && runs.place() != int(begins.back())) places.push_back(runs.place());
      if (runs.place() < 0 || uint32_t(runs.place()) > begins.back()) places.push_back(-1);
    }
  });
  std::sort(places.begin(), places.end());
  return places;
}

GE_TEST(squad_takes_the_candidates_of_all_runs_once) {
  size_t most = 0;
  for (uint32_t k = 0; k < 600; ++k) {
    const Draw d = words(k), e = words(k + 1'000'000);
    const int rows[] = {1, 2, 3, 10, 31, 32, 33, 70, 140};
    const Grid grid =
        grid_of(k % 2 == 0, rows[d.below(0, 9)], 1 + int(d.below(1, k % 5 == 0 ? 3 : 40)));
    const auto begins = begins_of(grid, 1000 * k, d.below(2, 5));
    const float ranges[] = {0.001f, 0.03f, 0.1f, 0.24f, 0.5f, 0.8f, 3.0f};
    const float edges[] = {0.0f, 0.99999994f, e.uniform(0)};
    const Circle circle(grid, k % 3 == 0 ? edges[e.below(1, 3)] : e.uniform(0), e.uniform(2),
                        ranges[e.below(3, 7)]);
    std::vector<int> turns;
    const std::vector<int> plain = plain_places(circle, begins);
    const std::vector<int> shared = shared_places(circle, begins, turns);
    CHECK(shared == plain);
    CHECK(std::count(turns.begin(), turns.end(), turns[0]) == Squad::kLanes);
    most = std::max(most, plain.size());
  }
  CHECK(most > 1000);
}
GE_TEST(squad_takes_as_few_turns_as_there_are_candidates_for) {
  const Grid grid = grid_of(true, 20, 20);
  const auto begins = begins_of(grid, 5, 0);
  const Circle circle(grid, 0.02f, 0.5f, 0.2f);
  std::vector<int> turns;
  const size_t candidates = shared_places(circle, begins, turns).size();
  CHECK(candidates > 64);
  CHECK_EQ(turns[7], int((candidates + 31) / 32));
}

}  // namespace
