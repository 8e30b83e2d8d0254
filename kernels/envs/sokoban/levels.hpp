// Which levels a simulator plays: parameters, assets, and the level of an episode. For every
// environment of the bank.
#pragma once

#include <string>

#include "engine/environment.hpp"
#include "envs/sokoban/bank.hpp"
#include "envs/sokoban/text_levels.hpp"

namespace gpu_envs::envs::sokoban {

enum Difficulty { kAnyGrade, kEasyGrade, kMediumGrade, kHardGrade };

/// What a user sets. An environment's Settings derive from it.
struct LevelSettings {
  int32_t split = 0, difficulty = kAnyGrade;
  std::string levels;
  bool symmetries = true;
};
template <class S>
constexpr auto level_fields() {
  return fields(
      field("split", &S::split,
            "which part of the bank is played: 100,000 levels to train on, 1,000 and 1,000 to "
            "choose a policy and to test it")
          .named("train", "valid", "test"),
      field("difficulty", &S::difficulty,
            "levels by the fewest pushes that solve them; easy: to 8, medium: 9 to 19, hard: 20 "
            "and more")
          .named("any", "easy", "medium", "hard"),
      field("levels", &S::levels,
            "levels of your own in place of the bank, as Boxoban writes them: a text, or the path "
            "of a file"),
      field("symmetries", &S::symmetries,
            "true: an episode turns or mirrors its level in one of 8 ways, drawn at random"));
}

/// For one reset.
struct LevelOptions {
  int32_t level = -1, symmetry = -1;
  static constexpr auto describe() {
    return fields(field("level", &LevelOptions::level,
                        "number of the level among those that are played; -1: drawn")
                      .within(-1, 1 << 30),
                  field("symmetry", &LevelOptions::symmetry,
                        "how the level is turned; 0: as it stands, 1: left and right exchanged, 2: "
                        "top and bottom, 4: rows and columns, or a sum of these; -1: drawn")
                      .within(-1, kSymmetries - 1));
  }
};

struct LevelAssets {
  Asset<Level> levels;
};

/// Most bytes of a text of levels: about 500,000 of them.
inline constexpr size_t kMostText = size_t{64} << 20;

inline std::vector<Level> own_levels(const LevelSettings& s, AssetMaker& make) {
  if (s.split != 0 || s.difficulty != kAnyGrade)
    make.refuse("split and difficulty choose levels of the bank: leave them out beside levels");
  const bool is_text = s.levels.find('\n') != std::string::npos;
  const std::string text = is_text ? s.levels : make.user_text(s.levels, kMostText);
  const std::string where = is_text ? "levels" : "levels: '" + s.levels + "'";
  std::vector<Level> found;
  for (const Position& position : TextLevels::read(text, where)) found.push_back(packed(position));
  return found;
}
inline std::vector<Level> levels_of_bank(const LevelSettings& s, AssetMaker& make) {
  Bank bank;
  if (const char* problem = read_bank(make.file("levels.bin"), bank))
    make.refuse(std::string("levels.bin: ") + problem);
  std::vector<Level> found;
  for (int grade = 0; grade < kGrades; ++grade)
    if (s.difficulty == kAnyGrade || s.difficulty == grade + 1) {
      const auto part = bank.part(s.split, grade);
      found.insert(found.end(), part.begin(), part.end());
    }
  return found;
}
inline LevelAssets make_levels(const LevelSettings& s, AssetMaker& make) {
  const std::vector<Level> found = s.levels.empty() ? levels_of_bank(s, make) : own_levels(s, make);
  const auto made = make.array<Level>("levels", int64_t(found.size()));
  std::copy(found.begin(), found.end(), made.begin());
  return {made};
}

/// Which level an episode plays, and how it is turned.
struct Chosen {
  int32_t level, symmetry;
  static constexpr auto describe() {
    return fields(
        field("level", &Chosen::level, "number of the level among those that are played")
            .any_value(),
        field("symmetry", &Chosen::symmetry, "how it is turned: the reset option `symmetry`")
            .within(0, kSymmetries - 1));
  }
};
template <class W>
GE_FN Chosen choose_level(const W& w, bool symmetries) {
  const Draw drawn = draw<"sokoban_level">(w, 0);
  const LevelOptions& o = w.options();
  const int count = int(w.assets().levels.count);
  const int turn = symmetries ? int(drawn.below(1, kSymmetries)) : 0;
  return {o.level < 0 ? int32_t(drawn.below(0, uint32_t(count))) : min(o.level, count - 1),
          o.symmetry < 0 ? turn : o.symmetry};
}
template <class W>
GE_FN Position position_of(const W& w, const Chosen& chosen) {
  return turned(position_of(w.assets().levels[chosen.level]), chosen.symmetry);
}

}  // namespace gpu_envs::envs::sokoban
