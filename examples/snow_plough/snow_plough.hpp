// SnowPlough: clear a square of snow while it goes on snowing.
//
//   who acts    one plough, which drives a cell up, down, left or right at every step
//   reward      1 for each cell that it clears
//   ends        when no snow is left; cut short after 200 steps
//
// An example for docs/writing_an_environment.md: a map from text, a singleton, fields that are
// arrays, draws and what bounds them, a view for terminals and a picture. It is a header like any
// user's own: `python -m gpu_envs build examples/snow_plough/snow_plough.hpp`.
#pragma once

#include "engine/environment.hpp"

namespace gpu_envs::envs::snow_plough {

using namespace ge;

inline constexpr int kSide = 8, kCells = kSide * kSide;

// ---- what is described

/// What a user says. Texts end here: `resolve` makes Params of them, once, on the host.
struct Settings {
  std::string map;
  double snowfall = 0.1;
  static constexpr auto describe() {
    return fields(
        field("map", &Settings::map,
              "eight lines: '#' snow, '.' clear, 'P' the plough; empty: random in each episode"),
        field("snowfall", &Settings::snowfall,
              "probability that it snows on a clear cell in a step")
            .within(0, 1));
  }
};
struct Params {
  float snowfall;
  int32_t drawn;               // every episode has a cover of its own
  int32_t x, y;                // where the plough begins
  uint8_t snow[kSide][kSide];  // of the map, [y][x]
};
struct Move {
  int32_t direction;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("direction", &Move::direction, "0 up, 1 down, 2 left, 3 right").one_of(4));
  }
};
// Ranges of persistent fields are what `Simulator.set` accepts, so that a rule may index with them.
struct Plough {
  int32_t x, y;
  static constexpr auto describe() {
    return fields(field("x", &Plough::x, "column, from the left").within(0, kSide - 1),
                  field("y", &Plough::y, "row, from the top").within(0, kSide - 1));
  }
};
struct Snow {
  uint8_t lies[kSide][kSide];
  int32_t left;
  static constexpr auto describe() {
    return fields(field("lies", &Snow::lies, "1: there is snow, [y][x]").within(0, 1),
                  field("left", &Snow::left, "cells with snow").within(0, kCells));
  }
};
struct View {
  uint8_t snow[kSide][kSide], plough[kSide][kSide];
  static constexpr auto describe() {
    return fields(field("snow", &View::snow, "1: there is snow, [y][x]").within(0, 1),
                  field("plough", &View::plough, "1: the plough is there, [y][x]").within(0, 1));
  }
};

// ---- tables

struct Driver : Agents<1, Plough, Move> {
  static constexpr const char* name = "driver";
};
struct Square : Single<Snow> {
  static constexpr const char* name = "square";
};

/// Eight lines of eight characters with one plough among them.
inline Params read(const Settings& s) {
  std::string cells;
  for (const char c : s.map)
    if (c != '\n' && c != ' ') cells += c;
  if (s.map.empty()) cells = std::string(kCells, '.').replace(kCells / 2 + kSide / 2, 1, "P");
  const auto plough = cells.find('P');
  if (cells.size() != size_t(kCells) || plough == std::string::npos ||
      cells.find('P', plough + 1) != std::string::npos ||
      cells.find_first_not_of("#.P") != std::string::npos)
    throw Error(Fault::value,
                "map: eight lines of eight characters '#', '.' and one 'P' are wanted, got '" +
                    s.map + "'");
  Params p{float(s.snowfall),
           s.map.empty() ? 1 : 0,
           int32_t(plough) % kSide,
           int32_t(plough) / kSide,
           {}};
  for (int k = 0; k < kCells; ++k) p.snow[k / kSide][k % kSide] = cells[size_t(k)] == '#' ? 1 : 0;
  return p;
}

struct Schema {
  using Settings = snow_plough::Settings;
  using Params = snow_plough::Params;
  using Action = Move;
  using Agent = Driver;
  using tables = Types<Driver, Square>;
  static Params resolve(Settings& settings) { return read(settings); }
};
using W = World<Schema>;

// ---- rules: things happen one after the other, so they are systems of EachWorld

// A stream of draws per purpose, a slot per cell: uniform(0) is in [0, 1).
GE_FN void begin(const W& w, Plough& at, Snow& snow) {
  const Params& p = w.params();
  at = {p.x, p.y};
  snow.left = 0;
  for (int k = 0; k < kCells; ++k) {
    const int x = k % kSide, y = k / kSide;
    const bool fell = (draw<"cover">(w, k).uniform(0) < 0.5f) & !((x == at.x) & (y == at.y));
    const bool lies = p.drawn != 0 ? fell : p.snow[y][x] != 0;
    snow.lies[y][x] = lies ? 1 : 0;
    snow.left += lies ? 1 : 0;
  }
}

GE_FN void drive(const W&, Plough& at, Snow& snow, Reward& reward, Ending& ending,
                 const Move& move) {
  const int x = at.x + (move.direction == 3) - (move.direction == 2);
  const int y = at.y + (move.direction == 1) - (move.direction == 0);
  at = {clamp(x, 0, kSide - 1), clamp(y, 0, kSide - 1)};
  const bool cleared = snow.lies[at.y][at.x] != 0;
  snow.lies[at.y][at.x] = 0;
  snow.left = max(snow.left - (cleared ? 1 : 0), 0);  // set from outside, it may be too small
  reward.value = cleared ? 1.0f : 0.0f;
  ending.terminated = snow.left == 0 ? 1u : 0u;
}

// below(i, n) is one of 0 to n - 1, and 0 where n is 0: the clear cell that the snow falls on. It
// may be the plough's own, where nothing lies yet when it drives on.
GE_FN void snow_on(const W& w, Snow& snow) {
  const Draw weather = draw<"weather">(w, 0);
  int rank = int(weather.below(1, uint32_t(kCells - snow.left)));
  const bool falls =
      (snow.left > 0) & (snow.left < kCells) & (weather.uniform(0) < w.params().snowfall);
  for (int k = 0; k < kCells; ++k) {
    uint8_t& lies = snow.lies[k / kSide][k % kSide];
    const bool here = falls & (lies == 0) & (rank == 0);
    rank -= lies == 0 ? 1 : 0;
    lies = here ? 1 : lies;
    snow.left += here ? 1 : 0;
  }
}

// A row is zeros before its function runs. `get<C>(w)` is the component of the one table of one row
// that has it.
GE_FN void look(const W& w, View& view, const Plough& at) {
  const Snow snow = get<Snow>(w);
  for (int k = 0; k < kCells; ++k)
    view.snow[k / kSide][k % kSide] = snow.lies[k / kSide][k % kSide];
  view.plough[at.y][at.x] = 1;
}

// ---- for people

inline std::string text(const W& w, int) {
  const Snow snow = get<Snow>(w);
  const Plough at = get<Plough>(w);
  std::string lines;
  for (int y = 0; y < kSide; ++y) {
    for (int x = 0; x < kSide; ++x) lines += (x == at.x && y == at.y) ? 'P' : ".#"[snow.lies[y][x]];
    lines += '\n';
  }
  return lines;
}
inline Scene scene(const W& w) {
  const Snow snow = get<Snow>(w);
  const Plough at = get<Plough>(w);
  Board board = Board::of_cells(kSide, kSide);
  for (int k = 0; k < kCells; ++k)
    if (snow.lies[k / kSide][k % kSide] != 0)
      board.put(k % kSide, k / kSide, Piece::kSquare, 0.5f, palette::kFaded);
  board.put(at.x, at.y, Piece::kDisc, 0.35f, palette::kRed);
  Scene scene;
  scene.board = board;
  return scene;
}

struct Environment {
  using Schema = snow_plough::Schema;
  using Observation = View;
  using Reset = Stages<EachWorld<&begin>>;
  using Step = Stages<EachWorld<&drive>, EachWorld<&snow_on>>;
  using Observe = Stages<ge::Observe<&look>>;
  static constexpr Card card{.doc = "Clear a square of snow while it goes on snowing.",
                             .max_episode_steps = 200,
                             .render_fps = 8};
  static constexpr Hooks<Schema> hooks{
      .action_name =
          [](const Params&, int k) {
            constexpr const char* kNames[] = {"up", "down", "left", "right"};
            return std::string(kNames[k]);
          },
      .action_key = [](const Params&, int k) { return std::string(1, "wsad"[k]); },
      .text = &text,
      .scene = &scene};
};
using Builds = ge::Builds<Build<"SnowPlough-v0", Environment>>;

}  // namespace gpu_envs::envs::snow_plough
