// Observations: the lossless encoding as planes over the grid, element (x, y, plane). Constant
// planes are the background of all rows; a row adds a few elements per chef and object.
#pragma once

#include "envs/overcooked/rules.hpp"

namespace gpu_envs::envs::overcooked {

/// Planes behind those of the chefs (position, then four facings, of each), by encoding.
enum Plane26 {
  kPlanePots,
  kPlaneCounters,
  kPlaneOnionDispensers,
  kPlaneTomatoDispensers,
  kPlaneDishDispensers,
  kPlaneWindows,
  kPlaneOpenOnions,
  kPlaneOpenTomatoes,
  kPlaneSoupOnions,
  kPlaneSoupTomatoes,
  kPlaneTimeLeft,
  kPlaneReady,
  kPlaneDish,
  kPlaneOnion,
  kPlaneTomato,
  kPlaneUrgency,
  kPlanes26
};
enum Plane20 {
  kPlane20Pots,
  kPlane20Counters,
  kPlane20OnionDispensers,
  kPlane20DishDispensers,
  kPlane20Windows,
  kPlane20PotOnions,
  kPlane20TimeCooked,
  kPlane20Soup,
  kPlane20Dish,
  kPlane20Onion,
  kPlanes20
};
/// Steps before the end at which the urgency plane turns on.
inline constexpr uint32_t kUrgent = 40;

GE_FN int planes_of(int encoding, int chefs) {
  return 5 * chefs + (encoding == kLossless20 ? int(kPlanes20) : int(kPlanes26));
}

/// Plane of a kind of furniture, counted behind the chefs' planes; -1: none.
inline int static_plane(const Params& p, int place) {
  constexpr int of26[] = {-1,
                          kPlaneCounters,
                          kPlanePots,
                          kPlaneOnionDispensers,
                          kPlaneTomatoDispensers,
                          kPlaneDishDispensers,
                          kPlaneWindows};
  constexpr int of20[] = {-1, kPlane20Counters,       kPlane20Pots,   kPlane20OnionDispensers,
                          -1, kPlane20DishDispensers, kPlane20Windows};
  return p.encoding == kLossless20 ? of20[place] : of26[place];
}
/// Makes the background of an observation and of the state, which has two more elements.
inline Assets lay_out(const Params& p, AssetMaker& make) {
  const auto row = make.array<uint8_t>("background", p.cell_count * p.planes + 2);
  for (int cell = 0; cell < p.cell_count; ++cell) {
    const int plane = static_plane(p, p.grid[cell]);
    if (plane >= 0) row[size_t(cell * p.planes + 5 * p.player_count + plane)] = 1;
  }
  return {row};
}
inline FieldInfo planes_field(const Params& p) {
  return wide_field("planes", {p.width, p.height, p.planes},
                    "lossless encoding of the kitchen, [x][y][plane]", 0,
                    p.longest_time > 3 ? p.longest_time : 3);
}

/// Writes an object that lies or is held on a cell; `at` is the cell's first element behind the
/// chefs' planes.
GE_FN void show_26(ByteRow& row, int at, const Thing& thing) {
  const int item = thing.item;
  if (is_soup(item)) {
    row.set(at + kPlaneSoupOnions, uint8_t(onions_in(item)));
    row.set(at + kPlaneSoupTomatoes, uint8_t(tomatoes_in(item)));
    row.set(at + kPlaneTimeLeft, thing.left);
    row.set(at + kPlaneReady, thing.left == 0 ? 1 : 0);
  } else if (is_open(item)) {
    row.set(at + kPlaneOpenOnions, uint8_t(onions_in(item)));
    row.set(at + kPlaneOpenTomatoes, uint8_t(tomatoes_in(item)));
  } else {
    row.set(at + (item == kDish ? kPlaneDish : item == kOnion ? kPlaneOnion : kPlaneTomato), 1);
  }
}
/// Writes an object as the 2019 encoding does.
GE_FN void show_20(ByteRow& row, int at, const Thing& thing, bool in_pot, int time) {
  const int item = thing.item;
  if (in_pot) {
    row.set(at + kPlane20PotOnions, uint8_t(onions_in(item)));
    row.set(at + kPlane20TimeCooked, uint8_t(is_soup(item) ? time - thing.left : 0));
  } else {
    row.set(at + (is_soup(item) ? kPlane20Soup : item == kDish ? kPlane20Dish : kPlane20Onion), 1);
  }
}
GE_FN void show_thing(const Params& p, ByteRow& row, int cell, const Thing& thing) {
  if (thing.item == kNothing) return;
  const int at = cell * p.planes + 5 * p.player_count;
  if (p.encoding == kLossless26)
    show_26(row, at, thing);
  else
    show_20(row, at, thing, p.grid[cell] == kPot, p.time[recipe_of(thing.item)]);
}

template <class T>
struct Views {
  using W = World<Schema<T>>;
  using Chefs = typename T::Chefs;
  using Kitchen = typename T::Kitchen;

  struct Observation : WideRow<uint8_t> {
    static constexpr int capacity = T::cells * (5 * T::chefs + kPlanes26);
    static GE_FN int elements(const Params& p) { return p.cell_count * p.planes; }
    static std::vector<FieldInfo> describe(const Params& p) { return {planes_field(p)}; }
    static GE_FN const Asset<uint8_t>& background(const Assets& assets) {
      return assets.background;
    }
  };
  struct State : WideRow<uint8_t> {
    static constexpr int capacity = Observation::capacity + 2;
    static GE_FN int elements(const Params& p) { return p.cell_count * p.planes + 2; }
    static std::vector<FieldInfo> describe(const Params& p) {
      return {planes_field(p),
              wide_field("time", {2}, "steps taken, high byte first, at most 65535", 0, 255)};
    }
    static GE_FN const Asset<uint8_t>& background(const Assets& assets) {
      return assets.background;
    }
  };

  /// Writes the planes that change, as chef `me` sees them.
  static GE_FN void show_planes(const W& w, ByteRow& row, int me) {
    const Params& p = w.params();
    const int n = p.player_count;
    for (int other = 0; other < n; ++other) {
      const Chef chef = get<Chefs, Chef>(w, other);
      // The observer comes first, then the others in order.
      const int k = other == me ? 0 : other < me ? other + 1 : other;
      const int at = chef.cell * p.planes;
      row.set(at + k, 1);
      row.set(at + n + 4 * k + chef.facing, 1);
      show_thing(p, row, chef.cell, {chef.held, 0});
    }
    for (int k = 0; k < p.surface_count; ++k) {
      const int cell = p.surface[k];
      show_thing(p, row, cell, get<Kitchen, Thing>(w, cell));
    }
    const uint32_t end = w.max_steps(), step = w.step();
    if (p.encoding == kLossless26 && end != 0 && step + kUrgent > end)
      for (int cell = 0; cell < p.cell_count; ++cell)
        row.set(cell * p.planes + 5 * n + kPlaneUrgency, 1);
  }

  static GE_FN void observe(const W& w, ByteRow& row, Slot me) { show_planes(w, row, me.row); }
  /// The planes as chef 0 sees them, and the time.
  static GE_FN void show_state(const W& w, ByteRow& row) {
    show_planes(w, row, 0);
    const uint32_t step = w.step() < 0xffffu ? w.step() : 0xffffu;
    const int at = w.params().cell_count * w.params().planes;
    row.set(at, uint8_t(step >> 8));
    row.set(at + 1, uint8_t(step & 255));
  }
};

}  // namespace gpu_envs::envs::overcooked
