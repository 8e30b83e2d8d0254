// A world as terminal text, and its picture for people. Host only.
#pragma once

#include <string>

#include "envs/hex/maze.hpp"
#include "pictures/text.hpp"
#include "voxel/scene.hpp"

namespace gpu_envs::envs::hex {

/// A maze from above, +y up: a cell is a character, an edge with a wall a stroke beside it.
class MazeText {
 public:
  explicit MazeText(int side) : side_(max(side, 1)), map_(8 * side_ - 3, 4 * side_ - 1) {}

  void put(const Hex& at, char mark) { put(at, 0, 0, mark); }
  template <class M>
  void add_walls(const voxel::WorldOf<M>& w) {
    for (int row = 0; row < row_count<Walls>(w); ++row) {
      const Wall wall = get<Walls, Wall>(w, row);
      const Hex at = hex_of(wall.cell);
      // By way: the stroke, and where it is beside the cell.
      constexpr char kStrokes[] = "|\\/|\\/";
      constexpr int kRight[] = {2, 1, -1, -2, -1, 1}, kUp[] = {0, 1, 1, 0, -1, -1};
      put(at, kRight[wall.way], kUp[wall.way], kStrokes[wall.way]);
    }
  }
  template <class M>
  std::string text(const voxel::WorldOf<M>& w, int viewer, const std::string& legend) {
    std::string agents;
    for (int k = 0; k < voxel::team_size<M>(w); ++k) {
      const auto body = get<typename M::Agents, voxel::Body>(w, k);
      const Hex at = hex_at(geometry::vec(body.position));
      const Vec3 ahead = voxel::eyes_of(body).turn.y;
      const bool along_y = abs(ahead.y) >= abs(ahead.x);
      put(at, along_y ? (ahead.y > 0 ? '^' : 'v') : (ahead.x > 0 ? '>' : '<'));
      add_number(agents, "agent ", k, 0, k == viewer ? " (you)" : "");
      add_number(agents, " in cell ", at.u, 0, "");
      add_number(agents, " ", at.v, 0, "\n");
    }
    const auto timer = get<voxel::Timer>(w);
    std::string all = map_.text() + legend + "^ > v < agents, by where they look\n" + agents;
    add_number(all, "step ", w.step(), 0, "");
    add_number(all, ", ", timer.length - timer.passed, 0, " left");
    return all + (timer.solved != 0 ? ", solved\n" : "\n");
  }

 private:
  void put(const Hex& at, int right, int up, char mark) {
    if (is_within(at, side_))
      map_.put(4 * (side_ - 1) + 2 * at.u + 4 * at.v + 2 + right, 2 * (at.u + side_ - 1) + 1 + up,
               mark);
  }
  int side_;
  MapText map_;
};

/// All walls, whoever may see them, and the game's things.
template <class M>
Scene scene(const voxel::WorldOf<M>& w) {
  Scene made = voxel::scene_of<M>(w);
  for (int k = 0; k < M::piece_count(w); ++k)
    if (has_piece(get<Walls, Wall>(w, k / kPiecesOfWall), k % kPiecesOfWall))
      voxel::add_solid(made, M::piece(w, k));
  return made;
}

}  // namespace gpu_envs::envs::hex
