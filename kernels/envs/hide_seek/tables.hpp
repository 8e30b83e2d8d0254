// Components and tables of a world of hide-and-seek, and the physics' view of it.
//
//   agents     the learners, hiders first; agent k is also row k of the bodies
//   bodies     agents, then boxes (long ones first), then ramps; absent ones have state 0
//   joints     row k: what agent k holds
//   statics    walls
//   plan, footprints, lidar, sights, spots: scratch, in the memory of the physics' contacts
#pragma once

#include "envs/hide_seek/derived.hpp"
#include "envs/hide_seek/layout.hpp"
#include "physics/footprints.hpp"
#include "physics/sight.hpp"
#include "physics/tables.hpp"

namespace gpu_envs::envs::hide_seek {

using physics::Body;
using physics::Joint;
using physics::Pose;
using physics::Velocity;

// ---- agents

struct Act {
  int32_t x, y, turn, grab, lock;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("x", &Act::x, "force to the right, in openai along x; 5: none").one_of(11),
        field("y", &Act::y, "force ahead, in openai along y; 5: none").one_of(11),
        field("turn", &Act::turn, "torque, counter-clockwise above 5; 5: none").one_of(11),
        field("grab", &Act::grab, "1: grab or release, in openai hold while it is 1").one_of(2),
        field("lock", &Act::lock, "1: lock or unlock a box or a ramp").one_of(2));
  }
};
/// How an agent moved in the last step, as others see it.
struct Travel {
  float velocity[3];
  float turn;
  static constexpr auto describe() {
    return fields(
        field("travel", &Travel::velocity, "mean velocity in the last step").in("m/s"),
        field("turn_rate", &Travel::turn, "mean rate of turn in the last step").in("rad/s"));
  }
};
/// Where an agent was when the step began.
struct Before {
  float position[3];
  float ahead[2];  // direction
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(
        field("position_before", &Before::position, "position at the beginning of the step"),
        field("ahead_before", &Before::ahead,
              "direction in which the agent faced at the beginning of the step"));
  }
};
/// The bodies that an agent can grab or lock in this step.
struct Aim {
  int32_t grab, lock;  // rows of bodies; -1: none
  float distance;      // of the ray's hit
  uint32_t near[2];    // bitmap of objects in reach of the lock, where reach is radial
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("grab_target", &Aim::grab, "row of the body that it can grab; -1: none"),
                  field("lock_target", &Aim::lock, "row of the body that it can lock; -1: none"),
                  field("aim_distance", &Aim::distance, "distance to the surface ahead").in("m"),
                  field("near", &Aim::near, "bitmap of boxes and ramps in reach"));
  }
};

// ---- bodies

enum Team : uint32_t { kNobody, kSeekers, kHiders };
/// The owner of a lock.
struct Owner {
  uint32_t team;   // Team
  uint32_t agent;  // that locked it, + 1; the team rule keeps it after unlocking
  static constexpr auto describe() {
    return fields(field("owner", &Owner::team, "team that locked it: 0 none, 1 seekers, 2 hiders")
                      .within(0, 2),
                  field("locker", &Owner::agent, "agent that locked it last, + 1; 0: none")
                      .within(0, 2 * kMostOfATeam));
  }
};
GE_FN Team team_of(const Params& p, int agent) {
  return is_hider(p, agent) ? kHiders : kSeekers;
}

// ---- the level

/// A wall of the plan, on the unit square (or on the grid of cells).
struct Segment {
  int32_t across;  // 0: along x, at a y; 1: along y, at an x
  float at, start, end;
  float door;  // of an undivided wall on the grid: where its door begins; -1: none
  uint32_t outer;
  static constexpr auto describe() {
    return fields(field("across", &Segment::across, "direction of the wall: 0 along x, 1 along y"),
                  field("at", &Segment::at, "coordinate on the other axis"),
                  field("start", &Segment::start, "lower end of the wall"),
                  field("end", &Segment::end, "upper end of the wall"),
                  field("door", &Segment::door, "lower end of the wall's door; -1: none"),
                  field("outer", &Segment::outer, "1: the wall belongs to the arena's border"));
  }
};
struct Level {
  uint32_t segments;  // of the plan
  uint32_t walls;     // made of them: segments that continue each other are one
  uint32_t attempts;  // levels drawn until all bodies had a place
  uint32_t dropped;   // bodies without a place
  static constexpr auto describe() {
    return fields(
        field("segment_count", &Level::segments, "pieces of wall that were planned")
            .within(0, kMostWalls),
        field("wall_count", &Level::walls, "walls that they make up").within(0, kMostWalls),
        field("attempts", &Level::attempts, "levels drawn until all bodies had a place")
            .any_value(),
        field("dropped", &Level::dropped,
              "bodies without a place: boxes and ramps are left out, agents overlap")
            .any_value());
  }
};
/// Whether a seeker saw a hider in this step.
struct Watch {
  int32_t seen;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("seen", &Watch::seen, "1: a seeker sees a hider"));
  }
};

// ---- senses

inline constexpr int kSpots = 32;  // rows of each seeker, one per hider; the rest is padding

struct Range {
  float value;
  static constexpr auto describe() {
    return fields(
        field("range", &Range::value, "distance along lidar ray [agent * 32 + ray]").in("m"));
  }
};
struct Sight {
  float value;
  static constexpr auto describe() {
    return fields(field("sight", &Sight::value, "1: agent sees body, in row agent * slots + body"));
  }
};
struct Spot {
  float value;
  static constexpr auto describe() {
    return fields(field("spot", &Spot::value, "1: seeker sees hider, in row seeker * 32 + hider"));
  }
};

// ---- tables

// Lifetimes in scratch memory, after that of the physics' contacts.
inline constexpr int kSensing = 2, kPlanning = 3;
using Stance = physics::Stance<kSensing>;

struct Match : Single<Level, Watch> {
  static constexpr const char* name = "match";
};
struct Plan : Fixed<kMostWalls, Segment> {
  static constexpr const char* name = "plan";
  static constexpr bool scratch = true;
  static constexpr int lifetime = kPlanning;
};
/// The tables of a build with room for T.
template <class T>
struct Tables {
  using Physics = physics::Tables<T::bodies, kMostWalls, T::agents, 10 * T::bodies, 3 * T::bodies,
                                  Owner, Stance>;
  using Bodies = typename Physics::Bodies;
  using Joints = typename Physics::Joints;
  using Statics = typename Physics::Statics;

  struct Players : Agents<T::agents, Act, Travel, Before, Aim> {
    static constexpr const char* name = "agents";
    static GE_FN constexpr int count(const Params& params) { return params.agent_count; }
  };
  struct Footprints : Fixed<T::bodies, physics::Footprint> {
    static constexpr const char* name = "footprints";
    static constexpr bool scratch = true;
    static constexpr int lifetime = kPlanning;
  };
  struct Lidar : List<T::agents * kRaySlots, Range> {
    static constexpr const char* name = "lidar";
    static constexpr bool scratch = true;
    static constexpr int lifetime = kSensing;
  };
  struct Sights : List<T::agents * T::sights, Sight> {
    static constexpr const char* name = "sights";
    static constexpr bool scratch = true;
    static constexpr int lifetime = kSensing;
  };
  struct Spots : List<T::agents * kSpots, Spot> {
    static constexpr const char* name = "spots";
    static constexpr bool scratch = true;
    static constexpr int lifetime = kSensing;
  };
  using all = concat<Types<Players>, typename Physics::all,
                     Types<Match, Plan, Footprints, Lidar, Sights, Spots>>;
};

Params resolve_settings(Settings& settings);

template <class T>
struct Schema {
  using Settings = hide_seek::Settings;
  using Params = hide_seek::Params;
  using Varied = hide_seek::Varied;
  using Derived = hide_seek::Derived;
  using Options = hide_seek::Options;
  using ResetSettings = hide_seek::ResetSettings;
  using Action = Act;
  using Agent = typename Tables<T>::Players;
  using tables = typename Tables<T>::all;
  // Packs hold rays of one world: there is nothing to gain from interleaved worlds.
  // A step has few contacts, one after the other: four worlds share a warp. Rays keep all lanes
  // busy, and the bodies of large worlds most of them. Other shares are not worth their minutes of
  // compilation; 32 lanes for the steps of small worlds are compiled where they can be timed
  // (scripts/gpu/tune.py). A step needs many registers: shared memory and they are full long before
  // a block has more than 128 threads.
  static constexpr Tuning tuning{.cpu_block = 1,
                                 .cuda_block = 1,
                                 .step_lanes = T::bodies <= 32 ? LaneCounts(8, 32) : LaneCounts(32),
                                 .reset_lanes = 32,
                                 .observe_lanes = 32,
                                 .rare_resets = true,
                                 .most_threads = 128,
                                 .roomy_lifetime = Tables<T>::Physics::kListed};
  static Params resolve(Settings& settings) { return resolve_settings(settings); }
  static const char* problem(const Varied& varied, const Params& params) {
    return problem_of(varied, params);
  }
  static GE_FN Derived derive(const Varied& varied, const Params& params) {
    return derived_from(varied, params);
  }
  static Options resolve_options(const ResetSettings& settings, const Params& params) {
    return read_layout(settings, params);
  }
};

/// The physics' view of a world.
template <class T>
struct Model {
  using Schema = hide_seek::Schema<T>;
  using Physics = typename Tables<T>::Physics;
  using Stance = hide_seek::Stance;
  static constexpr physics::ShapeSet body_shapes =
      physics::set_of_shapes(physics::kBox, physics::kWedge, physics::kSphere);
  /// Shapes, and how many steps the solver takes.
  static GE_FN const physics::Setup& setup(const Params& p) { return p.shapes; }
  /// Masses, friction and gravity too.
  static GE_FN auto setup(const World<Schema>& w)
      -> std::conditional_t<kBlock<Schema> == 1, const physics::Setup&, physics::Setup> {
    return w.varied_in_place().physics;
  }
};

/// Its mass and damping are not set.
GE_FN const physics::Kind& shape_of(const Params& p, const Body& body) {
  return p.shapes.kinds[body.kind];
}

}  // namespace gpu_envs::envs::hide_seek
