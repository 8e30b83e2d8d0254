// A new level: rooms, then a place for every body. Sequential in each world, with bounded loops;
// every random number is a draw of its own place, so that nothing depends on what came before.
//
// Rooms are planned on the unit square: from the four sides, parallel walls are joined by new ones
// with a door (divisions), and wide doors are cut into long walls; a wall that is met by another is
// split there. On a grid (`cells`), new walls run from wall to wall along the cells' borders.
#pragma once

#include "envs/hide_seek/tables.hpp"
#include "physics/footprints.hpp"

namespace gpu_envs::envs::hide_seek {

/// Levels drawn before objects without a place are left out.
inline constexpr int kLevelAttempts = 4;
/// Parallel walls on the grid are more than this apart [cells].
inline constexpr float kRoom = 6.0f;

/// The part of a wall between two of its points.
GE_FN Segment part(Segment wall, float start, float end) {
  wall.start = start, wall.end = end;
  return wall;
}
/// A wall as it stands in the world.
GE_FN physics::Static wall_of(const Params& p, const Segment& s) {
  const float unit = 2.0f * p.arena_half / (p.cells != 0 ? float(p.cells) : 1.0f);
  const float at = s.at * unit - p.arena_half;
  const float middle = 0.5f * (s.start + s.end) * unit - p.arena_half;
  const float half = 0.5f * (s.end - s.start) * unit;
  const float height = 0.5f * (s.outer != 0 ? p.outer_wall_height : p.wall_height);
  const bool along_x = s.across == 0;
  return {{along_x ? middle : at, along_x ? at : middle, height},
          {along_x ? half : p.wall_half, along_x ? p.wall_half : half, height},
          kWallKind};
}

/// How many boxes a level has, and how many of them are long.
struct BoxCounts {
  int all, wide;
};
/// The kind that a row has in this level; kFloorKind: none.
GE_FN uint32_t kind_at(const Params& p, const BoxCounts& boxes, int row) {
  if (row < p.agent_count) return kAgentKind;
  if (row >= p.first_ramp) return row < p.body_count ? kRampKind : kFloorKind;
  const int box = row - p.first_box;
  return box < boxes.wide ? kLongKind : box < boxes.all ? kCubeKind : kFloorKind;
}

/// How levels are made, in a build with room for T.
template <class T>
struct Levels {
  using W = World<Schema<T>>;
  using Bodies = typename Tables<T>::Bodies;
  using Footprints = typename Tables<T>::Footprints;
  using Statics = typename Tables<T>::Statics;

  // ---- the plan of walls

  /// The walls so far, and which draws they are made of.
  struct WallPlan {
    const W& w;
    Rows<Plan, Segment> rows;
    int attempt;
    int count = 0;

    GE_FN Segment get(int k) const { return rows.get(k); }
    GE_FN void add(const Segment& wall) {
      if (wall.end > wall.start && count < kMostWalls) rows.set(count++, wall);
    }
    /// Replaces wall k by its two remaining parts, of which either may be empty.
    GE_FN void replace(int k, const Segment& first, const Segment& second) {
      // Where nothing is left the last wall takes its place: rows have no gaps.
      const bool one = first.end > first.start, two = second.end > second.start;
      if (one | two)
        rows.set(k, one ? first : second);
      else
        rows.set(k, rows.get(--count));
      if (one & two) add(second);
    }
    GE_FN Draw random(int operation, int block) const {
      // 32 numbers per attempt: operations are fewer (check_level), and 31 is that of the counts.
      return draw<"hide_seek_walls">(w, attempt * 32 + operation, block);
    }
  };

  /// `place` in [0, 1) of where a door may be.
  static GE_FN void cut_door(WallPlan& plan, int k, float width, float place) {
    const Segment wall = plan.get(k);
    // Its middle is a door's width from either end at least, in the middle 0.4 of the rest.
    const float a = wall.start + width, b = wall.end - width;
    const float centre = a + (0.3f + 0.4f * place) * (b - a), half = 0.5f * width;
    plan.replace(k, part(wall, wall.start, centre - half), part(wall, centre + half, wall.end));
  }

  static GE_FN void begin_walls(WallPlan& plan, float side) {
    plan.count = 0;
    for (int k = 0; k < 4; ++k)
      plan.add({k >> 1, (k & 1) != 0 ? side : 0.0f, 0.0f, side, -1.0f, 1u});
  }

  /// Whether walls a and b can be joined: long enough, side by side, and nothing between them.
  static GE_FN bool can_join(const WallPlan& plan, const Segment& a, const Segment& b) {
    // As the batch version has it: walls along x may be shorter.
    const float least = a.across == 0 ? 0.3f : 0.5f;
    const float start = max(a.start, b.start), end = min(a.end, b.end);
    if ((a.across != b.across) | (end <= start) | (a.at == b.at) | (a.end - a.start < least) |
        (b.end - b.start < least))
      return false;
    const float low = min(a.at, b.at), high = max(a.at, b.at);
    bool clear = true;
    for (int k = 0; k < plan.count; ++k) {
      const Segment c = plan.get(k);
      const bool between = (c.across == a.across) & (c.at > low) & (c.at < high);
      clear = clear & !(between & (c.start < end + 0.1f) & (c.end > start - 0.1f));
    }
    return clear;
  }

  /// A new wall from a to b, both of which it splits, with a door.
  static GE_FN void join_walls(WallPlan& plan, int a, int b, float place, float door_place) {
    const Segment first = plan.get(a), second = plan.get(b);
    const float start = max(first.start, second.start), end = min(first.end, second.end);
    // Near the middle of the part that both have, so that no room is a corridor.
    const float at = start + (0.4f + 0.2f * place) * (end - start);
    plan.rows.set(a, part(first, first.start, at));
    plan.rows.set(b, part(second, second.start, at));
    plan.add(part(first, at, first.end));
    plan.add(part(second, at, second.end));
    plan.add({1 - first.across, at, min(first.at, second.at), max(first.at, second.at), -1.0f, 0u});
    cut_door(plan, plan.count - 1, plan.w.varied_in_place().door, door_place);
  }

  static GE_FN void divide(WallPlan& plan, int operation) {
    for (int attempt = 1; attempt <= 6; ++attempt) {
      const Draw d = plan.random(operation, attempt);
      const int across = int(d.below(0, 2));
      int alike = 0;
      for (int k = 0; k < plan.count; ++k) alike += plan.get(k).across == across ? 1 : 0;
      int chosen = int(d.below(1, uint32_t(alike))), wall = -1;
      for (int k = 0; k < plan.count; ++k)
        if (plan.get(k).across == across && chosen-- == 0) wall = k;
      if (wall < 0) continue;
      const Segment a = plan.get(wall);
      const int first = int(d.below(2, uint32_t(plan.count)));
      for (int k = 0; k < plan.count; ++k) {
        const int other = first + k < plan.count ? first + k : first + k - plan.count;
        if (!can_join(plan, a, plan.get(other))) continue;
        join_walls(plan, wall, other, d.uniform(3), plan.random(operation, 7).uniform(0));
        return;
      }
    }
  }

  /// Divisions and cuts in random order; an attempt counts whether or not it succeeds.
  static GE_FN void plan_rooms(WallPlan& plan) {
    const Derived& v = plan.w.varied_in_place();
    begin_walls(plan, 1.0f);
    const Draw counts = plan.random(31, 0);
    int divisions = counts.between(0, v.division_low, v.division_high);
    int cuts = counts.between(1, v.cut_low, v.cut_high);
    const int operations = divisions + cuts;
    for (int operation = 0; operation < operations; ++operation) {
      const Draw d = plan.random(operation, 0);
      if (divisions > 0 && (cuts == 0 || d.below(0, 2) == 0)) {
        --divisions;
        divide(plan, operation);
      } else {
        --cuts;
        const int k = int(d.below(1, uint32_t(plan.count)));
        const Segment wall = plan.get(k);
        if (wall.end - wall.start > 3.0f * v.cut) cut_door(plan, k, v.cut, d.uniform(2));
      }
    }
  }

  // ---- rooms on a grid

  /// The wall through a random cell, from wall to wall; of length 0 where it does not fit.
  static GE_FN Segment grid_wall(const WallPlan& plan, const Draw& d) {
    const Params& p = plan.w.params();
    const float side = float(p.cells), door = plan.w.varied_in_place().door;
    const float along = float(d.below(2, uint32_t(p.cells))) + 0.5f;
    Segment wall{int32_t(d.below(0, 2)),
                 1.0f + float(d.below(1, uint32_t(p.cells - 1))),
                 0.0f,
                 side,
                 -1.0f,
                 0u};
    for (int k = 0; k < plan.count; ++k) {
      const Segment other = plan.get(k);
      if (other.across == wall.across || other.start > wall.at || other.end < wall.at) continue;
      if (other.at < along) wall.start = max(wall.start, other.at);
      if (other.at > along) wall.end = min(wall.end, other.at);
    }
    bool fits = wall.end - wall.start >= door + 2.0f;
    for (int k = 0; k < plan.count; ++k) {
      const Segment other = plan.get(k);
      if (other.across == wall.across) {
        fits = fits & !((other.start < wall.end) & (other.end > wall.start) &
                        (abs(other.at - wall.at) <= kRoom));
      } else if (other.door >= 0.0f) {  // does not end in a door
        const bool meets = (other.at == wall.start) | (other.at == wall.end);
        fits =
            fits & !(meets & (wall.at > other.door - 1.0f) & (wall.at < other.door + door + 1.0f));
      }
    }
    const int places = to_int(wall.end - wall.start - door);  // one cell or more from either end
    wall.door = wall.start + 1.0f + float(d.below(3, uint32_t(max(places - 1, 1))));
    return fits ? wall : part(wall, 0.0f, 0.0f);
  }

  static GE_FN void plan_grid(WallPlan& plan) {
    const Params& p = plan.w.params();
    const Derived& v = plan.w.varied_in_place();
    begin_walls(plan, float(p.cells));
    const Draw counts = plan.random(31, 0);
    const int divisions = counts.between(0, v.division_low, v.division_high);
    for (int operation = 0; operation < divisions; ++operation)
      for (int attempt = 0; attempt < 10; ++attempt) {
        const Segment wall = grid_wall(plan, plan.random(operation, attempt));
        if (wall.end <= wall.start) continue;
        plan.add(wall);
        break;
      }
    // Doors are cut last: where a wall ends is found while the walls it meets are whole.
    const int whole = plan.count;
    for (int k = 0; k < whole; ++k) {
      const Segment wall = plan.get(k);
      if (wall.door < 0.0f) continue;
      plan.replace(k, part(wall, wall.start, wall.door), part(wall, wall.door + v.door, wall.end));
    }
    // The first four are the border; without it the arena is open, and leaving it is fined.
    if (counts.uniform(2) >= v.outer_wall_probability) {
      for (int k = 4; k < plan.count; ++k) plan.rows.set(k - 4, plan.get(k));
      plan.count -= 4;
    }
  }

  /// Makes one wall of two that continue each other, as divisions leave them: nothing can catch on
  /// the seam, and there is less to see and to touch.
  static GE_FN void unite_walls(WallPlan& plan) {
    for (int k = 0; k < plan.count; ++k)
      for (int other = 0; other < plan.count; ++other) {
        const Segment a = plan.get(k), b = plan.get(other);
        if (a.across != b.across || a.at != b.at || a.end != b.start || a.outer != b.outer)
          continue;
        plan.rows.set(k, part(a, a.start, b.end));
        plan.rows.set(other, plan.get(--plan.count));
        k = -1;  // rows have changed their places
        break;
      }
  }

  // ---- places

  /// Everything that generation writes.
  struct Ground {
    const W& w;
    WallPlan plan;
    Rows<Footprints, physics::Footprint> prints;
    Rows<Bodies, Pose> poses;
    Rows<Bodies, Body> bodies;

    GE_FN bool is_free(const physics::Footprint& print, int row) const {
      const Params& p = w.params();
      const float half = p.arena_half;
      if (p.inside != 0 && ((print.low[0] < -half) | (print.low[1] < -half) |
                            (print.high[0] > half) | (print.high[1] > half)))
        return false;
      for (int k = 0; k < plan.count; ++k)
        if (physics::overlap(print, physics::footprint_of(wall_of(p, plan.get(k))))) return false;
      // Agents may begin inside of each other where overlaps are part of the rules.
      const bool skip_agents = (p.overlaps != 0) & (row < p.agent_count);
      for (int other = skip_agents ? p.agent_count : 0; other < p.body_count; ++other)
        if (other != row && physics::present(bodies.get(other)) &&
            physics::overlap(print, prints.get(other)))
          return false;
      return true;
    }
  };

  /// Tries up to `tries` random places; false if none was free, and the body stands at the last.
  static GE_FN bool find_place(Ground& g, uint32_t kind, int row, int tries, int tag) {
    const Params& p = g.w.params();
    bool free = false;
    for (int k = 0; k < tries && !free; ++k) {
      // Drawn by row and try, so that a body's place does not depend on the tries of others.
      const Draw d = draw<"hide_seek_places">(g.w, tag * 128 + row, k);
      const float x = (2.0f * d.uniform(0) - 1.0f) * p.arena_half;
      const float y = (2.0f * d.uniform(1) - 1.0f) * p.arena_half;
      const bool quarters = (p.quarter_turns != 0) & (kind != kAgentKind);
      const float yaw =
          quarters ? float(d.below(2, 4)) * 0x1.921fb6p+0f : d.uniform(2) * p.turn_range;
      const physics::Footprint print = physics::footprint_of(p.shapes.kinds[kind], x, y, yaw);
      free = g.is_free(print, row);
      // Set for failed tries too: a body that is kept stands at the last one.
      g.prints.set(row, print);
      Pose pose{};
      physics::put(pose.position, {x, y, standing_height(p.shapes.kinds[kind])});
      physics::put(pose.orientation, physics::yaw_quat(yaw));
      g.poses.set(row, pose);
    }
    return free;
  }

  static GE_FN BoxCounts count_boxes(const W& w) {
    const Params& p = w.params();
    const Derived& v = w.varied_in_place();
    const Draw d = draw<"hide_seek_counts">(w, 0);
    const int all = min(d.between(0, v.box_low, p.box_high), p.box_high);
    const int spare = max(all - v.long_low, 0);
    const uint32_t choices = uint32_t(spare + (p.long_all != 0 ? 1 : 0));
    return {all, min(min(all, v.long_low) + int(d.below(1, choices)), all)};
  }
  /// Places rows `first` to `last`, exclusive; returns how many found no place. Those are left out,
  /// or stay at the last place tried where `keep`.
  static GE_FN int place_rows(Ground& g, const BoxCounts& boxes, int first, int last, int tries,
                              int tag, bool keep) {
    int homeless = 0;
    for (int row = first; row < last; ++row) {
      const uint32_t kind = kind_at(g.w.params(), boxes, row);
      if (kind == kFloorKind) continue;
      const bool found = find_place(g, kind, row, tries, tag);
      homeless += found ? 0 : 1;
      g.bodies.set(row, {kind, found | keep ? uint32_t(physics::kPresent) : 0u, 0u, {}});
    }
    return homeless;
  }

  /// An empty arena: rows of bodies that are not there.
  static GE_FN void clear_rows(const W&, Rows<Bodies, Pose> poses, Rows<Bodies, Body> bodies) {
    for (int row = 0; row < T::bodies; ++row) {
      poses.set(row, {{0, 0, 0}, {1, 0, 0, 0}});
      bodies.set(row, Body{});
    }
  }

  static GE_FN void generate(const W& w, Level& level, Rows<Plan, Segment> plan,
                             Rows<Footprints, physics::Footprint> prints, Rows<Bodies, Pose> poses,
                             Rows<Bodies, Body> bodies) {
    const Params& p = w.params();
    const BoxCounts boxes = count_boxes(w);
    const int tries = w.varied_in_place().tries;
    level = Level{};
    const int attempts = p.overlaps != 0 ? 1 : kLevelAttempts;
    int homeless = 1;
    for (int attempt = 0; attempt < attempts && homeless != 0; ++attempt) {
      clear_rows(w, poses, bodies);
      Ground g{w, {w, plan, attempt}, prints, poses, bodies};
      if (p.cells != 0)
        plan_grid(g.plan);
      else
        plan_rooms(g.plan);
      level.segments = uint32_t(g.plan.count);
      unite_walls(g.plan);
      level.walls = uint32_t(g.plan.count);
      ++level.attempts;
      if (p.overlaps != 0) {
        place_rows(g, boxes, p.first_box, p.body_count, tries + 1, 0, true);
        place_rows(g, boxes, 0, p.agent_count, tries + 1, 0, true);
        return;
      }
      if (attempt + 1 < attempts) {
        homeless = place_rows(g, boxes, p.first_box, p.body_count, tries, attempt, false);
        if (homeless == 0) homeless = place_rows(g, boxes, 0, p.agent_count, tries, attempt, false);
        continue;
      }
      // The last attempt: agents have to be somewhere, objects only where there is room.
      level.dropped = uint32_t(place_rows(g, boxes, 0, p.agent_count, 40 * tries, attempt, true));
      level.dropped +=
          uint32_t(place_rows(g, boxes, p.first_box, p.body_count, 2 * tries, attempt, false));
    }
  }

  // ---- a level by hand

  static GE_FN void lay(const W& w, Level& level, Rows<Bodies, Pose> poses,
                        Rows<Bodies, Body> bodies, Rows<Bodies, Velocity> velocities,
                        Rows<Bodies, Owner> owners) {
    const Options& o = w.options();
    clear_rows(w, poses, bodies);
    for (int k = 0; k < o.body_count; ++k) {
      const LaidBody& laid = o.bodies[k];
      const int row = min(int(laid.row), T::bodies - 1);
      poses.set(row, laid.pose);
      velocities.set(row, laid.team != kNobody ? Velocity{} : laid.velocity);
      const uint32_t locked = laid.team != kNobody ? uint32_t(physics::kLocked) : 0u;
      bodies.set(row, {laid.kind, physics::kPresent | locked, 0u, {}});
      owners.set(row, {laid.team, 0u});
    }
    level = {uint32_t(o.wall_count), uint32_t(o.wall_count), 1u, 0u};
  }

  // ---- drawn or laid

  static GE_FN bool is_laid(const W& w) { return w.options().laid != 0; }
  static GE_FN bool is_drawn(const W& w) { return w.options().laid == 0; }
  static GE_FN void still(const W&, Velocity& velocity, Owner& owner, physics::Sole& sole) {
    velocity = Velocity{};
    owner = Owner{};
    sole = physics::Sole{};
  }
  static GE_FN void let_go(const W&, Joint& joint) {
    joint = Joint{};
    joint.relative[0] = 1.0f;
  }
  static GE_FN void begin_agent(const W&, Travel& travel) { travel = Travel{}; }
  static GE_FN int wall_count(const W&, const Level& level) { return int(level.walls); }
  static GE_FN void build_wall(const W& w, int k, physics::Static& wall) {
    const Options& o = w.options();
    if (o.laid == 0) {
      wall = wall_of(w.params(), get<Plan, Segment>(w, k));
      return;
    }
    const LaidWall& laid = o.walls[min(k, kLaidWalls - 1)];
    for (int axis = 0; axis < 3; ++axis)
      wall.centre[axis] = laid.centre[axis], wall.half[axis] = laid.half[axis];
    wall.kind = (o.planes >> k & 1u) != 0 ? kPlaneKind : kWallKind;
  }

  using NewLevel =
      Stages<Each<&still>, Each<&let_go>, Each<&begin_agent>, When<&is_drawn, EachWorld<&generate>>,
             When<&is_laid, EachWorld<&lay>>, For<&wall_count, &build_wall, Statics>>;
};

}  // namespace gpu_envs::envs::hide_seek
