// Flee: get as far away as one can from where one began, in a house that one has never seen.
//
//   who acts    one agent, who walks 0.25 m ahead, turns by 10 degrees to either side, or stops
//   reward      how much farther it came: an episode's sum is its last distance
//   ends        when the agent stops; cut short after 500 steps
//   rules from  "Large Batch Simulation for Deep Reinforcement Learning" (Shacklett et al., ICLR
//               2021) and its code
//
// Distances are those of walks: around walls and furniture.
#pragma once

#include "envs/indoor/indoor.hpp"
#include "envs/indoor/map.hpp"

namespace gpu_envs::envs::flee {

using namespace ge;
using namespace gpu_envs::envs::indoor;

// ---- what is described

struct Settings : HouseSettings {
  Settings() { observation = "depth"; }
  static constexpr auto describe() {
    return std::tuple_cat(
        house_fields<Settings>(),
        fields(field("bps_compatible", &Settings::bps_compatible, "as in BPS: at most 499 steps")),
        cameras::picture_fields<Settings>());
  }
};
struct Trip {
  float away;
  int32_t stopped;
  static constexpr auto describe() {
    return fields(length_field("away", &Trip::away, "shortest walk back to the start"),
                  field("stopped", &Trip::stopped, "1: the agent has stopped").within(0, 1));
  }
};
struct Walker : Agents<1, Body, Trip, Act> {
  static constexpr const char* name = "walker";
};
/// The end of the floor (houses/ground.hpp) that is farthest from the start.
struct Farthest {
  int32_t end;
  float walk;
  static constexpr auto describe() {
    return fields(field("end", &Farthest::end, "its number").within(0, INT32_MAX),
                  length_field("walk", &Farthest::walk, "shortest walk there from the start"));
  }
};
struct Task : Single<Site, Farthest> {
  static constexpr const char* name = "task";
};
struct Schema : HouseSchema<Settings, HouseParams, PlaceNumbers, false> {
  using Agent = Walker;
  using tables = Types<Walker, Task, Field, Trail, Solids>;
};
using W = World<Schema>;

// ---- rules

GE_FN void begin(const W& w, Site& site, Rows<Walker, Body> bodies, Rows<Walker, Trip> trips) {
  site = begun_site(w);
  bodies.set(0, {site.start_x, site.start_y, site.start_yaw});
  trips.set(0, {0.0f, 0});
}
GE_FN void measure_corner(const W& w, Slot corner, Far& far) {
  far.metres = field_of_corner(w, corner.row, get<Site>(w).start());
}
GE_FN void find_farthest(const W& w, const Site& site, Farthest& farthest) {
  const hs::Ground ground = ground_of(w);
  farthest = {0, 0.0f};
  GE_NO_UNROLL
  for (int k = 0; k < ground.end_count; ++k) {
    float walk = hs::kUnreachable;
    for (int i = ground.ends[k].first; i < ground.ends[k + 1].first; ++i)
      walk = min(walk, get<Field, Far>(w, ground.bends[i].corner).metres + ground.bends[i].metres);
    if (!(walk > farthest.walk)) continue;
    const hs::Point at = ground.ends[k].point();
    if (hs::is_free(ground, site.start(), at)) walk = hs::distance(site.start(), at);
    if (walk > farthest.walk) farthest = {k, walk};
  }
}
GE_FN void play(const W& w, Body& body, Trip& trip, Reward& reward, Ending& ending,
                const Act& chosen) {
  const float before = trip.away;
  act(w, chosen, body);
  if (chosen.way == 1)
    trip.away = walk_between(w, ground_of(w), body.point(), get<Site>(w).start());
  trip.stopped = chosen.way == 0 ? 1 : 0;
  reward.value = trip.away - before;
  end_at(is_late(w), trip.stopped, ending);
}

// ---- what is shown

struct Measures {
  float away, farthest;
  static constexpr auto describe() {
    return fields(
        field("distance_fled", &Measures::away, "shortest walk back to the start").in("m"),
        field("farthest", &Measures::farthest,
              "longest walk from the start to an edge of the floor, less half a metre at most")
            .in("m"));
  }
  static GE_FN Measures of(const W& w, int) {
    return {get<Walker, Trip>(w, 0).away, get<Farthest>(w).walk};
  }
};

/// The end that is farthest, whatever its column holds.
GE_FN int farthest_of(const W& w, const hs::Ground& ground) {
  return max(0, min(get<Farthest>(w).end, ground.end_count - 1));
}
/// For critics, and for who goes where it is farthest.
struct State {
  float place[2], facing[2], farthest[2], next[2], away, time, house;
  static constexpr auto describe() {
    return fields(
        field("place", &State::place, "x, y of the agent").in("m"),
        field("facing", &State::facing, "x, y of where it looks"),
        field("farthest", &State::farthest, "x, y of the end farthest from the start").in("m"),
        field("next", &State::next, "x, y of the next corner on the shortest walk there").in("m"),
        field("away", &State::away, "shortest walk back to the start").in("m"),
        field("time", &State::time, "share of the episode that is left").within(0, 1),
        field("house", &State::house, "number of the house").within(0, hs::kMostHouses));
  }
};
GE_FN void show_state(const W& w, State& state) {
  const Body body = get<Walker, Body>(w, 0);
  const hs::Ground ground = ground_of(w);
  const int end = farthest_of(w, ground);
  const hs::Point next = next_to_end(ground, body.point(), end);
  float sine, cosine;
  sincos_bounded(body.yaw, sine, cosine);
  state = {{body.x, body.y},
           {-sine, cosine},
           {ground.ends[end].x, ground.ends[end].y},
           {next.x, next.y},
           get<Walker, Trip>(w, 0).away,
           time_left(w),
           float(house_of(w))};
}
inline Scene scene(const W& w) {
  const Body body = get<Walker, Body>(w, 0);
  const hs::Ground ground = ground_of(w);
  const int end = farthest_of(w, ground);
  Map map(w, body);
  map.path(
      walk_of(ground, body.point(), [&](hs::Point at) { return next_to_end(ground, at, end); }));
  map.spot(ground.ends[end].point(), palette::kRed);
  return map.finish();
}
inline std::string text(const W& w, int) {
  std::string more;
  add_number(more, ", ", double(get<Walker, Trip>(w, 0).away), 2, " m away");
  return house_text(w, get<Walker, Body>(w, 0), nullptr, more);
}

struct Environment {
  using Schema = flee::Schema;
  using Observation = indoor::Observation;
  using Numbers = PlaceNumbers;
  using Measures = flee::Measures;
  using Reset =
      Stages<EachWorld<&begin>, Each<&measure_corner>, EachWorld<&find_farthest>, Each<&wipe<W>>>;
  using State = flee::State;
  using Step = Stages<Each<&play>, EachWorld<&trace<Walker, W>>>;
  using Observe = Stages<ge::Observe<&cameras::draw<Sight<Schema, Walker>, W>>,
                         ObserveNumbers<&tell_place<W>>, ObserveState<&show_state>>;
  static constexpr Card card{
      .doc = "Get far away from the start, in a house that one has never seen.",
      .max_episode_steps = 500,
      .render_fps = 10};
  static constexpr Hooks<Schema> hooks{.action_name = &act_name<HouseParams>,
                                       .action_key = &act_key<HouseParams>,
                                       .text = &text,
                                       .scene = &scene};
};
using Builds = ge::Builds<Build<"Flee-v0", Environment>>;

}  // namespace gpu_envs::envs::flee
