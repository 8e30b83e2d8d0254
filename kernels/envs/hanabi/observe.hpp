// Observations: the canonical encoding of the Hanabi Learning Environment (its
// canonical_encoders.cc, Apache-2.0), bit for bit. Seats are relative to the observer, who is 0.
// The same writers make the observation in bits, the one with probabilities, and the central state.
#pragma once

#include <vector>

#include "envs/hanabi/rules.hpp"

namespace gpu_envs::envs::hanabi {

// ---- sizes

/// Bits per card of the knowledge section: plausible cards, told colour and told rank.
GE_FN constexpr int known_bits(const Params& p) {
  return p.kind_count + p.color_count + p.rank_count;
}
GE_FN constexpr int hands_bits(const Params& p, int hands) {
  return hands * p.hand_size * p.kind_count;
}
GE_FN constexpr int last_move_bits(const Params& p) {
  return 2 * p.player_count + 4 + p.color_count + p.rank_count + 2 * p.hand_size + p.kind_count + 2;
}
/// Bits between the hands and the knowledge.
GE_FN constexpr int public_bits(const Params& p) {
  return p.player_count + p.undealt + p.kind_count + p.max_information_tokens + p.max_life_tokens +
         p.deck_size + last_move_bits(p);
}
GE_FN constexpr int knowledge_bits(const Params& p) {
  return p.player_count * p.hand_size * known_bits(p);
}
/// Upper bound of a row's length with `slots` cards in the hands.
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
  add_field(all, "short_hands", {players}, "bits of the players whose hand lacks a card");
  add_field(all, "deck", {p.undealt}, "thermometer of the cards left in the deck");
  add_field(all, "fireworks", {p.color_count, p.rank_count},
            "one-hot of the highest rank played, for each colour");
  add_field(all, "information_tokens", {p.max_information_tokens},
            "thermometer of the information tokens");
  add_field(all, "life_tokens", {p.max_life_tokens}, "thermometer of the life tokens");
  add_field(all, "discards", {p.color_count, p.copies_per_color},
            "thermometer of the discarded copies, for each rank of each colour");
  add_field(all, "last_actor", {players}, "one-hot of the player who moved last");
  add_field(all, "last_type", {4},
            "one-hot of the last move: play, discard, tell colour, tell rank");
  add_field(all, "last_target", {players}, "one-hot of the player who was given the last hint");
  add_field(all, "last_color", {p.color_count}, "one-hot of the colour that was told last");
  add_field(all, "last_rank", {p.rank_count}, "one-hot of the rank that was told last");
  add_field(all, "last_touched", {hand}, "bits of the target's cards that the last hint named");
  add_field(all, "last_position", {hand},
            "one-hot of the position of the card played or discarded last");
  add_field(all, "last_card", {p.kind_count}, "one-hot of the card played or discarded last");
  add_field(all, "last_scored", {1}, "whether the last play succeeded; 1: yes");
  add_field(all, "last_token", {1}, "whether the last play brought an information token; 1: yes");
}
inline void add_knowledge_field(std::vector<FieldInfo>& all, const Params& p) {
  add_field(all, "knowledge", {p.player_count, p.hand_size, known_bits(p)},
            "for each card: the cards that it can be, its colour and its rank as told");
}
inline std::vector<FieldInfo> observation_fields(const Params& p) {
  std::vector<FieldInfo> all;
  add_field(all, "hands", {p.player_count - 1, p.hand_size, p.kind_count},
            "one-hot cards of the other players, from the next one on, the oldest card first");
  add_public_fields(all, p);
  if (p.observation_type != kMinimal) add_knowledge_field(all, p);
  return all;
}

struct ActionMask : WideRow<bool> {
  static constexpr int capacity = kMostChoices;
  static GE_FN int elements(const Params& p) { return Move::choices(p); }
  static std::vector<FieldInfo> describe(const Params& p) {
    return {wide_field("legal", {Move::choices(p)}, "moves that are legal now; 1: legal")};
  }
};

// ---- parts of a row

/// Writes bits as floats, with the interface of BitRow.
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

/// Distance from the observer to a seat, in the order of turns.
GE_FN int offset_of(const Params& p, int observer, int seat) {
  return seat >= observer ? seat - observer : seat - observer + p.player_count;
}

GE_FN void write_last_move(const Params& p, auto& bits, int observer, const LastMove& last) {
  const uint32_t any = last.type != LastMove::kNone ? 1u : 0u;
  const uint32_t hints_color = last.type == LastMove::kTellColor ? 1u : 0u;
  const uint32_t hints_rank = last.type == LastMove::kTellRank ? 1u : 0u;
  // Sections of a play or discard are zeros after a hint, and those of a hint after a play or
  // discard.
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

/// `count` ones; clamped, because `simulator.set` may have written a larger number.
GE_FN uint64_t thermometer(int count, int most) {
  return ones(min(count, most));
}

/// The card as the knowledge section shows it; a seer knows its colour and rank.
GE_FN HandCard shown_card(const Params& p, const HandCard& card, bool seer) {
  if (!seer || !is_held(card)) return card;
  return {card.card, uint8_t(1u << color_of(p, card.card)), uint8_t(1u << rank_of(p, card.card)),
          HandCard::kHeld | HandCard::kToldColor | HandCard::kToldRank};
}

/// A bit for each card that this one can be: each plausible colour with all plausible ranks.
GE_FN uint32_t plausible_cards(const Params& p, const HandCard& card) {
  // Bit c moves to bit c * rank_count, so that the product has the ranks of each colour side by
  // side.
  const uint32_t colors = card.colors;
  const int step = p.rank_count - 1;
  const uint32_t spread = (colors & 1u) | (colors & 2u) << step | (colors & 4u) << 2 * step |
                          (colors & 8u) << 3 * step | (colors & 16u) << 4 * step;
  return spread * card.ranks;
}
/// Bits of the told colour, then of the told rank. A hint leaves only one plausible value.
GE_FN uint32_t told_values(const Params& p, const HandCard& card) {
  const uint32_t colors = (card.told & HandCard::kToldColor) != 0 ? card.colors : 0u;
  const uint32_t ranks = (card.told & HandCard::kToldRank) != 0 ? card.ranks : 0u;
  return colors | ranks << p.color_count;
}

/// Two bits for each card: its copies that are neither discarded nor played.
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

// ---- what players see

template <int N>
struct Views {
  using W = World<Schema<N>>;
  using R = Rules<N>;
  using Hands = typename Schema<N>::Hands;

  struct Observation : WideRow<bool> {
    static constexpr int capacity = most_elements(N);
    static GE_FN int elements(const Params& p) {
      return hands_bits(p, p.player_count - 1) + public_bits(p) +
             (p.observation_type != kMinimal ? knowledge_bits(p) : 0);
    }
    static std::vector<FieldInfo> describe(const Params& p) { return observation_fields(p); }
  };

  /// The sections of Observation, with probabilities in place of bits for the plausible cards.
  struct BeliefObservation : WideRow<float> {
    static constexpr int capacity = most_elements(N);
    static GE_FN int elements(const Params& p) { return Observation::elements(p); }
    static std::vector<FieldInfo> describe(const Params& p) { return observation_fields(p); }
  };

  /// For a critic: all hands by seat, what is public as seen from seat 0, and what the players were
  /// told.
  struct State : WideRow<bool> {
    static constexpr int capacity = most_elements(N);
    static GE_FN int elements(const Params& p) {
      return hands_bits(p, p.player_count) + public_bits(p) + knowledge_bits(p) +
             2 * p.player_count;
    }
    static std::vector<FieldInfo> describe(const Params& p) {
      std::vector<FieldInfo> all;
      add_field(all, "hands", {p.player_count, p.hand_size, p.kind_count},
                "one-hot cards of all players, the oldest card first");
      add_public_fields(all, p);
      add_knowledge_field(all, p);
      add_field(all, "player", {p.player_count}, "one-hot of the player on turn");
      add_field(all, "turns_left", {p.player_count},
                "thermometer of the moves left once the deck is empty");
      return all;
    }
  };

  // ---- sections, for any writer of bits

  /// One-hot cards of a hand.
  static GE_FN void write_hand(const W& w, auto& bits, int seat) {
    const Params& p = w.params();
    const int row = seat * p.hand_size;
    for (int i = 0; i < p.hand_size; ++i) {
      const HandCard card = get<Hands, HandCard>(w, row + i);
      // A place without a card is all zeros.
      bits.append((is_held(card) ? 1u : 0u) << card.card, p.kind_count);
    }
  }

  /// What all players see: deck, fireworks, tokens, discards, last move.
  static GE_FN void write_public(const W& w, auto& bits, int observer) {
    const Params& p = w.params();
    const Board board = get<Board>(w);
    // Rotated, so that the observer's bit is the lowest.
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

  /// What hints say about each card of a hand.
  static GE_FN void write_knowledge(const W& w, BitRow& bits, int seat, bool seer) {
    const Params& p = w.params();
    const int row = seat * p.hand_size, count = known_bits(p);
    for (int i = 0; i < p.hand_size; ++i) {
      const HandCard card = shown_card(p, get<Hands, HandCard>(w, row + i), seer);
      bits.append64(plausible_cards(p, card) | uint64_t{told_values(p, card)} << p.kind_count,
                    count);
    }
  }

  static GE_FN void write_beliefs(const W& w, FloatBits& bits, int seat, bool seer,
                                  uint64_t copies) {
    const Params& p = w.params();
    const int row = seat * p.hand_size;
    for (int i = 0; i < p.hand_size; ++i) {
      const HandCard card = shown_card(p, get<Hands, HandCard>(w, row + i), seer);
      const uint32_t plausible = plausible_cards(p, card);
      int sum = 0;
      for (int k = 0; k < p.kind_count; ++k)
        // Copies in hands count, too, the observer's own among them.
        sum += (plausible >> k & 1u) != 0 ? int(copies >> 2 * k & 3u) : 0;
      for (int k = 0; k < p.kind_count; ++k) {
        const int count = (plausible >> k & 1u) != 0 ? int(copies >> 2 * k & 3u) : 0;
        bits.append_value(sum != 0 ? float(count) / float(sum) : 0.0f);
      }
      bits.append(told_values(p, card), p.color_count + p.rank_count);
    }
  }

  // ---- rows

  /// All sections but the knowledge.
  static GE_FN void write_seen(const W& w, auto& bits, int observer) {
    const Params& p = w.params();
    for (int offset = 1; offset < p.player_count; ++offset)
      write_hand(w, bits, seat_after(p, observer, offset));
    write_public(w, bits, observer);
  }

  static GE_FN void observe(const W& w, BitRow& row, Slot me) {
    const Params& p = w.params();
    write_seen(w, row, me.row);
    if (p.observation_type == kMinimal) return;
    const bool seer = p.observation_type == kSeer;
    for (int offset = 0; offset < p.player_count; ++offset)
      write_knowledge(w, row, seat_after(p, me.row, offset), seer);
  }

  static GE_FN void observe_beliefs(const W& w, FloatRow& row, Slot me) {
    const Params& p = w.params();
    FloatBits bits(row);
    write_seen(w, bits, me.row);
    if (p.observation_type == kMinimal) return;
    const bool seer = p.observation_type == kSeer;
    const uint64_t copies = hidden_copies(p, get<Board>(w), get<Discards>(w));
    for (int offset = 0; offset < p.player_count; ++offset)
      write_beliefs(w, bits, seat_after(p, me.row, offset), seer, copies);
  }

  /// Legal moves; a player who is not on turn has none but the no-op.
  static GE_FN void mask_moves(const W& w, BitRow& row, Slot me) {
    const Params& p = w.params();
    const Board board = get<Board>(w);
    const bool on_turn = player_of(p, board) == me.row;
    row.append64(on_turn ? R::legal_now(w, board) : 0, p.move_count);
    if (p.noop) row.append(on_turn ? 0u : 1u, 1);
  }

  static GE_FN void show_state(const W& w, BitRow& row) {
    const Params& p = w.params();
    for (int seat = 0; seat < p.player_count; ++seat) write_hand(w, row, seat);
    write_public(w, row, 0);
    for (int seat = 0; seat < p.player_count; ++seat) write_knowledge(w, row, seat, false);
    const Board board = get<Board>(w);
    row.append(1u << player_of(p, board), p.player_count);
    row.append64(thermometer(board.turns_left, p.player_count), p.player_count);
  }
};

}  // namespace gpu_envs::envs::hanabi
