// A world for people: text for a terminal, and the board of a picture. Host only.
#pragma once

#include <unordered_map>

#include "envs/tag_grid/tables.hpp"
#include "pictures/scene.hpp"

namespace gpu_envs::envs::tag_grid {

/// Most characters across a board; on a larger one each character stands for a square of cells.
inline constexpr int kTextSide = 40;

/// Agents that share a cell, and how many of them have been drawn.
struct Sharers {
  int count = 0, placed = 0;
};
/// A disc in the agent's cell; agents that share it are drawn in rows.
inline Piece piece_of(const Position& at, Sharers& sharers) {
  int side = 1;
  while (side * side < sharers.count) ++side;
  const int k = sharers.placed++;
  const float share = 1.0f / float(side);
  Piece piece;
  piece.x = float(at.x) - 0.5f + (float(k % side) + 0.5f) * share;
  piece.y = float(at.y) - 0.5f + (float(k / side) + 0.5f) * share;
  piece.radius = 0.4f * share;
  return piece;
}

/// Hooks for a terminal and for pictures.
template <int N>
struct Pictures {
  using W = World<Schema<N>>;
  using Players = typename Schema<N>::Agent;

  static std::string board_text(const W& w, int viewer) {
    const Params& p = w.params();
    const int scale = p.grid_length / kTextSide + 1, side = p.grid_length / scale + 1;
    std::vector<int> taggers(size_t(side * side));
    const auto square = [&](int agent) {
      const Position at = get<Players, Position>(w, agent);
      return size_t(min(at.y, p.grid_length) / scale * side + min(at.x, p.grid_length) / scale);
    };
    for (int agent = 0; agent < p.num_taggers; ++agent) ++taggers[square(agent)];
    const size_t runner = square(p.num_taggers), own = square(min(max(viewer, 0), p.num_taggers));
    std::string text;
    for (int y = side - 1; y >= 0; --y) {
      for (int x = 0; x < side; ++x) {
        const size_t k = size_t(y * side + x);
        const int here = taggers[k];
        char mark = here == 0 ? '.' : here < 10 ? char('0' + here) : '+';
        if (k == runner) mark = here == 0 ? 'R' : 'X';
        text += mark;
        text += k == own ? '<' : ' ';
      }
      text += '\n';
    }
    text += "R: runner, 1 to 9: number of taggers, +: more, X: both, <: you";
    if (scale > 1)
      text.append("; a character is ").append(std::to_string(scale)).append(" cells wide");
    text.append("\nstep ").append(std::to_string(w.step()));
    if (w.max_steps() != 0) text.append(" of ").append(std::to_string(w.max_steps()));
    return text + "\n";
  }

  static Scene board_scene(const W& w) { return scene_for(w, -1); }
  /// The runner has a dark ring, the viewer a coloured one.
  static Scene scene_for(const W& w, int viewer) {
    const Params& p = w.params();
    Board board;
    for (int axis = 0; axis < 2; ++axis)
      board.low[axis] = -0.5f, board.high[axis] = float(p.grid_length) + 0.5f;
    board.cell = p.grid_length <= 60 ? 1.0f : 0.0f;  // closer lines would look like a grey surface
    std::unordered_map<int64_t, Sharers> cells;
    const auto sharers = [&](const Position& at) -> Sharers& {
      return cells[int64_t{at.x} << 32 | at.y];
    };
    for (int agent = 0; agent <= p.num_taggers; ++agent)
      ++sharers(get<Players, Position>(w, agent)).count;
    for (int agent = 0; agent <= p.num_taggers; ++agent) {
      const Position at = get<Players, Position>(w, agent);
      Piece piece = piece_of(at, sharers(at));
      piece.colour = agent == p.num_taggers ? palette::kBlue : palette::kRed;
      board.pieces.push_back(piece);
    }
    const auto add_ring = [&board](int agent, Rgb colour) {
      Piece ring = board.pieces[size_t(agent)];
      ring.kind = Piece::kRing, ring.colour = colour;
      board.pieces.push_back(ring);
    };
    add_ring(p.num_taggers, palette::kDark);
    if (viewer >= 0) add_ring(viewer, palette::kRamp);
    Scene scene;
    scene.board = std::move(board);
    return scene;
  }
};

}  // namespace gpu_envs::envs::tag_grid
