// A new level, drawn or laid by hand: an arrangement of objects on one pedestal, and its copy on
// the other, some of whose objects are out of place.
#pragma once

#include "envs/rearrange/tables.hpp"
#include "voxel/draws.hpp"
#include "voxel/laying.hpp"

namespace gpu_envs::envs::rearrange {

using Draft = voxel::Draft<Game>;
using Looks = Rows<Game::Stock, voxel::Look>;

GE_FN Cell operator+(const Cell& a, const Cell& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}

/// An arrangement that grows: cells from its middle, in the order in which they were added.
struct Arrangement {
  Cell at[kMostObjects];
  int count = 0;

  GE_FN bool has(const Cell& cell) const {
    bool found = false;
    for (int k = 0; k < count; ++k) found |= at[k] == cell;
    return found;
  }
  GE_FN bool allows(const Cell& cell) const {
    return is_near(cell, {0, 0, 0}, kReach) && cell.z < kHighest && !has(cell) &&
           (cell.z == 0 || has({cell.x, cell.y, cell.z - 1}));
  }
};
GE_FN Cell direction(int k) {
  constexpr Cell kWays[] = {{-1, 0, 0}, {1, 0, 0}, {0, 0, 1}, {0, 1, 0}, {0, -1, 0}};
  return kWays[k];
}
/// Object by object, from the first on: neighbours in a random order, up to a random number.
GE_FN Arrangement grow(const W& w) {
  constexpr int kWays = 5;
  const Varied v = w.varied();
  const int size =
      voxel::between(draw<"rearrange_size">(w, 0), 0, v.object_count_low, v.object_count_high);
  Arrangement made;
  made.at[made.count++] = {0, 0, 0};
  for (int k = 0; k < made.count && made.count < size; ++k) {
    const Draw limit = draw<"rearrange_branches">(w, k), order = draw<"rearrange_ways">(w, k);
    const int most = voxel::between(limit, 0, 1, voxel::between(limit, 1, 1, kWays));
    int branches = 0;
    voxel::Distinct<kWays> tried;
    for (int way = 0; way < kWays && branches < most && made.count < size; ++way) {
      // Four words choose the first four ways; the fifth is what is left.
      const int which = way < 4 ? tried.take(order, way, kWays) : tried.take(0);
      const Cell cell = made.at[k] + direction(which);
      if (!made.allows(cell)) continue;
      made.at[made.count++] = cell;
      ++branches;
    }
  }
  return made;
}

GE_FN void build_room(const W& w, Draft& draft) {
  const Draw d = draw<"rearrange_looks">(w, 0);
  const bool laid = w.options().laid != 0;
  const bool hidden = laid ? w.options().hidden != 0 : d.uniform(0) < w.varied().hidden_walls;
  const int h = laid ? w.params().wall.high : voxel::between(d, 1, w.params().wall);
  draft.add_room({kLength, kWidth, h}, voxel::kDarkGrey, voxel::kDarkGrey, hidden ? 0u : 1u);
}
GE_FN void add_object(Draft& draft, const Looks& looks, const Cell& at, voxel::Look look) {
  looks.set(draft.crates, look);
  draft.add_crate(at);
}
GE_FN voxel::Look draw_look(const W& w, int object, int32_t fixed) {
  const Draw d = draw<"rearrange_objects">(w, object);
  return {voxel::kBlockForm + int32_t(d.below(0, voxel::kForms - voxel::kBlockForm)),
          voxel::object_colour(int(d.below(1, voxel::kObjectColours))), fixed};
}
/// On the floor of the working area, in cells that neither the arrangement nor others take.
GE_FN void place_copies(const W& w, const Arrangement& made, Draft& draft, const Looks& looks) {
  constexpr int kSide = 2 * kWorkReach + 1;
  const Varied v = w.varied();
  const int misplaced =
      voxel::between(draw<"rearrange_misplaced">(w, 0), 0, min(v.misplaced_low, made.count),
                     min(v.misplaced_high, made.count));
  uint32_t taken = 0;  // cells of the floor, by bits
  for (int k = 0; k < made.count; ++k)
    taken |= uint32_t{made.at[k].z == 0}
             << ((made.at[k].x + kWorkReach) * kSide + made.at[k].y + kWorkReach);
  for (int k = 0; k < made.count; ++k) {
    Cell at = made.at[k];
    if (k >= made.count - misplaced) {
      const int left = kSide * kSide - count_bits(taken);
      int place = int(draw<"rearrange_places">(w, k).below(0, uint32_t(left))), number = 0;
      while ((taken >> number & 1u) != 0 || place-- > 0) ++number;
      taken |= 1u << number;
      at = {number / kSide - kWorkReach, number % kSide - kWorkReach, 0};
    }
    add_object(draft, looks, work_middle() + at, draw_look(w, k, 0));
  }
}

/// Cells where agents begin: off the walls, and not beside the middle of a pedestal.
GE_FN bool may_begin(int x, int y) {
  const Cell cell = {x, y, 0};
  return !is_near(cell, model_middle(), 1) && !is_near(cell, work_middle(), 1);
}
GE_FN void place_agents(const W& w, Draft& draft) {
  constexpr int kFirst = 2, kAcross = 11, kAlong = kLength - 1 - kFirst, kBlocked = 18;
  voxel::Distinct<voxel::kMostAgents> taken;
  for (int agent = 0; agent < w.params().agent_count; ++agent) {
    const Draw d = draw<"rearrange_agents">(w, agent);
    int place = taken.take(d, 0, kAlong * kAcross - kBlocked);
    Cell home = {kFirst, 1, 2};
    for (int cell = 0; cell < kAlong * kAcross; ++cell) {
      const int x = kFirst + cell / kAcross, y = 1 + cell % kAcross;
      if (!may_begin(x, y) || place-- > 0) continue;
      home = {x, y, 2};
      break;
    }
    draft.add_agent(agent, home, voxel::dropping_into(home, d, 1));
  }
}

GE_FN void draw_objects(const W& w, Draft& draft, const Looks& looks) {
  const Arrangement made = grow(w);
  for (int k = 0; k < made.count; ++k)
    add_object(draft, looks, model_middle() + made.at[k], draw_look(w, k, 1));
  place_copies(w, made, draft, looks);
}
GE_FN void lay_objects(const W& w, Draft& draft, const Looks& looks) {
  const Options& o = w.options();
  for (const int32_t fixed : {1, 0})
    for (int k = 0; k < o.object_count; ++k) {
      const LaidObject& object = o.objects[k];
      const auto& at = fixed != 0 ? object.model : object.copy;
      add_object(draft, looks,
                 (fixed != 0 ? model_middle() : work_middle()) + Cell{at[0], at[1], at[2]},
                 {object.form, voxel::object_colour(object.colour), fixed});
    }
}

GE_FN void make_level(const World<Game::Schema>& w, voxel::Counts& counts, voxel::Timer& timer,
                      Rows<Game::Canvas, voxel::Painted> canvas,
                      Rows<Game::Stock, voxel::Crate> stock, Looks looks,
                      Rows<Players, voxel::Home> homes, Rows<Players, voxel::Body> bodies) {
  Draft draft{canvas, stock, homes, bodies, {}, {}};
  build_room(w, draft);
  if (w.options().laid != 0) {
    voxel::lay<Game>(w, draft);
    lay_objects(w, draft, looks);
  } else {
    draw_objects(w, draft, looks);
    place_agents(w, draft);
  }
  voxel::count(draft, counts);
  timer = voxel::timer_of<Game>(w, w.varied().episode_seconds);
}
GE_FN void begin_agent(const W&, voxel::Hands& hands) {
  hands = {voxel::kEmpty};
}

}  // namespace gpu_envs::envs::rearrange
