// How a swarm looks to people: an arrow per agent on a board, and what the first ones see. Host only.
#pragma once

#include <utility>

#include "engine/scene.hpp"
#include "spatial/motion.hpp"
#include "spatial/vision.hpp"

namespace ge::spatial {

/// Arrows twice as long as discs are wide: `look(row)` gives colour and sectors of an agent. The
/// agents of rows [0, shown) show what they see.
template <class M, class F>
Scene swarm_scene(const WorldOf<M>& w, int shown, const F& look) {
  const Square square = M::grid(w.params()).square;
  Board board;
  board.high[0] = board.high[1] = square.side;
  board.wraps = wraps(square);
  const int count = int(M::count(w.params()));
  for (int row = 0; row < count; ++row) {
    const std::pair<Rgb, Sectors> seen = look(row);
    const Position at = w.template get<typename M::Agents, Position>(row);
    const Course course = w.template get<typename M::Agents, Course>(row);
    Piece piece;
    piece.kind = Piece::kArrow;
    piece.x = at.x, piece.y = at.y, piece.heading = course.heading;
    piece.radius = 2.0f * seen.second.radius, piece.colour = seen.first;
    board.pieces.push_back(piece);
    if (row >= shown) continue;
    FieldOfView view;
    view.x = at.x, view.y = at.y, view.heading = course.heading;
    view.half_angle = seen.second.half_angle, view.radius = seen.second.range;
    view.colour = seen.first;
    board.views.push_back(view);
  }
  Scene scene;
  scene.board = std::move(board);
  return scene;
}

}  // namespace ge::spatial
