// Which levels a simulator plays: parameters, assets, and the level of an episode. For every
// environment of the bank.
//
// What may differ by world, its Varied, has these members:
//
//   int32_t pushes_low = 0, pushes_high = kMostPushes;
//   const char* problem() const { return level_problem(*this); }
#pragma once

#include <algorithm>
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
            "levels by the fewest pushes that solve them; easy: to 8; medium: 9 to 19; hard: 20 "
            "and more")
          .named("any", "easy", "medium", "hard"),
      field(
          "pushes_low", &S::pushes_low,
          "fewest pushes of a level's shortest solution; where no level lies between low and high, "
          "the next harder ones are played, or else the hardest")
          .within(0, kMostPushes)
          .from_reset(),
      field("pushes_high", &S::pushes_high, "most pushes of it")
          .within(0, kMostPushes)
          .from_reset(),
      field("levels", &S::levels,
            "levels of your own in place of the bank, as Boxoban writes them: a text, or the path "
            "of a file; pushes do not choose among them"),
      field("symmetries", &S::symmetries,
            "true: an episode turns or mirrors its level in one of 8 ways, drawn at random"));
}

/// What does not go together.
template <class V>
const char* level_problem(const V& v) {
  return v.pushes_low > v.pushes_high ? "pushes_low is above pushes_high" : nullptr;
}

/// For one reset.
struct LevelOptions {
  int32_t level = -1, symmetry = -1;
  static constexpr auto describe() {
    return fields(
        field("level", &LevelOptions::level,
              "number of the level among those of split and difficulty, by their pushes; -1: "
              "drawn")
            .within(-1, 1 << 30),
        field("symmetry", &LevelOptions::symmetry,
              "how the level is turned; 0: as it stands, 1: left and right exchanged, 2: "
              "top and bottom, 4: rows and columns, or a sum of these; -1: drawn")
            .within(-1, kSymmetries - 1));
  }
};

struct LevelAssets {
  Asset<Level> levels;    // by their pushes
  Asset<int32_t> firsts;  // the first level with as many pushes or more; kMostPushes + 2 numbers
};

/// Most bytes of a text of levels: about 500,000 of them.
inline constexpr size_t kMostText = size_t{64} << 20;

template <class S>
std::vector<Level> own_levels(const S& s, AssetMaker& make) {
  const bool is_any = s.pushes_low == 0 && s.pushes_high == kMostPushes;
  if (s.split != 0 || s.difficulty != kAnyGrade || !is_any)
    make.refuse(
        "split, difficulty and pushes choose levels of the bank: leave them out beside levels");
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
inline int pushes_of(const Level& level) {
  return position_of(level).pushes;
}
template <class S>
LevelAssets make_levels(const S& s, AssetMaker& make) {
  std::vector<Level> found = s.levels.empty() ? levels_of_bank(s, make) : own_levels(s, make);
  const auto is_easier = [](const Level& a, const Level& b) { return pushes_of(a) < pushes_of(b); };
  std::stable_sort(found.begin(), found.end(), is_easier);
  const auto made = make.array<Level>("levels", int64_t(found.size()));
  std::copy(found.begin(), found.end(), made.begin());
  const auto firsts = make.array<int32_t>("firsts", kMostPushes + 2);
  size_t first = 0;
  for (int pushes = 0; pushes < kMostPushes + 2; ++pushes) {
    while (first < found.size() && pushes_of(found[first]) < pushes) ++first;
    firsts[size_t(pushes)] = int32_t(first);
  }
  return {made, firsts};
}

/// Which level an episode plays, and how it is turned.
struct Chosen {
  int32_t level, symmetry;
  static constexpr auto describe() {
    return fields(
        field("level", &Chosen::level,
              "number of the level among those of split and difficulty, by their pushes")
            .any_value(),
        field("symmetry", &Chosen::symmetry, "how it is turned: the reset option `symmetry`")
            .within(0, kSymmetries - 1));
  }
};
/// Levels whose numbers follow one another.
struct Among {
  int32_t first, count;
};
/// Those with `low` to `high` pushes; where there are none, the next harder ones or the hardest.
template <class A>
GE_FN Among levels_between(const A& assets, int low, int high) {
  const int last = int(assets.levels.count) - 1;
  const int first = min(assets.firsts[low], last);
  const int next = position_of(assets.levels[first]).pushes;
  const int begin = assets.firsts[min(low, next)];
  return {begin, assets.firsts[max(high, next) + 1] - begin};
}
template <class W>
GE_FN Chosen choose_level(const W& w, bool symmetries) {
  const Draw drawn = draw<"sokoban_level">(w, 0);
  const LevelOptions& o = w.options();
  const auto v = w.varied();
  const Among among = levels_between(w.assets(), v.pushes_low, v.pushes_high);
  const int turn = symmetries ? int(drawn.below(1, kSymmetries)) : 0;
  const int level = among.first + int(drawn.below(0, uint32_t(among.count)));
  return {o.level < 0 ? level : min(o.level, int(w.assets().levels.count) - 1),
          o.symmetry < 0 ? turn : o.symmetry};
}
template <class W>
GE_FN Position position_of(const W& w, const Chosen& chosen) {
  return turned(position_of(w.assets().levels[chosen.level]), chosen.symmetry);
}

}  // namespace gpu_envs::envs::sokoban
