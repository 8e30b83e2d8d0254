// SwarmTag: runners on a torus keep together and away from chasers, who want to touch them.
//
//   who acts    any number of chasers and of runners at once: each turns, and sets its speed
//               (vogue) or speeds up and brakes (floxs)
//   reward      a chaser 0.1 while it touches a runner; a runner -0.1 for each chaser that it
//               touches, and in vogue up to 0.01 for the company of runners
//   ends        never by the rules; nobody leaves; cut short after 400 steps
//   rules from  "High Performance Simulation for Scalable Multi-Agent Reinforcement Learning"
//               (Langham-Lopez, Schmon, Cannon 2022; its program is Vogue) and floxs 0.1.1, whose
//               "predator and prey" it is: `profile`
//
// docs/swarm_tag.md lists what the paper leaves open. tag_settings.hpp has the parameters,
// swarm.hpp what is shared with Flocking.
#pragma once

#include "envs/swarm/tag_settings.hpp"

namespace gpu_envs::envs::swarm_tag {

// ---- what is described

/// Action of an agent.
struct Steer {
  float rotation, drive;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("rotation", &Steer::rotation,
                        "rotation of the agent, -1: fully to the right, 1: fully to the left")
                      .within(-1, 1),
                  field("drive", &Steer::drive,
                        "speed in units of the kind's highest, 0 from 0 down; or acceleration, -1: "
                        "brakes fully, 1: speeds up fully")
                      .within(-1, 1));
  }
};

struct Observation : WideRow<float> {
  static constexpr int capacity = 2 * kMostSectors;
  static constexpr bool complete = true;
  static GE_FN int elements(const Params& p) { return 2 * p.runners.sectors.count; }
  static std::vector<FieldInfo> describe(const Params& p) {
    const double empty = double(p.runners.sectors.empty), least = empty < 0 ? empty : 0;
    const int64_t count = p.runners.sectors.count;
    return {wide_field("own_kind", {count},
                       "distance of the nearest agent of the same kind in each sector, from left "
                       "to right, in ranges of vision",
                       least, 1),
            wide_field("other_kind", {count},
                       "distance of the nearest agent of the other kind in each sector, from left "
                       "to right, in ranges of vision",
                       least, 1)};
  }
};

// ---- tables

struct Players : Agents<kAny, Position, Course, Steer> {
  static constexpr const char* name = "agents";
  static GE_FN int64_t count(const Params& p) { return p.agent_count; }
};

struct Schema;
using Model = spatial::Model<Schema, Params, Players>;

struct Schema : swarm::TaskSchema<Players, Model> {
  using Settings = swarm_tag::Settings;
  using Params = swarm_tag::Params;
  using Action = Steer;
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
};
using W = World<Schema>;

// ---- rules

/// Random position, heading and speed.
GE_FN void begin(const W& w, Slot me, Position& at, Course& course) {
  const Params& p = w.params();
  spatial::start(p.grid.square, kind_of(p, me.row).abilities, draw<"start">(w, me.row), at, course);
}

/// Turns the agent and sets or changes its speed, then advances it on the torus.
GE_FN void move(const W& w, Slot me, Position& at, Course& course, const Steer& action) {
  const Params& p = w.params();
  const spatial::Abilities& can = kind_of(p, me.row).abilities;
  if (p.direct != 0)
    spatial::steer_directly(can, course, action.rotation, action.drive);
  else
    spatial::steer(can, course, action.rotation, action.drive);
  spatial::advance(p.grid.square, at, course);
}

/// Number of agents of the other kind that this one touches.
GE_FN int64_t count_touched(const W& w, const Squad& squad, int me, const Position& at) {
  const Params& p = w.params();
  spatial::Look<Model, spatial::kSomeRows> look(w, squad, me, at.x, at.y, p.touch_distance,
                                                p.touch_distance_squared);
  if (is_chaser(p, me))
    look.only(p.chaser_count, p.agent_count);
  else
    look.only(0, p.chaser_count);
  return spatial::count(look, squad);
}
/// Value of the other runners' company to a runner, at most 1; 0 for a chaser.
GE_FN float runners_company(const W& w, const Squad& squad, int me, const Position& at) {
  const Params& p = w.params();
  if (is_chaser(p, me) || p.company_weight == 0.0f) return 0.0f;
  const spatial::Closeness& c = p.company;
  spatial::Look<Model, spatial::kSomeRows> look(w, squad, me, at.x, at.y, c.range, c.range_squared);
  look.only(p.chaser_count, p.agent_count);
  return min(1.0f, spatial::company(look, squad, c).worth);
}
/// Reward of a chaser for touching, of a runner for company and not being touched.
GE_FN void pay(const W& w, const Squad& squad, Slot me, Reward& reward, const Position& at) {
  const Params& p = w.params();
  const int64_t touched = count_touched(w, squad, me.row, at);
  const float company = p.company_weight * runners_company(w, squad, me.row, at);
  const float caught = select(touched > 0, p.touch_reward, 0.0f);
  const float chased = company - p.touch_penalty * float(touched);
  reward.value = select(is_chaser(p, me.row), caught, chased) * p.reward_scale;
}

// ---- observation

// Each kind has its own channel, so that agents of one kind never hide those of the other.
GE_FN void observe(const W& w, FloatRow& row, const Squad& squad, Slot me, const Position& at,
                   const Course& course) {
  const Params& p = w.params();
  const spatial::Sectors& sectors = kind_of(p, me.row).sectors;
  const bool chaser = is_chaser(p, me.row);
  const int chasers = select(chaser, 0, sectors.count);
  const int runners = select(chaser, sectors.count, 0);
  const uint32_t first_runner = uint32_t(p.chaser_count);
  spatial::SpanMinima<2 * kMostSectors> view(row, 2 * sectors.count);
  spatial::see<Model>(w, view, squad, me.row, at, course.heading, sectors,
                      [=](uint32_t seen)
                          GE_LAMBDA { return select(seen < first_runner, chasers, runners); });
  view.finish(sectors.empty);
}

inline std::string agent_name(const Params& p, int agent) {
  return is_chaser(p, agent) ? "chaser_" + std::to_string(agent)
                             : "runner_" + std::to_string(agent - p.chaser_count);
}
inline Scene scene_for(const W& w, int viewer) {
  return spatial::swarm_scene<Model>(w, viewer, kind_of(w.params(), viewer).sectors, [&w](int row) {
    return is_chaser(w.params(), row) ? palette::kRed : palette::kBlue;
  });
}
inline Scene scene(const W& w) {
  return scene_for(w, 0);
}

/// Number of chasers that touch a runner; -1 where there are too many pairs to try.
inline int64_t touching_chasers(const W& w) {
  constexpr int64_t kMostPairs = int64_t{1} << 25;
  const Params& p = w.params();
  if (int64_t{p.chaser_count} * (p.agent_count - p.chaser_count) > kMostPairs) return -1;
  const auto place = [&w](int row) { return get<Players, Position>(w, row); };
  const auto touch = [&p](const Position& a, const Position& b) {
    const float dx = spatial::shortest(p.grid.square, b.x - a.x);
    const float dy = spatial::shortest(p.grid.square, b.y - a.y);
    return dx * dx + dy * dy <= p.touch_distance_squared;
  };
  int64_t touching = 0;
  for (int chaser = 0; chaser < p.chaser_count; ++chaser) {
    int runner = p.chaser_count;
    while (runner < p.agent_count && !touch(place(chaser), place(runner))) ++runner;
    touching += runner < p.agent_count;
  }
  return touching;
}
inline std::string text(const W& w, int viewer) {
  const Params& p = w.params();
  const auto mark = [&p](int agent) { return is_chaser(p, agent) ? 'C' : '\0'; };
  std::string text = spatial::swarm_map<Model>(w, viewer, mark) + ", C chaser\n";
  spatial::add_movement<Model>(text, w, " chasers", 0, p.chaser_count);
  spatial::add_movement<Model>(text, w, " runners", p.chaser_count, p.agent_count);
  const int64_t touching = touching_chasers(w);
  if (touching >= 0) add_number(text, "chasers touching a runner: ", double(touching), 0, "\n");
  if (viewer >= 0) spatial::add_viewer<Model>(text, w, viewer);
  add_steps(text, w.step(), w.max_steps());
  return text + "\n";
}

inline std::string act_name(const Params& p, int k) {
  constexpr const char* kTurns[] = {"right", "straight on", "left"};
  constexpr const char* kDrives[][3] = {{"brake", "coast", "speed up"},
                                        {"stop", "no drive", "run"}};
  return k < 3 ? kTurns[k] : kDrives[p.direct != 0][k - 3];
}
inline std::string act_key(const Params&, int k) {
  return std::string(1, swarm::kSteeringKeys[k]);
}

// ---- the graphs

struct Environment : swarm::Graphs<Model, &begin, &move, &pay, &observe> {
  using Schema = swarm_tag::Schema;
  using Observation = swarm_tag::Observation;
  static constexpr Card card{
      .doc =
          "Runners keep together and away from chasers, seen through sectors of a field of view.",
      .max_episode_steps = 400,
      .agents = "chaser_count + runner_count",
      .render_fps = 20};
  static constexpr Hooks<Schema> hooks{.agent_name = &agent_name,
                                       .action_name = &act_name,
                                       .action_key = &act_key,
                                       .text = &text,
                                       .scene = &scene,
                                       .scene_for = &scene_for};
};

using Builds = ge::Builds<Build<"SwarmTag-v0", Environment>>;

}  // namespace gpu_envs::envs::swarm_tag
