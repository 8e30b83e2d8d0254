// How levels are made and proven, and the bank and texts that they are kept in.
#include <deque>
#include <map>
#include <set>

#include "../../../scripts/sokoban/maker.hpp"
#include "../../../scripts/sokoban/solver.hpp"
#include "envs/sokoban/bank.hpp"
#include "envs/sokoban/text_levels.hpp"
#include "test.hpp"

namespace {

using namespace ge;
using namespace gpu_envs::envs::sokoban;

constexpr uint64_t kSeed = 5;
constexpr size_t kLimit = 1 << 18;

/// The fewest pushes, by a plain search over single steps of the player; -1: it cannot be solved.
int fewest_pushes(const Position& start) {
  using State = std::pair<Cells, int>;
  std::deque<std::pair<State, int>> open = {{{start.boxes, start.player}, 0}};
  std::set<State> done;
  while (!open.empty()) {
    const auto [state, pushes] = open.front();
    open.pop_front();
    if (!done.insert(state).second) continue;
    const auto [boxes, player] = state;
    if (boxes == start.goals) return pushes;
    for (const auto& [rows, columns] : {std::pair(-1, 0), {1, 0}, {0, -1}, {0, 1}}) {
      const auto next = [&](int cell) {
        const int row = cell / kSide + rows, column = cell % kSide + columns;
        const bool inside = row >= 0 && row < kSide && column >= 0 && column < kSide;
        return inside && !has(start.walls, kSide * row + column) ? kSide * row + column : -1;
      };
      const int to = next(player);
      if (to < 0) continue;
      if (!has(boxes, to)) {
        open.push_front({{boxes, to}, pushes});
        continue;
      }
      const int behind = next(to);
      if (behind < 0 || has(boxes, behind)) continue;
      open.push_back({{boxes ^ bit_of(to) ^ bit_of(behind), to}, pushes + 1});
    }
  }
  return -1;
}
/// Plays pushes by the rules; whether each could be made and all boxes are on goals at the end.
bool solves(Position position, const std::vector<Push>& pushes) {
  for (const Push& push : pushes) {
    const Cells free = ~(position.walls | position.boxes);
    const Cells box = bit_of(push.cell), behind = moved(box, push.way);
    const Cells stand = moved(box, opposite(push.way));
    if ((box & position.boxes) == 0 || (behind & free) == 0) return false;
    if ((reached(bit_of(position.player), free) & stand) == 0) return false;
    position.boxes ^= box | behind;
    position.player = push.cell;
  }
  return position.boxes == position.goals;
}
std::vector<Position> made_levels(int candidates) {
  Maker maker;
  std::vector<Position> made;
  for (int k = 0; k < candidates; ++k)
    if (const auto level = maker.make(kSeed, uint64_t(k))) made.push_back(*level);
  return made;
}

}  // namespace

GE_TEST(levels_that_are_made_are_complete_and_have_no_box_on_a_goal) {
  const std::vector<Position> made = made_levels(300);
  CHECK(made.size() > 100);
  for (const Position& level : made) {
    CHECK_EQ(std::popcount(level.boxes), kBoxes);
    CHECK_EQ(std::popcount(level.goals), kBoxes);
    CHECK((level.boxes & level.goals) == 0);
    CHECK(((level.boxes | level.goals | bit_of(level.player)) & level.walls) == 0);
    CHECK(!has(level.boxes, level.player));
  }
}

GE_TEST(solver_finds_the_fewest_pushes_and_they_can_be_played) {
  Solver solver(kLimit);
  for (const Position& level : made_levels(60)) {
    const auto pushes = solver.solve(level);
    CHECK(pushes.has_value());
    CHECK_EQ(int(pushes->size()), fewest_pushes(level));
    CHECK(solves(level, *pushes));
  }
}

GE_TEST(solver_says_what_cannot_be_solved_and_what_it_gave_up) {
  Position level = made_levels(10).front();
  CHECK(!Solver(4).solve(level));
  Solver solver(kLimit);
  level.walls = ~(level.boxes | level.goals | bit_of(level.player));  // nothing can be pushed
  CHECK(!solver.solve(level));
  CHECK(!solver.was_cut());
  Solver hasty(2);
  CHECK(!hasty.solve(made_levels(10).front()));
  CHECK(hasty.was_cut());
}

GE_TEST(candidates_are_functions_of_seed_and_number) {
  Maker maker;
  std::map<uint64_t, int> seen;
  for (uint64_t k = 0; k < 40; ++k) {
    const auto one = maker.make(kSeed, k), again = Maker().make(kSeed, k);
    CHECK_EQ(one.has_value(), again.has_value());
    if (!one) continue;
    CHECK(one->walls == again->walls && one->boxes == again->boxes);
    CHECK(one->goals == again->goals && one->player == again->player);
    ++seen[one->walls ^ one->boxes];
  }
  for (const auto& [key, times] : seen) CHECK_EQ(times, 1);
}

GE_TEST(level_of_16_bytes_is_the_position_again) {
  for (Position level : made_levels(100)) {
    level.pushes = kMostPushes;
    const Position again = position_of(packed(level));
    CHECK(level.walls == again.walls && level.boxes == again.boxes && level.goals == again.goals);
    CHECK(level.player == again.player && level.pushes == again.pushes);
  }
}

GE_TEST(bank_is_read_as_it_was_written_and_damage_is_refused) {
  Bank bank;
  bank.seed = 0x0123456789abcdefu;
  for (const Position& level : made_levels(60)) bank.levels.push_back(packed(level));
  bank.counts[0][1] = 3, bank.counts[1][2] = uint32_t(bank.levels.size()) - 3;
  std::vector<std::byte> bytes = bytes_of(bank);
  Bank again;
  CHECK(read_bank(bytes, again) == nullptr);
  CHECK(again.seed == bank.seed && again.part(0, 0).empty() && again.part(0, 1).size() == 3);
  CHECK_EQ(again.part(1, 2).size(), bank.levels.size() - 3);
  CHECK_EQ(again.part(1, 2)[0].things[0], bank.levels[3].things[0]);
  bytes.push_back({});
  CHECK_EQ(std::string(read_bank(bytes, again)),
           "its length is not that of the levels that it counts");
  bytes[0] = std::byte{'s'};
  CHECK_EQ(std::string(read_bank(bytes, again)), "it does not begin with SOKOBAN1");
  CHECK(read_bank({}, again) != nullptr);
}

GE_TEST(text_is_read_as_it_was_written) {
  std::string text;
  const std::vector<Position> levels = made_levels(60);
  for (const Position& level : levels) text += "; a level\r\n" + text_of(level) + "\n";
  const std::vector<Position> again = TextLevels::read(text, "here");
  CHECK_EQ(again.size(), levels.size());
  for (size_t k = 0; k < levels.size(); ++k) CHECK_EQ(text_of(again[k]), text_of(levels[k]));
}
