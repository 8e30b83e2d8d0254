// SwarmTag's Settings, which a user chooses, and Params, which the rules read; a profile fills in
// what the user leaves open.
#pragma once

#include "envs/swarm/swarm.hpp"

namespace gpu_envs::envs::swarm_tag {

using namespace ge;
using spatial::Course, spatial::Position;
using swarm::kOpen, swarm::kMostSectors;

/// What the second number of an action sets; the last value leaves that to the profile.
enum Control : int32_t { kSpeed, kAcceleration, kControlOfProfile };

inline constexpr int64_t kMostAgents = 1 << 30;

struct Settings {
  int32_t profile = swarm::kVogue;
  int32_t runner_count = kOpen, chaser_count = kOpen;
  int32_t control = kControlOfProfile;
  double runner_max_rotate = kOpen, chaser_max_rotate = kOpen;
  double runner_max_accelerate = kOpen, chaser_max_accelerate = kOpen;
  double runner_min_speed = kOpen, chaser_min_speed = kOpen;
  double runner_max_speed = kOpen, chaser_max_speed = kOpen;
  int32_t sector_count = 128;
  double runner_vision_range = kOpen, chaser_vision_range = kOpen;
  double runner_view_angle = kOpen, chaser_view_angle = kOpen;
  double agent_radius = kOpen, empty_value = -1;
  double touch_distance = kOpen, touch_reward = 0.1, touch_penalty = 0.1;
  double company_weight = kOpen, company_range = kOpen, company_decay = 5;
  double reward_scale = 1;

  static constexpr auto describe_movement() {
    return fields(
        swarm::profile_field(&Settings::profile),
        field("runner_count", &Settings::runner_count,
              "number of runners; -1: the profile's value, vogue 1024, floxs 20")
            .within(kOpen, kMostAgents),
        field("chaser_count", &Settings::chaser_count,
              "number of chasers; -1: the profile's value, vogue 102, floxs 2")
            .within(kOpen, kMostAgents),
        field("control", &Settings::control,
              "quantity that the second number of an action sets; profile: vogue speed, floxs "
              "acceleration")
            .named("speed", "acceleration", "profile"),
        field("runner_max_rotate", &Settings::runner_max_rotate,
              "most rotation of a runner in a step; -1: the profile's value, 0.025")
            .in("pi rad/step")
            .within(kOpen, 1),
        field("chaser_max_rotate", &Settings::chaser_max_rotate,
              "most rotation of a chaser in a step; -1: the profile's value, 0.025")
            .in("pi rad/step")
            .within(kOpen, 1),
        field("runner_max_accelerate", &Settings::runner_max_accelerate,
              "most change of a runner's speed in a step; -1: the profile's value, 0.001")
            .in("1/step^2")
            .within(kOpen, 1),
        field("chaser_max_accelerate", &Settings::chaser_max_accelerate,
              "most change of a chaser's speed in a step; -1: the profile's value, 0.001")
            .in("1/step^2")
            .within(kOpen, 1),
        field("runner_min_speed", &Settings::runner_min_speed,
              "lowest speed of a runner, in sides of the world; -1: the profile's value, vogue 0, "
              "floxs 0.015")
            .in("1/step")
            .within(kOpen, 0.5),
        field("chaser_min_speed", &Settings::chaser_min_speed,
              "lowest speed of a chaser, in sides of the world; -1: the profile's value, vogue 0, "
              "floxs 0.015")
            .in("1/step")
            .within(kOpen, 0.5),
        field("runner_max_speed", &Settings::runner_max_speed,
              "highest speed of a runner, in sides of the world; -1: the profile's value, vogue "
              "0.02, floxs 0.025")
            .in("1/step")
            .within(kOpen, 0.5),
        field("chaser_max_speed", &Settings::chaser_max_speed,
              "highest speed of a chaser, in sides of the world; -1: the profile's value, 0.025")
            .in("1/step")
            .within(kOpen, 0.5));
  }
  static constexpr auto describe_senses() {
    return fields(
        field("sector_count", &Settings::sector_count,
              "number of sectors of the field of view, in each of the two channels")
            .within(2, kMostSectors),
        field("runner_vision_range", &Settings::runner_vision_range,
              "distance up to which runners see centres of agents, in sides of the world; -1: the "
              "profile's value, 0.1")
            .within(kOpen, 2),
        field("chaser_vision_range", &Settings::chaser_vision_range,
              "distance up to which chasers see centres of agents, in sides of the world; -1: the "
              "profile's value, vogue 0.1, floxs 0.2")
            .within(kOpen, 2),
        field(
            "runner_view_angle", &Settings::runner_view_angle,
            "half angle of a runner's field of view; -1: the profile's value, vogue 0.5, floxs 0.6")
            .in("pi rad")
            .within(kOpen, 1),
        field("chaser_view_angle", &Settings::chaser_view_angle,
              "half angle of a chaser's field of view; -1: the profile's value, vogue 0.5, floxs "
              "0.25")
            .in("pi rad")
            .within(kOpen, 1),
        swarm::radius_field(&Settings::agent_radius),
        swarm::empty_value_field(&Settings::empty_value));
  }
  static constexpr auto describe_rewards() {
    return fields(
        field("touch_distance", &Settings::touch_distance,
              "distance of centres up to which two agents touch, in sides of the world; -1: the "
              "profile's value, vogue twice agent_radius, floxs 0.02")
            .within(kOpen, 2),
        field("touch_reward", &Settings::touch_reward,
              "reward of a chaser that touches at least one runner")
            .within(0, 1e6),
        field("touch_penalty", &Settings::touch_penalty,
              "penalty of a runner for each chaser that it touches")
            .within(0, 1e6),
        field("company_weight", &Settings::company_weight,
              "highest reward of a runner for the company of other runners; -1: the profile's "
              "value, vogue 0.01, floxs 0")
            .within(kOpen, 1e6),
        field("company_range", &Settings::company_range,
              "distance up to which runners are company, in sides of the world; -1: "
              "runner_vision_range")
            .within(kOpen, 2),
        field("company_decay", &Settings::company_decay,
              "decay of company over company_range: exp(-company_decay * distance / company_range)")
            .within(0, 80),
        field("reward_scale", &Settings::reward_scale, "factor of all rewards").within(0, 1e6));
  }
  static constexpr auto describe() {
    return std::tuple_cat(describe_movement(), describe_senses(), describe_rewards());
  }
};

/// What differs between chasers and runners.
struct Kind {
  spatial::Abilities abilities;
  spatial::Sectors sectors;
};

struct Params {
  int32_t chaser_count, agent_count;
  int32_t direct;  // 1: actions set the speed, 0: the acceleration
  Kind chasers, runners;
  float touch_distance, touch_distance_squared;
  float touch_reward, touch_penalty;
  float company_weight, reward_scale;
  spatial::Closeness company;
  spatial::Grid grid;
};

/// Chasers are the first rows of the agents' table.
GE_FN bool is_chaser(const Params& p, int agent) {
  return agent < p.chaser_count;
}
GE_FN const Kind& kind_of(const Params& p, int agent) {
  return is_chaser(p, agent) ? p.chasers : p.runners;
}

inline void fill_settings(Settings& s) {
  using spatial::fill;
  const bool floxs = s.profile == swarm::kFloxs;
  fill(s.runner_count, floxs ? 20 : 1024, "runner_count");
  fill(s.chaser_count, floxs ? 2 : 102, "chaser_count");
  if (s.control == kControlOfProfile) s.control = floxs ? kAcceleration : kSpeed;
  fill(s.runner_max_rotate, 0.025, "runner_max_rotate");
  fill(s.chaser_max_rotate, 0.025, "chaser_max_rotate");
  fill(s.runner_max_accelerate, 0.001, "runner_max_accelerate");
  fill(s.chaser_max_accelerate, 0.001, "chaser_max_accelerate");
  fill(s.runner_min_speed, floxs ? 0.015 : 0.0, "runner_min_speed");
  fill(s.chaser_min_speed, floxs ? 0.015 : 0.0, "chaser_min_speed");
  fill(s.runner_max_speed, floxs ? 0.025 : 0.02, "runner_max_speed");
  fill(s.chaser_max_speed, 0.025, "chaser_max_speed");
  fill(s.runner_vision_range, 0.1, "runner_vision_range", 1e-6);
  fill(s.chaser_vision_range, floxs ? 0.2 : 0.1, "chaser_vision_range", 1e-6);
  fill(s.runner_view_angle, floxs ? 0.6 : 0.5, "runner_view_angle", 0.001);
  fill(s.chaser_view_angle, floxs ? 0.25 : 0.5, "chaser_view_angle", 0.001);
  fill(s.agent_radius, floxs ? 0.01 : 0.0025, "agent_radius");
  fill(s.touch_distance, floxs ? 0.02 : 2 * s.agent_radius, "touch_distance");
  fill(s.company_weight, floxs ? 0.0 : 0.01, "company_weight");
  fill(s.company_range, s.runner_vision_range, "company_range", 1e-6);
  spatial::check_speeds(s.runner_min_speed, s.runner_max_speed, "runner_min_speed",
                        "runner_max_speed");
  spatial::check_speeds(s.chaser_min_speed, s.chaser_max_speed, "chaser_min_speed",
                        "chaser_max_speed");
  const int64_t agents = int64_t{s.runner_count} + s.chaser_count;
  if (agents < 1)
    throw Error(Fault::value,
                "runner_count and chaser_count are both 0: at least one agent must act");
  if (agents > kMostAgents)
    throw Error(Fault::value, "runner_count + chaser_count = " + std::to_string(agents) +
                                  " is above " + std::to_string(kMostAgents));
}

inline Params resolve_settings(Settings& s) {
  fill_settings(s);
  Params p{};
  p.chaser_count = s.chaser_count, p.agent_count = s.chaser_count + s.runner_count;
  p.direct = s.control == kSpeed;
  p.chasers = {{float(s.chaser_max_rotate), float(s.chaser_max_accelerate),
                float(s.chaser_min_speed), float(s.chaser_max_speed)},
               spatial::make_sectors(s.sector_count, s.chaser_view_angle, s.chaser_vision_range,
                                     s.agent_radius, s.empty_value)};
  p.runners = {{float(s.runner_max_rotate), float(s.runner_max_accelerate),
                float(s.runner_min_speed), float(s.runner_max_speed)},
               spatial::make_sectors(s.sector_count, s.runner_view_angle, s.runner_vision_range,
                                     s.agent_radius, s.empty_value)};
  p.touch_distance = float(s.touch_distance);
  p.touch_distance_squared = float(s.touch_distance * s.touch_distance);
  p.touch_reward = float(s.touch_reward), p.touch_penalty = float(s.touch_penalty);
  p.company_weight = float(s.company_weight), p.reward_scale = float(s.reward_scale);
  p.company = spatial::make_closeness(s.company_range, s.company_decay, 0);
  p.grid = spatial::make_grid(spatial::torus(1), s.runner_vision_range, p.agent_count);
  return p;
}

}  // namespace gpu_envs::envs::swarm_tag
