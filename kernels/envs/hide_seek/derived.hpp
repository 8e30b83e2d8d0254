// From the parameters that may differ by world to what rules read of them. Runs on every machine,
// where a world begins an episode with numbers of its own.
#pragma once

#include "envs/hide_seek/settings.hpp"
#include "physics/setup.hpp"

namespace gpu_envs::envs::hide_seek {

/// What does not go together, where none is left open.
inline const char* problem_of(const Varied& v, const Params& p) {
  if (v.division_count_low > v.division_count_high)
    return "division_count_low is above division_count_high";
  if (v.cut_count_low > v.cut_count_high) return "cut_count_low is above cut_count_high";
  if (v.most_walls() > kMostWalls)
    return "division_count_high and cut_count_high can make more walls than are possible";
  if (v.box_count_low > p.box_high) return "box_count_low is above box_count_high";
  const float widest = 0.5f * p.arena_half;
  if (v.door_width > widest) return "door_width must be at most a quarter of arena_size";
  return v.cut_width > widest ? "cut_width must be at most a quarter of arena_size" : nullptr;
}

// ---- bodies as physics sees them: masses and friction

GE_FN void set_damping(physics::Kind& kind, float along, float lift, float spin) {
  kind.damping[0] = along, kind.damping[1] = lift, kind.spin_damping = spin;
}
GE_FN void weigh(const Varied& v, physics::Setup& setup) {
  physics::Kind* const kinds = setup.kinds;
  physics::set_mass(kinds[kAgentKind], v.agent_mass);
  set_damping(kinds[kAgentKind], v.agent_damping, v.agent_lift_damping, v.agent_spin_damping);
  for (int kind = kCubeKind; kind <= int(kLongKind); ++kind) {
    physics::set_mass(kinds[kind], v.box_mass);
    set_damping(kinds[kind], v.box_damping, v.box_damping, v.box_damping);
  }
  physics::set_mass(kinds[kRampKind], v.ramp_mass);
  set_damping(kinds[kRampKind], v.ramp_damping, v.ramp_damping, v.ramp_damping);
}

GE_FN void make_friction(const Varied& v, const Params& p, physics::Setup& setup) {
  for (int k = 0; k < physics::kKinds; ++k) {
    physics::set_friction(setup, kAgentKind, k, v.agent_friction);
    for (int other = 0; other < physics::kKinds; ++other)
      physics::set_restitution(setup, k, other, v.restitution);
  }
  for (int kind = kCubeKind; kind <= int(kRampKind); ++kind) {
    const float floor = kind == int(kRampKind) ? v.floor_ramp_friction : v.floor_box_friction;
    physics::set_friction(setup, kFloorKind, kind, floor);
    physics::set_friction(setup, kPlaneKind, kind, floor);
    physics::set_friction(setup, kWallKind, kind, v.wall_friction);
    for (int other = kCubeKind; other <= int(kRampKind); ++other)
      physics::set_friction(setup, kind, other, v.box_friction);
  }
  physics::set_friction(setup, kAgentKind, kRampKind, v.agent_ramp_friction);
  const float sole = p.agent_floor_friction < 0.0f ? v.agent_friction : p.agent_floor_friction;
  physics::set_friction(setup, kAgentKind, kFloorKind, sole);
  physics::set_friction(setup, kAgentKind, kPlaneKind, sole);
  for (int k = 0; k < physics::kKinds; ++k)
    physics::set_restitution(setup, kAgentKind, k, v.agent_restitution);
}

GE_FN void make_physics(const Varied& v, const Params& p, physics::Setup& setup) {
  setup = p.shapes;
  weigh(v, setup);
  make_friction(v, p, setup);
  physics::set_gravity(setup, v.gravity, setup.kinds[kCubeKind].half[0]);
  // Damped agents keep their speed: they may reach it, on a diagonal too, as far as contacts are
  // found in time.
  if (v.agent_damping > 0.0f) {
    const float run = 1.5f * 5.0f * v.force_per_bucket / v.agent_damping;
    setup.top_speed = max(setup.top_speed, min(run, setup.reach / setup.substep));
  }
}

// ---- what the rules read

GE_FN void derive_level(const Varied& v, const Params& p, Derived& d) {
  d.outer_wall_probability = v.outer_wall_probability;
  d.division_low = v.division_count_low, d.division_high = v.division_count_high;
  d.cut_low = v.cut_count_low, d.cut_high = v.cut_count_high;
  d.door = v.door_width / p.plan_unit, d.cut = v.cut_width / p.plan_unit;
  d.box_low = v.box_count_low;
  d.long_low = p.long_low < 0 ? min(d.box_low, 3) : p.long_low;
  d.tries = v.placement_tries;
}

GE_FN void derive_play(const Varied& v, const Params& p, Derived& d) {
  d.preparation_steps = v.preparation_steps;
  // The batch version counts down from one more than it freezes.
  d.countdown = v.preparation_steps == 0 ? 0 : v.preparation_steps + p.extra_countdown;
  d.force = v.force_per_bucket, d.torque = v.torque_per_bucket;
  d.grab_reach = v.grab_reach, d.reach_height = v.reach_height;
  d.lock_reach = p.lock_reach < 0.0f ? v.grab_reach : p.lock_reach;
  d.lidar_range = v.lidar_range, d.lidar_miss = v.lidar_miss;
  d.sight_cosine = ge::cos(v.sight_half_angle);
  d.seeker_cosine = ge::cos(p.seeker_half_angle < 0.0f ? v.sight_half_angle : p.seeker_half_angle);
  d.penalty = v.penalty, d.penalty_bound = v.penalty_bound;
}

GE_FN Derived derived_from(const Varied& varied, const Params& params) {
  Derived derived{};
  derive_level(varied, params, derived);
  derive_play(varied, params, derived);
  make_physics(varied, params, derived.physics);
  return derived;
}

}  // namespace gpu_envs::envs::hide_seek
