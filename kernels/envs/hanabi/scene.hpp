// The picture: hands with what hints have said of each card; fireworks, tokens, deck and discards
// beside them. Host only.
#pragma once

#include "envs/hanabi/text.hpp"
#include "pictures/scene.hpp"

namespace gpu_envs::envs::hanabi {

namespace look {

/// In the order of kColorLetters.
inline constexpr Rgb kCards[kMostColors] = {rgb(0xdc4c46), rgb(0xf4b642), rgb(0x4c9a57),
                                            rgb(0xffffff), rgb(0x3b82d6)};
inline constexpr Rgb kInk = rgb(0x1d2530), kGrey = rgb(0x8a94a3), kSlot = rgb(0xdfe4ea),
                     kTurn = rgb(0xe3edf9), kHidden = rgb(0x5b6675), kEdge = rgb(0x8a94a3);
inline constexpr float kWide = 16, kTall = 9;
inline constexpr float kHandsWide = 10.9f;  // hands are on the left, the table is on the right
inline constexpr float kTableX = 11.6f;

inline void plate(ge::Board& board, float x, float y, float wide, float tall, Rgb colour) {
  board.plates.push_back({{x, y}, {x + wide, y + tall}, colour, 1});
}
inline void write(ge::Board& board, std::string text, float x, float y, float height,
                  Rgb colour = kInk, int32_t anchor = Caption::kLeft, float weight = 1.1f) {
  board.captions.push_back({std::move(text), x, y, height, colour, anchor, weight});
}
/// A card with its letter and rank, in an edge that also white ones show.
inline void card(ge::Board& board, float x, float y, float wide, float tall, int color,
                 const std::string& rank) {
  const float edge = 0.03f * wide;
  const Rgb ink = color == 0 || color == 4 ? rgb(0xffffff) : kInk;
  plate(board, x, y, wide, tall, kEdge);
  plate(board, x + edge, y + edge, wide - 2 * edge, tall - 2 * edge, kCards[color]);
  write(board, rank, x + 0.5f * wide, y + 0.3f * tall, 0.4f * min(wide, tall), ink,
        Caption::kMiddle, 1.5f);
  write(board, std::string(1, kColorLetters[color]), x + 0.12f * wide, y + tall - 0.22f * wide,
        0.13f * wide, ink);
}
/// Text without the colours of terminals.
inline std::string plain(const std::string& text) {
  std::string shown;
  bool code = false;
  for (const char c : text) {
    if (c == '\x1b') code = true;
    if (!code) shown += c;
    if (c == 'm') code = false;
  }
  return shown;
}
inline constexpr float kCountX = kTableX + 2.15f;  // where what is counted begins

inline void count(ge::Board& board, const char* name, int left, float y) {
  write(board, name, kTableX, y, 0.19f);
  write(board, std::to_string(left), kCountX - 0.12f, y, 0.19f, kInk, Caption::kRight);
}
/// Tokens in a row, those that are left in colour.
inline void tokens(ge::Board& board, int left, int most, float y, Rgb colour) {
  const float step = min(0.25f, 2.0f / float(max(most, 1)));
  for (int k = 0; k < most; ++k) {
    Piece token;
    token.x = kCountX + step * (float(k) + 0.5f), token.y = y + 0.1f;
    token.radius = 0.4f * step, token.colour = k < left ? colour : kSlot;
    board.pieces.push_back(token);
  }
}

/// Colours and ranks that a card may have, in the width of the card.
inline void knowledge(ge::Board& board, const Params& p, const HandCard& held, float x, float y,
                      float wide) {
  const float step = wide / float(kMostColors), side = 0.8f * step;
  for (int color = 0; color < p.color_count; ++color)
    if (held.colors >> color & 1) {
      plate(board, x + step * float(color), y + 1.3f * step, side, side, kEdge);
      plate(board, x + step * float(color) + 0.1f * side, y + 1.3f * step + 0.1f * side,
            0.8f * side, 0.8f * side, kCards[color]);
    }
  const bool told = (held.told & HandCard::kToldRank) != 0;
  for (int rank = 0; rank < p.rank_count; ++rank)
    if (held.ranks >> rank & 1)
      write(board, std::to_string(rank + 1), x + step * (float(rank) + 0.4f), y + 0.2f * step,
            0.75f * step, told ? kInk : kGrey, Caption::kMiddle, told ? 1.6f : 1.0f);
}

}  // namespace look

template <int N>
struct Picture {
  using W = World<Schema<N>>;
  using Hands = typename Schema<N>::Hands;

  static void draw_hand(const W& w, int seat, int viewer, ge::Board& board) {
    const Params& p = w.params();
    const Board table = get<Board>(w);
    const LastMove last = get<LastMove>(w);
    const bool hint = last.type == LastMove::kTellColor || last.type == LastMove::kTellRank;
    // Knowledge is under the cards, or beside them where rows are low.
    const float tall = 8.0f / float(p.player_count), y = 8.05f - tall * float(seat + 1);
    const bool beside = tall < 2.6f;
    const float step = min(look::kHandsWide / float(p.hand_size), beside ? 2.6f : 1.9f);
    const float wide = beside ? min((tall - 0.62f) / 1.3f, 0.46f * step) : 0.76f * step;
    const float high = min(1.3f * wide, tall - 0.65f - (beside ? 0.0f : 0.5f * wide));
    const bool on_turn = player_of(p, table) == seat && table.ended_by == 0;
    if (on_turn)
      look::plate(board, 0.15f, y + 0.04f, look::kHandsWide + 0.3f, tall - 0.08f, look::kTurn);
    look::write(board,
                "player " + std::to_string(seat) + (seat == viewer ? " (you)" : "") +
                    (on_turn ? ", on turn" : ""),
                0.3f, y + tall - 0.38f, 0.2f, look::kInk, Caption::kLeft, on_turn ? 1.5f : 1.1f);
    for (int i = 0; i < p.hand_size; ++i) {
      const HandCard held = get<Hands, HandCard>(w, seat * p.hand_size + i);
      const float x = 0.3f + step * float(i), low = y + tall - 0.52f - high;
      if (hint && last.target == seat && (last.touched >> i & 1))
        look::plate(board, x - 0.05f * wide, low - 0.05f * wide, 1.1f * wide, high + 0.1f * wide,
                    look::kInk);
      if (!is_held(held)) {
        look::plate(board, x, low, wide, high, look::kSlot);
        continue;
      }
      if (seat == viewer) {
        look::plate(board, x, low, wide, high, look::kHidden);
        look::write(board, "?", x + 0.5f * wide, low + 0.3f * high, 0.4f * min(wide, high),
                    rgb(0xffffff), Caption::kMiddle, 1.5f);
      } else {
        look::card(board, x, low, wide, high, min(color_of(p, held.card), kMostColors - 1),
                   std::to_string(rank_of(p, held.card) + 1));
      }
      const float room = beside ? min(1.2f * wide, 0.88f * step - wide) : wide;
      if (beside)
        look::knowledge(board, p, held, x + 1.08f * wide, low + 0.5f * high - 0.23f * room, room);
      else
        look::knowledge(board, p, held, x, low - 0.47f * wide, wide);
    }
  }

  static void draw_table(const W& w, ge::Board& board) {
    const Params& p = w.params();
    const Board table = get<Board>(w);
    const float x = look::kTableX, step = 0.84f;
    look::write(board, "Fireworks", x, 7.65f, 0.22f, look::kInk, Caption::kLeft, 1.4f);
    for (int color = 0; color < p.color_count; ++color) {
      int height = 0;
      for (int rank = 0; rank < p.rank_count; ++rank)
        if (table.fireworks >> (color * p.rank_count + rank) & 1) height = rank + 1;
      const float left = x + step * float(color);
      if (height > 0) {
        look::card(board, left, 6.5f, 0.72f, 0.95f, color, std::to_string(height));
      } else {
        look::plate(board, left, 6.5f, 0.72f, 0.95f, look::kSlot);
        look::write(board, std::string(1, kColorLetters[color]), left + 0.36f, 6.85f, 0.25f,
                    look::kGrey, Caption::kMiddle);
      }
    }
    look::count(board, "Information", table.information_tokens, 5.9f);
    look::tokens(board, table.information_tokens, p.max_information_tokens, 5.9f, palette::kBlue);
    look::count(board, "Lives", table.life_tokens, 5.5f);
    look::tokens(board, table.life_tokens, p.max_life_tokens, 5.5f, palette::kRed);
    look::count(board, "Deck", table.deck_left, 5.1f);
    look::plate(board, look::kCountX, 5.12f, 2, 0.16f, look::kSlot);
    look::plate(board, look::kCountX, 5.12f, 2.0f * float(table.deck_left) / float(p.deck_size),
                0.16f, look::kGrey);
    look::write(board, "Discards", x, 4.4f, 0.22f, look::kInk, Caption::kLeft, 1.4f);
    const Discards gone = get<Discards>(w);
    for (int color = 0; color < p.color_count; ++color) {
      float left = x;
      const float low = 3.6f - 0.62f * float(color);
      for (int rank = 0; rank < p.rank_count; ++rank) {
        for (int k = 0; k < copies_of(rank, p.rank_count); ++k) {
          const int place = discard_place(p, color, rank) + k;
          if (gone.discards >> place & 1)
            look::card(board, left, low, 0.38f, 0.5f, color, std::to_string(rank + 1));
          else
            look::plate(board, left + 0.02f, low + 0.02f, 0.34f, 0.46f, look::kSlot);
          left += 0.4f;
        }
        left += 0.04f;
      }
    }
  }

  static Scene table_scene(const W& w, int viewer) {
    const Params& p = w.params();
    const Board table = get<Board>(w);
    ge::Board board;
    board.high[0] = look::kWide, board.high[1] = look::kTall;
    const std::string ending = look::plain(ending_text(p, table));
    look::write(board,
                "Score " + std::to_string(table.points) + " of " +
                    std::to_string(p.color_count * p.rank_count),
                look::kTableX, 8.4f, 0.3f, look::kInk, Caption::kLeft, 1.5f);
    look::write(board,
                ending.empty() ? "last move: " + look::plain(last_move_text(p, get<LastMove>(w)))
                               : ending.substr(0, ending.size() - 1),
                0.3f, 8.43f, 0.24f);
    for (int seat = 0; seat < p.player_count; ++seat) draw_hand(w, seat, viewer, board);
    draw_table(w, board);
    Scene scene;
    scene.board = std::move(board);
    return scene;
  }
  static Scene whole_scene(const W& w) { return table_scene(w, -1); }
};

}  // namespace gpu_envs::envs::hanabi
