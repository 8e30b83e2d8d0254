// Crowd: a test-only environment that shows what kernels/spatial finds: for every walker how many
// are near, a checksum of them and of how they lie, and the nearest few. There is nothing to win.
#pragma once

#include "engine/environment.hpp"
#include "spatial/company.hpp"
#include "spatial/nearest.hpp"

namespace gpu_envs::envs::crowd {

using namespace ge;
using spatial::Position;

inline constexpr int kMostNearest = 6;

struct Settings {
  int32_t walker_count = 20;
  bool wraps = true;
  float side = 1, range = 0.2f;
  float spread = 1;  // walkers start within this share of the square
  int32_t corner = 0;

  static constexpr auto describe() {
    return fields(
        field("walker_count", &Settings::walker_count, "of a world").within(1, 1 << 24),
        field("wraps", &Settings::wraps, "a torus; false: walls"),
        field("side", &Settings::side, "of the square").within(0.01, 1000),
        field("range", &Settings::range, "of looks").within(1e-6, 3000),
        field("spread", &Settings::spread, "share of the square to start in").within(0, 1),
        field("corner", &Settings::corner, "where that share is").within(0, 1));
  }
};
struct Params {
  int32_t walker_count, corner;
  float range, spread;
  spatial::Grid grid;
};

struct Walk {
  int32_t direction;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("direction", &Walk::direction, "a quarter turn each; 4: none").one_of(5));
  }
};
struct Found {
  uint32_t count, check;
  float worth;
  static constexpr auto describe() {
    return fields(
        field("near_count", &Found::count, "walkers in range").any_value(),
        field("near_check", &Found::check, "checksum of their rows and offsets").any_value(),
        field("worth", &Found::worth, "of their company"));
  }
};
struct Closest {
  uint32_t rows[kMostNearest];
  float squared[kMostNearest];
  static constexpr auto describe() {
    return fields(field("nearest_rows", &Closest::rows, "the nearest first").any_value(),
                  field("nearest_squared", &Closest::squared, "squared distances, -1 of nobody"));
  }
};
struct Observation {
  float count, worth, nearest, furthest;
  static constexpr auto describe() {
    return fields(field("count", &Observation::count, "walkers in range"),
                  field("worth", &Observation::worth, "of their company"),
                  field("nearest", &Observation::nearest, "squared distance of the nearest"),
                  field("furthest", &Observation::furthest, "of the last of the nearest"));
  }
};

struct Walkers : Agents<kAny, Position, Walk, Found, Closest> {
  static constexpr const char* name = "walkers";
  static GE_FN int64_t count(const Params& p) { return p.walker_count; }
};
struct Schema;
using Model = spatial::Model<Schema, Params, Walkers>;
struct Schema {
  using Settings = crowd::Settings;
  using Params = crowd::Params;
  using Action = Walk;
  using Agent = Walkers;
  using tables = concat<Types<Walkers>, spatial::Tables<Model>::all>;
  static Params resolve(Settings& s) {
    const spatial::Square square = s.wraps ? spatial::torus(s.side) : spatial::walled(s.side);
    return {s.walker_count, s.corner, s.range, s.spread,
            spatial::make_grid(square, s.range, s.walker_count)};
  }
};
using W = World<Schema>;

GE_FN void scatter(const W& w, Slot me, Position& at) {
  const Draw random = draw<"scatter">(w, me.row);
  const float side = w.params().grid.square.side, spread = w.params().spread * side;
  // Across the seam of a torus, or in the far corner.
  const float from = select(w.params().corner != 0, side - spread, -0.5f * spread);
  const float x = from + random.uniform(0) * spread, y = from + random.uniform(1) * spread;
  at = {spatial::wrapped({side, 0.5f * side}, x), spatial::wrapped({side, 0.5f * side}, y)};
}
GE_FN void walk(const W& w, Position& at, const Walk& walk) {
  const float step = w.params().grid.square.side * 0.015625f;
  const float way = select(walk.direction < 2, step, -step);
  if (walk.direction == 4) return;
  const spatial::Square around{w.params().grid.square.side, 0.0f};
  if (walk.direction % 2 == 0)
    at.x = spatial::wrapped(around, at.x + way);
  else
    at.y = spatial::wrapped(around, at.y + way);
}
GE_FN uint32_t mixed(uint32_t row, float dx, float dy) {
  uint32_t value = row * 0x9e3779b9u + 0x85ebca6bu;
  value = (value ^ __builtin_bit_cast(uint32_t, dx)) * 0xc2b2ae35u;
  value = (value ^ value >> 15 ^ __builtin_bit_cast(uint32_t, dy)) * 0x27d4eb2fu;
  return value ^ value >> 13;
}
GE_FN void feel(const W& w, const Squad& squad, Slot me, Found& found, const Position& at) {
  const float range = w.params().range;
  spatial::Look<Model> look(w, squad, me.row, at.x, at.y, range);
  int64_t count = 0, check = 0;
  look.template each<true>([&](const spatial::Hits& hits) GE_LAMBDA {
    for (int k = 0; k < hits.count; ++k)
      ++count, check += mixed(hits.row(k), hits.dx[k], hits.dy[k]);
  });
  spatial::Look<Model> again(w, squad, me.row, at.x, at.y, range);
  const spatial::Closeness closeness = spatial::make_closeness(double(range), 5, 0);
  found.worth = spatial::company(again, squad, closeness).worth;
  found.count = uint32_t(squad.sum(count)), found.check = uint32_t(squad.sum(check));
}
GE_FN void find_closest(const W& w, Slot me, Closest& closest, const Position& at) {
  const auto nearest =
      spatial::find_nearest<Model, kMostNearest>(w, me.row, at.x, at.y, kMostNearest);
  for (int k = 0; k < kMostNearest; ++k) {
    closest.rows[k] = k < nearest.count ? nearest.row[k] : ~0u;
    closest.squared[k] = k < nearest.count ? nearest.squared[k] : -1.0f;
  }
}
GE_FN void pay(const W&, Reward& reward, const Found& found) {
  reward.value = found.worth;
}
GE_FN void observe(const W&, Observation& row, const Found& found, const Closest& closest) {
  row = {float(found.count), found.worth, closest.squared[0], closest.squared[kMostNearest - 1]};
}

struct Environment {
  using Schema = crowd::Schema;
  using Observation = crowd::Observation;
  using Settle = chain<spatial::Sort<Model>, Stages<EachTogether<&feel>, Each<&find_closest>>>;
  using Reset = chain<Stages<Each<&scatter>>, Settle>;
  using Step = chain<Stages<Each<&walk>>, Settle, Stages<Each<&pay>>>;
  using Observe = Stages<ge::Observe<&observe>>;
  static constexpr Card card{.doc = "A test: walkers who find each other.",
                             .max_episode_steps = 9,
                             .agents = "walker_count"};
};
using Builds = ge::Builds<Build<"Crowd-v0", Environment>>;

}  // namespace gpu_envs::envs::crowd
