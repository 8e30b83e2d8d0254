// What a user sets (Settings): a profile, and anything that should differ from it. presets.hpp
// fills in what is left open, params.hpp has what the rules read.
#pragma once

#include <cstdio>
#include <string>

#include "engine/environment.hpp"

namespace gpu_envs::envs::hide_seek {

using namespace ge;

enum Profile : int32_t { kFixed, kOpenai, kPort };
/// Of a choice that a profile makes, the last: as the profile says.
enum Hold : int32_t { kToggle, kWhileHeld, kHoldOfProfile };
enum Freeze : int32_t { kAllHeads, kMovement, kFreezeOfProfile };
enum Penalty : int32_t { kAdded, kInstead, kPenaltyOfProfile };
enum Payment : int32_t { kToTeam, kToOwn };
enum ObservationMode : int32_t { kMasked, kFull };

inline constexpr int kMostOfATeam = 20, kMostBoxes = 40, kMostRamps = 8;
/// Of a number: as the profile says.
inline constexpr int32_t kOpen = -1;

struct Settings {
  int32_t profile = kFixed;
  int32_t hider_count = 3, seeker_count = 2;
  // The level.
  float arena_size = kOpen, wall_height = kOpen, wall_thickness = kOpen;
  float outer_wall_height = kOpen, outer_wall_probability = kOpen;
  int32_t division_count_low = kOpen, division_count_high = kOpen;
  int32_t cut_count_low = kOpen, cut_count_high = kOpen;
  float door_width = kOpen, cut_width = kOpen;
  int32_t box_count_low = kOpen, box_count_high = kOpen, box_slots = kOpen;
  int32_t long_count_low = kOpen, ramp_count = kOpen, placement_tries = kOpen;
  // The bodies.
  float agent_size = kOpen, box_size = kOpen, long_length = kOpen, long_width = kOpen;
  float ramp_width = kOpen, ramp_run = kOpen, ramp_height = kOpen;
  float agent_mass = kOpen, box_mass = kOpen, ramp_mass = kOpen;
  // Time, actions, senses.
  int32_t preparation_steps = kOpen;
  float force_per_bucket = kOpen, torque_per_bucket = kOpen;
  float grab_reach = kOpen, lock_reach = kOpen, reach_height = kOpen;
  int32_t grab = kHoldOfProfile, freeze = kFreezeOfProfile;
  float lidar_range = kOpen, lidar_miss = kOpen, sight_half_angle = kOpen;
  float seeker_half_angle = kOpen;
  int32_t observation_mode = kMasked;
  // Rewards.
  float penalty = kOpen, penalty_bound = kOpen;
  int32_t penalty_mode = kPenaltyOfProfile, payment = kToTeam;
  // Physics.
  float time_step = kOpen, gravity = kOpen;
  int32_t substeps = kOpen, solver_sweeps = kOpen, quiet_steps = kOpen;
  float floor_box_friction = kOpen, floor_ramp_friction = kOpen, box_friction = kOpen;
  float wall_friction = kOpen, agent_friction = kOpen, agent_ramp_friction = kOpen;
  float agent_floor_friction = kOpen;
  float restitution = kOpen, agent_restitution = kOpen;
  float agent_damping = kOpen, agent_lift_damping = kOpen, agent_spin_damping = kOpen;
  float box_damping = kOpen, ramp_damping = kOpen;

  static constexpr auto describe_level() {
    return fields(
        field("arena_size", &Settings::arena_size, "side of the square; -1: as the profile says")
            .in("m")
            .within(kOpen, 200),
        field("wall_height", &Settings::wall_height, "of inner walls; -1: as the profile says")
            .in("m")
            .within(kOpen, 50),
        field("wall_thickness", &Settings::wall_thickness, "-1: as the profile says")
            .in("m")
            .within(kOpen, 5),
        field("outer_wall_height", &Settings::outer_wall_height, "-1: as the profile says")
            .in("m")
            .within(kOpen, 50),
        field("outer_wall_probability", &Settings::outer_wall_probability,
              "of a wall around the arena; -1: as the profile says")
            .within(kOpen, 1),
        field("division_count_low", &Settings::division_count_low,
              "fewest attempts to join two walls by a new one with a door; -1: as the profile says")
            .within(kOpen, 8),
        field("division_count_high", &Settings::division_count_high,
              "most such attempts; -1: as the profile says")
            .within(kOpen, 8),
        field("cut_count_low", &Settings::cut_count_low,
              "fewest attempts to cut a wide door into a long wall; -1: as the profile says")
            .within(kOpen, 12),
        field("cut_count_high", &Settings::cut_count_high,
              "most such attempts; -1: as the profile says")
            .within(kOpen, 12),
        field("door_width", &Settings::door_width, "of a new wall's door; -1: as the profile says")
            .in("m")
            .within(kOpen, 50),
        field("cut_width", &Settings::cut_width, "of a wide door; -1: as the profile says")
            .in("m")
            .within(kOpen, 50));
  }
  static constexpr auto describe_objects() {
    return fields(
        field("box_count_low", &Settings::box_count_low, "fewest boxes; -1: as the profile says")
            .within(kOpen, kMostBoxes),
        field("box_count_high", &Settings::box_count_high, "most boxes; -1: as the profile says")
            .within(kOpen, kMostBoxes),
        field("box_slots", &Settings::box_slots,
              "rows of an observation for boxes; -1: 9, or box_count_high where that is more")
            .within(kOpen, kMostBoxes),
        field("long_count_low", &Settings::long_count_low,
              "fewest long boxes among them; -1: as the profile says")
            .within(kOpen, kMostBoxes),
        field("ramp_count", &Settings::ramp_count, "ramps; -1: as the profile says")
            .within(kOpen, kMostRamps),
        field("placement_tries", &Settings::placement_tries,
              "places tried for each thing; -1: as the profile says")
            .within(kOpen, 100),
        field("agent_size", &Settings::agent_size,
              "edge of an agent's cube, or diameter of its sphere; -1: as the profile says")
            .in("m")
            .within(kOpen, 10),
        field("box_size", &Settings::box_size,
              "edge of a cube, height of a long box; -1: as the profile says")
            .in("m")
            .within(kOpen, 10),
        field("long_length", &Settings::long_length, "of a long box; -1: as the profile says")
            .in("m")
            .within(kOpen, 50),
        field("long_width", &Settings::long_width, "of a long box; -1: as the profile says")
            .in("m")
            .within(kOpen, 10),
        field("ramp_width", &Settings::ramp_width, "-1: as the profile says")
            .in("m")
            .within(kOpen, 10),
        field("ramp_run", &Settings::ramp_run, "length on the floor; -1: as the profile says")
            .in("m")
            .within(kOpen, 20),
        field("ramp_height", &Settings::ramp_height, "-1: as the profile says")
            .in("m")
            .within(kOpen, 10),
        field("agent_mass", &Settings::agent_mass, "-1: as the profile says")
            .in("kg")
            .within(kOpen, 1000),
        field("box_mass", &Settings::box_mass, "-1: as the profile says")
            .in("kg")
            .within(kOpen, 1000),
        field("ramp_mass", &Settings::ramp_mass, "-1: as the profile says")
            .in("kg")
            .within(kOpen, 1000));
  }
  static constexpr auto describe_play() {
    return fields(
        field("preparation_steps", &Settings::preparation_steps,
              "steps without reward in which seekers are frozen; -1: as the profile says")
            .within(kOpen, 1000000),
        field("force_per_bucket", &Settings::force_per_bucket, "-1: as the profile says")
            .in("N")
            .within(kOpen, 10000),
        field("torque_per_bucket", &Settings::torque_per_bucket, "-1: as the profile says")
            .in("N m")
            .within(kOpen, 10000),
        field("grab_reach", &Settings::grab_reach,
              "from an agent's centre to a surface; -1: as the profile says")
            .in("m")
            .within(kOpen, 100),
        field("lock_reach", &Settings::lock_reach, "the same for locking; -1: as the profile says")
            .in("m")
            .within(kOpen, 100),
        field("reach_height", &Settings::reach_height,
              "of the ray that finds what to grab or lock, above the centre; -1: as the profile "
              "says")
            .in("m")
            .within(kOpen, 10),
        field("grab", &Settings::grab, "1 toggles the grip, or holds for as long as it is 1")
            .named("toggle", "hold", "profile"),
        field("freeze", &Settings::freeze, "what seekers cannot do during the preparation")
            .named("all_heads", "movement", "profile"),
        field("lidar_range", &Settings::lidar_range, "-1: as the profile says")
            .in("m")
            .within(kOpen, 10000),
        field("lidar_miss", &Settings::lidar_miss,
              "what lidar shows where nothing is hit; -1: as the profile says")
            .in("m")
            .within(kOpen, 10000),
        field("sight_half_angle", &Settings::sight_half_angle,
              "between the middle and the rim of the cone of sight; -1: as the profile says")
            .in("rad")
            .within(kOpen, 3.1415927),
        field("seeker_half_angle", &Settings::seeker_half_angle,
              "the same of seekers alone; -1: as sight_half_angle")
            .in("rad")
            .within(kOpen, 3.1415927),
        field("observation_mode", &Settings::observation_mode,
              "masked: zeros for what an agent does not see; full: everything")
            .named("masked", "full"),
        field("penalty", &Settings::penalty,
              "what an agent outside the bound loses; -1: as the profile says")
            .within(kOpen, 1e6),
        field("penalty_bound", &Settings::penalty_bound,
              "of |x| and |y|, from which on an agent is outside; -1: as the profile says")
            .in("m")
            .within(kOpen, 1e4),
        field("penalty_mode", &Settings::penalty_mode,
              "the penalty is added to the reward, or replaces it")
            .named("added", "instead", "profile"),
        field(
            "payment", &Settings::payment,
            "team: to all alike, for whether any hider is seen; own: to a hider for whether it is "
            "seen itself, to a seeker for whether it sees one")
            .named("team", "own"));
  }
  static constexpr auto describe_physics() {
    return fields(
        field("time_step", &Settings::time_step, "of one step; -1: as the profile says")
            .in("s")
            .within(kOpen, 1),
        field("gravity", &Settings::gravity, "downwards; -1: as the profile says")
            .in("m/s^2")
            .within(kOpen, 1000),
        field("substeps", &Settings::substeps,
              "of a step; more are stiffer and slower; -1: as the profile says")
            .within(kOpen, 64),
        field("solver_sweeps", &Settings::solver_sweeps,
              "of the solver in a substep; 2 bring high stacks to rest; -1: as the profile says")
            .within(kOpen, 16),
        field("quiet_steps", &Settings::quiet_steps,
              "steps at rest before an object sleeps; 0: never; -1: as the profile says")
            .within(kOpen, 1000000));
  }
  static constexpr auto describe_surfaces() {
    return fields(
        field("floor_box_friction", &Settings::floor_box_friction,
              "Coulomb coefficient; -1: as the profile says")
            .within(kOpen, 10),
        field("floor_ramp_friction", &Settings::floor_ramp_friction,
              "between a ramp and the floor; -1: as the profile says")
            .within(kOpen, 10),
        field("box_friction", &Settings::box_friction,
              "among boxes and ramps; -1: as the profile says")
            .within(kOpen, 10),
        field("wall_friction", &Settings::wall_friction,
              "of boxes and ramps with walls; -1: as the profile says")
            .within(kOpen, 10),
        field("agent_friction", &Settings::agent_friction,
              "of agents with all but ramps and the floor; -1: as the profile says")
            .within(kOpen, 10),
        field("agent_ramp_friction", &Settings::agent_ramp_friction,
              "between an agent and a ramp; -1: as the profile says")
            .within(kOpen, 10),
        field("agent_floor_friction", &Settings::agent_floor_friction,
              "between an agent and the floor; -1: as the profile says")
            .within(kOpen, 10),
        field("restitution", &Settings::restitution,
              "share of the speed of an impact that is given back; -1: as the profile says")
            .within(kOpen, 1),
        field("agent_restitution", &Settings::agent_restitution,
              "the same where an agent is one of the two; -1: as the profile says")
            .within(kOpen, 1),
        field("agent_damping", &Settings::agent_damping,
              "of agents along x and y; -1: as the profile says")
            .in("N s/m")
            .within(kOpen, 1000),
        field("agent_lift_damping", &Settings::agent_lift_damping,
              "of agents along z; -1: as the profile says")
            .in("N s/m")
            .within(kOpen, 1000),
        field("agent_spin_damping", &Settings::agent_spin_damping,
              "of agents about z; -1: as the profile says")
            .in("N m s")
            .within(kOpen, 1000),
        field("box_damping", &Settings::box_damping, "of boxes; -1: as the profile says")
            .in("N s/m")
            .within(kOpen, 1000),
        field("ramp_damping", &Settings::ramp_damping, "of ramps; -1: as the profile says")
            .in("N s/m")
            .within(kOpen, 1000));
  }
  static constexpr auto describe() {
    return std::tuple_cat(
        fields(field("profile", &Settings::profile, "rules and numbers where none are given")
                   .named("fixed", "openai", "port"),
               field("hider_count", &Settings::hider_count, "agents 0, 1, ... of a world")
                   .within(1, kMostOfATeam),
               field("seeker_count", &Settings::seeker_count, "the agents behind the hiders")
                   .within(1, kMostOfATeam)),
        describe_level(), describe_objects(), describe_play(), describe_physics(),
        describe_surfaces());
  }
};

inline std::string shown(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", value);
  return text;
}
[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(Fault::value, message);
}

}  // namespace gpu_envs::envs::hide_seek
