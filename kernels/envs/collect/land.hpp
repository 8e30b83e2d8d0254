// The land of a level: its size, hills of noise or of a level by hand, and the boxes that they are
// drawn as.
#pragma once

#include "envs/collect/tables.hpp"
#include "voxel/draws.hpp"
#include "voxel/noise.hpp"

namespace gpu_envs::envs::collect {

GE_FN uint32_t hill_colour(const Draw& d, int i) {
  constexpr uint32_t kColours[] = {
      voxel::kWhite,           voxel::kVeryLightGreen, voxel::kVeryLightBlue, voxel::kVeryLightGrey,
      voxel::kVeryLightOrange, voxel::kGrey,           voxel::kDarkGrey};
  return kColours[d.below(i, 7)];
}
GE_FN int tenths(float frequency) {
  return to_int(floor(10.0f * frequency + 0.5f));
}
GE_FN void draw_land(const W& w, Land& land) {
  const Varied v = w.varied();
  land = {};
  land.hill_colour = voxel::kVeryLightGreen, land.floor_colour = voxel::kDarkGrey;
  if (w.options().laid != 0) return;
  const Draw sides = draw<"collect_sides">(w, 0), hills = draw<"collect_hills">(w, 0);
  const Draw looks = draw<"collect_looks">(w, 0);
  land.side_x = voxel::between(sides, 0, v.side_low, v.side_high);
  land.side_y = voxel::between(sides, 1, v.side_low, v.side_high);
  land.tenths = voxel::between(hills, 0, tenths(v.frequency_low), tenths(v.frequency_high));
  land.octaves = voxel::between(hills, 1, v.octaves_low, v.octaves_high);
  land.relief = voxel::between(hills, 2, v.relief_low, v.relief_high);
  land.ground = v.ground_low + hills.uniform(3) * (v.ground_high - v.ground_low);
  land.hill_colour = hill_colour(looks, 0);
  land.floor_colour = looks.below(1, 3) == 0 ? voxel::kGrey : voxel::kDarkGrey;
}
GE_FN void shuffle(const W& w, Rows<Permutation, Number> numbers) {
  for (int k = 0; k < 256; ++k) numbers.set(k, {uint8_t(k)});
  for (int k = 255; k > 0; --k) {
    const int other = int(draw<"collect_permutation">(w, k / 4).below(k % 4, uint32_t(k + 1)));
    const Number number = numbers.get(k);
    numbers.set(k, numbers.get(other));
    numbers.set(other, number);
  }
}

/// The land's border is flat.
GE_FN int drawn_height(const W& w, int x, int y) {
  const Land land = get<Land>(w);
  if ((x < 1) | (x >= land.side_x - 1) | (y < 1) | (y >= land.side_y - 1)) return 0;
  const float scale = float(land.tenths) * 0.1f / kWaves;
  const float sum =
      voxel::octaves_at(float(x) * scale, float(y) * scale, land.octaves,
                        [&](int k) GE_LAMBDA { return int{get<Permutation, Number>(w, k).value}; });
  const float noise = clamp(0.5f + 0.5f * sum, 0.0f, 1.0f);
  const float height = float(land.relief) * (noise - land.ground);
  return height >= 1.0f ? to_int(floor(height + 0.5f)) : 0;
}
GE_FN void raise(const W& w, Slot slot, voxel::Column& column) {
  const int x = slot.row / kSide, y = slot.row % kSide;
  const voxel::Laid& laid = w.options();
  column.height = uint8_t(laid.laid != 0 ? voxel::laid_height(laid, x, y) : drawn_height(w, x, y));
}

GE_FN void merge_hills(const W& w, Land& land, Rows<Game::RawHills, voxel::Hill> hills,
                       Rows<Game::Cover, voxel::Covered> cover) {
  land.hills = voxel::HillMerger<Game>(w, cover).merge(hills);
}
using NewLand =
    chain<Stages<EachWorld<&draw_land>, EachWorld<&shuffle>, Each<&raise>, EachWorld<&merge_hills>>,
          voxel::Copied<Game, Land, &Land::hills, Game::RawHills, Game::Hills>::type>;

}  // namespace gpu_envs::envs::collect
