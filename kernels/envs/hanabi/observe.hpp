// What the players of Hanabi see: the canonical encoding of the Hanabi Learning Environment (its
// canonical_encoders.cc, Apache-2.0), bit for bit. Seats are relative to the observer, 0 being
// themselves. One set of writers serves the observation in bits, the one whose plausible cards are
// probabilities, and the central state.
#pragma once

#include <vector>

#include "envs/hanabi/rules.hpp"

namespace gpu_envs::envs::hanabi {

// ---- sizes

/// Bits that a hand of the knowledge section has per card: plausible cards, told colour and rank.
GE_FN constexpr int known_bits(const Params& p) {
  return p.kind_count + p.color_count + p.rank_count;
}
GE_FN constexpr int hands_bits(const Params& p, int hands) {
  return hands * p.hand_size * p.kind_count;
}
GE_FN constexpr int last_move_bits(const Params& p) {
  return 2 * p.player_count + 4 + p.color_count + p.rank_count + 2 * p.hand_size + p.kind_count + 2;
}
/// Everything between the hands and the knowledge.
GE_FN constexpr int public_bits(const Params& p) {
  return p.player_count + p.undealt + p.kind_count + p.max_information_tokens + p.max_life_tokens +
         p.deck_size + last_move_bits(p);
}
GE_FN constexpr int knowledge_bits(const Params& p) {
  return p.player_count * p.hand_size * known_bits(p);
}
/// At least what a row has of any game with so many cards in hands.
constexpr int most_elements(int slots) {
  constexpr int kinds = kMostColors * kMostRanks, values = kMostColors + kMostRanks;
  return slots * (kinds + kinds + values) + 2 * (kMostPlayers + kMostCards + kMostTokens) +
         2 * kMostPlayers + 4 + values + 2 * (kMostCards / 2) + kinds + 2 + kinds +
         2 * kMostPlayers;
}

// ---- fields

inline void add_field(std::vector<FieldInfo>& all, const char* name, std::vector<int64_t> shape,
                      const char* doc) {
  const FieldInfo info = wide_field(name, std::move(shape), doc);
  if (info.elements() > 0) all.push_back(info);
}
inline void add_public_fields(std::vector<FieldInfo>& all, const Params& p) {
  const int64_t players = p.player_count, hand = p.hand_size;
  add_field(all, "short_hands", {players}, "1: the hand has a card less than at the start");
  add_field(all, "deck", {p.undealt}, "as many ones as cards are left");
  add_field(all, "fireworks", {p.color_count, p.rank_count}, "the highest rank played per colour");
  add_field(all, "information_tokens", {p.max_information_tokens}, "as many ones as tokens");
  add_field(all, "life_tokens", {p.max_life_tokens}, "as many ones as tokens");
  add_field(all, "discards", {p.color_count, p.copies_per_color},
            "as many ones as discarded copies, for each rank of each colour");
  add_field(all, "last_actor", {players}, "whose move the last one was");
  add_field(all, "last_type", {4}, "play, discard, tell colour, tell rank");
  add_field(all, "last_target", {players}, "to whom the hint was given");
  add_field(all, "last_color", {p.color_count}, "the colour that was told");
  add_field(all, "last_rank", {p.rank_count}, "the rank that was told");
  add_field(all, "last_touched", {hand}, "the target's cards that the hint named");
  add_field(all, "last_position", {hand}, "where the card was that was played or discarded");
  add_field(all, "last_card", {p.kind_count}, "the card that was played or discarded");
  add_field(all, "last_scored", {1}, "1: the play succeeded");
  add_field(all, "last_token", {1}, "1: the play brought an information token");
}
inline void add_knowledge_field(std::vector<FieldInfo>& all, const Params& p) {
  add_field(all, "knowledge", {p.player_count, p.hand_size, known_bits(p)},
            "of every card: the cards it can be, the colour and the rank it was told");
}
inline std::vector<FieldInfo> observation_fields(const Params& p) {
  std::vector<FieldInfo> all;
  add_field(all, "hands", {p.player_count - 1, p.hand_size, p.kind_count},
            "cards of the other players, from the next one on, the oldest card first");
  add_public_fields(all, p);
  if (p.observation_type != kMinimal) add_knowledge_field(all, p);
  return all;
}

template <int N>
struct Observation : WideRow<bool> {
  static constexpr int capacity = most_elements(N);
  static GE_FN int elements(const Params& p) {
    return hands_bits(p, p.player_count - 1) + public_bits(p) +
           (p.observation_type != kMinimal ? knowledge_bits(p) : 0);
  }
  static std::vector<FieldInfo> describe(const Params& p) { return observation_fields(p); }
};

/// The same sections; the plausible cards are probabilities.
template <int N>
struct BeliefObservation : WideRow<float> {
  static constexpr int capacity = most_elements(N);
  static GE_FN int elements(const Params& p) { return Observation<N>::elements(p); }
  static std::vector<FieldInfo> describe(const Params& p) { return observation_fields(p); }
};

struct ActionMask : WideRow<bool> {
  static constexpr int capacity = kMostChoices;
  static GE_FN int elements(const Params& p) { return Move::choices(p); }
  static std::vector<FieldInfo> describe(const Params& p) {
    return {wide_field("legal", {Move::choices(p)}, "1: the move is legal now")};
  }
};

/// What a critic may know: all hands, by seat, and what is public, as seen from seat 0.
/// Knowledge in it is what the players were told, not what a seer knows: the hands say that.
template <int N>
struct State : WideRow<bool> {
  static constexpr int capacity = most_elements(N);
  static GE_FN int elements(const Params& p) {
    return hands_bits(p, p.player_count) + public_bits(p) + knowledge_bits(p) + 2 * p.player_count;
  }
  static std::vector<FieldInfo> describe(const Params& p) {
    std::vector<FieldInfo> all;
    add_field(all, "hands", {p.player_count, p.hand_size, p.kind_count},
              "cards of all players, the oldest card first");
    add_public_fields(all, p);
    add_knowledge_field(all, p);
    add_field(all, "player", {p.player_count}, "who is on turn");
    add_field(all, "turns_left", {p.player_count}, "as many ones as moves after the deck is empty");
    return all;
  }
};

// ---- sections, for any writer of bits

/// Bits as floats: what BitRow is to a row of bits.
class FloatBits {
 public:
  GE_FN explicit FloatBits(FloatRow& row) : row_(row) {}
  GE_FN void append(uint32_t bits, int count) { append64(bits, count); }
  GE_FN void append64(uint64_t bits, int count) {
    for (int k = 0; k < count; ++k, ++at_)
      if (bits >> k & 1u) row_.set(at_, 1.0f);
  }
  GE_FN void append_value(float value) { row_.set(at_++, value); }

 private:
  FloatRow& row_;
  int at_ = 0;
};

template <int N, class Bits>
GE_FN void write_hand(const W<N>& w, Bits& bits, int seat) {
  const Params& p = w.params();
  const int row = seat * p.hand_size;
  for (int i = 0; i < p.hand_size; ++i) {
    const HandCard card = get<Hands<N>, HandCard>(w, row + i);
    // A place without a card is all zeros, as the encoding has it.
    bits.append((is_held(card) ? 1u : 0u) << card.card, p.kind_count);
  }
}

/// The observer's distance to a seat.
GE_FN int offset_of(const Params& p, int observer, int seat) {
  return seat >= observer ? seat - observer : seat - observer + p.player_count;
}

template <class Bits>
GE_FN void write_last_move(const Params& p, Bits& bits, int observer, const LastMove& last) {
  const uint32_t any = last.type != LastMove::kNone ? 1u : 0u;
  const uint32_t hints_color = last.type == LastMove::kTellColor ? 1u : 0u;
  const uint32_t hints_rank = last.type == LastMove::kTellRank ? 1u : 0u;
  // Play or discard: the sections below are zeros after a hint, and the hint's after a move.
  const uint32_t moved = any ^ (hints_color | hints_rank);
  const int players = p.player_count;
  // Actor, type, target, colour and rank are 24 bits at most.
  int at = players;
  uint32_t head = any << offset_of(p, observer, last.actor);
  head |= (1u << last.type >> 1) << at, at += 4;
  head |= (hints_color | hints_rank) << (at + offset_of(p, observer, last.target)), at += players;
  head |= hints_color << (at + last.value), at += p.color_count;
  head |= hints_rank << (at + last.value), at += p.rank_count;
  bits.append(head, at);
  bits.append(last.touched, p.hand_size);
  bits.append(moved << last.position, p.hand_size);
  const uint32_t flags = uint32_t(last.scored) | uint32_t(last.token) << 1;
  bits.append(moved << last.card | flags << p.kind_count, p.kind_count + 2);
}

/// As many ones as there are things; a column that a caller wrote may say more than there can be.
GE_FN uint64_t thermometer(int count, int most) {
  return ones(min(count, most));
}

template <int N, class Bits>
GE_FN void write_public(const W<N>& w, Bits& bits, int observer) {
  const Params& p = w.params();
  const Board board = get<Board>(w);
  // Turned, so that the observer's own bit is the lowest.
  const uint32_t turned = board.short_hands >> observer | board.short_hands
                                                              << (p.player_count - observer);
  bits.append(turned & uint32_t(ones(p.player_count)), p.player_count);
  bits.append64(thermometer(board.deck_left, p.undealt), p.undealt);
  bits.append(board.fireworks, p.kind_count);
  const int tokens = p.max_information_tokens, lives = p.max_life_tokens;
  bits.append64(thermometer(board.information_tokens, tokens), tokens);
  bits.append64(thermometer(board.life_tokens, lives), lives);
  bits.append64(get<Discards>(w).discards, p.deck_size);
  write_last_move(p, bits, observer, get<LastMove>(w));
}

// ---- knowledge

/// What the section shows of a card: to a seer all that there is to know.
GE_FN HandCard shown_card(const Params& p, const HandCard& card, bool seer) {
  if (!seer || !is_held(card)) return card;
  return {card.card, uint8_t(1u << color_of(p, card.card)), uint8_t(1u << rank_of(p, card.card)),
          HandCard::kHeld | HandCard::kToldColor | HandCard::kToldRank};
}

/// A bit per card that this one can be: each plausible colour with all plausible ranks.
GE_FN uint32_t plausible_cards(const Params& p, const HandCard& card) {
  // Bit c moves to bit c * rank_count; bits that are rank_count apart keep the ranks' products
  // apart.
  const uint32_t colors = card.colors;
  const int step = p.rank_count - 1;
  const uint32_t spread = (colors & 1u) | (colors & 2u) << step | (colors & 4u) << 2 * step |
                          (colors & 8u) << 3 * step | (colors & 16u) << 4 * step;
  return spread * card.ranks;
}
/// Told colours, then told ranks. A hint leaves only what it said.
GE_FN uint32_t told_values(const Params& p, const HandCard& card) {
  const uint32_t colors = (card.told & HandCard::kToldColor) != 0 ? card.colors : 0u;
  const uint32_t ranks = (card.told & HandCard::kToldRank) != 0 ? card.ranks : 0u;
  return colors | ranks << p.color_count;
}

template <int N>
GE_FN void write_knowledge(const W<N>& w, BitRow& bits, int seat, bool seer) {
  const Params& p = w.params();
  const int row = seat * p.hand_size, count = known_bits(p);
  for (int i = 0; i < p.hand_size; ++i) {
    const HandCard card = shown_card(p, get<Hands<N>, HandCard>(w, row + i), seer);
    bits.append64(plausible_cards(p, card) | uint64_t{told_values(p, card)} << p.kind_count, count);
  }
}

/// For each card two bits: its copies that are neither discarded nor played.
GE_FN uint64_t hidden_copies(const Params& p, const Board& board, const Discards& discards) {
  uint64_t copies = 0;
  for (int card = 0; card < p.kind_count; ++card) {
    const int color = color_of(p, card), rank = rank_of(p, card);
    const int there = copies_of(rank, p.rank_count);
    const uint64_t gone = discards.discards >> discard_place(p, color, rank) & ones(there);
    // The copies of a card are set from the lowest bit on: 0, 1, 3 or 7.
    const int discarded = int(gone & 1u) + int(gone >> 1 & 1u) + int(gone >> 2 & 1u);
    const uint32_t firework = board.fireworks >> color * p.rank_count & p.all_ranks;
    const int played = firework >> rank != 0 ? 1 : 0;
    copies |= uint64_t(there - discarded - played) << 2 * card;
  }
  return copies;
}

template <int N>
GE_FN void write_beliefs(const W<N>& w, FloatBits& bits, int seat, bool seer, uint64_t copies) {
  const Params& p = w.params();
  const int row = seat * p.hand_size;
  for (int i = 0; i < p.hand_size; ++i) {
    const HandCard card = shown_card(p, get<Hands<N>, HandCard>(w, row + i), seer);
    const uint32_t plausible = plausible_cards(p, card);
    int sum = 0;
    for (int k = 0; k < p.kind_count; ++k)
      // Copies in hands count too, the own ones among them: those are what is asked about.
      sum += (plausible >> k & 1u) != 0 ? int(copies >> 2 * k & 3u) : 0;
    for (int k = 0; k < p.kind_count; ++k) {
      const int count = (plausible >> k & 1u) != 0 ? int(copies >> 2 * k & 3u) : 0;
      bits.append_value(sum != 0 ? float(count) / float(sum) : 0.0f);
    }
    bits.append(told_values(p, card), p.color_count + p.rank_count);
  }
}

// ---- rows

template <int N, class Bits>
GE_FN void write_seen(const W<N>& w, Bits& bits, int observer) {
  const Params& p = w.params();
  for (int offset = 1; offset < p.player_count; ++offset)
    write_hand(w, bits, seat_after(p, observer, offset));
  write_public(w, bits, observer);
}

template <int N>
GE_FN void observe(const W<N>& w, BitRow& row, Slot me) {
  const Params& p = w.params();
  write_seen(w, row, me.row);
  if (p.observation_type == kMinimal) return;
  const bool seer = p.observation_type == kSeer;
  for (int offset = 0; offset < p.player_count; ++offset)
    write_knowledge(w, row, seat_after(p, me.row, offset), seer);
}

template <int N>
GE_FN void observe_beliefs(const W<N>& w, FloatRow& row, Slot me) {
  const Params& p = w.params();
  FloatBits bits(row);
  write_seen(w, bits, me.row);
  if (p.observation_type == kMinimal) return;
  const bool seer = p.observation_type == kSeer;
  const uint64_t copies = hidden_copies(p, get<Board>(w), get<Discards>(w));
  for (int offset = 0; offset < p.player_count; ++offset)
    write_beliefs(w, bits, seat_after(p, me.row, offset), seer, copies);
}

template <int N>
GE_FN void mask_moves(const W<N>& w, BitRow& row, Slot me) {
  const Params& p = w.params();
  const Board board = get<Board>(w);
  const bool on_turn = player_of(p, board) == me.row;
  row.append64(on_turn ? legal_moves(w, board) : 0, p.move_count);
  if (p.noop) row.append(on_turn ? 0u : 1u, 1);
}

template <int N>
GE_FN void show_state(const W<N>& w, BitRow& row) {
  const Params& p = w.params();
  for (int seat = 0; seat < p.player_count; ++seat) write_hand(w, row, seat);
  write_public(w, row, 0);
  for (int seat = 0; seat < p.player_count; ++seat) write_knowledge(w, row, seat, false);
  const Board board = get<Board>(w);
  row.append(1u << player_of(p, board), p.player_count);
  row.append64(thermometer(board.turns_left, p.player_count), p.player_count);
}

}  // namespace gpu_envs::envs::hanabi
