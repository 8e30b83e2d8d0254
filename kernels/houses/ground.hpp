// The walkable floor of a house, and walks on it. What stands on the floor is rectangles along the
// axes; a body's middle keeps kClearance from them, so it walks outside the rectangles that are
// larger by that much. The shortest path between two points bends at corners of these alone, so
// distances between all corners, made once (make_ground.hpp), give exact distances between all
// points: over the corners that each sees.
#pragma once

#include "engine/described/describe.hpp"
#include "geometry/vectors.hpp"

namespace ge::houses {

inline constexpr float kClearance = 26.0f / 256.0f;  // [m]
inline constexpr float kBucket = 0.5f;               // side of a square of the lists below [m]
inline constexpr int kMostCorners = 512;
/// Bodies may be this deep in a rectangle, and sight lines twice as deep, so that rounding never
/// blocks a walk along a face [m].
inline constexpr float kTouch = 0x1p-11f;
inline constexpr float kUnreachable = 1e9f;  // [m]

struct Point {
  float x, y;
};
GE_FN float distance(Point a, Point b) {
  const float dx = a.x - b.x, dy = a.y - b.y;
  return sqrt(dx * dx + dy * dy);
}

/// A rectangle that middles of bodies stay out of.
struct Block {
  float low_x, low_y, high_x, high_y;
  static constexpr auto describe() {
    return fields(field("low_x", &Block::low_x, "least x").in("m"),
                  field("low_y", &Block::low_y, "least y").in("m"),
                  field("high_x", &Block::high_x, "greatest x").in("m"),
                  field("high_y", &Block::high_y, "greatest y").in("m"));
  }
};
/// A corner that walks can bend at. The floor is blocked towards (side_x, side_y).
struct Corner {
  float x, y, side_x, side_y;
  static constexpr auto describe() {
    return fields(field("x", &Corner::x, "place").in("m"), field("y", &Corner::y, "place").in("m"),
                  field("side_x", &Corner::side_x, "where it is blocked: 1 or -1").within(-1, 1),
                  field("side_y", &Corner::side_y, "where it is blocked: 1 or -1").within(-1, 1));
  }
  GE_FN Point point() const { return {x, y}; }
  /// Whether a shortest path can bend here on its way from or to a point, which may be as deep in
  /// a face as bodies are.
  GE_FN bool can_bend(Point from) const {
    const float u = (from.x - x) * side_x, v = (from.y - y) * side_y;
    constexpr float kDeep = 2.0f * kTouch;
    return !(((u > kDeep) & (v > kDeep)) | ((u < -kDeep) & (v < -kDeep)));
  }
};

/// A place where the floor ends: its inner corners, and points along its edges, no more than half a
/// metre apart. What is farthest from somewhere is near one of them. From `first` on, up to those of
/// the next, are the corners that one may bend at on the way here.
struct End {
  float x, y;
  int32_t first;
  static constexpr auto describe() {
    return fields(field("x", &End::x, "place").in("m"), field("y", &End::y, "place").in("m"),
                  field("first", &End::first, "first of its bends").within(0, INT32_MAX));
  }
  GE_FN Point point() const { return {x, y}; }
};
struct Bend {
  int32_t corner;
  float metres;
  static constexpr auto describe() {
    return fields(
        field("corner", &Bend::corner, "number of the corner").within(0, kMostCorners - 1),
        field("metres", &Bend::metres, "from there to the end").in("m"));
  }
};

/// A house's floor, in arrays that all houses share. Lists of a square k are items[starts[k]] to
/// items[starts[k + 1] - 1].
struct Ground {
  const Block* blocks;
  const Corner* corners;
  const int32_t *block_starts, *corner_starts;
  const uint16_t *block_items, *corner_items;  // of blocks; of corners that may be seen from there
  const float* distances;                      // between corners, row after row
  const End* ends;                             // and one more, where the bends of the last end
  const Bend* bends;
  float low_x, low_y;  // of the first square
  int32_t columns, rows, corner_count, end_count;

  GE_FN int column_of(float x) const { return clamped((x - low_x) * (1.0f / kBucket), columns); }
  GE_FN int row_of(float y) const { return clamped((y - low_y) * (1.0f / kBucket), rows); }
  GE_FN int square_of(Point p) const { return row_of(p.y) * columns + column_of(p.x); }

  static GE_FN int clamped(float at, int count) {
    const float last = float(count - 1);
    return int(at > 0.0f ? (at < last ? at : last) : 0.0f);  // NaN: 0
  }
};

namespace detail {

/// Shares of a way at which it enters and leaves a block that is smaller by `touch` on all sides.
struct Passage {
  float enter, leave;
  bool through_x;  // the face that it enters by lies across x
};
GE_FN float over(float x) {
  return 1.0f / select(abs(x) < 1e-12f, select(x < 0.0f, -1e-12f, 1e-12f), x);
}
/// A way from a point, and one over its parts.
struct Way {
  Point from;
  float dx, dy, over_x, over_y;
  GE_FN Way(Point at, float x, float y)
      : from(at), dx(x), dy(y), over_x(over(x)), over_y(over(y)) {}
};
GE_FN Passage passage(const Block& b, const Way& way, float touch) {
  const float to_low_x = b.low_x + touch - way.from.x, to_high_x = b.high_x - touch - way.from.x;
  const float to_low_y = b.low_y + touch - way.from.y, to_high_y = b.high_y - touch - way.from.y;
  // A way along a face passes by.
  if (((way.dx == 0.0f) & ((to_low_x >= 0.0f) | (to_high_x <= 0.0f))) |
      ((way.dy == 0.0f) & ((to_low_y >= 0.0f) | (to_high_y <= 0.0f))))
    return {1.0f, -1.0f, false};
  const float x0 = to_low_x * way.over_x, x1 = to_high_x * way.over_x;
  const float y0 = to_low_y * way.over_y, y1 = to_high_y * way.over_y;
  const float enter_x = min(x0, x1), enter_y = min(y0, y1);
  return {max(enter_x, enter_y), min(max(x0, x1), max(y0, y1)), enter_x > enter_y};
}

/// Calls f(block) for the blocks in the squares that a way passes, until it returns true; some come
/// more than once. Returns whether it did.
template <class F>
GE_FN bool any_along(const Ground& ground, Point a, Point b, const F& f) {
  constexpr float kMargin = 2.0f * kTouch;
  const int first = ground.column_of(min(a.x, b.x) - kMargin),
            last = ground.column_of(max(a.x, b.x) + kMargin);
  const float slope = (b.y - a.y) * over(b.x - a.x);
  const float low_y = min(a.y, b.y), high_y = max(a.y, b.y);
  for (int column = first; column <= last; ++column) {
    // The part of the way in this column, or all of it where it is steep.
    const float from = ground.low_x + float(column) * kBucket - a.x;
    const float y0 = a.y + slope * from, y1 = a.y + slope * (from + kBucket);
    const bool ends = first == last;
    const float low = ends ? low_y : max(low_y, min(y0, y1)),
                high = ends ? high_y : min(high_y, max(y0, y1));
    const int last_row = ground.row_of(high + kMargin);
    for (int row = ground.row_of(low - kMargin); row <= last_row; ++row) {
      const int square = row * ground.columns + column;
      for (int k = ground.block_starts[square]; k < ground.block_starts[square + 1]; ++k)
        if (f(ground.blocks[ground.block_items[k]])) return true;
    }
  }
  return false;
}

}  // namespace detail

/// Whether nothing stands between two points.
GE_FN bool is_free(const Ground& ground, Point a, Point b) {
  const detail::Way way(a, b.x - a.x, b.y - a.y);
  return !detail::any_along(ground, a, b, [&](const Block& block) GE_LAMBDA {
    const detail::Passage in = detail::passage(block, way, 2.0f * kTouch);
    return (in.enter < in.leave) & (in.leave > 0.0f) & (in.enter < 1.0f);
  });
}

/// Where a body gets that wants to move by (dx, dy): it slides along what it meets, and stays where
/// two faces meet.
GE_FN Point moved(const Ground& ground, Point from, float dx, float dy) {
  GE_NO_UNROLL
  for (int slide = 0; slide < 3; ++slide) {
    const detail::Way way(from, dx, dy);
    const Point to = {from.x + dx, from.y + dy};
    float first = 1.0f, face = 0.0f;
    bool meets = false, through_x = false;
    detail::any_along(ground, from, to, [&](const Block& block) GE_LAMBDA {
      const detail::Passage in = detail::passage(block, way, kTouch);
      // A face a little behind is one that the body stands at. Deeper inside, where a body was put,
      // nothing stops it.
      const float depth = -in.enter * abs(in.through_x ? dx : dy);
      const bool ahead = (depth < 0.5f * kTouch) & (in.leave > 0.0f);
      if (!((in.enter < in.leave) & ahead & (in.enter < first))) return false;
      first = max(in.enter, 0.0f);
      meets = true, through_x = in.through_x;
      face = through_x ? (dx > 0.0f ? block.low_x + kTouch : block.high_x - kTouch)
                       : (dy > 0.0f ? block.low_y + kTouch : block.high_y - kTouch);
      return false;
    });
    if (!meets) return to;
    from = {from.x + dx * first, from.y + dy * first};
    if (through_x)
      from.x = face, dx = 0.0f, dy = dy * (1.0f - first);
    else
      from.y = face, dy = 0.0f, dx = dx * (1.0f - first);
    if ((dx == 0.0f) & (dy == 0.0f)) break;
  }
  return from;
}

/// Calls f(corner number, distance) for the corners that a walk from a point may bend at first.
template <class F>
GE_FN void each_bend(const Ground& ground, Point from, const F& f) {
  const int square = ground.square_of(from);
  for (int k = ground.corner_starts[square]; k < ground.corner_starts[square + 1]; ++k) {
    const int number = ground.corner_items[k];
    const Corner corner = ground.corners[number];
    if (corner.can_bend(from)) f(number, distance(from, corner.point()));
  }
}

}  // namespace ge::houses
