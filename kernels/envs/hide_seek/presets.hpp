// From Settings to Params: what each profile says where the user says nothing, and what is refused.
// Host only, once per simulator.
//
//   fixed   the rules of the GPU batch version of hide-and-seek, without its slips
//   port    its rules as they are, slips of the generator and of the actions included
//   openai  the original's sizes, speeds and rules
#pragma once

#include "engine/maths/math.hpp"
#include "envs/hide_seek/bodies.hpp"
#include "envs/hide_seek/params.hpp"

namespace gpu_envs::envs::hide_seek {

/// Fills in what is open, and refuses what lies between open and the lowest value.
template <class T>
void fill(T& value, double of_profile, const char* name, double lowest = 0) {
  if (value == T(kOpen)) value = T(of_profile);
  if (!(double(value) >= lowest))
    refuse(std::string("parameter '") + name + "' must be at least " + shown(lowest) +
           ", or -1 for the profile's own, got " + shown(double(value)));
}

inline void fill_level(Settings& s) {
  const bool small = s.profile == kOpenai;
  fill(s.arena_size, small ? 6 : 36, "arena_size", 1);
  fill(s.wall_height, small ? 0.5 : s.profile == kPort ? 2.5 : 2.0, "wall_height", 0.01);
  fill(s.wall_thickness, small ? 0.1 : 0.4, "wall_thickness", 0.01);
  fill(s.outer_wall_height, small ? 4.0 : s.wall_height, "outer_wall_height", 0.01);
  fill(s.outer_wall_probability, small ? 0.5 : 1.0, "outer_wall_probability");
  fill(s.division_count_low, small ? 0 : 1, "division_count_low");
  fill(s.division_count_high, small ? 3 : 5, "division_count_high");
  fill(s.cut_count_low, small ? 0 : 4, "cut_count_low");
  fill(s.cut_count_high, small ? 0 : 6, "cut_count_high");
  fill(s.door_width, small ? 0.4 : 0.1 * double(s.arena_size), "door_width", 0.01);
  fill(s.cut_width, small ? 1.2 : 0.2 * double(s.arena_size), "cut_width", 0.01);
  if (s.division_count_low > s.division_count_high)
    refuse("division_count_low=" + std::to_string(s.division_count_low) +
           " is above division_count_high=" + std::to_string(s.division_count_high));
  if (s.cut_count_low > s.cut_count_high)
    refuse("cut_count_low=" + std::to_string(s.cut_count_low) +
           " is above cut_count_high=" + std::to_string(s.cut_count_high));
  if (s.door_width > s.arena_size / 4)
    refuse("door_width=" + shown(s.door_width) +
           " must be at most a quarter of arena_size=" + shown(s.arena_size));
  if (s.cut_width > s.arena_size / 4)
    refuse("cut_width=" + shown(s.cut_width) +
           " must be at most a quarter of arena_size=" + shown(s.arena_size));
  // Four outer walls; a division adds four pieces, a cut one.
  const int walls = 4 + 4 * s.division_count_high + s.cut_count_high;
  if (walls > kMostWalls)
    refuse("division_count_high=" + std::to_string(s.division_count_high) + " and cut_count_high=" +
           std::to_string(s.cut_count_high) + " can make " + std::to_string(walls) +
           " walls, at most " + std::to_string(kMostWalls) + " are possible");
}

inline void fill_objects(Settings& s) {
  const bool small = s.profile == kOpenai;
  fill(s.box_count_high, small ? 9 : 8, "box_count_high");
  fill(s.box_count_low, s.box_count_high < 3 ? s.box_count_high : 3, "box_count_low");
  fill(s.long_count_low, s.box_count_low < 3 ? s.box_count_low : 3, "long_count_low");
  fill(s.box_slots, s.box_count_high > 9 ? s.box_count_high : 9, "box_slots");
  fill(s.ramp_count, 2, "ramp_count");
  fill(s.placement_tries, 20, "placement_tries", 1);
  if (s.box_count_low > s.box_count_high)
    refuse("box_count_low=" + std::to_string(s.box_count_low) +
           " is above box_count_high=" + std::to_string(s.box_count_high));
  if (s.long_count_low > s.box_count_high)
    refuse("long_count_low=" + std::to_string(s.long_count_low) +
           " is above box_count_high=" + std::to_string(s.box_count_high));
  if (s.box_slots < s.box_count_high)
    refuse("box_slots=" + std::to_string(s.box_slots) +
           " must be at least box_count_high=" + std::to_string(s.box_count_high));
  fill(s.agent_size, small ? 0.3 : 2.0, "agent_size", 0.01);
  fill(s.box_size, small ? 0.5 : 2.0, "box_size", 0.01);
  fill(s.long_length, small ? 1.65 : 8.0, "long_length", 0.01);
  fill(s.long_width, small ? 0.15 : 1.5, "long_width", 0.01);
  fill(s.ramp_width, small ? 0.5 : 2.0, "ramp_width", 0.01);
  fill(s.ramp_run, small ? 0.5 : 3.0, "ramp_run", 0.01);
  fill(s.ramp_height, small ? 0.5 : 2.0, "ramp_height", 0.01);
  fill(s.agent_mass, 1, "agent_mass", 0.001);
  fill(s.box_mass, small ? 1 : 2, "box_mass", 0.001);
  fill(s.ramp_mass, small ? 1 : 2, "ramp_mass", 0.001);
}

/// Things that fill more than half of the floor cannot be laid out at random without overlaps.
inline void check_room(const Settings& s) {
  const double agents = s.hider_count + s.seeker_count;
  const double box = double(s.box_size) * s.box_size, length = double(s.long_length) * s.long_width;
  const double filled = agents * s.agent_size * s.agent_size +
                        s.box_count_high * (box > length ? box : length) +
                        double(s.ramp_count) * s.ramp_width * s.ramp_run;
  const double floor = double(s.arena_size) * s.arena_size;
  if (filled > 0.5 * floor)
    refuse("the arena is too small: hider_count + seeker_count=" + shown(agents) +
           ", box_count_high=" + std::to_string(s.box_count_high) +
           " and ramp_count=" + std::to_string(s.ramp_count) + " fill " + shown(filled) +
           " m^2, at most half of arena_size^2=" + shown(floor) +
           " m^2 may be filled: raise arena_size, or lower counts or sizes of bodies");
  const std::pair<const char*, float> lengths[] = {
      {"agent_size", s.agent_size}, {"box_size", s.box_size},     {"long_length", s.long_length},
      {"long_width", s.long_width}, {"ramp_width", s.ramp_width}, {"ramp_run", s.ramp_run}};
  for (const auto& [name, size] : lengths)
    if (size > s.arena_size / 2)
      refuse(std::string(name) + "=" + shown(size) +
             " must be at most half of arena_size=" + shown(s.arena_size));
}

inline void fill_play(Settings& s) {
  const bool small = s.profile == kOpenai;
  fill(s.preparation_steps, small ? 96 : 95, "preparation_steps");
  fill(s.force_per_bucket, small ? 18 : 96, "force_per_bucket");  // 90 N at the outermost bucket
  fill(s.torque_per_bucket, small ? 18 : 32, "torque_per_bucket");
  fill(s.grab_reach, small ? 0.25 : 2.5, "grab_reach");
  fill(s.lock_reach, s.grab_reach, "lock_reach");
  fill(s.reach_height, small ? 0.0 : 0.5, "reach_height");
  if (s.grab == kHoldOfProfile) s.grab = small ? kWhileHeld : kToggle;
  if (s.freeze == kFreezeOfProfile) s.freeze = s.profile == kPort ? kMovement : kAllHeads;
  fill(s.lidar_range, 200, "lidar_range", 0.01);
  fill(s.lidar_miss, small ? s.arena_size : 0.0f, "lidar_miss");
  fill(s.sight_half_angle, 1.17809725, "sight_half_angle");  // 67.5 degrees
  fill(s.seeker_half_angle, s.sight_half_angle, "seeker_half_angle");
  fill(s.penalty, 10, "penalty");
  fill(s.penalty_bound, small ? 1.5 * double(s.arena_size) : 0.5 * double(s.arena_size),
       "penalty_bound");
  if (s.penalty_mode == kPenaltyOfProfile) s.penalty_mode = small ? kInstead : kAdded;
}

inline void fill_physics(Settings& s) {
  const bool small = s.profile == kOpenai;
  fill(s.time_step, small ? 0.075 : 1.0 / 30, "time_step", 1e-4);
  fill(s.gravity, small ? 50 : 9.8, "gravity");
  fill(s.substeps, small ? 15 : 4, "substeps", 1);
  fill(s.solver_sweeps, 1, "solver_sweeps", 1);
  fill(s.quiet_steps, 12, "quiet_steps");
  fill(s.floor_box_friction, small ? 0.2 : 0.9, "floor_box_friction");
  fill(s.floor_ramp_friction, small ? 0.2 : 0.22, "floor_ramp_friction");
  fill(s.box_friction, small ? 0.2 : 0.5, "box_friction");
  fill(s.wall_friction, small ? 0.2 : 0.5, "wall_friction");
  fill(s.agent_friction, small ? 0.2 : 0.05, "agent_friction");
  fill(s.agent_ramp_friction, small ? 0.01 : 0.05, "agent_ramp_friction");
  fill(s.agent_floor_friction, small ? 0.01 : double(s.agent_friction), "agent_floor_friction");
  fill(s.restitution, small ? 0.0 : 0.3, "restitution");
  fill(s.agent_restitution, 0, "agent_restitution");
  fill(s.agent_damping, small ? 10 : 0, "agent_damping");
  fill(s.agent_lift_damping, small ? 1 : 0, "agent_lift_damping");
  fill(s.agent_spin_damping, small ? 10 : 0, "agent_spin_damping");
  fill(s.box_damping, small ? 0.01 : 0, "box_damping");
  fill(s.ramp_damping, small ? 0.1 : 0, "ramp_damping");
}

/// Rows of boxes that a level does not have stay empty, so that ramps are found at the same rows.
inline void set_rows(const Settings& s, Params& p) {
  p.hider_count = s.hider_count, p.seeker_count = s.seeker_count;
  p.agent_count = s.hider_count + s.seeker_count;
  p.box_slots = s.box_slots, p.ramp_count = s.ramp_count;
  p.first_box = p.agent_count, p.first_ramp = p.first_box + p.box_slots;
  p.body_count = p.first_ramp + p.ramp_count;
  // The widest pack: a pack of targets is then one observer's.
  p.sight_slots = int32_t(round_up(p.body_count, 16));
}

inline void set_level(const Settings& s, Params& p) {
  const bool small = s.profile == kOpenai, port = s.profile == kPort;
  p.arena_half = 0.5f * s.arena_size;
  p.wall_half = 0.5f * s.wall_thickness;
  p.wall_height = s.wall_height, p.outer_wall_height = s.outer_wall_height;
  p.outer_wall_probability = s.outer_wall_probability;
  p.division_low = s.division_count_low, p.division_high = s.division_count_high;
  p.cut_low = s.cut_count_low, p.cut_high = s.cut_count_high;
  p.cells = small ? 30 : 0;
  // Walls are planned in cells, 30 to a side, or on the unit square (level.hpp).
  const float unit = small ? s.arena_size / 30.0f : s.arena_size;
  p.door = s.door_width / unit, p.cut = s.cut_width / unit;
  p.box_low = s.box_count_low, p.box_high = s.box_count_high, p.long_low = s.long_count_low;
  p.long_all = small, p.quarter_turns = small, p.inside = small, p.overlaps = port;
  p.tries = s.placement_tries;
  p.turn_range = port ? 0x1.921fb6p+1f : 0x1.921fb6p+2f;
}

inline void set_play(const Settings& s, Params& p) {
  const bool small = s.profile == kOpenai, port = s.profile == kPort;
  p.preparation_steps = s.preparation_steps;
  // The batch version counts down from one more than it freezes.
  p.countdown = small || s.preparation_steps == 0 ? s.preparation_steps : s.preparation_steps + 1;
  p.force = s.force_per_bucket, p.torque = s.torque_per_bucket;
  p.world_frame = small, p.radial = small, p.stops = !small;
  p.holds = s.grab == kWhileHeld;
  p.frozen_hands = s.freeze == kAllHeads;
  p.grab_reach = s.grab_reach, p.lock_reach = s.lock_reach, p.reach_height = s.reach_height;
  p.masked = s.observation_mode == kMasked;
  p.flat_cone = small, p.world_lidar = small, p.absolute = small;
  p.own_fields = s.profile == kFixed, p.moving_agents = !port;
  p.lidar_range = s.lidar_range, p.lidar_miss = s.lidar_miss;
  p.sight_cosine = ge::cos(s.sight_half_angle);
  p.seeker_cosine = ge::cos(s.seeker_half_angle);
  for (int ray = 0; ray < kRaySlots; ++ray) {
    const int k = ray < kRays ? ray : 0;
    ge::sincos(float(k) * (0x1.921fb6p+2f / float(kRays)), p.ray_sin[ray], p.ray_cos[ray]);
  }
  p.penalty = s.penalty, p.penalty_bound = s.penalty_bound;
  p.penalty_instead = s.penalty_mode == kInstead;
  p.own_pay = s.payment == kToOwn;
}

inline Params resolve_settings(Settings& s) {
  fill_level(s);
  fill_objects(s);
  fill_play(s);
  fill_physics(s);
  check_room(s);
  Params p{};
  set_rows(s, p);
  set_level(s, p);
  set_play(s, p);
  p.physics = make_setup(s);
  return p;
}

}  // namespace gpu_envs::envs::hide_seek
