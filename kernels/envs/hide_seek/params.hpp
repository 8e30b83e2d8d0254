// What the rules read (Params), the numbers of rows that follow from it, and how much a build has
// room for (Tier).
#pragma once

#include "envs/hide_seek/settings.hpp"
#include "physics/bodies.hpp"

namespace gpu_envs::envs::hide_seek {

namespace physics = ge::physics;
using physics::Vec3;

/// Rows of physics::Setup::kinds.
enum BodyKind : uint32_t {
  kFloorKind,
  kWallKind,
  kCubeKind,
  kLongKind,
  kRampKind,
  kAgentKind,
  kPlaneKind
};

inline constexpr int kRays = 30, kRaySlots = 32;  // of an agent's lidar; slots are padding
inline constexpr int kMostWalls = 40;

struct Params {
  int32_t hider_count, seeker_count, agent_count;
  // Rows of bodies: agents, hiders first; boxes, long ones first; ramps.
  int32_t box_slots, ramp_count, body_count, first_box, first_ramp;
  int32_t sight_slots;  // bodies of a row of sight, rounded up
  // The level.
  float arena_half;         // [m]
  float wall_half;          // half of the thickness [m]
  float wall_height;        // [m]
  float outer_wall_height;  // [m]
  float outer_wall_probability;
  int32_t division_low, division_high, cut_low, cut_high;
  float door, cut;  // widths [arena sides], where there are cells: [cells]
  int32_t cells;    // along a side of the grid of rooms; 0: rooms by divisions and cuts
  int32_t box_low, box_high, long_low;
  int32_t long_all;       // any number up to all boxes may be long
  int32_t quarter_turns;  // boxes and ramps begin along an axis
  int32_t inside;         // nothing begins across the border of the arena
  int32_t overlaps;       // as a last resort things begin where others are, agents always
  int32_t tries;          // places per thing
  float turn_range;       // first yaws are below this [rad]
  // Actions.
  int32_t preparation_steps;
  int32_t countdown;  // what the counter of the preparation begins with [steps]
  float force, torque;
  int32_t world_frame;  // forces along the axes of the world, not of the agent
  int32_t holds;        // a grip lasts while its head is 1; else a press toggles it
  int32_t radial;       // grips and locks reach what is near and seen; else what a ray meets
  int32_t frozen_hands;
  int32_t stops;  // agents lose their velocity after each step
  float grab_reach, lock_reach, reach_height;
  // Senses.
  int32_t masked, flat_cone, world_lidar, own_fields, absolute;
  int32_t moving_agents;  // observations show the velocity of agents as they moved in the step
  float lidar_range, lidar_miss;
  float sight_cosine, seeker_cosine;             // of half the angle of the cone
  float ray_cos[kRaySlots], ray_sin[kRaySlots];  // counter-clockwise from forward, or +x
  // Rewards.
  float penalty, penalty_bound;
  int32_t penalty_instead;
  int32_t own_pay;  // for what oneself sees or shows, not for what the team does

  physics::Setup physics;
};

GE_FN bool is_hider(const Params& p, int agent) {
  return agent < p.hider_count;
}
GE_FN float agent_half(const Params& p) {
  return p.physics.kinds[kAgentKind].half[0];
}
/// Height of the centre of mass of something that stands on the floor.
GE_FN float standing_height(const physics::Kind& kind) {
  return select(kind.shape == physics::kWedge, kind.half[2] * (1.0f / 3.0f),
                select(kind.shape == physics::kSphere, kind.half[0], kind.half[2]));
}

template <int kAgents_, int kBoxes_, int kRamps_>
struct Tier {
  static constexpr int agents = kAgents_, boxes = kBoxes_, ramps = kRamps_;
  static constexpr int bodies = kAgents_ + kBoxes_ + kRamps_;
  static constexpr int sights = int(round_up(bodies, 16));
};

}  // namespace gpu_envs::envs::hide_seek
