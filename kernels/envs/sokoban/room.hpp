// A level of the bank as a room.
#pragma once

#include "envs/sokoban/tables.hpp"
#include "voxel/draft.hpp"
#include "voxel/hands.hpp"

namespace gpu_envs::envs::sokoban {

using Draft = voxel::Draft<Game>;

/// Walls reach up to here, the floor's cell included [cells].
inline constexpr int kWallTop = 3;

GE_FN uint32_t floor_colour(const Draw& draw) {
  constexpr uint32_t kColours[] = {voxel::kWhite, voxel::kVeryLightYellow, voxel::kVeryLightBlue,
                                   voxel::kVeryLightOrange, voxel::kDarkGrey};
  return kColours[draw.below(0, 5)];
}
GE_FN void build_walls(Draft& draft, Cells walls, uint32_t floor) {
  draft.add(voxel::Painted{{0, 0, 0}, {kRows, kRows, 1}, floor, 1u});
  for (int k = 0; k < 4; ++k) {
    voxel::Painted wall = voxel::wall_of_room(k, {kRows, kRows, kWallTop}, voxel::kLightOrange, 1u);
    wall.low[2] = 1;
    draft.add(wall);
  }
  for (int row = 0; row < kSide; ++row)
    for (int column = 0; column < kSide;) {
      const int first = column;
      while (column < kSide && has(walls, kSide * row + column)) ++column;
      const Cell from = cell_of_board(kSide * row + first);
      if (column > first)
        draft.add(voxel::Painted{{from.x, from.y, 1},
                                 {from.x + column - first, from.y + 1, kWallTop},
                                 voxel::kLightOrange,
                                 1u});
      else
        ++column;
    }
}
/// In the player's cell: four side by side, and further ones above them, who fall in later.
GE_FN void place_agents(const W& w, Draft& draft, const Cell& home) {
  constexpr float kTwoPi = 0x1.921fb6p+2f, kDrop = 1.75f, kApart = 1.0f, kAbove = 0.6f;  // [m]
  for (int agent = 0; agent < w.params().agent_count; ++agent) {
    const voxel::Vec3 corner = voxel::corner_of<Game>(home);
    voxel::Body body = {};
    const float right = (agent & 1) != 0 ? kApart : 0.0f, ahead = (agent & 2) != 0 ? kApart : 0.0f;
    geometry::put(body.position,
                  corner + voxel::Vec3{0.5f + right, 0.5f + ahead, kDrop + kAbove * float(agent)});
    body.yaw = (draw<"sokoban_agents">(w, agent).uniform(0) - 0.5f) * kTwoPi;
    draft.add_agent(agent, home, body);
  }
}

GE_FN void make_room(const World<Game::Schema>& w, voxel::Counts& counts, Plan& plan,
                     Chosen& chosen, voxel::Timer& timer, Rows<Game::Canvas, voxel::Painted> canvas,
                     Rows<Game::Stock, voxel::Crate> stock, Rows<Players, voxel::Home> homes,
                     Rows<Players, voxel::Body> bodies, Rows<Game::Fields, voxel::Mark> fields) {
  Draft draft{canvas, stock, homes, bodies, fields, {}};
  chosen = choose_level(w, w.params().symmetries != 0);
  const Position level = position_of(w, chosen);
  plan = {level.walls, level.goals};
  build_walls(draft, level.walls, floor_colour(draw<"sokoban_looks">(w, 0)));
  for (int cell = 0; cell < kInner; ++cell) {
    const Cell at = cell_of_board(cell);
    if (has(level.goals, cell))
      draft.add(voxel::Mark{{at.x, at.y, 1}, {at.x + 1, at.y + 1, 2}, voxel::kPadMark});
    if (has(level.boxes, cell)) draft.add_crate(at);
  }
  place_agents(w, draft, cell_of_board(level.player));
  voxel::count(draft, counts);
  timer = voxel::timer_of(w.varied().episode_seconds);
}
GE_FN void begin_agent(const W&, voxel::Hands& hands) {
  hands = {voxel::kEmpty};
}

}  // namespace gpu_envs::envs::sokoban
