// Symmetries: players may call the colours by other names. Host only.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "engine/described/symmetry.hpp"
#include "envs/hanabi/observe.hpp"

namespace gpu_envs::envs::hanabi {

/// The true colour behind each name.
using ColorNames = std::array<int32_t, kMostColors>;

/// Adds the true places of a block of `count` colours with `per_color` places each.
inline void add_colors(std::vector<int32_t>& places, const Params& p, const ColorNames& names,
                       int per_color) {
  const auto first = int32_t(places.size());
  for (int color = 0; color < p.color_count; ++color)
    for (int k = 0; k < per_color; ++k) places.push_back(first + names[color] * per_color + k);
}
/// Adds places that have nothing to do with colours.
inline void add_same(std::vector<int32_t>& places, int64_t count) {
  for (int64_t k = 0; k < count; ++k) places.push_back(int32_t(places.size()));
}

/// Adds the true places of a field of the observation.
inline void add_field_places(std::vector<int32_t>& places, const Params& p, const ColorNames& names,
                             const FieldInfo& field) {
  const int64_t count = field.elements();
  if (field.name == "hands" || field.name == "last_card" || field.name == "fireworks") {
    for (int64_t k = 0; k < count; k += p.kind_count) add_colors(places, p, names, p.rank_count);
  } else if (field.name == "discards") {
    add_colors(places, p, names, p.copies_per_color);
  } else if (field.name == "last_color") {
    add_colors(places, p, names, 1);
  } else if (field.name == "knowledge") {
    for (int64_t k = 0; k < count; k += known_bits(p)) {
      add_colors(places, p, names, p.rank_count);
      add_colors(places, p, names, 1);
      add_same(places, p.rank_count);
    }
  } else {
    add_same(places, count);
  }
}

inline Symmetry symmetry_of(const Params& p, const ColorNames& names) {
  Symmetry found;
  for (const FieldInfo& field : observation_fields(p))
    add_field_places(found.observation, p, names, field);
  const Blocks first = move_blocks(p);
  add_same(found.actions, first.color);
  for (int offset = 1; offset < p.player_count; ++offset) add_colors(found.actions, p, names, 1);
  add_same(found.actions, Move::choices(p) - first.rank);
  return found;
}

/// All orders of the colours, from the true one on.
inline std::vector<Symmetry> color_symmetries(const Params& p) {
  std::vector<Symmetry> all;
  ColorNames names;
  std::iota(names.begin(), names.end(), 0);
  do all.push_back(symmetry_of(p, names));
  while (std::next_permutation(names.begin(), names.begin() + p.color_count));
  return all;
}

}  // namespace gpu_envs::envs::hanabi
