// The kinds of bodies as physics sees them: shapes, masses, friction. Host only, once per
// simulator.
#pragma once

#include "envs/hide_seek/params.hpp"
#include "physics/setup.hpp"

namespace gpu_envs::envs::hide_seek {

inline void set_damping(physics::Kind& kind, float along, float lift, float spin) {
  kind.damping[0] = along, kind.damping[1] = lift, kind.spin_damping = spin;
}

inline void make_kinds(const Settings& s, physics::Setup& setup) {
  const bool small = s.profile == kOpenai;
  physics::Kind* const kinds = setup.kinds;
  kinds[kWallKind] = physics::shape_kind(physics::kBox, 1, 1, 1);
  kinds[kPlaneKind] = physics::shape_kind(physics::kPlane, 0, 0, 0);
  const double half = 0.5 * s.box_size, agent = 0.5 * s.agent_size;
  kinds[kCubeKind] = physics::box_kind(half, half, half, s.box_mass);
  kinds[kLongKind] = physics::box_kind(0.5 * s.long_length, 0.5 * s.long_width, half, s.box_mass);
  kinds[kRampKind] =
      physics::wedge_kind(0.5 * s.ramp_width, s.ramp_run, s.ramp_height, s.ramp_mass);
  kinds[kAgentKind] = small ? physics::sphere_kind(agent, s.agent_mass)
                            : physics::box_kind(agent, agent, agent, s.agent_mass);
  physics::make_upright(kinds[kAgentKind]);
  // The original's objects turn about the vertical alone.
  if (small)
    for (const int kind : {int(kCubeKind), int(kLongKind), int(kRampKind)})
      physics::make_upright(kinds[kind], false);
  set_damping(kinds[kAgentKind], s.agent_damping, s.agent_lift_damping, s.agent_spin_damping);
  for (const int kind : {int(kCubeKind), int(kLongKind)})
    set_damping(kinds[kind], s.box_damping, s.box_damping, s.box_damping);
  set_damping(kinds[kRampKind], s.ramp_damping, s.ramp_damping, s.ramp_damping);
}

inline void make_friction(const Settings& s, physics::Setup& setup) {
  for (int k = 0; k < physics::kKinds; ++k) {
    physics::set_friction(setup, kAgentKind, k, s.agent_friction);
    for (int other = 0; other < physics::kKinds; ++other)
      physics::set_restitution(setup, k, other, s.restitution);
  }
  for (const int kind : {int(kCubeKind), int(kLongKind), int(kRampKind)}) {
    const float floor = kind == kRampKind ? s.floor_ramp_friction : s.floor_box_friction;
    physics::set_friction(setup, kFloorKind, kind, floor);
    physics::set_friction(setup, kPlaneKind, kind, floor);
    physics::set_friction(setup, kWallKind, kind, s.wall_friction);
    for (const int other : {int(kCubeKind), int(kLongKind), int(kRampKind)})
      physics::set_friction(setup, kind, other, s.box_friction);
  }
  physics::set_friction(setup, kAgentKind, kRampKind, s.agent_ramp_friction);
  for (const int kind : {int(kFloorKind), int(kPlaneKind)})
    physics::set_friction(setup, kAgentKind, kind, s.agent_floor_friction);
  for (int k = 0; k < physics::kKinds; ++k)
    physics::set_restitution(setup, kAgentKind, k, s.agent_restitution);
}

inline physics::Setup make_setup(const Settings& s) {
  physics::Setup setup{};
  make_kinds(s, setup);
  make_friction(s, setup);
  // Lengths of the solver follow the size of the boxes.
  physics::finish(setup, s.time_step, s.substeps, s.gravity, 0.5 * s.box_size);
  setup.solver_sweeps = s.solver_sweeps;
  setup.quiet_steps = s.quiet_steps;
  // Damped agents keep their speed: they may reach it, on a diagonal too, as far as contacts are
  // found in time.
  if (s.agent_damping > 0) {
    const float run = 1.5f * 5.0f * s.force_per_bucket / s.agent_damping;
    setup.top_speed = max(setup.top_speed, min(run, setup.reach / setup.substep));
  }
  return setup;
}

}  // namespace gpu_envs::envs::hide_seek
