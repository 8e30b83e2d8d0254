// See floor_plan.hpp. Rooms grow from single squares, as in growth-based floor plans (Lopes and others
// 2010): first rectangles, then whatever is left joins a neighbour.
#include "houses/floor_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace ge::houses {

namespace {

constexpr int kTrials = 10;         // plans of which the best is kept
constexpr float kUsualSide = 1.9f;  // of a square [m]
constexpr float kSquaresOfRoom = 5.0f;
constexpr float kLoop = 0.25f;    // share of further neighbours that get a door
constexpr float kWide = 0.2f;     // share of openings without a door
constexpr float kPost = 0.1875f;  // least wall beside an opening [m]

/// How much of the floor a kind of room gets, beside others.
float size_of(RoomKind kind, Dice& dice) {
  switch (kind) {
    case kLiving:
      return 3.0f;
    case kKitchen:
      return dice.within(2.0f, 3.0f);
    case kBedroom:
      return dice.within(2.0f, 3.0f);
    case kBathroom:
      return dice.within(1.0f, 2.0f);
    default:
      return 1.0f;
  }
}
/// Living rooms and halls are passed through, bathrooms and bedrooms are not.
int privacy(RoomKind kind) {
  switch (kind) {
    case kLiving:
    case kHall:
      return 0;
    case kKitchen:
      return 2;
    case kBedroom:
      return 4;
    default:
      return 8;
  }
}

struct Square {
  int x, y;
};
constexpr Square kWays[4] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};

class Growth {
 public:
  Growth(Plan& plan, const std::vector<float>& sizes, Dice& dice)
      : plan_(plan), sizes_(sizes), dice_(dice) {}

  /// Returns how far areas are from the sizes; unfit rooms count as much as a house.
  float run() {
    if (!sow()) return 1e6f;
    grow_rectangles();
    fill();
    return error();
  }

 private:
  struct Box {
    int low_x, low_y, high_x, high_y;  // squares, both included
    int area() const { return (high_x - low_x + 1) * (high_y - low_y + 1); }
  };
  int32_t& at(int x, int y) { return plan_.room[size_t(y * plan_.columns + x)]; }
  bool is_free(int x, int y) const {
    return x >= 0 && x < plan_.columns && y >= 0 && y < plan_.rows &&
           plan_.room[size_t(y * plan_.columns + x)] == kFree;
  }

  /// A first square for each room, two apart where that can be.
  bool sow() {
    for (int room = 0; room < plan_.room_count(); ++room) {
      bool found = false;
      for (int attempt = 0; attempt < 200 && !found; ++attempt) {
        const Square s = {dice_.below(plan_.columns), dice_.below(plan_.rows)};
        const int least = attempt < 100 ? 2 : 1;
        found = is_free(s.x, s.y);
        for (const Box& other : boxes_)
          found = found &&
                  (std::abs(other.low_x - s.x) >= least || std::abs(other.low_y - s.y) >= least);
        if (found) boxes_.push_back({s.x, s.y, s.x, s.y}), at(s.x, s.y) = room;
      }
      if (!found) return false;
    }
    return true;
  }

  /// The box, one row of squares larger on one side.
  static Box larger(Box box, int way) {
    if (way == 0) ++box.high_x;
    if (way == 1) ++box.high_y;
    if (way == 2) --box.low_x;
    if (way == 3) --box.low_y;
    return box;
  }
  static Box strip(const Box& box, int way) {
    const Box all = larger(box, way);
    if (way == 0) return {all.high_x, all.low_y, all.high_x, all.high_y};
    if (way == 1) return {all.low_x, all.high_y, all.high_x, all.high_y};
    if (way == 2) return {all.low_x, all.low_y, all.low_x, all.high_y};
    return {all.low_x, all.low_y, all.high_x, all.low_y};
  }
  bool is_all_free(const Box& box) const {
    for (int y = box.low_y; y <= box.high_y; ++y)
      for (int x = box.low_x; x <= box.high_x; ++x)
        if (!is_free(x, y)) return false;
    return true;
  }
  /// Grows along its longest free side; whether it could.
  bool grow(int room) {
    Box& box = boxes_[size_t(room)];
    if (float(box.area()) >= 4.0f * sizes_[size_t(room)]) return false;
    int best = -1, most = 0;
    const int first = dice_.below(4);
    for (int k = 0; k < 4; ++k) {
      const int way = (first + k) % 4;
      const Box more = strip(box, way);
      if (is_all_free(more) && more.area() > most) best = way, most = more.area();
    }
    if (best < 0) return false;
    const Box more = strip(box, best);
    for (int y = more.low_y; y <= more.high_y; ++y)
      for (int x = more.low_x; x <= more.high_x; ++x) at(x, y) = room;
    box = larger(box, best);
    return true;
  }
  void grow_rectangles() {
    std::vector<float> left = sizes_;  // 0: it cannot grow
    for (;;) {
      float sum = 0.0f;
      for (const float size : left) sum += size;
      if (sum <= 0.0f) return;
      float drawn = dice_.share() * sum;
      int room = 0;
      for (; room + 1 < int(left.size()); ++room) {
        drawn -= left[size_t(room)];
        if (drawn < 0.0f && left[size_t(room)] > 0.0f) break;
      }
      if (left[size_t(room)] <= 0.0f)
        room = int(std::find_if(left.begin(), left.end(), [](float s) { return s > 0.0f; }) -
                   left.begin());
      if (!grow(room)) left[size_t(room)] = 0.0f;
    }
  }
  /// Squares that are left join the neighbour with the longest common border.
  void fill() {
    bool changes = true;
    while (changes) {
      changes = false;
      const std::vector<int32_t> before = plan_.room;
      for (int y = 0; y < plan_.rows; ++y)
        for (int x = 0; x < plan_.columns; ++x) {
          if (before[size_t(y * plan_.columns + x)] != kFree) continue;
          std::array<int, kMostRooms> borders{};
          for (const Square& way : kWays) {
            const int nx = x + way.x, ny = y + way.y;
            if (nx < 0 || nx >= plan_.columns || ny < 0 || ny >= plan_.rows) continue;
            const int32_t other = before[size_t(ny * plan_.columns + nx)];
            if (other >= 0) ++borders[size_t(other)];
          }
          const auto best = std::max_element(borders.begin(), borders.end());
          if (*best == 0) continue;
          at(x, y) = int32_t(best - borders.begin());
          changes = true;
        }
    }
    for (int32_t& room : plan_.room)
      if (room == kFree) room = -1;  // cut off from all rooms
  }
  float error() const {
    std::vector<int> areas(sizes_.size());
    std::vector<Box> extents(sizes_.size(), Box{1 << 20, 1 << 20, -1, -1});
    int all = 0;
    for (int y = 0; y < plan_.rows; ++y)
      for (int x = 0; x < plan_.columns; ++x) {
        const int32_t room = plan_.room_at(x, y);
        if (room < 0) continue;
        ++areas[size_t(room)], ++all;
        Box& box = extents[size_t(room)];
        box = {std::min(box.low_x, x), std::min(box.low_y, y), std::max(box.high_x, x),
               std::max(box.high_y, y)};
      }
    float sum = 0.0f, error = 0.0f;
    for (const float size : sizes_) sum += size;
    for (size_t k = 0; k < sizes_.size(); ++k) {
      error += abs(float(areas[k]) / float(all) - sizes_[k] / sum);
      const int wide = extents[k].high_x - extents[k].low_x + 1;
      const int deep = extents[k].high_y - extents[k].low_y + 1;
      if (areas[k] < 2 || std::max(wide, deep) > 4 * std::min(wide, deep)) error += 2.0f;
    }
    return error;
  }

 public:
  static constexpr int32_t kFree = -2;

 private:
  Plan& plan_;
  const std::vector<float>& sizes_;
  Dice& dice_;
  std::vector<Box> boxes_;
};

/// An outline without rooms: a rectangle, less rectangles at some of its corners.
Plan outline(int rooms, Dice& dice) {
  Plan plan{};
  plan.side = snapped(kUsualSide * dice.within(0.85f, 1.25f));
  const float squares = kSquaresOfRoom * float(rooms) * dice.within(0.8f, 1.2f);
  const float shape = dice.within(0.75f, 1.33f);
  plan.columns = std::max(3, int(sqrt(squares * shape) + 0.5f));
  plan.rows = std::max(2, int(squares / float(plan.columns) + 0.999f));
  plan.room.assign(size_t(plan.columns * plan.rows), Growth::kFree);
  const int bites = dice.between(0, rooms < 3 ? 0 : 3);
  for (int k = 0; k < bites; ++k) {
    const int wide = dice.between(1, std::max(1, plan.columns / 3));
    const int deep = dice.between(1, std::max(1, plan.rows / 3));
    const bool right = dice.chance(0.5f), top = dice.chance(0.5f);
    for (int y = 0; y < deep; ++y)
      for (int x = 0; x < wide; ++x) {
        const int at_x = right ? plan.columns - 1 - x : x, at_y = top ? plan.rows - 1 - y : y;
        plan.room[size_t(at_y * plan.columns + at_x)] = -1;
      }
  }
  return plan;
}

std::vector<RoomKind> kinds_of(int rooms, Dice& dice) {
  std::vector<RoomKind> kinds = {kLiving};
  static constexpr RoomKind kOrder[] = {kBedroom, kKitchen, kBathroom, kHall,
                                        kBedroom, kBedroom, kBathroom, kLiving,
                                        kHall,    kBedroom, kKitchen};
  for (int k = 1; k < rooms; ++k) {
    RoomKind kind = kOrder[k - 1];
    if (k > 3 && dice.chance(0.25f)) kind = RoomKind(dice.below(kRoomKinds));
    kinds.push_back(kind);
  }
  return kinds;
}

// ---- doors

/// A stretch of wall, one square long, between two rooms.
struct Stretch {
  int a, b;  // rooms, the lower number first
  bool along_x;
  int line, from;  // in squares: where it is, and where along it begins
};
std::vector<Stretch> stretches_of(const Plan& plan) {
  std::vector<Stretch> all;
  for (int y = 0; y < plan.rows; ++y)
    for (int x = 0; x < plan.columns; ++x) {
      const int here = plan.room_at(x, y), right = plan.room_at(x + 1, y),
                above = plan.room_at(x, y + 1);
      if (here < 0) continue;
      if (right >= 0 && right != here)
        all.push_back({std::min(here, right), std::max(here, right), false, x + 1, y});
      if (above >= 0 && above != here)
        all.push_back({std::min(here, above), std::max(here, above), true, y + 1, x});
    }
  return all;
}
Door door_in(const Plan& plan, const Stretch& at, const Knobs& knobs, Dice& dice) {
  const float room = plan.side - 2.0f * (kHalfWall + kPost);
  const bool is_wide = dice.chance(kWide) && room >= 1.5f;
  const float width = snapped(min(room, is_wide ? dice.within(1.5f, min(2.5f, room))
                                                : dice.within(knobs.door_low, knobs.door_high)));
  const float from = float(at.from) * plan.side + kHalfWall + kPost;
  const float begin = snapped(from + dice.share() * (room - width));
  return {{at.a, at.b}, at.along_x, float(at.line) * plan.side, begin, begin + width, is_wide};
}

/// Whether rooms can all be reached, as far as pairs in `joined` say.
int root_of(std::vector<int>& group, int room) {
  while (group[size_t(room)] != room) room = group[size_t(room)];
  return room;
}
bool add_doors(Plan& plan, const Knobs& knobs, Dice& dice) {
  const std::vector<Stretch> all = stretches_of(plan);
  struct Pair {
    int a, b, cost;
    std::vector<Stretch> stretches;
  };
  std::vector<Pair> pairs;
  for (const Stretch& one : all) {
    auto found = std::find_if(pairs.begin(), pairs.end(),
                              [&](const Pair& p) { return p.a == one.a && p.b == one.b; });
    if (found == pairs.end()) {
      const int cost = privacy(plan.kinds[size_t(one.a)]) + privacy(plan.kinds[size_t(one.b)]);
      pairs.push_back({one.a, one.b, cost * 1000 + dice.below(1000), {}});
      found = pairs.end() - 1;
    }
    found->stretches.push_back(one);
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& x, const Pair& y) { return x.cost < y.cost; });
  std::vector<int> group(size_t(plan.room_count()));
  for (size_t k = 0; k < group.size(); ++k) group[k] = int(k);
  int joined = 1;
  for (const Pair& pair : pairs) {
    const int a = root_of(group, pair.a), b = root_of(group, pair.b);
    if (a == b && !dice.chance(kLoop)) continue;
    if (a != b) group[size_t(a)] = b, ++joined;
    const Stretch& at = pair.stretches[size_t(dice.below(int(pair.stretches.size())))];
    plan.doors.push_back(door_in(plan, at, knobs, dice));
  }
  return joined == plan.room_count();
}

}  // namespace

Plan make_plan(const Knobs& knobs, uint64_t seed) {
  Dice dice(seed, Name("plan").hash());
  const int rooms = dice.between(knobs.rooms_low, knobs.rooms_high);
  for (;;) {
    const Plan empty = outline(rooms, dice);
    Plan best;
    float least = 1e6f;
    for (int trial = 0; trial < kTrials; ++trial) {
      Plan plan = empty;
      plan.kinds = kinds_of(rooms, dice);
      std::vector<float> sizes;
      for (const RoomKind kind : plan.kinds) sizes.push_back(size_of(kind, dice));
      const float error = Growth(plan, sizes, dice).run();
      if (error < least) least = error, best = std::move(plan);
    }
    // A plan whose rooms are too small or cut off is drawn again, with another outline.
    if (least < 2.0f && add_doors(best, knobs, dice)) return best;
  }
}

}  // namespace ge::houses
