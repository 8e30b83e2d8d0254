// A world as text for a terminal: the arena from above, +y up, and what each agent does. The text
// for one agent leaves out bodies that it does not see, as its observations do. Host only.
#pragma once

#include <string>

#include "envs/hide_seek/keys.hpp"
#include "envs/hide_seek/sight.hpp"
#include "physics/queries.hpp"
#include "pictures/text.hpp"

namespace gpu_envs::envs::hide_seek {

/// Hiders are A, B, ... and seekers a, b, ...: at most 20 each.
inline char letter_of(const Params& p, int agent) {
  return is_hider(p, agent) ? char('A' + agent) : char('a' + agent - p.hider_count);
}
/// "B", "box 0", "ramp 1"
GE_COLD inline std::string name_of(const Params& p, int row) {
  if (row < p.agent_count) return {letter_of(p, row)};
  return row < p.first_ramp ? "box " + std::to_string(row - p.first_box)
                            : "ramp " + std::to_string(row - p.first_ramp);
}
/// Where a direction points on the map, one of eight.
GE_COLD inline const char* direction_of(Vec3 ahead) {
  constexpr const char* kNames[] = {"up",   "up left",    "left",  "down left",
                                    "down", "down right", "right", "up right"};
  constexpr float kPerTurn = 1.2732395f;  // eighths in a radian
  return kNames[to_int(floor(atan2(-ahead.x, ahead.y) * kPerTurn + 8.5f)) & 7];
}

/// Texts in a build with room for T.
template <class T>
struct Texts {
  using W = World<Schema<T>>;
  using Bodies = typename Tables<T>::Bodies;
  using Joints = typename Tables<T>::Joints;
  using Statics = typename Tables<T>::Statics;

  // ---- what is seen

  /// Whether a body is in the observer's cone and nothing is in front of its middle.
  static GE_COLD bool sees(const W& w, int observer, int row) {
    const auto view = Senses<T>::view(w, observer, row);
    if (!any_of(both(view.wanted, lane_numbers() < 1.0f))) return false;
    const Vec3 target = physics::vec(get<Bodies, Pose>(w, row).position);
    const physics::Rays<float> ray{view.eye, target - view.eye};
    return physics::first_hit<Model<T>>(w, ray, 1.0f, observer).row == row;
  }
  /// Whether a body is in the text for this viewer.
  static GE_COLD bool shows(const W& w, int viewer, int row) {
    return Senses<T>::is_there(w, row) &&
           (viewer < 0 || row == viewer || w.params().masked == 0 || sees(w, viewer, row));
  }
  /// Names of the bodies from first to end for which `is_listed`; `none` where there are none.
  template <class F>
  static std::string list(const W& w, int first, int end, const char* none, const F& is_listed) {
    std::string names;
    for (int row = first; row < end; ++row)
      if (is_listed(row)) names += (names.empty() ? "" : ", ") + name_of(w.params(), row);
    return names.empty() ? none : names;
  }

  // ---- the map

  static GE_COLD void add_walls(const W& w, PlaneText& map) {
    for (int k = 0; k < row_count<Statics>(w); ++k) {
      const auto wall = get<Statics, physics::Static>(w, k);
      if (wall.kind == kPlaneKind) continue;
      map.cover({wall.centre[0] - wall.half[0], wall.centre[1] - wall.half[1]},
                {wall.centre[0] + wall.half[0], wall.centre[1] + wall.half[1]}, '#');
    }
  }
  /// Marks the cells whose middle is in the body, cut through its origin, and that of its origin.
  static GE_COLD void add_object(const W& w, int row, PlaneText& map) {
    const Params& p = w.params();
    const Body body = get<Bodies, Body>(w, row);
    const Pose pose = get<Bodies, Pose>(w, row);
    const physics::Kind& kind = shape_of(p, body);
    const bool locked = (body.state & physics::kLocked) != 0, wedge = kind.shape == physics::kWedge;
    const char mark = row < p.first_ramp ? (locked ? '*' : '+') : (locked ? '%' : '/');
    const physics::Mat3 turn = physics::matrix(physics::quat(pose.orientation));
    const float back = wedge ? kind.half[1] * (2.0f / 3.0f) : kind.half[1];
    const float front = wedge ? kind.half[1] * (1.0f / 3.0f) : kind.half[1];
    for (int y = 0; y < map.depth; ++y)
      for (int x = 0; x < map.width; ++x) {
        const Point2 at = map.middle(x, y);
        const Vec3 from =
            physics::to_body(turn, Vec3{at.x - pose.position[0], at.y - pose.position[1], 0.0f});
        if (abs(from.x) <= kind.half[0] && from.y >= -back && from.y <= front) map.put(x, y, mark);
      }
    map.mark(pose.position[0], pose.position[1], mark);
  }
  static GE_COLD std::string map_text(const W& w, int viewer) {
    const Params& p = w.params();
    const float half = p.arena_half + 2.0f * p.wall_half;
    PlaneText map(48, 24, {-half, -half}, {half, half});
    add_walls(w, map);
    for (int row = p.first_box; row < p.body_count; ++row)
      if (shows(w, viewer, row)) add_object(w, row, map);
    for (int agent = 0; agent < p.agent_count; ++agent) {
      if (!shows(w, viewer, agent)) continue;
      const Pose pose = get<Bodies, Pose>(w, agent);
      map.mark(pose.position[0], pose.position[1], letter_of(p, agent));
    }
    return map.framed();
  }

  // ---- the lines below it

  /// "A hider_0 at -3.2 5.1, looks up left, sees B, box 2; holds box 0"
  static GE_COLD std::string agent_text(const W& w, int agent, int viewer) {
    const Params& p = w.params();
    const std::string name = name_of(p, agent) + " " + agent_name(p, agent);
    if (!shows(w, viewer, agent)) return name + " is not seen\n";
    const Pose pose = get<Bodies, Pose>(w, agent);
    std::string text = name + (agent == viewer ? " (you)" : "");
    add_number(text, " at ", double(pose.position[0]), 1);
    add_number(text, " ", double(pose.position[1]), 1, ", looks ");
    text += direction_of(facing(pose));
    if (viewer < 0 || agent == viewer)
      text += ", sees " +
              list(w, 0, p.body_count, "nothing", [&](int row) { return sees(w, agent, row); });
    const Joint joint = get<Joints, Joint>(w, agent);
    if (joint.type != physics::kNoJoint)
      text +=
          "; holds " + (shows(w, viewer, int(joint.b)) ? name_of(p, int(joint.b)) : "something");
    return text + "\n";
  }
  static GE_COLD std::string locks_text(const W& w, int viewer) {
    const Params& p = w.params();
    constexpr const char* kBy[] = {"", " by seekers", " by hiders"};  // by Team
    std::string names;
    for (int row = p.first_box; row < p.body_count; ++row) {
      const bool locked = (get<Bodies, Body>(w, row).state & physics::kLocked) != 0;
      if (!locked || !shows(w, viewer, row)) continue;
      names += (names.empty() ? "" : ", ") + name_of(p, row) + kBy[get<Bodies, Owner>(w, row).team];
    }
    return "locked: " + (names.empty() ? "nothing" : names) + "\n";
  }
  /// What decides the rewards.
  static GE_COLD std::string hunt_text(const W& w) {
    const Params& p = w.params();
    return "seekers see: " +
           list(w, 0, p.hider_count, "no hider",
                [&](int hider) {
                  for (int seeker = p.hider_count; seeker < p.agent_count; ++seeker)
                    if (sees(w, seeker, hider)) return true;
                  return false;
                }) +
           "\n";
  }
  static GE_COLD std::string world_text(const W& w, int viewer) {
    const Params& p = w.params();
    std::string text = map_text(w, viewer) +
                       "A, B hiders, a, b seekers, # wall, + box, * locked box, / ramp, % locked "
                       "ramp\n";
    for (int agent = 0; agent < p.agent_count; ++agent) text += agent_text(w, agent, viewer);
    text += locks_text(w, viewer);
    if (viewer < 0 || p.masked == 0) text += hunt_text(w);
    add_steps(text, w.step(), w.max_steps());
    const int64_t left = int64_t{w.varied_in_place().preparation_steps} - int64_t(w.step());
    if (left <= 0) return text + ", seekers are on the hunt\n";
    add_number(text, ", preparation: seekers are frozen for ", double(left), 0, " more steps\n");
    return text;
  }
};

}  // namespace gpu_envs::envs::hide_seek
