// HexExplore: find the violet diamond in a maze of hexagonal cells.
//
//   who acts    1 to 8 agents at once: six heads, 15 steps a second
//   reward      the diamond, a parameter, shared among the team by team_spirit
//   ends        4 steps after it was found, or when the time is up
//   rules from  Megaverse (Petrenko, Wijmans, Shacklett, Koltun, ICML 2021)
//
// Parts: maze.hpp and its hexagons (what a maze is), gaze.hpp (which walls cameras try), show.hpp
// (text, picture). How bodies move and
// see is that of all voxel games: kernels/voxel.
#pragma once

#include "envs/hex/gaze.hpp"
#include "envs/hex/show.hpp"
#include "voxel/keys.hpp"
#include "voxel/pay.hpp"
#include "voxel/state.hpp"
#include "voxel/walk.hpp"

namespace gpu_envs::envs::hex_explore {

using namespace gpu_envs::envs::hex;

/// What may differ by world.
struct Varied {
  int32_t side_low = 2, side_high = kMostSide;
  float thinned_low = 0.1f, thinned_high = 0.4f;
  float wall_low = 1.7f, wall_high = 2.8f;
  float landmark_low = 0.15f, landmark_high = 0.3f;
  float solve_reward = 5.0f;
  float team_spirit = 0.0f;
  float episode_seconds = 60.0f;
  static constexpr auto describe();
};
struct Settings : voxel::Settings, Varied {
  using Self = Settings;
  static constexpr auto describe() {
    return std::tuple_cat(fields(voxel::agents_field<Self>()), maze_fields<Self>(),
                          fields(voxel::reward_field("solve_reward", &Self::solve_reward,
                                                     "reward for finding the diamond"),
                                 voxel::spirit_field<Self>(),
                                 voxel::limit_field(&Self::episode_seconds, "time of an episode")),
                          voxel::view_fields<Self>());
  }
};
constexpr auto Varied::describe() {
  return fields_of<Varied>(Settings::describe());
}
struct Params : voxel::Params {};
inline Params resolve_settings(Settings& s) {
  if (const char* const problem = maze_problem(s)) voxel::refuse(problem);
  return {voxel::common_of(s)};
}

struct Parts {
  float solve;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("solve", &Parts::solve, "reward for finding the diamond"));
  }
};
/// Where the diamond hangs.
struct Target {
  int32_t cell;
  static constexpr auto describe() {
    return fields(field("target", &Target::cell, "cell of the diamond: 13 (u + 6) + v + 6")
                      .within(0, kNumbers - 1));
  }
};

using Players = voxel::WalkersOf<Params, Parts>;
struct Task : Single<Maze, Target, voxel::Timer> {
  static constexpr const char* name = "task";
};

struct Game : MazeTables<2> {
  using Agents = Players;
  struct Schema {
    using Settings = hex_explore::Settings;
    using Params = hex_explore::Params;
    using Varied = hex_explore::Varied;
    using Action = voxel::Act;
    using Agent = Players;
    using tables = Types<Agents, Statics, Fences, Task, RawWalls, Edges, Groups, Deck, Plan, Queue,
                         Seen, Shown, Solids>;
    static constexpr Tuning tuning = voxel::kTuning;
    static Params resolve(Settings& settings) { return resolve_settings(settings); }
    static const char* problem(const Varied& varied, const Params&) { return maze_problem(varied); }
  };
  using W = World<Schema>;

  // ---- the diamond, two cones, until it is found

  static GE_FN int own_count(const W&) { return 2; }
  static GE_FN bool is_own_seen(const W& w, int) { return get<voxel::Timer>(w).solved == 0; }
  static GE_FN cameras::Solid own_solid(const W& w, int k) {
    const Vec3 floor = middle_of(hex_of(get<Target>(w).cell));
    return voxel::diamond_cone({0.323f, 0.665f, 1.2f}, floor, voxel::kViolet, k != 0);
  }
};
using W = Game::W;

// ---- levels

/// A cell farther from the diamond than 3.5 m for each cell of a side: the first in a random order;
/// else the farthest.
GE_FN Hex choose_start(const Maze& maze, const Hex& target, const Rows<Deck, Link>& deck,
                       int cells) {
  const float enough = kSide * float(maze.side);
  Hex farthest = target;
  float most = -1.0f;
  for (int k = 0; k < cells && !(most > enough * enough); ++k) {
    const Hex cell = hex_of(deck.get(k).cell);
    const Vec3 away = middle_of(cell) - middle_of(target);
    const float square = geometry::dot(away, away);
    if (square > most) most = square, farthest = cell;
  }
  return farthest;
}
GE_FN void make_level(const World<Game::Schema>& w, const Maze& maze, Target& target,
                      voxel::Timer& timer, Rows<Deck, Link> deck, Rows<Players, voxel::Body> bodies,
                      Rows<Players, voxel::Home> homes) {
  constexpr float kRadius = 1.0f, kHeight = 1.85f, kTwoPi = 0x1.921fb6p+2f;  // [m]
  const int cells = NewMaze<Game>::shuffle(w, maze, deck);
  const Draw d = draw<"hex_target">(w, 0);
  target.cell = deck.get(int(d.below(0, uint32_t(cells)))).cell;
  const Hex start = choose_start(maze, hex_of(target.cell), deck, cells);
  for (int agent = 0; agent < w.params().agent_count; ++agent) {
    const float yaw = (draw<"hex_agents">(w, agent).uniform(0) - 0.5f) * kTwoPi;
    begin_at<Game>(w, start, kRadius, kHeight, yaw, agent, bodies, homes);
  }
  timer = voxel::timer_of(w.varied().episode_seconds);
}

// ---- a step

/// Whether an agent is so near the point of the floor below the diamond.
GE_FN bool has_found(const voxel::Body& body, const Hex& target) {
  constexpr float kNear = 1.2f;  // [m]
  const Vec3 away = voxel::place_of(body) - middle_of(target);
  return geometry::dot(away, away) < kNear * kNear;
}
GE_FN void play(const World<Game::Schema>& w, const Target& target, voxel::Timer& timer,
                Verdict& verdict, voxel::BodyRows<Game> bodies, Rows<Players, Reward> rewards,
                Rows<Players, Parts> parts) {
  const int agents = w.params().agent_count;
  uint32_t finders = 0;
  for (int agent = 0; agent < agents; ++agent) {
    if (timer.solved != 0 || !has_found(bodies.get(agent), hex_of(target.cell))) continue;
    finders |= 1u << agent;
    voxel::succeed(timer);
  }
  return_fallen<Game>(w, bodies);
  const Varied v = w.varied();
  for (int agent = 0; agent < agents; ++agent) {
    const float paid = voxel::share_of(v.solve_reward, v.team_spirit, finders, agent, agents);
    parts.set(agent, {paid});
    rewards.set(agent, {paid});
  }
  if (voxel::pass(timer)) verdict.terminated = 1u;
}
/// 1: the diamond was found.
GE_FN float objective(const W& w, int) {
  return float(get<voxel::Timer>(w).solved);
}

// ---- what is shown

/// What the game adds to the state row.
struct OwnState {
  static constexpr int columns = 0, numbers = 4;
  static constexpr const char* doc = "";
  static constexpr const char* numbers_doc =
      "cells along a side of the maze, height of walls, x and y of the diamond";
  static GE_FN void show(const W&, voxel::Pen&, int) {}
  static GE_FN void show_numbers(const W& w, voxel::Pen& pen) {
    const auto maze = get<Maze>(w);
    const Vec3 at = middle_of(hex_of(get<Target>(w).cell));
    pen.put({float(maze.side), maze.height, at.x});
    pen.put(at.y);
  }
};
inline std::string text(const W& w, int viewer) {
  MazeText map(get<Maze>(w).side);
  map.add_walls<Game>(w);
  if (get<voxel::Timer>(w).solved == 0) map.put(hex_of(get<Target>(w).cell), '*');
  return map.text<Game>(w, viewer, "* diamond; ");
}

struct Environment {
  using Schema = Game::Schema;
  using Observation = voxel::Picture;
  using State = voxel::StateOf<Game, OwnState>;
  using RewardParts = Parts;
  using Reset = chain<typename NewMaze<Game>::type, Stages<EachWorld<&make_level>>>;
  using Step = Stages<EachWorld<&voxel::move_agents<Game>>, EachWorld<&play>>;
  using Observe = chain<Stages<EachWorld<&Gaze<Game>::look>>, voxel::DrawSights<Game>,
                        Stages<ObserveState<&State::show>>>;
  static constexpr Card card{.doc = "Find the violet diamond in a maze of hexagonal cells.",
                             .agents = "agent_count",
                             .render_fps = voxel::kStepsPerSecond};
  static constexpr Hooks<Schema> hooks{.objective = &objective,
                                       .action_name = &voxel::act_name<Params>,
                                       .action_key = &voxel::act_key<Params>,
                                       .text = &text,
                                       .scene = &scene<Game>};
};
using Builds = ge::Builds<Build<"HexExplore-v0", Environment>>;

}  // namespace gpu_envs::envs::hex_explore
