// Hanabi's state and rules: the deal, the legal moves, one move. Cards are numbered colour by
// colour, color * rank_count + rank; the colours are red, yellow, green, white and blue.
//
// Discards and fireworks are kept as the observation shows them, so that a row is mostly whole
// words appended: a discard sets the next bit of its card's copies, a firework is a one-hot rank.
#pragma once

#include "envs/hanabi/settings.hpp"

namespace gpu_envs::envs::hanabi {

// ---- what is described

struct Move {
  int32_t move;
  static constexpr bool transient = true;

  static constexpr auto describe() {
    return fields(field("move", &Move::move,
                        "discard or play a card of the own hand, tell another player a colour or a "
                        "rank; the last one, with noop, does nothing")
                      .one_of(kMostChoices));
  }
  static GE_FN int choices(const Params& p) { return p.move_count + (p.noop ? 1 : 0); }
};

struct DeckCard {
  uint8_t card;
  static constexpr auto describe() {
    return fields(field("card", &DeckCard::card, "colour * rank_count + rank, dealt in this order")
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
        field("card", &HandCard::card, "colour * rank_count + rank; 0 where there is no card")
            .within(0, 24),
        field("colors", &HandCard::colors, "bits of the colours that no hint excludes")
            .within(0, 31),
        field("ranks", &HandCard::ranks, "bits of the ranks that no hint excludes").within(0, 31),
        field("told", &HandCard::told, "1: its colour was told, 2: its rank, 4: there is a card")
            .within(0, 7));
  }
  static double highest(const Params& p, int field) {
    const double all[] = {double(p.kind_count - 1), double(p.all_colors), double(p.all_ranks), 7};
    return all[field];
  }
};

struct Discards {
  uint64_t discards;
  static constexpr auto describe() {
    return fields(field("discards", &Discards::discards,
                        "for each card a bit per copy, as observed: one is set per discarded copy")
                      .within(0, 0x1p50));
  }
  static double highest(const Params& p, int) { return double(ones(p.deck_size)); }
};

struct Board {
  uint32_t fireworks;
  uint8_t information_tokens, life_tokens, deck_left, player, turns_left, short_hands, ended_by,
      points;
  static constexpr uint8_t kLives = 1, kWon = 2, kCards = 3;

  static constexpr auto describe() {
    return fields(
        field("fireworks", &Board::fireworks,
              "for each colour a bit per rank, as observed: the highest that was played is set")
            .within(0, (1 << 25) - 1),
        field("information_tokens", &Board::information_tokens, "hints that can be given")
            .within(0, kMostTokens),
        field("life_tokens", &Board::life_tokens, "wrong plays until the game ends")
            .within(0, kMostTokens),
        field("deck_left", &Board::deck_left, "cards of the deck not dealt yet")
            .within(0, kMostCards),
        field("player", &Board::player, "who is on turn").within(0, kMostPlayers - 1),
        field("turns_left", &Board::turns_left, "moves left once the deck is empty")
            .within(0, kMostPlayers),
        field("short_hands", &Board::short_hands, "bits of the players with a card less")
            .within(0, (1 << kMostPlayers) - 1),
        field("ended_by", &Board::ended_by, "0: going on, 1: no lives, 2: won, 3: no cards")
            .within(0, 3),
        field("points", &Board::points, "cards in the fireworks").within(0, 25));
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

struct LastMove {
  uint32_t touched;
  uint8_t type, actor, target, value, position, card, scored, token;
  enum Type : uint8_t { kNone, kPlay, kDiscard, kTellColor, kTellRank };

  static constexpr auto describe() {
    return fields(
        field("touched", &LastMove::touched, "bits of the target's cards that the hint named")
            .within(0, (1 << kMostCards / 2) - 1),
        field("type", &LastMove::type, "0: none, 1: play, 2: discard, 3: tell colour, 4: tell rank")
            .within(0, 4),
        field("actor", &LastMove::actor, "who moved").within(0, kMostPlayers - 1),
        field("target", &LastMove::target, "whom a hint was given").within(0, kMostPlayers - 1),
        field("value", &LastMove::value, "the colour or rank of a hint").within(0, 4),
        field("position", &LastMove::position, "where the card was that left the hand")
            .within(0, kMostCards / 2 - 1),
        field("card", &LastMove::card, "the card that left the hand").within(0, 24),
        field("scored", &LastMove::scored, "1: the play succeeded").within(0, 1),
        field("token", &LastMove::token, "1: the play brought an information token").within(0, 1));
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
    return fields(field("reward", &Outcome::reward, "reward of the move, the same for all"));
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
// Row: seat * hand_size + position, the oldest card first.
template <int kSlots>
struct Hands : Fixed<kSlots, HandCard> {
  static constexpr const char* name = "hands";
};
// Also after the deal: card k of the deck is always its k-th row.
struct Deck : Fixed<kMostCards, DeckCard> {
  static constexpr const char* name = "deck";
};

template <int kSlots_>
struct Schema {
  static constexpr int kSlots = kSlots_;
  using Settings = hanabi::Settings;
  using Params = hanabi::Params;
  using Action = Move;
  using Agent = Seats;
  using tables = Types<Seats, Table, Hands<kSlots>, Deck>;
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
};

template <int N>
using W = World<Schema<N>>;

// ---- cards and hands

/// card / rank_count by a multiplication, exact for all cards that there are.
GE_FN int color_of(const Params& p, int card) {
  return card * p.rank_magic >> 16;
}
GE_FN int rank_of(const Params& p, int card) {
  return card - color_of(p, card) * p.rank_count;
}
GE_FN bool is_held(const HandCard& card) {
  return (card.told & HandCard::kHeld) != 0;
}
/// Cards in a seat's hand: once the deck is empty, each player moves only once more.
GE_FN int hand_count(const Params& p, const Board& board, int seat) {
  return p.hand_size - int(board.short_hands >> seat & 1u);
}
GE_FN int seat_after(const Params& p, int seat, int offset) {
  const int sum = seat + offset;
  return sum >= p.player_count ? sum - p.player_count : sum;
}
/// Whose turn it is; within range whatever a caller has written into the column.
GE_FN int player_of(const Params& p, const Board& board) {
  return min(int(board.player), p.player_count - 1);
}
/// Where a card's copies begin among the discards: three bits, then two per rank.
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
template <class Hands>
GE_FN uint64_t legal_moves(const Params& p, const Board& board, const Hands& hands) {
  const int player = player_of(p, board);
  const Blocks first = move_blocks(p);
  const uint64_t own = ones(hand_count(p, board, player));
  // A discard brings a token, and without room for one it is not allowed.
  const bool can_discard = board.information_tokens < p.max_information_tokens;
  uint64_t legal = own << first.play | (can_discard ? own : 0);
  // Every hint costs a token, and has to name a card at least: hence the cards' own values below.
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
template <int N>
GE_FN uint64_t legal_moves(const W<N>& w, const Board& board) {
  return legal_moves(w.params(), board, [&](int row) { return get<Hands<N>, HandCard>(w, row); });
}

/// The first legal move: nobody on turn is without a card, so the oldest can be played if nothing
/// else can be done.
GE_FN int lowest_legal(const Params& p, const Board& board) {
  return board.information_tokens < p.max_information_tokens ? 0 : p.hand_size;
}

// ---- one move

template <int N>
using Held = Rows<Hands<N>, HandCard>;

GE_FN void discard(const Params& p, Discards& discards, int color, int rank) {
  // Adding to the lowest bit of the card carries to the first copy that is not there yet.
  discards.discards |= discards.discards + (uint64_t{1} << discard_place(p, color, rank));
  // The carry of a card whose copies were all set from outside stays within the deck.
  discards.discards &= ones(p.deck_size);
}

GE_FN void play_card(const Params& p, Board& board, Discards& discards, LastMove& last) {
  const int color = color_of(p, last.card), rank = rank_of(p, last.card);
  const int place = color * p.rank_count;
  const uint32_t firework = board.fireworks >> place & p.all_ranks;
  // The rank below has to be on show; for the lowest, nothing: 1 >> 1 is 0.
  if (firework != (1u << rank) >> 1) {
    board.life_tokens = uint8_t(max(board.life_tokens - 1, 0));
    discard(p, discards, color, rank);
    return;
  }
  // The old rank's bit goes, the new one's comes: one bit per colour.
  board.fireworks ^= (firework | 1u << rank) << place;
  board.points = uint8_t(min(board.points + 1, p.kind_count));
  last.scored = 1;
  const bool complete = rank == p.rank_count - 1;
  if (complete && board.information_tokens < p.max_information_tokens) {
    board.information_tokens = uint8_t(board.information_tokens + 1);
    last.token = 1;
  }
}

/// The cards behind the position move up; the newest comes from the deck, if there is one.
template <int N>
GE_FN void close_hand(const W<N>& w, Board& board, const Held<N>& hands, int seat, int position) {
  const Params& p = w.params();
  const int row = seat * p.hand_size, newest = p.hand_size - 1;
  for (int i = position; i < newest; ++i) hands.set(row + i, hands.get(row + i + 1));
  if (board.deck_left == 0) {
    board.short_hands = uint8_t(board.short_hands | 1u << seat);
    hands.set(row + newest, HandCard{});
    return;
  }
  // The deck's rows are in the order of dealing, so what is left are its last ones.
  const int next = max(p.deck_size - int(board.deck_left), 0);
  const uint8_t card = get<Deck, DeckCard>(w, next).card;
  board.deck_left = uint8_t(board.deck_left - 1);
  hands.set(row + newest,
            HandCard{card, uint8_t(p.all_colors), uint8_t(p.all_ranks), HandCard::kHeld});
}

template <int N>
GE_FN void tell(const Params& p, LastMove& last, const Held<N>& hands, bool color) {
  const int row = last.target * p.hand_size;
  const uint32_t hint = 1u << last.value;
  for (int i = 0; i < p.hand_size; ++i) {
    HandCard card = hands.get(row + i);
    const int own_color = color_of(p, card.card), own_rank = card.card - own_color * p.rank_count;
    const bool match = (color ? own_color : own_rank) == last.value && is_held(card);
    // Selected by value: a reference to either would put the card into memory.
    const uint32_t before = color ? card.colors : card.ranks;
    // A hint tells of all cards: named ones have the value, the others do not.
    const uint8_t known = uint8_t(match ? hint : before & ~hint);
    card.colors = color ? known : card.colors;
    card.ranks = color ? card.ranks : known;
    const uint8_t told = color ? HandCard::kToldColor : HandCard::kToldRank;
    card.told = uint8_t(card.told | (match ? told : 0));
    last.touched |= (match ? 1u : 0u) << i;
    hands.set(row + i, card);
  }
}

/// Carries out a legal move of the player on turn, who draws; lives, points and tokens follow.
template <int N>
GE_FN void carry_out(const W<N>& w, int move, Board& board, Discards& discards, LastMove& last,
                     const Held<N>& hands) {
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
  tell<N>(p, last, hands, color);
}

GE_FN uint8_t end_of(const Params& p, const Board& board) {
  if (board.life_tokens == 0) return Board::kLives;
  if (board.points == p.kind_count) return Board::kWon;
  return board.turns_left == 0 ? Board::kCards : 0;
}

/// The move of the player on turn; one that is illegal becomes the lowest legal one, and with noop
/// all others are held to it.
template <int N>
GE_FN int choose_move(const W<N>& w, const Board& board, const Held<N>& hands) {
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
template <int N>
GE_FN void take_turn(const W<N>& w, Board& board, Discards& discards, LastMove& last,
                     Outcome& outcome, Verdict& verdict, Held<N> hands) {
  const Params& p = w.params();
  const int before = board.points;
  const int move = choose_move(w, board, hands);
  // Before the move: whoever draws the last card still has a turn.
  if (board.deck_left == 0) board.turns_left = uint8_t(max(board.turns_left - 1, 0));
  carry_out(w, move, board, discards, last, hands);
  board.player = uint8_t(seat_after(p, player_of(p, board), 1));
  board.ended_by = end_of(p, board);
  const bool lost = board.ended_by == Board::kLives && !p.keep_score;
  // Rewards add up to the score, which is 0 after the last life: it is taken back at once.
  outcome.reward = float((lost ? 0 : int(board.points)) - before);
  verdict.terminated = board.ended_by != 0 ? 1u : 0u;
}

template <int N>
GE_FN void pay(const W<N>& w, Reward& reward) {
  reward.value = get<Outcome>(w).reward;
}

// ---- a new game

/// The sorted deck, card by card.
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

/// Fisher and Yates, inside out. Each place's probability is within 2^-32 of uniform.
template <int N>
GE_FN void shuffle(const W<N>& w, Rows<Deck, DeckCard> deck) {
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

template <int N>
GE_FN void deal(const W<N>& w, Held<N> hands, Rows<Deck, DeckCard> deck) {
  const Params& p = w.params();
  const int dealt = p.player_count * p.hand_size;
  for (int row = 0; row < dealt; ++row)
    hands.set(row, HandCard{deck.get(row).card, uint8_t(p.all_colors), uint8_t(p.all_ranks),
                            HandCard::kHeld});
}

template <int N>
GE_FN void begin_game(const W<N>& w, Board& board, Discards& discards, LastMove& last) {
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

}  // namespace gpu_envs::envs::hanabi
