// A new level, drawn or laid by hand: a walled room with a building zone, a rectangle of boxes and
// boxes in cells of their own.
#pragma once

#include "envs/tower_building/tables.hpp"
#include "voxel/draws.hpp"
#include "voxel/laying.hpp"

namespace gpu_envs::envs::tower_building {

using Draft = voxel::Draft<Game>;

/// Cells on the floor, `end`s exclusive.
struct Rectangle {
  int x, y, x_end, y_end;
  GE_FN bool has(int at_x, int at_y) const {
    return (at_x >= x) & (at_x < x_end) & (at_y >= y) & (at_y < y_end);
  }
};
/// What a room's size and its fields are drawn to be.
struct Plan {
  int length, width, height;
  Rectangle zone, materials;
};
GE_FN Rectangle place(const Draw& d, int length, int width, int room_length, int room_width) {
  const int x = voxel::between(d, 0, 1, room_length - length - 2);
  const int y = voxel::between(d, 1, 1, room_width - width - 2);
  return {x, y, x + length, y + width};
}
GE_FN Plan draw_plan(const W& w) {
  const Varied v = w.varied();
  const Draw room = draw<"tower_room">(w, 0), sides = draw<"tower_sides">(w, 0);
  const int zone[2] = {voxel::between(sides, 0, v.zone_low, v.zone_high),
                       voxel::between(sides, 1, v.zone_low, v.zone_high)};
  const int materials[2] = {voxel::between(sides, 2, v.materials_low, v.materials_high),
                            voxel::between(sides, 3, v.materials_low, v.materials_high)};
  Plan plan;
  plan.length =
      max(voxel::between(room, 0, v.length_low, v.length_high), zone[0] + materials[0] + 3);
  plan.width = max(voxel::between(room, 1, v.width_low, v.width_high), zone[1] + materials[1] + 3);
  plan.height = voxel::between(room, 2, v.wall_low, v.wall_high);
  // They may overlap.
  plan.zone = place(draw<"tower_zone">(w, 0), zone[0], zone[1], plan.length, plan.width);
  plan.materials =
      place(draw<"tower_materials">(w, 0), materials[0], materials[1], plan.length, plan.width);
  return plan;
}

GE_FN void build_room(const W& w, const Plan& plan, Draft& draft) {
  const Draw d = draw<"tower_looks">(w, 0);
  // Other than the zone, which is dark grey.
  const uint32_t floor = voxel::layout_colour(d, 0, voxel::kBrightLayoutColours);
  const uint32_t wall = voxel::layout_colour(d, 1);
  const uint32_t shown = d.uniform(2) < w.varied().hidden_walls ? 0u : 1u;
  draft.add_room({plan.length, plan.width, plan.height}, floor, wall, shown);
  const Rectangle& zone = plan.zone;
  draft.add(voxel::Mark{{zone.x, zone.y, 1}, {zone.x_end, zone.y_end, 2}, voxel::kZoneMark});
}

GE_FN void place_things(const W& w, const Plan& plan, Draft& draft) {
  const Params& p = w.params();
  const Varied v = w.varied();
  const int across = plan.width - 2, cells = (plan.length - 2) * across;
  voxel::Distinct<voxel::kMostAgents + kMostSpare> taken;
  for (int agent = 0; agent < p.agent_count; ++agent) {
    const Draw d = draw<"tower_agents">(w, agent);
    const int cell = taken.take(d, 0, cells);
    const voxel::Cell home = {1 + cell / across, 1 + cell % across, 2};
    draft.add_agent(agent, home, voxel::dropping_into(home, d, 1));
  }
  const int most = min(v.spare_boxes_high, cells - p.agent_count);
  const int spare = voxel::between(draw<"tower_spare">(w, 0), 0, v.spare_boxes_low, most);
  for (int box = 0; box < min(spare, most); ++box) {
    const int cell = taken.take(draw<"tower_boxes">(w, box), 0, cells);
    const int x = 1 + cell / across, y = 1 + cell % across;
    draft.add_crate({x, y, plan.materials.has(x, y) ? 2 : 1});
  }
  for (int x = plan.materials.x; x < plan.materials.x_end; ++x)
    for (int y = plan.materials.y; y < plan.materials.y_end; ++y) draft.add_crate({x, y, 1});
}

GE_FN void make_level(const World<Game::Schema>& w, voxel::Counts& counts, voxel::Timer& timer,
                      Rows<Game::Canvas, voxel::Painted> canvas,
                      Rows<Game::Fields, voxel::Mark> fields, Rows<Game::Stock, voxel::Crate> stock,
                      Rows<Players, voxel::Home> homes, Rows<Players, voxel::Body> bodies) {
  Draft draft{canvas, stock, homes, bodies, fields, {}};
  if (w.options().laid != 0) {
    voxel::lay<Game>(w, draft);
  } else {
    const Plan plan = draw_plan(w);
    build_room(w, plan, draft);
    place_things(w, plan, draft);
  }
  voxel::count(draft, counts);
  const Varied v = w.varied();
  timer = voxel::timer_of<Game>(w, v.episode_seconds + v.box_seconds * float(counts.boxes));
}
GE_FN void begin_agent(const W&, voxel::Hands& hands, Score& score) {
  hands = {voxel::kEmpty};
  score = {};
}

}  // namespace gpu_envs::envs::tower_building
