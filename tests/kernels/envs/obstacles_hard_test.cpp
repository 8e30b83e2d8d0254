// Levels of the obstacle courses: their statistics, their room, and that they are solved with the
// boxes that they have.
// environment: obstacles_easy
#include <map>
#include <set>

#include "courses.hpp"

using namespace ge;
using namespace ge::test;

namespace {

enum Obstacle { kWall, kLava, kStep, kGap };

constexpr size_t kRows = 8;                // of agents, in every world's record
constexpr float kAhead = float(-kHalfPi);  // yaw along +x

class Levels : public Simulation {
 public:
  Levels(const char* id, int64_t worlds, Values parameters = {}, uint64_t seed = 1)
      : Simulation(id, config_of(worlds, std::move(parameters))) {
    reset(seed);
  }
  double mean(const char* column) const {
    double sum = 0;
    const auto all = get<int32_t>(column);
    for (const int32_t value : all) sum += value;
    return sum / double(all.size());
  }
  int most(const char* column) const {
    const auto all = get<int32_t>(column);
    return *std::max_element(all.begin(), all.end());
  }

 private:
  static Config config_of(int64_t worlds, Values parameters) {
    Config config;
    config.worlds = worlds;
    config.parameters = std::move(parameters);
    config.parameters.insert({"resolution", "1x1"});  // nobody looks
    return config;
  }
};

void check_room(Simulation& levels) {
  for (const auto& table : levels->faults().tables)
    fail("levels", 0, table.name + " needs " + std::to_string(table.needed) + " rows");
}

/// One kind of obstacle, of one size, straight on or around a corner.
Values one_obstacle(Obstacle kind, int64_t size) {
  Values values{{"platform_count_low", int64_t{1}},
                {"platform_count_high", int64_t{1}},
                {"hardest_count", int64_t{1}}};
  const char* const names[] = {"walls", "lava", "steps", "gaps"};
  for (int k = 0; k < 4; ++k) values[names[k]] = k == int(kind);
  const std::string range = kind == kLava ? "lava" : kind == kGap ? "gap" : "height";
  values[range + "_low"] = size, values[range + "_high"] = size;
  return values;
}

/// A level and an agent in it who walks along one row of cells, towards +x.
class Row : public Course {
 public:
  Row(const Values& parameters, uint64_t seed) : Course(parameters, "", "ObstaclesHard-v0") {
    const uint64_t seeds[1] = {seed};
    ResetRequest request;
    request.seeds = seeds;
    reset(request);
    low_ = get<float>("statics.low"), high_ = get<float>("statics.high");
    low_.resize(size_t(3 * word("course.piece_count")));
    marks_ = get<int32_t>("marks.low"), ends_ = get<int32_t>("marks.high");
    marks_.resize(size_t(3 * word("course.mark_count")));
    find_row();
  }
  /// Whether the level runs straight on, and has a row of cells without boxes.
  bool usable() const { return row_ > 0; }
  int boxes() const { return word("course.box_count"); }

  /// The first cell of the obstacle.
  int obstacle(Obstacle kind) const {
    for (int x = 1; x < 60; ++x) {
      if (kind == kLava ? x == marks_[0] : kind == kGap ? !solid(x, 0) : solid(x, 1)) return x;
    }
    return 0;
  }
  int lava() const { return ends_[0] - marks_[0]; }
  /// Takes some box that is not used yet to the cell (x, row, z): from a free side of it to above
  /// the cell before the other. Whether there was one.
  bool bring(std::set<int>& used, int x, int z, float feet) {
    const auto cells = get<int32_t>("crates.cell");
    for (int k = 0; k < boxes(); ++k) {
      const int32_t* const at = &cells[size_t(3 * k)];
      if (used.count(k) != 0 || has_box(at[0], at[1], at[2] + 1)) continue;
      for (int side = 0; side < 4; ++side) {
        const int dx = (side == 0) - (side == 2), dy = (side == 1) - (side == 3);
        bool free = true;
        for (int up = 0; up < 3; ++up)
          free = free && !is_solid(at[0] - dx, at[1] - dy, at[2] + up) &&
                 !has_box(at[0] - dx, at[1] - dy, at[2] + up);
        if (!free) continue;
        stand(float(at[0] - dx) + 0.5f, float(at[1] - dy) + 0.5f, float(at[2]) + 0.1f,
              float(side - 1) * float(kHalfPi));
        act("i");
        CHECK_EQ(carries(), k);
        stand(float(x) - 0.5f, float(row_) + 0.5f, feet, kAhead);
        act("i");
        CHECK(box_is_at(k, x, row_, z));
        used.insert(k);
        return true;
      }
    }
    return false;
  }
  /// Runs from the start: jumps all the time, or where something is in the way and from `from` to
  /// `from` + 0.5; whether the pad is reached.
  bool runs(float from = -1) {
    stand(1.5f, float(row_) + 0.5f, 1, kAhead);
    float moved = 1;
    for (int k = 0; k < 300; ++k) {
      const float before = at(0, 0);
      const bool jump = from < 0 || moved < 0.02f || (before >= from && before < from + 0.5f);
      act(jump ? "fj" : "f");
      moved = at(0, 0) - before;
      if (solved() != 0) return true;
      if (moved < -1) return false;  // sent home
    }
    return false;
  }

 private:
  bool solid(int x, int z) const { return is_solid(x, row_, z); }
  bool is_solid(int x, int y, int z) const {
    const float at[3] = {float(x) + 0.5f, float(y) + 0.5f, float(z) + 0.5f};
    for (size_t k = 0; k < low_.size(); k += 3) {
      bool inside = true;
      for (size_t axis = 0; axis < 3; ++axis)
        inside = inside && low_[k + axis] < at[axis] && high_[k + axis] > at[axis];
      if (inside) return true;
    }
    return false;
  }
  void find_row() {
    const auto cells = get<int32_t>("crates.cell");
    const size_t pad = marks_.size() - 3;  // the exit is built last
    if (marks_[pad + 1] != 1 || is_solid(0, 1, 1) != is_solid(0, ends_[pad + 1] - 1, 1)) return;
    // Straight: the near wall of the start is as wide as the pad.
    for (int y = 1; y < ends_[pad + 1] + 1; ++y)
      if (!is_solid(0, y, 1)) return;
    if (is_solid(0, ends_[pad + 1] + 1, 1)) return;
    for (int y = 1; y < ends_[pad + 1]; ++y) {
      bool clear = true;
      for (int k = 0; k < boxes(); ++k) clear = clear && cells[size_t(3 * k + 1)] != y;
      if (clear) row_ = y;
    }
  }
  bool has_box(int x, int y, int z) const {
    for (int k = 0; k < boxes(); ++k)
      if (box_is_at(k, x, y, z)) return true;
    return false;
  }
  std::vector<float> low_, high_;
  std::vector<int32_t> marks_, ends_;
  int row_ = 0;
};

/// Stairs before a wall or a step, a bridge over lava; then over it.
bool solves(Row& row, Obstacle kind, int size) {
  std::set<int> used;
  const int x = row.obstacle(kind);
  bool brought = true;
  if (kind == kWall || kind == kStep) {
    for (int column = 1; column < size; ++column)
      for (int level = 0; level < size - column; ++level)
        brought = brought && row.bring(used, x - column, 1 + level, 1.1f + float(level));
    return brought && row.runs();
  }
  if (kind == kGap || size < 4) return row.runs(float(x) - 0.4f);
  // The jump from the last box crosses the last cell.
  for (int k = 0; k < size - 1; ++k)
    brought = brought && row.bring(used, x + k, 1, k == 0 ? 1.1f : 1.91f);
  return brought && row.runs(float(x + size - 1) - 0.45f);
}

}  // namespace

GE_TEST(box_counts_are_those_of_the_reference) {
  Levels easy("ObstaclesEasy-v0", 5000), hard("ObstaclesHard-v0", 5000);
  check_near("easy", easy.mean("course.box_count"), 4.05, 0.15);
  check_near("hard", hard.mean("course.box_count"), 18.5, 0.5);
  check_near("easy, before merging", easy.mean("course.part_count"), 17, 1);
  check_near("hard, before merging", hard.mean("course.part_count"), 35, 1);
  CHECK(easy.mean("course.piece_count") < 13);
  CHECK(hard.mean("course.piece_count") < 27);
}

GE_TEST(kinds_are_uniform_and_few_are_hardest) {
  Levels levels("ObstaclesHard-v0", 5000);
  const auto kinds = levels.get<int32_t>("course.kinds");
  double count[4] = {};
  // The first of each level, which is never drawn again.
  for (size_t k = 0; k < kinds.size(); k += 7) ++count[kinds[k]];
  double chi_square = 0;
  for (const double found : count) chi_square += (found - 1250) * (found - 1250) / 1250;
  CHECK(chi_square < 16.27);  // three degrees of freedom, once in a thousand
  CHECK_EQ(levels.most("course.hardest"), 1);
}

GE_TEST(levels_without_room_are_drawn_again) {
  Levels levels("ObstaclesHard-v0", 5000);
  int again = 0, conflicts = 0;
  for (const int32_t attempts : levels.get<int32_t>("course.attempts")) again += attempts > 1;
  for (const int32_t conflict : levels.get<int32_t>("course.conflict")) conflicts += conflict;
  check_near("again", again / 5000.0, 0.13, 0.02);
  CHECK_EQ(conflicts, 0);
}

GE_TEST(walls_are_hidden_in_half_of_the_levels) {
  Levels levels("ObstaclesEasy-v0", 5000);
  check_near("shown", levels.mean("course.walls_shown"), 0.5, 0.02);
  Levels never("ObstaclesEasy-v0", 500, {{"hidden_walls", 0.0}});
  CHECK_EQ(never.mean("course.walls_shown"), 1.0);
}

GE_TEST(levels_lie_at_the_origin_within_the_known_extent) {
  const struct {
    const char* id;
    float sides, height;
  } cases[] = {{"ObstaclesEasy-v0", 44, 14}, {"ObstaclesHard-v0", 90, 40}};
  for (const auto& one : cases) {
    Levels levels(one.id, 2000);
    const auto low = levels.get<float>("statics.low"), high = levels.get<float>("statics.high");
    const auto counts = levels.get<int32_t>("course.piece_count");
    const size_t rows = low.size() / 3 / counts.size();
    for (size_t world = 0; world < counts.size(); ++world) {
      float least[3] = {1e9f, 1e9f, 1e9f}, most[3] = {};
      for (size_t k = 0; k < size_t(counts[world]); ++k) {
        for (size_t axis = 0; axis < 3; ++axis) {
          const size_t at = 3 * (world * rows + k) + axis;
          least[axis] = std::min(least[axis], low[at]), most[axis] = std::max(most[axis], high[at]);
          CHECK(low[at] < high[at]);
        }
      }
      for (const float value : least) CHECK_EQ(value, 0.0f);
      CHECK(most[0] <= one.sides && most[1] <= one.sides && most[2] <= one.height);
    }
  }
}

GE_TEST(things_begin_in_free_cells_and_agents_apart) {
  for (const int64_t agents : {1, 2, 4, 8}) {
    Levels levels("ObstaclesHard-v0", 300, {{"agent_count", agents}});
    const auto homes = levels.get<int32_t>("agents.home");
    const auto crates = levels.get<int32_t>("crates.cell");
    const auto counts = levels.get<int32_t>("course.box_count");
    const auto low = levels.get<float>("statics.low"), high = levels.get<float>("statics.high");
    const auto pieces = levels.get<int32_t>("course.piece_count");
    const auto solid = [&](size_t world, const int32_t* at) {
      for (size_t k = 0; k < size_t(pieces[world]); ++k) {
        const float* const l = &low[3 * (world * 64 + k)];
        const float* const h = &high[3 * (world * 64 + k)];
        if (l[0] <= float(at[0]) && float(at[0]) < h[0] && l[1] <= float(at[1]) &&
            float(at[1]) < h[1] && l[2] <= float(at[2]) && float(at[2]) < h[2])
          return true;
      }
      return false;
    };
    for (size_t world = 0; world < 300; ++world) {
      std::set<std::tuple<int, int, int>> taken;
      for (size_t k = 0; k < size_t(agents); ++k) {
        const int32_t* const at = &homes[3 * (world * kRows + k)];
        CHECK(taken.emplace(at[0], at[1], at[2]).second);
        CHECK(!solid(world, at));
        const int32_t below[3] = {at[0], at[1], at[2] - 1};
        CHECK(solid(world, below));
      }
      for (size_t k = 0; k < size_t(counts[world]); ++k) {
        const int32_t* const at = &crates[3 * (world * 112 + k)];
        CHECK(taken.emplace(at[0], at[1], at[2]).second);
        CHECK(!solid(world, at));
      }
    }
    for (int k = 0; k < 15; ++k) levels.step({0});
    const auto grounded = levels.get<int32_t>("agents.grounded");
    for (size_t k = 0; k < grounded.size(); ++k)
      if (k % kRows < size_t(agents)) CHECK_EQ(grounded[k], 1);
  }
}

GE_TEST(resets_never_need_more_rows_than_there_are) {
  for (const char* id : {"ObstaclesEasy-v0", "ObstaclesHard-v0"}) {
    Levels levels(id, 10000, {{"agent_count", int64_t{2}}});
    for (int k = 1; k < 10; ++k) levels.reset(ResetRequest{});
    check_room(levels);
  }
}

GE_TEST(levels_of_every_size_have_room) {
  const Values walls{{"lava", false},
                     {"steps", false},
                     {"gaps", false},
                     {"platform_count_high", int64_t{4}},
                     {"hardest_count", int64_t{4}}};
  const Values large{{"platform_count_low", int64_t{7}},
                     {"platform_count_high", int64_t{7}},
                     {"hardest_count", int64_t{7}},
                     {"diamonds", 1.0},
                     {"height_low", int64_t{1}}};
  for (const Values& values : {walls, large}) {
    Levels levels("ObstaclesHard-v0", 2000, values);
    check_room(levels);
  }
  Levels stairs("ObstaclesEasy-v0", 500, walls);
  check_room(stairs);
  for (const int32_t kind : stairs.get<int32_t>("course.kinds")) CHECK(kind <= 0);
}

GE_TEST(layout_with_too_many_pieces_is_reported_and_playable) {
  // A lattice of walls, each of which cuts the floor in two.
  std::string layout = "floor 0 0 0 90 90 0; agent 0.5 0.5 1";
  for (int k = 0; k < 11; ++k) {
    const std::string at = std::to_string(3 + 4 * k);
    layout += "; wall " + at + " 0 0 " + at + " 90 2; wall 0 " + at + " 0 90 " + at + " 2";
  }
  Course course({}, layout);
  const auto faults = course->faults();
  CHECK_EQ(faults.tables.size(), size_t{1});
  CHECK_EQ(faults.tables.at(0).name, std::string("statics"));
  CHECK(faults.tables.at(0).needed > faults.tables.at(0).capacity);
  for (int k = 0; k < 50; ++k) course.act("fj");
}

GE_TEST(obstacles_of_every_size_are_solved_with_their_boxes) {
  const struct {
    Obstacle kind;
    int sizes[2];
  } cases[] = {{kWall, {1, 4}}, {kStep, {1, 4}}, {kLava, {1, 9}}, {kGap, {1, 3}}};
  for (const auto& one : cases) {
    for (int size = one.sizes[0]; size <= one.sizes[1]; ++size) {
      int tried = 0, solved = 0, bare = 0;
      for (uint64_t seed = 0; seed < 400 && tried < 5; ++seed) {
        Row row(one_obstacle(one.kind, size), seed);
        // Where a platform is too short for it, its lava is too.
        if (!row.usable() || (one.kind == kLava && row.lava() != size)) continue;
        ++tried;
        const bool climbs = one.kind == kWall || one.kind == kStep;
        bare += row.runs(climbs ? -1.0f : float(row.obstacle(one.kind)) - 0.4f);
        Row again(one_obstacle(one.kind, size), seed);
        solved += solves(again, one.kind, size);
      }
      const std::string what =
          "kind " + std::to_string(one.kind) + ", size " + std::to_string(size);
      if (tried < 2) fail("obstacles", 0, what + ": too few straight levels");
      if (solved != tried)
        fail("obstacles", 0, what + ": " + std::to_string(solved) + " of " + std::to_string(tried));
      const bool needs_boxes = one.kind == kLava ? size >= 5 : one.kind != kGap && size >= 2;
      if (needs_boxes && bare != 0) fail("obstacles", 0, what + ": solved without a box");
    }
  }
}
