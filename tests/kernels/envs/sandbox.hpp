// Sandbox: a test-only environment around kernels/physics. An empty world into which tests put
// bodies, statics and joints through columns; or (scene "mixed") a small walled yard with every
// shape, in which four players push about, for the executors to agree on.
#pragma once

#include "engine/environment.hpp"
#include "physics/pipeline.hpp"
#include "physics/queries.hpp"
#include "physics/setup.hpp"

namespace gpu_envs::envs::sandbox {

using namespace ge;
namespace ph = ge::physics;

inline constexpr int kPlayers = 4, kBodies = 20, kStatics = 12;
enum KindNumber { kFloorKind, kWall, kPlaneKind, kCube, kLong, kRamp, kRound, kPlayer };

struct Settings {
  bool mixed = false;
  float gravity = 9.8f, friction = 0.5f, restitution = 0.0f, time_step = 1.0f / 30.0f;
  int32_t substeps = 4, solver_sweeps = 1, quiet_steps = 0;
  float mass = 2.0f, long_mass = 0.0f, radius = 1.0f, length = 0.0f;
  static constexpr auto describe() {
    return fields(
        field("mixed", &Settings::mixed, "a yard with every shape"),
        field("gravity", &Settings::gravity, "downwards").in("m/s^2").within(0, 100),
        field("friction", &Settings::friction, "of every pair").within(0, 10),
        field("restitution", &Settings::restitution, "of every pair").within(0, 1),
        field("time_step", &Settings::time_step, "of one step").in("s").within(0.001, 1),
        field("substeps", &Settings::substeps, "of one step").within(1, 64),
        field("solver_sweeps", &Settings::solver_sweeps, "of a substep").within(1, 16),
        field("quiet_steps", &Settings::quiet_steps, "before a body sleeps").within(0, 100),
        field("mass", &Settings::mass, "of every body").in("kg").within(0.01, 1000),
        field("long_mass", &Settings::long_mass, "of the long kind; 0: as the others")
            .in("kg")
            .within(0, 1000),
        field("radius", &Settings::radius, "of the round kind").in("m").within(0.01, 10),
        field("length", &Settings::length, "of its straight part; 0: a sphere")
            .in("m")
            .within(0, 10));
  }
};
struct Params {
  bool mixed;
  ph::Setup physics;
};

struct Push {
  int32_t direction;
  static constexpr bool transient = true;
  static constexpr auto describe() {
    return fields(field("direction", &Push::direction, "none, or one of four ways").one_of(5));
  }
};
/// A load that lasts, for tests.
struct Tow {
  float force[3], torque[3];
  static constexpr auto describe() {
    return fields(field("tow", &Tow::force, "force in every step").in("N"),
                  field("tow_torque", &Tow::torque, "torque in every step").in("N m"));
  }
};

struct Players : Agents<kPlayers, Push> {
  static constexpr const char* name = "players";
};
struct Schema;
struct Model {
  using Schema = sandbox::Schema;
  using Physics = ph::Tables<kBodies, kStatics, kPlayers, 128, 64, Tow>;
  static GE_FN const ph::Setup& setup(const Params& p) { return p.physics; }
};
using P = Model::Physics;
struct Schema {
  using Settings = sandbox::Settings;
  using Params = sandbox::Params;
  using Action = Push;
  using Agent = Players;
  using tables = concat<Types<Players>, P::all>;
  static constexpr Tuning tuning{.cpu_block = 1, .cuda_block = 1, .step_lanes = {32, 16}};
  static Params resolve(Settings& s) {
    Params p{};
    p.mixed = s.mixed;
    ph::Setup& u = p.physics;
    u.kinds[kWall] = ph::shape_kind(ph::kBox, 1, 1, 1);
    u.kinds[kPlaneKind] = ph::shape_kind(ph::kPlane, 0, 0, 0);
    u.kinds[kCube] = ph::box_kind(1, 1, 1, s.mass);
    u.kinds[kLong] = ph::box_kind(4, 0.75, 1, s.long_mass > 0 ? s.long_mass : s.mass);
    u.kinds[kRamp] = ph::wedge_kind(1, 3, 2, s.mass);
    u.kinds[kRound] = s.length > 0 ? ph::capsule_kind(s.radius, s.length / 2, s.mass)
                                   : ph::sphere_kind(s.radius, s.mass);
    u.kinds[kPlayer] = ph::box_kind(1, 1, 1, 1);
    ph::make_upright(u.kinds[kPlayer]);
    for (int a = 0; a < ph::kKinds; ++a)
      for (int b = 0; b < ph::kKinds; ++b) {
        const bool player = a == kPlayer || b == kPlayer;
        ph::set_friction(u, a, b, player ? 0.05 : s.friction);
        ph::set_restitution(u, a, b, player ? 0 : s.restitution);
      }
    ph::finish(u, s.time_step, s.substeps, s.gravity);
    u.solver_sweeps = s.solver_sweeps;
    u.quiet_steps = s.quiet_steps;
    return p;
  }
};
using W = World<Schema>;

GE_FN void place(const W& w, Slot self, ph::Pose& pose, ph::Velocity& velocity, ph::Body& body,
                 ph::Sole& sole, Tow& tow) {
  pose = {{0, 0, 0}, {1, 0, 0, 0}};
  velocity = {};
  body = {};
  sole = {};
  tow = {};
  if (!w.params().mixed || self.row >= 14) return;
  constexpr uint32_t kinds[] = {kPlayer, kPlayer, kPlayer, kPlayer, kCube, kCube, kLong,
                                kLong,   kRamp,   kRamp,   kRound,  kCube, kCube, kRound};
  uint32_t kind = kCube;
  GE_UNROLL
  for (int k = 0; k < 14; ++k) kind = select(self.row == k, kinds[k], kind);
  const Draw d = draw<"place">(w, self.row);
  const float x = -7.5f + 5.0f * float(self.row & 3), y = -7.5f + 5.0f * float(self.row >> 2);
  body = {kind, ph::kPresent, 0, {}};
  put(pose.position, ph::Vec3{x + d.uniform(0), y + d.uniform(1),
                              1.0f + select(self.row < 4, 0.0f, d.uniform(2))});
  put(pose.orientation, ph::yaw_quat(6.2831853f * d.uniform(3)));
}
GE_FN int static_count(const W& w) {
  return w.params().mixed ? 5 : 0;
}
GE_FN void fence(const W&, int k, ph::Static& s) {
  const float x = select(k == 0, -11.0f, select(k == 1, 11.0f, 0.0f));
  const float y = select(k == 2, -11.0f, select(k == 3, 11.0f, 0.0f));
  s = {{x, y, 1.25f},
       {select(x != 0.0f, 0.2f, 11.0f), select(y != 0.0f, 0.2f, 11.0f), 1.25f},
       kWall};
  if (k == 4) s = {{10.0f, 10.0f, 0.0f}, {-0.6f, -0.6f, 0.52915026f}, kPlaneKind};
}
GE_FN void forget(const W&, ph::Joint& joint) {
  joint = {};
}
GE_FN void load(const W& w, Slot self, ph::Load& load, const Tow& tow, const ph::Body& body) {
  load = {{tow.force[0], tow.force[1], tow.force[2]},
          {tow.torque[0], tow.torque[1], tow.torque[2]}};
  if (self.row >= kPlayers || body.kind != kPlayer) return;
  const int way = get<Players, Push>(w, self.row).direction;
  load.force[0] += select(way == 1, 480.0f, select(way == 2, -480.0f, 0.0f));
  load.force[1] += select(way == 3, 480.0f, select(way == 4, -480.0f, 0.0f));
}
GE_FN void halt(const W&, ph::Velocity& velocity, const ph::Body& body) {
  if (body.kind == kPlayer) velocity = {{0, 0, min(velocity.linear[2], 0.0f)}, {0, 0, 0}};
}
GE_FN void pay(const W& w, Slot self, Reward& reward) {
  reward.value = get<P::Bodies, ph::Pose>(w, self.row).position[0];
}

struct Seen {
  float position[3];
  float ahead, ahead_row;  // by a ray along x
  float way, way_row;      // of the body itself, 5 m along x
  static constexpr auto describe() {
    return fields(field("position", &Seen::position, "of the player's body").in("m"),
                  field("ahead", &Seen::ahead, "to the first hit along x").in("m"),
                  field("ahead_row", &Seen::ahead_row, "of what is hit"),
                  field("way", &Seen::way, "share of 5 m along x that is free"),
                  field("way_row", &Seen::way_row, "of what is touched"));
  }
};
GE_FN void observe(const W& w, Seen& seen, Slot self) {
  const ph::Pose pose = get<P::Bodies, ph::Pose>(w, self.row);
  const ph::Body body = get<P::Bodies, ph::Body>(w, self.row);
  const ph::Vec3 at = ph::vec(pose.position);
  seen = {{at.x, at.y, at.z}, 0, 0, 0, 0};
  if (!ph::present(body)) return;
  const ph::Hit hit = ph::first_hit<Model>(w, {at, {1, 0, 0}}, 50.0f, self.row);
  const ph::Placed own = ph::placed(w.params().physics.kinds[body.kind], at + ph::Vec3{0, 0, 0.01f},
                                    ph::matrix(ph::quat(pose.orientation)));
  const ph::Hit touch = ph::first_touch<Model>(w, own, {5, 0, 0}, self.row);
  seen = {{at.x, at.y, at.z}, hit.distance, float(hit.row), touch.distance, float(touch.row)};
}

struct Environment {
  using Schema = sandbox::Schema;
  using Observation = Seen;
  using Reset = Stages<Each<&place>, For<&static_count, &fence, P::Statics>, Each<&forget>>;
  using Step =
      chain<Stages<Each<&load>>, ph::Pipeline<Model>::Step, Stages<Each<&halt>, Each<&pay>>>;
  using Observe = Stages<ge::Observe<&observe>>;
  static constexpr Card card{.doc = "Bodies in a yard, for tests.", .max_episode_steps = 240};
};

using Builds = ge::Builds<Build<"Sandbox-v0", Environment>>;

}  // namespace gpu_envs::envs::sandbox
