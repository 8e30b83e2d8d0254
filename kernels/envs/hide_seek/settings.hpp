// What a user sets (Settings): a profile, and anything that should differ from it; and what the
// rules read of it (Params). presets.hpp leads from one to the other.
#pragma once

#include <cstdio>
#include <string>

#include "engine/environment.hpp"
#include "physics/bodies.hpp"

namespace gpu_envs::envs::hide_seek {

using namespace ge;
namespace physics = ge::physics;
using physics::Vec3;

enum Profile : int32_t { kFixed, kOpenai, kPort };
// The last of a choice takes the profile's.
enum Hold : int32_t { kToggle, kWhileHeld, kHoldOfProfile };
enum Freeze : int32_t { kAllHeads, kMovement, kFreezeOfProfile };
enum Penalty : int32_t { kAdded, kInstead, kPenaltyOfProfile };
enum Payment : int32_t { kToTeam, kToOwn };
enum ObservationMode : int32_t { kMasked, kFull };

inline constexpr int kMostOfATeam = 20, kMostBoxes = 40, kMostRamps = 8, kMostWalls = 40;
inline constexpr int kMostPreparation = 1000000;
/// The value of a number that the user leaves to the profile.
inline constexpr int32_t kOpen = -1;

/// What may differ by world. Not among them: sizes, which levels by hand are laid out with; what
/// sets the number of rows; what follows from another parameter where it is left open.
struct Varied {
  // The level.
  float outer_wall_probability = kOpen;
  int32_t division_count_low = kOpen, division_count_high = kOpen;
  int32_t cut_count_low = kOpen, cut_count_high = kOpen;
  float door_width = kOpen, cut_width = kOpen;
  int32_t box_count_low = kOpen, placement_tries = kOpen;
  // The bodies.
  float agent_mass = kOpen, box_mass = kOpen, ramp_mass = kOpen;
  // Time, actions, senses.
  int32_t preparation_steps = kOpen;
  float force_per_bucket = kOpen, torque_per_bucket = kOpen;
  float grab_reach = kOpen, reach_height = kOpen;
  float lidar_range = kOpen, lidar_miss = kOpen, sight_half_angle = kOpen;
  // Rewards.
  float penalty = kOpen, penalty_bound = kOpen;
  // Physics.
  float gravity = kOpen;
  float floor_box_friction = kOpen, floor_ramp_friction = kOpen, box_friction = kOpen;
  float wall_friction = kOpen, agent_friction = kOpen, agent_ramp_friction = kOpen;
  float restitution = kOpen, agent_restitution = kOpen;
  float agent_damping = kOpen, agent_lift_damping = kOpen, agent_spin_damping = kOpen;
  float box_damping = kOpen, ramp_damping = kOpen;

  /// Those of Settings, of which none is open any more (presets.hpp).
  static constexpr auto describe();
  /// Four outer walls; a division adds four pieces, a cut one.
  int most_walls() const { return 4 + 4 * division_count_high + cut_count_high; }
};

struct Settings : Varied {
  int32_t profile = kFixed;
  int32_t hider_count = 3, seeker_count = 2;
  // The level.
  float arena_size = kOpen, wall_height = kOpen, wall_thickness = kOpen;
  float outer_wall_height = kOpen;
  int32_t box_count_high = kOpen, box_slots = kOpen, long_count_low = kOpen, ramp_count = kOpen;
  // The bodies.
  float agent_size = kOpen, box_size = kOpen, long_length = kOpen, long_width = kOpen;
  float ramp_width = kOpen, ramp_run = kOpen, ramp_height = kOpen;
  // Actions, senses.
  float lock_reach = kOpen;
  int32_t grab = kHoldOfProfile, freeze = kFreezeOfProfile;
  float seeker_half_angle = kOpen;
  int32_t observation_mode = kMasked;
  // Rewards.
  int32_t penalty_mode = kPenaltyOfProfile, payment = kToTeam;
  // Physics.
  float time_step = kOpen;
  int32_t substeps = kOpen, solver_sweeps = kOpen, quiet_steps = kOpen;
  float agent_floor_friction = kOpen;

  static constexpr auto describe_level() {
    return fields(
        field("arena_size", &Settings::arena_size,
              "side of the square arena; -1: the profile's value")
            .in("m")
            .within(kOpen, 200),
        field("wall_height", &Settings::wall_height,
              "height of inner walls; -1: the profile's value")
            .in("m")
            .within(kOpen, 50),
        field("wall_thickness", &Settings::wall_thickness,
              "thickness of all walls; -1: the profile's value")
            .in("m")
            .within(kOpen, 5),
        field("outer_wall_height", &Settings::outer_wall_height,
              "height of the walls around the arena; -1: the profile's value")
            .in("m")
            .within(kOpen, 50),
        field("outer_wall_probability", &Settings::outer_wall_probability,
              "probability of walls around the arena; -1: the profile's value")
            .within(kOpen, 1)
            .from_reset(),
        field("division_count_low", &Settings::division_count_low,
              "fewest attempts to join two walls by a new one with a door; -1: the profile's value")
            .within(kOpen, 8)
            .from_reset(),
        field("division_count_high", &Settings::division_count_high,
              "most attempts to join two walls by a new one with a door; -1: the profile's value")
            .within(kOpen, 8)
            .from_reset(),
        field("cut_count_low", &Settings::cut_count_low,
              "fewest attempts to cut a wide door into a long wall; -1: the profile's value")
            .within(kOpen, 12)
            .from_reset(),
        field("cut_count_high", &Settings::cut_count_high,
              "most attempts to cut a wide door into a long wall; -1: the profile's value")
            .within(kOpen, 12)
            .from_reset(),
        field("door_width", &Settings::door_width,
              "width of the door in a new wall; -1: the profile's value")
            .in("m")
            .within(kOpen, 50)
            .from_reset(),
        field("cut_width", &Settings::cut_width,
              "width of a door cut into a long wall; -1: the profile's value")
            .in("m")
            .within(kOpen, 50)
            .from_reset());
  }
  static constexpr auto describe_objects() {
    return fields(
        field("box_count_low", &Settings::box_count_low,
              "fewest boxes of a level; -1: the profile's value")
            .within(kOpen, kMostBoxes)
            .from_reset(),
        field("box_count_high", &Settings::box_count_high,
              "most boxes of a level; -1: the profile's value")
            .within(kOpen, kMostBoxes),
        field("box_slots", &Settings::box_slots,
              "rows for boxes in an observation; -1: 9, or box_count_high if that is more")
            .within(kOpen, kMostBoxes),
        field("long_count_low", &Settings::long_count_low,
              "fewest long boxes of a level; -1: the profile's value")
            .within(kOpen, kMostBoxes),
        field("ramp_count", &Settings::ramp_count, "ramps of a level; -1: the profile's value")
            .within(kOpen, kMostRamps),
        field("placement_tries", &Settings::placement_tries,
              "random places tried for each body; -1: the profile's value")
            .within(kOpen, 100)
            .from_reset(),
        field("agent_size", &Settings::agent_size,
              "edge of an agent's cube, or diameter of its sphere; -1: the profile's value")
            .in("m")
            .within(kOpen, 10),
        field("box_size", &Settings::box_size,
              "edge of a cube, and height of a long box; -1: the profile's value")
            .in("m")
            .within(kOpen, 10),
        field("long_length", &Settings::long_length,
              "length of a long box; -1: the profile's value")
            .in("m")
            .within(kOpen, 50),
        field("long_width", &Settings::long_width, "width of a long box; -1: the profile's value")
            .in("m")
            .within(kOpen, 10),
        field("ramp_width", &Settings::ramp_width, "width of a ramp; -1: the profile's value")
            .in("m")
            .within(kOpen, 10),
        field("ramp_run", &Settings::ramp_run,
              "length of a ramp on the floor; -1: the profile's value")
            .in("m")
            .within(kOpen, 20),
        field("ramp_height", &Settings::ramp_height,
              "height of a ramp at its high end; -1: the profile's value")
            .in("m")
            .within(kOpen, 10),
        field("agent_mass", &Settings::agent_mass, "mass of an agent; -1: the profile's value")
            .in("kg")
            .within(kOpen, 1000),
        field("box_mass", &Settings::box_mass, "mass of a box; -1: the profile's value")
            .in("kg")
            .within(kOpen, 1000),
        field("ramp_mass", &Settings::ramp_mass, "mass of a ramp; -1: the profile's value")
            .in("kg")
            .within(kOpen, 1000));
  }
  static constexpr auto describe_actions() {
    return fields(
        field("preparation_steps", &Settings::preparation_steps,
              "steps without reward in which seekers are frozen; -1: the profile's value")
            .within(kOpen, kMostPreparation),
        field("force_per_bucket", &Settings::force_per_bucket,
              "force of one step of the heads x and y; -1: the profile's value")
            .in("N")
            .within(kOpen, 10000),
        field("torque_per_bucket", &Settings::torque_per_bucket,
              "torque of one step of the head turn; -1: the profile's value")
            .in("N m")
            .within(kOpen, 10000),
        field("grab_reach", &Settings::grab_reach,
              "distance from an agent's centre at which it can grab; -1: the profile's value")
            .in("m")
            .within(kOpen, 100),
        field("lock_reach", &Settings::lock_reach,
              "distance from an agent's centre at which it can lock; -1: grab_reach")
            .in("m")
            .within(kOpen, 100),
        field("reach_height", &Settings::reach_height,
              "height above an agent's centre of the ray that finds what to grab or lock; -1: the "
              "profile's value")
            .in("m")
            .within(kOpen, 10),
        field("grab", &Settings::grab,
              "toggle: a press grabs or releases; hold: the grip lasts while the head is 1")
            .named("toggle", "hold", "profile"),
        field("freeze", &Settings::freeze,
              "heads of the seekers without effect during the preparation: all, or all but grab "
              "and lock")
            .named("all_heads", "movement", "profile"));
  }
  static constexpr auto describe_senses() {
    return fields(
        field("lidar_range", &Settings::lidar_range,
              "longest distance that lidar measures; -1: the profile's value")
            .in("m")
            .within(kOpen, 10000),
        field("lidar_miss", &Settings::lidar_miss,
              "value of a lidar ray that hits nothing; -1: the profile's value")
            .in("m")
            .within(kOpen, 10000),
        field("sight_half_angle", &Settings::sight_half_angle,
              "angle between the axis and the rim of the cone of sight; -1: the profile's value")
            .in("rad")
            .within(kOpen, 3.1415927),
        field(
            "seeker_half_angle", &Settings::seeker_half_angle,
            "angle between the axis and the rim of a seeker's cone of sight; -1: sight_half_angle")
            .in("rad")
            .within(kOpen, 3.1415927),
        field("observation_mode", &Settings::observation_mode,
              "masked: zeros for what an agent does not see; full: everything")
            .named("masked", "full"));
  }
  static constexpr auto describe_rewards() {
    return fields(field("penalty", &Settings::penalty,
                        "reward that an agent outside the bound loses; -1: the profile's value")
                      .within(kOpen, 1e6),
                  field("penalty_bound", &Settings::penalty_bound,
                        "smallest |x| or |y| at which an agent is outside; -1: the profile's value")
                      .in("m")
                      .within(kOpen, 1e4),
                  field("penalty_mode", &Settings::penalty_mode,
                        "added: the penalty is taken from the reward; instead: its negative "
                        "replaces the reward")
                      .named("added", "instead", "profile"),
                  field("payment", &Settings::payment,
                        "team: all are paid by whether any hider is seen; own: a hider by whether "
                        "it is seen, a seeker by whether it sees a hider")
                      .named("team", "own"));
  }
  static constexpr auto describe_physics() {
    return fields(
        field("time_step", &Settings::time_step, "time of one step; -1: the profile's value")
            .in("s")
            .within(kOpen, 1),
        field("gravity", &Settings::gravity, "acceleration downwards; -1: the profile's value")
            .in("m/s^2")
            .within(kOpen, 1000),
        field("substeps", &Settings::substeps,
              "substeps of a step; more are stiffer and slower; -1: the profile's value")
            .within(kOpen, 64),
        field("solver_sweeps", &Settings::solver_sweeps,
              "sweeps of the solver in a substep; 2 bring high stacks to rest; -1: the profile's "
              "value")
            .within(kOpen, 16),
        field("quiet_steps", &Settings::quiet_steps,
              "steps at rest before an object sleeps; 0: never; -1: the profile's value")
            .within(kOpen, 1000000));
  }
  static constexpr auto describe_surfaces() {
    return fields(
        field("floor_box_friction", &Settings::floor_box_friction,
              "friction between boxes and the floor (Coulomb); -1: the profile's value")
            .within(kOpen, 10),
        field("floor_ramp_friction", &Settings::floor_ramp_friction,
              "friction between ramps and the floor (Coulomb); -1: the profile's value")
            .within(kOpen, 10),
        field("box_friction", &Settings::box_friction,
              "friction among boxes and ramps (Coulomb); -1: the profile's value")
            .within(kOpen, 10),
        field("wall_friction", &Settings::wall_friction,
              "friction of boxes and ramps with walls (Coulomb); -1: the profile's value")
            .within(kOpen, 10),
        field("agent_friction", &Settings::agent_friction,
              "friction of agents with agents, boxes and walls (Coulomb); -1: the profile's value")
            .within(kOpen, 10),
        field("agent_ramp_friction", &Settings::agent_ramp_friction,
              "friction between agents and ramps (Coulomb); -1: the profile's value")
            .within(kOpen, 10),
        field("agent_floor_friction", &Settings::agent_floor_friction,
              "friction between agents and the floor (Coulomb); -1: the profile's value")
            .within(kOpen, 10),
        field("restitution", &Settings::restitution,
              "share of an impact's speed that is given back; -1: the profile's value")
            .within(kOpen, 1),
        field("agent_restitution", &Settings::agent_restitution,
              "share of the speed that an impact with an agent gives back; -1: the profile's value")
            .within(kOpen, 1),
        field("agent_damping", &Settings::agent_damping,
              "damping of agents along x and y; -1: the profile's value")
            .in("N s/m")
            .within(kOpen, 1000),
        field("agent_lift_damping", &Settings::agent_lift_damping,
              "damping of agents along z; -1: the profile's value")
            .in("N s/m")
            .within(kOpen, 1000),
        field("agent_spin_damping", &Settings::agent_spin_damping,
              "damping of agents' turns about z; -1: the profile's value")
            .in("N m s")
            .within(kOpen, 1000),
        field("box_damping", &Settings::box_damping,
              "damping of boxes, along all axes and about them; -1: the profile's value")
            .in("N s/m")
            .within(kOpen, 1000),
        field("ramp_damping", &Settings::ramp_damping,
              "damping of ramps, along all axes and about them; -1: the profile's value")
            .in("N s/m")
            .within(kOpen, 1000));
  }
  static constexpr auto describe() {
    return std::tuple_cat(
        fields(
            field("profile", &Settings::profile, "rules, and numbers where none are given")
                .named("fixed", "openai", "port"),
            field("hider_count", &Settings::hider_count, "hiders of each world: agents 0, 1, ...")
                .within(1, kMostOfATeam),
            field("seeker_count", &Settings::seeker_count,
                  "seekers of each world: the agents after the hiders")
                .within(1, kMostOfATeam)),
        describe_level(), describe_objects(), describe_actions(), describe_senses(),
        describe_rewards(), describe_physics(), describe_surfaces());
  }
};

// ---- what the rules read

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

/// Rules in which profiles differ and that no setting changes; flags but for `cells` and
/// `turn_range`.
struct ProfileRules {
  // The level.
  int32_t cells = 0;          // along a side of the grid of rooms; 0: rooms by divisions and cuts
  int32_t long_all = 0;       // any number up to all boxes may be long
  int32_t quarter_turns = 0;  // boxes and ramps begin along an axis
  int32_t inside = 0;         // nothing begins across the border of the arena
  int32_t overlaps = 0;       // as a last resort bodies begin where others are, agents always
  float turn_range = 0;       // first yaws are below this [rad]
  int32_t round_agents = 0;   // agents are spheres, not cubes
  int32_t upright = 0;        // boxes and ramps turn about the vertical only
  // Actions.
  int32_t extra_countdown = 0;  // steps that the counter of the preparation begins with on top
  int32_t world_frame = 0;      // forces along the axes of the world, not of the agent
  int32_t radial = 0;  // grips and locks reach what is near and seen; else what a ray meets
  int32_t stops = 0;   // agents lose their velocity after each step
  // Senses.
  int32_t flat_cone = 0;      // the cone of sight ignores heights
  int32_t world_lidar = 0;    // lidar begins at +x, not ahead
  int32_t absolute = 0;       // observations speak of x and y, not of right and ahead
  int32_t own_fields = 0;     // observations have the agent itself, teams, grips and locks
  int32_t moving_agents = 0;  // observations show the velocity of agents as they moved in the step
};

struct Params : ProfileRules {
  int32_t hider_count, seeker_count, agent_count;
  // Rows of bodies: agents, hiders first; boxes, long ones first; ramps.
  int32_t box_slots, ramp_count, body_count, first_box, first_ramp;
  int32_t sight_slots;  // bodies of a row of sight, rounded up
  // The level.
  float arena_half;         // [m]
  float wall_half;          // half of the thickness [m]
  float wall_height;        // [m]
  float outer_wall_height;  // [m]
  float plan_unit;          // side of what walls are planned on: of a cell, or of the arena [m]
  int32_t box_high;
  int32_t long_low;  // kOpen: by box_low
  // Actions.
  int32_t holds;  // a grip lasts while its head is 1; else a press toggles it
  int32_t frozen_hands;
  float lock_reach;  // kOpen: grab_reach
  // Senses.
  int32_t masked;
  float seeker_half_angle;                       // kOpen: sight_half_angle
  float ray_cos[kRaySlots], ray_sin[kRaySlots];  // counter-clockwise from forward, or +x
  // Rewards.
  int32_t penalty_instead;
  int32_t own_pay;  // an agent is paid for what it sees or shows itself, not for its team
  // Physics.
  float agent_floor_friction;  // kOpen: agent_friction

  physics::Setup shapes;  // bodies without masses, friction and gravity
};
/// What follows from the parameters that may differ by world.
struct Derived {
  // The level.
  float outer_wall_probability;
  int32_t division_low, division_high, cut_low, cut_high;
  float door, cut;  // widths [arena sides], where there are cells: [cells]
  int32_t box_low, long_low;
  int32_t tries;  // places per body
  // Actions.
  int32_t preparation_steps;
  int32_t countdown;  // what the counter of the preparation begins with [steps]
  float force, torque;
  float grab_reach, lock_reach, reach_height;
  // Senses.
  float lidar_range, lidar_miss;
  float sight_cosine, seeker_cosine;  // of half the angle of the cone
  // Rewards.
  float penalty, penalty_bound;

  physics::Setup physics;

  static constexpr auto describe_level() {
    return fields(
        field("outer_wall_probability", &Derived::outer_wall_probability, "of walls around it"),
        field("division_low", &Derived::division_low, "fewest divisions").any_value(),
        field("division_high", &Derived::division_high, "most divisions").any_value(),
        field("cut_low", &Derived::cut_low, "fewest cuts").any_value(),
        field("cut_high", &Derived::cut_high, "most cuts").any_value(),
        field("door", &Derived::door, "width of a division's door, of the plan's units"),
        field("cut", &Derived::cut, "width of a cut, of the plan's units"),
        field("box_low", &Derived::box_low, "fewest boxes").any_value(),
        field("long_low", &Derived::long_low, "fewest long boxes").any_value(),
        field("tries", &Derived::tries, "places tried for a body").any_value());
  }
  static constexpr auto describe_play() {
    return fields(
        field("preparation_steps", &Derived::preparation_steps, "of the preparation").any_value(),
        field("countdown", &Derived::countdown, "first number of its counter").any_value(),
        field("force", &Derived::force, "of a step of the heads x and y").in("N"),
        field("torque", &Derived::torque, "of a step of the head turn").in("N m"),
        field("grab_reach", &Derived::grab_reach, "of hands that grab").in("m"),
        field("lock_reach", &Derived::lock_reach, "of hands that lock").in("m"),
        field("reach_height", &Derived::reach_height, "above an agent's centre").in("m"),
        field("lidar_range", &Derived::lidar_range, "longest distance of a ray").in("m"),
        field("lidar_miss", &Derived::lidar_miss, "value of a ray that hits nothing").in("m"),
        field("sight_cosine", &Derived::sight_cosine, "of half the cone of a hider"),
        field("seeker_cosine", &Derived::seeker_cosine, "of half the cone of a seeker"),
        field("penalty", &Derived::penalty, "of an agent outside"),
        field("penalty_bound", &Derived::penalty_bound, "|x| or |y| that is outside").in("m"));
  }
  static constexpr auto describe() {
    return std::tuple_cat(
        describe_level(), describe_play(),
        fields(field("physics", &Derived::physics, "masses, friction, constants of the solver")));
  }
};

GE_FN bool is_hider(const Params& p, int agent) {
  return agent < p.hider_count;
}
GE_FN float agent_half(const Params& p) {
  return p.shapes.kinds[kAgentKind].half[0];
}
/// Height of the centre of mass of something that stands on the floor.
GE_FN float standing_height(const physics::Kind& kind) {
  return select(kind.shape == physics::kWedge, kind.half[2] * (1.0f / 3.0f),
                select(kind.shape == physics::kSphere, kind.half[0], kind.half[2]));
}

/// How much a build has room for.
template <int kAgents_, int kBoxes_, int kRamps_>
struct Tier {
  static constexpr int agents = kAgents_, boxes = kBoxes_, ramps = kRamps_;
  static constexpr int bodies = kAgents_ + kBoxes_ + kRamps_;
  static constexpr int sights = int(round_up(bodies, 16));
  static bool fits(const Params& p) {
    return p.agent_count <= agents && p.box_slots <= boxes && p.ramp_count <= ramps &&
           p.body_count <= bodies;
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
