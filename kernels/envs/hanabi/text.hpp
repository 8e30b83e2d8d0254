// Names of moves, and the table as text for a terminal. Host only.
#pragma once

#include <string>

#include "envs/hanabi/rules.hpp"

namespace gpu_envs::envs::hanabi {

inline constexpr char kColorLetters[] = "RYGWB";
inline constexpr const char* kColorCodes[kMostColors] = {"31", "33", "32", "97", "34"};

inline std::string painted(int color, const std::string& text) {
  return std::string("\x1b[1;") + kColorCodes[color] + "m" + text + "\x1b[0m";
}
inline std::string dim(const std::string& text) {
  return "\x1b[2m" + text + "\x1b[0m";
}

inline std::string move_name(const Params& p, int move) {
  const Blocks first = move_blocks(p);
  if (move >= p.move_count) return "wait";
  if (move < first.play) return "discard card " + std::to_string(move);
  if (move < first.color) return "play card " + std::to_string(move - first.play);
  const bool color = move < first.rank;
  const int values = color ? p.color_count : p.rank_count;
  const int hint = move - (color ? first.color : first.rank), value = hint % values;
  const std::string player = "tell player +" + std::to_string(hint / values + 1);
  return color ? player + " colour " + kColorLetters[value]
               : player + " rank " + std::to_string(value + 1);
}

inline std::string card_name(const Params& p, int card) {
  const int color = min(color_of(p, card), kMostColors - 1);
  return painted(color, kColorLetters[color] + std::to_string(rank_of(p, card) + 1));
}

/// Plausible colours and ranks; those that were told stand in brackets.
inline std::string knowledge_text(const Params& p, const HandCard& card) {
  std::string colors, ranks;
  for (int color = 0; color < p.color_count; ++color)
    if (card.colors >> color & 1) colors += painted(color, std::string(1, kColorLetters[color]));
  for (int rank = 0; rank < p.rank_count; ++rank)
    if (card.ranks >> rank & 1) ranks += std::to_string(rank + 1);
  if (card.told & HandCard::kToldColor) colors = "[" + colors + "]";
  if (card.told & HandCard::kToldRank) ranks = "[" + ranks + "]";
  return colors + " " + ranks;
}

inline std::string discards_text(const Params& p, const Discards& discards) {
  std::string text;
  for (int card = 0; card < p.kind_count; ++card) {
    const int rank = rank_of(p, card), place = discard_place(p, color_of(p, card), rank);
    for (int k = 0; k < copies_of(rank, p.rank_count); ++k)
      if (discards.discards >> (place + k) & 1) {
        if (!text.empty()) text += " ";
        text += card_name(p, card);
      }
  }
  return text.empty() ? "none" : text;
}

inline std::string fireworks_text(const Params& p, const Board& board) {
  std::string text;
  for (int color = 0; color < p.color_count; ++color) {
    int height = 0;
    for (int rank = 0; rank < p.rank_count; ++rank)
      if (board.fireworks >> (color * p.rank_count + rank) & 1) height = rank + 1;
    text += painted(color, kColorLetters[color] + std::to_string(height)) + " ";
  }
  return text;
}

inline std::string last_move_text(const Params& p, const LastMove& last) {
  const std::string actor = "player " + std::to_string(last.actor);
  if (last.type == LastMove::kNone) return "none";
  if (last.type == LastMove::kPlay)
    return actor + " played " + card_name(p, last.card) +
           (last.scored ? "" : ", which did not fit");
  if (last.type == LastMove::kDiscard) return actor + " discarded " + card_name(p, last.card);
  std::string text = actor + " told player " + std::to_string(last.target) + " ";
  const int color = min(int(last.value), kMostColors - 1);
  text += last.type == LastMove::kTellColor ? painted(color, std::string(1, kColorLetters[color]))
                                            : "rank " + std::to_string(last.value + 1);
  text += ": cards";
  for (int i = 0; i < p.hand_size; ++i)
    if (last.touched >> i & 1) text += " " + std::to_string(i);
  return text;
}

inline std::string ending_text(const Params& p, const Board& board) {
  if (board.ended_by == 0) return "";
  const bool lost = board.ended_by == Board::kLives;
  const int score = lost && !p.keep_score ? 0 : int(board.points);
  const std::string why = lost                            ? "no lives are left"
                          : board.ended_by == Board::kWon ? "all fireworks are complete"
                                                          : "the last round is over";
  return "over: " + why + "; score " + std::to_string(score) + "\n";
}

template <int N>
struct Text {
  using W = World<Schema<N>>;
  using Hands = typename Schema<N>::Hands;

  static std::string hand_text(const W& w, int seat, int viewer) {
    const Params& p = w.params();
    const Board board = get<Board>(w);
    std::string text = player_of(p, board) == seat ? "> " : "  ";
    text += "player " + std::to_string(seat) + (seat == viewer ? " (you)\n" : "\n");
    for (int i = 0; i < p.hand_size; ++i) {
      const HandCard card = get<Hands, HandCard>(w, seat * p.hand_size + i);
      text += "    " + dim(std::to_string(i)) + " ";
      if (!is_held(card))
        text += dim("--") + "\n";
      else
        text += (seat == viewer ? dim("??") : card_name(p, card.card)) + "   " +
                knowledge_text(p, card) + "\n";
    }
    return text;
  }

  /// The table as `viewer` sees it, without the viewer's own cards; -1 sees all.
  static std::string table_text(const W& w, int viewer) {
    const Params& p = w.params();
    const Board board = get<Board>(w);
    std::string text = "fireworks " + fireworks_text(p, board) + "  information " +
                       std::to_string(board.information_tokens) + "   lives " +
                       std::to_string(board.life_tokens) + "   deck " +
                       std::to_string(board.deck_left) + "\n";
    text += "discards " + discards_text(p, get<Discards>(w)) + "\n";
    text += "last move: " + last_move_text(p, get<LastMove>(w)) + "\n";
    for (int seat = 0; seat < p.player_count; ++seat) text += hand_text(w, seat, viewer);
    return text + ending_text(p, board);
  }
};

}  // namespace gpu_envs::envs::hanabi
