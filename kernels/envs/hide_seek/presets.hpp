// From Settings to Params: the profiles as tables, the kinds of bodies as physics sees them, and
// what is refused. Host only, once per simulator.
//
//   fixed   the rules of the GPU batch version of hide-and-seek, without its slips
//   openai  the original's sizes, speeds and rules
//   port    the rules of the batch version as they are, slips of the generator and of the actions
//           included
#pragma once

#include <variant>

#include "engine/maths/math.hpp"
#include "envs/hide_seek/settings.hpp"
#include "physics/setup.hpp"

namespace gpu_envs::envs::hide_seek {

// ---- the profiles; rows and columns in the order of Profile

inline constexpr ProfileRules kProfileRules[] = {
    {.turn_range = 0x1.921fb6p+2f,
     .extra_countdown = 1,
     .stops = 1,
     .own_fields = 1,
     .moving_agents = 1},
    {.cells = 30,
     .long_all = 1,
     .quarter_turns = 1,
     .inside = 1,
     .turn_range = 0x1.921fb6p+2f,
     .round_agents = 1,
     .upright = 1,
     .world_frame = 1,
     .radial = 1,
     .flat_cone = 1,
     .world_lidar = 1,
     .absolute = 1,
     .moving_agents = 1},
    {.overlaps = 1, .turn_range = 0x1.921fb6p+1f, .extra_countdown = 1, .stops = 1},
};

/// A number, or a multiple of another setting, which stands above this one in the table.
struct Value {
  constexpr Value(double n, float Settings::* other = nullptr) : number(n), of(other) {}
  double in(const Settings& s) const { return of == nullptr ? number : number * double(s.*of); }
  double number;
  float Settings::* of;
};
using Member = std::variant<float Settings::*, int32_t Settings::*>;
/// The value of a setting that is left open, and the lowest value that a user may give.
struct Preset {
  constexpr Preset(Member m, double least, Value all) : Preset(m, least, all, all) {}
  constexpr Preset(Member m, double least, Value batch, Value openai)
      : Preset(m, least, batch, openai, batch) {}
  constexpr Preset(Member m, double least, Value fixed, Value openai, Value port)
      : member(m), lowest(least), values{fixed, openai, port} {}
  Member member;
  double lowest;
  Value values[3];
};
using S = Settings;
/// Setting, lowest value; then one value for all profiles, or those of fixed, openai and port (as
/// fixed where it is left out).
inline constexpr Preset kPresets[] = {
    {&S::arena_size, 1, 36, 6},
    {&S::wall_height, 0.01, 2.0, 0.5, 2.5},
    {&S::wall_thickness, 0.01, 0.4, 0.1},
    {&S::outer_wall_height, 0.01, {1, &S::wall_height}, 4},
    {&S::outer_wall_probability, 0, 1, 0.5},
    {&S::division_count_low, 0, 1, 0},
    {&S::division_count_high, 0, 5, 3},
    {&S::cut_count_low, 0, 4, 0},
    {&S::cut_count_high, 0, 6, 0},
    {&S::door_width, 0.01, {0.1, &S::arena_size}, 0.4},
    {&S::cut_width, 0.01, {0.2, &S::arena_size}, 1.2},
    {&S::box_count_high, 0, 8, 9},
    {&S::ramp_count, 0, 2},
    {&S::placement_tries, 1, 20},
    {&S::agent_size, 0.01, 2.0, 0.3},
    {&S::box_size, 0.01, 2.0, 0.5},
    {&S::long_length, 0.01, 8.0, 1.65},
    {&S::long_width, 0.01, 1.5, 0.15},
    {&S::ramp_width, 0.01, 2.0, 0.5},
    {&S::ramp_run, 0.01, 3.0, 0.5},
    {&S::ramp_height, 0.01, 2.0, 0.5},
    {&S::agent_mass, 0.001, 1},
    {&S::box_mass, 0.001, 2, 1},
    {&S::ramp_mass, 0.001, 2, 1},
    {&S::preparation_steps, 0, 95, 96},
    {&S::force_per_bucket, 0, 96, 18},  // 90 N at the outermost bucket of openai
    {&S::torque_per_bucket, 0, 32, 18},
    {&S::grab_reach, 0, 2.5, 0.25},
    {&S::lock_reach, 0, {1, &S::grab_reach}},
    {&S::reach_height, 0, 0.5, 0},
    {&S::lidar_range, 0.01, 200},
    {&S::lidar_miss, 0, 0, {1, &S::arena_size}},
    {&S::sight_half_angle, 0, 1.17809725},  // 67.5 degrees
    {&S::seeker_half_angle, 0, {1, &S::sight_half_angle}},
    {&S::penalty, 0, 10},
    {&S::penalty_bound, 0, {0.5, &S::arena_size}, {1.5, &S::arena_size}},
    {&S::time_step, 1e-4, 1.0 / 30, 0.075},
    {&S::gravity, 0, 9.8, 50},
    {&S::substeps, 1, 4, 15},
    {&S::solver_sweeps, 1, 1},
    {&S::quiet_steps, 0, 12},
    {&S::floor_box_friction, 0, 0.9, 0.2},
    {&S::floor_ramp_friction, 0, 0.22, 0.2},
    {&S::box_friction, 0, 0.5, 0.2},
    {&S::wall_friction, 0, 0.5, 0.2},
    {&S::agent_friction, 0, 0.05, 0.2},
    {&S::agent_ramp_friction, 0, 0.05, 0.01},
    {&S::agent_floor_friction, 0, {1, &S::agent_friction}, 0.01},
    {&S::restitution, 0, 0.3, 0},
    {&S::agent_restitution, 0, 0},
    {&S::agent_damping, 0, 0, 10},
    {&S::agent_lift_damping, 0, 0, 1},
    {&S::agent_spin_damping, 0, 0, 10},
    {&S::box_damping, 0, 0, 0.01},
    {&S::ramp_damping, 0, 0, 0.1},
};
/// A choice whose last name is `profile`, and the profiles' values of it.
struct Choice {
  int32_t S::* member;
  int32_t open, values[3];
};
inline constexpr Choice kChoices[] = {
    {&S::grab, kHoldOfProfile, {kToggle, kWhileHeld, kToggle}},
    {&S::freeze, kFreezeOfProfile, {kAllHeads, kAllHeads, kMovement}},
    {&S::penalty_mode, kPenaltyOfProfile, {kAdded, kInstead, kAdded}},
};

inline const char* name_of(const Member& member) {
  const char* name = "";
  std::apply([&](const auto&... f) { ((name = member == Member(f.member) ? f.name : name), ...); },
             Settings::describe());
  return name;
}
/// Fills in open settings; refuses values between open and the lowest.
inline void fill(Settings& s) {
  for (const Preset& preset : kPresets)
    std::visit(
        [&](auto member) {
          using Number = std::remove_reference_t<decltype(s.*member)>;
          Number& value = s.*member;
          if (value == Number(kOpen)) value = Number(preset.values[s.profile].in(s));
          if (double(value) >= preset.lowest) return;
          refuse(std::string("parameter '") + name_of(member) + "' must be at least " +
                 shown(preset.lowest) + ", or -1 for the profile's own, got " +
                 shown(double(value)));
        },
        preset.member);
  for (const Choice& choice : kChoices)
    if (s.*choice.member == choice.open) s.*choice.member = choice.values[s.profile];
  // At least three boxes, all of them long, where the upper bounds allow it.
  if (s.box_count_low == kOpen) s.box_count_low = min(s.box_count_high, 3);
  if (s.long_count_low == kOpen) s.long_count_low = min(s.box_count_low, 3);
  if (s.box_slots == kOpen) s.box_slots = max(s.box_count_high, 9);
}

/// The lowest value that a user may give a parameter; kOpen: any.
constexpr double lowest_of(const Member& member) {
  for (const Preset& preset : kPresets)
    if (preset.member == member) return preset.lowest;
  return member == Member(&S::box_count_low) ? 0 : kOpen;
}
constexpr auto Varied::describe() {
  return std::apply(
      [](const auto&... f) { return fields(f.within(lowest_of(f.member), f.high)...); },
      fields_of<Varied>(Settings::describe()));
}

// ---- what does not go together

inline void refuse_above(const char* low_name, int low, const char* high_name, int high) {
  if (low > high)
    refuse(std::string(low_name) + "=" + std::to_string(low) + " is above " + high_name + "=" +
           std::to_string(high));
}
/// A length that may be at most a share of the arena's side: a quarter, or half of it.
inline void refuse_longer(const Settings& s, const char* name, float length, int part) {
  if (length > s.arena_size / float(part))
    refuse(std::string(name) + "=" + shown(length) + " must be at most " +
           (part == 2 ? "half" : "a quarter") + " of arena_size=" + shown(s.arena_size));
}
inline void check_level(const Settings& s) {
  refuse_above("division_count_low", s.division_count_low, "division_count_high",
               s.division_count_high);
  refuse_above("cut_count_low", s.cut_count_low, "cut_count_high", s.cut_count_high);
  refuse_above("box_count_low", s.box_count_low, "box_count_high", s.box_count_high);
  refuse_above("long_count_low", s.long_count_low, "box_count_high", s.box_count_high);
  if (s.box_slots < s.box_count_high)
    refuse("box_slots=" + std::to_string(s.box_slots) +
           " must be at least box_count_high=" + std::to_string(s.box_count_high));
  refuse_longer(s, "door_width", s.door_width, 4);
  refuse_longer(s, "cut_width", s.cut_width, 4);
  if (s.most_walls() > kMostWalls)
    refuse("division_count_high=" + std::to_string(s.division_count_high) + " and cut_count_high=" +
           std::to_string(s.cut_count_high) + " can make " + std::to_string(s.most_walls()) +
           " walls, at most " + std::to_string(kMostWalls) + " are possible");
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
  for (const auto& [name, size] : lengths) refuse_longer(s, name, size, 2);
}

// ---- bodies as physics sees them: shapes here, masses and friction in derived.hpp

inline void make_shapes(const Settings& s, physics::Setup& setup) {
  const ProfileRules& rules = kProfileRules[s.profile];
  physics::Kind* const kinds = setup.kinds;
  kinds[kWallKind] = physics::shape_kind(physics::kBox, 1, 1, 1);
  kinds[kPlaneKind] = physics::shape_kind(physics::kPlane, 0, 0, 0);
  const double half = 0.5 * s.box_size, agent = 0.5 * s.agent_size;
  kinds[kCubeKind] = physics::shape_kind(physics::kBox, half, half, half);
  kinds[kLongKind] =
      physics::shape_kind(physics::kBox, 0.5 * s.long_length, 0.5 * s.long_width, half);
  kinds[kRampKind] = physics::wedge_shape(0.5 * s.ramp_width, s.ramp_run, s.ramp_height);
  kinds[kAgentKind] = rules.round_agents != 0
                          ? physics::shape_kind(physics::kSphere, agent, 0, 0)
                          : physics::shape_kind(physics::kBox, agent, agent, agent);
  physics::make_upright(kinds[kAgentKind]);
  if (rules.upright != 0)
    for (const int kind : {int(kCubeKind), int(kLongKind), int(kRampKind)})
      physics::make_upright(kinds[kind], false);
}

inline physics::Setup make_setup(const Settings& s) {
  physics::Setup setup{};
  make_shapes(s, setup);
  // Lengths of the solver follow the size of the boxes.
  physics::finish(setup, s.time_step, s.substeps, s.gravity, 0.5 * s.box_size);
  setup.solver_sweeps = s.solver_sweeps;
  setup.quiet_steps = s.quiet_steps;
  return setup;
}

// ---- what the rules read

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
  p.arena_half = 0.5f * s.arena_size;
  p.wall_half = 0.5f * s.wall_thickness;
  p.wall_height = s.wall_height, p.outer_wall_height = s.outer_wall_height;
  // Walls are planned in cells, or on the unit square (level.hpp).
  p.plan_unit = p.cells != 0 ? s.arena_size / float(p.cells) : s.arena_size;
  p.box_high = s.box_count_high;
}

inline void set_play(const Settings& s, Params& p) {
  p.holds = s.grab == kWhileHeld;
  p.frozen_hands = s.freeze == kAllHeads;
  p.masked = s.observation_mode == kMasked;
  for (int ray = 0; ray < kRaySlots; ++ray) {
    const int k = ray < kRays ? ray : 0;
    ge::sincos(float(k) * (0x1.921fb6p+2f / float(kRays)), p.ray_sin[ray], p.ray_cos[ray]);
  }
  p.penalty_instead = s.penalty_mode == kInstead;
  p.own_pay = s.payment == kToOwn;
}

/// Numbers that are left to another parameter, which may differ by world, stay open.
inline void set_followers(const Settings& given, const Settings& s, Params& p) {
  const auto number = [&](auto member) {
    return given.*member == kOpen ? decltype(s.*member + 0)(kOpen) : s.*member;
  };
  p.long_low = number(&Settings::long_count_low);
  p.lock_reach = number(&Settings::lock_reach);
  p.seeker_half_angle = number(&Settings::seeker_half_angle);
  p.agent_floor_friction =
      s.profile == kOpenai ? s.agent_floor_friction : number(&Settings::agent_floor_friction);
}

inline Params resolve_settings(Settings& s) {
  const Settings given = s;
  fill(s);
  check_level(s);
  check_room(s);
  Params p{};
  static_cast<ProfileRules&>(p) = kProfileRules[s.profile];
  set_rows(s, p);
  set_level(s, p);
  set_play(s, p);
  set_followers(given, s, p);
  p.shapes = make_setup(s);
  return p;
}

}  // namespace gpu_envs::envs::hide_seek
