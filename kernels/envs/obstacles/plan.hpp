// A new level's plan: a chain of platforms from the start to the exit, straight on or around
// corners. Sequential in each world, with bounded loops; every number is a draw of its own place.
#pragma once

#include "envs/obstacles/tables.hpp"
#include "voxel/draws.hpp"

namespace gpu_envs::envs::obstacles {

/// Levels that are drawn until no two platforms meet, and obstacles until one is not too hard.
inline constexpr int kLevelAttempts = 20, kObstacleTries = 32;
inline constexpr int kWallHeight = 5;  // beside platforms without a height of their own [cells]

// ---- frames

/// Where the lines that are `a` along and `c` across meet.
struct Corner {
  int32_t x, y;
};
GE_FN Corner corner_of(const Platform& p, int a, int c) {
  const int along_x = (p.ahead == 0) - (p.ahead == 2), along_y = (p.ahead == 1) - (p.ahead == 3);
  return {p.at[0] + along_x * a + along_y * c, p.at[1] + along_y * a - along_x * c};
}
/// Part of a platform, in its frame.
struct Block {
  int32_t a, a_end, c, c_end, z, z_end;
};
GE_FN void place(const Platform& p, const Block& block, auto& box) {
  const Corner one = corner_of(p, block.a, block.c), other = corner_of(p, block.a_end, block.c_end);
  box.low[0] = min(one.x, other.x), box.high[0] = max(one.x, other.x);
  box.low[1] = min(one.y, other.y), box.high[1] = max(one.y, other.y);
  box.low[2] = p.at[2] + block.z, box.high[2] = p.at[2] + block.z_end;
}
/// The lowest corner of a cell.
GE_FN voxel::Cell cell_at(const Platform& p, int a, int c, int z) {
  const Corner one = corner_of(p, a, c), other = corner_of(p, a + 1, c + 1);
  return {min(one.x, other.x), min(one.y, other.y), p.at[2] + z};
}

/// f(part, is_wall): floors and what stands on them, then walls, which go through both.
GE_FN void visit_parts(const Platform& p, const auto& f) {
  const int l = p.length, w = p.width, h = p.height, first = p.first, end = p.first + p.size;
  if (p.kind == kStepUp) {
    f(Block{0, first + 1, 0, w, 0, 1}, false);
    f(Block{first, l, 0, w, p.rise, p.rise + 1}, false);
    f(Block{first, first + 1, 0, w, 0, p.rise + 1}, false);
  } else if (p.kind == kGap) {
    f(Block{0, first, 0, w, 0, 1}, false);
    f(Block{end, l, 0, w, 0, 1}, false);
  } else {
    f(Block{0, l, 0, w, 0, 1}, false);
    if (p.kind == kWall) f(Block{first, end, 1, w - 1, 1, 1 + p.rise}, false);
  }
  if ((p.sides & kNear) != 0) f(Block{0, 1, 0, w, 0, h}, true);
  if ((p.sides & kFar) != 0) f(Block{l - 1, l, 0, w, 0, h}, true);
  if ((p.sides & kLeft) != 0) f(Block{0, l, 0, 1, 0, h}, true);
  if ((p.sides & kRight) != 0) f(Block{0, l, w - 1, w, 0, h}, true);
}

// ---- draws

using voxel::between;

/// Where the next platform goes straight on.
GE_FN void put_behind(Platform& next, const Platform& last) {
  const Corner corner = corner_of(last, last.length, 0);
  next.at[0] = corner.x, next.at[1] = corner.y;
  next.at[2] = last.at[2] + (last.kind == kStepUp ? last.rise : 0);
  next.ahead = last.ahead;
}

enum Turn : int { kStraight, kTurnLeft, kTurnRight };

/// Where the next platform begins, `turn` having been taken.
GE_FN void attach(Platform& next, const Platform& last, int turn) {
  put_behind(next, last);
  if (turn == kStraight) return;
  const bool left = turn == kTurnLeft;
  const Corner corner =
      left ? corner_of(next, -1, 1) : corner_of(next, next.width - 1, last.width - 1);
  next.at[0] = corner.x, next.at[1] = corner.y;
  next.ahead = (last.ahead + (left ? 1 : 3)) & 3;
}
/// The floor in the bend, before a platform of width `width`.
GE_FN Platform corner_after(const Platform& last, int width, int turn) {
  Platform corner = {};
  corner.kind = kCorner;
  corner.length = width - 1, corner.width = last.width, corner.height = kWallHeight;
  corner.sides = kFar | (turn == kTurnLeft ? kRight : kLeft);
  put_behind(corner, last);
  return corner;
}

/// Lengths and heights of an obstacle of its kind; its width is drawn where it is 0.
GE_FN void draw_obstacle(const Varied& v, const Params& p, const Draw& sizes, const Draw& more,
                         Platform& o) {
  o.kind = p.kinds[sizes.below(0, uint32_t(p.kind_count))];
  o.length = o.kind == kLava ? between(sizes, 1, 6, 11) : between(sizes, 1, 4, 9);
  if (o.width == 0) o.width = between(sizes, 2, 5, 8);
  o.height = kWallHeight;
  const int room = o.length - 2;  // cells between the first and the last
  if (o.kind == kWall) {
    o.rise = between(sizes, 3, v.height_low, v.height_high);
    o.height = between(more, 0, o.rise + 4, o.rise + 5);
    o.first = between(more, 1, 1, o.length - 1);
    o.size = between(more, 2, 1, o.length - o.first);
  } else if (o.kind == kStepUp) {
    o.rise = between(sizes, 3, v.height_low, v.height_high);
    o.height = between(more, 0, o.rise + 2, o.rise + 4);
    o.first = between(more, 1, 1, o.length - 1);
  } else {
    const Span range =
        o.kind == kLava ? Span{v.lava_low, v.lava_high} : Span{v.gap_low, v.gap_high};
    o.size = between(sizes, 3, min(range.low, room), min(range.high, room));
    o.first = between(more, 1, 1, o.length - o.size - 1);
  }
}
GE_FN bool is_hardest(const Varied& v, const Platform& o) {
  if ((o.kind == kWall) | (o.kind == kStepUp)) return o.rise == v.height_high;
  return (o.kind == kLava) & (o.size == v.lava_high);
}

/// How courses are planned in game G.
template <class G>
struct Plans {
  using W = World<typename G::Schema>;
  using PlanRows = Rows<typename G::Plan, Platform>;

  /// The platforms so far.
  struct Planner {
    const W& w;
    PlanRows rows;
    int attempt;
    int count = 0, hardest = 0;

    GE_FN void add(Platform p) {
      Platform bounds = p;
      bool any = false;
      visit_parts(p, [&](const Block& block, bool) {
        place(p, block, bounds);
        for (int k = 0; k < 3; ++k) {
          p.low[k] = any ? min(p.low[k], bounds.low[k]) : bounds.low[k];
          p.high[k] = any ? max(p.high[k], bounds.high[k]) : bounds.high[k];
        }
        any = true;
      });
      if (count < G::T::platforms) rows.set(count++, p);
    }
  };

  static GE_FN Platform draw_start(Planner& plan) {
    const int agents = plan.w.params().agent_count;
    const Draw d = draw<"obstacles_start">(plan.w, plan.attempt);
    Platform start = {};
    start.kind = kStart;
    start.width = between(d, 1, 5, 8), start.height = kWallHeight;
    // Where the drawn length has no cell for everybody, the shortest that has.
    const int across = start.width - 2;
    start.length = max(between(d, 0, 4, 9), 2 + (agents + across - 1) / across);
    start.sides = kNear | kLeft | kRight;
    return start;
  }
  static GE_FN Platform draw_exit(Planner& plan, const Platform& last) {
    const Draw d = draw<"obstacles_exit">(plan.w, plan.attempt);
    Platform end = {};
    end.kind = kExit;
    end.length = between(d, 0, 4, 9), end.width = last.width, end.height = kWallHeight;
    end.sides = kFar | kLeft | kRight;
    put_behind(end, last);
    return end;
  }
  /// The k-th obstacle, and the corner before it, which is listed behind it.
  static GE_FN Platform add_obstacle(Planner& plan, const Platform& last, int k) {
    const Params& p = plan.w.params();
    const Varied v = plan.w.varied();
    const int number = plan.attempt * kMostPlatforms + k;
    const int turn = int(draw<"obstacles_turn">(plan.w, number).below(0, 3));
    Platform next = {};
    for (int attempt = 0; attempt < kObstacleTries; ++attempt) {
      const int slot = number * kObstacleTries + attempt;
      next = {};
      next.width = turn == kStraight ? last.width : 0;
      draw_obstacle(v, p, draw<"obstacles_sizes">(plan.w, slot, 0),
                    draw<"obstacles_sizes">(plan.w, slot, 1), next);
      if (!is_hardest(v, next) || plan.hardest < v.hardest_count) break;
    }
    plan.hardest += is_hardest(v, next) ? 1 : 0;
    next.sides = kLeft | kRight;
    attach(next, last, turn);
    plan.add(next);
    if (turn != kStraight) plan.add(corner_after(last, next.width, turn));
    return next;
  }

  /// Whether two platforms meet that are not neighbours, or neighbours of neighbours, in the list.
  static GE_FN bool has_conflict(const Planner& plan) {
    bool found = false;
    for (int j = 3; j < plan.count; ++j) {
      const Platform one = plan.rows.get(j);
      for (int k = 0; k + 2 < j; ++k) {
        const Platform other = plan.rows.get(k);
        bool meet = true;
        for (int axis = 0; axis < 3; ++axis)
          meet &= (one.low[axis] < other.high[axis]) & (other.low[axis] < one.high[axis]);
        found |= meet;
      }
    }
    return found;
  }

  /// Cells of levels begin at 0 along x and y.
  static GE_FN void shift_to_origin(Planner& plan) {
    int32_t low[2] = {INT32_MAX, INT32_MAX};
    for (int k = 0; k < plan.count; ++k)
      for (int axis = 0; axis < 2; ++axis) low[axis] = min(low[axis], plan.rows.get(k).low[axis]);
    for (int k = 0; k < plan.count; ++k) {
      Platform p = plan.rows.get(k);
      for (int axis = 0; axis < 2; ++axis)
        p.at[axis] -= low[axis], p.low[axis] -= low[axis], p.high[axis] -= low[axis];
      plan.rows.set(k, p);
    }
  }

  /// The whole plan; how many platforms it has.
  static GE_FN int plan_course(const W& w, Level& level, PlanRows rows) {
    const Params& p = w.params();
    // Not drawn again with the level: long courses meet themselves more often, and would be rare.
    level.obstacles =
        between(draw<"obstacles_count">(w, 0), 0, w.varied().platform_count_low, p.most_platforms);
    int count = 0;
    level.conflict = 1;
    for (int attempt = 0; attempt < kLevelAttempts && level.conflict != 0; ++attempt) {
      Planner plan{w, rows, attempt};
      Platform last = draw_start(plan);
      plan.add(last);
      for (int k = 0; k < kMostPlatforms; ++k) {
        if (k < level.obstacles) last = add_obstacle(plan, last, k);
        level.kinds[k] = k < level.obstacles ? last.kind : -1;
      }
      level.hardest = plan.hardest;
      plan.add(draw_exit(plan, last));
      level.conflict = has_conflict(plan) ? 1 : 0;
      level.attempts = attempt + 1;
      shift_to_origin(plan);
      count = plan.count;
    }
    return count;
  }
};

}  // namespace gpu_envs::envs::obstacles
