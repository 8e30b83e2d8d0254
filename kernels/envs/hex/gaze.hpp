// Which walls agents may see, so that cameras try no others: a gaze goes from cell to cell through
// edges without a wall, and becomes narrower by each.
//
// This changes no colour and no depth; segments are numbered among what is tried. Nothing that is
// fixed to a wall is higher than walls are, so a ray from below their tops either meets the first
// wall in its way, or passes over all that follow.
#pragma once

#include "envs/hex/maze.hpp"

namespace gpu_envs::envs::hex {

/// The walls on the edges of a cell: rows, and 1; 0: there is none.
struct Sides {
  uint16_t walls[kWays];
  static constexpr auto describe() {
    return fields(field("walls", &Sides::walls, "row and 1 of the wall on each edge; 0: none"));
  }
};
/// Between which slopes from an agent's axis of sight a cell is seen.
struct Window {
  float low, high;
  int32_t waiting;
  static constexpr auto describe() {
    return fields(field("low", &Window::low, "least slope"),
                  field("high", &Window::high, "greatest slope"),
                  field("waiting", &Window::waiting, "1: to be looked through"));
  }
};
struct Plan : Fixed<kNumbers, Sides, Window> {
  static constexpr const char* name = "plan";
  static constexpr bool scratch = true;
};
/// Cells to be looked through, in a ring.
struct Queue : Fixed<kNumbers, Link> {
  static constexpr const char* name = "queue";
  static constexpr bool scratch = true;
};

struct Slopes {
  float low, high;
};
GE_FN bool is_empty(const Slopes& s) {
  return !(s.low <= s.high);
}

/// What an agent looks along, on the plane.
struct Sightline {
  Flat at, right, ahead;
  float widest;  // slope to the sides of its picture
};

/// The slopes between which a rectangle around an edge of a cell is seen, and a little more; empty
/// where it is behind. `half` and `deep`: half of its length and depth.
GE_FN Slopes slopes_of(const Sightline& sight, Flat middle, int way, float half, float deep) {
  constexpr float kNear = 1e-3f;  // [m]
  const Flat out = direction_of(way), along = {-out.y, out.x};
  const Flat from = {middle.x + out.x * kInner - sight.at.x,
                     middle.y + out.y * kInner - sight.at.y};
  const auto seen = [&](Flat v)
                        GE_LAMBDA { return Flat{dot(v, sight.right), dot(v, sight.ahead)}; };
  const Flat centre = seen(from), a = seen(along) * half, b = seen(out) * deep;
  Slopes slopes = {1e9f, -1e9f};
  const auto take = [&](float slope) GE_LAMBDA {
    slopes.low = min(slopes.low, slope), slopes.high = max(slopes.high, slope);
  };
  const auto corner = [&](int k) GE_LAMBDA {
    const float s = (k == 1) | (k == 2) ? 1.0f : -1.0f, t = k >= 2 ? 1.0f : -1.0f;
    return Flat{centre.x + a.x * s + b.x * t, centre.y + a.y * s + b.y * t};
  };
  Flat last = corner(3);
  for (int k = 0; k < 4; ++k) {
    const Flat next = corner(k);
    if (next.y > kNear) take(next.x / next.y);
    if ((next.y > kNear) != (last.y > kNear)) {
      const float share = (kNear - last.y) / (next.y - last.y);
      take((last.x + (next.x - last.x) * share) * (1.0f / kNear));
    }
    last = next;
  }
  // Some hundred times what rounding can do.
  slopes.low -= 1e-3f + 1e-3f * abs(slopes.low), slopes.high += 1e-3f + 1e-3f * abs(slopes.high);
  return slopes;
}

/// Looks through a maze for all agents.
template <class M>
class Gaze {
 public:
  using W = voxel::WorldOf<M>;
  using SideRows = Rows<Plan, Sides>;
  using WindowRows = Rows<Plan, Window>;

  static GE_FN void look(const W& w, SideRows sides, WindowRows windows, Rows<Queue, Link> queue,
                         Rows<Seen, Bits> seen) {
    for (int k = 0; k < kSeenWords; ++k) seen.set(k, {0});
    const Gaze gaze{w, sides, windows, queue, seen};
    gaze.list_sides();
    bool all = false;
    for (int agent = 0; agent < w.params().agent_count; ++agent)
      all |= !gaze.look_with(get<typename M::Agents, voxel::Body>(w, agent));
    if (all)
      for (int k = 0; k < kSeenWords; ++k) seen.set(k, {~uint32_t{0}});
  }

 private:
  // A wall with all that is fixed to it; an open edge, with the ends of walls beside it; where the
  // eye may be inside of a wall [m].
  static constexpr float kWallHalf = 0.5f * kSide + 0.05f, kWallDeep = 0.42f;
  static constexpr float kEndOfWall = 0.25f;
  static constexpr float kLowest = 1.32f;  // of walls that are as high as what is fixed to them

  GE_FN Gaze(const W& w, const SideRows& sides, const WindowRows& windows,
             const Rows<Queue, Link>& queue, const Rows<Seen, Bits>& seen)
      : w_(w), sides_(sides), windows_(windows), queue_(queue), seen_(seen) {}

  GE_FN void see(int wall) const {
    seen_.set(wall / 32, {seen_.get(wall / 32).word | 1u << (wall & 31)});
  }
  static GE_FN bool is_in_field(const Hex& at) {
    return (at.u < kMostSide) & (-at.u < kMostSide) & (at.v < kMostSide) & (-at.v < kMostSide);
  }
  /// Where two walls stand on one edge the first counts, and the second is always seen.
  GE_FN void list_sides() const {
    for (int cell = 0; cell < kNumbers; ++cell) sides_.set(cell, {});
    for (int row = 0; row < row_count<Walls>(w_); ++row) {
      const Wall wall = get<Walls, Wall>(w_, row);
      Sides own = sides_.get(wall.cell);
      if (own.walls[wall.way] != 0) {
        see(row);
        continue;
      }
      own.walls[wall.way] = uint16_t(row + 1);
      sides_.set(wall.cell, own);
      const Hex other = beside(hex_of(wall.cell), wall.way);
      if (!is_in_field(other)) continue;
      Sides theirs = sides_.get(number_of(other));
      theirs.walls[opposite(wall.way)] = uint16_t(row + 1);
      sides_.set(number_of(other), theirs);
    }
  }
  /// Returns false where all walls may be seen.
  GE_FN bool look_with(const voxel::Body& body) const {
    constexpr float kWidest = 30.0f, kMargin = 0.01f;
    const voxel::View eyes = voxel::eyes_of(body);
    const float height = get<Maze>(w_).height;
    const bool is_below = (eyes.at.z > kMargin) & (eyes.at.z < height - kMargin);
    const cameras::Picture& picture = w_.params().picture;
    // The rays of a picture that is tilted are steepest, and so widest, at a corner.
    const float across = picture.slope * float(picture.form.columns);
    const float tilted = abs(eyes.turn.y.z) * picture.slope * float(picture.form.rows);
    const float widest = across / (eyes.turn.z.z - tilted) + 1e-3f;
    const bool is_narrow = (eyes.turn.z.z > tilted) & (widest < kWidest);
    if (!(is_below & is_narrow & (height > kLowest))) return false;
    const Sightline sight = {{eyes.at.x, eyes.at.y},
                             {eyes.turn.x.x, eyes.turn.x.y},
                             {-eyes.turn.x.y, eyes.turn.x.x},
                             widest};
    const Hex start = hex_at(eyes.at);
    return is_in_field(start) && look_from(start, sight);
  }
  GE_FN bool look_from(const Hex& start, const Sightline& sight) const {
    constexpr int kMostTurns = 8 * kNumbers;
    for (int cell = 0; cell < kNumbers; ++cell) windows_.set(cell, {1e9f, -1e9f, 0});
    int first = 0, last = 0;
    wait(number_of(start), {-sight.widest, sight.widest}, last);
    for (int turn = 0; first != last; ++turn) {
      if (turn == kMostTurns) return false;
      const int cell = queue_.get(first).cell;
      first = first + 1 < kNumbers ? first + 1 : 0;
      Window window = windows_.get(cell);
      window.waiting = 0;
      windows_.set(cell, window);
      for (int way = 0; way < kWays; ++way)
        if (!look_at_edge(cell, way, sight, last)) return false;
    }
    return true;
  }
  GE_FN bool look_at_edge(int cell, int way, const Sightline& sight, int& last) const {
    const Window window = windows_.get(cell);
    const Hex at = hex_of(cell);
    const Vec3 middle = middle_of(at);
    const Flat centre = {middle.x, middle.y}, out = direction_of(way);
    const int wall = sides_.get(cell).walls[way];
    const Flat from = {middle.x + out.x * kInner - sight.at.x,
                       middle.y + out.y * kInner - sight.at.y};
    const bool is_inside = (abs(dot(from, out)) < kEndOfWall) &
                           (abs(dot(from, {-out.y, out.x})) < 0.5f * kSide + kEndOfWall);
    const Slopes whole = {-sight.widest, sight.widest};
    if (wall != 0) {
      const Slopes slopes = slopes_of(sight, centre, way, kWallHalf, kWallDeep);
      if (is_inside || !is_empty(both(slopes, window))) see(wall - 1);
      if (!is_inside) return true;
    }
    const Slopes beyond =
        is_inside
            ? whole
            : both(slopes_of(sight, centre, way, 0.5f * kSide + kEndOfWall, kEndOfWall), window);
    if (is_empty(beyond)) return true;
    const Hex next = beside(at, way);
    if (!is_in_field(next)) return false;
    wait(number_of(next), beyond, last);
    return true;
  }
  static GE_FN Slopes both(const Slopes& a, const Window& b) {
    return {max(a.low, b.low), min(a.high, b.high)};
  }
  /// Widens the window of a cell, which waits if it was narrower.
  GE_FN void wait(int cell, const Slopes& slopes, int& last) const {
    Window window = windows_.get(cell);
    if (window.low <= slopes.low && window.high >= slopes.high) return;
    window.low = min(window.low, slopes.low), window.high = max(window.high, slopes.high);
    if (window.waiting == 0) {
      queue_.set(last, {uint8_t(cell)});
      last = last + 1 < kNumbers ? last + 1 : 0;
    }
    window.waiting = 1;
    windows_.set(cell, window);
  }

  const W& w_;
  const SideRows& sides_;
  const WindowRows& windows_;
  const Rows<Queue, Link>& queue_;
  const Rows<Seen, Bits>& seen_;
};

}  // namespace gpu_envs::envs::hex
