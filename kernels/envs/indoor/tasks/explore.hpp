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
  bool bps_compatible = false;
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
/// Beside the picture.
struct Numbers {
  float gps[2], compass;
  static constexpr auto describe() {
    return fields(
        field("gps", &Numbers::gps,
              "how far ahead and to the right of the start the agent is, as it stood then")
            .in("m"),
        field("compass", &Numbers::compass, "how far it has turned to the left since").in("rad"));
  }
};
struct Params : HouseParams {
  int32_t bps_compatible;
};
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
struct Task : Single<Site> {
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
struct Schema {
  using Settings = explore::Settings;
  using Params = explore::Params;
  using Options = indoor::Options;
  using ResetSettings = indoor::ResetSettings;
  using Varied = explore::Varied;
  using Assets = hs::HouseAssets;
  using Action = Act;
  using Agent = Walker;
  using tables = Types<Walker, Task, Cells, Trail, Solids>;
  static constexpr Tuning tuning{.cpu_block = 1, .cuda_block = 1, .rare_resets = true};
  static Params resolve(Settings& s) {
    (void)houses_of(s);
    return {params_of(s, RowShape<Numbers>::elements), s.bps_compatible ? 1 : 0};
  }
  static Assets make_assets(const Settings& s, const Params&, AssetMaker& make) {
    return hs::make_houses(houses_of(s), make);
  }
  static Options resolve_options(const ResetSettings& settings, const Params& params,
                                 const Assets& assets) {
    return read_episode(settings, assets, params.house_count, false);
  }
};
using W = World<Schema>;

// ---- rules

/// Number of a cell's bit. Houses are smaller than the map.
GE_FN int bit_of(const Offset& offset) {
  const auto cell = [](float metres) GE_LAMBDA {
    const float within = metres > float(kReach) ? float(kReach) : metres;
    return to_int(within < -float(kReach) ? -float(kReach) : within) + kReach;
  };
  return cell(offset.ahead) * kAcross + cell(offset.right);
}
GE_FN void begin(const W& w, Site& site, Rows<Walker, Body> bodies, Rows<Walker, Trip> trips,
                 Rows<Cells, Word> cells) {
  site = begun_site(w);
  bodies.set(0, {site.start_x, site.start_y, site.start_yaw});
  trips.set(0, {0, 0});
  for (int k = 0; k < kWords; ++k) cells.set(k, {0u});
  const int bit = bit_of({0.0f, 0.0f, 0.0f});
  cells.set(bit / 32, {1u << bit % 32});
}
GE_FN void walk(const W& w, Body& body, Trip& trip, const Act& chosen, Ending& ending) {
  act(w, chosen, body);
  trip.stopped = chosen.way == 0 ? 1 : 0;
  end_at(is_late(w), trip.stopped, ending);
}
/// Counts the cell that the agent has come to.
GE_FN void mark(const W& w, const Site& site, Rows<Walker, Body> bodies, Rows<Walker, Trip> trips,
                Rows<Walker, Reward> rewards, Rows<Cells, Word> cells) {
  const int bit = bit_of(offset_of(site, bodies.get(0)));
  const uint32_t word = cells.get(bit / 32).bits, cell = 1u << bit % 32;
  const bool is_new = (word & cell) == 0;
  cells.set(bit / 32, {word | cell});
  Trip trip = trips.get(0);
  trip.cells = min(trip.cells + (is_new ? 1 : 0), kAcross * kAcross);
  trips.set(0, trip);
  rewards.set(0, {is_new ? w.varied().cell_reward : 0.0f});
}

// ---- what is shown

struct Observation : Image {
  static GE_FN const ImageForm& form(const Params& p) { return p.picture.form; }
};
GE_FN void tell(const W& w, Numbers& numbers, const Body& body) {
  const Offset offset = offset_of(get<Site>(w), body);
  numbers = {{offset.ahead, offset.right}, offset.turned};
}
struct Measures {
  float cells;
  static constexpr auto describe() {
    return fields(field("cells", &Measures::cells, "cells come to, without the first"));
  }
  static GE_FN Measures of(const W& w, int) { return {float(get<Walker, Trip>(w, 0).cells)}; }
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
inline hs::Point corner_of_cell(const Site& site, int ahead, int right) {
  float sine, cosine;
  sincos_bounded(site.start_yaw, sine, cosine);
  const float u = float(ahead), v = float(right);
  return {site.start_x - u * sine + v * cosine, site.start_y + u * cosine + v * sine};
}
inline Scene scene(const W& w) {
  const Site site = get<Site>(w);
  Map map(w, get<Walker, Body>(w, 0));
  for (int k = 0; k < kAcross * kAcross; ++k) {
    if ((get<Cells, Word>(w, k / 32).bits >> k % 32 & 1u) == 0) continue;
    // Cut off towards zero, so cells that touch the start's axes reach to both sides.
    const int ahead = k / kAcross - kReach, right = k % kAcross - kReach;
    const int low_u = ahead > 0 ? ahead : ahead - 1, high_u = ahead < 0 ? ahead : ahead + 1;
    const int low_v = right > 0 ? right : right - 1, high_v = right < 0 ? right : right + 1;
    map.outline({corner_of_cell(site, low_u, low_v), corner_of_cell(site, low_u, high_v),
                 corner_of_cell(site, high_u, high_v), corner_of_cell(site, high_u, low_v)});
  }
  return map.finish();
}
inline std::string text(const W& w, int) {
  std::string more;
  add_number(more, ", ", double(get<Walker, Trip>(w, 0).cells), 0, " cells");
  return house_text(w, get<Walker, Body>(w, 0), nullptr, more);
}

struct Environment {
  using Schema = explore::Schema;
  using Observation = explore::Observation;
  using Numbers = explore::Numbers;
  using Measures = explore::Measures;
  using State = explore::State;
  using Reset = Stages<EachWorld<&begin>, Each<&wipe<W>>>;
  using Step = Stages<Each<&walk>, EachWorld<&mark>, EachWorld<&trace<Walker, W>>>;
  using Observe = Stages<ge::Observe<&cameras::draw<Sight<Schema, Walker>, W>>,
                         ObserveNumbers<&tell>, ObserveState<&show_state>>;
  static constexpr Card card{.doc = "See as much as one can of a house that one has never seen.",
                             .max_episode_steps = 500,
                             .render_fps = 10};
  static constexpr Hooks<Schema> hooks{.action_name = &act_name<Params>,
                                       .action_key = &act_key<Params>,
                                       .text = &text,
                                       .scene = &scene};
};
using Builds = ge::Builds<Build<"Explore-v0", Environment>>;

}  // namespace gpu_envs::envs::explore
