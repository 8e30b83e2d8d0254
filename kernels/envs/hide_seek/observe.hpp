// Rows of observation and state. Which columns a row has depends on the profile:
//
//             self   others          boxes              ramps              also
//   fixed     10     2 + 2 + 2       2 + 2 + 2 + 1 + 2  2 + 2 + 1 + 2      prep, team
//   port      -      2 + 2           2 + 2 + 2 + 1      2 + 2 + 1          prep, team
//   openai    10     10              15                 15                 which boxes exist
//
// fixed and port use the axes right and ahead, openai x and y. Rows of bodies that an agent does
// not see are zeros, unless observation_mode is "full".
#pragma once

#include "envs/hide_seek/rules.hpp"

namespace gpu_envs::envs::hide_seek {

/// Columns of each part of an observation.
struct Columns {
  int head, self, other, box, ramp;  // head: prep and team
};
GE_FN Columns columns_of(const Params& p) {
  if (p.absolute != 0) return {0, 10, 10, 15, 15};
  return p.own_fields != 0 ? Columns{2, 10, 6, 9, 7} : Columns{2, 0, 4, 7, 5};
}

GE_FN int observation_elements(const Params& p) {
  const Columns c = columns_of(p);
  const int others = p.agent_count - 1;
  return c.head + c.self + others * (c.other + 1) + p.box_slots * (c.box + 1 + (p.absolute != 0)) +
         p.ramp_count * (c.ramp + 1) + kRays;
}

/// In any world.
inline int most_countdown(const Params& p) {
  return kMostPreparation + p.extra_countdown;
}
inline void add_field(std::vector<FieldInfo>& fields, const char* name, int rows, int columns,
                      const char* doc, double low = -kUnbounded, double high = kUnbounded) {
  if (rows * columns == 0) return;
  std::vector<int64_t> shape{rows};
  if (columns > 1) shape.push_back(columns);
  fields.push_back(wide_field(name, std::move(shape), doc, low, high));
}
inline std::vector<FieldInfo> observation_fields(const Params& p) {
  std::vector<FieldInfo> all;
  const Columns c = columns_of(p);
  const int others = p.agent_count - 1, boxes = p.box_slots, ramps = p.ramp_count;
  const bool openai = p.absolute != 0, own = p.own_fields != 0;
  if (!openai) {
    add_field(all, "prep", 1, 1, "steps of the preparation that are left", 0, most_countdown(p));
    add_field(all, "team", 1, 1, "1: hider, 0: seeker", 0, 1);
  }
  add_field(all, "self", c.self, 1,
            openai ? "x, y, z, yaw, their rates, 1 for hiders, share of the preparation"
                   : "x, y, z, cos and sin of yaw, velocity x, y, z, turn rate, 1 while holding");
  add_field(all, "others", others, c.other,
            openai ? "x, y, z, yaw, their rates, 1 for hiders, share of the preparation; the next "
                     "agent first"
            : own  ? "right, ahead, velocity right, ahead, 1 for hiders, 1 while holding"
                   : "right, ahead, velocity right, ahead");
  add_field(all, "boxes", boxes, c.box,
            openai
                ? "x, y, z, cos, sin of yaw, rates of x, y, z, yaw, size x, y, z, locked by you, "
                  "by your team, by anybody"
            : own ? "right, ahead, velocity right, ahead, size x, y, own yaw less its yaw, locked "
                    "by hiders, by seekers"
                  : "right, ahead, velocity right, ahead, size x, y, own yaw less its yaw");
  add_field(
      all, "ramps", ramps, c.ramp,
      openai ? "x, y, z, cos, sin of yaw, rates of x, y, z, yaw, 0, 0, 0, locked by you, by your "
               "team, by anybody"
      : own  ? "right, ahead, velocity right, ahead, own yaw less its yaw, locked by hiders, "
               "by seekers"
             : "right, ahead, velocity right, ahead, own yaw less its yaw");
  if (openai) add_field(all, "box_exists", boxes, 1, "1: the box exists", 0, 1);
  add_field(all, "visible_others", others, 1, "1: the agent is seen, in the order of others", 0, 1);
  add_field(all, "visible_boxes", boxes, 1, "1: the box is seen", 0, 1);
  add_field(all, "visible_ramps", ramps, 1, "1: the ramp is seen", 0, 1);
  add_field(all, "lidar", kRays, 1, "distance from the agent's centre, counter-clockwise", 0);
  return all;
}

inline constexpr int kBodyColumns = 13, kWallColumns = 6;
GE_FN int state_elements(const Params& p) {
  return 1 + p.agent_count * (kBodyColumns + 2) +
         (p.box_slots + p.ramp_count) * (kBodyColumns + 6) + kMostWalls * kWallColumns;
}
inline std::vector<FieldInfo> state_fields(const Params& p) {
  std::vector<FieldInfo> all;
  const int objects = kBodyColumns + 6;
  add_field(all, "prep", 1, 1, "steps of the preparation that are left", 0, most_countdown(p));
  add_field(all, "agents", p.agent_count, kBodyColumns + 2,
            "position, orientation w, x, y, z, velocity, spin, 1 for hiders, 1 while holding");
  add_field(all, "boxes", p.box_slots, objects,
            "position, orientation, velocity, spin, size x, y, z, 1 where it exists, locked by "
            "hiders, by seekers");
  add_field(
      all, "ramps", p.ramp_count, objects,
      "position, orientation, velocity, spin, width, run, height, 1 where it exists, locked by "
      "hiders, by seekers");
  add_field(all, "walls", kMostWalls, kWallColumns, "centre x, y, z, half extents x, y, z");
  return all;
}

/// Sets one element after the other; all of them where `shows`, else zeros.
/// Hidden rows are written as zeros: every element of a row has its place, whatever is seen.
struct Pen {
  FloatRow& row;
  int at;
  bool shows;
  GE_FN void put(float value) { row.set(at++, shows ? value : 0.0f); }
  GE_FN void put(Vec3 v) { put(v.x), put(v.y), put(v.z); }
};

GE_FN float flag(bool on) {
  return on ? 1.0f : 0.0f;
}
/// Rotation about z, in (-pi, pi].
GE_FN float yaw_of(physics::Quat q) {
  return atan2(2.0f * (q.w * q.z + q.x * q.y), 1.0f - 2.0f * (q.y * q.y + q.z * q.z));
}
/// The k-th of the others: in order, or from the next agent on.
GE_FN int other_agent(const Params& p, int me, int k) {
  if (p.absolute == 0) return k < me ? k : k + 1;
  return me + 1 + k < p.agent_count ? me + 1 + k : me + 1 + k - p.agent_count;
}

/// Along x, y and z; of a wedge: width, run, height.
GE_FN Vec3 extents(const physics::Kind& kind) {
  const float share = kind.shape == physics::kWedge ? 1.0f : 2.0f;
  return {2.0f * kind.half[0], share * kind.half[1], share * kind.half[2]};
}
/// Rows of observation and state in a build with room for T.
template <class T>
struct Views {
  using W = World<Schema<T>>;
  using Players = typename Tables<T>::Players;
  using Bodies = typename Tables<T>::Bodies;
  using Joints = typename Tables<T>::Joints;
  using Statics = typename Tables<T>::Statics;
  using Lidar = typename Tables<T>::Lidar;
  using Sights = typename Tables<T>::Sights;

  struct Observation : WideRow<float> {
    static constexpr int capacity =
        12 + 11 * (T::agents - 1) + 17 * T::boxes + 16 * T::ramps + kRays;
    static GE_FN int elements(const Params& p) { return observation_elements(p); }
    static std::vector<FieldInfo> describe(const Params& p) { return observation_fields(p); }
  };
  struct State : WideRow<float> {
    static constexpr int capacity = 1 + T::agents * (kBodyColumns + 2) +
                                    (T::boxes + T::ramps) * (kBodyColumns + 6) +
                                    kMostWalls * kWallColumns;
    static GE_FN int elements(const Params& p) { return state_elements(p); }
    static std::vector<FieldInfo> describe(const Params& p) { return state_fields(p); }
  };

  /// The observer, and the frame it sees in.
  struct Viewer {
    const W& w;
    int me;
    Pose pose;
    Vec3 ahead;

    GE_FN bool sees(int body) const {
      return get<Sights, Sight>(w, me * w.params().sight_slots + body).value != 0.0f;
    }
    GE_FN bool shows(int body) const {
      return w.params().masked != 0 ? sees(body) : Senses<T>::is_there(w, body);
    }
    /// To the right, and ahead.
    GE_FN void put_turned(Pen& pen, Vec3 v) const {
      pen.put(v.x * ahead.y - v.y * ahead.x);
      pen.put(v.x * ahead.x + v.y * ahead.y);
    }
  };
  static GE_FN Viewer viewer_of(const W& w, int me) {
    const Pose pose = get<Bodies, Pose>(w, me);
    return {w, me, pose, facing(pose)};
  }

  static GE_FN bool holding(const W& w, int agent) {
    return get<Joints, Joint>(w, agent).type != physics::kNoJoint;
  }
  /// The port counts down from one more than it freezes (Derived::countdown). Unsigned numbers are
  /// compared before they are subtracted: the step may be beyond it.
  static GE_FN float prep_left(const W& w) {
    const uint32_t countdown = uint32_t(w.varied_in_place().countdown);
    return float(int32_t(countdown - min(w.step(), countdown)));
  }
  static GE_FN float prep_share(const W& w) {
    const uint32_t whole = uint32_t(w.varied_in_place().preparation_steps);
    return w.step() >= whole ? 1.0f : float(int32_t(w.step())) / float(int32_t(whole));
  }

  // ---- relative rows: fixed and port

  static GE_FN void put_relative(const Viewer& v, Pen& pen, int body, const float (&velocity)[3]) {
    const Pose pose = get<Bodies, Pose>(v.w, body);
    v.put_turned(pen, physics::vec(pose.position) - physics::vec(v.pose.position));
    v.put_turned(pen, physics::vec(velocity));
  }
  static GE_FN void put_locks(const Viewer& v, Pen& pen, int body) {
    if (v.w.params().own_fields == 0) return;
    const Owner owner = get<Bodies, Owner>(v.w, body);
    pen.put(flag(owner.team == kHiders));
    pen.put(flag(owner.team == kSeekers));
  }
  static GE_FN void put_object(const Viewer& v, Pen& pen, int body, bool ramp) {
    const Velocity velocity = get<Bodies, Velocity>(v.w, body);
    const Pose pose = get<Bodies, Pose>(v.w, body);
    put_relative(v, pen, body, velocity.linear);
    if (!ramp) {
      const physics::Kind& kind = shape_of(v.w.params(), get<Bodies, Body>(v.w, body));
      pen.put(2.0f * kind.half[0]);
      pen.put(2.0f * kind.half[1]);
    }
    // Own yaw less its yaw, wrapped: as a product of rotations it cannot leave (-pi, pi].
    pen.put(yaw_of(physics::quat(v.pose.orientation) *
                   physics::conjugate(physics::quat(pose.orientation))));
    put_locks(v, pen, body);
  }
  static GE_FN void put_other(const Viewer& v, Pen& pen, int agent) {
    const Travel travel = get<Players, Travel>(v.w, agent);
    put_relative(v, pen, agent, travel.velocity);
    if (v.w.params().own_fields == 0) return;
    pen.put(flag(is_hider(v.w.params(), agent)));
    pen.put(flag(holding(v.w, agent)));
  }
  static GE_FN void put_self(const Viewer& v, Pen& pen) {
    if (v.w.params().own_fields == 0) return;
    const Travel travel = get<Players, Travel>(v.w, v.me);
    pen.put(physics::vec(v.pose.position));
    pen.put(v.ahead.y);
    pen.put(-v.ahead.x);
    pen.put(physics::vec(travel.velocity));
    pen.put(travel.turn);
    pen.put(flag(holding(v.w, v.me)));
  }

  // ---- absolute rows: openai

  static GE_FN void put_agent(const Viewer& v, Pen& pen, int agent) {
    const Pose pose = get<Bodies, Pose>(v.w, agent);
    const Travel travel = get<Players, Travel>(v.w, agent);
    pen.put(physics::vec(pose.position));
    pen.put(yaw_of(physics::quat(pose.orientation)));
    pen.put(physics::vec(travel.velocity));
    pen.put(travel.turn);
    pen.put(flag(is_hider(v.w.params(), agent)));
    pen.put(prep_share(v.w));
  }
  static GE_FN void put_absolute(const Viewer& v, Pen& pen, int body, bool ramp) {
    const Params& p = v.w.params();
    const Pose pose = get<Bodies, Pose>(v.w, body);
    const Velocity velocity = get<Bodies, Velocity>(v.w, body);
    const Body state = get<Bodies, Body>(v.w, body);
    const Owner owner = get<Bodies, Owner>(v.w, body);
    const Vec3 ahead = facing(pose);
    pen.put(physics::vec(pose.position));
    pen.put(ahead.y);
    pen.put(-ahead.x);
    pen.put(physics::vec(velocity.linear));
    pen.put(velocity.angular[2]);
    pen.put(physics::vec(shape_of(p, state).half) * (ramp ? 0.0f : 2.0f));
    const bool locked = (state.state & physics::kLocked) != 0;
    pen.put(flag(locked & (owner.agent == uint32_t(v.me + 1))));
    pen.put(flag(locked & (owner.team == team_of(p, v.me))));
    pen.put(flag(locked));
  }

  // ---- rows

  // Lanes that share a row fill parts of it; each part has its place.

  static GE_FN void put_others(const Viewer& v, FloatRow& row, const Squad& squad, int first,
                               int columns) {
    const Params& p = v.w.params();
    for (int k = squad.lane(); k + 1 < p.agent_count; k += squad.size()) {
      const int agent = other_agent(p, v.me, k);
      Pen pen{row, first + k * columns, v.shows(agent)};
      if (p.absolute != 0)
        put_agent(v, pen, agent);
      else
        put_other(v, pen, agent);
    }
  }
  static GE_FN void put_objects(const Viewer& v, FloatRow& row, const Squad& squad, int first,
                                const Columns& c) {
    const Params& p = v.w.params();
    for (int body = p.first_box + squad.lane(); body < p.body_count; body += squad.size()) {
      const bool ramp = body >= p.first_ramp;
      const int boxes = (ramp ? p.first_ramp : body) - p.first_box;
      const int ramps = ramp ? body - p.first_ramp : 0;
      Pen pen{row, first + boxes * c.box + ramps * c.ramp, v.shows(body)};
      if (p.absolute != 0)
        put_absolute(v, pen, body, ramp);
      else
        put_object(v, pen, body, ramp);
    }
  }
  /// The end of a row: which boxes exist (openai), which bodies are seen, lidar.
  static GE_FN void put_senses(const Viewer& v, FloatRow& row, const Squad& squad, int first) {
    const Params& p = v.w.params();
    const int boxes = p.absolute != 0 ? p.box_slots : 0, others = p.agent_count - 1;
    const int bodies = p.body_count - p.first_box;
    GE_NO_UNROLL
    for (int k = squad.lane(); k < boxes; k += squad.size())
      row.set(first + k, flag(Senses<T>::is_there(v.w, p.first_box + k)));
    GE_NO_UNROLL
    for (int k = squad.lane(); k < others; k += squad.size())
      row.set(first + boxes + k, flag(v.sees(other_agent(p, v.me, k))));
    GE_NO_UNROLL
    for (int k = squad.lane(); k < bodies; k += squad.size())
      row.set(first + boxes + others + k, flag(v.sees(p.first_box + k)));
    GE_NO_UNROLL
    for (int ray = squad.lane(); ray < kRays; ray += squad.size())
      row.set(first + boxes + others + bodies + ray,
              get<Lidar, Range>(v.w, v.me * kRaySlots + ray).value);
  }
  static GE_FN void observe(const W& w, FloatRow& row, const Squad& squad, Slot me) {
    const Params& p = w.params();
    const Viewer v = viewer_of(w, me.row);
    const Columns c = columns_of(p);
    if (squad.lane() == 0) {
      Pen pen{row, 0, true};
      if (p.absolute != 0) {
        put_agent(v, pen, me.row);
      } else {
        pen.put(prep_left(w));
        pen.put(flag(is_hider(p, me.row)));
        put_self(v, pen);
      }
    }
    const int others = c.head + c.self, objects = others + (p.agent_count - 1) * c.other;
    put_others(v, row, squad, others, c.other);
    put_objects(v, row, squad, objects, c);
    put_senses(v, row, squad, objects + p.box_slots * c.box + p.ramp_count * c.ramp);
  }

  static GE_FN void put_body(const W& w, Pen& pen, int row) {
    const Pose pose = get<Bodies, Pose>(w, row);
    const Velocity velocity = get<Bodies, Velocity>(w, row);
    pen.put(physics::vec(pose.position));
    for (int k = 0; k < 4; ++k) pen.put(pose.orientation[k]);
    if (row < w.params().agent_count) {
      const Travel travel = get<Players, Travel>(w, row);
      pen.put(physics::vec(travel.velocity));
      pen.put({0.0f, 0.0f, travel.turn});
    } else {
      pen.put(physics::vec(velocity.linear));
      pen.put(physics::vec(velocity.angular));
    }
  }
  static GE_FN void show_state(const W& w, FloatRow& row, const Squad& squad) {
    const Params& p = w.params();
    constexpr int kAgent = kBodyColumns + 2, kObject = kBodyColumns + 6;
    if (squad.lane() == 0) row.set(0, prep_left(w));
    for (int agent = squad.lane(); agent < p.agent_count; agent += squad.size()) {
      Pen pen{row, 1 + agent * kAgent, true};
      put_body(w, pen, agent);
      pen.put(flag(is_hider(p, agent)));
      pen.put(flag(holding(w, agent)));
    }
    const int objects = 1 + p.agent_count * kAgent;
    for (int body = p.first_box + squad.lane(); body < p.body_count; body += squad.size()) {
      Pen pen{row, objects + (body - p.first_box) * kObject, Senses<T>::is_there(w, body)};
      put_body(w, pen, body);
      pen.put(extents(shape_of(p, get<Bodies, Body>(w, body))));
      pen.put(1.0f);
      const Owner owner = get<Bodies, Owner>(w, body);
      pen.put(flag(owner.team == kHiders));
      pen.put(flag(owner.team == kSeekers));
    }
    const int walls = objects + (p.body_count - p.first_box) * kObject;
    const int wall_count = row_count<Statics>(w);
    for (int k = squad.lane(); k < wall_count; k += squad.size()) {
      const physics::Static wall = get<Statics, physics::Static>(w, k);
      Pen pen{row, walls + k * kWallColumns, true};
      pen.put(physics::vec(wall.centre));
      pen.put(physics::vec(wall.half));
    }
  }
};

}  // namespace gpu_envs::envs::hide_seek
