// See make_ground.hpp.
#include "houses/make_ground.hpp"

#include <algorithm>
#include <array>
#include <queue>
#include <string>

#include "engine/base/error.hpp"

namespace ge::houses {

namespace {

std::vector<float> in_order(std::vector<float> lines) {
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  return lines;
}
int place_of(const std::vector<float>& lines, float at) {
  return int(std::upper_bound(lines.begin(), lines.end(), at) - lines.begin()) - 1;
}

/// Whether two ranges touch, or overlap by no more than bodies may be deep in both.
bool barely_meet(float high, float low) {
  return high >= low && high - low <= 8.0f * kTouch;
}
/// Whether two things meet at a corner alone: bodies would walk in between.
bool meet_at_a_corner(const Rect& a, const Rect& b) {
  return barely_meet(min(a.high_x, b.high_x), max(a.low_x, b.low_x)) &&
         barely_meet(min(a.high_y, b.high_y), max(a.low_y, b.low_y));
}

constexpr float kEdgeStep = 0.5f;  // at most, between ends along an edge of the floor [m]

/// Squares of the lists, for the extent of a house.
struct Squares {
  float low_x, low_y;
  int columns, rows;
  Rect rect(int square) const {
    const float x = low_x + float(square % columns) * kBucket,
                y = low_y + float(square / columns) * kBucket;
    return {x, y, x + kBucket, y + kBucket};
  }
};

class Maker {
 public:
  Maker(const Shell& shell, std::span<const Rect> things) : floor_(walkable_of(shell, things)) {
    for (const Rect& thing : things) {
      const Rect r = thing.grown(kClearance);
      made_.blocks.push_back({r.low_x, r.low_y, r.high_x, r.high_y});
    }
    made_.low_x = shell.xs.front() - 1.0f, made_.low_y = shell.ys.front() - 1.0f;
    made_.columns = int((shell.xs.back() + 1.0f - made_.low_x) / kBucket) + 1;
    made_.rows = int((shell.ys.back() + 1.0f - made_.low_y) / kBucket) + 1;
  }
  GroundData run() {
    close_seams();
    list_blocks();
    find_corners();
    list_corners();
    join_corners();
    find_spots();
    list_bends();
    return std::move(made_);
  }

 private:
  Squares squares() const { return {made_.low_x, made_.low_y, made_.columns, made_.rows}; }

  /// Where two blocks share a part of a face, or barely overlap, a third one lies across it: bodies,
  /// which may be a little deep in each, would walk in between.
  void close_seams() {
    constexpr float kWide = kClearance;  // no block is narrower than two of these
    const size_t count = made_.blocks.size();
    for (size_t i = 0; i < count; ++i)
      for (size_t j = 0; j < count; ++j) {
        const Block a = made_.blocks[i], b = made_.blocks[j];
        const float low_x = max(a.low_x, b.low_x), high_x = min(a.high_x, b.high_x),
                    low_y = max(a.low_y, b.low_y), high_y = min(a.high_y, b.high_y);
        if (barely_meet(a.high_x, b.low_x) && low_y < high_y)
          made_.blocks.push_back({a.high_x - kWide, low_y, a.high_x + kWide, high_y});
        if (barely_meet(a.high_y, b.low_y) && low_x < high_x)
          made_.blocks.push_back({low_x, a.high_y - kWide, high_x, a.high_y + kWide});
      }
  }
  void list_blocks() {
    const Squares all = squares();
    for (int square = 0; square < all.columns * all.rows; ++square) {
      made_.block_starts.push_back(int32_t(made_.block_items.size()));
      const Rect here = all.rect(square).grown(4.0f * kTouch);
      for (size_t k = 0; k < made_.blocks.size(); ++k) {
        const Block& b = made_.blocks[k];
        if (here.overlaps({b.low_x, b.low_y, b.high_x, b.high_y}))
          made_.block_items.push_back(uint16_t(k));
      }
    }
    made_.block_starts.push_back(int32_t(made_.block_items.size()));
  }
  /// Where three of four rectangles are open, walks can bend around the fourth; where one is, the
  /// floor ends.
  void find_corners() {
    for (int y = 1; y < floor_.rows(); ++y)
      for (int x = 1; x < floor_.columns(); ++x) {
        int open = 0;
        float side_x = 0.0f, side_y = 0.0f;
        for (int k = 0; k < 4; ++k) {
          const int dx = k % 2, dy = k / 2;
          if (floor_.at(x - 1 + dx, y - 1 + dy))
            ++open;
          else
            side_x = dx == 1 ? 1.0f : -1.0f, side_y = dy == 1 ? 1.0f : -1.0f;
        }
        const float at_x = floor_.xs[size_t(x)], at_y = floor_.ys[size_t(y)];
        if (open == 3) made_.corners.push_back({at_x, at_y, side_x, side_y});
        if (open == 1) made_.ends.push_back({at_x, at_y, 0});
      }
    add_ends_along_edges();
    if (made_.corners.size() > size_t(kMostCorners))
      throw Error(Fault::value, "a house has " + std::to_string(made_.corners.size()) +
                                    " corners to walk around, at most " +
                                    std::to_string(kMostCorners) + " are possible");
  }

  /// Where two ways around meet, the middle of a wall may be farthest from somewhere.
  void add_ends_along_edges() {
    const auto add = [&](bool along_x, float line, float from, float to) {
      const int parts = int((to - from) / kEdgeStep) + 1;
      for (int k = 1; k < parts; ++k) {
        const float at = from + (to - from) * float(k) / float(parts);
        made_.ends.push_back({along_x ? at : line, along_x ? line : at, 0});
      }
    };
    for (const bool along_x : {true, false}) {
      const std::vector<float>&across = along_x ? floor_.ys : floor_.xs,
            &along = along_x ? floor_.xs : floor_.ys;
      const auto open = [&](int k, int line) {
        return along_x ? floor_.at(k, line) : floor_.at(line, k);
      };
      for (int line = 0; line < int(across.size()); ++line) {
        int begin = -1, side = 0;  // of an edge: -1 the floor lies below it, 1 above, 0: none
        for (int k = 0; k < int(along.size()); ++k) {
          const int now = int(open(k, line)) - int(open(k, line - 1));
          if (now == side) continue;
          if (side != 0) add(along_x, across[size_t(line)], along[size_t(begin)], along[size_t(k)]);
          begin = k, side = now;
        }
      }
    }
  }

  /// Whether one block hides all of a square from a point: what is behind a convex thing is convex,
  /// so it is enough that it hides the square's corners.
  bool is_hidden(const Rect& square, Point from) const {
    const Ground ground = made_.view();
    const std::array<Point, 4> ends = {
        Point{square.low_x, square.low_y}, Point{square.high_x, square.low_y},
        Point{square.low_x, square.high_y}, Point{square.high_x, square.high_y}};
    const Point middle = {0.5f * (square.low_x + square.high_x),
                          0.5f * (square.low_y + square.high_y)};
    const auto hides = [&](const Block& block, Point to) {
      const detail::Passage in =
          detail::passage(block, {from, to.x - from.x, to.y - from.y}, 4.0f * kTouch);
      return in.enter < in.leave && in.leave > 0.0f && in.enter < 1.0f;
    };
    return detail::any_along(ground, from, middle, [&](const Block& block) {
      return hides(block, middle) &&
             std::all_of(ends.begin(), ends.end(), [&](Point end) { return hides(block, end); });
    });
  }
  void list_corners() {
    const Squares all = squares();
    for (int square = 0; square < all.columns * all.rows; ++square) {
      made_.corner_starts.push_back(int32_t(made_.corner_items.size()));
      // Bodies may be a little beyond the floor's end, which may be where squares end.
      const Rect wide = all.rect(square).grown(4.0f * kTouch);
      if (!has_floor(wide)) continue;
      for (size_t k = 0; k < made_.corners.size(); ++k)
        if (can_bend_from(made_.corners[k], wide) && !is_hidden(wide, made_.corners[k].point()))
          made_.corner_items.push_back(uint16_t(k));
    }
    made_.corner_starts.push_back(int32_t(made_.corner_items.size()));
  }
  bool has_floor(const Rect& square) const {
    const int first = std::max(0, place_of(floor_.xs, square.low_x)),
              last = std::min(floor_.columns() - 1, place_of(floor_.xs, square.high_x));
    for (int y = std::max(0, place_of(floor_.ys, square.low_y));
         y <= std::min(floor_.rows() - 1, place_of(floor_.ys, square.high_y)); ++y)
      for (int x = first; x <= last; ++x)
        if (floor_.at(x, y)) return true;
    return false;
  }
  static bool can_bend_from(const Corner& corner, const Rect& square) {
    for (const float x : {square.low_x, square.high_x})
      for (const float y : {square.low_y, square.high_y})
        if (corner.can_bend({x, y})) return true;
    return square.holds(corner.x, corner.y);
  }

  /// Distances between all corners, each by Dijkstra's algorithm over what corners see.
  void join_corners() {
    const Ground ground = made_.view();
    const size_t count = made_.corners.size();
    struct Edge {
      int32_t to;
      float length;
    };
    std::vector<std::vector<Edge>> edges(count);
    for (size_t a = 0; a < count; ++a)
      for (size_t b = a + 1; b < count; ++b) {
        const Corner &from = made_.corners[a], &to = made_.corners[b];
        if (!from.can_bend(to.point()) || !to.can_bend(from.point())) continue;
        if (!is_free(ground, from.point(), to.point())) continue;
        const float length = distance(from.point(), to.point());
        edges[a].push_back({int32_t(b), length}), edges[b].push_back({int32_t(a), length});
      }
    made_.distances.assign(count * count, kUnreachable);
    for (size_t from = 0; from < count; ++from) {
      float* const found = &made_.distances[from * count];
      using Waiting = std::pair<float, int32_t>;
      std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue;
      found[from] = 0.0f;
      queue.push({0.0f, int32_t(from)});
      while (!queue.empty()) {
        const auto [far, at] = queue.top();
        queue.pop();
        if (far > found[at]) continue;
        for (const Edge& edge : edges[size_t(at)])
          if (far + edge.length < found[edge.to]) {
            found[edge.to] = far + edge.length;
            queue.push({found[edge.to], edge.to});
          }
      }
    }
    for (size_t a = 0; a < count; ++a)  // sums of the two ways may differ in their last bit
      for (size_t b = 0; b < a; ++b)
        made_.distances[a * count + b] = made_.distances[b * count + a];
  }

  void list_bends() {
    const Ground ground = made_.view();
    for (End& end : made_.ends) {
      end.first = int32_t(made_.bends.size());
      each_bend(ground, end.point(), [&](int corner, float metres) {
        if (is_free(ground, end.point(), ground.corners[corner].point()))
          made_.bends.push_back({corner, metres});
      });
    }
    made_.ends.push_back({0.0f, 0.0f, int32_t(made_.bends.size())});
  }
  void find_spots() {
    std::vector<bool> taken(floor_.open.size());
    const auto is_open = [&](int x, int y) {
      return floor_.at(x, y) && !taken[size_t(y * floor_.columns() + x)];
    };
    float area = 0.0f;
    for (int y = 0; y < floor_.rows(); ++y)
      for (int x = 0; x < floor_.columns(); ++x) {
        if (!is_open(x, y)) continue;
        int wide = 1, deep = 1;
        while (is_open(x + wide, y)) ++wide;
        const auto all_open = [&](int row) {
          for (int k = 0; k < wide; ++k)
            if (!is_open(x + k, row)) return false;
          return true;
        };
        while (all_open(y + deep)) ++deep;
        for (int j = 0; j < deep; ++j)
          for (int i = 0; i < wide; ++i) taken[size_t((y + j) * floor_.columns() + x + i)] = true;
        const Rect rect = {floor_.xs[size_t(x)], floor_.ys[size_t(y)], floor_.xs[size_t(x + wide)],
                           floor_.ys[size_t(y + deep)]};
        area += rect.area();
        made_.spots.push_back({rect.low_x, rect.low_y, rect.high_x, rect.high_y, area});
      }
  }

  Walkable floor_;
  GroundData made_{};
};

}  // namespace

Ground GroundData::view() const {
  return {blocks.data(),
          corners.data(),
          block_starts.data(),
          corner_starts.data(),
          block_items.data(),
          corner_items.data(),
          distances.data(),
          ends.data(),
          bends.data(),
          low_x,
          low_y,
          columns,
          rows,
          int32_t(corners.size()),
          int32_t(ends.size()) - 1};
}

bool Walkable::holds(float x, float y) const {
  return at(place_of(xs, x), place_of(ys, y));
}

Walkable walkable_of(const Shell& shell, std::span<const Rect> things) {
  Walkable floor{};
  for (const Rect& thing : things) {
    const Rect r = thing.grown(kClearance);
    floor.xs.insert(floor.xs.end(), {r.low_x, r.high_x});
    floor.ys.insert(floor.ys.end(), {r.low_y, r.high_y});
  }
  floor.xs = in_order(std::move(floor.xs)), floor.ys = in_order(std::move(floor.ys));
  const int columns = floor.columns(), rows = floor.rows();
  std::vector<int32_t> part(size_t(columns * rows), -1);  // -2: blocked
  for (const Rect& thing : things) {
    const Rect r = thing.grown(kClearance);
    const int x0 = place_of(floor.xs, r.low_x), x1 = place_of(floor.xs, r.high_x);
    for (int y = place_of(floor.ys, r.low_y); y < place_of(floor.ys, r.high_y); ++y)
      for (int x = x0; x < x1; ++x) part[size_t(y * columns + x)] = -2;
  }
  const auto rect_of = [&](int x, int y) {
    return Rect{floor.xs[size_t(x)], floor.ys[size_t(y)], floor.xs[size_t(x) + 1],
                floor.ys[size_t(y) + 1]};
  };
  for (int y = 0; y < rows; ++y)
    for (int x = 0; x < columns; ++x) {
      if (part[size_t(y * columns + x)] == -2) continue;
      const Rect r = rect_of(x, y);
      const int px = place_of(shell.xs, 0.5f * (r.low_x + r.high_x)),
                py = place_of(shell.ys, 0.5f * (r.low_y + r.high_y));
      const bool inside = px >= 0 && px < shell.columns() && py >= 0 && py < shell.rows() &&
                          shell.at(px, py).room >= 0;
      if (!inside) part[size_t(y * columns + x)] = -2;
    }
  std::vector<float> areas;
  std::vector<int32_t> queue;
  for (int first = 0; first < columns * rows; ++first) {
    if (part[size_t(first)] != -1) continue;
    const auto number = int32_t(areas.size());
    float area = 0.0f;
    queue.assign(1, first);
    part[size_t(first)] = number;
    while (!queue.empty()) {
      const int at = queue.back(), x = at % columns, y = at / columns;
      queue.pop_back();
      area += rect_of(x, y).area();
      const auto visit = [&](int nx, int ny) {
        if (nx < 0 || nx >= columns || ny < 0 || ny >= rows) return;
        int32_t& other = part[size_t(ny * columns + nx)];
        if (other == -1) other = number, queue.push_back(ny * columns + nx);
      };
      visit(x + 1, y), visit(x - 1, y), visit(x, y + 1), visit(x, y - 1);
    }
    areas.push_back(area);
  }
  const auto largest = std::max_element(areas.begin(), areas.end());
  const auto main_part = int32_t(largest - areas.begin());
  floor.area = areas.empty() ? 0.0f : *largest;
  for (const float area : areas) floor.lost += area;
  floor.lost -= floor.area;
  for (const int32_t one : part) floor.open.push_back(!areas.empty() && one == main_part);
  for (int y = 1; y < rows; ++y)
    for (int x = 1; x < columns; ++x) {
      const bool a = floor.at(x - 1, y - 1), b = floor.at(x, y - 1), c = floor.at(x - 1, y),
                 d = floor.at(x, y);
      floor.pinched = floor.pinched || (a == d && b == c && a != b);
    }
  for (size_t k = 0; k < things.size(); ++k)
    for (size_t other = 0; other < k; ++other)
      floor.pinched = floor.pinched || meet_at_a_corner(things[k].grown(kClearance),
                                                        things[other].grown(kClearance));
  return floor;
}

GroundData make_ground(const Shell& shell, std::span<const Rect> things) {
  return Maker(shell, things).run();
}

}  // namespace ge::houses
