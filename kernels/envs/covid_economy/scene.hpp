// For people: a map on which each tile is as blue as its state is closed, with a red disc for the
// infected and a yellow square for the unemployed. Host only.
#pragma once

#include "envs/covid_economy/layout.hpp"
#include "pictures/scene.hpp"

namespace gpu_envs::envs::covid_economy {

/// Between two colours.
inline Rgb blended(Rgb from, Rgb to, float share) {
  return {from.red + (to.red - from.red) * share, from.green + (to.green - from.green) * share,
          from.blue + (to.blue - from.blue) * share};
}

template <class T>
Scene map_scene(const W<T>& w) {
  Board board = Board::of_cells(kMapColumns, kMapRows);
  board.cell = 0;
  for (int i = 0; i < kStates; ++i) {
    const MapTile tile = kMap[i];
    const float per_person = row_of(w.assets().contagion, i).per_person;
    const float closed =
        float(w.template get<Governors, Closure>(i).level - 1) / float(kLevels - 1);
    board.put(tile.column, tile.row, Piece::kSquare, 0.47f,
              blended(palette::kFloorSquare, palette::kBlue, closed));
    // Areas are shares of the population: a disc fills its tile at 10 %, a square at 25 %.
    const float infected = w.template get<Governors, Epidemic>(i).infected * per_person;
    const float idle = w.template get<Governors, Labour>(i).unemployed * per_person;
    Piece& sick = board.put(tile.column, tile.row, Piece::kDisc,
                            min(0.45f, 0.45f * sqrt(10.0f * infected)), palette::kRed);
    sick.opacity = 0.8f;
    Piece& jobless = board.put(tile.column, tile.row, Piece::kSquare,
                               min(0.2f, 0.2f * sqrt(4.0f * idle)), palette::kBox);
    jobless.x += 0.24f, jobless.y -= 0.24f;
  }
  Scene scene;
  scene.board = std::move(board);
  return scene;
}

}  // namespace gpu_envs::envs::covid_economy
