// Flocking: agents on a torus like company, but not to touch.
//
//   who acts    any number of agents at once: each turns, and speeds up or brakes
//   reward      for each neighbour in range a value that falls with its distance, exp(-5 D / R);
//               for each that is touched a penalty, added (vogue) or instead of all else (floxs)
//   ends        never by the rules; cut short after 400 steps
//   rules from  "High Performance Simulation for Scalable Multi-Agent Reinforcement Learning"
//               (Langham-Lopez, Schmon, Cannon 2022; its program is Vogue) and floxs 0.1.1:
//               `profile`
//
// docs/flocking.md lists what the paper leaves open. swarm.hpp has what is shared with SwarmTag.
#pragma once

#include "envs/swarm/swarm.hpp"

namespace gpu_envs::envs::flocking {

using namespace ge;
using spatial::Course, spatial::Position;
using swarm::kOpen, swarm::kMostSectors;

// ---- what is described

// The last value of each of the two leaves the choice to the profile.
enum RewardMode : int32_t { kSum, kOverride, kModeOfProfile };
enum Shown : int32_t { kHidden, kShown, kShownOfProfile };

/// What may differ by world. `lowest` of a number is kOpen where a profile may fill it in, which
/// happens once for all worlds.
struct Varied {
  double max_rotate = kOpen, max_accelerate = kOpen, min_speed = kOpen, max_speed = kOpen;
  double reward_decay = 5, touch_distance = kOpen, touch_penalty = kOpen;
  double reward_scale = 1;

  const char* problem() const {
    const bool is_open = max_speed < 0;
    return min_speed > max_speed && !is_open ? "min_speed must not be above max_speed" : nullptr;
  }
  static constexpr auto describe_movement(double lowest) {
    return fields(
        field("max_rotate", &Varied::max_rotate,
              "most rotation of an agent in a step; -1: the profile's value, 0.025")
            .in("pi rad/step")
            .within(lowest, 1),
        field("max_accelerate", &Varied::max_accelerate,
              "most change of an agent's speed in a step; -1: the profile's value, 0.001")
            .in("1/step^2")
            .within(lowest, 1),
        field("min_speed", &Varied::min_speed,
              "lowest speed, in sides of the world; -1: the profile's value, vogue 0, floxs 0.015")
            .in("1/step")
            .within(lowest, 0.5),
        field("max_speed", &Varied::max_speed,
              "highest speed, in sides of the world; -1: the profile's value, 0.025")
            .in("1/step")
            .within(lowest, 0.5));
  }
  static constexpr auto describe_rewards(double lowest) {
    return fields(
        field("reward_decay", &Varied::reward_decay,
              "decay of a neighbour's reward over reward_range: exp(-reward_decay * distance / "
              "reward_range)")
            .within(0, 80),
        field("touch_distance", &Varied::touch_distance,
              "distance of centres below which two agents touch, in sides of the world; -1: twice "
              "agent_radius")
            .within(lowest, 2),
        field("touch_penalty", &Varied::touch_penalty,
              "penalty for each agent that is touched; -1: the profile's value, vogue 1, floxs 0.1")
            .within(lowest, 1e6),
        field("reward_scale", &Varied::reward_scale, "factor of all rewards").within(0, 1e6));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_movement(0), describe_rewards(0));
  }
};

struct Settings : Varied {
  int32_t profile = swarm::kVogue;
  int32_t agent_count = kOpen;
  int32_t sector_count = 128;
  double vision_range = kOpen, view_angle = kOpen, agent_radius = kOpen;
  double empty_value = -1;
  int32_t speed_element = kShownOfProfile;
  int32_t reward_mode = kModeOfProfile;
  double reward_range = kOpen;

  static constexpr auto describe_swarm() {
    return fields(swarm::profile_field(&Settings::profile),
                  field("agent_count", &Settings::agent_count,
                        "number of agents; -1: the profile's value, vogue 1024, floxs 50")
                      .within(kOpen, 1 << 30));
  }
  static constexpr auto describe_senses() {
    return fields(
        field("sector_count", &Settings::sector_count, "number of sectors of the field of view")
            .within(2, kMostSectors),
        field("vision_range", &Settings::vision_range,
              "distance up to which centres of agents are seen, in sides of the world; -1: the "
              "profile's value, vogue 0.1, floxs 0.2")
            .within(kOpen, 2),
        field(
            "view_angle", &Settings::view_angle,
            "half angle of the field of view; -1: the profile's value, 0.5, half of all directions")
            .in("pi rad")
            .within(kOpen, 1),
        swarm::radius_field(&Settings::agent_radius),
        swarm::empty_value_field(&Settings::empty_value),
        field("speed_element", &Settings::speed_element,
              "whether an observation ends with the agent's speed / max_speed; profile: vogue yes, "
              "floxs no")
            .named("no", "yes", "profile"));
  }
  static constexpr auto describe_company() {
    return fields(
        field("reward_mode", &Settings::reward_mode,
              "effect of penalties; sum: they are added; override: one replaces the rest of the "
              "reward; profile: vogue sum, floxs override")
            .named("sum", "override", "profile"),
        field("reward_range", &Settings::reward_range,
              "distance up to which neighbours are rewarded, in sides of the world; -1: the "
              "profile's value, vogue vision_range, floxs 0.2")
            .within(kOpen, 2));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_swarm(), describe_movement(kOpen), describe_senses(),
                          describe_company(), describe_rewards(kOpen));
  }
};

/// What is the same in all worlds.
struct Params {
  int32_t agent_count;
  spatial::Sectors sectors;
  int32_t speed_element;
  int32_t overrides;
  double reward_range;
  spatial::Grid grid;
};

/// What rules read of Varied, and of the range of rewards.
struct Derived {
  float turn, accelerate, min_speed, max_speed;
  float range, range_squared, slope, touch;
  float touch_penalty, reward_scale;
  GE_FN spatial::Abilities abilities() const { return {turn, accelerate, min_speed, max_speed}; }
  GE_FN spatial::Closeness closeness() const { return {range, range_squared, slope, touch}; }
  static constexpr auto describe() {
    return fields(field("turn", &Derived::turn, "most rotation in a step"),
                  field("accelerate", &Derived::accelerate, "most change of speed in a step"),
                  field("min_speed", &Derived::min_speed, "lowest speed"),
                  field("max_speed", &Derived::max_speed, "highest speed"),
                  field("range", &Derived::range, "distance up to which neighbours are rewarded"),
                  field("range_squared", &Derived::range_squared, "its square"),
                  field("slope", &Derived::slope, "decay of a reward over a distance"),
                  field("touch", &Derived::touch, "distance below which agents touch"),
                  field("touch_penalty", &Derived::touch_penalty, "penalty of a touch"),
                  field("reward_scale", &Derived::reward_scale, "factor of all rewards"));
  }
};
GE_FN Derived derived_from(const Varied& v, const Params& p) {
  const spatial::Closeness c =
      spatial::make_closeness(p.reward_range, v.reward_decay, v.touch_distance);
  return {float(v.max_rotate),
          float(v.max_accelerate),
          float(v.min_speed),
          float(v.max_speed),
          c.range,
          c.range_squared,
          c.slope,
          c.touch,
          float(v.touch_penalty),
          float(v.reward_scale)};
}

Params resolve_settings(Settings& settings);

/// Action of an agent.
struct Steer {
  float rotation, acceleration;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("rotation", &Steer::rotation,
                        "rotation of the agent, -1: fully to the right, 1: fully to the left")
                      .within(-1, 1),
                  field("acceleration", &Steer::acceleration,
                        "acceleration of the agent, -1: brakes fully, 1: speeds up fully")
                      .within(-1, 1));
  }
};

struct Observation : WideRow<float> {
  static constexpr int capacity = kMostSectors + 1;
  static constexpr bool complete = true;
  static GE_FN int elements(const Params& p) { return p.sectors.count + p.speed_element; }
  static std::vector<FieldInfo> describe(const Params& p) {
    const double least = p.sectors.empty < 0 ? double(p.sectors.empty) : 0.0;
    std::vector<FieldInfo> all{wide_field("view", {p.sectors.count},
                                          "distance of the nearest agent in each sector, from left "
                                          "to right, in units of vision_range",
                                          least, 1)};
    if (p.speed_element)
      all.push_back(wide_field("speed", {1}, "speed of the agent, in units of max_speed", 0, 1));
    return all;
  }
};

// ---- tables

struct Birds : Agents<kAny, Position, Course, Steer> {
  static constexpr const char* name = "agents";
  static GE_FN int64_t count(const Params& p) { return p.agent_count; }
};

struct Schema;
using Model = spatial::Model<Schema, Params, Birds>;

struct Schema : swarm::TaskSchema<Birds, Model> {
  using Settings = flocking::Settings;
  using Params = flocking::Params;
  using Varied = flocking::Varied;
  using Derived = flocking::Derived;
  using Action = Steer;
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
  static GE_FN Derived derive(const Varied& varied, const Params& params) {
    return derived_from(varied, params);
  }
};
using W = World<Schema>;

// ---- rules

/// Random position, heading and speed.
GE_FN void begin(const W& w, Slot me, Position& at, Course& course) {
  spatial::start(w.params().grid.square, w.varied().abilities(), draw<"start">(w, me.row), at,
                 course);
}

/// Turns and accelerates the agent, then advances it on the torus.
GE_FN void move(const W& w, Position& at, Course& course, const Steer& action) {
  spatial::steer(w.varied().abilities(), course, action.rotation, action.acceleration);
  spatial::advance(w.params().grid.square, at, course);
}

/// Reward for company within reward_range, and the penalty for touching.
GE_FN void pay(const W& w, const Squad& squad, Slot me, Reward& reward, const Position& at) {
  const Derived v = w.varied();
  const spatial::Closeness c = v.closeness();
  spatial::Look<Model> look(w, squad, me.row, at.x, at.y, c.range, c.range_squared);
  const spatial::Company found = spatial::company(look, squad, c);
  const float penalised = found.worth - v.touch_penalty * float(found.touches);
  // Both modes are computed and one is selected: a branch would diverge within a warp.
  const float overridden = select(found.touches > 0, -v.touch_penalty, found.worth);
  reward.value = select(w.params().overrides != 0, overridden, penalised) * v.reward_scale;
}

// ---- observation

GE_FN void observe(const W& w, FloatRow& row, const Squad& squad, Slot me, const Position& at,
                   const Course& course) {
  const Params& p = w.params();
  const int count = p.sectors.count;
  spatial::SpanMinima<kMostSectors> view(row, count);
  spatial::see<Model>(w, view, squad, me.row, at, course.heading, p.sectors);
  view.finish(p.sectors.empty);
  // One lane writes the speed.
  if (p.speed_element != 0 && squad.lane() == 0) {
    const float most = w.varied().max_speed;
    row.set(count, select(most > 0.0f, course.speed / most, 0.0f));
  }
}

// ---- profiles

inline Params resolve_settings(Settings& s) {
  using spatial::fill;
  const bool floxs = s.profile == swarm::kFloxs;
  fill(s.agent_count, floxs ? 50 : 1024, "agent_count", 1);
  fill(s.max_rotate, 0.025, "max_rotate");
  fill(s.max_accelerate, 0.001, "max_accelerate");
  fill(s.min_speed, floxs ? 0.015 : 0.0, "min_speed");
  fill(s.max_speed, 0.025, "max_speed");
  fill(s.vision_range, floxs ? 0.2 : 0.1, "vision_range", 1e-6);
  fill(s.view_angle, 0.5, "view_angle", 0.001);
  fill(s.agent_radius, floxs ? 0.01 : 0.0025, "agent_radius");
  fill(s.reward_range, floxs ? 0.2 : s.vision_range, "reward_range", 1e-6);
  fill(s.touch_distance, 2 * s.agent_radius, "touch_distance");
  fill(s.touch_penalty, floxs ? 0.1 : 1.0, "touch_penalty");
  if (s.speed_element == kShownOfProfile) s.speed_element = floxs ? kHidden : kShown;
  if (s.reward_mode == kModeOfProfile) s.reward_mode = floxs ? kOverride : kSum;
  spatial::check_speeds(s.min_speed, s.max_speed, "min_speed", "max_speed");
  Params p{};
  p.agent_count = s.agent_count;
  p.sectors = spatial::make_sectors(s.sector_count, s.view_angle, s.vision_range, s.agent_radius,
                                    s.empty_value);
  p.speed_element = s.speed_element == kShown, p.overrides = s.reward_mode == kOverride;
  p.reward_range = s.reward_range;
  // One grid for both ranges; a look over the larger one covers several rows of cells.
  const double range = s.vision_range < s.reward_range ? s.vision_range : s.reward_range;
  p.grid = spatial::make_grid(spatial::torus(1), range, s.agent_count);
  return p;
}

/// Agents are coloured by their heading, so that flocks stand out.
inline Scene scene_for(const W& w, int viewer) {
  return spatial::swarm_scene<Model>(w, viewer, w.params().sectors, [&w](int row) {
    return palette::of_heading(get<Birds, Course>(w, row).heading);
  });
}
inline Scene scene(const W& w) {
  return scene_for(w, 0);
}

inline std::string text(const W& w, int viewer) {
  std::string text = spatial::swarm_map<Model>(w, viewer, [](int) { return '\0'; }) + "\n";
  spatial::add_movement<Model>(text, w, " agents", 0, w.params().agent_count);
  if (viewer >= 0) spatial::add_viewer<Model>(text, w, viewer);
  add_steps(text, w.step(), w.max_steps());
  return text + "\n";
}

inline std::string act_name(const Params&, int k) {
  constexpr const char* kNames[] = {"right", "straight on", "left", "brake", "coast", "speed up"};
  return kNames[k];
}
inline std::string act_key(const Params&, int k) {
  return std::string(1, swarm::kSteeringKeys[k]);
}

// ---- the graphs

struct Environment : swarm::Graphs<Model, &begin, &move, &pay, &observe> {
  using Schema = flocking::Schema;
  using Observation = flocking::Observation;
  static constexpr Card card{
      .doc =
          "A swarm that keeps together without touching, seen through sectors of a field of view.",
      .max_episode_steps = 400,
      .agents = "agent_count",
      .render_fps = 20};
  static constexpr Hooks<Schema> hooks{.action_name = &act_name,
                                       .action_key = &act_key,
                                       .text = &text,
                                       .scene = &scene,
                                       .scene_for = &scene_for};
};

using Builds = ge::Builds<Build<"Flocking-v0", Environment>>;

}  // namespace gpu_envs::envs::flocking
