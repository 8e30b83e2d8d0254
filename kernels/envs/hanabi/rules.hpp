// Hanabi's state and rules: the deal, the legal moves, one move. Cards are numbered colour by
// colour, color * rank_count + rank; the colours are red, yellow, green, white and blue.
//
// Discards and fireworks are kept as the observation shows them, so that a row is made by appending
// whole words: a discard sets the next bit of its card's copies, a firework is a one-hot rank.
#pragma once

#include "envs/hanabi/settings.hpp"

namespace gpu_envs::envs::hanabi {

// ---- what is described

/// Action of a player.
struct Move {
  int32_t move;
  static constexpr bool transient = true;

  static constexpr auto describe() {
    return fields(field("move", &Move::move,
                        "number of the move: discard or play a card of the hand, tell another "
                        "player a colour or a rank; with noop the last one does nothing")
                      .one_of(kMostChoices));
  }
  static GE_FN int choices(const Params& p) { return p.move_count + (p.noop ? 1 : 0); }
};

struct DeckCard {
  uint8_t card;
  static constexpr auto describe() {
    return fields(field("card", &DeckCard::card,
                        "card of the deck, colour * rank_count + rank, in the order of dealing")
                      .within(0, 24));
  }
  static double highest(const Params& p, int) { return p.kind_count - 1; }
};

// Aligned, so that a card travels as one word.
struct alignas(4) HandCard {
  uint8_t card, colors, ranks, told;
  static constexpr uint8_t kToldColor = 1, kToldRank = 2, kHeld = 4;

  static constexpr auto describe() {
    return fields(
        field("card", &HandCard::card,
              "card in the hand, colour * rank_count + rank; 0 without a card")
            .within(0, 24),
        field("colors", &HandCard::colors, "bits of the colours that no hint excludes")
            .within(0, 31),
        field("ranks", &HandCard::ranks, "bits of the ranks that no hint excludes").within(0, 31),
        field("told", &HandCard::told,
              "bits of the place; 1: the card's colour was told, 2: its rank was told, 4: it holds "
              "a card")
            .within(0, 7));
  }
  static double highest(const Params& p, int field) {
    const double all[] = {double(p.kind_count - 1), double(p.all_colors), double(p.all_ranks), 7};
    return all[field];
  }
};

/// The discard pile.
struct Discards {
  uint64_t discards;
  static constexpr auto describe() {
    return fields(
        field("discards", &Discards::discards, "a bit for each copy of each card; set: discarded")
            .within(0, 0x1p50));
  }
  static double highest(const Params& p, int) { return double(ones(p.deck_size)); }
};

/// What lies open on the table, and whose turn it is.
struct Board {
  uint32_t fireworks;
  uint8_t information_tokens, life_tokens, deck_left, player, turns_left, short_hands, ended_by,
      points;
  static constexpr uint8_t kLives = 1, kWon = 2, kCards = 3;

  static constexpr auto describe() {
    return fields(
        field("fireworks", &Board::fireworks,
              "a bit for each rank of each colour; the highest rank played is set")
            .within(0, (1 << 25) - 1),
        field("information_tokens", &Board::information_tokens, "number of hints that can be given")
            .within(0, kMostTokens),
        field("life_tokens", &Board::life_tokens, "number of wrong plays that end the game")
            .within(0, kMostTokens),
        field("deck_left", &Board::deck_left, "number of cards left in the deck")
            .within(0, kMostCards),
        field("player", &Board::player, "seat of the player on turn").within(0, kMostPlayers - 1),
        field("turns_left", &Board::turns_left, "number of moves left once the deck is empty")
            .within(0, kMostPlayers),
        field("short_hands", &Board::short_hands, "bits of the players whose hand lacks a card")
            .within(0, (1 << kMostPlayers) - 1),
        field("ended_by", &Board::ended_by,
              "end of the game; 0: not over, 1: no lives, 2: won, 3: no cards")
            .within(0, 3),
        field("points", &Board::points, "number of cards in the fireworks").within(0, 25));
  }
  static double highest(const Params& p, int field) {
    const double all[] = {double(ones(p.kind_count)),   double(p.max_information_tokens),
                          double(p.max_life_tokens),    double(p.deck_size),
                          double(p.player_count - 1),   double(p.player_count),
                          double(ones(p.player_count)), 3,
                          double(p.kind_count)};
    return all[field];
  }
};

/// The last move, as observations show it.
struct LastMove {
  uint32_t touched;
  uint8_t type, actor, target, value, position, card, scored, token;
  enum Type : uint8_t { kNone, kPlay, kDiscard, kTellColor, kTellRank };

  static constexpr auto describe() {
    return fields(
        field("touched", &LastMove::touched, "bits of the target's cards that the last hint named")
            .within(0, (1 << kMostCards / 2) - 1),
        field("type", &LastMove::type,
              "type of the last move; 0: none, 1: play, 2: discard, 3: tell colour, 4: tell rank")
            .within(0, 4),
        field("actor", &LastMove::actor, "seat of the player who moved last")
            .within(0, kMostPlayers - 1),
        field("target", &LastMove::target, "seat of the player who was given the last hint")
            .within(0, kMostPlayers - 1),
        field("value", &LastMove::value, "colour or rank of the last hint").within(0, 4),
        field("position", &LastMove::position,
              "position in the hand of the card played or discarded last")
            .within(0, kMostCards / 2 - 1),
        field("card", &LastMove::card, "card played or discarded last").within(0, 24),
        field("scored", &LastMove::scored, "whether the last play succeeded; 1: yes").within(0, 1),
        field("token", &LastMove::token,
              "whether the last play brought an information token; 1: yes")
            .within(0, 1));
  }
  static double highest(const Params& p, int field) {
    const double last_player = p.player_count - 1;
    const double all[] = {double(ones(p.hand_size)),
                          4,
                          last_player,
                          last_player,
                          double(max(p.color_count, p.rank_count) - 1),
                          double(p.hand_size - 1),
                          double(p.kind_count - 1),
                          1,
                          1};
    return all[field];
  }
};

struct Outcome {
  float reward;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("reward", &Outcome::reward, "reward of the move, which all players get"));
  }
};

// ---- tables

struct Seats : Agents<kMostPlayers, Move> {
  static constexpr const char* name = "seats";
  static GE_FN constexpr int count(const Params& p) { return p.player_count; }
};
struct Table : Single<Discards, Board, LastMove, Outcome> {
  static constexpr const char* name = "table";
};
// Stays complete after the deal: card k of the deck is always its k-th row.
struct Deck : Fixed<kMostCards, DeckCard> {
  static constexpr const char* name = "deck";
};

/// N is the capacity of a tier: cards in all hands.
template <int N>
struct Schema {
  // Row: seat * hand_size + position, the oldest card first.
  struct Hands : Fixed<N, HandCard> {
    static constexpr const char* name = "hands";
  };
  using Settings = hanabi::Settings;
  using Params = hanabi::Params;
  using Action = Move;
  using Agent = Seats;
  using tables = Types<Seats, Table, Hands, Deck>;
  // One lane shuffles the deck, 3,300 instructions: in a branch of the step a whole warp would wait
  // for the one world of its 32 that begins again.
  static constexpr Tuning tuning{.reset_lanes = {1, 8, 32}, .rare_resets = true};
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
};

// ---- cards and hands

/// card / rank_count by a multiplication, exact for all cards.
GE_FN int color_of(const Params& p, int card) {
  return card * p.rank_magic >> 16;
}
GE_FN int rank_of(const Params& p, int card) {
  return card - color_of(p, card) * p.rank_count;
}
GE_FN bool is_held(const HandCard& card) {
  return (card.told & HandCard::kHeld) != 0;
}
/// Number of cards in a seat's hand, at most one less than a full hand: once the deck is empty,
/// each player moves only once more.
GE_FN int hand_count(const Params& p, const Board& board, int seat) {
  return p.hand_size - int(board.short_hands >> seat & 1u);
}
GE_FN int seat_after(const Params& p, int seat, int offset) {
  const int sum = seat + offset;
  return sum >= p.player_count ? sum - p.player_count : sum;
}
/// Seat on turn; clamped, because `simulator.set` may have written any number.
GE_FN int player_of(const Params& p, const Board& board) {
  return min(int(board.player), p.player_count - 1);
}
/// First bit of a card's copies among the discards: three bits for the lowest rank, then two per
/// rank.
GE_FN int discard_place(const Params& p, int color, int rank) {
  return color * p.copies_per_color + (rank == 0 ? 0 : 2 * rank + 1);
}

// ---- legal moves

struct Blocks {
  int play, color, rank;  // first moves of the blocks; discards begin at 0
};
GE_FN Blocks move_blocks(const Params& p) {
  return {p.hand_size, 2 * p.hand_size, 2 * p.hand_size + (p.player_count - 1) * p.color_count};
}

/// A bit per move of the player on turn; hands(row) is a card.
GE_FN uint64_t legal_moves(const Params& p, const Board& board, const auto& hands) {
  const int player = player_of(p, board);
  const Blocks first = move_blocks(p);
  const uint64_t own = ones(hand_count(p, board, player));
  // A discard brings a token, so it is illegal at the most tokens.
  const bool can_discard = board.information_tokens < p.max_information_tokens;
  uint64_t legal = own << first.play | (can_discard ? own : 0);
  // A hint costs a token and must name at least one card: hence the cards' own values below.
  if (board.information_tokens == 0) return legal;
  for (int offset = 1; offset < p.player_count; ++offset) {
    const int row = seat_after(p, player, offset) * p.hand_size;
    uint32_t colors = 0, ranks = 0;
    for (int i = 0; i < p.hand_size; ++i) {
      const HandCard card = hands(row + i);
      const int color = color_of(p, card.card);
      const uint32_t held = is_held(card) ? 1u : 0u;
      colors |= held << color;
      ranks |= held << (card.card - color * p.rank_count);
    }
    legal |= uint64_t{colors} << (first.color + (offset - 1) * p.color_count);
    legal |= uint64_t{ranks} << (first.rank + (offset - 1) * p.rank_count);
  }
  return legal;
}
/// The lowest legal move: discarding the oldest card, or playing it. A player on turn has a card.
GE_FN int lowest_legal(const Params& p, const Board& board) {
  return board.information_tokens < p.max_information_tokens ? 0 : p.hand_size;
}

// ---- one move

/// Adds a card to the discards.
GE_FN void discard(const Params& p, Discards& discards, int color, int rank) {
  // Adding the lowest bit of the card carries to its first bit that is not set.
  discards.discards |= discards.discards + (uint64_t{1} << discard_place(p, color, rank));
  // Bits that `simulator.set` wrote could carry beyond the deck.
  discards.discards &= ones(p.deck_size);
}

/// Plays a card: onto its firework, or to the discards at the cost of a life.
GE_FN void play_card(const Params& p, Board& board, Discards& discards, LastMove& last) {
  const int color = color_of(p, last.card), rank = rank_of(p, last.card);
  const int place = color * p.rank_count;
  const uint32_t firework = board.fireworks >> place & p.all_ranks;
  // The rank below must be on the table; for the lowest rank none: 1 >> 1 is 0.
  if (firework != (1u << rank) >> 1) {
    board.life_tokens = uint8_t(max(board.life_tokens - 1, 0));
    discard(p, discards, color, rank);
    return;
  }
  // One bit per colour: the old rank's is cleared, the new one's is set.
  board.fireworks ^= (firework | 1u << rank) << place;
  board.points = uint8_t(min(board.points + 1, p.kind_count));
  last.scored = 1;
  const bool complete = rank == p.rank_count - 1;
  if (complete && board.information_tokens < p.max_information_tokens) {
    board.information_tokens = uint8_t(board.information_tokens + 1);
    last.token = 1;
  }
}

/// Why the game is over, or 0.
GE_FN uint8_t end_of(const Params& p, const Board& board) {
  if (board.life_tokens == 0) return Board::kLives;
  if (board.points == p.kind_count) return Board::kWon;
  return board.turns_left == 0 ? Board::kCards : 0;
}

/// Yields the sorted deck card by card.
struct Sorted {
  int color = 0, place = 0;  // place among the cards of the colour: 0 0 0 1 1 2 2 ...
  GE_FN int next(const Params& p) {
    const int rank = place < 3 ? 0 : (place - 1) / 2;
    const int card = color * p.rank_count + rank;
    place = place + 1;
    if (place == p.copies_per_color) place = 0, color = color + 1;
    return card;
  }
};

// ---- rules

template <int N>
struct Rules {
  using W = World<Schema<N>>;
  using Hands = typename Schema<N>::Hands;
  using Held = Rows<Hands, HandCard>;

  static GE_FN uint64_t legal_now(const W& w, const Board& board) {
    return legal_moves(w.params(), board, [&](int row) { return get<Hands, HandCard>(w, row); });
  }

  /// The cards behind the position move up; the newest comes from the deck, if there is one.
  static GE_FN void close_hand(const W& w, Board& board, const Held& hands, int seat,
                               int position) {
    const Params& p = w.params();
    const int row = seat * p.hand_size, newest = p.hand_size - 1;
    for (int i = position; i < newest; ++i) hands.set(row + i, hands.get(row + i + 1));
    if (board.deck_left == 0) {
      board.short_hands = uint8_t(board.short_hands | 1u << seat);
      hands.set(row + newest, HandCard{});
      return;
    }
    // Rows of the deck are in the order of dealing, so the last ones are left.
    const int next = max(p.deck_size - int(board.deck_left), 0);
    const uint8_t card = get<Deck, DeckCard>(w, next).card;
    board.deck_left = uint8_t(board.deck_left - 1);
    hands.set(row + newest,
              HandCard{card, uint8_t(p.all_colors), uint8_t(p.all_ranks), HandCard::kHeld});
  }

  /// Gives a hint: updates what the target knows of each of its cards.
  static GE_FN void tell(const Params& p, LastMove& last, const Held& hands, bool color) {
    const int row = last.target * p.hand_size;
    const uint32_t hint = 1u << last.value;
    for (int i = 0; i < p.hand_size; ++i) {
      HandCard card = hands.get(row + i);
      const int own_color = color_of(p, card.card), own_rank = card.card - own_color * p.rank_count;
      const bool match = (color ? own_color : own_rank) == last.value && is_held(card);
      // Selected by value: a reference to one of them would move the card to memory.
      const uint32_t before = color ? card.colors : card.ranks;
      // A hint informs about every card: those named have the value, all others do not.
      const uint8_t known = uint8_t(match ? hint : before & ~hint);
      card.colors = color ? known : card.colors;
      card.ranks = color ? card.ranks : known;
      const uint8_t told = color ? HandCard::kToldColor : HandCard::kToldRank;
      card.told = uint8_t(card.told | (match ? told : 0));
      last.touched |= (match ? 1u : 0u) << i;
      hands.set(row + i, card);
    }
  }

  /// Carries out a legal move of the player on turn and updates lives, points, tokens and the hand.
  static GE_FN void carry_out(const W& w, int move, Board& board, Discards& discards,
                              LastMove& last, const Held& hands) {
    const Params& p = w.params();
    const Blocks first = move_blocks(p);
    const int seat = player_of(p, board);
    last = LastMove{};
    last.actor = uint8_t(seat);
    if (move < first.color) {
      const bool plays = move >= first.play;
      last.type = plays ? LastMove::kPlay : LastMove::kDiscard;
      last.position = uint8_t(plays ? move - first.play : move);
      last.card = hands.get(seat * p.hand_size + last.position).card;
      if (plays) {
        play_card(p, board, discards, last);
      } else {
        board.information_tokens = uint8_t(board.information_tokens + 1);
        discard(p, discards, color_of(p, last.card), rank_of(p, last.card));
      }
      close_hand(w, board, hands, seat, last.position);
      return;
    }
    const bool color = move < first.rank;
    const int values = color ? p.color_count : p.rank_count;
    const int hint = move - (color ? first.color : first.rank), offset = hint / values;
    last.type = color ? LastMove::kTellColor : LastMove::kTellRank;
    last.target = uint8_t(seat_after(p, seat, offset + 1));
    last.value = uint8_t(hint - offset * values);
    board.information_tokens = uint8_t(board.information_tokens - 1);
    tell(p, last, hands, color);
  }

  /// Returns the move of the player on turn; an illegal one becomes the lowest legal one. With
  /// noop, any other action of the other players is counted as illegal.
  static GE_FN int choose_move(const W& w, const Board& board, const Held& hands) {
    const Params& p = w.params();
    const int player = player_of(p, board);
    if (p.noop) {
      for (int seat = 0; seat < p.player_count; ++seat)
        if (seat != player && get<Seats, Move>(w, seat).move != p.move_count) w.count_illegal(seat);
    }
    const int move = get<Seats, Move>(w, player).move;
    const uint64_t legal = legal_moves(p, board, [&](int row) { return hands.get(row); });
    if (legal >> move & 1u) return move;
    w.count_illegal(player);
    return lowest_legal(p, board);
  }

  // lint: allow parameters: a system names its components
  static GE_FN void take_turn(const W& w, Board& board, Discards& discards, LastMove& last,
                              Outcome& outcome, Verdict& verdict, Held hands) {
    const Params& p = w.params();
    const int before = board.points;
    const int move = choose_move(w, board, hands);
    // Counted before the move: the player who draws the last card has another turn.
    if (board.deck_left == 0) board.turns_left = uint8_t(max(board.turns_left - 1, 0));
    carry_out(w, move, board, discards, last, hands);
    board.player = uint8_t(seat_after(p, player_of(p, board), 1));
    board.ended_by = end_of(p, board);
    const bool lost = board.ended_by == Board::kLives && !p.keep_score;
    // Rewards add up to the score. Losing the last life makes it 0, so all points are taken back.
    outcome.reward = float((lost ? 0 : int(board.points)) - before);
    verdict.terminated = board.ended_by != 0 ? 1u : 0u;
  }

  static GE_FN void pay(const W& w, Reward& reward) { reward.value = get<Outcome>(w).reward; }

  /// Whether it is a player's turn.
  static GE_FN bool is_turn_of(const W& w, int player) {
    return player_of(w.params(), get<Board>(w)) == player;
  }

  // ---- a new game

  /// Fisher-Yates shuffle, inside out. Each probability is within 2^-32 of uniform.
  static GE_FN void shuffle(const W& w, Rows<Deck, DeckCard> deck) {
    const int size = w.params().deck_size;
    Sorted sorted;
    for (int four = 0; 4 * four < size; ++four) {
      const Draw d = draw<"shuffle">(w, four);
      GE_UNROLL
      for (int k = 0; k < 4; ++k) {
        const int i = 4 * four + k;
        if (i >= size) break;
        const int j = int(d.below(k, uint32_t(i + 1)));
        deck.set(i, deck.get(j));
        deck.set(j, DeckCard{uint8_t(sorted.next(w.params()))});
      }
    }
  }

  /// Deals full hands from the top of the deck.
  static GE_FN void deal(const W& w, Held hands, Rows<Deck, DeckCard> deck) {
    const Params& p = w.params();
    const int dealt = p.player_count * p.hand_size;
    for (int row = 0; row < dealt; ++row)
      hands.set(row, HandCard{deck.get(row).card, uint8_t(p.all_colors), uint8_t(p.all_ranks),
                              HandCard::kHeld});
  }

  /// Sets tokens, deck and the first player.
  static GE_FN void begin_game(const W& w, Board& board, Discards& discards, LastMove& last) {
    const Params& p = w.params();
    board = Board{};
    board.information_tokens = uint8_t(p.max_information_tokens);
    board.life_tokens = uint8_t(p.max_life_tokens);
    board.deck_left = uint8_t(p.undealt);
    board.turns_left = uint8_t(p.player_count);
    if (p.random_start_player)
      board.player = uint8_t(draw<"first_player">(w, 0).below(0, uint32_t(p.player_count)));
    discards = Discards{};
    last = LastMove{};
  }
};

}  // namespace gpu_envs::envs::hanabi
