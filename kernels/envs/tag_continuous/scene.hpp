// The picture: the square from above. Taggers are red with a disc of their reach, runners blue, and
// runners that left are grey where they were tagged. An agent that a picture is for has a ring.
#pragma once

#include "envs/tag_continuous/rules.hpp"
#include "pictures/scene.hpp"

namespace gpu_envs::envs::tag_continuous {

template <class T>
struct Picture {
  using W = World<Schema<T>>;
  using Players = typename Schema<T>::Agent;

  static Piece piece_of(const W& w, int agent) {
    const bool tagger = get<Players, Role>(w, agent).value != 0;
    const bool plays = get<Players, InGame>(w, agent).value != 0;
    Piece piece;
    piece.x = get<Players, X>(w, agent).value, piece.y = get<Players, Y>(w, agent).value;
    piece.heading = get<Players, Heading>(w, agent).value;
    piece.radius = w.varied().side * (!plays ? 0.006f : tagger ? 0.016f : 0.012f);
    piece.kind = plays ? Piece::kArrow : Piece::kDisc;
    piece.colour = !plays ? palette::kFaded : tagger ? palette::kRed : palette::kBlue;
    return piece;
  }

  static Scene world_scene(const W& w) { return scene_for(w, -1); }
  static Scene scene_for(const W& w, int viewer) {
    const Derived v = w.varied();
    Scene scene;
    Board& board = scene.board.emplace();
    board.high[0] = board.high[1] = v.side;
    board.cell = v.side / 10;
    // Agents in the game are drawn over those that left, and taggers over all.
    std::vector<Piece> left, runners, taggers;
    for (int agent = 0; agent < w.params().agent_count; ++agent) {
      const Piece piece = piece_of(w, agent);
      if (get<Players, InGame>(w, agent).value == 0) {
        left.push_back(piece);
      } else if (get<Players, Role>(w, agent).value == 0) {
        runners.push_back(piece);
      } else {
        taggers.push_back(piece);
        FieldOfView reach;
        reach.x = piece.x, reach.y = piece.y, reach.colour = palette::kRed;
        reach.radius = ge::sqrt(v.margin_squared);
        board.views.push_back(reach);
      }
    }
    for (const std::vector<Piece>* part : {&left, &runners, &taggers})
      board.pieces.insert(board.pieces.end(), part->begin(), part->end());
    if (viewer >= 0) {
      Piece& ring = board.pieces.emplace_back(piece_of(w, viewer));
      ring.kind = Piece::kRing, ring.colour = palette::kDark;
    }
    return scene;
  }
};

}  // namespace gpu_envs::envs::tag_continuous
