// Explore: see as much as one can of a house that one has never seen.
//
//   who acts    one agent, who walks 0.25 m ahead, turns by 10 degrees to either side, or stops
//   reward      0.25 for each new cell of a metre that it comes to
//   ends        when the agent stops; cut short after 500 steps
//   rules from  "Large Batch Simulation for Deep Reinforcement Learning" (Shacklett et al., ICLR
//               2021) and its code
//
// Cells lie along the axes of the start; places are divided by a metre and cut off towards zero, as
// in the source, so cells that touch the start's axes are twice as wide.
#pragma once

#include "envs/indoor/indoor.hpp"
#include "envs/indoor/map.hpp"

namespace gpu_envs::envs::explore {

using namespace ge;
using namespace gpu_envs::envs::indoor;

// ---- what is described

inline constexpr int kReach = 64, kAcross = 2 * kReach + 1;  // cells
inline constexpr int kWords = (kAcross * kAcross + 31) / 32;

struct Varied {
  float cell_reward = 0.25f;
  static constexpr auto describe();
};
struct Settings : HouseSettings, Varied {
  Settings() { observation = "depth"; }
  static constexpr auto describe() {
    return std::tuple_cat(
        house_fields<Settings>(),
        fields(field("bps_compatible", &Settings::bps_compatible, "as in BPS: at most 499 steps"),
               field("cell_reward", &Settings::cell_reward, "reward for each new cell")
                   .within(-1000, 1000)),
        cameras::picture_fields<Settings>());
  }
};
constexpr auto Varied::describe() {
  return fields_of<Varied>(Settings::describe());
}
struct Trip {
  int32_t cells, stopped;
  static constexpr auto describe() {
    return fields(field("cells", &Trip::cells, "cells come to, without the first")
                      .within(0, kAcross * kAcross),
                  field("stopped", &Trip::stopped, "1: the agent has stopped").within(0, 1));
  }
};
struct Walker : Agents<1, Body, Trip, Act> {
  static constexpr const char* name = "walker";
};
/// What there is to explore.
struct Floor {
  int32_t cells;
  static constexpr auto describe() {
    return fields(field("cells", &Floor::cells, "cells that have floor, without the first")
                      .within(0, kAcross * kAcross));
  }
};
struct Task : Single<Site, Floor> {
  static constexpr const char* name = "task";
};
/// A word of the map.
struct Word {
  uint32_t bits;
  static constexpr auto describe() {
    return fields(
        field("bits", &Word::bits, "cells come to, from bit 129 (y + 64) + x + 64 on").any_value());
  }
};
struct Cells : Fixed<kWords, Word> {
  static constexpr const char* name = "cells";
};
struct Schema : HouseSchema<Settings, HouseParams, PlaceNumbers, false> {
  using Varied = explore::Varied;
  using Agent = Walker;
  using tables = Types<Walker, Task, Cells, Trail, Solids>;
};
using W = World<Schema>;

// ---- rules

struct Span {
  float low, high;
};
/// Number of a cell along an axis. Houses are smaller than the map.
GE_FN int cell_of(float metres) {
  const float within = metres > float(kReach) ? float(kReach) : metres;
  return to_int(within < -float(kReach) ? -float(kReach) : within);
}
/// Its ends. Cells are cut off towards zero, so the first one reaches to both sides.
GE_FN Span ends_of(int cell) {
  return {float(cell > 0 ? cell : cell - 1), float(cell < 0 ? cell : cell + 1)};
}
GE_FN int bit_at(int ahead, int right) {
  return (ahead + kReach) * kAcross + right + kReach;
}
GE_FN int bit_of(const Offset& offset) {
  return bit_at(cell_of(offset.ahead), cell_of(offset.right));
}
/// Adds a cell; returns whether it is new.
GE_FN bool add_cell(Rows<Cells, Word> cells, int bit) {
  const uint32_t word = cells.get(bit / 32).bits, cell = 1u << bit % 32;
  cells.set(bit / 32, {word | cell});
  return (word & cell) == 0;
}
GE_FN void clear(Rows<Cells, Word> cells) {
  for (int k = 0; k < kWords; ++k) cells.set(k, {0u});
}

/// A rectangle of the floor, from the start.
struct Patch {
  Span ahead, right;  // that it reaches over
  float sine, cosine, x, y, half_x, half_y;

  GE_FN Patch(const Site& site, const hs::Spot& spot) {
    // Bodies may be this far beyond the floor.
    constexpr float kOver = 2.0f * hs::kTouch;
    sincos_bounded(site.start_yaw, sine, cosine);
    x = 0.5f * (spot.low_x + spot.high_x) - site.start_x;
    y = 0.5f * (spot.low_y + spot.high_y) - site.start_y;
    half_x = 0.5f * (spot.high_x - spot.low_x) + kOver;
    half_y = 0.5f * (spot.high_y - spot.low_y) + kOver;
    const float u = y * cosine - x * sine, v = x * cosine + y * sine;
    const float across_u = half_y * abs(cosine) + half_x * abs(sine);
    const float across_v = half_x * abs(cosine) + half_y * abs(sine);
    ahead = {u - across_u, u + across_u};
    right = {v - across_v, v + across_v};
  }
  /// Whether it has a part of a cell that is within its reach: whether the cell reaches over it
  /// along the axes of the house.
  GE_FN bool has(Span u, Span v) const {
    const float mid_u = 0.5f * (u.low + u.high), mid_v = 0.5f * (v.low + v.high);
    const float half_u = 0.5f * (u.high - u.low), half_v = 0.5f * (v.high - v.low);
    const float dx = mid_v * cosine - mid_u * sine - x, dy = mid_u * cosine + mid_v * sine - y;
    return (abs(dx) <= half_x + half_v * abs(cosine) + half_u * abs(sine)) &
           (abs(dy) <= half_y + half_u * abs(cosine) + half_v * abs(sine));
  }
};
/// The cells that have floor, without the first.
GE_FN int count_floor(const W& w, const Site& site, Rows<Cells, Word> cells) {
  const hs::Spots spots = hs::spots_of(w.assets(), site.house);
  int count = -1;
  clear(cells);
  GE_NO_UNROLL
  for (int k = 0; k < spots.count; ++k) {
    const Patch patch(site, spots.at[k]);
    const int last_ahead = cell_of(patch.ahead.high), last_right = cell_of(patch.right.high);
    for (int ahead = cell_of(patch.ahead.low); ahead <= last_ahead; ++ahead)
      for (int right = cell_of(patch.right.low); right <= last_right; ++right)
        if (patch.has(ends_of(ahead), ends_of(right)) && add_cell(cells, bit_at(ahead, right)))
          ++count;
  }
  return max(count, 0);
}
GE_FN void begin(const W& w, Site& site, Floor& floor, Rows<Walker, Body> bodies,
                 Rows<Walker, Trip> trips, Rows<Cells, Word> cells) {
  site = begun_site(w);
  bodies.set(0, {site.start_x, site.start_y, site.start_yaw});
  trips.set(0, {0, 0});
  floor.cells = count_floor(w, site, cells);
  clear(cells);
  (void)add_cell(cells, bit_at(0, 0));
}
GE_FN void walk(const W& w, Body& body, Trip& trip, const Act& chosen, Ending& ending) {
  act(w, chosen, body);
  trip.stopped = chosen.way == 0 ? 1 : 0;
  end_at(is_late(w), trip.stopped, ending);
}
/// Counts the cell that the agent has come to.
GE_FN void mark(const W& w, const Site& site, Rows<Walker, Body> bodies, Rows<Walker, Trip> trips,
                Rows<Walker, Reward> rewards, Rows<Cells, Word> cells) {
  const bool is_new = add_cell(cells, bit_of(offset_of(site, bodies.get(0))));
  Trip trip = trips.get(0);
  trip.cells = min(trip.cells + (is_new ? 1 : 0), kAcross * kAcross);
  trips.set(0, trip);
  rewards.set(0, {is_new ? w.varied().cell_reward : 0.0f});
}

// ---- what is shown

struct Measures {
  float cells, most;
  static constexpr auto describe() {
    return fields(
        field("cells", &Measures::cells, "cells come to, without the first"),
        field("most", &Measures::most, "cells of the house that have floor, without the first"));
  }
  static GE_FN Measures of(const W& w, int) {
    return {float(get<Walker, Trip>(w, 0).cells), float(get<Floor>(w).cells)};
  }
};

/// For critics.
struct State {
  float place[2], facing[2], offset[3], cells, time, house;
  static constexpr auto describe() {
    return fields(
        field("place", &State::place, "x, y of the agent").in("m"),
        field("facing", &State::facing, "x, y of where it looks"),
        field("offset", &State::offset, "how far ahead and to the right of the start, and turned"),
        field("cells", &State::cells, "cells come to").within(0, kAcross * kAcross),
        field("time", &State::time, "share of the episode that is left").within(0, 1),
        field("house", &State::house, "number of the house").within(0, hs::kMostHouses));
  }
};
GE_FN void show_state(const W& w, State& state) {
  const Body body = get<Walker, Body>(w, 0);
  const Offset offset = offset_of(get<Site>(w), body);
  float sine, cosine;
  sincos_bounded(body.yaw, sine, cosine);
  state = {{body.x, body.y},
           {-sine, cosine},
           {offset.ahead, offset.right, offset.turned},
           float(get<Walker, Trip>(w, 0).cells),
           time_left(w),
           float(house_of(w))};
}
/// The corner of a cell, from its place in the map.
inline hs::Point corner_of_cell(const Site& site, float u, float v) {
  float sine, cosine;
  sincos_bounded(site.start_yaw, sine, cosine);
  return {site.start_x - u * sine + v * cosine, site.start_y + u * cosine + v * sine};
}
inline Scene scene(const W& w) {
  const Site site = get<Site>(w);
  Map map(w, get<Walker, Body>(w, 0));
  for (int k = 0; k < kAcross * kAcross; ++k) {
    if ((get<Cells, Word>(w, k / 32).bits >> k % 32 & 1u) == 0) continue;
    const Span u = ends_of(k / kAcross - kReach), v = ends_of(k % kAcross - kReach);
    map.outline({corner_of_cell(site, u.low, v.low), corner_of_cell(site, u.low, v.high),
                 corner_of_cell(site, u.high, v.high), corner_of_cell(site, u.high, v.low)});
  }
  return map.finish();
}
inline std::string text(const W& w, int) {
  std::string more;
  add_number(more, ", ", double(get<Walker, Trip>(w, 0).cells), 0, " of ");
  add_number(more, "", double(get<Floor>(w).cells), 0, " cells");
  return house_text(w, get<Walker, Body>(w, 0), nullptr, more);
}

struct Environment {
  using Schema = explore::Schema;
  using Observation = indoor::Observation;
  using Numbers = PlaceNumbers;
  using Measures = explore::Measures;
  using State = explore::State;
  using Reset = Stages<EachWorld<&begin>, Each<&wipe<W>>>;
  using Step = Stages<Each<&walk>, EachWorld<&mark>, EachWorld<&trace<Walker, W>>>;
  using Observe = Stages<ge::Observe<&cameras::draw<Sight<Schema, Walker>, W>>,
                         ObserveNumbers<&tell_place<W>>, ObserveState<&show_state>>;
  static constexpr Card card{.doc = "See as much as one can of a house that one has never seen.",
                             .max_episode_steps = 500,
                             .render_fps = 10};
  static constexpr Hooks<Schema> hooks{.action_name = &act_name<HouseParams>,
                                       .action_key = &act_key<HouseParams>,
                                       .text = &text,
                                       .scene = &scene};
};
using Builds = ge::Builds<Build<"Explore-v0", Environment>>;

}  // namespace gpu_envs::envs::explore
