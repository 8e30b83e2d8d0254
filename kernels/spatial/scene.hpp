// How a swarm looks to people: an arrow per agent on a board whose edges are one, and the field of
// view of one of them. Host only.
#pragma once

#include "pictures/scene.hpp"
#include "spatial/motion.hpp"
#include "spatial/vision.hpp"

namespace ge::spatial {

/// `eyes` are those of the agent in row `shown`, which has a ring; `colour(row)` of each. The first
/// rows lie on top.
template <class M, class Colour>
Scene swarm_scene(const WorldOf<M>& w, int shown, const Sectors& eyes, const Colour& colour) {
  Scene scene;
  Board& board = scene.board.emplace();
  board.wraps = true;
  board.high[0] = board.high[1] = M::grid(w.params()).square.side;
  const auto piece_of = [&](int row) {
    const Position at = get<typename M::Agents, Position>(w, row);
    Piece piece;
    piece.kind = Piece::kArrow;
    piece.x = at.x, piece.y = at.y, piece.radius = eyes.radius;
    piece.heading = get<typename M::Agents, Course>(w, row).heading;
    piece.colour = colour(row);
    return piece;
  };
  for (int row = int(M::count(w.params())) - 1; row >= 0; --row)
    board.pieces.push_back(piece_of(row));
  Piece piece = piece_of(shown);
  FieldOfView view;
  view.x = piece.x, view.y = piece.y, view.heading = piece.heading, view.colour = piece.colour;
  view.half_angle = eyes.half_angle, view.radius = eyes.range;
  board.views.push_back(view);
  piece.kind = Piece::kRing, piece.colour = palette::kDark;
  board.pieces.push_back(piece);
  return scene;
}

}  // namespace ge::spatial
