// PointGoalNav: go to a point in a house that one has never seen, and say that one is there.
//
//   who acts    one agent, who walks 0.25 m ahead, turns by 10 degrees to either side, or stops
//   reward      how much nearer it came, less 0.01 for each step; at the end 2.5 times SPL, success
//               weighted by path length, in place of how much nearer it came
//   ends        when the agent stops; cut short after 500 steps
//   rules from  "Large Batch Simulation for Deep Reinforcement Learning" (Shacklett et al., ICLR
//               2021) and its code; success, episodes and measures as in Habitat (Savva et al.,
//               ICCV 2019): Anderson et al., "On Evaluation of Embodied Navigation Agents", 2018
//
// Distances are those of walks: around walls and furniture. The agent knows where the goal lies
// from it, as if by GPS and compass, but not the house.
#pragma once

#include "envs/indoor/indoor.hpp"
#include "envs/indoor/map.hpp"

namespace gpu_envs::envs::point_goal_nav {

using namespace ge;
using namespace gpu_envs::envs::indoor;

// ---- what is described

struct Varied {
  float step_reward = -0.01f, success_reward = 2.5f, progress_reward = 1.0f;
  static constexpr auto describe();
};
struct Settings : HouseSettings, Varied {
  float success_distance = 0.2f;
  static constexpr auto describe() {
    return std::tuple_cat(
        house_fields<Settings>(),
        fields(
            field("success_distance", &Settings::success_distance,
                  "how near to the goal counts as there")
                .in("m")
                .within(0.01, 10),
            field("bps_compatible", &Settings::bps_compatible,
                  "as in BPS: at most 499 steps, and an agent that is there as time runs out has "
                  "succeeded without a word"),
            field("step_reward", &Settings::step_reward, "reward for each step")
                .within(-1000, 1000),
            field("success_reward", &Settings::success_reward, "times SPL, at the end")
                .within(-1000, 1000),
            field("progress_reward", &Settings::progress_reward,
                  "for each metre that the agent came nearer")
                .within(-1000, 1000)),
        cameras::picture_fields<Settings>());
  }
};
constexpr auto Varied::describe() {
  return fields_of<Varied>(Settings::describe());
}
/// Beside the picture.
struct Numbers {
  float goal[2];
  static constexpr auto describe() {
    return fields(field("pointgoal", &Numbers::goal,
                        "distance of the goal as the crow flies [m], and its direction [rad], "
                        "greater than 0 to the left"));
  }
};
struct Params : HouseParams {
  float success_distance;
};

/// Where to.
struct Goal {
  float x, y, walk;
  static constexpr auto describe() {
    return fields(place_field("x", &Goal::x, "place"), place_field("y", &Goal::y, "place"),
                  length_field("walk", &Goal::walk, "shortest walk there from the start"));
  }
  GE_FN hs::Point point() const { return {x, y}; }
};
struct Trip {
  float walked, left;
  int32_t stopped;
  static constexpr auto describe() {
    return fields(length_field("walked", &Trip::walked, "metres walked"),
                  length_field("left", &Trip::left, "shortest walk to the goal from here"),
                  field("stopped", &Trip::stopped, "1: the agent has stopped").within(0, 1));
  }
};
struct Walker : Agents<1, Body, Trip, Act> {
  static constexpr const char* name = "walker";
};
struct Task : Single<Site, Goal> {
  static constexpr const char* name = "task";
};
struct Schema : HouseSchema<Settings, Params, Numbers, true> {
  using Varied = point_goal_nav::Varied;
  using Agent = Walker;
  using tables = Types<Walker, Task, Field, Trail, Solids>;
  static Params resolve(Settings& s) {
    Params params = HouseSchema::resolve(s);
    params.success_distance = s.success_distance;
    return params;
  }
};
using W = World<Schema>;

// ---- episodes

inline constexpr float kNearest = 1.0f, kFarthest = 30.0f;  // shortest walks of episodes [m]
inline constexpr int kTries = 10;                           // starts that are tried

GE_FN void choose_goal(const W& w, Site& site, Goal& goal) {
  const Draw d = draw<"nav_goal">(w, 0);
  site.house = begun_house(w, d);
  const hs::Point at =
      w.options().has_goal != 0 ? w.options().goal() : point_of_floor(w, site.house, d);
  goal.x = at.x, goal.y = at.y;
}
GE_FN void measure_corner(const W& w, Slot corner, Far& far) {
  far.metres = field_of_corner(w, corner.row, get<Goal>(w).point());
}
/// Episodes that lead straight ahead are rare: of those with a walk not much longer than the flight
/// of a crow, a share is kept (Habitat's).
GE_FN bool is_kept(float walk, float flight, float drawn) {
  const float ratio = walk / max(flight, 1e-6f), over = ratio - 0.98f;
  return !(ratio < 1.1f) || drawn < 20.0f * over * over;
}
GE_FN void choose_start(const W& w, Site& site, Goal& goal, Rows<Walker, Body> bodies,
                        Rows<Walker, Trip> trips) {
  const hs::Ground ground = ground_of(w);
  hs::Point start = goal.point();
  float walk = 0.0f;
  bool found = w.options().has_start != 0, fitted = false;
  if (found) {
    start = w.options().start();
    walk = walk_between(w, ground, start, goal.point());
  }
  GE_NO_UNROLL
  for (int k = 0; k < kTries && !found; ++k) {
    const Draw d = draw<"nav_start">(w, k);
    const hs::Point at = point_of_floor(w, site.house, d);
    const float far = walk_between(w, ground, at, goal.point());
    const bool fits = far >= kNearest && far <= kFarthest;
    found = fits && is_kept(far, hs::distance(at, goal.point()), d.uniform(3));
    // What fits but for the ratio is better than what does not.
    if (found || (fits && !fitted) || k == 0) start = at, walk = far;
    fitted = fitted || fits;
  }
  const float yaw = begun_yaw(w);
  site.start_x = start.x, site.start_y = start.y, site.start_yaw = yaw;
  goal.walk = walk;
  bodies.set(0, {start.x, start.y, yaw});
  trips.set(0, {0.0f, walk, 0});
}

// ---- a step

struct Outcome {
  bool success;
  float spl, soft_spl;
};
GE_FN Outcome outcome_of(const W& w, const Goal& goal, const Trip& trip) {
  const bool there = trip.left < w.params().success_distance;
  const bool said = (trip.stopped != 0) | (w.params().bps_compatible != 0);
  const float share = trip.walked <= goal.walk ? 1.0f : goal.walk / trip.walked;
  const float near = max(0.0f, 1.0f - trip.left / max(goal.walk, 1e-6f));
  const bool success = there && said;
  return {success, success ? share : 0.0f, near * share};
}
GE_FN void play(const W& w, Body& body, Trip& trip, Reward& reward, Ending& ending,
                const Act& chosen) {
  const float before = trip.left;
  const float walked = act(w, chosen, body);
  trip.walked = min(trip.walked + walked, hs::kUnreachable);
  if (chosen.way == 1)
    trip.left = walk_between(w, ground_of(w), body.point(), get<Goal>(w).point());
  trip.stopped = chosen.way == 0 ? 1 : 0;
  const bool late = is_late(w);
  const bool over = (trip.stopped != 0) | late;
  const Varied v = w.varied();
  const Outcome outcome = outcome_of(w, get<Goal>(w), trip);
  reward.value = v.step_reward +
                 (over ? v.success_reward * outcome.spl : v.progress_reward * (before - trip.left));
  end_at(late, trip.stopped, ending);
}

// ---- what is shown

GE_FN void tell(const W& w, Numbers& numbers, const Body& body) {
  const hs::Point goal = get<Goal>(w).point();
  const float dx = goal.x - body.x, dy = goal.y - body.y;
  float sine, cosine;
  sincos_bounded(body.yaw, sine, cosine);
  const float ahead = dy * cosine - dx * sine, right = dx * cosine + dy * sine;
  numbers.goal[0] = sqrt(dx * dx + dy * dy);
  numbers.goal[1] = atan2(-right, ahead);
}
struct Measures {
  float success, spl, soft_spl, distance;
  static constexpr auto describe() {
    return fields(
        field("success", &Measures::success, "1: the agent stopped at the goal").within(0, 1),
        field("spl", &Measures::spl, "success weighted by path length").within(0, 1),
        field("soft_spl", &Measures::soft_spl,
              "share of the way that it came nearer, weighted as in spl")
            .within(0, 1),
        field("distance_to_goal", &Measures::distance, "shortest walk that is left").in("m"));
  }
  static GE_FN Measures of(const W& w, int) {
    const Trip trip = get<Walker, Trip>(w, 0);
    const Outcome outcome = outcome_of(w, get<Goal>(w), trip);
    return {outcome.success ? 1.0f : 0.0f, outcome.spl, outcome.soft_spl, trip.left};
  }
};

/// For critics, and for who follows the shortest walk.
struct State {
  float place[2], facing[2], goal[2], next[2], left, walked, time, house;
  static constexpr auto describe() {
    return fields(
        field("place", &State::place, "x, y of the agent").in("m"),
        field("facing", &State::facing, "x, y of where it looks"),
        field("goal", &State::goal, "x, y of the goal").in("m"),
        field("next", &State::next, "x, y of the next corner on the shortest walk there").in("m"),
        field("left", &State::left, "shortest walk to the goal").in("m"),
        field("walked", &State::walked, "metres walked").in("m"),
        field("time", &State::time, "share of the episode that is left").within(0, 1),
        field("house", &State::house, "number of the house").within(0, hs::kMostHouses));
  }
};
GE_FN void show_state(const W& w, State& state) {
  const Body body = get<Walker, Body>(w, 0);
  const Trip trip = get<Walker, Trip>(w, 0);
  const Goal goal = get<Goal>(w);
  const hs::Point next = next_between(w, ground_of(w), body.point(), goal.point());
  float sine, cosine;
  sincos_bounded(body.yaw, sine, cosine);
  state = {{body.x, body.y}, {-sine, cosine}, {goal.x, goal.y}, {next.x, next.y},
           trip.left,        trip.walked,     time_left(w),     float(house_of(w))};
}
inline Scene scene(const W& w) {
  const Body body = get<Walker, Body>(w, 0);
  const Goal goal = get<Goal>(w);
  Map map(w, body);
  map.path(walk_of(ground_of(w), body.point(),
                   [&](hs::Point at) { return next_between(w, ground_of(w), at, goal.point()); }));
  map.spot(goal.point(), palette::kRed);
  return map.finish();
}
inline std::string text(const W& w, int) {
  const hs::Point goal = get<Goal>(w).point();
  std::string more;
  add_number(more, ", ", double(get<Walker, Trip>(w, 0).left), 2, " m to walk");
  return house_text(w, get<Walker, Body>(w, 0), &goal, more);
}

struct Environment {
  using Schema = point_goal_nav::Schema;
  using Observation = indoor::Observation;
  using Numbers = point_goal_nav::Numbers;
  using Measures = point_goal_nav::Measures;
  using Reset = Stages<EachWorld<&choose_goal>, Each<&measure_corner>, EachWorld<&choose_start>,
                       Each<&wipe<W>>>;
  using State = point_goal_nav::State;
  using Step = Stages<Each<&play>, EachWorld<&trace<Walker, W>>>;
  using Observe = Stages<ge::Observe<&cameras::draw<Sight<Schema, Walker>, W>>,
                         ObserveNumbers<&tell>, ObserveState<&show_state>>;
  static constexpr Card card{.doc = "Go to a point in a house that one has never seen.",
                             .max_episode_steps = 500,
                             .render_fps = 10};
  static constexpr Hooks<Schema> hooks{.action_name = &act_name<Params>,
                                       .action_key = &act_key<Params>,
                                       .text = &text,
                                       .scene = &scene};
};
using Builds = ge::Builds<Build<"PointGoalNav-v0", Environment>>;

}  // namespace gpu_envs::envs::point_goal_nav
