// Settings, which a user chooses, the presets of the Hanabi Learning Environment, and Params, which
// the rules read. All of it runs once, on the host.
#pragma once

#include <string>

#include "engine/environment.hpp"

namespace gpu_envs::envs::hanabi {

using namespace ge;

enum ObservationType : int32_t { kMinimal, kCardKnowledge, kSeer, kOfPreset };
enum Belief : int32_t { kBits, kV0 };

inline constexpr int kMostPlayers = 5;
inline constexpr int kMostColors = 5;
inline constexpr int kMostRanks = 5;
inline constexpr int kMostCards = 50;   // of a deck, so of all hands too
inline constexpr int kMostTokens = 32;  // of each kind
// Two players with 25 cards each have 60 moves, and the no-op.
inline constexpr int kMostChoices = 61;

struct Settings {
  int32_t preset = 0;
  int32_t player_count = 2;
  int32_t color_count = 0;
  int32_t rank_count = 0;
  int32_t hand_size = 0;
  int32_t max_information_tokens = -1;
  int32_t max_life_tokens = 0;
  int32_t observation_type = kOfPreset;
  int32_t belief = kBits;
  bool random_start_player = false;
  bool noop = true;
  bool keep_score = false;

  static constexpr auto describe() {
    return fields(
        field("preset", &Settings::preset, "game that supplies the options which are not given")
            .named("full", "full_minimal", "small", "very_small"),
        field("player_count", &Settings::player_count, "number of players").within(2, kMostPlayers),
        field("color_count", &Settings::color_count,
              "number of colours of cards; 0: the preset's value")
            .within(0, kMostColors),
        field("rank_count", &Settings::rank_count,
              "number of ranks of each colour; 0: the preset's value")
            .within(0, kMostRanks),
        field("hand_size", &Settings::hand_size,
              "number of cards in a full hand; 0: the preset's value")
            .within(0, kMostCards / 2),
        field("max_information_tokens", &Settings::max_information_tokens,
              "number of information tokens at the start, and the most there can be; -1: the "
              "preset's value")
            .within(-1, kMostTokens),
        field("max_life_tokens", &Settings::max_life_tokens,
              "number of wrong plays that end the game; 0: the preset's value")
            .within(0, kMostTokens),
        field("observation_type", &Settings::observation_type,
              "content of the knowledge section; minimal: no such section; card_knowledge: what "
              "hints said; seer: every card; preset: the preset's choice")
            .named("minimal", "card_knowledge", "seer", "preset"),
        field("belief", &Settings::belief,
              "form of the plausible cards; bits: one bit each; v0: float32 probabilities that "
              "count the discards and the fireworks")
            .named("bits", "v0"),
        field("random_start_player", &Settings::random_start_player,
              "true: a random player begins; false: player 0 begins"),
        field("noop", &Settings::noop,
              "true: one more action, which is the only legal one for players who are not on turn"),
        field("keep_score", &Settings::keep_score,
              "true: losing the last life token costs no points; false: it costs all"));
  }
};

/// Numbers that the rules read.
struct Params {
  int32_t player_count, color_count, rank_count, hand_size;
  int32_t max_information_tokens, max_life_tokens;
  int32_t observation_type, belief;
  bool random_start_player, noop, keep_score;
  int32_t kind_count;        // different cards: color_count * rank_count
  int32_t copies_per_color;  // cards of one colour in the deck
  int32_t deck_size;
  int32_t undealt;      // cards of the deck that are in nobody's hand at the start
  int32_t move_count;   // moves of the player on turn
  int32_t rank_magic;   // kind * rank_magic >> 16 is kind / rank_count
  uint32_t all_ranks;   // a bit per rank
  uint32_t all_colors;  // a bit per colour
};

// ---- presets

inline void fill_in(int32_t& value, int32_t unset, int32_t of_preset) {
  if (value == unset) value = of_preset;
}

/// Fills in the options that the user left to the preset.
inline void fill_in_preset(Settings& s) {
  enum Preset { kFull, kFullMinimal, kSmall, kVerySmall };
  const bool small = s.preset == kSmall || s.preset == kVerySmall;
  const int full_colors = 5, small_colors = s.preset == kVerySmall ? 1 : 2;
  fill_in(s.color_count, 0, small ? small_colors : full_colors);
  fill_in(s.rank_count, 0, 5);
  fill_in(s.hand_size, 0, small ? 2 : s.player_count < 4 ? 5 : 4);
  fill_in(s.max_information_tokens, -1, small ? 3 : 8);
  fill_in(s.max_life_tokens, 0, small ? 1 : 3);
  fill_in(s.observation_type, kOfPreset, s.preset == kFullMinimal ? kMinimal : kCardKnowledge);
}

/// Copies of a card of this rank: three of the lowest, one of the highest, two of the others.
GE_FN constexpr int copies_of(int rank, int rank_count) {
  return rank == 0 ? 3 : rank == rank_count - 1 ? 1 : 2;
}

/// A bit for each of the n lowest places; n from 0 to 63.
GE_FN constexpr uint64_t ones(int n) {
  return (uint64_t{1} << n) - 1;
}

inline Params resolve_settings(Settings& s) {
  fill_in_preset(s);
  Params p{};
  p.player_count = s.player_count, p.color_count = s.color_count, p.rank_count = s.rank_count;
  p.hand_size = s.hand_size;
  p.max_information_tokens = s.max_information_tokens, p.max_life_tokens = s.max_life_tokens;
  p.observation_type = s.observation_type, p.belief = s.belief;
  p.random_start_player = s.random_start_player, p.noop = s.noop, p.keep_score = s.keep_score;
  p.kind_count = s.color_count * s.rank_count;
  for (int rank = 0; rank < s.rank_count; ++rank)
    p.copies_per_color += copies_of(rank, s.rank_count);
  p.deck_size = s.color_count * p.copies_per_color;
  const int held = s.player_count * s.hand_size;
  if (held > p.deck_size)
    throw Error(Fault::value,
                "hand_size must be at most " + std::to_string(p.deck_size / s.player_count) +
                    " here: player_count=" + std::to_string(s.player_count) + " hands of " +
                    std::to_string(s.hand_size) + " are " + std::to_string(held) +
                    " cards, and the deck of color_count=" + std::to_string(s.color_count) +
                    ", rank_count=" + std::to_string(s.rank_count) + " has " +
                    std::to_string(p.deck_size));
  p.undealt = p.deck_size - held;
  p.move_count = 2 * s.hand_size + (s.player_count - 1) * (s.color_count + s.rank_count);
  p.rank_magic = (65536 + s.rank_count - 1) / s.rank_count;
  p.all_ranks = uint32_t(ones(s.rank_count));
  p.all_colors = uint32_t(ones(s.color_count));
  return p;
}

}  // namespace gpu_envs::envs::hanabi
