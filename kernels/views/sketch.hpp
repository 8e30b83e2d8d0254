// The picture of an environment that describes none, drawn from the grid that its columns make
// (engine/simulator/sketch.hpp).
#pragma once

#include "engine/simulator/sketch.hpp"
#include "pictures/scene.hpp"

namespace ge::views {

inline Scene scene_of(const Sketch& sketch) {
  constexpr float kTurn = 6.2831853f;
  Board board = Board::of_cells(sketch.columns, sketch.rows);
  for (const Sketch::Mark& mark : sketch.marks) {
    const Sketch::Layer& layer = sketch.layers[size_t(mark.layer)];
    // A layer of several kinds has a colour for each kind; other layers have one colour each.
    const float turn = layer.kinds > 1 ? float(mark.kind) / float(layer.kinds)
                                       : float(mark.layer) / float(sketch.layers.size());
    const Rgb colour =
        mark.is_thing || layer.kinds > 1 ? palette::of_heading(turn * kTurn) : palette::kFaded;
    const auto kind = mark.is_thing ? Piece::kDisc : Piece::kSquare;
    board.put(mark.column, mark.row, kind, mark.is_thing ? 0.35f : 0.5f, colour);
  }
  Scene scene;
  scene.board = board;
  return scene;
}

}  // namespace ge::views
