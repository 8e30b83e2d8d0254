// HexMemory: collect the things in a maze that look like the one in its middle; leave the others.
//
//   who acts    1 to 8 agents at once: six heads, 15 steps a second
//   reward      a thing that matches, a thing that does not: parameters, shared among the team by
//               team_spirit
//   ends        5 steps after the last one that matches, or when the time is up
//   rules from  Megaverse (Petrenko, Wijmans, Shacklett, Koltun, ICML 2021)
//
// Parts: maze.hpp and its hexagons (what a maze is), things.hpp (what lies in it), gaze.hpp (which
// walls cameras try), show.hpp (text, picture). How bodies move and see is that of all voxel games:
// kernels/voxel.
#pragma once

#include "envs/hex/gaze.hpp"
#include "envs/hex/show.hpp"
#include "envs/hex/things.hpp"
#include "voxel/keys.hpp"
#include "voxel/pay.hpp"
#include "voxel/state.hpp"
#include "voxel/walk.hpp"

namespace gpu_envs::envs::hex_memory {

using namespace gpu_envs::envs::hex;

/// What may differ by world.
struct Varied {
  int32_t side_low = 2, side_high = kMostSide;
  float thinned_low = 0.1f, thinned_high = 0.95f;
  float wall_low = 1.7f, wall_high = 2.8f;
  float landmark_low = 0.15f, landmark_high = 0.3f;
  float thing_low = 0.2f, thing_high = 0.45f;
  float good_reward = 1.0f, bad_reward = -1.0f;
  float team_spirit = 0.0f;
  float episode_seconds = 60.0f, thing_seconds = 3.0f;
  static constexpr auto describe();
};
struct Settings : voxel::Settings, Varied {
  using Self = Settings;
  static constexpr auto describe_things() {
    return fields(
        field("thing_low", &Self::thing_low,
              "least number of things that match, as a share of the cells but the middle one; as "
              "many do not")
            .within(0.01, 0.5)
            .from_reset(),
        field("thing_high", &Self::thing_high, "greatest such share")
            .within(0.01, 0.5)
            .from_reset());
  }
  static constexpr auto describe_pay() {
    return fields(
        voxel::reward_field("good_reward", &Self::good_reward, "reward for a thing that matches"),
        voxel::reward_field("bad_reward", &Self::bad_reward,
                            "reward for a thing that does not match"),
        voxel::spirit_field<Self>(),
        voxel::limit_field(&Self::episode_seconds, "time of an episode, without its things'"),
        field("thing_seconds", &Self::thing_seconds,
              "more time of an episode for each thing that matches")
            .in("s")
            .within(0, 60)
            .from_reset());
  }
  static constexpr auto describe() {
    return std::tuple_cat(fields(voxel::agents_field<Self>()), maze_fields<Self>(),
                          describe_things(), describe_pay(), voxel::view_fields<Self>());
  }
};
constexpr auto Varied::describe() {
  return fields_of<Varied>(Settings::describe());
}
struct Params : voxel::Params {};
inline const char* problem_of(const Varied& v) {
  if (v.thing_low > v.thing_high) return "thing_low is above thing_high";
  return maze_problem(v);
}
inline Params resolve_settings(Settings& s) {
  if (const char* const problem = problem_of(s)) voxel::refuse(problem);
  return {voxel::common_of(s)};
}

struct Parts {
  float good, bad;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("good", &Parts::good, "reward for things that match"),
                  field("bad", &Parts::bad, "reward for things that do not match"));
  }
};

using Players = voxel::WalkersOf<Params, Parts>;
struct Task : Single<Maze, Looks, Harvest, voxel::Timer> {
  static constexpr const char* name = "task";
};

struct Game : MazeTables<kSolidsOfThing * (1 + kMostThings)> {
  using Agents = Players;
  struct Schema {
    using Settings = hex_memory::Settings;
    using Params = hex_memory::Params;
    using Varied = hex_memory::Varied;
    using Action = voxel::Act;
    using Agent = Players;
    using tables = Types<Agents, Statics, Fences, Things, Task, RawWalls, Edges, Groups, Deck,
                         RawThings, Plan, Queue, Seen, Shown, Solids>;
    static constexpr Tuning tuning = voxel::kTuning;
    static Params resolve(Settings& settings) { return resolve_settings(settings); }
    static const char* problem(const Varied& varied, const Params&) { return problem_of(varied); }
  };
  using W = World<Schema>;

  // ---- the thing to remember, then the others, each of up to three solids

  static GE_FN int own_count(const W& w) { return kSolidsOfThing * (1 + row_count<Things>(w)); }
  static GE_FN bool is_own_seen(const W& w, int k) {
    const int row = k / kSolidsOfThing - 1;
    if (row < 0) return k < solids_of(get<Looks>(w).good_form);
    const Thing thing = get<Things, Thing>(w, row);
    return (thing.left != 0) & (k % kSolidsOfThing < solids_of(form_of(w, thing)));
  }
  static GE_FN cameras::Solid own_solid(const W& w, int k) {
    const Looks looks = get<Looks>(w);
    const int row = k / kSolidsOfThing - 1, part = k % kSolidsOfThing;
    if (row < 0) return solid_of(model_of(looks), looks.good_form, looks.good_colour, part);
    const Thing thing = get<Things, Thing>(w, row);
    return solid_of(copy_of(looks, thing), form_of(w, thing),
                    thing.good != 0 ? looks.good_colour : looks.bad_colour, part);
  }
  static GE_FN int form_of(const W& w, const Thing& thing) {
    return thing.good != 0 ? get<Looks>(w).good_form : get<Looks>(w).bad_form;
  }
};
using W = Game::W;

// ---- levels

GE_FN void make_level(const World<Game::Schema>& w, const Maze& maze, Looks& looks,
                      Harvest& harvest, voxel::Timer& timer, Rows<Deck, Link> deck,
                      Rows<RawThings, Thing> things, Rows<Players, voxel::Body> bodies,
                      Rows<Players, voxel::Home> homes) {
  constexpr float kRadius = 1.5f, kHeight = 2.2f, kHalfTurn = 0x1.921fb6p+1f;
  const Varied v = w.varied();
  const Draw d = draw<"hex_things">(w, 0);
  looks = draw_looks(d);
  const float share = v.thing_low + d.uniform(2) * (v.thing_high - v.thing_low);
  const int others = cell_count(maze.side) - 1;
  harvest.good_left = clamp(to_int(ceil(share * float(others))), 1, others / 2);
  harvest.things = 2 * harvest.good_left;
  const int cells = NewMaze<Game>::shuffle(w, maze, deck);
  int row = 0;
  for (int k = 0; k < cells && row < harvest.things; ++k) {
    const Hex cell = hex_of(deck.get(k).cell);
    if (cell == Hex{0, 0}) continue;
    const Draw place = draw<"hex_places">(w, row);
    const Vec3 middle = middle_of(cell);
    things.set(row, {{middle.x + kSide * (place.uniform(0) - 0.5f),
                      middle.y + kSide * (place.uniform(1) - 0.5f)},
                     row < harvest.good_left ? 1 : 0,
                     1});
    ++row;
  }
  for (int agent = 0; agent < w.params().agent_count; ++agent) {
    // Towards the middle.
    begin_at<Game>(w, {0, 0}, kRadius, kHeight, kHalfTurn - angle_of(w, agent), agent, bodies,
                   homes);
  }
  timer = voxel::timer_of(v.episode_seconds + v.thing_seconds * float(harvest.good_left));
}
using NewThings = typename voxel::Copied<Game, Harvest, &Harvest::things, RawThings, Things>::type;

// ---- a step

/// How many things of a kind each agent took in this step.
struct Taken {
  int32_t good[voxel::kMostAgents] = {}, bad[voxel::kMostAgents] = {};
};
/// Takes all things near an agent: none where it is more than 9 cm above the floor, and none that
/// were put two cells of a metre away or more.
GE_FN void take(const W& w, const voxel::Body& body, const Rows<Things, Thing>& things,
                int32_t& good, int32_t& bad) {
  constexpr float kNear = 1.0f;  // [m]
  const Vec3 place = voxel::place_of(body);
  const voxel::Cell cell = voxel::cell_of<Game>(body);
  if (cell.z != 0) return;
  const Looks looks = get<Looks>(w);
  for (int row = 0; row < row_count<Things>(w); ++row) {
    Thing thing = things.get(row);
    const voxel::Cell put = voxel::cell_of<Game>(Vec3{thing.at[0], thing.at[1], 0.0f});
    const bool beside = (max(put.x, cell.x) - min(put.x, cell.x) <= 1) &
                        (max(put.y, cell.y) - min(put.y, cell.y) <= 1);
    const Vec3 away = copy_of(looks, thing).at - place;
    const bool near = geometry::dot(away, away) < kNear * kNear;
    if (!(beside & near & (thing.left != 0))) continue;
    thing.left = 0;
    things.set(row, thing);
    good += thing.good, bad += 1 - thing.good;
  }
}
GE_FN void play(const World<Game::Schema>& w, Harvest& harvest, voxel::Timer& timer,
                Verdict& verdict, voxel::BodyRows<Game> bodies, Rows<Things, Thing> things,
                Rows<Players, Reward> rewards, Rows<Players, Parts> parts) {
  const int agents = w.params().agent_count;
  if (harvest.good_left == 0 && timer.solved == 0) voxel::succeed(timer);
  Taken taken;
  int good = 0, bad = 0;
  for (int agent = 0; agent < agents; ++agent) {
    take(w, bodies.get(agent), things, taken.good[agent], taken.bad[agent]);
    good += taken.good[agent], bad += taken.bad[agent];
  }
  harvest.good_left = max(harvest.good_left - good, 0);
  return_fallen<Game>(w, bodies);
  const Varied v = w.varied();
  for (int agent = 0; agent < agents; ++agent) {
    const Parts paid = {
        voxel::team_share(v.good_reward, v.team_spirit, taken.good[agent], good, agents),
        voxel::team_share(v.bad_reward, v.team_spirit, taken.bad[agent], bad, agents)};
    parts.set(agent, paid);
    rewards.set(agent, {paid.good + paid.bad});
  }
  if (voxel::pass(timer)) verdict.terminated = 1u;
}
/// 1: all things that match were collected.
GE_FN float objective(const W& w, int) {
  return float(get<Harvest>(w).good_left == 0);
}

// ---- what is shown

/// What the game adds to the state row.
struct OwnState {
  static constexpr int columns = 0, numbers = 3;
  static constexpr const char* doc = "";
  static constexpr const char* numbers_doc =
      "cells along a side of the maze, height of walls, things that match and are left";
  static GE_FN void show(const W&, voxel::Pen&, int) {}
  static GE_FN void show_numbers(const W& w, voxel::Pen& pen) {
    const auto maze = get<Maze>(w);
    pen.put({float(maze.side), maze.height, float(get<Harvest>(w).good_left)});
  }
  static constexpr int things = kMostThings, thing_columns = 4;
  static constexpr const char* things_name = "things";
  static constexpr const char* things_doc =
      "1 while one that matches is there, -1 one that does not, the point x, y, z from which it is "
      "taken";
  static GE_FN int thing_count(const W& w) { return row_count<Things>(w); }
  static GE_FN void show_thing(const W& w, voxel::Pen& pen, int k) {
    const Thing thing = get<Things, Thing>(w, k);
    pen.put(float(thing.good != 0 ? thing.left : -thing.left));
    pen.put(copy_of(get<Looks>(w), thing).at);
  }
};
inline std::string text(const W& w, int viewer) {
  MazeText map(get<Maze>(w).side);
  map.add_walls<Game>(w);
  map.put({0, 0}, 'o');
  for (int row = 0; row < row_count<Things>(w); ++row) {
    const Thing thing = get<Things, Thing>(w, row);
    if (thing.left != 0)
      map.put(hex_at({thing.at[0], thing.at[1], 0.0f}), thing.good != 0 ? '*' : '!');
  }
  return map.text<Game>(w, viewer, "o what to remember, * such things, ! others; ");
}

struct Environment {
  using Schema = Game::Schema;
  using Observation = voxel::Picture;
  using State = voxel::StateOf<Game, OwnState>;
  using RewardParts = Parts;
  using Reset = chain<typename NewMaze<Game>::type, Stages<EachWorld<&make_level>>, NewThings>;
  using Step = Stages<EachWorld<&voxel::move_agents<Game>>, EachWorld<&play>>;
  using Observe = chain<Stages<EachWorld<&Gaze<Game>::look>>, voxel::DrawSights<Game>,
                        Stages<ObserveState<&State::show>>>;
  static constexpr Card card{
      .doc = "Collect the things in a maze that look like the one in its middle.",
      .agents = "agent_count",
      .render_fps = voxel::kStepsPerSecond};
  static constexpr Hooks<Schema> hooks{.objective = &objective,
                                       .action_name = &voxel::act_name<Params>,
                                       .action_key = &voxel::act_key<Params>,
                                       .text = &text,
                                       .scene = &scene<Game>};
};
using Builds = ge::Builds<Build<"HexMemory-v0", Environment>>;

}  // namespace gpu_envs::envs::hex_memory
